//! The two rules of bit shuffle: which items take part. The bits themselves move in the kernel.
//!
//! Today's rule shuffles the largest multiple of eight items and copies the rest. Blosc1 (chunks of version 2 and before)
//! leaves a block as it is when its number of items is no multiple of eight.

/// Whether Blosc1 leaves a block of `len` bytes as it is.
pub(super) fn blosc1_leaves(width: usize, len: usize) -> bool {
    !(len / width).is_multiple_of(8)
}
