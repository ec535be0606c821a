//! Decoding of LZ4 blocks, made for what shuffled numbers become: long runs, tiny offsets, streams of a few KiB.
//!
//! It accepts all that the reference decoder (`LZ4_decompress_safe`) accepts, but for an offset of 0, which the format forbids and
//! which gives zeros there. The rules for the end of a block (five literals, no match that begins in the last twelve bytes) bind
//! writers: the reference rejects most blocks that break them, this decoder none.

#[expect(unsafe_code, reason = "reads and writes that were checked together, sequence by sequence")]
mod decode;

use crate::cpu::Level;
#[cfg(target_arch = "x86_64")]
use crate::cpu::Tier;

/// Why a block cannot be decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Defect {
    /// Where in the block the sequence begins that makes no sense.
    pub offset: usize,
    /// What is wrong with it.
    pub reason: &'static str,
}

/// Decodes the block `src` into `dst` and returns how many bytes it stands for: fewer than `dst` has where the block ends early.
///
/// Matches may reach into `dictionary`, as if it came right before the result. What `dst` holds after an error, or behind the
/// result, is anything.
///
/// ```
/// use b2nd_kernel::{cpu::Level, lz4};
/// // Two literals, a match of six bytes two back, five literals.
/// let block = [0x22, b'a', b'b', 2, 0, 0x50, b'v', b'w', b'x', b'y', b'z'];
/// let mut text = [0; 13];
/// assert_eq!(lz4::decode(Level::detect(), &[], &block, &mut text), Ok(13));
/// assert_eq!(&text, b"ababababvwxyz");
/// assert!(lz4::decode(Level::detect(), &[], &block[..9], &mut text).is_err());
/// ```
///
/// # Errors
/// A [`Defect`]: the block is cut off, refers to what lies before everything there is, or stands for more than `dst` has room for.
pub fn decode(level: Level, dictionary: &[u8], src: &[u8], dst: &mut [u8]) -> Result<usize, Defect> {
    choose::<false>(level, dictionary, src, dst)
}

/// As [`decode`], but stops where `dst` is full. What follows in the block is not looked at.
///
/// ```
/// use b2nd_kernel::{cpu::Level, lz4};
/// let block = [0x22, b'a', b'b', 2, 0, 0x50, b'v', b'w', b'x', b'y', b'z'];
/// let mut start = [0; 5];
/// assert_eq!(lz4::decode_start(Level::detect(), &[], &block, &mut start), Ok(5));
/// assert_eq!(&start, b"ababa");
/// ```
///
/// # Errors
/// As [`decode`], but for a block that stands for more than `dst` has room for.
pub fn decode_start(level: Level, dictionary: &[u8], src: &[u8], dst: &mut [u8]) -> Result<usize, Defect> {
    choose::<true>(level, dictionary, src, dst)
}

fn choose<const START: bool>(
    level: Level,
    dictionary: &[u8],
    src: &[u8],
    dst: &mut [u8],
) -> Result<usize, Defect> {
    match level.tier() {
        #[cfg(target_arch = "x86_64")]
        Tier::Avx512(token) => decode::with_avx2::<START>(token.into(), dictionary, src, dst),
        #[cfg(target_arch = "x86_64")]
        Tier::Avx2(token) => decode::with_avx2::<START>(token, dictionary, src, dst),
        _ => decode::plainly::<START>(dictionary, src, dst),
    }
}
