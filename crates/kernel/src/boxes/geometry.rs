//! Geometry of boxes: bounds of their bytes, and which axes can be joined for a copy.
//!
//! All of it is checked and none of it touches a byte of data.

/// The largest number of axes of a box.
pub const MAX_AXES: usize = 16;

/// Where the items of a box come from: `offset` bytes into a source, then `strides` bytes along each axis.
///
/// Strides may be negative or zero (one item repeated).
#[derive(Debug, Clone, Copy)]
pub struct Source<'s> {
    /// The bytes.
    pub bytes: &'s [u8],
    /// The position of the first item, in bytes.
    pub offset: usize,
    /// The distance between neighbours along each axis, in bytes.
    pub strides: &'s [isize],
}

impl Source<'_> {
    /// Whether every item of a box of `shape`, which holds at least one, lies inside the bytes.
    pub(super) fn fits(&self, itemsize: usize, shape: &[usize]) -> bool {
        let reaches = shape.iter().zip(self.strides).map(|(&count, &stride)| reach(count, stride));
        fits(itemsize, self.bytes.len(), self.offset, reaches)
    }
}

/// How items follow each other along one axis of a buffer: item `k` lies `list[k]` strides from the first place, or `k`
/// strides where there is no list.
#[derive(Debug, Clone, Copy, Default)]
pub struct Along<'s> {
    /// The distance between neighbours, in bytes.
    pub stride: isize,
    /// As many numbers as the box has items along the axis.
    pub list: Option<&'s [usize]>,
}

impl Along<'_> {
    /// The distance of item `k` in bytes. It was checked by [`fits`] before it is used.
    pub(super) fn at(&self, k: usize) -> isize {
        let place = match self.list {
            Some(list) => list[k],
            None => k,
        };
        place.cast_signed().wrapping_mul(self.stride)
    }

    /// The largest distance of `count` items; `None` when it overflows or the list has another length.
    pub(super) fn reach(&self, count: usize) -> Option<isize> {
        let farthest = match self.list {
            Some(list) if list.len() == count => list.iter().copied().max()?,
            Some(_) => return None,
            None => count.checked_sub(1)?,
        };
        isize::try_from(farthest).ok()?.checked_mul(self.stride)
    }

    /// One more than the largest index that `count` items take; `None` when two
    /// entries of the list may be the same.
    pub(super) fn extent(&self, count: usize) -> Option<usize> {
        match self.list {
            Some(list) if list.len() > 1 => {
                list.is_sorted_by(|a, b| a < b).then_some(list.last()?.saturating_add(1))
            }
            _ => Some(count),
        }
    }
}

/// Items of a buffer that are reached by strides and lists.
#[derive(Debug, Clone, Copy)]
pub struct Listed<'s> {
    /// The bytes.
    pub bytes: &'s [u8],
    /// The position that all distances count from, in bytes.
    pub offset: usize,
    /// How items follow each other along each axis.
    pub axes: &'s [Along<'s>],
}

impl Listed<'_> {
    /// Whether every item of a box of `shape`, which holds at least one, lies inside the bytes.
    pub(super) fn fits(&self, itemsize: usize, shape: &[usize]) -> bool {
        let reaches = shape.iter().zip(self.axes).map(|(&count, along)| along.reach(count));
        fits(itemsize, self.bytes.len(), self.offset, reaches)
    }
}

/// The distance of the last of `count` items.
pub(super) fn reach(count: usize, stride: isize) -> Option<isize> {
    Along { stride, list: None }.reach(count)
}

/// Whether every item of a box lies inside `len` bytes, where `reaches` are the farthest distances along its axes. The
/// box holds at least one item.
///
/// The axes are independent, so the least and greatest distances are sums over the axes: two checks cover all items.
pub(super) fn fits(
    itemsize: usize,
    len: usize,
    offset: usize,
    reaches: impl Iterator<Item = Option<isize>>,
) -> bool {
    let extremes = || {
        let mut low = isize::try_from(offset).ok()?;
        let mut high = low.checked_add(isize::try_from(itemsize).ok()?)?;
        for reach in reaches {
            let reach = reach?;
            if reach < 0 {
                low = low.checked_add(reach)?;
            } else {
                high = high.checked_add(reach)?;
            }
        }
        Some((low, usize::try_from(high).ok()?))
    };
    extremes().is_some_and(|(low, high)| low >= 0 && high <= len)
}

/// Whether no two items of a box share a byte: every axis (a number of items and their distance) steps over all that the
/// finer axes cover.
///
/// Interleaved boxes that happen not to overlap are refused as well. There are at most [`MAX_AXES`] axes.
pub(super) fn is_disjoint(itemsize: usize, sides: impl Iterator<Item = (usize, usize)>) -> bool {
    let mut axes = [(0, 0); MAX_AXES];
    let mut used = 0;
    for (count, stride) in sides {
        if count > 1 {
            axes[used] = (stride, count);
            used += 1;
        }
    }
    axes[..used].sort_unstable();
    let mut covered = itemsize;
    axes[..used].iter().all(|&(stride, count)| {
        let clear = stride >= covered;
        // The box lies inside a slice by now, so this cannot wrap.
        covered = covered.saturating_add(stride.saturating_mul(count - 1));
        clear
    })
}

/// One axis of a copy.
#[derive(Clone, Copy, Default)]
pub(super) struct Axis {
    pub(super) count: usize,
    pub(super) dst: usize,
    pub(super) src: isize,
}

/// A copy in its simplest form: runs of `run` bytes along a few axes, the innermost first.
pub(super) struct Plan {
    pub(super) run: usize,
    axes: [Axis; MAX_AXES],
    used: usize,
}

impl Plan {
    /// Drops axes of one item, and joins neighbours that are evenly spaced on both sides.
    ///
    /// `axes` come outermost first, at most [`MAX_AXES`] of them.
    pub(super) fn new(itemsize: usize, axes: impl DoubleEndedIterator<Item = Axis>) -> Plan {
        let mut plan = Plan { run: itemsize, axes: [Axis::default(); MAX_AXES], used: 0 };
        for axis in axes.rev().filter(|axis| axis.count != 1) {
            plan.push(axis);
        }
        plan
    }

    fn push(&mut self, axis: Axis) {
        if let Some(inner) = self.axes[..self.used].last_mut() {
            let step = isize::try_from(inner.count).ok().and_then(|count| count.checked_mul(inner.src));
            let evenly = inner.count.checked_mul(inner.dst) == Some(axis.dst) && step == Some(axis.src);
            match inner.count.checked_mul(axis.count) {
                Some(count) if evenly => inner.count = count,
                _ => self.append(axis),
            }
        } else if axis.dst == self.run && isize::try_from(self.run) == Ok(axis.src) {
            // Both sides lie in memory, so the product is a length in memory and cannot overflow.
            self.run = self.run.saturating_mul(axis.count);
        } else {
            self.append(axis);
        }
    }

    fn append(&mut self, axis: Axis) {
        self.axes[self.used] = axis;
        self.used += 1;
    }

    /// The axes that are left, the innermost first.
    pub(super) fn axes(&self) -> &[Axis] {
        &self.axes[..self.used]
    }

    /// The innermost axis, along which runs follow each other, and the others.
    pub(super) fn rows(&self) -> (Axis, &[Axis]) {
        match self.axes() {
            [] => (Axis { count: 1, dst: 0, src: 0 }, &[]),
            [row, outer @ ..] => (*row, outer),
        }
    }

    /// Takes out the axis along which the source is denser than along the innermost one, as in a transpose. Rows would
    /// use one item of each cache line, and return for the next item when the line has been evicted.
    pub(super) fn take_crossing(&mut self) -> Option<Axis> {
        let (row, outer) = self.axes().split_first()?;
        let (at, axis) = outer.iter().enumerate().min_by_key(|(_, axis)| axis.src.unsigned_abs())?;
        let axis = *axis;
        // If a whole row fits in the L1 cache, its lines are still there for the next row.
        let leaves =
            row.src.unsigned_abs() >= 64 && row.src.unsigned_abs().saturating_mul(row.count) > 32 * 1024;
        let crosses = leaves && axis.src.unsigned_abs() < row.src.unsigned_abs();
        if !crosses {
            return None;
        }
        self.axes.copy_within(at + 2..self.used, at + 1);
        self.used -= 1;
        Some(axis)
    }
}
