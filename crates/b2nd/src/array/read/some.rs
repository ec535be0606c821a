//! Lists the wanted items of a block as runs, if they are so few that unshuffling only them is faster.

use std::ops::Range;

/// The wanted items along an axis of a block.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct TakenAlong<'a> {
    /// Their number.
    pub(super) count: usize,
    /// The distance between two of them, in items of the block. No meaning where there is a list.
    pub(super) step: isize,
    /// The index of each item along the axis, and the distance between indices.
    pub(super) list: Option<(&'a [usize], usize)>,
}

impl TakenAlong<'_> {
    fn at(&self, k: usize) -> usize {
        match self.list {
            Some((places, stride)) => places.get(k).copied().unwrap_or(0) * stride,
            None => self.step.wrapping_mul(k.cast_signed()).cast_unsigned(),
        }
    }
}

/// Finds the runs of the items that are taken along all `axes`, the first of them item `first` of the block, in C order of
/// what is taken. Returns whether they are worth finding: whether taking them run by run, each at the `cost` of its length, is
/// less work than the `reach` bytes up to the end of the last item are.
pub(super) fn runs(
    axes: &[TakenAlong<'_>],
    first: usize,
    reach: usize,
    cost: impl Fn(usize) -> Option<usize>,
    runs: &mut Vec<Range<u32>>,
) -> bool {
    let (mut outer, mut run) = (axes, 1);
    while let [rest @ .., last] = outer {
        let dense = last.list.is_none() && last.step == run as isize;
        // An axis of one item is only an offset, which a list may have.
        if last.count != 1 && !dense || last.list.is_some() {
            break;
        }
        run *= last.count;
        outer = rest;
    }
    let many = outer.iter().fold(1usize, |n, axis| n.saturating_mul(axis.count));
    if cost(run).is_none_or(|each| many.saturating_mul(each) >= reach) {
        return false;
    }
    runs.clear();
    if runs.try_reserve(many).is_err() {
        return false;
    }
    each_place(outer, first, &mut |at| runs.push(at as u32..(at + run) as u32));
    true
}

/// Calls `found` with the item number of every combination along `axes`, in C order.
fn each_place(axes: &[TakenAlong<'_>], at: usize, found: &mut impl FnMut(usize)) {
    match axes {
        [] => found(at),
        [axis] => (0..axis.count).for_each(|k| found(at.wrapping_add(axis.at(k)))),
        [axis, rest @ ..] => {
            (0..axis.count).for_each(|k| each_place(rest, at.wrapping_add(axis.at(k)), found));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn every(count: usize, step: isize) -> TakenAlong<'static> {
        TakenAlong { count, step, list: None }
    }

    fn found(axes: &[TakenAlong<'_>], first: usize, reach: usize) -> Option<Vec<Range<u32>>> {
        let mut all = Vec::from_iter([7..8, 9..9]);
        let cost = |items: usize| Some(if items <= 4 { 160 * items } else { 500 + 8 * items });
        runs(axes, first, reach, cost, &mut all).then_some(all)
    }

    #[test]
    fn a_plane_is_made_of_single_items_or_of_rows() {
        // Blocks of 4 x 5 x 30 items.
        let items = found(&[every(4, 150), every(5, 30), every(1, 1)], 7, 4800).unwrap();
        assert_eq!((items.len(), &items[..2], &items[19]), (20, &[7..8, 37..38][..], &(577..578)));
        let rows = found(&[every(4, 150), every(1, 30), every(30, 1)], 60, 4800);
        assert_eq!(rows.unwrap(), [60..90, 210..240, 360..390, 510..540]);
        let plane = found(&[every(1, 150), every(5, 30), every(30, 1)], 150, 4800);
        assert_eq!(plane.unwrap().as_slice(), std::slice::from_ref(&(150..300)));
    }

    #[test]
    fn runs_go_as_the_result_goes() {
        assert_eq!(found(&[every(3, -2)], 9, 1600).unwrap(), [9..10, 7..8, 5..6]);
        let places = [4, 0, 2];
        let list = TakenAlong { count: 3, step: 0, list: Some((&places, 10)) };
        assert_eq!(found(&[list, every(6, 1)], 1, 4800).unwrap(), [41..47, 1..7, 21..27]);
        assert_eq!(found(&[every(2, 100), list], 1, 4800).unwrap()[2..4], [21..22, 141..142]);
    }

    #[test]
    fn many_items_are_not_taken_one_by_one() {
        assert_eq!(found(&[every(20, 10)], 0, 1600), None);
        assert_eq!(found(&[every(10, 10)], 0, 1600), None);
        assert!(found(&[every(9, 10)], 0, 1600).is_some());
        assert!(!runs(&[every(1, 1)], 0, 1600, |_| None, &mut Vec::new()), "where items go byte by byte");
    }
}
