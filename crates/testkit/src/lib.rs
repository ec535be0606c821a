//! Naive oracles, generators, a disk that loses power and an HTTP server, for the tests of b2nd.

pub mod disk;
pub mod http;
pub mod nd;
pub mod refuse;
pub mod rng;
pub mod slicing;
