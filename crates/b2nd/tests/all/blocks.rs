//! The block cache and the closures on blocks: nothing stale, nothing twice, nothing left out.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, in its helper functions too")]

use crate::scratch::Scratch;
use b2nd::{
    Array, BlockPlace, Codec, Dtype, Error, Exec, Fill, Layout, OpenOptions, Options, Params, Slabs, s,
};
use b2nd_testkit::nd::NaiveArray;
use b2nd_testkit::rng::Rng;
use proptest::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A random box, as a selection and as lists of indices.
fn random_box(rng: &mut Rng, shape: &[usize]) -> (b2nd::Selection, Vec<Vec<usize>>) {
    let ranges: Vec<(u64, u64)> = shape
        .iter()
        .map(|&n| {
            let start = rng.next_u64() % n as u64;
            (start, start + 1 + rng.next_u64() % (n as u64 - start))
        })
        .collect();
    let (start, stop): (Vec<u64>, Vec<u64>) = ranges.iter().copied().unzip();
    let lists = ranges.iter().map(|&(a, b)| (a as usize..b as usize).collect()).collect();
    (b2nd::Selection::from_box(&start, &stop), lists)
}

fn random_bytes(rng: &mut Rng, len: usize) -> Vec<u8> {
    let zeros = rng.next_u64().is_multiple_of(4);
    (0..len).map(|_| if zeros { 0 } else { (rng.next_u64() % 5) as u8 }).collect()
}

fn invert(_: &BlockPlace<'_>, bytes: &mut [u8]) -> b2nd::Result<()> {
    bytes.iter_mut().for_each(|b| *b = !*b);
    Ok(())
}

/// Adds or takes away what the place of an item alone says, and checks all that the place says.
fn shift(place: &BlockPlace<'_>, bytes: &mut [u8], sign: i8) -> b2nd::Result<()> {
    let items: u64 = place.shape.iter().product();
    assert_eq!(bytes.len(), items as usize * place.typesize);
    assert_eq!(place.offset, place.block * bytes.len());
    assert!(place.start.iter().zip(place.stop).zip(place.shape).all(|((a, b), n)| a < b && b - a <= *n));
    for (n, item) in bytes.chunks_exact_mut(place.typesize).enumerate() {
        let mut rest = n as u64;
        let mut sum = 0;
        for (axis, &length) in place.shape.iter().enumerate().rev() {
            sum += (place.start[axis] + rest % length) * (axis as u64 + 3);
            rest /= length;
        }
        item[0] = item[0].wrapping_add_signed((sum as i8).wrapping_mul(sign));
    }
    Ok(())
}

/// What `shift` adds to the items of a model.
fn shifted(model: &NaiveArray, at: &[Vec<usize>], items: &[u8]) -> Vec<u8> {
    let mut out = items.to_vec();
    let lengths: Vec<usize> = at.iter().map(Vec::len).collect();
    for (n, item) in out.chunks_exact_mut(model.itemsize).enumerate() {
        let (mut rest, mut sum) = (n, 0);
        for axis in (0..at.len()).rev() {
            sum += at[axis][rest % lengths[axis]] * (axis + 3);
            rest /= lengths[axis];
        }
        item[0] = item[0].wrapping_add_signed(sum as i8);
    }
    out
}

#[derive(Debug, Clone)]
struct Case {
    shape: Vec<u64>,
    chunks: Vec<u64>,
    blocks: Vec<u64>,
    clevel: u8,
    delta: bool,
    sparse: bool,
    on_disk: bool,
    cache: u64,
    /// 0: no closures; 1: one that undoes the other; 2: writing alone; 3: reading alone.
    hooks: u8,
    threads: usize,
    seed: u64,
}

fn cases() -> impl Strategy<Value = Case> {
    let axis = (1u64..20, 1u64..9, 1u64..9);
    (
        proptest::collection::vec(axis, 1..4),
        (prop_oneof![Just(0u8), Just(5)], any::<bool>(), any::<bool>(), 0u8..5),
        (prop_oneof![Just(0u64), Just(1500), Just(1 << 20)], 0u8..4, 1usize..3, any::<u64>()),
    )
        .prop_map(|(axes, (clevel, delta, sparse, disk), (cache, hooks, threads, seed))| Case {
            shape: axes.iter().map(|a| a.0).collect(),
            chunks: axes.iter().map(|a| a.1).collect(),
            blocks: axes.iter().map(|a| a.2.min(a.1)).collect(),
            clevel,
            delta,
            sparse,
            // Every commit waits for the disk.
            on_disk: disk == 0,
            cache,
            hooks,
            threads,
            seed,
        })
}

fn make(case: &Case, dir: &Scratch) -> Array {
    let filters = if case.delta { [0, 0, 0, 0, 3, 1] } else { [0, 0, 0, 0, 0, 1] };
    let params = Params::new(2)
        .with_codec(Codec::Lz4)
        .with_clevel(case.clevel)
        .with_pipeline(b2nd::Pipeline::from_bytes(filters, [0; 6]));
    let mut options = Options::new()
        .with_chunks(case.chunks.clone())
        .with_blocks(case.blocks.clone())
        .with_params(params)
        .with_layout(if case.sparse { Layout::Sparse } else { Layout::Contiguous })
        .with_block_cache(case.cache)
        .with_exec(Exec::new(case.threads));
    if matches!(case.hooks, 1 | 2) {
        options = options.with_preprocess(|place, bytes| shift(place, bytes, 1));
    }
    match case.hooks {
        1 => options = options.with_postprocess(|place, bytes| shift(place, bytes, -1)),
        3 => options = options.with_postprocess(|place, bytes| shift(place, bytes, 1)),
        _ => {}
    }
    if case.on_disk {
        options.create(dir.path(), Dtype::raw(2), &case.shape).unwrap()
    } else {
        options.create_in_memory(Dtype::raw(2), &case.shape).unwrap()
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    /// Writes, transactions that are kept or dropped, and reads in between, against a model.
    #[test]
    fn reads_see_what_was_written_last_and_closures_see_each_item_once(case in cases()) {
        let dir = Scratch::new("blocks");
        let mut array = make(&case, &dir);
        let mut rng = Rng::new(case.seed);
        let shape: Vec<usize> = case.shape.iter().map(|&n| n as usize).collect();
        // What a reader of this handle sees. What nobody wrote is stored as zeros.
        let mut model = NaiveArray::zeros(&shape, 2);
        let all: Vec<Vec<usize>> = shape.iter().map(|&n| (0..n).collect()).collect();
        if case.hooks == 1 {
            let back: Vec<u8> = shifted(&model, &all, &model.data).iter().map(|b| b.wrapping_neg()).collect();
            model.data = back;
        } else if case.hooks == 3 {
            model.data = shifted(&model, &all, &model.data);
        }
        for _ in 0..20 {
            let (selection, at) = random_box(&mut rng, &shape);
            match rng.next_u64() % 5 {
                n @ (0 | 1) => {
                    let (selection, at) = if n == 0 { (s![], all.clone()) } else { (selection, at) };
                    let items = random_bytes(&mut rng, at.iter().map(Vec::len).product::<usize>() * 2);
                    array.write_bytes(selection, &items).unwrap();
                    let seen = if matches!(case.hooks, 2 | 3) { shifted(&model, &at, &items) } else { items };
                    model.set(&at, &seen);
                }
                2 => {
                    let items = random_bytes(&mut rng, at.iter().map(Vec::len).product::<usize>() * 2);
                    let mut kept = model.clone();
                    let seen = if matches!(case.hooks, 2 | 3) { shifted(&model, &at, &items) } else { items.clone() };
                    kept.set(&at, &seen);
                    let mut transaction = array.transaction();
                    transaction.write_bytes(selection, &items).unwrap();
                    let (selection, at) = random_box(&mut rng, &shape);
                    prop_assert_eq!(transaction.array().read_bytes(selection).unwrap(), kept.get(&at));
                    if rng.next_u64().is_multiple_of(2) {
                        transaction.commit().unwrap();
                        model = kept;
                    }
                }
                _ => {
                    for _ in 0..2 {
                        prop_assert_eq!(array.read_bytes(selection.clone()).unwrap(), model.get(&at));
                    }
                }
            }
            let used = array.schunk().block_cache();
            prop_assert!(used.bytes <= used.capacity && used.capacity == case.cache);
        }
        prop_assert_eq!(&array.read_bytes(s![]).unwrap(), &model.data);
        prop_assert!(array.verify().unwrap().is_sound());
        if case.hooks == 2 {
            // Without closures the file holds what the writing one left.
            let plain = Array::from_bytes(array.to_bytes().unwrap(), &OpenOptions::new()).unwrap();
            prop_assert_eq!(&plain.read_bytes(s![]).unwrap(), &model.data);
        }
    }
}

/// 100 × 100 numbers in a file, in blocks of 10 × 10.
fn numbers(dir: &Scratch, options: &OpenOptions) -> Array {
    let make = Options::new().with_chunks([50, 50]).with_blocks([10, 10]).with_overwrite(true);
    let mut array = make.create(dir.path(), Dtype::parse("<u4").unwrap(), [100, 100]).unwrap();
    array.write_items(s![], &(0..10_000u32).collect::<Vec<_>>()).unwrap();
    Array::open_with(dir.path(), options).unwrap()
}

#[test]
fn a_hot_block_is_decoded_once() {
    let dir = Scratch::new("hot");
    let array = numbers(&dir, &OpenOptions::new().with_block_cache(100_000));
    for n in 0..1000u32 {
        let (i, j) = (i64::from(n % 10), i64::from(n / 10 % 10));
        assert_eq!(array.read_items::<u32>(s![i, j]).unwrap(), [n % 10 * 100 + n / 10 % 10]);
    }
    let used = array.schunk().block_cache();
    assert_eq!((used.hits, used.misses, used.blocks, used.bytes), (999, 1, 1, 656));
    // Where the file is gone, only what is in the cache can be read.
    let before = array.read_items::<u32>(s![0..10, 0..7]).unwrap();
    std::fs::OpenOptions::new().write(true).open(dir.path()).unwrap().set_len(10).unwrap();
    assert_eq!(array.read_items::<u32>(s![0..10, 0..7]).unwrap(), before);
    assert!(array.read_items::<u32>(s![0..10, 0..11]).is_err());
}

#[test]
fn whole_blocks_and_large_reads_leave_the_cache_alone() {
    let dir = Scratch::new("scan");
    let array = numbers(&dir, &OpenOptions::new().with_block_cache(10 * 656));
    array.read_items::<u32>(s![..20, ..30]).unwrap();
    assert_eq!(array.schunk().block_cache().blocks, 0, "whole blocks");
    array.read_items::<u32>(s![3, 1]).unwrap();
    array.read_items::<u32>(s![5]).unwrap();
    assert_eq!(array.schunk().block_cache().blocks, 10, "a row fits");
    array.read_items::<u32>(s![5..11]).unwrap();
    let used = array.schunk().block_cache();
    assert_eq!((used.blocks, used.hits, used.misses), (10, 1, 6 + 1 + 9), "two rows do not");
    let off = numbers(&dir, &OpenOptions::new());
    off.read_items::<u32>(s![3, 1]).unwrap();
    assert_eq!(off.schunk().block_cache(), b2nd::CacheUse::default());
}

#[test]
fn threads_share_a_small_cache() {
    let dir = Scratch::new("shared");
    let array = numbers(&dir, &OpenOptions::new().with_block_cache(5 * 656).with_exec(Exec::new(1)));
    std::thread::scope(|scope| {
        for t in 0..4u64 {
            let array = &array;
            scope.spawn(move || {
                let mut rng = Rng::new(t);
                for _ in 0..3000 {
                    let at = rng.next_u64() % 2000;
                    let (i, j) = ((at / 100) as i64, (at % 100) as i64);
                    assert_eq!(array.read_items::<u32>(s![i, j]).unwrap(), [at as u32]);
                    let used = array.schunk().block_cache();
                    assert!(used.bytes <= used.capacity);
                }
            });
        }
    });
    assert!(array.schunk().block_cache().hits > 0);
}

#[test]
fn every_kind_of_chunk_is_post_processed() {
    let nan = f32::NAN.to_le_bytes();
    for (fill, stored) in [
        (Fill::Zeros, [0; 4]),
        (Fill::Uninit, [0; 4]),
        (Fill::Nan, nan),
        (Fill::Value(vec![1, 2, 3, 4]), [1, 2, 3, 4]),
    ] {
        let options =
            Options::new().with_fill(fill).with_chunks([8, 8]).with_blocks([4, 8]).with_postprocess(invert);
        let mut array = options.create_in_memory(Dtype::parse("<f4").unwrap(), [11, 9]).unwrap();
        let seen = stored.map(|b| !b);
        assert_eq!(array.read_bytes(s![]).unwrap(), seen.repeat(99));
        assert_eq!(array.read_bytes(s![1..;3, 8]).unwrap(), seen.repeat(4));
        // One chunk with data beside it, raw and compressed.
        array.write_bytes(s![..8, ..8], &[9; 256]).unwrap();
        assert_eq!(array.read_bytes(s![..8, ..8]).unwrap(), [!9; 256]);
        assert_eq!(array.read_bytes(s![8, 8]).unwrap(), seen);
    }
    let raw = Options::new().with_clevel(0).with_postprocess(invert);
    let mut array = raw.with_blocks([10]).create_in_memory(Dtype::raw(1), [100]).unwrap();
    array.write_bytes(s![], &(0..100).collect::<Vec<u8>>()).unwrap();
    assert_eq!(
        array.read_bytes(s![..;-9]).unwrap(),
        (0..100u8).rev().step_by(9).map(|b| !b).collect::<Vec<_>>()
    );
}

#[test]
fn a_closure_runs_once_for_each_block_and_its_error_comes_back() {
    let runs = Arc::new(AtomicU64::new(0));
    let (a, b) = (runs.clone(), runs.clone());
    let dir = Scratch::new("errors");
    // Noise, so that chunks end up raw: their blocks are asked for twice.
    let noise: Vec<u8> = {
        let mut rng = Rng::new(1);
        (0..10_000).map(|_| rng.next_u64() as u8).collect()
    };
    let options =
        Options::new().with_chunks([50, 50]).with_blocks([20, 50]).with_preprocess(move |place, _| {
            a.fetch_add(1, Ordering::Relaxed);
            if place.start == [40, 50] { Err(Error::Usage("no such block".into())) } else { Ok(()) }
        });
    let refused = options.clone().create_uncommitted(dir.path(), Dtype::raw(1), [100, 100]).unwrap();
    let mut refused = refused;
    assert!(matches!(refused.write_bytes(s![], &noise), Err(Error::Usage(text)) if text == "no such block"));
    assert!(refused.commit().is_err());
    runs.store(0, Ordering::Relaxed);
    let mut array = options.create_in_memory(Dtype::raw(1), [100, 100]).unwrap();
    array.write_bytes(s![.., ..50], &noise[..5000]).unwrap();
    assert_eq!(runs.swap(0, Ordering::Relaxed), 6);
    array.write_bytes(s![21..45, 3], &[1; 24]).unwrap();
    assert_eq!(runs.swap(0, Ordering::Relaxed), 2);
    let open = OpenOptions::new().with_block_cache(1 << 20).with_postprocess(move |place, _| {
        b.fetch_add(1, Ordering::Relaxed);
        if place.chunk == 1 { Err(Error::Cancelled) } else { Ok(()) }
    });
    let array = Array::from_bytes(array.to_bytes().unwrap(), &open).unwrap();
    (0..10).for_each(|n| drop(array.read_bytes(s![n, 7]).unwrap()));
    assert_eq!(runs.load(Ordering::Relaxed), 1, "the cache keeps what the closure left");
    assert!(matches!(array.read_bytes(s![0, 70]), Err(Error::Cancelled)));
}

#[test]
fn a_stream_is_pre_processed_once() {
    for axis in 0..2 {
        let mut model = NaiveArray::zeros(&[23, 17], 2);
        let mut rng = Rng::new(5);
        model.data = random_bytes(&mut rng, model.data.len());
        let options = Options::new()
            .with_chunks([6, 7])
            .with_blocks([4, 3])
            .with_exec(Exec::new(2))
            .with_preprocess(|place, bytes| shift(place, bytes, 1));
        let mut w = options.stream_in_memory(Dtype::raw(2), &Slabs::along(axis, [23, 17])).unwrap();
        for start in (0..[23, 17][axis]).step_by(5) {
            let stop = (start + 5).min([23, 17][axis]);
            let mut at: Vec<Vec<usize>> = vec![(0..23).collect(), (0..17).collect()];
            at[axis] = (start..stop).collect();
            w.push_bytes(&model.get(&at)).unwrap();
            w.flush().unwrap();
        }
        let all: Vec<Vec<usize>> = vec![(0..23).collect(), (0..17).collect()];
        assert_eq!(w.finish().unwrap().read_bytes(s![]).unwrap(), shifted(&model, &all, &model.data));
    }
}

#[test]
fn a_closure_that_panics_in_another_thread_hangs_nobody() {
    for threads in [1, 3] {
        let options =
            Options::new().with_chunks([4]).with_exec(Exec::new(threads)).with_preprocess(|place, _| {
                assert!(place.chunk < 5, "on purpose");
                Ok(())
            });
        let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let mut w = options.stream_in_memory(Dtype::raw(1), &Slabs::growing(0, [0])).unwrap();
            let pushed = (0..100).try_for_each(|_| w.push_bytes(&[1; 3]));
            pushed.and_then(|()| w.finish().map(drop))
        }));
        assert!(!matches!(caught, Ok(Ok(()))));
    }
}

#[test]
fn reductions_see_what_closures_leave() {
    let options = Options::new()
        .with_chunks([6, 7])
        .with_blocks([4, 3])
        .with_postprocess(|place, bytes| shift(place, bytes, 1));
    let mut array = options.create_in_memory(Dtype::parse("|u1").unwrap(), [13, 17]).unwrap();
    let sum = |array: &Array| array.sum(b2nd::Over::all()).unwrap().item::<u64>().unwrap();
    let seen = |array: &Array| array.read_bytes(s![]).unwrap().iter().map(|&b| u64::from(b)).sum::<u64>();
    assert!(sum(&array) > 0);
    assert_eq!(sum(&array), seen(&array));
    array.write_bytes(s![3..9, 5..12], &(0..42).collect::<Vec<u8>>()).unwrap();
    assert_eq!(sum(&array), seen(&array));
}
