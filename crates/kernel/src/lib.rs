//! Byte kernels: slices in, slices out. The only crate of the library that holds `unsafe`.
//!
//! A [`cpu::Level`] is chosen once and handed to each kernel; every SIMD path equals the scalar oracle.

mod arch;
pub mod bitshuffle;
pub mod boxes;
pub mod cpu;
pub mod delta;
pub mod runs;
pub mod shuffle;
