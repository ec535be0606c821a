//! Frames to damage, ways to damage them, and what has to hold of every repair.

use b2nd::chunk::Special;
use b2nd::schunk::ChunkPlace;
use b2nd::{
    Array, Codec, Dtype, Error, Exec, Layout, OpenOptions, Options, Params, RepairOptions, Repaired, SChunk,
    repair_bytes, s,
};
use b2nd_testkit::rng::Rng;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// One thread, and no more memory than the files of these tests have a use for.
pub(crate) fn options() -> RepairOptions {
    let limits = b2nd::Limits::default()
        .with_max_chunk_bytes(1 << 24)
        .with_max_index_bytes(1 << 24)
        .with_max_meta_bytes(1 << 24);
    RepairOptions::new().with_exec(Exec::new(1)).with_limits(limits)
}

/// A folder that goes away with its test.
pub(crate) struct TempDir(pub(crate) PathBuf);

impl TempDir {
    pub(crate) fn new(name: &str) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let n = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("b2nd-repair-{name}-{}-{n}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        TempDir(path)
    }
}

impl Drop for TempDir {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A frame before it is damaged.
pub(crate) struct Original {
    pub(crate) bytes: Vec<u8>,
    /// The items of each chunk.
    pub(crate) chunks: Vec<Vec<u8>>,
    /// Where each chunk lies in the bytes; nowhere where it is no more than an offset.
    pub(crate) places: Vec<Option<Range<usize>>>,
    pub(crate) attributes: Vec<(String, Vec<u8>)>,
    /// Where the chunks end, and the offsets begin.
    pub(crate) data_end: usize,
    pub(crate) blocksize: usize,
}

impl Original {
    pub(crate) fn of(bytes: Vec<u8>) -> Self {
        let frame = SChunk::from_bytes(bytes.clone(), &OpenOptions::new()).unwrap();
        let chunks = (0..frame.nchunks()).map(|n| frame.decompress_chunk(n).unwrap()).collect();
        let places = (0..frame.nchunks()).map(|n| place(&frame, n)).collect();
        let names: Vec<String> = frame.vlmetalayer_names().unwrap().map(str::to_owned).collect();
        let attributes = names
            .into_iter()
            .map(|name| (name.clone(), frame.vlmetalayer(&name).unwrap().unwrap()))
            .collect();
        let header_len = u32::from_be_bytes(bytes[11..15].try_into().unwrap()) as usize;
        Original {
            data_end: header_len + frame.cbytes() as usize,
            blocksize: frame.params().blocksize().unwrap_or(0) as usize,
            bytes,
            chunks,
            places,
            attributes,
        }
    }
}

fn place(frame: &SChunk, n: u64) -> Option<Range<usize>> {
    let info = frame.chunk_info(n).unwrap();
    match info.place {
        ChunkPlace::Offset(at) => Some(at as usize..at as usize + info.cbytes as usize),
        _ => None,
    }
}

/// An array with a past: chunks that were written over lie about, with the offsets and trailers of older states.
pub(crate) fn array(seed: u64) -> Original {
    let dir = TempDir::new(&format!("array-{seed}"));
    let path = dir.0.join("a.b2nd");
    build(seed, &path, Layout::Contiguous);
    Original::of(std::fs::read(&path).unwrap())
}

pub(crate) fn build(seed: u64, path: &Path, layout: Layout) {
    let mut rng = Rng::new(seed);
    let codec = *rng.pick(&[Codec::Lz4, Codec::Zstd, Codec::BloscLz, Codec::Zlib]);
    let dtype = *rng.pick(&["<i4", "<f4", "<f8", "<u2"]);
    let dtype = Dtype::parse(dtype).unwrap();
    let params = Params::new(dtype.itemsize() as u32).with_codec(codec).with_clevel(rng.below(6) as u8);
    let mut array = Options::new()
        .with_params(params)
        .with_layout(layout)
        .with_chunks([20, 24])
        .with_blocks([10, 12])
        .create(path, dtype.clone(), [90, 60])
        .unwrap();
    array.set_vlmetalayer("first", b"\xa3one").unwrap();
    array.set_vlmetalayer("second", &vec![7; 300]).unwrap();
    for _ in 0..6 {
        let (row, col) = (rng.below(70), rng.below(40));
        let (rows, cols) = (1 + rng.below(20), 1 + rng.below(20));
        let bytes: Vec<u8> = (0..rows * cols * dtype.itemsize() as u64)
            .map(|n| if seed.is_multiple_of(2) { (n / 7) as u8 } else { rng.next_u64() as u8 })
            .collect();
        array.write_bytes(s![row..row + rows, col..col + cols], &bytes).unwrap();
    }
}

/// One way to damage a frame: the bytes, which of the old ones are not there any more, and whether they moved.
pub(crate) struct Damaged {
    pub(crate) bytes: Vec<u8>,
    pub(crate) gone: Vec<Range<usize>>,
    pub(crate) how: String,
}

pub(crate) fn damage(bytes: &[u8], rng: &mut Rng) -> Damaged {
    let len = bytes.len();
    let mut new = bytes.to_vec();
    let at = rng.below(len as u64) as usize;
    let most = 1 + rng.below(400);
    let end = (at + 1 + rng.below(most) as usize).min(len);
    let (gone, how) = match rng.below(8) {
        0 | 1 => {
            let mut gone = Vec::new();
            for _ in 0..=rng.below(3) {
                let bit = rng.below(8 * len as u64) as usize;
                new[bit / 8] ^= 1 << (bit % 8);
                gone.push(bit / 8..bit / 8 + 1);
            }
            (gone, "flipped".to_owned())
        }
        2 => {
            new.truncate(at);
            (vec![at..len], format!("cut at {at}"))
        }
        3 | 4 => {
            new[at..end].fill(0);
            (vec![at..end], format!("zeros at {at}..{end}"))
        }
        5 => {
            new.splice(0..0, (0..rng.below(300)).map(|n| n as u8).collect::<Vec<_>>());
            (vec![], "prepended".to_owned())
        }
        6 => {
            new.extend((0..rng.below(300)).map(|n| n as u8));
            (vec![], "appended".to_owned())
        }
        _ => {
            new[at..end].iter_mut().for_each(|byte| *byte = rng.next_u64() as u8);
            (vec![at..end], format!("rubbish at {at}..{end}"))
        }
    };
    Damaged { bytes: new, gone, how }
}

/// What has to hold of the result of a repair; whether it is an array.
pub(crate) fn is_sound(bytes: Vec<u8>, report: &Repaired, how: &str) -> SChunk {
    let frame =
        SChunk::from_bytes(bytes.clone(), &OpenOptions::new()).unwrap_or_else(|e| panic!("{how}: {e}"));
    let verified = match Array::from_bytes(bytes, &OpenOptions::new()) {
        Ok(array) => array.verify().unwrap(),
        Err(_) => frame.verify().unwrap(),
    };
    assert!(verified.is_sound(), "{how}: {:?}", verified.damage);
    assert_eq!(verified.stale, report.stale, "{how}");
    assert_eq!(frame.nchunks(), report.chunks, "{how}");
    for name in frame.vlmetalayer_names().unwrap() {
        frame.vlmetalayer(name).unwrap_or_else(|e| panic!("{how}: {name}: {e}"));
    }
    frame
}

/// Repairs, and holds the result against the original; `None` where nothing could be found.
pub(crate) fn repaired(original: &Original, damaged: &Damaged) -> Option<Repaired> {
    let how = &damaged.how;
    let (bytes, report) = match repair_bytes(damaged.bytes.clone(), &options()) {
        Ok(done) => done,
        Err(Error::Format(_) | Error::Limit { .. }) => return None,
        Err(other) => panic!("{how}: {other}"),
    };
    let frame = is_sound(bytes, &report, how);
    if !report.guesses.is_empty() || frame.nchunks() != original.chunks.len() as u64 {
        return Some(report);
    }
    for (n, before) in original.chunks.iter().enumerate() {
        let mut now = frame.decompress_chunk(n as u64).unwrap();
        if report.lost.iter().any(|place| place.chunks().contains(&(n as u64)) && place.block.is_none())
            || report.stale.contains(&(n as u64))
        {
            continue;
        }
        let blocks = |place: &b2nd::Damage| {
            let first = place.block.filter(|_| place.chunk == n as u64)?;
            Some(first..first + u32::try_from(place.count).unwrap())
        };
        for block in report.lost.iter().filter_map(blocks).flatten() {
            let from = block as usize * original.blocksize;
            let end = (from + original.blocksize).min(now.len());
            now[from..end].copy_from_slice(&before[from..end]);
        }
        assert!(now == *before, "{how}: chunk {n} is another, and not said to be lost:\n{report}");
    }
    for (name, content) in &original.attributes {
        match frame.vlmetalayer(name).unwrap() {
            Some(found) => assert_eq!(found, *content, "{how}: {name}"),
            None => assert!(!report.lost_metalayers.is_empty(), "{how}: {name} is gone, and nobody said so"),
        }
    }
    Some(report)
}

/// What is said to be lost of a frame whose checksums are all there is damaged.
pub(crate) fn lost_is_damaged(original: &Original, damaged: &Damaged, report: &Repaired) {
    let touched = |range: &Range<usize>| {
        damaged.gone.iter().any(|gone| gone.start < range.end && range.start < gone.end)
    };
    if touched(&(original.data_end..original.bytes.len())) {
        return;
    }
    for n in report.lost.iter().flat_map(b2nd::Damage::chunks) {
        match &original.places[n as usize] {
            Some(range) => assert!(touched(range), "{}: chunk {n} is whole:\n{report}", damaged.how),
            None => panic!("{}: chunk {n} was only an offset:\n{report}", damaged.how),
        }
    }
    assert!(report.lost_metalayers.is_empty(), "{}:\n{report}", damaged.how);
}

/// A frame of special chunks alone.
pub(crate) fn special(kind: Special) -> Original {
    let fill = match kind {
        Special::Nan => b2nd::Fill::Nan,
        Special::Uninit => b2nd::Fill::Uninit,
        _ => b2nd::Fill::Zeros,
    };
    let dir = TempDir::new(&format!("special-{kind:?}"));
    let path = dir.0.join("a.b2nd");
    let options = Options::new().with_chunks([10]).with_fill(fill);
    drop(options.create(&path, Dtype::parse("<f4").unwrap(), [1000]).unwrap());
    Original::of(std::fs::read(&path).unwrap())
}
