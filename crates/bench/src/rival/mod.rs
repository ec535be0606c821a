//! C-Blosc2, loaded at run time: safe doors to the few functions that are compared.

mod library;

pub(crate) use library::{Array, Chunker, Plan, Rival, Setting};
