//! Byte kernels: slices in, slices out; and bytes that are lent or mapped. The only crate of the library that holds `unsafe`.
//!
//! A [`cpu::Level`] is chosen once and passed to each kernel. Every SIMD path gives the results of the scalar one.

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod arch;
pub mod bitshuffle;
#[expect(unsafe_code, reason = "words read and written where the room for many was checked")]
pub mod blosclz;
pub mod boxes;
pub mod bytedelta;
pub mod cpu;
pub mod delta;
#[expect(unsafe_code, reason = "a borrow that is checked when it ends, not by its lifetime")]
pub mod lend;
pub mod lz4;
#[cfg(feature = "mmap")]
#[expect(unsafe_code, reason = "a mapped file is memory that others can change")]
pub mod map;
mod matches;
pub mod noise;
pub mod runs;
#[expect(unsafe_code, reason = "a borrow that other threads use until it is closed")]
pub mod share;
pub mod shuffle;
mod sync;
#[expect(unsafe_code, reason = "loads and stores whose callers have checked the room")]
mod wide;
pub mod zstd;
