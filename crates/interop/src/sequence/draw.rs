//! Draws the steps: any that NumPy allows for b2nd, and those that C-Blosc2 can do right for C-Blosc2.

use super::step::Create;
use super::step::Place;
use super::step::Slice;
use super::step::Step;
use crate::generate::CODECS;
use crate::generate::partition;
use b2nd_testkit::rng::Rng;

/// No axis grows beyond this, and no array beyond [`MOST_ITEMS`].
const LONGEST: u64 = 20;
const MOST_ITEMS: u64 = 2500;

const DTYPES: [(&str, usize); 8] = [
    ("<i4", 4),
    (">f8", 8),
    ("|u1", 1),
    ("<c16", 16),
    ("|S7", 7),
    ("<f2", 2),
    ("<M8[ns]", 8),
    ("[('a', '<i4'), ('b', '<f8')]", 12),
];

/// What the steps have to fit.
#[derive(Debug, Clone)]
pub struct State {
    /// The length of each axis.
    pub shape: Vec<u64>,
    /// The chunk shape.
    pub chunks: Vec<u64>,
    /// The items of a chunk, padding included.
    pub chunk_items: u64,
    /// The bytes of an item.
    pub itemsize: usize,
    /// C-Blosc2 leaves old items in the padding when it shrinks an axis inside a chunk, and shows them again when it grows
    /// it: from then on only b2nd grows the array.
    pub stale: bool,
    /// C-Blosc2 takes the numbers of chunk files for offsets, and so cannot open a sparse frame any more when few bytes are
    /// left: of arrays with tiny chunks only b2nd takes items away.
    pub fragile: bool,
}

/// A new array with random items.
pub fn create(rng: &mut Rng) -> Create {
    let ndim = 1 + rng.below(4);
    let lengths: &[u64] = if ndim > 2 { &[1, 2, 3, 5, 6] } else { &[1, 2, 5, 7, 9, 12, 17] };
    let shape: Vec<u64> = (0..ndim).map(|_| *rng.pick(lengths)).collect();
    let (chunks, blocks) = partition(rng, &shape);
    let &(dtype, itemsize) = rng.pick(&DTYPES);
    let bytes = shape.iter().product::<u64>() as usize * itemsize;
    Create {
        chunks,
        blocks,
        dtype,
        itemsize,
        codec: CODECS[rng.below(CODECS.len() as u64) as usize],
        clevel: rng.below(10) as u8,
        filters: *rng.pick(&[[0; 6], [0, 0, 0, 0, 0, 1], [0, 0, 0, 0, 0, 2]]),
        sparse: rng.chance(40),
        items: items(rng, bytes),
        shape,
    }
}

/// Random bytes, or zeros, or one byte repeated.
fn items(rng: &mut Rng, len: usize) -> Vec<u8> {
    match rng.below(6) {
        0 => vec![0; len],
        1 => vec![rng.below(256) as u8; len],
        _ => rng.bytes(len),
    }
}

impl State {
    /// The state of a new array.
    pub fn new(create: &Create) -> Self {
        let chunk_items: u64 =
            create.chunks.iter().zip(&create.blocks).map(|(c, b)| c.div_ceil(*b) * b).product();
        State {
            shape: create.shape.clone(),
            chunks: create.chunks.clone(),
            chunk_items,
            itemsize: create.itemsize,
            stale: false,
            fragile: create.sparse && chunk_items * (create.itemsize as u64) < 64,
        }
    }

    /// The next step, for C-Blosc2 where `theirs`.
    pub fn step(&self, rng: &mut Rng, theirs: bool) -> Step {
        let ndim = self.shape.len();
        let axis = rng.below(ndim as u64) as usize;
        let empty = self.shape.contains(&0);
        match rng.below(100) {
            0..18 if !empty => {
                let place = Place::Slices(self.slices(rng));
                self.write(rng, place)
            }
            18..26 if !empty => {
                let place = Place::Lists(self.lists(rng, !theirs));
                self.write(rng, place)
            }
            // C-Blosc2 has no scatter for points of an array of more than one axis.
            26..34 if !empty && !theirs => {
                let place = Place::Points(self.points(rng));
                self.write(rng, place)
            }
            34..46 => self.resize(rng, theirs),
            46..58 => self.append(rng, axis, theirs),
            58..68 => self.insert(rng, axis, theirs),
            68..78 => self.delete(rng, axis, theirs),
            78..84 if !empty => Step::Read { place: Place::Slices(self.slices(rng)) },
            84..88 if !empty => Step::Read { place: Place::Lists(self.lists(rng, true)) },
            88..92 if !empty => Step::Read { place: Place::Points(self.points(rng)) },
            92..95 if !empty => {
                let mask = (0..self.size()).map(|_| rng.chance(40)).collect();
                Step::MaskRead { mask }
            }
            _ => Step::Reopen,
        }
    }

    fn size(&self) -> u64 {
        self.shape.iter().product()
    }

    fn write(&self, rng: &mut Rng, place: Place) -> Step {
        let count = place.count(&self.shape) as usize;
        Step::Write { place, items: items(rng, count * self.itemsize) }
    }

    fn slices(&self, rng: &mut Rng) -> Vec<Slice> {
        self.shape.iter().map(|&len| slice(rng, len.cast_signed())).collect()
    }

    /// One list of indices for each axis; `free` ones repeat.
    fn lists(&self, rng: &mut Rng, free: bool) -> Vec<Vec<i64>> {
        let mut list = |len: u64| {
            let count = 1 + rng.below(4);
            indices(rng, len, count, free)
        };
        self.shape.iter().map(|&len| list(len)).collect()
    }

    /// Items in any order, which repeat.
    fn points(&self, rng: &mut Rng) -> Vec<Vec<i64>> {
        let count = 1 + rng.below(12).min(self.size().saturating_sub(1));
        let flat = indices(rng, self.size(), count, true);
        let mut lists: Vec<Vec<i64>> = vec![Vec::new(); self.shape.len()];
        for number in flat {
            let mut rest = number.rem_euclid(self.size().cast_signed());
            for (list, &len) in lists.iter_mut().zip(&self.shape).rev() {
                let len = len.cast_signed();
                let back = if rng.chance(20) { len } else { 0 };
                list.push(rest % len - back);
                rest /= len;
            }
        }
        lists
    }

    fn resize(&self, rng: &mut Rng, theirs: bool) -> Step {
        let mut shape = self.shape.clone();
        for axis in 0..shape.len() {
            if rng.chance(50) {
                continue;
            }
            let lowest = u64::from(theirs || rng.chance(90));
            let length = rng.between(lowest.cast_signed(), LONGEST.cast_signed()).unsigned_abs();
            let others: u64 = shape.iter().enumerate().filter(|(d, _)| *d != axis).map(|(_, n)| *n).product();
            let fits = length * others <= MOST_ITEMS;
            let known_fault = (self.stale && length > shape[axis]) || (self.fragile && length < shape[axis]);
            if fits && !(theirs && known_fault) {
                shape[axis] = length;
            }
        }
        Step::Resize { shape }
    }

    fn slab(&self, rng: &mut Rng, axis: usize, count: u64) -> Vec<u8> {
        items(rng, (self.across(axis) * count) as usize * self.itemsize)
    }

    /// The items of a slab of one index along an axis.
    fn across(&self, axis: usize) -> u64 {
        self.shape.iter().enumerate().filter(|(d, _)| *d != axis).map(|(_, n)| *n).product()
    }

    /// How much an axis may still grow.
    fn room(&self, axis: usize) -> u64 {
        let most = MOST_ITEMS.checked_div(self.across(axis)).unwrap_or(LONGEST).min(LONGEST);
        most.saturating_sub(self.shape[axis])
    }

    /// C-Blosc2 takes as many bytes as a chunk has for a chunk of their own, wherever the last chunk ends.
    fn append(&self, rng: &mut Rng, axis: usize, theirs: bool) -> Step {
        let count = 1 + rng.below(5);
        let misplaced = theirs && self.across(axis) * count == self.chunk_items;
        if count > self.room(axis) || self.slab_is_empty(axis) || misplaced {
            return Step::Reopen;
        }
        Step::Append { axis, count, items: self.slab(rng, axis, count) }
    }

    fn slab_is_empty(&self, axis: usize) -> bool {
        self.across(axis) == 0
    }

    /// C-Blosc2 inserts whole chunks at the start of a chunk, or anything at the end.
    fn insert(&self, rng: &mut Rng, axis: usize, theirs: bool) -> Step {
        let (length, chunk) = (self.shape[axis], self.chunks[axis]);
        let mut count = 1 + rng.below(5);
        let mut at = rng.below(length + 1);
        if theirs && at < length {
            at -= at % chunk;
            count = chunk * (1 + rng.below(2));
        }
        if count > self.room(axis) || self.slab_is_empty(axis) {
            return Step::Reopen;
        }
        Step::Insert { axis, at, count, items: self.slab(rng, axis, count) }
    }

    /// C-Blosc2 deletes whole chunks, or anything at the end.
    fn delete(&self, rng: &mut Rng, axis: usize, theirs: bool) -> Step {
        let (length, chunk) = (self.shape[axis], self.chunks[axis]);
        let mut at = rng.below(length.max(1));
        let mut count = rng.below(length - at.min(length)) + u64::from(!theirs);
        if theirs && at + count < length {
            at -= at % chunk;
            count = chunk;
        }
        let leaves = length.checked_sub(count).filter(|_| at + count <= length);
        let keeps = leaves.is_some_and(|left| left > 0 || (!theirs && rng.chance(10)));
        if count == 0 || !keeps || (theirs && self.fragile) {
            return Step::Reopen;
        }
        Step::Delete { axis, at, count }
    }

    /// What the array is after a step.
    pub fn follow(&mut self, step: &Step, theirs: bool) {
        let before = self.shape.clone();
        match step {
            Step::Resize { shape } => self.shape.clone_from(shape),
            Step::Append { axis, count, .. } | Step::Insert { axis, count, .. } => self.shape[*axis] += count,
            Step::Delete { axis, count, .. } => self.shape[*axis] -= count,
            _ => {}
        }
        let shrunk_inside = |axis: usize| {
            self.shape[axis] < before[axis] && !self.shape[axis].is_multiple_of(self.chunks[axis])
        };
        self.stale |= theirs && (0..before.len()).any(shrunk_inside);
    }
}

fn slice(rng: &mut Rng, len: i64) -> Slice {
    if rng.chance(30) {
        return Slice { start: None, stop: None, step: 1 };
    }
    let step = *rng.pick(&[1, 1, 1, 2, 3, -1, -2]);
    let start = rng.chance(70).then(|| rng.between(-len, len - 1));
    if step > 0 {
        let first = start.map_or(0, |s| if s < 0 { s + len } else { s });
        let stop = rng.chance(70).then(|| rng.between(first + 1, len + 2));
        Slice { start, stop, step }
    } else {
        let first = start.map_or(len - 1, |s| if s < 0 { s + len } else { s });
        let stop = if first > 0 && rng.chance(70) { Some(rng.between(0, first - 1)) } else { None };
        Slice { start, stop, step }
    }
}

/// `count` indices below `len`; `free` ones repeat and count from the end, the others are each another one.
fn indices(rng: &mut Rng, len: u64, count: u64, free: bool) -> Vec<i64> {
    let len = len.cast_signed();
    if free {
        return (0..count).map(|_| rng.between(-len, len - 1)).collect();
    }
    let mut all: Vec<i64> = (0..len).collect();
    for at in (1..all.len()).rev() {
        all.swap(at, rng.below(at as u64 + 1) as usize);
    }
    all.truncate(count as usize);
    all
}
