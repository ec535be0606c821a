//! What the `b2nd` command is made of; the command itself only starts it.

pub mod demo;
pub mod plot;
