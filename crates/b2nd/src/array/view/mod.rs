//! Views: the items of an array under other axes, without a copy. A view is a rearranged grid; blocks are found, decoded
//! and scattered through it as through the array's own.

mod arrangement;
mod copy;
mod shared;
#[cfg(test)]
mod tests;
mod writing;

pub(crate) use arrangement::Arrangement;
pub use shared::View;
pub use writing::ViewMut;
