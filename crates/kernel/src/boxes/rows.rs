//! The rows of a box one after another, and questions for the lines of those that follow.
//!
//! The rows of a block lie far apart in a large result. Each begins with lines that no cache has and no hardware foresees, and a
//! core waits for every few stores that miss: it copies at a third of what memory allows. So lines are asked for one piece ahead.

use super::geometry::{Axis, MAX_AXES};

/// Bytes of a line of the caches.
const LINE: usize = 64;

/// The shortest runs that are asked for; for shorter ones it would cost as much as the copy.
const LEAST: usize = 16;

/// The most bytes of a run that are asked for; the hardware foresees the rest.
const MOST: usize = 8 * LINE;

/// The most runs that are asked for while as many are copied.
const PIECE: usize = 32;

/// Runs that follow each other, and where those that come after them will be written.
#[derive(Clone, Copy)]
pub(super) struct Piece {
    /// Bytes of a run.
    pub(super) run: usize,
    pub(super) row: Axis,
    /// Where about as many runs are written next, `row.dst` apart.
    pub(super) next: Option<*const u8>,
}

impl Piece {
    /// Whether runs of so many bytes, and so far apart, are worth a question each.
    pub(super) fn is_worth_asking(run: usize, row: Axis) -> bool {
        run >= LEAST && row.dst >= LINE
    }

    /// Asks for the lines of run `n` of the next piece: as often for each run, or the loop would be foreseen badly.
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

/// As [`each_row`], piece by piece of each row, for runs of `run` bytes that are written from `dst` on.
pub(super) fn each_piece(
    run: usize,
    row: Axis,
    outer: &[Axis],
    dst: *const u8,
    mut visit: impl FnMut(usize, isize, Piece),
) {
    let asks = Piece::is_worth_asking(run, row);
    // As long as each other, so that each asks for as much as there is.
    let length = row.count.div_ceil(row.count.div_ceil(PIECE));
    // One piece behind, so that the next is known.
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
    // SAFETY: a hint, which no address makes fail.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(line.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = line;
}
