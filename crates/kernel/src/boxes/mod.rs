//! Copies of N-dimensional boxes, and one output shared by many threads in disjoint boxes.
//!
//! Everything is checked in `geometry` before the first byte moves; `walk` then moves bytes and checks nothing.
//! Up to [`MAX_AXES`] axes, without an allocation per box. Knows nothing of chunks and blocks.

mod geometry;
#[expect(unsafe_code, reason = "threads write disjoint cells of one output")]
mod grid;
#[expect(unsafe_code, reason = "copies along lists whose range was checked once, up front")]
mod listed;
#[expect(unsafe_code, reason = "a grid and the output that it points into, in one value")]
mod owned;
#[expect(unsafe_code, reason = "hints for the caches")]
mod rows;
mod swap;
#[expect(unsafe_code, reason = "strided copies whose range was checked once, up front")]
mod walk;

pub use geometry::{Along, Listed, MAX_AXES, Source};
pub use grid::{BoxGrid, BoxMut};
pub use listed::copy_listed;
pub use owned::OwnedGrid;
pub use swap::swap_bytes;
pub use walk::copy_box;
