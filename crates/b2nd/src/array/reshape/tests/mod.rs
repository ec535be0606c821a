//! Changes of shape, joined arrays and copies: against the naive array, and by what stays compressed as it is.

mod copies;
mod join;
mod kept;
mod model;

use super::*;
use crate::array::{Array, Dtype, Fill, Options};
use crate::exec::Exec;
use crate::frame::Layout;
use crate::schunk::OpenOptions;
use b2nd_testkit::nd::NaiveArray;

/// An array of `<i2` with distinct items beside its model.
#[derive(Debug)]
struct Pair {
    array: Array,
    model: NaiveArray,
    next: i16,
}

const FILLS: [i16; 3] = [0, -7, 0x0101];

fn usize_of(shape: &[u64]) -> Vec<usize> {
    shape.iter().map(|&n| n as usize).collect()
}

fn options(layout: Layout, threads: usize) -> Options {
    Options::new().with_layout(layout).with_exec(Exec::new(threads))
}

impl Pair {
    fn new(options: Options, shape: &[u64]) -> Self {
        let array = options.create_in_memory(Dtype::parse("<i2").unwrap(), shape).unwrap();
        let mut pair = Pair { array, model: NaiveArray::zeros(&usize_of(shape), 2), next: 1 };
        let items = pair.items(pair.array.size() as usize);
        pair.array.write_bytes((), &items).unwrap();
        pair.model.data = items;
        pair
    }

    /// Items that no other has.
    fn items(&mut self, count: usize) -> Vec<u8> {
        let first = self.next;
        self.next = self.next.wrapping_add(count as i16);
        (0..count as i16).flat_map(|n| first.wrapping_add(n).to_le_bytes()).collect()
    }

    /// New items for `count` indices of an axis.
    fn slabs(&mut self, axis: usize, count: usize) -> NaiveArray {
        let mut shape = self.model.shape.clone();
        shape[axis] = count;
        let data = self.items(shape.iter().product());
        NaiveArray { shape, itemsize: 2, data }
    }

    fn check(&self) {
        assert_eq!(usize_of(self.array.shape()), self.model.shape);
        assert_eq!(self.array.read_bytes(()).unwrap(), self.model.data);
    }

    /// Also what others would read.
    fn check_stored(&self) {
        self.check();
        assert!(self.array.verify().unwrap().is_sound());
        let again = Array::from_bytes(self.array.to_bytes().unwrap(), &OpenOptions::new()).unwrap();
        assert_eq!(usize_of(again.shape()), self.model.shape);
        assert_eq!(again.read_bytes(()).unwrap(), self.model.data);
        check_padding(&again);
    }
}

/// What lies past the edges of the array is zeros, but for chunks of one repeated value.
fn check_padding(array: &Array) {
    let grid = &array.grid;
    for n in 0..grid.nchunks() {
        let chunk = array.schunk.chunk(n).unwrap();
        if crate::chunk::ChunkHeader::parse(&chunk).unwrap().special().is_some() {
            continue;
        }
        let bytes = crate::chunk::decode(&chunk, array.schunk.limits(), &Exec::new(1)).unwrap();
        let position = grid.chunk_position(n);
        for (block, bytes) in bytes.chunks(grid.block_bytes()).enumerate() {
            let (start, stop) = grid.block_box(&position, &grid.block_position(block));
            for (item, bytes) in bytes.chunks(grid.itemsize()).enumerate() {
                let at = crate::array::grid::unravel(item as u64, grid.blocks());
                let inside = (0..grid.ndim()).all(|d| start[d] + at[d] < stop[d]);
                assert!(inside || bytes.iter().all(|&b| b == 0), "chunk {n} block {block} item {item}");
            }
        }
    }
}
