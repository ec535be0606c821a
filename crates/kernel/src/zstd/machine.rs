//! The decoder compiled for newer machines.

use super::{Decoder, Result, frame};
use crate::cpu::{Avx2, Avx512};

/// Decodes with AVX2 and the instructions for bits that come with it.
pub(super) fn with_avx2(decoder: &mut Decoder, token: Avx2, src: &[u8], dst: &mut [u8]) -> Result<()> {
    // SAFETY: the token proves that the machine has these instructions.
    unsafe { by_avx2(decoder, token, src, dst) }
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt")]
fn by_avx2(decoder: &mut Decoder, token: Avx2, src: &[u8], dst: &mut [u8]) -> Result<()> {
    frame::decode(decoder, token, src, dst)
}

/// Decodes with AVX-512, too.
pub(super) fn with_avx512(decoder: &mut Decoder, token: Avx512, src: &[u8], dst: &mut [u8]) -> Result<()> {
    // SAFETY: the token proves that the machine has these instructions.
    unsafe { by_avx512(decoder, token, src, dst) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni,bmi1,bmi2,lzcnt")]
fn by_avx512(decoder: &mut Decoder, token: Avx512, src: &[u8], dst: &mut [u8]) -> Result<()> {
    frame::decode(decoder, token, src, dst)
}
