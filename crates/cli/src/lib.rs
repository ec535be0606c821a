//! What the `b2nd` command is made of; the command itself only starts it.
#![forbid(unsafe_code)]

pub mod demo;
pub mod plot;
pub mod text;
