//! The decoder and the encoder, compiled for newer instruction sets.

use super::{Decoder, Encoder, Result, frame};
use crate::cpu::{Avx2, Avx512};

/// Decodes with AVX2 and the instructions for bits that come with it.
pub(super) fn with_avx2<const START: bool>(
    decoder: &mut Decoder,
    token: Avx2,
    src: &[u8],
    whole: usize,
    dst: &mut [u8],
) -> Result<()> {
    // SAFETY: the token proves that the machine has these instructions.
    unsafe { by_avx2::<START>(decoder, token, src, whole, dst) }
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt")]
fn by_avx2<const START: bool>(
    decoder: &mut Decoder,
    token: Avx2,
    src: &[u8],
    whole: usize,
    dst: &mut [u8],
) -> Result<()> {
    frame::decode::<_, START>(decoder, token, src, whole, dst)
}

/// Decodes with AVX-512, too.
pub(super) fn with_avx512<const START: bool>(
    decoder: &mut Decoder,
    token: Avx512,
    src: &[u8],
    whole: usize,
    dst: &mut [u8],
) -> Result<()> {
    // SAFETY: the token proves that the machine has these instructions.
    unsafe { by_avx512::<START>(decoder, token, src, whole, dst) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni,bmi1,bmi2,lzcnt")]
fn by_avx512<const START: bool>(
    decoder: &mut Decoder,
    token: Avx512,
    src: &[u8],
    whole: usize,
    dst: &mut [u8],
) -> Result<()> {
    frame::decode::<_, START>(decoder, token, src, whole, dst)
}

/// Encodes with AVX2 and the instructions for bits that come with it.
pub(super) fn encode_with_avx2(encoder: &mut Encoder, _: Avx2, src: &[u8], dst: &mut [u8]) -> Option<usize> {
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt")]
    fn encode(encoder: &mut Encoder, src: &[u8], dst: &mut [u8]) -> Option<usize> {
        encoder.frame(src, dst)
    }
    // SAFETY: the token proves that the machine has these instructions.
    unsafe { encode(encoder, src, dst) }
}
