//! Chunks: compression, decompression and size by codec, level and filter; both decode what the other encoded.

use crate::data::Source;
use crate::measure::{Effort, pair};
use crate::report::Cell;
use crate::rival::{Chunker, Rival, Setting};
use b2nd::chunk::{self, Params};
use b2nd::{Codec, Exec, Limits, Pipeline};
use b2nd_interop::Outcome;
use b2nd_interop::generate::CODECS;

/// Which cells to measure.
#[derive(Debug, Clone)]
pub(crate) struct Scope {
    /// Time for a cell.
    pub(crate) effort: Effort,
    /// Numbers of threads.
    pub(crate) threads: Vec<usize>,
    /// Level and filter pairs.
    pub(crate) levels_and_filters: Vec<(u8, u8)>,
}

const FILTERS: [&str; 3] = ["none", "shuffle", "bitshuffle"];

/// Both sides set up for the same work.
struct Contest<'r, 's> {
    source: &'s Source,
    rival: Chunker<'r>,
    params: Params,
    exec: Exec,
    /// The chunk of either side.
    ours: Vec<u8>,
    theirs: Vec<u8>,
}

impl<'r, 's> Contest<'r, 's> {
    fn new(rival: &'r Rival, source: &'s Source, codec: &str, setting: Setting) -> Outcome<Self> {
        let exec = Exec::new(setting.threads);
        let mut chunker = rival.chunker(setting)?;
        let mut theirs = vec![0; source.items.len() + 32];
        let len = chunker.compress(&source.items, &mut theirs)?;
        theirs.truncate(len);
        // Blocks of the size that C-Blosc2 chooses, so that both do the same work.
        let blocksize = u32::from_le_bytes(theirs.get(8..12).ok_or("short chunk")?.try_into()?);
        let params = Params::new(setting.typesize)
            .with_codec(Codec::from_name(codec).ok_or("codec")?)
            .with_clevel(setting.clevel)
            .with_pipeline(Pipeline::from_bytes([0, 0, 0, 0, 0, setting.filter], [0; 6]))
            .with_blocksize(Some(blocksize));
        let ours = chunk::encode(&source.items, &params, &exec)?;
        let mut contest = Contest { source, rival: chunker, params, exec, ours, theirs };
        contest.verify()?;
        Ok(contest)
    }
    /// Each side decodes the chunk of the other.
    fn verify(&mut self) -> Outcome {
        let read = chunk::decode(&self.theirs, &Limits::default(), &self.exec)?;
        if read != self.source.items {
            return Err("b2nd decodes C-Blosc2's chunk to something else".into());
        }
        let mut read = vec![0; self.source.items.len()];
        self.rival.decompress(&self.ours, &mut read)?;
        if read == self.source.items {
            Ok(())
        } else {
            Err("C-Blosc2 decodes b2nd's chunk to something else".into())
        }
    }
}

/// Measures the cells of one source.
pub(crate) fn run(rival: &Rival, source: &Source, scope: &Scope, cells: &mut Vec<Cell>) -> Outcome {
    for codec in CODECS {
        for &(clevel, filter) in &scope.levels_and_filters {
            for &threads in &scope.threads {
                let id = Codec::from_name(codec).ok_or("codec")?.id();
                let setting = Setting { codec: id, clevel, filter, typesize: source.typesize, threads };
                let name = format!("{} {codec}-{clevel} {}", source.name, FILTERS[usize::from(filter)]);
                let told = |e| format!("{name}, {threads} threads: {e}");
                measure(rival, source, codec, setting, &name, scope.effort, cells).map_err(told)?;
            }
        }
    }
    Ok(())
}

fn measure(
    rival: &Rival,
    source: &Source,
    codec: &str,
    setting: Setting,
    name: &str,
    effort: Effort,
    cells: &mut Vec<Cell>,
) -> Outcome {
    let contest = &mut Contest::new(rival, source, codec, setting)?;
    let (nbytes, threads) = (source.items.len(), setting.threads);
    if threads == 1 {
        cells.push(Cell::size(name.into(), contest.ours.len(), contest.theirs.len(), "C-Blosc2"));
    }
    let mut buffer = vec![0; nbytes + 32];
    let (params, exec, chunker) = (&contest.params, &contest.exec, &mut contest.rival);
    let found = pair(
        effort,
        &mut || {
            std::hint::black_box(chunk::encode(&source.items, params, exec)?);
            Ok(())
        },
        &mut || chunker.compress(&source.items, &mut buffer).map(drop),
    )?;
    cells.push(Cell::speed("chunk compression", name.into(), threads, nbytes, found, "C-Blosc2"));
    // Both decode the same chunk, C-Blosc2's.
    let (mut ours, mut theirs) = (vec![0; nbytes], vec![0; nbytes]);
    let chunk = &contest.theirs;
    let found = pair(
        effort,
        &mut || Ok(chunk::decode_into(chunk, &mut ours, &Limits::default(), exec)?),
        &mut || chunker.decompress(chunk, &mut theirs),
    )?;
    cells.push(Cell::speed("chunk decompression", name.into(), threads, nbytes, found, "C-Blosc2"));
    Ok(())
}

/// The rival against itself: how far from 1 a ratio is by chance.
pub(crate) fn noise(rival: &Rival, source: &Source, effort: Effort, cells: &mut Vec<Cell>) -> Outcome {
    for codec in ["lz4", "zstd"] {
        let id = Codec::from_name(codec).ok_or("codec")?.id();
        let setting = Setting { codec: id, clevel: 5, filter: 1, typesize: source.typesize, threads: 1 };
        let (mut one, mut other) = (rival.chunker(setting)?, rival.chunker(setting)?);
        let nbytes = source.items.len();
        let (mut a, mut b) = (vec![0; nbytes + 32], vec![0; nbytes + 32]);
        let found = pair(effort, &mut || one.compress(&source.items, &mut a).map(drop), &mut || {
            other.compress(&source.items, &mut b).map(drop)
        })?;
        let name = format!("A/A compression {codec}-5 {}", source.name);
        cells.push(Cell::speed("A/A", name, 1, nbytes, found, "C-Blosc2 itself"));
        let len = one.compress(&source.items, &mut a)?;
        let (mut x, mut y) = (vec![0; nbytes], vec![0; nbytes]);
        let found = pair(effort, &mut || one.decompress(&a[..len], &mut x), &mut || {
            other.decompress(&a[..len], &mut y)
        })?;
        let name = format!("A/A decompression {codec}-5 {}", source.name);
        cells.push(Cell::speed("A/A", name, 1, nbytes, found, "C-Blosc2 itself"));
    }
    Ok(())
}
