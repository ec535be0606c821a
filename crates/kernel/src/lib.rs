//! Byte kernels: slices in, slices out. The only crate of the library that holds `unsafe`.
//!
//! A [`cpu::Level`] is chosen once and handed to each kernel; every SIMD path equals the scalar oracle.

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod arch;
pub mod bitshuffle;
pub mod boxes;
pub mod bytedelta;
pub mod cpu;
pub mod delta;
pub mod runs;
pub mod shuffle;
