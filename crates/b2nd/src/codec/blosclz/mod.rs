//! BloscLZ: what its levels mean. The streams are the kernel's, which also describes them.

mod level;
#[cfg(test)]
mod tests;

pub(super) use b2nd_kernel::blosclz::{decode, decode_start};
pub(super) use level::BloscLzEncoder;
