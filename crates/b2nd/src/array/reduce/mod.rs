//! Reductions: sums, means, extremes and the like over any axes, streamed over blocks.
//!
//! A reduction is cut into tasks by the partition alone (`tasks`), each of which walks its blocks in a fixed order, and the
//! states of tasks are joined in a fixed order: so the bits of a result do not depend on threads or their timing. Floats are
//! summed in twice the precision of `f64` (`twofold`). Special chunks are answered by arithmetic.

mod arg;
mod choose;
mod count;
mod extremes;
mod geometry;
mod items;
mod kernel;
mod moments;
mod over;
mod product;
mod run;
mod sum;
mod tasks;
mod twofold;

pub use items::Reduced;
pub use over::Over;

#[cfg(test)]
mod tests;
