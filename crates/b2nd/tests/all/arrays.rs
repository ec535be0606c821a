//! Arrays against the plainest oracle: random shapes, partitions, dtypes, selections and threads; every layout.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, in its helper functions too")]

use crate::scratch::Scratch;
use b2nd::{
    Array, Axis, Codec, Dtype, Error, Exec, Fill, Layout, OpenOptions, Options, Params, Pipeline, Selection,
    s,
};
use b2nd_testkit::nd::NaiveArray;
use proptest::prelude::*;
use std::path::Path;

#[derive(Debug, Clone)]
struct Case {
    shape: Vec<u64>,
    chunks: Vec<u64>,
    blocks: Vec<u64>,
    itemsize: usize,
    params: Params,
    layout: Layout,
    on_disk: bool,
    threads: usize,
    seed: u64,
}

fn cases() -> impl Strategy<Value = Case> {
    let axis = (1u64..14, 1u64..9, 1u64..9);
    let codec = prop_oneof![
        Just(Codec::BloscLz),
        Just(Codec::Lz4),
        Just(Codec::Lz4Hc),
        Just(Codec::Zlib),
        Just(Codec::Zstd)
    ];
    let filters = prop_oneof![
        Just([0u8, 0, 0, 0, 0, 1]),
        Just([0, 0, 0, 0, 0, 2]),
        Just([0, 0, 0, 0, 3, 1]),
        Just([3, 0, 0, 0, 0, 0]),
        Just([0; 6])
    ];
    (
        proptest::collection::vec(axis, 0..5),
        prop_oneof![Just(1usize), Just(2), Just(4), Just(8), Just(3), Just(16), Just(300)],
        (codec, 0u8..10, filters),
        (any::<bool>(), any::<bool>(), 1usize..4, any::<u64>()),
    )
        .prop_map(|(axes, itemsize, (codec, clevel, filters), (sparse, on_disk, threads, seed))| Case {
            shape: axes.iter().map(|a| a.0).collect(),
            chunks: axes.iter().map(|a| a.1).collect(),
            blocks: axes.iter().map(|a| a.2.min(a.1)).collect(),
            itemsize,
            params: Params::new(1)
                .with_codec(codec)
                .with_clevel(clevel)
                .with_pipeline(Pipeline::from_bytes(filters, [0; 6])),
            layout: if sparse { Layout::Sparse } else { Layout::Contiguous },
            on_disk,
            threads,
            seed,
        })
}

/// A tiny generator: content that is neither constant nor noise all over.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
    fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }
    fn bytes(&mut self, len: usize) -> Vec<u8> {
        let kind = self.below(4);
        (0..len)
            .map(|i| match kind {
                0 => 0,
                1 => (i / 7) as u8,
                2 => (self.next() % 3) as u8,
                _ => self.next() as u8,
            })
            .collect()
    }
    /// A range along an axis, as a selection and as the indices that it takes.
    fn range(&mut self, length: usize, backwards: bool) -> (Axis, Vec<usize>) {
        let (a, b) = (self.below(length + 1), self.below(length + 1));
        let (start, stop) = (a.min(b), a.max(b));
        let step = 1 + self.below(4);
        if self.below(5) == 0 && length > 0 {
            let index = self.below(length);
            return (
                Axis::Index(index as i64 - if self.below(2) == 0 { length as i64 } else { 0 }),
                vec![index],
            );
        }
        if backwards && stop > start {
            let taken = (start..stop).rev().step_by(step).collect();
            let end = if start == 0 { None } else { Some(start as i64 - 1) };
            let axis = Axis::Range { start: Some(stop as i64 - 1), stop: end, step: -(step as i64) };
            return (axis, taken);
        }
        let axis = Axis::Range { start: Some(start as i64), stop: Some(stop as i64), step: step as i64 };
        (axis, (start..stop).step_by(step).collect())
    }
    /// A list or mask along an axis.
    fn list(&mut self, length: usize) -> (Axis, Vec<usize>) {
        if self.below(3) == 0 {
            let mask: Vec<bool> = (0..length).map(|_| self.below(2) == 0).collect();
            let taken = (0..length).filter(|&i| mask[i]).collect();
            return (Axis::Mask(mask), taken);
        }
        let count = if length == 0 { 0 } else { self.below(2 * length) };
        let mut taken: Vec<usize> = (0..count).map(|_| self.below(length)).collect();
        if self.below(4) == 0 {
            taken.sort_unstable();
        }
        let signed = |&i: &usize| i as i64 - if self.below(2) == 0 { length as i64 } else { 0 };
        (Axis::List(taken.iter().map(signed).collect()), taken)
    }
    fn selection(&mut self, shape: &[usize]) -> (Selection, Vec<Vec<usize>>) {
        let mut parts = Vec::new();
        for &n in shape {
            let back = self.below(3) == 0;
            parts.push(if self.below(3) == 0 { self.list(n) } else { self.range(n, back) });
        }
        let (axes, taken): (Vec<Axis>, Vec<Vec<usize>>) = parts.into_iter().unzip();
        (Selection::new(axes), taken)
    }
}

impl Numbers {
    /// Single items, in one of the four ways to name them, and their flat positions.
    fn points(&mut self, array: &NaiveArray) -> (Selection, Vec<usize>) {
        let size: usize = array.shape.iter().product();
        let count = if size == 0 { 0 } else { self.below(40) };
        let positions: Vec<usize> = (0..count).map(|_| self.below(size)).collect();
        let kinds = if array.shape.is_empty() { 2 } else { 4 };
        let mut signed =
            |index: usize, length: usize| index as i64 - if self.below(2) == 0 { length as i64 } else { 0 };
        let flat: Vec<i64> = positions.iter().map(|&at| signed(at, size)).collect();
        let points: Vec<Vec<i64>> = positions
            .iter()
            .map(|&at| array.indices(at).iter().zip(&array.shape).map(|(&i, &n)| signed(i, n)).collect())
            .collect();
        match self.below(kinds) {
            0 => {
                let density = self.below(5);
                let mask: Vec<bool> = (0..size).map(|_| self.below(4) < density).collect();
                let taken = (0..size).filter(|&at| mask[at]).collect();
                let shape: Vec<u64> = array.shape.iter().map(|&n| n as u64).collect();
                (Selection::mask(shape, mask), taken)
            }
            1 => (Selection::flat(flat), positions),
            2 => (Selection::points(points.concat()), positions),
            _ => {
                let axis = |d: usize| points.iter().map(|point| point[d]).collect();
                (Selection::coordinates((0..array.shape.len()).map(axis).collect::<Vec<_>>()), positions)
            }
        }
    }
}

fn create(case: &Case, path: Option<&Path>) -> Array {
    let options = Options::new()
        .with_chunks(case.chunks.clone())
        .with_blocks(case.blocks.clone())
        .with_params(case.params.clone())
        .with_layout(case.layout)
        .with_exec(Exec::new(case.threads));
    let dtype = Dtype::raw(case.itemsize);
    match path {
        Some(path) => options.create(path, dtype, &case.shape).unwrap(),
        None => options.create_in_memory(dtype, &case.shape).unwrap(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn random_writes_and_reads_match_the_oracle(case in cases()) {
        let dir = Scratch::new("arrays");
        let path = case.on_disk.then(|| dir.path());
        let mut array = create(&case, path.as_deref());
        let shape: Vec<usize> = case.shape.iter().map(|&n| n as usize).collect();
        let mut oracle = NaiveArray::zeros(&shape, case.itemsize);
        let mut numbers = Numbers(case.seed | 1);
        for round in 0..4 {
            let (selection, indices) =
                if round == 0 { (Selection::all(), shape.iter().map(|&n| (0..n).collect()).collect()) }
                else { numbers.selection(&shape) };
            let items = numbers.bytes(indices.iter().map(Vec::len).product::<usize>() * case.itemsize);
            array.write_bytes(selection, &items).unwrap();
            oracle.set(&indices, &items);
            let (points, positions) = numbers.points(&oracle);
            let items = numbers.bytes(positions.len() * case.itemsize);
            array.write_bytes(points, &items).unwrap();
            oracle.set_flat(&positions, &items);
            let item = numbers.bytes(case.itemsize);
            if round % 2 == 0 {
                let (points, positions) = numbers.points(&oracle);
                array.fill_bytes(points, &item).unwrap();
                oracle.set_flat(&positions, &item.repeat(positions.len()));
            } else {
                let (selection, indices) = numbers.selection(&shape);
                array.fill_bytes(selection, &item).unwrap();
                oracle.set(&indices, &item.repeat(indices.iter().map(Vec::len).product()));
            }
            if round == 2 && let Some(path) = &path {
                drop(array);
                array = Array::open_with(path, &OpenOptions::new().with_write(true).with_exec(Exec::new(case.threads))).unwrap();
            }
            for _ in 0..3 {
                let (selection, indices) = numbers.selection(&shape);
                prop_assert_eq!(array.read_bytes(selection.clone()).unwrap(), oracle.get(&indices), "{}", selection);
                let (points, positions) = numbers.points(&oracle);
                prop_assert_eq!(array.read_bytes(points.clone()).unwrap(), oracle.get_flat(&positions), "{:?}", points);
            }
        }
        prop_assert_eq!(&array.read_bytes(s![]).unwrap(), &oracle.data);
        prop_assert!(array.verify().unwrap().is_sound());
        let copy = Array::from_bytes(array.to_bytes().unwrap(), &OpenOptions::new()).unwrap();
        prop_assert_eq!(copy.read_bytes(s![]).unwrap(), oracle.data);
    }

    #[test]
    fn a_dropped_transaction_leaves_nothing(case in cases()) {
        let dir = Scratch::new("dropped");
        let path = case.on_disk.then(|| dir.path());
        let mut array = create(&case, path.as_deref());
        let bytes = array.nbytes() as usize;
        let mut numbers = Numbers(case.seed | 1);
        let (kept, lost) = (numbers.bytes(bytes), numbers.bytes(bytes));
        array.write_bytes(s![], &kept).unwrap();
        let mut transaction = array.transaction();
        transaction.write_bytes(s![], &lost).unwrap();
        prop_assert_eq!(transaction.array().read_bytes(s![]).unwrap(), lost);
        drop(transaction);
        prop_assert_eq!(&array.read_bytes(s![]).unwrap(), &kept);
        if let Some(path) = path {
            prop_assert_eq!(Array::open(path).unwrap().read_bytes(s![]).unwrap(), kept);
        }
    }
}

#[test]
fn the_file_does_not_depend_on_the_number_of_threads() {
    let bytes = Numbers(9).bytes(200 * 300 * 4);
    let make = |threads: usize| {
        let mut writer = Options::new()
            .with_chunks([20, 50])
            .with_blocks([5, 50])
            .with_exec(Exec::new(threads))
            .create_uncommitted_in_memory(Dtype::raw(4), [200, 300])
            .unwrap();
        writer.write_bytes(s![], &bytes).unwrap();
        writer.commit().unwrap().to_bytes().unwrap()
    };
    assert_eq!(make(1), make(3));
}

#[test]
fn an_array_without_items_may_have_any_fill_value() {
    for shape in [&[0][..], &[0, 5], &[4, 0, 3]] {
        let options = Options::new().with_fill(Fill::Value(vec![7, 0]));
        let mut a = options.create_in_memory(Dtype::parse("<i2").unwrap(), shape).unwrap();
        assert_eq!(a.read_bytes(()).unwrap(), []);
        let grown: Vec<u64> = shape.iter().map(|len| len + 2).collect();
        a.resize(b2nd::Resize::to(grown).with_fill(Fill::Value(vec![9, 0]))).unwrap();
        assert!(a.read_items::<i16>(()).unwrap().iter().all(|item| *item == 9));
    }
}

#[test]
fn fills_are_what_they_say() {
    let read = |fill: Fill, dtype: &str| {
        let array =
            Options::new().with_fill(fill).create_in_memory(Dtype::parse(dtype).unwrap(), [3]).unwrap();
        array.read_bytes(s![]).unwrap()
    };
    assert_eq!(read(Fill::Zeros, "<i2"), [0; 6]);
    assert_eq!(read(Fill::Uninit, "<i2"), [0; 6]);
    assert_eq!(read(Fill::Value(vec![1, 2]), "<i2"), [1, 2, 1, 2, 1, 2]);
    assert_eq!(read(Fill::Nan, "<f4"), f32::NAN.to_le_bytes().repeat(3));
    assert_eq!(read(Fill::Nan, ">f4"), f32::NAN.to_be_bytes().repeat(3));
    assert_eq!(read(Fill::Nan, "<f2"), 0x7e00u16.to_le_bytes().repeat(3));
    assert_eq!(read(Fill::Nan, "<c16"), f64::NAN.to_le_bytes().repeat(6));
    let refused = Options::new().with_fill(Fill::Nan).create_in_memory(Dtype::parse("<i4").unwrap(), [3]);
    assert!(matches!(refused, Err(Error::DtypeMismatch { .. })));
}

#[test]
fn zero_dimensions_zero_lengths_and_sixteen_axes() {
    let dir = Scratch::new("edges");
    for (n, shape) in [vec![], vec![0], vec![3, 0, 2], vec![1; 16], vec![2; 16]].into_iter().enumerate() {
        for layout in [Layout::Contiguous, Layout::Sparse] {
            let path = dir.0.join(format!("{n}-{layout:?}.b2nd"));
            let dtype = Dtype::parse("<u2").unwrap();
            let mut array = Options::new().with_layout(layout).create(&path, dtype, &shape).unwrap();
            let items: Vec<u16> = (0..array.size() as u16 as u64).map(|i| i as u16).collect();
            let items =
                if array.size() > 65535 { (0..array.size()).map(|i| i as u16).collect() } else { items };
            array.write_items(s![], &items).unwrap();
            let again = Array::open(&path).unwrap();
            assert_eq!(again.shape(), shape);
            assert_eq!(again.read_items::<u16>(s![]).unwrap(), items);
            assert!(again.verify().unwrap().is_sound());
        }
    }
}

#[test]
fn an_existing_file_is_replaced_only_when_asked() {
    let dir = Scratch::new("exists");
    let path = dir.path();
    std::fs::write(&path, b"precious").unwrap();
    let refused = Options::new().create(&path, Dtype::raw(1), [3]);
    assert!(matches!(refused, Err(Error::AlreadyExists { .. })), "{refused:?}");
    assert_eq!(std::fs::read(&path).unwrap(), b"precious");
    let writer = Options::new().with_overwrite(true).create_uncommitted(&path, Dtype::raw(1), [3]).unwrap();
    drop(writer);
    assert_eq!(std::fs::read(&path).unwrap(), b"precious");
    assert_eq!(std::fs::read_dir(&dir.0).unwrap().count(), 1, "a temporary file is left");
    Options::new().with_overwrite(true).create(&path, Dtype::raw(1), [3]).unwrap();
    assert_eq!(Array::open(&path).unwrap().shape(), [3]);
    assert_eq!(std::fs::read_dir(&dir.0).unwrap().count(), 1);
}

#[test]
fn a_reader_cannot_write() {
    let dir = Scratch::new("reader");
    Options::new().create(dir.path(), Dtype::raw(1), [3]).unwrap();
    let mut array = Array::open(dir.path()).unwrap();
    assert!(matches!(array.write_bytes(s![], &[1, 2, 3]), Err(Error::ReadOnly { .. })));
    assert!(matches!(array.set_vlmetalayer("a", b"b"), Err(Error::ReadOnly { .. })));
}

#[test]
fn metalayers_of_the_user_are_kept() {
    let dir = Scratch::new("meta");
    let mut array = Options::new()
        .with_metalayer("mine", *b"fixed bytes")
        .with_vlmetalayer("first", vec![7; 1000])
        .create(dir.path(), Dtype::raw(2), [50, 50])
        .unwrap();
    array.set_vlmetalayer("second", b"two").unwrap();
    array.write_bytes(s![3], &[1; 100]).unwrap();
    let again = Array::open(dir.path()).unwrap();
    let metalayers: Vec<_> = again.schunk().metalayers().collect();
    assert!(metalayers.contains(&("mine", &b"fixed bytes"[..])));
    assert_eq!(again.schunk().vlmetalayer("first").unwrap(), Some(vec![7; 1000]));
    assert_eq!(again.schunk().vlmetalayer("second").unwrap().as_deref(), Some(&b"two"[..]));
    assert_eq!(again.schunk().vlmetalayer("third").unwrap(), None);
    let copy = Array::from_bytes(again.to_bytes().unwrap(), &OpenOptions::new()).unwrap();
    assert_eq!(copy.schunk().vlmetalayer("first").unwrap(), Some(vec![7; 1000]));
}

#[test]
fn wrong_requests_say_what_is_wrong() {
    let mut array = Options::new().create_in_memory(Dtype::parse("<f4").unwrap(), [4, 5]).unwrap();
    let text = |result: Result<(), Error>| result.unwrap_err().to_string();
    assert!(text(array.write_bytes(s![], &[0; 3])).contains("needs 80"));
    assert!(text(array.write_bytes(s![[0, 4]], &[0; 40])).contains("index 4 (entry 1 of the list)"));
    assert!(text(array.read_bytes(s![7]).map(|_| ())).contains("out of range"));
    assert!(text(array.read_items::<f64>(s![]).map(|_| ())).contains("<f4"));
    assert!(text(array.read_bytes_into(s![], &mut [0; 3])).contains("needs 80"));
    #[cfg(feature = "ndarray")]
    assert!(text(array.append(2, &ndarray::arr2(&[[0f32; 5]]))).contains("there is no axis 2"));
    let limited = OpenOptions::new().with_limits(b2nd::Limits::default().with_max_read_bytes(10));
    let array = Array::from_bytes(array.to_bytes().unwrap(), &limited).unwrap();
    assert!(matches!(array.read_bytes(s![]), Err(Error::Limit { .. })));
}

#[test]
fn threads_share_one_array() {
    let mut array = Options::new()
        .with_chunks([10, 10])
        .create_in_memory(Dtype::parse("<u4").unwrap(), [100, 100])
        .unwrap();
    array.write_items(s![], &(0..10_000u32).collect::<Vec<_>>()).unwrap();
    array.set_exec(Exec::new(2));
    std::thread::scope(|scope| {
        for t in 0..4u32 {
            let array = &array;
            scope.spawn(move || {
                for row in 0..100u32 {
                    let row = (row * 7 + t) % 100;
                    let expected: Vec<u32> = (row * 100..row * 100 + 100).collect();
                    assert_eq!(array.read_items::<u32>(s![row]).unwrap(), expected);
                }
            });
        }
    });
}

#[test]
fn progress_counts_every_byte_and_cancelling_stops() {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};
    let done = Arc::new(AtomicU64::new(0));
    let seen = done.clone();
    let exec = Exec::new(2).with_progress(move |bytes| {
        seen.fetch_add(bytes, Ordering::Relaxed);
    });
    let mut array = Options::new().with_exec(exec).create_in_memory(Dtype::raw(1), [1000, 1000]).unwrap();
    array.write_bytes(s![], &vec![1; 1_000_000]).unwrap();
    assert_eq!(done.swap(0, Ordering::Relaxed), 1_000_000);
    array.read_bytes(s![10..20]).unwrap();
    assert_eq!(done.load(Ordering::Relaxed), 10_000);
    let cancel = b2nd::Cancel::new();
    cancel.cancel();
    array.set_exec(Exec::new(2).with_cancel(cancel));
    assert!(matches!(array.read_bytes(s![]), Err(Error::Cancelled)));
    assert!(matches!(array.write_bytes(s![], &vec![2; 1_000_000]), Err(Error::Cancelled)));
    array.set_exec(Exec::new(1));
    assert!(array.read_bytes(s![]).unwrap().iter().all(|&b| b == 1));
}

#[test]
fn a_new_array_is_not_published_after_a_failed_write() {
    let scratch = Scratch::new("failed");
    let cancel = b2nd::Cancel::new();
    let stop = cancel.clone();
    // The first chunk is stored, and then somebody stops the rest.
    let exec = Exec::new(1).with_cancel(cancel).with_progress(move |_| stop.cancel());
    let options = Options::new().with_chunks([10]).with_blocks([10]).with_exec(exec);
    let mut writer = options.create_uncommitted(scratch.path(), Dtype::raw(1), [100]).unwrap();
    assert!(matches!(writer.write_bytes(s![], &[7; 100]), Err(Error::Cancelled)));
    assert!(writer.commit().is_err());
    assert!(!scratch.path().exists());
}

#[test]
fn tiny_blocks_do_not_make_a_read_cost_more_than_its_limit() {
    let options = Options::new().with_chunks([1 << 20]).with_blocks([1]);
    let bytes = options.create_in_memory(Dtype::raw(1), [1 << 20]).unwrap().to_bytes().unwrap();
    let limits = b2nd::Limits::default().with_max_index_bytes(1 << 20);
    let array = Array::from_bytes(bytes, &OpenOptions::new().with_limits(limits)).unwrap();
    assert!(matches!(array.read_bytes(s![]), Err(Error::Limit { .. })));
    assert_eq!(array.read_bytes(s![5..1005]).unwrap(), [0; 1000]);
    assert_eq!(array.read_bytes(s![..;-1024]).unwrap(), [0; 1024]);
}

#[test]
fn a_field_is_read_by_any_selection() {
    let dtype =
        "[('id', '>u2'), ('pos', [('x', '<f4'), ('a.b', '|u1'), ('v', '>i2', (2, 3))]), ('end', '|S3')]";
    let shape = [9u64, 11];
    let options = Options::new().with_chunks([4, 7]).with_blocks([3, 2]).with_exec(Exec::new(2));
    let mut array = options.create_in_memory(Dtype::parse(dtype).unwrap(), shape).unwrap();
    let itemsize = array.dtype().itemsize();
    assert_eq!(itemsize, 22);
    let items = Numbers(5).bytes(99 * itemsize);
    array.write_bytes(s![], &items).unwrap();
    let fields = [
        ("id", 0..2, 1),
        ("pos", 2..19, 1),
        ("pos.x", 2..6, 1),
        ("pos.a.b", 6..7, 1),
        ("pos.v", 7..19, 6),
        ("end", 19..22, 1),
    ];
    for (name, bytes, inner) in fields {
        let field = array.field(name).unwrap();
        assert_eq!(field.dtype().itemsize() * inner, bytes.len(), "{name}");
        for (selection, taken) in [
            (s![], (0..99).collect::<Vec<usize>>()),
            (s![1, ..;-2], (11..22).rev().step_by(2).collect()),
            (s![[8, 2, 8], 3], vec![91, 25, 91]),
            (Selection::flat([98, 5, 5]), vec![98, 5, 5]),
        ] {
            let wanted: Vec<u8> =
                taken.iter().flat_map(|at| items[at * itemsize..][bytes.clone()].to_vec()).collect();
            assert_eq!(field.read_bytes(selection.clone()).unwrap(), wanted, "{name} of {selection}");
            let mut out = vec![0; wanted.len()];
            field.read_bytes_into(selection, &mut out).unwrap();
            assert_eq!(out, wanted);
        }
    }
    let vectors = array.field("pos.v").unwrap();
    assert_eq!(vectors.inner_shape(), [2, 3]);
    assert_eq!(vectors.selection_shape(s![4..6, 0]).unwrap(), [2, 2, 3]);
    let big: Vec<i16> = items[7..19].chunks(2).map(|b| i16::from_be_bytes([b[0], b[1]])).collect();
    assert_eq!(vectors.read_items::<i16>(s![0, 0]).unwrap(), big);
    assert!(vectors.read_items::<u16>(s![0, 0]).is_err());
    assert!(vectors.read_bytes_into(s![0, 0], &mut [0; 3]).unwrap_err().to_string().contains("needs 12"));
    for missing in ["", "pos.", "pos.y", "idx", "id.x", "pos.v.x"] {
        assert!(
            matches!(array.field(missing), Err(Error::NotFound { what: "field", name, .. }) if name == missing),
            "{missing}"
        );
    }
    // Chunks that are one value, stored or not, have fields too.
    array.fill_bytes(s![], &items[..itemsize]).unwrap();
    assert_eq!(array.field("end").unwrap().read_bytes(s![8, 9..]).unwrap(), items[19..22].repeat(2));
    array.fill_bytes(s![], &vec![0; itemsize]).unwrap();
    assert_eq!(array.field("pos.x").unwrap().read_items::<f32>(s![..2, 3]).unwrap(), [0.0; 2]);
}

#[test]
fn a_fill_and_points_have_the_right_size() {
    let mut array = Options::new().create_in_memory(Dtype::parse("<f4").unwrap(), [4, 5]).unwrap();
    let text = |result: Result<(), Error>| result.unwrap_err().to_string();
    assert!(text(array.fill_bytes(s![0], &[0; 8])).contains("8 bytes are given"));
    assert!(text(array.write_bytes(Selection::flat([1, 2]), &[0; 4])).contains("needs 8"));
    assert!(text(array.fill(s![], 1.0f64)).contains("<f4"));
    let limited = OpenOptions::new().with_limits(b2nd::Limits::default().with_max_read_bytes(10));
    let array = Array::from_bytes(array.to_bytes().unwrap(), &limited).unwrap();
    assert!(matches!(array.read_bytes(Selection::flat([1, 2, 3])), Err(Error::Limit { .. })));
    assert_eq!(array.read_bytes(Selection::flat([1, 2])).unwrap(), [0; 8]);
}
