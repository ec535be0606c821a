//! The streaming writer against arrays that are written whole: any axis, any slabs, flushed or not, dropped or failed.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, in its helper functions too")]

use crate::scratch::Scratch;
use b2nd::schunk::CreateOptions;
use b2nd::{Array, Cancel, Codec, Dtype, Error, Exec, Layout, Options, Slabs, StreamWriter, s};
use b2nd_testkit::nd::NaiveArray;
use b2nd_testkit::rng::Rng;
use proptest::prelude::*;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

#[derive(Debug, Clone)]
struct Case {
    shape: Vec<u64>,
    chunks: Vec<u64>,
    blocks: Vec<u64>,
    axis: usize,
    grows: bool,
    sparse: bool,
    on_disk: bool,
    threads: usize,
    memory: Option<u64>,
    seed: u64,
}

fn cases() -> impl Strategy<Value = Case> {
    let axis = (1u64..30, 1u64..9, 1u64..9);
    (
        proptest::collection::vec(axis, 1..4),
        (any::<usize>(), any::<bool>(), any::<bool>(), any::<bool>(), 1usize..4),
        (prop_oneof![Just(None), Just(Some(1 << 20))], any::<u64>()),
    )
        .prop_map(|(axes, (axis, grows, sparse, on_disk, threads), (memory, seed))| Case {
            shape: axes.iter().map(|a| a.0).collect(),
            chunks: axes.iter().map(|a| a.1).collect(),
            blocks: axes.iter().map(|a| a.2.min(a.1)).collect(),
            axis: axis % axes.len(),
            grows,
            sparse,
            on_disk,
            threads,
            memory,
            seed,
        })
}

fn options(case: &Case) -> Options {
    Options::new()
        .with_chunks(case.chunks.clone())
        .with_blocks(case.blocks.clone())
        .with_codec(Codec::Lz4)
        .with_layout(if case.sparse { Layout::Sparse } else { Layout::Contiguous })
        .with_exec(Exec::new(case.threads))
}

fn start(case: &Case, path: Option<&Path>) -> StreamWriter {
    let slabs = if case.grows { Slabs::growing } else { Slabs::along };
    let slabs = slabs(case.axis, case.shape.clone());
    let slabs = case.memory.map_or(slabs.clone(), |bytes| slabs.with_memory(bytes));
    match path {
        Some(path) => options(case).stream(path, Dtype::raw(2), &slabs).unwrap(),
        None => options(case).stream_in_memory(Dtype::raw(2), &slabs).unwrap(),
    }
}

fn random_bytes(rng: &mut Rng, len: usize) -> Vec<u8> {
    (0..len).map(|i| if i % 3 == 0 { (i / 64) as u8 } else { (rng.next_u64() % 4) as u8 }).collect()
}

/// The items from `start` to `stop` along the axis.
fn slab(model: &NaiveArray, axis: usize, start: usize, stop: usize) -> Vec<u8> {
    let lines = model.shape.iter().enumerate();
    let lines: Vec<Vec<usize>> =
        lines.map(|(d, &n)| if d == axis { (start..stop).collect() } else { (0..n).collect() }).collect();
    model.get(&lines)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn a_stream_is_the_array_written_whole(case in cases()) {
        let dir = Scratch::new("stream");
        let path = case.on_disk.then(|| dir.path());
        let mut rng = Rng::new(case.seed);
        let shape: Vec<usize> = case.shape.iter().map(|&n| n as usize).collect();
        let mut model = NaiveArray::zeros(&shape, 2);
        model.data = random_bytes(&mut rng, model.data.len());
        let mut w = start(&case, path.as_deref());
        let (mut at, mut flushed) = (0, false);
        while at < shape[case.axis] {
            let stop = (at + (rng.next_u64() % 7) as usize).min(shape[case.axis]);
            w.push_bytes(&slab(&model, case.axis, at, stop)).unwrap();
            at = stop;
            prop_assert_eq!(w.shape()[case.axis], at as u64);
            if rng.next_u64().is_multiple_of(5) {
                w.flush().unwrap();
                flushed = true;
                if let Some(path) = &path {
                    let seen = Array::open(path).unwrap();
                    prop_assert_eq!(seen.shape(), w.shape());
                    prop_assert_eq!(seen.read_bytes(s![]).unwrap(), slab(&model, case.axis, 0, at));
                }
            } else if !flushed && let Some(path) = &path {
                prop_assert!(!path.exists());
            }
        }
        let array = w.finish().unwrap();
        prop_assert_eq!(array.shape(), &case.shape[..]);
        prop_assert_eq!(&array.read_bytes(s![]).unwrap(), &model.data);
        prop_assert!(array.verify().unwrap().is_sound());
        if let Some(path) = path {
            let again = Array::open(path).unwrap();
            prop_assert_eq!(&again.read_bytes(s![]).unwrap(), &model.data);
            prop_assert_eq!(dir.entries(), 1);
        }
        if case.axis == 0 && !flushed {
            let mut whole = options(&case).create_uncommitted_in_memory(Dtype::raw(2), &case.shape).unwrap();
            whole.write_bytes(s![], &model.data).unwrap();
            // Without the checksums of a file, which name the array by a random number.
            let bare = array.schunk().copy_in_memory(&CreateOptions::default()).unwrap();
            prop_assert!(whole.commit().unwrap().to_bytes().unwrap() == bare.to_bytes().unwrap());
        }
    }

    #[test]
    fn what_was_flushed_remains_when_the_writer_is_dropped(case in cases()) {
        let dir = Scratch::new("dropped");
        let mut rng = Rng::new(case.seed);
        let shape: Vec<usize> = case.shape.iter().map(|&n| n as usize).collect();
        let mut model = NaiveArray::zeros(&shape, 2);
        model.data = random_bytes(&mut rng, model.data.len());
        let length = shape[case.axis];
        let kept = (rng.next_u64() % (length as u64 + 1)) as usize;
        let mut w = start(&case, Some(&dir.path()));
        w.push_bytes(&slab(&model, case.axis, 0, kept)).unwrap();
        prop_assert_eq!(dir.entries(), 1, "a temporary name");
        w.flush().unwrap();
        let size = std::fs::metadata(dir.path()).unwrap().len();
        w.push_bytes(&slab(&model, case.axis, kept, length)).unwrap();
        drop(w);
        let seen = Array::open(dir.path()).unwrap();
        prop_assert_eq!(seen.shape()[case.axis], kept as u64);
        prop_assert_eq!(seen.read_bytes(s![]).unwrap(), slab(&model, case.axis, 0, kept));
        if !case.sparse {
            prop_assert_eq!(std::fs::metadata(dir.path()).unwrap().len(), size, "the rest is cut off");
        }
    }
}

fn bytes_of_axis(options: Options, dir: &Scratch, slabs: &Slabs) -> StreamWriter {
    options.with_chunks([4, 8]).with_blocks([2, 8]).stream(dir.path(), Dtype::raw(1), slabs).unwrap()
}

#[test]
fn dropped_before_its_end_nothing_remains() {
    for layout in [Layout::Contiguous, Layout::Sparse] {
        let dir = Scratch::new("nothing");
        let mut w = bytes_of_axis(Options::new().with_layout(layout), &dir, &Slabs::growing(0, [0, 20]));
        (0..50u8).for_each(|n| w.push_bytes(&[n; 20]).unwrap());
        drop(w);
        assert_eq!(dir.entries(), 0);
    }
}

#[test]
fn wrong_slabs_are_refused_and_the_stream_goes_on() {
    let dir = Scratch::new("wrong");
    let mut w = bytes_of_axis(Options::new(), &dir, &Slabs::along(0, [5, 20]));
    assert!(matches!(w.push_bytes(&[0; 21]), Err(Error::NotWhole { size: 20, found: 21, .. })));
    assert!(matches!(w.push_items(&[0.5f32; 20]), Err(Error::DtypeMismatch { .. })));
    assert!(matches!(w.push_bytes(&[0; 120]), Err(Error::LengthMismatch { expected: 5, found: 6, .. })));
    w.push_bytes(&[7; 80]).unwrap();
    assert!(matches!(w.push_bytes(&[0; 40]), Err(Error::LengthMismatch { expected: 5, found: 6, .. })));
    w.push_bytes(&[8; 20]).unwrap();
    let array = w.finish().unwrap();
    assert_eq!(array.read_bytes(s![.., 3]).unwrap(), [7, 7, 7, 7, 8]);
}

#[test]
fn a_stream_that_ends_too_soon_is_an_error_and_leaves_nothing() {
    let dir = Scratch::new("short");
    let mut w = bytes_of_axis(Options::new(), &dir, &Slabs::along(0, [5, 20]));
    w.push_bytes(&[7; 80]).unwrap();
    assert!(matches!(w.finish(), Err(Error::LengthMismatch { expected: 5, found: 4, .. })));
    assert_eq!(dir.entries(), 0);
}

#[test]
fn streams_that_cannot_be_are_refused() {
    let refused = |slabs: &Slabs| {
        let options = Options::new().with_chunks([4, 4]).with_exec(Exec::new(2));
        let error = options.stream_in_memory(Dtype::raw(1), slabs).unwrap_err();
        assert_eq!(error.fault(), b2nd::Fault::Caller, "{slabs:?}: {error}");
    };
    refused(&Slabs::along(2, [5, 20]));
    refused(&Slabs::along(0, [5, 0]));
    refused(&Slabs::along(0, [5]));
    refused(&Slabs::growing(0, [0, 1u64 << 40]).with_memory(1 << 20));
    refused(&Slabs::along(0, [1u64 << 62, 20]));
    assert!(Options::new().stream_in_memory(Dtype::raw(1), &Slabs::growing(0, ())).is_err());
}

#[test]
fn an_empty_stream_is_an_empty_array() {
    let dir = Scratch::new("empty");
    let w = bytes_of_axis(Options::new(), &dir, &Slabs::growing(1, [6, 0]));
    assert_eq!(w.finish().unwrap().shape(), [6, 0]);
    let mut array = Array::open(dir.path()).unwrap();
    assert_eq!((array.shape(), array.chunks()), (&[6, 0][..], &[4, 8][..]));
    array.set_exec(Exec::new(1));
    assert_eq!(array.read_bytes(s![]).unwrap(), []);
}

#[test]
fn a_thrown_switch_reaches_the_next_call() {
    for threads in [1, 3] {
        let dir = Scratch::new("cancel");
        let cancel = Cancel::new();
        let exec = Exec::new(threads).with_cancel(cancel.clone());
        let mut w = bytes_of_axis(Options::new().with_exec(exec), &dir, &Slabs::growing(0, [0, 20]));
        w.push_bytes(&[1; 20 * 9]).unwrap();
        cancel.cancel();
        assert!(matches!(w.push_bytes(&[1; 20]), Err(Error::Cancelled)));
        assert!(w.finish().is_err());
        assert_eq!(dir.entries(), 0);
    }
}

#[test]
fn an_error_of_another_thread_comes_back() {
    for threads in [1, 2] {
        let dir = Scratch::new("gone");
        let options = Options::new().with_layout(Layout::Sparse).with_exec(Exec::new(threads));
        let mut w = bytes_of_axis(options, &dir, &Slabs::growing(0, [0, 20]));
        let made = dir.paths().remove(0);
        std::fs::remove_dir_all(made).unwrap();
        let mut rng = Rng::new(3);
        let pushed = (0..2000).find_map(|_| w.push_bytes(&random_bytes(&mut rng, 80)).err());
        assert!(matches!(pushed, Some(Error::Io { .. })), "{pushed:?}");
        assert!(matches!(w.push_bytes(&[0; 20]), Err(Error::State(_))));
        assert!(w.finish().is_err());
    }
}

#[test]
fn progress_counts_every_byte_once() {
    let seen = Arc::new(AtomicU64::new(0));
    let counter = seen.clone();
    let exec = Exec::new(2).with_progress(move |bytes| {
        counter.fetch_add(bytes, Ordering::Relaxed);
    });
    let slabs = Slabs::growing(1, [21, 0]);
    let options = Options::new().with_chunks([4, 8]).with_exec(exec);
    let mut w = options.stream_in_memory(Dtype::raw(3), &slabs).unwrap();
    (0..13).for_each(|_| w.push_bytes(&[9; 3 * 21]).unwrap());
    w.finish().unwrap();
    assert_eq!(seen.load(Ordering::Relaxed), 3 * 21 * 13);
}

#[test]
fn chunks_are_chosen_for_the_memory() {
    let slabs = Slabs::growing(0, [0, 720, 1440]).with_memory(32 << 20);
    let options = Options::new().with_exec(Exec::new(2));
    let w = options.stream_in_memory(Dtype::parse("<f4").unwrap(), &slabs).unwrap();
    let row = w.chunks()[0] * 720 * 1440 * 4;
    assert!(row <= 8 << 20 && w.memory() <= 32 << 20, "{:?} {}", w.chunks(), w.memory());
}

/// The bytes of a file that is written as a stream, or by one write of all items.
fn written(scratch: &Scratch, threads: usize, streamed: bool, salt: u32) -> Vec<u8> {
    let items: Vec<u32> = (0..90 * 40).map(|n: u32| ((n / 3) ^ (n << 7)).wrapping_mul(salt)).collect();
    let options = Options::new().with_chunks([20, 15]).with_exec(Exec::new(threads)).with_overwrite(true);
    let (path, dtype) = (scratch.path(), Dtype::parse("<u4").unwrap());
    if streamed {
        let mut writer = options.stream(&path, dtype, &Slabs::growing(0, [0, 40])).unwrap();
        items.chunks(7 * 40).for_each(|slab| writer.push_items(slab).unwrap());
        drop(writer.finish().unwrap());
    } else {
        let mut writer = options.create_uncommitted(&path, dtype, [90, 40]).unwrap();
        writer.write_items((), &items).unwrap();
        drop(writer.commit().unwrap());
    }
    std::fs::read(&path).unwrap()
}

#[test]
fn the_same_items_give_the_same_bytes_on_any_number_of_threads() {
    let scratch = Scratch::new("reproducible");
    for streamed in [true, false] {
        let first = written(&scratch, 1, streamed, 5);
        for threads in [1, 4, 4] {
            assert!(written(&scratch, threads, streamed, 5) == first, "{threads} threads, {streamed}");
        }
        assert!(written(&scratch, 1, streamed, 6) != first);
    }
}
