//! Copies of N-dimensional boxes, and one output shared by many threads in disjoint boxes.
//!
//! Everything is checked in `geometry` before the first byte moves; `walk` then moves bytes and checks nothing.
//! Up to [`MAX_AXES`] axes, without an allocation per box. Knows nothing of chunks and blocks.

mod geometry;
#[expect(unsafe_code, reason = "threads write disjoint cells of one output")]
mod grid;
mod swap;
#[expect(unsafe_code, reason = "strided copies whose range was checked once, up front")]
mod walk;

pub use geometry::{MAX_AXES, Source};
pub use grid::{BoxGrid, BoxMut};
pub use swap::swap_bytes;
pub use walk::copy_box;
