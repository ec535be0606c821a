//! What reductions cost: each stored block is decoded once and special chunks never; and memory does not grow with the
//! array.

use crate::{ALLOCATOR, alone};
use b2nd::registry::{BlockCodec, BlockInfo, BlockResult};
use b2nd::{Array, Codec, Dtype, Exec, Fill, Options, Over, Reduced, Registry, Resize, Slabs, s};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Blocks of the same 8 bytes over and over; counts those that it decodes.
struct Counting(Arc<AtomicU64>);

impl BlockCodec for Counting {
    fn compress(&self, _: &BlockInfo<'_>, src: &[u8], dst: &mut [u8]) -> BlockResult<Option<usize>> {
        let Some(first) = src.get(..8) else { return Ok(None) };
        if src.chunks(8).any(|part| part != first) {
            return Ok(None);
        }
        dst[..8].copy_from_slice(first);
        Ok(Some(8))
    }
    fn decompress(&self, _: &BlockInfo<'_>, src: &[u8], dst: &mut [u8]) -> BlockResult<()> {
        self.0.fetch_add(1, Ordering::Relaxed);
        dst.chunks_mut(8).for_each(|part| part.copy_from_slice(src));
        Ok(())
    }
}

const CODEC: u8 = 201;

/// All reductions, over these axes.
fn reduce(array: &Array, over: &Over) -> Vec<Reduced> {
    let over = || over.clone();
    vec![
        array.sum(over()).unwrap(),
        array.mean(over()).unwrap(),
        array.prod(over()).unwrap(),
        array.min(over()).unwrap(),
        array.max(over()).unwrap(),
        array.var(over(), 0.0).unwrap(),
        array.std(over(), 1.0).unwrap(),
        array.any(over()).unwrap(),
        array.all(over()).unwrap(),
        array.count_nan(over()).unwrap(),
    ]
}

fn overs() -> [Over; 5] {
    [Over::all(), 0.into(), 1.into(), Over::axes([]), Over::axes([0]).within(s![.., 20..59;3])]
}

fn stored_blocks_are_decoded_once_and_special_chunks_never() {
    let decoded = Arc::new(AtomicU64::new(0));
    for (fill, threads) in [Fill::Zeros, Fill::Uninit, Fill::Nan, Fill::Value(1.5f32.to_le_bytes().to_vec())]
        .into_iter()
        .zip([1, 3, 2, 3])
    {
        let registry = Registry::new().with_codec(CODEC, "counting", Counting(decoded.clone())).unwrap();
        let options = Options::new()
            .with_registry(registry)
            .with_codec(Codec::Other(CODEC))
            .with_filters(b2nd::Pipeline::none())
            .with_fill(fill.clone())
            .with_exec(Exec::new(threads));
        let options = options.with_chunks([30, 30]).with_blocks([10, 10]);
        let mut a = options.create_in_memory(Dtype::parse("<f4").unwrap(), [290, 300]).unwrap();
        for over in overs() {
            reduce(&a, &over);
        }
        assert_eq!(decoded.swap(0, Ordering::Relaxed), 0, "{fill:?}: nothing is stored");
        // Two kinds of special chunks, and two chunks with blocks.
        a.resize(Resize::to([290, 330]).with_fill(Fill::Zeros)).unwrap();
        a.write_bytes(s![60..90, 30..60], &[7, 6, 5, 4, 3, 2, 1, 0].repeat(450)).unwrap();
        a.write_bytes(s![270..290, 0..30], &[9, 6, 5, 4, 3, 2, 1, 0].repeat(300)).unwrap();
        decoded.store(0, Ordering::Relaxed);
        let reductions = 10;
        for over in overs() {
            reduce(&a, &over);
            // Of the last chunk one row of blocks is padding, and the selection takes but its last column of blocks.
            let blocks = if over == overs()[4] { 9 + 2 } else { 9 + 6 };
            assert_eq!(decoded.swap(0, Ordering::Relaxed), reductions * blocks, "{fill:?} {over:?}");
        }
    }
}

/// The most that the reductions of an array of this many rows take, each by itself, besides the array and the result.
fn most(rows: u64) -> u64 {
    let folder = std::env::temp_dir().join(format!("b2nd-reduce-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("a.b2nd");
    let options = Options::new()
        .with_chunks([100, 250])
        .with_blocks([25, 250])
        .with_codec(Codec::Lz4)
        .with_exec(Exec::new(3))
        .with_overwrite(true);
    let mut w = options.stream(&path, Dtype::parse("<f8").unwrap(), &Slabs::growing(0, [0, 1000])).unwrap();
    let slab: Vec<f64> = (0..100_000).map(|n| f64::from(n / 3)).collect();
    (0..rows / 100).for_each(|_| w.push_items(&slab).unwrap());
    drop(w.finish().unwrap());
    let array = Array::open_with(&path, &b2nd::OpenOptions::new().with_exec(Exec::new(3))).unwrap();
    let mut most = 0;
    for over in [Over::all(), 0.into(), 1.into()] {
        let runs: [&dyn Fn() -> Reduced; 4] = [
            &|| array.sum(over.clone()).unwrap(),
            &|| array.var(over.clone(), 0.0).unwrap(),
            &|| array.max(over.clone()).unwrap(),
            &|| array.count_nan(over.clone()).unwrap(),
        ];
        for run in runs {
            ALLOCATOR.reset_peak_usage();
            let before = ALLOCATOR.current_usage() as u64;
            let result = run();
            let taken = (ALLOCATOR.peak_usage() as u64).saturating_sub(before);
            most = most.max(taken.saturating_sub(result.bytes().len() as u64));
        }
    }
    std::fs::remove_dir_all(folder).unwrap();
    most
}

#[test]
fn reductions_decode_what_is_stored_once_and_keep_none_of_it() {
    let _alone = alone();
    stored_blocks_are_decoded_once_and_special_chunks_never();
    let (short, long) = (most(2_000), most(20_000));
    println!("{short} bytes for 16 MB, {long} for 160 MB");
    // For each of 3 threads a block, a chunk that is not compressed at all, and what the filters and the codec need; the
    // states of 256 tasks of 1000 items; the index, a hundred times smaller.
    let (block, chunk, states) = (25 * 250 * 8, 100 * 250 * 8, 256 * 250 * 56);
    let bound = 3 * (4 * block + chunk + 250 * 56 * 3) + states + (1 << 20);
    assert!(short <= bound && long <= bound, "{short} and {long} of {bound}");
}
