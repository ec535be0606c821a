//! What the `demo` verb shows the format with.

pub mod field;
