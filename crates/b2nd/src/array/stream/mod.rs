//! The streaming writer: slabs come along one axis, other threads compress them, and memory stays as it was.

mod crew;
mod row;
mod slabs;
mod writer;

pub use slabs::Slabs;
pub use writer::StreamWriter;
