//! Running sums: NEON, 16 bytes at a time.

use super::lanes::lane_kernel;
use crate::cpu::Neon;

lane_kernel!(neon, "neon");

/// The running sum of a stream.
pub(super) fn decode(token: Neon, data: &mut [u8]) {
    let _ = token;
    // SAFETY: the token proves that the machine has these instructions.
    unsafe { decode_all(data) }
}
