//! Closures on blocks while arrays change their shape and are joined: each item that comes in is processed once, and no
//! other.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, in its helper functions too")]

use b2nd::{Array, BlockPlace, Dtype, Exec, Fill, Options, Resize, s};
use b2nd_testkit::rng::Rng;

fn invert(_: &BlockPlace<'_>, bytes: &mut [u8]) -> b2nd::Result<()> {
    bytes.iter_mut().for_each(|b| *b = !*b);
    Ok(())
}

/// Which closures an array has.
#[derive(Debug, Clone, Copy)]
struct Hooks {
    pre: bool,
    post: bool,
}

impl Hooks {
    const ALL: [Hooks; 4] = [
        Hooks { pre: true, post: true },
        Hooks { pre: true, post: false },
        Hooks { pre: false, post: true },
        Hooks { pre: false, post: false },
    ];

    fn add(self, mut options: Options) -> Options {
        if self.pre {
            options = options.with_preprocess(invert);
        }
        if self.post {
            options = options.with_postprocess(invert);
        }
        options
    }
    /// What a reader sees of an item that was given.
    fn given(self, item: u8) -> u8 {
        if self.pre == self.post { item } else { !item }
    }
    /// What a reader sees of an item that is stored.
    fn stored(self, item: u8) -> u8 {
        if self.post { !item } else { item }
    }
}

/// Rows of items.
type Model = Vec<Vec<u8>>;

fn insert(model: &mut Model, axis: usize, at: usize, count: usize, mut item: impl FnMut() -> u8) -> Vec<u8> {
    let mut given = Vec::new();
    let columns = model.first().map_or(0, Vec::len);
    if axis == 0 {
        let rows: Model = (0..count).map(|_| (0..columns).map(|_| item()).collect()).collect();
        given.extend(rows.iter().flatten());
        model.splice(at..at, rows);
    } else {
        for row in model {
            let items: Vec<u8> = (0..count).map(|_| item()).collect();
            given.extend(&items);
            row.splice(at..at, items);
        }
    }
    given
}

fn see(model: &mut Model, axis: usize, range: std::ops::Range<usize>, seen: impl Fn(u8) -> u8) {
    let rows = if axis == 0 { range.clone() } else { 0..model.len() };
    for row in &mut model[rows] {
        let columns = if axis == 1 { range.clone() } else { 0..row.len() };
        row[columns].iter_mut().for_each(|item| *item = seen(*item));
    }
}

fn made(hooks: Hooks, shape: [u64; 2], rng: &mut Rng) -> (Array, Model) {
    let options = Options::new().with_chunks([4, 5]).with_blocks([2, 3]);
    let options = hooks.add(options.with_exec(Exec::new(1 + (rng.next_u64() % 3) as usize)));
    let mut array =
        options.with_block_cache(200).create_in_memory(Dtype::parse("|u1").unwrap(), shape).unwrap();
    let mut model = vec![vec![hooks.stored(0); shape[1] as usize]; shape[0] as usize];
    let (row, items) = (shape[0] / 2, rng.bytes(shape[1] as usize));
    array.write_bytes(s![row], &items).unwrap();
    model[row as usize] = items.iter().map(|&item| hooks.given(item)).collect();
    (array, model)
}

#[test]
fn what_comes_in_is_processed_once_and_nothing_else_is() {
    let mut rng = Rng::new(3);
    for round in 0..120 {
        let hooks = Hooks::ALL[round % 4];
        let (mut array, mut model) = made(hooks, [5, 7], &mut rng);
        for _ in 0..12 {
            let axis = (rng.next_u64() % 2) as usize;
            let length = [model.len(), model[0].len()][axis];
            let mut below = |n: usize| (rng.next_u64() % n as u64) as usize;
            let (at, count) = (below(length + 1), 1 + below(6));
            match below(6) {
                0 => {
                    let items = insert(&mut model, axis, at, count, || rng.next_u64() as u8);
                    array.insert_bytes(axis, at as u64, &items).unwrap();
                    see(&mut model, axis, at..at + count, |item| hooks.given(item));
                }
                1 => {
                    let items = insert(&mut model, axis, length, count, || rng.next_u64() as u8);
                    array.append_bytes(axis, &items).unwrap();
                    see(&mut model, axis, length..length + count, |item| hooks.given(item));
                }
                2 if length > count => {
                    let at = at.min(length - count);
                    array.delete(axis, at..at + count).unwrap();
                    if axis == 0 {
                        model.drain(at..at + count);
                    } else {
                        model.iter_mut().for_each(|row| drop(row.drain(at..at + count)));
                    }
                }
                3 | 4 => {
                    let fill = (rng.next_u64() % 2) as u8;
                    insert(&mut model, axis, at, count, || hooks.stored(fill));
                    let mut starts = array.shape().to_vec();
                    starts[axis] = at as u64;
                    let shape = [model.len() as u64, model[0].len() as u64];
                    let resize = Resize::to(shape).with_starts(starts).with_fill(Fill::Value(vec![fill]));
                    array.resize(resize).unwrap();
                }
                _ => {
                    let theirs = Hooks::ALL[below(4)];
                    let mut shape = [model.len() as u64, model[0].len() as u64];
                    shape[axis] = count as u64;
                    let (other, seen) = made(theirs, shape, &mut rng);
                    let mut at = 0;
                    let flat: Vec<u8> = seen.concat();
                    insert(&mut model, axis, length, count, || {
                        at += 1;
                        hooks.given(flat[at - 1])
                    });
                    array.extend(axis, &[&other]).unwrap();
                }
            }
            assert_eq!(array.read_bytes(s![]).unwrap(), model.concat(), "{hooks:?}");
            let last = *model.last().and_then(|row| row.last()).unwrap();
            assert_eq!(array.read_bytes(s![-1, -1]).unwrap(), [last], "{hooks:?}");
            if model.len() > 20 || model[0].len() > 30 {
                break;
            }
        }
    }
}

#[test]
fn arrays_are_joined_as_their_readers_see_them() {
    let mut rng = Rng::new(4);
    for (ours, theirs) in Hooks::ALL.into_iter().flat_map(|a| Hooks::ALL.map(|b| (a, b))) {
        let (array, model) = made(theirs, [8, 10], &mut rng);
        let due: Vec<u8> = model.concat().into_iter().map(|item| ours.given(item)).collect();
        let new = || ours.add(Options::new());
        let copy = new().copy_in_memory(&array).unwrap();
        assert_eq!(copy.read_bytes(s![]).unwrap(), due, "{ours:?} {theirs:?}");
        let pair = new().stack_in_memory(&[&array, &array], 0).unwrap();
        assert_eq!(pair.read_bytes(s![1]).unwrap(), due, "{ours:?} {theirs:?}");
        let long = new().concatenate_in_memory(&[&array, &array], 0).unwrap();
        assert_eq!(long.read_bytes(s![..8]).unwrap(), due, "{ours:?} {theirs:?}");
        assert_eq!(long.read_bytes(s![8..]).unwrap(), due, "{ours:?} {theirs:?}");
        let table = new().reshape_in_memory(&array, [80]).unwrap();
        assert_eq!(table.read_bytes(s![]).unwrap(), due, "{ours:?} {theirs:?}");
        let turned = new().copy_in_memory(array.transpose()).unwrap();
        assert_eq!(turned.transpose().read_bytes(s![]).unwrap(), due, "{ours:?} {theirs:?}");
    }
}

#[test]
fn an_error_of_a_closure_leaves_the_array_as_it_was() {
    for (threads, layout) in [(1, b2nd::Layout::Contiguous), (3, b2nd::Layout::Sparse)] {
        let refuse = |place: &BlockPlace<'_>, _: &mut [u8]| {
            if place.start[0] < 40_000 { Ok(()) } else { Err(b2nd::Error::Usage("no more".into())) }
        };
        let options = Options::new().with_chunks([5000]).with_blocks([1000]).with_layout(layout);
        let options = options.with_exec(Exec::new(threads)).with_preprocess(refuse);
        let mut array = options.create_in_memory(Dtype::of::<u32>(), [30_001]).unwrap();
        let items: Vec<u32> = (0..30_001).collect();
        array.write_items(s![], &items).unwrap();
        let other = Options::new()
            .with_chunks([5000])
            .with_blocks([1000])
            .create_in_memory(Dtype::of::<u32>(), [20_000])
            .unwrap();
        assert!(array.append_items(0, &[7u32; 20_000]).is_err());
        assert!(array.extend(0, &[&other]).is_err());
        let mut transaction = array.transaction();
        transaction.resize([50_000]).unwrap();
        transaction.delete(0, ..5000).unwrap();
        assert!(transaction.write_items(s![], &[1u32; 45_000]).is_err());
        assert!(transaction.resize([5]).is_err());
        drop(transaction);
        assert_eq!(array.shape(), [30_001]);
        assert!(array.read_items::<u32>(s![]).unwrap() == items);
        let again = Array::from_bytes(array.to_bytes().unwrap(), &b2nd::OpenOptions::new()).unwrap();
        assert!(again.read_items::<u32>(s![]).unwrap() == items);
        array.append_items(0, &[8u32; 9_999]).unwrap();
        assert_eq!(array.read_items::<u32>(s![30_000..30_003]).unwrap(), [30_000, 8, 8]);
    }
}
