//! Running sums: SSE2, 16 bytes at a time.

use super::lanes::lane_kernel;
use crate::cpu::Sse2;

lane_kernel!(sse2, "sse2");

/// The running sum of a stream.
pub(super) fn decode(token: Sse2, data: &mut [u8]) {
    let _ = token;
    // SAFETY: the token proves that the machine has these instructions.
    unsafe { decode_all(data) }
}
