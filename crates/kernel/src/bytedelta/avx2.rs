//! Running sums: AVX2, 32 bytes at a time.

use super::lanes::lane_kernel;
use crate::cpu::Avx2;

lane_kernel!(avx2, "avx2");

/// The running sum of a stream.
pub(super) fn decode(token: Avx2, data: &mut [u8]) {
    let _ = token;
    // SAFETY: the token proves that the machine has these instructions.
    unsafe { decode_all(data) }
}
