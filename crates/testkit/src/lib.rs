//! Naive oracles and generators for the tests of b2nd.

pub mod nd;
pub mod rng;
pub mod slicing;
