//! How a large array is walked through with little memory: boxes of whole chunks that fit a budget.
//!
//! Pure arithmetic on shapes; what a box is read from or written to is not known here.

/// One axis of what is walked through, and where it may be cut without cutting a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Grid {
    /// Length of the axis.
    pub(crate) len: u64,
    /// Length of the first cell (shorter when the first chunk is entered midway).
    pub(crate) lead: u64,
    /// Length of the other cells.
    pub(crate) cell: u64,
}

impl Grid {
    /// An axis cut into cells of the same length.
    pub(crate) fn new(len: u64, cell: u64) -> Self {
        Grid { len, lead: cell.max(1), cell: cell.max(1) }
    }

    /// An axis whose first item lies `before` items behind a cut.
    pub(crate) fn from(len: u64, cell: u64, before: u64) -> Self {
        let cell = cell.max(1);
        Grid { len, lead: cell - before % cell, cell }
    }

    /// The length of the longest box of `cells` cells.
    fn span(&self, cells: u64) -> u64 {
        self.cell
            .max(self.lead)
            .saturating_add(self.cell.saturating_mul(cells.saturating_sub(1)))
            .min(self.len)
    }

    /// The number of cells.
    fn cells(&self) -> u64 {
        if self.len == 0 { 0 } else { 1 + self.len.saturating_sub(self.lead).div_ceil(self.cell) }
    }
}

/// A box: first and one past the last index along each axis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Region {
    pub(crate) start: Vec<u64>,
    pub(crate) stop: Vec<u64>,
}

impl Region {
    /// The length along each axis.
    pub(crate) fn shape(&self) -> Vec<u64> {
        self.start.iter().zip(&self.stop).map(|(a, b)| b.saturating_sub(*a)).collect()
    }

    /// The number of items.
    pub(crate) fn items(&self) -> u64 {
        self.shape().iter().product()
    }

    /// The same box with the axes in reverse order.
    pub(crate) fn reversed(&self) -> Region {
        let turn = |axes: &[u64]| axes.iter().rev().copied().collect();
        Region { start: turn(&self.start), stop: turn(&self.stop) }
    }
}

/// A walk through an array in boxes, in C order.
#[derive(Debug, Clone)]
pub(crate) struct Tiling {
    axes: Vec<Steps>,
}

/// The cuts along one axis: at `first`, `first + step`, … up to `len`.
#[derive(Debug, Clone, Copy)]
struct Steps {
    len: u64,
    first: u64,
    step: u64,
}

impl Steps {
    fn of_cells(grid: &Grid, cells: u64) -> Self {
        let step = grid.cell.saturating_mul(cells);
        Steps { len: grid.len, first: grid.lead.saturating_add(grid.cell.saturating_mul(cells - 1)), step }
    }

    fn of_items(grid: &Grid, items: u64) -> Self {
        Steps { len: grid.len, first: items, step: items }
    }

    fn count(&self) -> u64 {
        if self.len == 0 { 0 } else { 1 + self.len.saturating_sub(self.first).div_ceil(self.step.max(1)) }
    }

    fn range(&self, n: u64) -> (u64, u64) {
        let cut = |n: u64| match n {
            0 => 0,
            n => self.first.saturating_add(self.step.saturating_mul(n - 1)).min(self.len),
        };
        (cut(n), cut(n.saturating_add(1)))
    }

    fn longest(&self) -> u64 {
        self.first.max(self.step).min(self.len)
    }
}

impl Tiling {
    /// Boxes of whole cells with at most `budget` items (or one cell, when even that is more), grown along the last
    /// axis first: the longest runs in C order.
    pub(crate) fn of_cells(axes: &[Grid], budget: u64) -> Self {
        let mut cells = vec![1u64; axes.len()];
        for d in (0..axes.len()).rev() {
            let others: u64 = product(
                axes.iter().zip(&cells).enumerate().filter(|(n, _)| *n != d).map(|(_, (g, &c))| g.span(c)),
            );
            let (Some(grid), Some(count)) = (axes.get(d), cells.get_mut(d)) else { continue };
            let all = grid.cells().max(1);
            // The largest number of cells whose span fits.
            let room = budget / others.max(1);
            let fits = if room >= grid.len { all } else { 1 + room.saturating_sub(grid.span(1)) / grid.cell };
            *count = fits.clamp(1, all);
            if *count < all {
                break;
            }
        }
        Tiling { axes: axes.iter().zip(&cells).map(|(grid, &n)| Steps::of_cells(grid, n)).collect() }
    }

    /// Boxes that follow each other in C order without a gap, with at most `budget` items: whole cells of one axis
    /// where they fit, parts of cells where not, single items at the least.
    pub(crate) fn in_order(axes: &[Grid], budget: u64) -> Self {
        let mut steps: Vec<Steps> = axes.iter().map(|grid| Steps::of_items(grid, 1)).collect();
        let mut inner = 1u64;
        for (grid, step) in axes.iter().zip(&mut steps).rev() {
            let room = (budget / inner.max(1)).max(1);
            if grid.len <= room {
                *step = Steps::of_items(grid, grid.len.max(1));
                inner = inner.saturating_mul(grid.len);
                continue;
            }
            *step = if grid.span(1) <= room {
                Steps::of_cells(grid, 1 + (room - grid.span(1)) / grid.cell)
            } else {
                Steps::of_items(grid, room)
            };
            break;
        }
        Tiling { axes: steps }
    }

    /// Whether the boxes follow each other in C order without a gap.
    pub(crate) fn is_in_order(&self) -> bool {
        let mut whole = self.axes.iter().rev().skip_while(|axis| axis.count() <= 1);
        whole.next();
        whole.all(|axis| axis.longest() <= 1)
    }

    /// The boxes, in C order.
    pub(crate) fn boxes(&self) -> impl Iterator<Item = Region> + '_ {
        let empty = self.axes.iter().any(|axis| axis.len == 0);
        let mut at = (!empty).then(|| vec![0u64; self.axes.len()]);
        std::iter::from_fn(move || {
            let now = at.as_mut()?;
            let (start, stop) = self.axes.iter().zip(now.iter()).map(|(axis, &n)| axis.range(n)).unzip();
            let region = Region { start, stop };
            let more = now.iter_mut().zip(&self.axes).rev().any(|(n, axis)| {
                *n += 1;
                if *n >= axis.count() {
                    *n = 0;
                }
                *n != 0
            });
            if !more {
                at = None;
            }
            Some(region)
        })
    }
}

fn product(lengths: impl Iterator<Item = u64>) -> u64 {
    lengths.fold(1, u64::saturating_mul)
}

/// The runs of `region` that are contiguous in an array of `shape` (C order), in order: first item, number of items.
pub(crate) fn runs(shape: &[u64], region: &Region) -> impl Iterator<Item = (u64, u64)> {
    let lens = region.shape();
    // The innermost axes that are taken whole make one run together with the next axis outwards.
    let mut run = 1u64;
    let mut outer = shape.len();
    while outer > 0 {
        outer -= 1;
        let (len, all) = (lens.get(outer).copied().unwrap_or(0), shape.get(outer).copied().unwrap_or(0));
        run = run.saturating_mul(len);
        if len != all {
            break;
        }
    }
    let mut strides = vec![1u64; shape.len()];
    for d in (0..shape.len().saturating_sub(1)).rev() {
        let inner =
            strides.get(d + 1).copied().unwrap_or(1).saturating_mul(shape.get(d + 1).copied().unwrap_or(1));
        if let Some(stride) = strides.get_mut(d) {
            *stride = inner;
        }
    }
    let base: u64 =
        region.start.iter().zip(&strides).map(|(a, s)| a.saturating_mul(*s)).fold(0, u64::saturating_add);
    let mut at = (region.items() > 0).then(|| vec![0u64; outer]);
    std::iter::from_fn(move || {
        let now = at.as_mut()?;
        let offset = now.iter().zip(&strides).map(|(n, s)| n * s).fold(base, u64::saturating_add);
        let more = now.iter_mut().zip(&lens).rev().any(|(n, &len)| {
            *n += 1;
            if *n >= len {
                *n = 0;
            }
            *n != 0
        });
        if !more {
            at = None;
        }
        Some((offset, run))
    })
}

/// Turns items that are stored with their axes in reverse order (`stored` is their shape as stored) into C order: into an
/// array of shape `shape`, from index `at` on.
pub(crate) fn transpose(
    stored: &[u64],
    itemsize: usize,
    from: &[u8],
    to: &mut [u8],
    shape: &[u64],
    at: &[u64],
) {
    let native = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
    let lens: Vec<usize> = stored.iter().map(|&n| native(n)).collect();
    // The distance in `to` between neighbours along each stored axis: the strides of C order, backwards.
    let mut strides = Vec::with_capacity(lens.len());
    let (mut stride, mut base) = (1usize, 0usize);
    for (&len, &index) in shape.iter().zip(at).rev() {
        strides.push(stride);
        base += native(index) * stride;
        stride *= native(len);
    }
    let (Some(&rows), Some(&cols)) = (lens.first(), lens.last().filter(|_| lens.len() > 1)) else {
        let start = base * itemsize;
        if let Some(place) = to.get_mut(start..start + from.len()) {
            place.copy_from_slice(from);
        }
        return;
    };
    // One plane of the first and the last stored axis for each index of the axes between.
    let middle = lens.get(1..lens.len() - 1).unwrap_or_default();
    let steps = strides.get(1..lens.len() - 1).unwrap_or_default();
    let far = strides.last().copied().unwrap_or(1);
    let planes: usize = middle.iter().product();
    let mut counter = vec![0usize; middle.len()];
    for m in 0..planes {
        let shift: usize = counter.iter().zip(steps).map(|(n, step)| n * step).sum();
        transpose_plane(from, to, itemsize, [rows, cols], [m * cols, planes * cols], [base + shift, far]);
        let _ = counter.iter_mut().zip(middle).rev().any(|(n, &len)| {
            *n += 1;
            if *n >= len {
                *n = 0;
            }
            *n != 0
        });
    }
}

/// Moves item `(i, j)` from `from[0] + i * from[1] + j` to `to[0] + j * to[1] + i`, in tiles that stay in the cache.
fn transpose_plane(
    src: &[u8],
    dst: &mut [u8],
    itemsize: usize,
    [rows, cols]: [usize; 2],
    from: [usize; 2],
    to: [usize; 2],
) {
    const TILE: usize = 32;
    for i0 in (0..rows).step_by(TILE) {
        for j0 in (0..cols).step_by(TILE) {
            for j in j0..cols.min(j0 + TILE) {
                for i in i0..rows.min(i0 + TILE) {
                    let a = (from[0] + i * from[1] + j) * itemsize;
                    let b = (to[0] + j * to[1] + i) * itemsize;
                    if let (Some(item), Some(place)) =
                        (src.get(a..a + itemsize), dst.get_mut(b..b + itemsize))
                    {
                        place.copy_from_slice(item);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
