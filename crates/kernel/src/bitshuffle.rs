//! Bit shuffle (whole groups of eight items; the rest is copied).
use crate::cpu::Level;

/// Gathers bit `b` of byte `j` of every item; see `docs/FORMAT.md`.
///
/// # Panics
/// When the two lengths differ or `width` is 0.
pub fn shuffle(level: Level, width: usize, src: &[u8], dst: &mut [u8]) {
    let _ = (level, width, src, dst);
    todo!()
}
/// The inverse of [`shuffle`].
///
/// # Panics
/// When the two lengths differ or `width` is 0.
pub fn unshuffle(level: Level, width: usize, src: &[u8], dst: &mut [u8]) {
    let _ = (level, width, src, dst);
    todo!()
}
