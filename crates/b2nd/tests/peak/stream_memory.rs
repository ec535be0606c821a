//! The streaming writer takes no more memory than its formula says, however long the array.

use crate::{ALLOCATOR, alone};
use b2nd::{Array, Codec, Dtype, Exec, Options, Slabs, s};
use b2nd_testkit::rng::Rng;

/// What the formula leaves out: the tables of LZ4 and the buffers of the file on each thread, and small change.
const REST: u64 = 256 << 10;

/// Streams `slabs` slabs and says what it took at most, and what the writer said.
fn stream(axis: usize, slabs: u64, threads: usize, memory: Option<u64>, noise: bool) -> (u64, u64) {
    let folder = std::env::temp_dir().join(format!("b2nd-memory-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("a.b2nd");
    let (mut shape, mut chunks) = ([1500, 3000], [500, 500]);
    (shape[axis], chunks[axis]) = (0, 40);
    let across: u64 = shape.iter().filter(|&&n| n > 0).product();
    let per_push = 25;
    let mut rng = Rng::new(7);
    let value = |i: u64, rng: &mut Rng| if noise { rng.next_u64() } else { i / 9 };
    let slab: Vec<u8> = (0..across * per_push).flat_map(|i| value(i, &mut rng).to_le_bytes()).collect();
    let described = Slabs::growing(axis, shape);
    let described = memory.map_or(described.clone(), |bytes| described.with_memory(bytes));
    ALLOCATOR.reset_peak_usage();
    let before = ALLOCATOR.current_usage() as u64;
    let mut w = Options::new()
        .with_chunks(chunks)
        .with_codec(Codec::Lz4)
        .with_exec(Exec::new(threads))
        .with_overwrite(true)
        .stream(&path, Dtype::parse("<u8").unwrap(), &described)
        .unwrap();
    let said = w.memory();
    (0..slabs / per_push).for_each(|_| w.push_bytes(&slab).unwrap());
    drop(w.finish().unwrap());
    let taken = (ALLOCATOR.peak_usage() as u64).saturating_sub(before);
    let array = Array::open(&path).unwrap();
    assert_eq!(array.shape()[axis], slabs / per_push * per_push);
    assert!(array.read_bytes(if axis == 0 { s![-25..] } else { s![.., -25..] }).unwrap() == slab);
    std::fs::remove_dir_all(folder).unwrap();
    (taken, said)
}

#[test]
fn a_stream_stays_within_its_memory() {
    let _alone = alone();
    for (axis, threads, memory, noise) in [
        (0, 1, None, true),
        (0, 2, None, false),
        (0, 3, None, true),
        (1, 2, None, true),
        (0, 2, Some(6 << 20), true),
    ] {
        let (short, said) = stream(axis, 1_000, threads, memory, noise);
        let (long, _) = stream(axis, 4_000, threads, memory, noise);
        let index = 64 * 4_000;
        println!("axis {axis}, {threads} threads, noise {noise}: {short} and {long} of {said}");
        assert!(short <= said + REST && long <= said + REST + index, "{short} and {long} of {said}");
        assert!(memory.is_none_or(|memory| said <= memory));
    }
}
