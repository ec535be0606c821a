//! Chunks: compression, decompression and size; combinations covered pairwise. Both decode what the other encoded.

use crate::bench::{Bench, Sizes};
use crate::cover::cover;
use crate::data::{self, KINDS, Kind, TYPESIZES};
use crate::groups::name::{COMPRESSION, DECOMPRESSION, SIZE};
use crate::measure::Fill;
use crate::report::{Label, Unit};
use crate::rival::{Chunker, Rival, Setting};
use b2nd::chunk::{self, Context};
use b2nd::{Codec, Exec, Limits, Params, Pipeline};
use b2nd_interop::Outcome;
use b2nd_interop::generate::CODECS;

const LEVELS: [u8; 3] = [1, 5, 9];
/// Names and ids. Delta has one filter behind it at most: C-Blosc2 does not read back more.
pub(crate) const FILTERS: [(&str, &[u8]); 5] = [
    ("none", &[]),
    ("shuffle", &[1]),
    ("bitshuffle", &[2]),
    ("delta+shuffle", &[3, 1]),
    ("bytedelta", &[1, 35]),
];
const SIZES: [(&str, usize); 3] = [("64 KiB", 64 << 10), ("1 MiB", 1 << 20), ("16 MiB", 16 << 20)];

/// The factors of a row, by their place in it.
const KIND: usize = 3;
const TYPESIZE: usize = 4;
const LENGTH: usize = 5;

/// One combination.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Row {
    codec: &'static str,
    clevel: u8,
    filter: usize,
    kind: Kind,
    typesize: u8,
    /// Index of the chunk's size.
    size: usize,
    threads: usize,
}

/// The rows of a cover, those of the same data side by side.
fn rows(kinds: &[Kind], threads: &[usize], sizes: usize, seeds: std::ops::Range<u64>) -> Vec<Row> {
    let lengths =
        [CODECS.len(), LEVELS.len(), FILTERS.len(), kinds.len(), TYPESIZES.len(), sizes, threads.len()];
    let excluded = |(f, v): (usize, usize), (g, w): (usize, usize)| {
        let kind = || kinds[v];
        match (f, g) {
            (KIND, TYPESIZE) => !kind().has(TYPESIZES[w]),
            (KIND, LENGTH) => !kind().is_generated() && SIZES[w].1 > 1 << 20,
            _ => false,
        }
    };
    let allowed = |a, b| !excluded(a, b) && !excluded(b, a);
    let row = |r: Vec<usize>| Row {
        codec: CODECS[r[0]],
        clevel: LEVELS[r[1]],
        filter: r[2],
        kind: kinds[r[KIND]],
        typesize: TYPESIZES[r[TYPESIZE]],
        size: r[LENGTH],
        threads: threads[r[6]],
    };
    let mut rows: Vec<Row> = Vec::new();
    for found in seeds.flat_map(|seed| cover(&lengths, &allowed, seed)).map(row) {
        if !rows.contains(&found) {
            rows.push(found);
        }
    }
    let place = |r: &Row| kinds.iter().position(|k| *k == r.kind);
    rows.sort_by_key(|r| (place(r), r.typesize, r.size, r.codec, r.clevel, r.filter, r.threads));
    rows
}

/// Both sides set up for the same work.
#[derive(Debug)]
pub(crate) struct Contest<'r, 'i> {
    /// What is compressed.
    pub(crate) items: &'i [u8],
    rival: Chunker<'r>,
    /// Our parameters.
    pub(crate) params: Params,
    exec: Exec,
    /// The chunk of either side.
    pub(crate) ours: Vec<u8>,
    /// The other's.
    pub(crate) theirs: Vec<u8>,
}

/// The rival's settings for a row.
fn setting(row: &Row) -> Outcome<Setting> {
    let (mut filters, mut filters_meta) = ([0; 6], [0; 6]);
    let ids = FILTERS[row.filter].1;
    filters[6 - ids.len()..].copy_from_slice(ids);
    if ids.contains(&35) {
        // The number of streams: C-Blosc2 knows it by itself only for chunks of a super-chunk.
        filters_meta[5] = row.typesize;
    }
    let codec = Codec::from_name(row.codec).ok_or("codec")?.id();
    let typesize = u32::from(row.typesize);
    Ok(Setting { codec, clevel: row.clevel, filters, filters_meta, typesize, threads: row.threads })
}

impl<'r, 'i> Contest<'r, 'i> {
    /// Sets both up; an error where one does not decode what the other encoded.
    pub(crate) fn new(rival: &'r Rival, items: &'i [u8], setting: Setting) -> Outcome<Self> {
        let exec = Exec::new(setting.threads);
        let mut chunker = rival.chunker(setting)?;
        let mut theirs = vec![0; items.len() + 32];
        let len = chunker.compress(items, &mut theirs)?;
        theirs.truncate(len);
        // Blocks of the size that C-Blosc2 chooses, so that both do the same work.
        let blocksize = u32::from_le_bytes(theirs.get(8..12).ok_or("short chunk")?.try_into()?);
        let params = Params::new(setting.typesize)
            .with_codec(Codec::from_id(setting.codec))
            .with_clevel(setting.clevel)
            .with_pipeline(Pipeline::from_bytes(setting.filters, setting.filters_meta))
            .with_blocksize(Some(blocksize));
        let ours = chunk::encode(items, &params, &exec)?;
        let mut contest = Contest { items, rival: chunker, params, exec, ours, theirs };
        contest.verify()?;
        Ok(contest)
    }
    /// Each side decodes the chunk of the other.
    fn verify(&mut self) -> Outcome {
        if chunk::decode(&self.theirs, &Limits::default(), &self.exec)? != self.items {
            return Err("b2nd decodes C-Blosc2's chunk to something else".into());
        }
        let mut read = vec![0; self.items.len()];
        self.rival.decompress(&self.ours, &mut read)?;
        if read == self.items {
            Ok(())
        } else {
            Err("C-Blosc2 decodes b2nd's chunk to something else".into())
        }
    }
}

/// Measures the combinations.
pub(crate) fn run(bench: &mut Bench<'_>) -> Outcome {
    let threads = bench.threads();
    let (kinds, seeds) = bench.mode.pick((10, 0..10), (8, 0..1), (10, 0..1));
    let sizes = bench.mode.pick(3, 3, 1);
    let mut of: Option<(Kind, u8, String, Vec<u8>)> = None;
    for row in rows(&KINDS[..kinds], threads, sizes, seeds) {
        let largest = SIZES[if row.kind.is_generated() { sizes - 1 } else { 1 }].1;
        let (source, all) = match of.take() {
            Some((kind, typesize, source, all)) if (kind, typesize) == (row.kind, row.typesize) => {
                (source, all)
            }
            _ => data::source(row.kind, row.typesize, largest)?,
        };
        let (size, nbytes) = SIZES[row.size];
        let typesize = usize::from(row.typesize);
        let len = nbytes.min(all.len()) / typesize * typesize;
        let items = &all[(all.len() - len) / 2 / typesize * typesize..][..len];
        let (codec, clevel, filter) = (row.codec, row.clevel, FILTERS[row.filter].0);
        let name = format!("{source} t{typesize} {codec}-{clevel} {filter} {size}");
        let contest = Contest::new(bench.rival, items, setting(&row)?);
        let contest = contest.map_err(|e| format!("{name}, {} threads: {e}", row.threads))?;
        measure(bench, contest, row.kind, &name, row.threads)?;
        of = Some((row.kind, row.typesize, source, all));
    }
    Ok(())
}

fn measure(
    bench: &mut Bench<'_>,
    contest: Contest<'_, '_>,
    kind: Kind,
    name: &str,
    threads: usize,
) -> Outcome {
    let Contest { items, mut rival, params, exec, ours, theirs } = contest;
    let label = |group| Label::new(group, name, threads, Unit::Bytes(items.len()));
    let sizes = Sizes { ours: ours.len(), theirs: theirs.len() };
    // Noise and zeros have the same size in both.
    if threads == 1 && !matches!(kind, Kind::Noise | Kind::Zeros) {
        bench.push(label(SIZE).bytes(sizes.ours, sizes.theirs));
    }
    let effort = bench.effort(500, 200);
    let mut packed = Vec::new();
    let mut duel = Fill::unequal(
        items.len() + 32,
        |_, _| {
            // Both write into memory that is there.
            Ok(chunk::encode_into(items, &params, &Context::default(), &exec, &mut packed)?)
        },
        |_, out| rival.compress(items, out).map(drop),
    );
    bench.duel_sized(label(COMPRESSION), effort, &mut duel, sizes)?;
    // Both decode the same chunk, C-Blosc2's.
    let mut duel = Fill::new(
        items.len(),
        |_, out| Ok(chunk::decode_into(&theirs, out, &Limits::default(), &exec)?),
        |_, out| rival.decompress(&theirs, out),
    );
    bench.duel(label(DECOMPRESSION), effort, &mut duel)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quick_run_has_few_rows_and_a_full_one_many() {
        let quick = rows(&KINDS[..8], &[1, 2], 3, 0..1);
        assert!((40..60).contains(&quick.len()), "{} rows", quick.len());
        for kind in &KINDS[..8] {
            for codec in CODECS {
                assert!(quick.iter().any(|r| r.kind == *kind && r.codec == codec), "{kind:?} {codec}");
            }
        }
        assert!(quick.iter().all(|r| r.kind.has(r.typesize)));
        assert!(quick.iter().all(|r| r.kind.is_generated() || SIZES[r.size].1 <= 1 << 20));
        let full = rows(&KINDS, &[1, 2], 3, 0..10);
        assert!((400..700).contains(&full.len()), "{} rows", full.len());
    }

    #[test]
    fn bytedelta_is_told_its_streams() -> Outcome {
        let mut row = rows(&KINDS, &[1], 1, 0..1).into_iter().find(|r| r.filter == 4).ok_or("row")?;
        row.typesize = 12;
        let setting = setting(&row)?;
        assert_eq!((setting.filters, setting.filters_meta), ([0, 0, 0, 0, 1, 35], [0, 0, 0, 0, 0, 12]));
        Ok(())
    }
}
