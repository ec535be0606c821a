//! The instruction sets that the kernels can use, found once at run time.
//!
//! A [`Level`] is only a request; a token (`Avx2` and its like) is a proof that the machine can
//! do it. Kernels take tokens, and only this file makes them, so no level can lead to instructions that are not there.

use std::sync::atomic::{AtomicU8, Ordering};

/// An instruction set level.
///
/// Handing a kernel a level that the machine cannot run is harmless: the kernel uses [`Level::Scalar`] then.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Level {
    /// Plain Rust.
    Scalar,
    /// x86-64 SSE2.
    Sse2,
    /// x86-64 AVX2 (with BMI1, BMI2 and LZCNT).
    Avx2,
    /// x86-64 AVX-512 (F, BW, VL, VBMI) with GFNI.
    Avx512,
    /// AArch64 NEON.
    Neon,
}

/// All levels, slowest first.
const ALL: [Level; 5] = [Level::Scalar, Level::Sse2, Level::Avx2, Level::Avx512, Level::Neon];

/// The levels that the machine can run, one bit each; 0 until detected (`Scalar` is always there).
static FOUND: AtomicU8 = AtomicU8::new(0);

impl Level {
    /// The best level of this machine, found at the first call.
    pub fn detect() -> Level {
        ALL.into_iter().rev().find(|level| level.is_available()).unwrap_or(Level::Scalar)
    }

    /// Every level that this machine can run, `Scalar` first: for tests and benchmarks.
    pub fn available() -> Vec<Level> {
        ALL.into_iter().filter(|level| level.is_available()).collect()
    }

    /// Whether this machine can run this level.
    pub fn is_available(self) -> bool {
        found() & self.bit() != 0
    }

    /// The proof that belongs to this level, or `Scalar` where the machine cannot run it.
    pub(crate) fn tier(self) -> Tier {
        if !self.is_available() {
            return Tier::Scalar;
        }
        match self {
            Level::Scalar => Tier::Scalar,
            #[cfg(target_arch = "x86_64")]
            Level::Sse2 => Tier::Sse2(Sse2(())),
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => Tier::Avx2(Avx2(())),
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => Tier::Avx512(Avx512(())),
            #[cfg(target_arch = "aarch64")]
            Level::Neon => Tier::Neon(Neon(())),
            // The levels of other machines: never available here.
            _ => Tier::Scalar,
        }
    }

    const fn bit(self) -> u8 {
        match self {
            Level::Scalar => 1,
            Level::Sse2 => 2,
            Level::Avx2 => 4,
            Level::Avx512 => 8,
            Level::Neon => 16,
        }
    }
}

/// A level with its proof.
#[derive(Clone, Copy)]
pub(crate) enum Tier {
    Scalar,
    #[cfg(target_arch = "x86_64")]
    Sse2(Sse2),
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2),
    #[cfg(target_arch = "x86_64")]
    Avx512(Avx512),
    #[cfg(target_arch = "aarch64")]
    Neon(Neon),
}

/// Proof that the machine has SSE2.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
pub(crate) struct Sse2(());

/// Proof that the machine has AVX2, BMI1, BMI2 and LZCNT.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
pub(crate) struct Avx2(());

/// Proof that the machine has AVX-512 F, BW, VL and VBMI, and GFNI (and AVX2, which they imply).
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
pub(crate) struct Avx512(());

/// Proof that the machine has NEON.
#[cfg(target_arch = "aarch64")]
#[derive(Clone, Copy)]
pub(crate) struct Neon(());

/// A wider instruction set includes the narrower one, which handles data too short for long vectors.
#[cfg(target_arch = "x86_64")]
impl From<Avx2> for Sse2 {
    fn from(_: Avx2) -> Self {
        Sse2(())
    }
}

#[cfg(target_arch = "x86_64")]
impl From<Avx512> for Avx2 {
    fn from(_: Avx512) -> Self {
        Avx2(())
    }
}

fn found() -> u8 {
    match FOUND.load(Ordering::Relaxed) {
        0 => {
            let bits = probe();
            FOUND.store(bits, Ordering::Relaxed);
            bits
        }
        bits => bits,
    }
}

#[cfg(target_arch = "x86_64")]
fn probe() -> u8 {
    let mut bits = Level::Scalar.bit();
    let sse2 = is_x86_feature_detected!("sse2");
    // Machines with AVX2 have BMI and LZCNT in practice, but no specification says so.
    let avx2 = sse2
        && is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("lzcnt");
    let avx512 = avx2
        && is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("avx512vbmi")
        && is_x86_feature_detected!("gfni");
    for (there, level) in [(sse2, Level::Sse2), (avx2, Level::Avx2), (avx512, Level::Avx512)] {
        if there {
            bits |= level.bit();
        }
    }
    bits
}

#[cfg(target_arch = "aarch64")]
fn probe() -> u8 {
    let neon = std::arch::is_aarch64_feature_detected!("neon");
    Level::Scalar.bit() | if neon { Level::Neon.bit() } else { 0 }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn probe() -> u8 {
    Level::Scalar.bit()
}
