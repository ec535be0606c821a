//! Iterates over the rows of a box, and prefetches the lines of the rows that follow.
//!
//! The rows of a block lie far apart in a large result. Each begins with lines that are in no cache and not
//! prefetched, and a core waits for stores that miss: it copies at a third of the memory's speed. So lines are
//! prefetched one piece ahead.

use super::geometry::{Axis, MAX_AXES};

/// Bytes of a line of the caches.
const LINE: usize = 64;

/// The shortest runs that are prefetched; for shorter ones a prefetch costs as much as the copy.
const LEAST: usize = 16;

/// The most bytes of a run that are prefetched; the hardware prefetches the rest.
const MOST: usize = 8 * LINE;

/// The most runs of a piece.
const PIECE: usize = 32;

/// Runs of a row that are copied together, and the destination of the next piece.
#[derive(Clone, Copy)]
pub(super) struct Piece {
    /// Bytes of a run.
    pub(super) run: usize,
    pub(super) row: Axis,
    /// Destination of the next piece, about as many runs, `row.dst` apart.
    pub(super) next: Option<*const u8>,
}

impl Piece {
    /// Whether runs of this length and distance are worth prefetching.
    pub(super) fn is_worth_asking(run: usize, row: Axis) -> bool {
        run >= LEAST && row.dst >= LINE
    }

    /// Prefetches the lines of run `n` of the next piece. The number of lines is the same for each run, so that
    /// branches are predicted.
    #[inline(always)]
    pub(super) fn ask(self, n: usize) {
        if let Some(next) = self.next {
            let at = next.wrapping_add(n.wrapping_mul(self.row.dst));
            let run = self.run.min(MOST);
            for line in (0..run).step_by(LINE) {
                fetch(at.wrapping_add(line));
            }
            fetch(at.wrapping_add(run - 1));
        }
    }
}

/// Calls `visit` with the distance from the first item, on both sides, of every combination of the axes.
pub(super) fn each_row(axes: &[Axis], mut visit: impl FnMut(usize, isize)) {
    let mut index = [0; MAX_AXES];
    let (mut dst, mut src) = (0_usize, 0_isize);
    'rows: loop {
        visit(dst, src);
        for (axis, at) in axes.iter().zip(&mut index) {
            *at += 1;
            if *at < axis.count {
                dst += axis.dst;
                src += axis.src;
                continue 'rows;
            }
            dst -= (axis.count - 1) * axis.dst;
            src -= (*at - 1).cast_signed() * axis.src;
            *at = 0;
        }
        return;
    }
}

/// Like [`each_row`], with each row cut into pieces, for runs of `run` bytes that are written from `dst` on.
pub(super) fn each_piece(
    run: usize,
    row: Axis,
    outer: &[Axis],
    dst: *const u8,
    mut visit: impl FnMut(usize, isize, Piece),
) {
    let asks = Piece::is_worth_asking(run, row);
    // Pieces of nearly the same length, so that each prefetches the whole next one.
    let length = row.count.div_ceil(row.count.div_ceil(PIECE));
    // Visits one piece late, because a piece needs the address of the next.
    let mut last: Option<(usize, isize, Axis)> = None;
    let mut step = |next: Option<(usize, isize, Axis)>| {
        if let Some((to, from, row)) = last {
            let next = next.filter(|_| asks).map(|(to, ..)| dst.wrapping_add(to));
            visit(to, from, Piece { run, row, next });
        }
        last = next;
    };
    each_row(outer, |to, from| {
        for n in (0..row.count).step_by(length) {
            let piece = Axis { count: length.min(row.count - n), ..row };
            step(Some((to + n * row.dst, from + n.cast_signed() * row.src, piece)));
        }
    });
    step(None);
}

#[inline(always)]
fn fetch(line: *const u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch is only a hint and cannot fail for any address.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(line.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = line;
}
