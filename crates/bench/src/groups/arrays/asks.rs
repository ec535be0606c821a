//! What is read of an array, the same by both sides.

use super::subject::{Subject, TYPESIZE};
use crate::groups::name::{PARTS, SELECTIONS, WHOLE};
use crate::report::{Label, Unit};
use crate::rival;
use b2nd::{Array, Axis, Selection};
use b2nd_interop::Outcome;
use b2nd_testkit::rng::Rng;

/// A way to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    /// All items.
    Whole,
    /// One index along an axis.
    Hyperplanes(usize),
    /// Boxes of eight items along each axis.
    Boxes,
    /// One item.
    Items,
    /// Lists along each axis.
    Orthogonal,
    /// Items by their position.
    Coordinates,
    /// Every third item along each axis of a box.
    Strided,
}

impl Operation {
    /// All of an array of so many dimensions.
    pub(crate) fn all(ndim: usize) -> Vec<Self> {
        let planes = (0..ndim).map(Operation::Hyperplanes);
        let rest = [Self::Boxes, Self::Items, Self::Orthogonal, Self::Coordinates, Self::Strided];
        std::iter::once(Self::Whole).chain(planes).chain(rest).collect()
    }
    /// The name in the table.
    pub(crate) fn name(self) -> String {
        match self {
            Self::Whole => "read all".into(),
            Self::Hyperplanes(axis) => format!("read hyperplanes, axis {axis}"),
            Self::Boxes => "read random boxes 8^n".into(),
            Self::Items => "read random items".into(),
            Self::Orthogonal => "read orthogonal, 12 indices an axis".into(),
            Self::Coordinates => "read 10,000 coordinates".into(),
            Self::Strided => "read strided, every third".into(),
        }
    }
    fn group(self) -> &'static str {
        match self {
            Self::Whole => WHOLE,
            Self::Hyperplanes(_) | Self::Boxes | Self::Items => PARTS,
            _ => SELECTIONS,
        }
    }
    /// The label of a cell.
    pub(crate) fn label(self, subject: &Subject, place: &str, threads: usize, nbytes: usize) -> Label {
        let unit = match self {
            Self::Boxes => Unit::Steps("boxes/s"),
            Self::Items => Unit::Steps("items/s"),
            _ => Unit::Bytes(nbytes),
        };
        let name = format!("{}, {}, {place}", subject.parameters(), self.name());
        let label = Label::new(self.group(), name, threads, unit);
        if self == Self::Strided { label.against("C-Blosc2, box then pick") } else { label }
    }
    /// Reads of this kind, `most` of them at most, all with the same number of bytes.
    pub(crate) fn asks(self, subject: &Subject, most: usize) -> Vec<Ask> {
        let mut rng = Rng::new(41);
        let shape = &subject.shape;
        match self {
            Self::Whole => vec![Ask::bounds(vec![0; shape.len()], shape.clone())],
            Self::Hyperplanes(axis) => (0..most.min(100))
                .map(|_| {
                    let (mut start, mut stop) = (vec![0; shape.len()], shape.clone());
                    start[axis] = rng.between(0, shape[axis] - 1);
                    stop[axis] = start[axis] + 1;
                    Ask::bounds(start, stop)
                })
                .collect(),
            Self::Boxes => (0..most.min(10_000)).map(|_| Ask::random(shape, 8, &mut rng)).collect(),
            Self::Items => (0..most.min(10_000)).map(|_| Ask::random(shape, 1, &mut rng)).collect(),
            Self::Orthogonal => (0..most.min(10))
                .map(|_| {
                    let list = |n: &i64| (0..12).map(|_| rng.between(0, n - 1)).collect();
                    Ask::orthogonal(shape.iter().map(list).collect())
                })
                .collect(),
            Self::Coordinates => (0..most.min(10))
                .map(|_| {
                    let size = shape.iter().product::<i64>();
                    Ask::flat((0..10_000).map(|_| rng.between(0, size - 1)).collect())
                })
                .collect(),
            Self::Strided => {
                let start = shape.iter().map(|n| n / 4).collect();
                vec![Ask::strided(start, shape.iter().map(|n| n / 4 + n / 2).collect(), 3)]
            }
        }
    }
}

/// What the rival is told.
#[derive(Debug)]
enum Wanted {
    Bounds(Vec<i64>, Vec<i64>),
    Lists(Vec<Vec<i64>>),
    Positions(Vec<i64>),
    /// A box, of which every n-th item along each axis is kept.
    Steps(Vec<i64>, Vec<i64>, i64),
}

/// One read, as each side is told of it.
#[derive(Debug)]
pub(crate) struct Ask {
    selection: Selection,
    wanted: Wanted,
    /// Bytes of the result.
    pub(crate) nbytes: usize,
}

impl Ask {
    fn bounds(start: Vec<i64>, stop: Vec<i64>) -> Self {
        let unsigned = |list: &[i64]| list.iter().map(|n| n.unsigned_abs()).collect::<Vec<_>>();
        let selection = Selection::from_box(&unsigned(&start), &unsigned(&stop));
        let items: i64 = start.iter().zip(&stop).map(|(a, b)| b - a).product();
        Ask { selection, wanted: Wanted::Bounds(start, stop), nbytes: items as usize * TYPESIZE }
    }
    fn random(shape: &[i64], length: i64, rng: &mut Rng) -> Self {
        let start: Vec<i64> = shape.iter().map(|n| rng.between(0, n - length)).collect();
        let stop = start.iter().map(|a| a + length).collect();
        Ask::bounds(start, stop)
    }
    fn orthogonal(lists: Vec<Vec<i64>>) -> Self {
        let nbytes = lists.iter().map(Vec::len).product::<usize>() * TYPESIZE;
        Ask { selection: Selection::orthogonal(lists.clone()), wanted: Wanted::Lists(lists), nbytes }
    }
    fn flat(positions: Vec<i64>) -> Self {
        let nbytes = positions.len() * TYPESIZE;
        Ask { selection: Selection::flat(positions.clone()), wanted: Wanted::Positions(positions), nbytes }
    }
    fn strided(start: Vec<i64>, stop: Vec<i64>, step: i64) -> Self {
        let range = |(&a, &b): (&i64, &i64)| Axis::Range { start: Some(a), stop: Some(b), step };
        let selection = Selection::new(start.iter().zip(&stop).map(range).collect::<Vec<_>>());
        let kept: i64 = start.iter().zip(&stop).map(|(a, b)| (b - a + step - 1) / step).product();
        Ask { selection, wanted: Wanted::Steps(start, stop, step), nbytes: kept as usize * TYPESIZE }
    }
    /// Reads it by b2nd.
    pub(crate) fn ours(&self, array: &Array, out: &mut [u8]) -> Outcome {
        Ok(array.read_bytes_into(self.selection.clone(), out)?)
    }
    /// Reads it by C-Blosc2; `scratch` is for what it reads too much.
    pub(crate) fn theirs(
        &self,
        array: &mut rival::Array<'_>,
        out: &mut [u8],
        scratch: &mut Vec<u8>,
    ) -> Outcome {
        match &self.wanted {
            Wanted::Bounds(start, stop) => array.read(start, stop, out),
            Wanted::Lists(lists) => array.read_orthogonal(lists, out),
            Wanted::Positions(positions) => array.read_flat(positions, out),
            Wanted::Steps(start, stop, step) => {
                let lengths: Vec<usize> = start.iter().zip(stop).map(|(a, b)| (b - a) as usize).collect();
                scratch.resize(lengths.iter().product::<usize>() * TYPESIZE, 0);
                array.read(start, stop, scratch)?;
                let rest = pick(scratch, &lengths, *step as usize, out);
                if rest == 0 { Ok(()) } else { Err("the picked items do not fill the result".into()) }
            }
        }
    }
}

/// Every `step`-th item along each axis; how many bytes of the result are left over.
fn pick(src: &[u8], lengths: &[usize], step: usize, out: &mut [u8]) -> usize {
    fn walk<'o>(src: &[u8], lengths: &[usize], step: usize, mut out: &'o mut [u8]) -> &'o mut [u8] {
        let Some((length, rest)) = lengths.split_first() else { return out };
        let stride = rest.iter().product::<usize>() * TYPESIZE;
        for part in (0..*length).step_by(step).map(|n| &src[n * stride..][..stride]) {
            if rest.is_empty() {
                let (item, more) = out.split_at_mut(TYPESIZE);
                item.copy_from_slice(part);
                out = more;
            } else {
                out = walk(part, rest, step, out);
            }
        }
        out
    }
    walk(src, lengths, step, out).len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_third_item_is_picked() {
        let src: Vec<u8> = (0..4 * 5u64).flat_map(u64::to_le_bytes).collect();
        let mut out = vec![0; 4 * TYPESIZE];
        assert_eq!(pick(&src, &[4, 5], 3, &mut out), 0);
        let expected: Vec<u8> = [0u64, 3, 15, 18].into_iter().flat_map(u64::to_le_bytes).collect();
        assert_eq!(out, expected);
    }
}
