//! The plainest N-dimensional array: items in C order, reached one by one. Slow, and easily seen to be right.

use std::ops::Range;

/// Items of `itemsize` bytes in C order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NaiveArray {
    /// The length of each axis.
    pub shape: Vec<usize>,
    /// The bytes of an item.
    pub itemsize: usize,
    /// All items.
    pub data: Vec<u8>,
}

impl NaiveArray {
    /// Zeros.
    pub fn zeros(shape: &[usize], itemsize: usize) -> Self {
        let items: usize = shape.iter().product();
        NaiveArray { shape: shape.to_vec(), itemsize, data: vec![0; items * itemsize] }
    }

    /// The items at the outer product of one list of indices for each axis, in that order.
    pub fn get(&self, indices: &[Vec<usize>]) -> Vec<u8> {
        let mut out = Vec::new();
        for_each(indices, &mut Vec::new(), &mut |at| {
            let start = self.flat(at) * self.itemsize;
            out.extend_from_slice(&self.data[start..start + self.itemsize]);
        });
        out
    }

    /// Replaces the items at the outer product of one list of indices for each axis; where a place comes up more than once,
    /// the last item stays.
    pub fn set(&mut self, indices: &[Vec<usize>], items: &[u8]) {
        let mut places = Vec::new();
        for_each(indices, &mut Vec::new(), &mut |at| places.push(self.flat(at) * self.itemsize));
        for (place, item) in places.into_iter().zip(items.chunks_exact(self.itemsize)) {
            self.data[place..place + self.itemsize].copy_from_slice(item);
        }
    }

    /// The items at flat positions in C order.
    pub fn get_flat(&self, positions: &[usize]) -> Vec<u8> {
        let item = |&at: &usize| self.data[at * self.itemsize..(at + 1) * self.itemsize].to_vec();
        positions.iter().flat_map(item).collect()
    }

    /// Replaces the items at flat positions; where one comes up more than once, the last item stays.
    pub fn set_flat(&mut self, positions: &[usize], items: &[u8]) {
        for (&at, item) in positions.iter().zip(items.chunks_exact(self.itemsize)) {
            self.data[at * self.itemsize..(at + 1) * self.itemsize].copy_from_slice(item);
        }
    }

    /// The indices along each axis of a flat position.
    pub fn indices(&self, mut position: usize) -> Vec<usize> {
        let mut at = vec![0; self.shape.len()];
        for (index, &n) in at.iter_mut().zip(&self.shape).rev() {
            *index = position % n;
            position /= n;
        }
        at
    }

    /// The items `removed` along an axis give way to `inserted` others, which `item` gives by their position: along this
    /// axis counted from the first of them, along the others as in the array.
    pub fn splice(
        &mut self,
        axis: usize,
        removed: Range<usize>,
        inserted: usize,
        item: impl Fn(&[usize]) -> Vec<u8>,
    ) {
        let mut shape = self.shape.clone();
        shape[axis] = shape[axis] - removed.len() + inserted;
        let mut data = Vec::new();
        let all: Vec<Vec<usize>> = shape.iter().map(|&n| (0..n).collect()).collect();
        for_each(&all, &mut Vec::new(), &mut |at| {
            let mut from = at.to_vec();
            if at[axis] < removed.start {
                data.extend_from_slice(self.item(&from));
            } else if at[axis] < removed.start + inserted {
                from[axis] -= removed.start;
                data.extend_from_slice(&item(&from));
            } else {
                from[axis] = from[axis] - inserted + removed.len();
                data.extend_from_slice(self.item(&from));
            }
        });
        (self.shape, self.data) = (shape, data);
    }

    /// Puts another array behind this one along an axis.
    pub fn join(&mut self, axis: usize, other: &NaiveArray) {
        let end = self.shape[axis];
        self.splice(axis, end..end, other.shape[axis], |at| other.item(at).to_vec());
    }

    /// The bytes of an item.
    pub fn item(&self, at: &[usize]) -> &[u8] {
        &self.data[self.flat(at) * self.itemsize..][..self.itemsize]
    }

    fn flat(&self, at: &[usize]) -> usize {
        at.iter().zip(&self.shape).fold(0, |flat, (&i, &n)| {
            assert!(i < n);
            flat * n + i
        })
    }
}

fn for_each(indices: &[Vec<usize>], at: &mut Vec<usize>, work: &mut impl FnMut(&[usize])) {
    match indices.get(at.len()) {
        None => work(at),
        Some(list) => {
            for &index in list {
                at.push(index);
                for_each(indices, at, work);
                at.pop();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_where_c_order_puts_them() {
        let mut a = NaiveArray::zeros(&[2, 3], 1);
        a.data = vec![0, 1, 2, 3, 4, 5];
        assert_eq!(a.get(&[vec![1], vec![2, 0]]), [5, 3]);
        a.set(&[vec![0, 1], vec![1]], &[7, 8]);
        assert_eq!(a.data, [0, 7, 2, 3, 8, 5]);
        assert_eq!((a.get_flat(&[4, 0, 4]), a.indices(4)), (vec![8, 0, 8], vec![1, 1]));
        a.set_flat(&[5, 5], &[1, 2]);
        assert_eq!(a.data, [0, 7, 2, 3, 8, 2]);
        assert_eq!(NaiveArray::zeros(&[], 4).get(&[]), [0; 4]);
    }

    #[test]
    fn a_splice_moves_what_is_behind() {
        let mut a = NaiveArray { shape: vec![2, 3], itemsize: 1, data: vec![0, 1, 2, 3, 4, 5] };
        a.splice(1, 1..2, 2, |at| vec![10 * at[0] as u8 + at[1] as u8 + 50]);
        assert_eq!((a.shape.clone(), a.data.clone()), (vec![2, 4], vec![0, 50, 51, 2, 3, 60, 61, 5]));
        a.splice(0, 0..1, 0, |_| vec![]);
        assert_eq!(a.data, [3, 60, 61, 5]);
        let b = NaiveArray { shape: vec![1, 4], itemsize: 1, data: vec![9; 4] };
        a.join(0, &b);
        assert_eq!((a.shape, a.data), (vec![2, 4], vec![3, 60, 61, 5, 9, 9, 9, 9]));
    }
}
