//! Running sums: AVX-512, 64 bytes at a time.

use super::lanes::lane_kernel;
use crate::cpu::Avx512;

lane_kernel!(avx512, "avx512f,avx512bw,avx512vl,avx512vbmi,gfni");

/// The running sum of a stream.
pub(super) fn decode(token: Avx512, data: &mut [u8]) {
    let _ = token;
    // SAFETY: the token proves that the machine has these instructions.
    unsafe { decode_all(data) }
}
