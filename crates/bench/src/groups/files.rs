//! Chunks overwritten in, and appended to, files that grow: 1 MiB of noise each, compressed beforehand.

use crate::bench::Bench;
use crate::groups::name::{APPEND, COMPRESSION, DURABILITY, OVERWRITE};
use crate::measure::{Duel, Fill};
use crate::report::{Label, Unit};
use crate::rival::{self, Rival, Setting};
use b2nd::chunk::{self, Params};
use b2nd::schunk::{CreateOptions, OpenOptions, SChunk};
use b2nd::{Codec, Durability, Exec, Pipeline};
use b2nd_interop::Outcome;
use b2nd_testkit::rng::Rng;
use std::path::{Path, PathBuf};

const CHUNK: usize = 1 << 20;
const TYPESIZE: u32 = 8;
/// Changes through one handle.
const BATCH: usize = 4;

/// What is done to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Change {
    /// The chunk of this number is overwritten.
    Overwrite(u64),
    /// A chunk is appended.
    Append,
}

/// One file, which both change, turn and turn about; each opens it before its turn, untimed.
struct Changes<'r> {
    rival: &'r Rival,
    path: PathBuf,
    change: Change,
    durability: Durability,
    /// Chunks to write, one after the other.
    chunks: &'r [Vec<u8>],
    ours: Option<SChunk>,
    theirs: Option<rival::SChunk<'r>>,
    /// The chunk that was written last.
    last: usize,
}

fn open_options(durability: Durability) -> OpenOptions {
    OpenOptions::new().with_write(true).with_exec(Exec::new(1)).with_durability(durability)
}

impl Duel for Changes<'_> {
    fn ours(&mut self, step: usize) -> Outcome {
        self.last = step % self.chunks.len();
        let (chunk, schunk) = (&self.chunks[self.last], self.ours.as_mut().ok_or("not open")?);
        match self.change {
            Change::Overwrite(n) => Ok(schunk.update_chunk(n, chunk)?),
            Change::Append => Ok(schunk.append_chunk(chunk)?),
        }
    }
    fn theirs(&mut self, step: usize) -> Outcome {
        self.last = step % self.chunks.len();
        let (chunk, schunk) = (&self.chunks[self.last], self.theirs.as_mut().ok_or("not open")?);
        match self.change {
            Change::Overwrite(n) => schunk.update(n, chunk),
            Change::Append => schunk.append(chunk),
        }
    }
    fn before(&mut self) -> Outcome {
        (self.ours, self.theirs) = (None, None);
        self.ours = Some(SChunk::open(&self.path, &open_options(self.durability))?);
        self.theirs = Some(self.rival.open_schunk(&self.path, 1)?);
        Ok(())
    }
    /// Both read what was written last, and the chunk before it.
    fn check(&mut self) -> Outcome {
        self.before()?;
        let (ours, theirs) = (self.ours.as_ref().ok_or("not open")?, self.theirs.as_mut().ok_or("not open")?);
        let at = match self.change {
            Change::Overwrite(n) => n,
            Change::Append => ours.nchunks() - 1,
        };
        let mut read = vec![0; CHUNK];
        for n in at.saturating_sub(1)..=at {
            theirs.decompress(n, &mut read)?;
            if ours.decompress_chunk(n)? != read {
                return Err(format!("the two read different chunks {n}").into());
            }
        }
        let written = chunk::decode(&self.chunks[self.last], &b2nd::Limits::default(), &Exec::new(1))?;
        if read == written { Ok(()) } else { Err(format!("chunk {at} is not what was written last").into()) }
    }
}

fn params() -> Params {
    Params::new(TYPESIZE).with_codec(Codec::Lz4).with_pipeline(Pipeline::none())
}

/// A file of so many chunks.
fn make(path: &Path, count: usize, chunks: &[Vec<u8>]) -> Outcome {
    let options = CreateOptions::new(params())
        .with_chunksize(CHUNK as u32)
        .with_overwrite(true)
        .with_durability(Durability::None);
    let mut schunk = options.create(Some(path))?;
    let mut transaction = schunk.transaction();
    (0..count).try_for_each(|n| transaction.append_chunk(&chunks[n % chunks.len()]))?;
    Ok(transaction.commit()?)
}

/// Measures files of 10 MB and 1 GB, in a full run of 100 MB and 10 GB too; one file at a time.
pub(crate) fn run(bench: &mut Bench<'_>) -> Outcome {
    let noise: Vec<Vec<u8>> = (0..8).map(|n| Rng::for_part(61, n).bytes(CHUNK)).collect();
    let encode = |items: &Vec<u8>| chunk::encode(items, &params(), &Exec::new(1));
    let chunks: Vec<Vec<u8>> = noise.iter().map(encode).collect::<Result<_, _>>()?;
    compression(bench, &noise, chunks[0].len())?;
    let sizes: &[(&str, usize)] = bench.mode.pick(
        &[("10 MB", 10), ("100 MB", 100), ("1 GB", 1000), ("10 GB", 10_000)],
        &[("10 MB", 10), ("1 GB", 1000)],
        &[("3 MB", 3)],
    );
    for &(size, count) in sizes {
        let room = count * CHUNK * 2 + (2 << 30);
        if free(bench.folder())? < room as u64 {
            bench.skip(format!("files of {size}: there is no room for them"));
            continue;
        }
        let last = count as u64 - 1;
        let overwrites = [("first", 0), ("middle", last / 2), ("last", last)];
        let changes = overwrites.map(|(which, n)| (format!("{which} chunk, {size}"), Change::Overwrite(n)));
        for (name, change) in changes.into_iter().chain([(format!("append, {size}"), Change::Append)]) {
            measure(bench, &name, change, count, Durability::None, &chunks)?;
            let levels = [("ordered", Durability::Ordered), ("full", Durability::Full)];
            let durable = matches!(change, Change::Append | Change::Overwrite(0));
            for (level, durability) in levels.into_iter().filter(|_| durable) {
                measure(bench, &format!("{name}, {level}"), change, count, durability, &chunks)?;
            }
        }
    }
    Ok(())
}

fn measure(
    bench: &mut Bench<'_>,
    name: &str,
    change: Change,
    count: usize,
    durability: Durability,
    chunks: &[Vec<u8>],
) -> Outcome {
    let group = match (durability, change) {
        (Durability::None, Change::Overwrite(_)) => OVERWRITE,
        (Durability::None, Change::Append) => APPEND,
        _ => DURABILITY,
    };
    let name = if group == OVERWRITE { format!("overwrite {name}") } else { name.into() };
    let path = bench.path("growing.b2frame");
    make(&path, count, chunks)?;
    let label = Label::new(group, name, 1, Unit::Bytes(CHUNK));
    let effort = bench.effort(3000, 600).bounded(20, BATCH);
    let (rival, last) = (bench.rival, 0);
    let (ours, theirs) = (None, None);
    let mut duel = Changes { rival, path: path.clone(), change, durability, chunks, ours, theirs, last };
    bench.duel(label, effort, &mut duel)?;
    drop(duel);
    Ok(std::fs::remove_file(path)?)
}

/// Compression apart: that of the chunks that are written.
fn compression(bench: &mut Bench<'_>, noise: &[Vec<u8>], len: usize) -> Outcome {
    let (codec, filters) = (Codec::Lz4.id(), [0; 6]);
    let setting =
        Setting { codec, clevel: 5, filters, filters_meta: filters, typesize: TYPESIZE, threads: 1 };
    let mut chunker = bench.rival.chunker(setting)?;
    let mut buffer = vec![0; CHUNK + 32];
    let size = chunker.compress(&noise[0], &mut buffer)?;
    let (params, exec) = (params(), Exec::new(1));
    let mut duel = Fill::unequal(
        CHUNK + 32,
        |step, _| {
            std::hint::black_box(chunk::encode(&noise[step % noise.len()], &params, &exec)?);
            Ok(())
        },
        |step, out| chunker.compress(&noise[step % noise.len()], out).map(drop),
    );
    let label = Label::new(COMPRESSION, "noise t8 lz4-5 none 1 MiB, apart", 1, Unit::Bytes(CHUNK));
    bench.duel_sized(label, bench.effort(1000, 200), &mut duel, (len, size))
}

/// Bytes that are free where a folder lies.
fn free(folder: &Path) -> Outcome<u64> {
    let found = rustix::fs::statvfs(folder)?;
    Ok(found.f_bavail.saturating_mul(found.f_frsize))
}
