//! What was measured, for people and for programs.

mod cell;
mod page;
mod targets;
#[cfg(test)]
mod tests;
mod verdict;

pub(crate) use cell::{Cell, Label, Unit};
pub(crate) use page::{Run, json, markdown};
