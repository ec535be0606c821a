//! Naive oracles, generators and a disk that loses power, for the tests of b2nd.

pub mod disk;
pub mod nd;
pub mod refuse;
pub mod rng;
pub mod slicing;
