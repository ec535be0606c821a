//! Chunks overwritten in, and appended to, files that grow: 1 MiB of noise each, compressed beforehand.

use crate::bench::{Bench, Sizes};
use crate::groups::name::{APPEND, COMPRESSION, DURABILITY, OVERWRITE};
use crate::machine::available_memory;
use crate::measure::{Duel, Fill};
use crate::report::{Label, Unit};
use crate::rival::{self, Rival, Setting};
use b2nd::chunk;
use b2nd::schunk::CreateOptions;
use b2nd::{Codec, Durability, Exec, OpenOptions, Params, Pipeline, SChunk};
use b2nd_interop::Outcome;
use b2nd_testkit::rng::Rng;
use std::fs::File;
use std::path::{Path, PathBuf};

const CHUNK: usize = 1 << 20;
const TYPESIZE: u32 = 8;
/// The end of the name of a cell in which only b2nd's file has checksums.
const CHECKED: &str = "with checksums";
/// What is done to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Change {
    /// The chunk of this number is overwritten by one that is stored in another number of bytes.
    Overwrite(u64),
    /// By one of the same size.
    Replace(u64),
    /// A chunk is appended.
    Append,
}

/// Two files of the same chunks, each open on one side.
struct Changes<'r> {
    paths: [PathBuf; 2],
    change: Change,
    /// Chunks to write, one after the other.
    chunks: &'r [Vec<u8>],
    ours: SChunk,
    theirs: rival::SChunk<'r>,
    /// The chunk that each side wrote last.
    last: [usize; 2],
}

impl Duel for Changes<'_> {
    fn ours(&mut self, step: usize) -> Outcome {
        self.last[0] = step % self.chunks.len();
        let chunk = &self.chunks[self.last[0]];
        match self.change {
            Change::Overwrite(n) | Change::Replace(n) => Ok(self.ours.update_chunk(n, chunk)?),
            Change::Append => Ok(self.ours.append_chunk(chunk)?),
        }
    }
    fn theirs(&mut self, step: usize) -> Outcome {
        self.last[1] = step % self.chunks.len();
        let chunk = &self.chunks[self.last[1]];
        match self.change {
            Change::Overwrite(n) | Change::Replace(n) => self.theirs.update(n, chunk),
            Change::Append => self.theirs.append(chunk),
        }
    }
    fn before(&mut self) -> Outcome {
        // What one side has left to be written is not to slow down the other.
        self.paths.iter().try_for_each(|path| Ok(File::open(path)?.sync_data()?))
    }
}

impl Changes<'_> {
    /// Both read from both files what was written last, and the chunk before it.
    fn verify(&self, rival: &Rival, count: usize) -> Outcome {
        for (path, last) in self.paths.iter().zip(self.last) {
            let schunk = SChunk::open(path, &OpenOptions::new().with_exec(Exec::new(1)))?;
            let (at, before) = match self.change {
                Change::Overwrite(n) | Change::Replace(n) => (n, n.checked_sub(1)),
                Change::Append => (schunk.nchunks() - 1, Some(count as u64 - 1)),
            };
            let mut other = rival.open_schunk(path, 1)?;
            let mut same = |n: u64, chunk: usize| -> Outcome<bool> {
                let items = chunk::decode(&self.chunks[chunk], &b2nd::Limits::default(), &Exec::new(1))?;
                let mut read = vec![0; CHUNK];
                other.decompress(n, &mut read)?;
                Ok(read == items && schunk.decompress_chunk(n)? == items)
            };
            let kept = before.map_or(Ok(true), |n| same(n, n as usize % self.chunks.len()))?;
            if !kept || !same(at, last)? {
                return Err(format!("{}: other chunks than were written", path.display()).into());
            }
        }
        Ok(())
    }
}

fn params() -> Params {
    Params::new(TYPESIZE).with_codec(Codec::Lz4).with_pipeline(Pipeline::none())
}

/// A file of so many chunks.
fn make(path: &Path, count: usize, chunks: &[Vec<u8>], checksums: bool) -> Outcome {
    let options = CreateOptions::new(params())
        .with_chunksize(CHUNK as u32)
        .with_overwrite(true)
        .with_durability(Durability::None)
        .with_checksums(checksums);
    let mut schunk = options.create(path)?;
    let mut transaction = schunk.transaction();
    (0..count).try_for_each(|n| transaction.append_chunk(&chunks[n % chunks.len()]))?;
    Ok(transaction.commit()?)
}

/// The chunks to write: of sizes that all differ, and of one size.
struct Chunks {
    different: Vec<Vec<u8>>,
    same: Vec<Vec<u8>>,
}

/// Measures files of 10 MB and 1 GB, in a full run of 100 MB and 10 GB too: one for each side, gone after each cell.
pub(crate) fn run(bench: &mut Bench<'_>) -> Outcome {
    let mut noise: Vec<Vec<u8>> = (0..8).map(|n| Rng::for_part(61, n).bytes(CHUNK)).collect();
    let encode = |items: &Vec<u8>| chunk::encode(items, &params(), &Exec::new(1));
    let same: Vec<Vec<u8>> = noise.iter().map(encode).collect::<Result<_, _>>()?;
    compression(bench, &noise, same[0].len())?;
    // A few zeros, never as many, so that no two chunks have one size.
    for (n, items) in noise.iter_mut().enumerate() {
        items[..4096 * (n + 1)].fill(0);
    }
    let different = noise.iter().map(encode).collect::<Result<_, _>>()?;
    let chunks = Chunks { different, same };
    let sizes: &[(&str, usize)] = bench.mode.pick(
        &[("10 MB", 10), ("100 MB", 100), ("1 GB", 1000), ("10 GB", 10_000)],
        &[("10 MB", 10), ("1 GB", 1000)],
        &[("3 MB", 3)],
    );
    for &(size, count) in sizes {
        if free(bench.folder())? < (count * CHUNK * 5 / 2 + (2 << 30)) as u64 {
            bench.skip(format!("files of {size}: there is no room for them"));
            continue;
        }
        grown(bench, size, count, &chunks)?;
    }
    Ok(())
}

/// All changes of files of one size.
fn grown(bench: &mut Bench<'_>, size: &str, count: usize, chunks: &Chunks) -> Outcome {
    let last = count as u64 - 1;
    let mut changes = vec![(format!("append, {size}"), Change::Append)];
    for (which, n) in [("first", 0), ("middle", last / 2), ("last", last)] {
        // C-Blosc2 moves what lies behind a chunk that changes its size, through memory.
        if available_memory().is_some_and(|free| free < (last - n) * CHUNK as u64 * 5 / 4) {
            bench.skip(format!("overwrite {which} chunk, {size}: C-Blosc2 would take all memory"));
            continue;
        }
        changes.push((format!("overwrite {which} chunk, {size}"), Change::Overwrite(n)));
    }
    // C-Blosc2 does this in place, which no crash survives.
    changes.push((format!("overwrite first chunk by one of the same size, {size}"), Change::Replace(0)));
    for (name, change) in changes {
        let none = if matches!(change, Change::Replace(_)) { format!("{name}, none") } else { name.clone() };
        measure(bench, &none, change, count, Durability::None, chunks)?;
        // A quick run has the other levels for the large file only; for the largest they would take too long.
        let levels = [("ordered", Durability::Ordered), ("full", Durability::Full)];
        let some = bench.mode.pick(10..=1000, 1000..=1000, 1..=1000);
        let durable = matches!(change, Change::Append | Change::Replace(_)) && some.contains(&count);
        if durable && change == Change::Append {
            measure(bench, &format!("{name}, none, {CHECKED}"), change, count, Durability::None, chunks)?;
        }
        for (level, durability) in levels.into_iter().filter(|_| durable) {
            measure(bench, &format!("{name}, {level}"), change, count, durability, chunks)?;
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
    chunks: &Chunks,
) -> Outcome {
    let group = match (durability, change) {
        _ if name.ends_with(CHECKED) => DURABILITY,
        (Durability::None, Change::Append) => APPEND,
        (Durability::None, Change::Overwrite(_)) => OVERWRITE,
        _ => DURABILITY,
    };
    let chunks = if matches!(change, Change::Overwrite(_)) { &chunks.different } else { &chunks.same };
    let paths = ["ours.b2frame", "theirs.b2frame"].map(|name| bench.path(name));
    let checksums = name.ends_with(CHECKED);
    paths.iter().zip([checksums, false]).try_for_each(|(path, sums)| make(path, count, chunks, sums))?;
    let options = OpenOptions::new().with_write(true).with_exec(Exec::new(1)).with_durability(durability);
    let (ours, theirs) = (SChunk::open(&paths[0], &options)?, bench.rival.open_schunk(&paths[1], 1)?);
    let label = Label::new(group, name, 1, Unit::Bytes(CHUNK));
    // Small files: several changes in a turn. The rival moves up to the whole of a large one for each.
    let (most, steps) = if count <= 100 { (20, 4) } else { (20, 1) };
    let effort = bench.effort(3000, 600).bounded(most, steps);
    let mut duel = Changes { paths, change, chunks, ours, theirs, last: [0; 2] };
    bench.duel(label, effort, &mut duel)?;
    duel.verify(bench.rival, count)?;
    for path in duel.paths {
        std::fs::remove_file(path)?;
    }
    Ok(())
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
    let mut packed = Vec::new();
    let mut duel = Fill::unequal(
        CHUNK + 32,
        |step, _| {
            let (noise, context) = (&noise[step % noise.len()], chunk::Context::default());
            Ok(chunk::encode_into(noise, &params, &context, &exec, &mut packed)?)
        },
        |step, out| chunker.compress(&noise[step % noise.len()], out).map(drop),
    );
    let label = Label::new(COMPRESSION, "noise t8 lz4-5 none 1 MiB, apart", 1, Unit::Bytes(CHUNK));
    bench.duel_sized(label, bench.effort(1000, 200), &mut duel, Sizes { ours: len, theirs: size })
}

/// Bytes that are free where a folder lies.
fn free(folder: &Path) -> Outcome<u64> {
    let found = rustix::fs::statvfs(folder)?;
    Ok(found.f_bavail.saturating_mul(found.f_frsize))
}
