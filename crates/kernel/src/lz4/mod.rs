//! Decodes LZ4 blocks; tuned for shuffled numbers: long runs, tiny offsets, streams of a few KiB.
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
    /// Offset in the block of the invalid sequence.
    pub offset: usize,
    /// What is wrong with the sequence.
    pub reason: &'static str,
}

/// Decodes the block `src` into `dst` and returns the number of bytes decoded, which may be less than `dst` has.
///
/// Matches may refer to `dictionary`, as if it came right before the result. Contents of `dst` after an error, and past the
/// result, are unspecified.
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
/// A [`Defect`]: the block is truncated, refers to bytes before the dictionary, or does not fit into `dst`.
pub fn decode(level: Level, dictionary: &[u8], src: &[u8], dst: &mut [u8]) -> Result<usize, Defect> {
    choose::<false>(level, dictionary, src, dst)
}

/// Like [`decode`], but stops when `dst` is full. The rest of the block is ignored.
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
/// As [`decode`], except that a block may be longer than `dst`.
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
