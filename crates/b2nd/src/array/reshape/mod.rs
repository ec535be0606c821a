//! Arrays that change their shape: axes that grow, shrink, get items in the middle or lose them, and arrays that are
//! joined. Whatever keeps its place inside a chunk stays compressed as it is.

mod join;
mod part;
mod processed;
mod recipe;
mod refresh;
mod reorder;
mod resize;
mod stage;
mod typed;

pub use resize::Resize;

#[cfg(test)]
mod tests;
