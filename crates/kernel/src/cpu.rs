//! The instruction sets that the kernels can use, found once at run time.

/// An instruction set level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Level {
    /// Plain Rust.
    Scalar,
    /// x86-64 SSE2.
    Sse2,
    /// x86-64 AVX2.
    Avx2,
    /// x86-64 AVX-512 (F, BW, VL, VBMI).
    Avx512,
    /// AArch64 NEON.
    Neon,
}

impl Level {
    /// The best level of this machine, found at the first call.
    pub fn detect() -> Level {
        todo!()
    }
    /// Every level that this machine can run, `Scalar` first: for tests and benchmarks.
    pub fn available() -> Vec<Level> {
        todo!()
    }
}
