//! What stays as it is: chunks that keep their items keep their bytes, and what went does not come back.

use super::*;
use crate::chunk::Special;
use crate::schunk::Place;

fn places(array: &Array) -> Vec<Place> {
    (0..array.grid.nchunks()).map(|n| array.schunk.place(n).unwrap()).collect()
}

/// Where chunks are: offsets or files, without what else is there.
fn offsets(array: &Array) -> Vec<Option<String>> {
    let name = |place| match place {
        Place::Stored { file, offset, .. } => Some(format!("{file:?} {offset}")),
        Place::Special(_) => None,
    };
    places(array).into_iter().map(name).collect()
}

#[test]
fn on_chunk_boundaries_nothing_is_compressed_again() {
    for layout in [Layout::Contiguous, Layout::Sparse] {
        let mut pair = Pair::new(options(layout, 2).with_chunks([4, 3]).with_blocks([2, 3]), &[8, 6]);
        let before = offsets(&pair.array);
        assert!(before.iter().all(Option::is_some));
        let new = pair.slabs(0, 4);
        pair.array.insert_bytes(0, 4, &new.data).unwrap();
        pair.model.splice(0, 4..4, 4, |at| new.item(at).to_vec());
        pair.check_stored();
        let after = offsets(&pair.array);
        assert_eq!([&after[..2], &after[4..]].concat(), before);
        pair.array.delete(0, 0..4).unwrap();
        pair.model.splice(0, 0..4, 0, |_| Vec::new());
        pair.check_stored();
        assert_eq!(offsets(&pair.array), after[2..]);
        let more = pair.slabs(1, 3);
        pair.array.append_bytes(1, &more.data).unwrap();
        pair.model.join(1, &more);
        pair.check_stored();
        let wide = offsets(&pair.array);
        assert_eq!([&wide[0..2], &wide[3..5]].concat(), after[2..]);
        pair.array.resize(Resize::to([8, 12]).with_starts([0, 3])).unwrap();
        pair.model.splice(1, 3..3, 3, |_| vec![0; 2]);
        pair.check_stored();
        let zeros = Place::Special(Special::Zeros);
        assert_eq!([places(&pair.array)[1], places(&pair.array)[5]], [zeros; 2]);
        assert_eq!(offsets(&pair.array)[2..4], wide[1..3]);
    }
}

#[test]
fn an_append_rewrites_the_last_row_of_chunks_only() {
    let mut pair =
        Pair::new(options(Layout::Contiguous, 1).with_chunks([4, 3]).with_blocks([2, 2]), &[10, 6]);
    for _ in 0..7 {
        let before = offsets(&pair.array);
        let full = pair.model.shape[0] / 4 * 2;
        let new = pair.slabs(0, 1);
        pair.array.append_bytes(0, &new.data).unwrap();
        pair.model.join(0, &new);
        pair.check_stored();
        let after = offsets(&pair.array);
        assert_eq!(after[..full], before[..full]);
        assert!(after[full..].iter().all(|place| !before.contains(place)));
    }
}

#[test]
fn what_was_cut_off_does_not_come_back() {
    let mut pair = Pair::new(options(Layout::Contiguous, 1).with_chunks([4, 4]).with_blocks([2, 3]), &[8, 8]);
    pair.array.resize([5, 3]).unwrap();
    check_padding(&pair.array);
    pair.array.resize([8, 8]).unwrap();
    pair.model.splice(0, 5..8, 0, |_| Vec::new());
    pair.model.splice(1, 3..8, 0, |_| Vec::new());
    pair.model.splice(0, 5..5, 3, |_| vec![0; 2]);
    pair.model.splice(1, 3..3, 5, |_| vec![0; 2]);
    pair.check_stored();
}

#[test]
fn special_chunks_stay_special_and_cost_nothing() {
    let new = |fill| Options::new().with_fill(fill).with_chunks([1000, 10]).with_blocks([10, 10]);
    let dtype = || Dtype::parse("<f4").unwrap();
    for (fill, kind) in
        [(Fill::Zeros, Special::Zeros), (Fill::Nan, Special::Nan), (Fill::Uninit, Special::Uninit)]
    {
        let mut a = new(fill.clone()).create_in_memory(dtype(), [100_001, 7]).unwrap();
        let len = a.schunk.frame_len();
        a.resize(Resize::to([1_000_000_003, 7]).with_fill(fill.clone())).unwrap();
        a.resize(Resize::to([2_000_000_003, 70]).with_starts([500, 2]).with_fill(fill.clone())).unwrap();
        a.delete(0, 77..1_999_000_000).unwrap();
        assert_eq!(a.shape(), [1_000_080, 70]);
        assert!(places(&a).iter().all(|place| *place == Place::Special(kind)), "{kind:?}");
        // Each commit writes offsets and trailer anew.
        assert!(a.schunk.frame_len() <= 4 * len, "{} {len}", a.schunk.frame_len());
    }
    let mut mixed = new(Fill::Nan).create_in_memory(dtype(), [1500, 10]).unwrap();
    mixed.resize([2000, 20]).unwrap();
    let kinds = places(&mixed);
    assert_eq!((kinds[0], kinds[1]), (Place::Special(Special::Nan), Place::Special(Special::Zeros)));
    assert!(matches!(kinds[2], Place::Stored { .. }));
    let column = mixed.read_items::<f32>(crate::s![1498..1502, 0]).unwrap();
    assert_eq!(column.iter().map(|x| x.is_nan()).collect::<Vec<_>>(), [true, true, false, false]);
}

#[test]
fn what_cannot_be_is_refused_and_leaves_the_array() {
    let mut pair = Pair::new(options(Layout::Contiguous, 1).with_chunks([4, 3]), &[8, 6]);
    let a = &mut pair.array;
    assert!(a.resize([8]).is_err());
    assert!(a.resize([8, 6, 1]).is_err());
    assert!(a.resize(Resize::to([8, 7]).with_starts([0, 7])).is_err());
    assert!(a.resize(Resize::to([8, 7]).with_starts([0])).is_err());
    assert!(a.resize(Resize::to([8, 5]).with_starts([0, 6])).is_err());
    assert!(a.resize([u64::MAX, 6]).is_err());
    assert!(a.resize([1u64 << 40, 1 << 40]).is_err());
    assert!(a.resize(Resize::to([8, 7]).with_fill(Fill::Value(vec![1]))).is_err());
    assert!(a.resize(Resize::to([8, 7]).with_fill(Fill::Nan)).is_err());
    assert!(a.append_bytes(2, &[0; 12]).is_err());
    assert!(a.append_bytes(0, &[0; 13]).is_err());
    assert!(a.insert_bytes(0, 9, &[0; 12]).is_err());
    assert!(a.delete(0, 8).is_err());
    assert!(a.delete(2, 0).is_err());
    assert!(a.delete(0, crate::Ellipsis).is_err());
    assert!(
        a.extend(0, &[&Options::new().create_in_memory(Dtype::parse("<u2").unwrap(), [1, 6]).unwrap()])
            .is_err()
    );
    assert!(
        a.extend(0, &[&Options::new().create_in_memory(Dtype::parse("<i2").unwrap(), [1, 5]).unwrap()])
            .is_err()
    );
    pair.check_stored();
    let bytes = pair.array.to_bytes().unwrap();
    let mut read_only = Array::from_bytes(bytes, &OpenOptions::new()).unwrap();
    let error = read_only.resize([9, 9]).unwrap_err();
    assert_eq!(error.fault(), crate::Fault::Caller);
    assert_eq!(read_only.shape(), [8, 6]);
    // Nothing to do is no error.
    pair.array.append_bytes(0, &[]).unwrap();
    pair.array.delete(1, 3..3).unwrap();
    pair.check_stored();
    let mut scalar = Pair::new(Options::new(), &[]);
    scalar.array.resize([0; 0]).unwrap();
    assert!(scalar.array.append_bytes(0, &[0; 2]).is_err());
    scalar.check_stored();
}

#[test]
fn a_failed_change_takes_the_shape_back() {
    let mut pair = Pair::new(options(Layout::Sparse, 1).with_chunks([4, 3]), &[8, 6]);
    let mut t = pair.array.transaction();
    t.resize([3, 20]).unwrap();
    t.write_bytes((), &[1; 120]).unwrap();
    assert_eq!(t.array().shape(), [3, 20]);
    assert!(t.append_bytes(0, &[1]).is_err());
    assert!(t.delete(0, 0).is_err());
    assert!(t.commit().is_err());
    pair.check_stored();
    // One that is never dropped is taken back by the next.
    let mut leaked = std::mem::ManuallyDrop::new(pair.array.transaction());
    leaked.resize([1, 1]).unwrap();
    drop(pair.array.transaction());
    pair.check_stored();
}

#[test]
fn growing_from_nothing_finds_chunks() {
    for shape in [vec![0], vec![0, 300], vec![7, 0, 2], vec![0, 0]] {
        let mut pair = Pair::new(Options::new(), &shape);
        let axis = shape.iter().position(|&n| n == 0).unwrap();
        pair.check_stored();
        if shape == [0, 0] {
            pair.array.resize([0, 5]).unwrap();
            pair.model.splice(1, 0..0, 5, |_| Vec::new());
        }
        for count in [0, 3, 40] {
            let new = pair.slabs(axis, count);
            pair.array.append_bytes(axis, &new.data).unwrap();
            pair.model.join(axis, &new);
            pair.check_stored();
        }
        assert!(pair.array.grid.chunk_bytes() as u64 <= crate::array::DEFAULT_CHUNK_BYTES);
        assert_eq!(pair.array.schunk.nchunks(), 1);
        pair.array.resize(shape.clone()).unwrap();
        assert_eq!(pair.array.schunk.nchunks(), 0);
        assert!(pair.array.read_bytes(()).unwrap().is_empty());
    }
}
