//! Zstandard frames, decoded and encoded by what is made for shuffled numbers: frames of a few KiB with one short block.
//!
//! The reference decoder is made for long streams. Of a frame of some KiB half of the time goes into the tables of codes, into
//! calls for short copies and into the careful end of the output; here tables are built in one pass, copies are of fixed sizes,
//! and nothing is set up or copied for each frame. What is rare in such frames is refused, for a complete decoder to take over.

mod bits;
mod codes;
mod counts;
mod encode;
mod frame;
mod fse;
#[expect(unsafe_code, reason = "reads of bits and writes of bytes that were checked for many at once")]
mod huffman;
#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "calls of functions for instructions that a token proves")]
mod isa;
mod literals;
#[expect(unsafe_code, reason = "reads and writes behind which there is room")]
mod moves;
mod sections;
#[expect(unsafe_code, reason = "reads and writes that were checked together, sequence by sequence")]
mod sequences;
mod weights;

pub use encode::Encoder;

use crate::cpu::Level;
#[cfg(target_arch = "x86_64")]
use crate::cpu::Tier;
use crate::matches::Plain;

/// Why a frame is not decoded here: it is damaged, or asks for what only a complete decoder has. Which of the two, that one says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refusal {
    /// What is wrong with the frame, or what it asks for.
    pub reason: &'static str,
}

impl Refusal {
    const fn new(reason: &'static str) -> Self {
        Refusal { reason }
    }
}

type Result<T> = std::result::Result<T, Refusal>;

/// A decoder of Zstandard frames: its tables (15 KiB) and its room for literals (up to 128 KiB), to be used again and again.
///
/// ```
/// use b2nd_kernel::{cpu::Level, zstd::Decoder};
/// // One segment of twelve bytes; a last block that repeats one byte as often.
/// let frame = [0x28, 0xb5, 0x2f, 0xfd, 0x20, 12, 0x63, 0, 0, b'z'];
/// let mut text = [0; 12];
/// Decoder::new().decode(Level::detect(), &frame, &mut text)?;
/// assert_eq!(&text, b"zzzzzzzzzzzz");
/// # Ok::<(), b2nd_kernel::zstd::Refusal>(())
/// ```
#[derive(Debug)]
pub struct Decoder {
    huffman: huffman::HuffmanTable,
    sequences: fse::FseTables,
    literals: Vec<u8>,
}

impl Default for Decoder {
    fn default() -> Self {
        Self::new()
    }
}

impl Decoder {
    /// A decoder that has decoded nothing yet.
    pub fn new() -> Self {
        Decoder { huffman: huffman::HuffmanTable::new(), sequences: fse::FseTables::new(), literals: vec![] }
    }

    /// Decodes the frame `src`, which has to say that it stands for as many bytes as `dst` has.
    ///
    /// What `dst` holds after a refusal is anything.
    ///
    /// # Errors
    /// A [`Refusal`]: the frame is damaged, stands for more or fewer bytes, or is not the only one; or it has a dictionary, a
    /// checksum, no length of the content, offsets of 256 MiB and more, or is not Zstandard at all.
    pub fn decode(&mut self, level: Level, src: &[u8], dst: &mut [u8]) -> Result<()> {
        self.choose::<false>(level, src, dst.len(), dst)
    }

    /// As [`decode`](Self::decode), but stops where `dst` is full; `src` has to say that it stands for `whole` bytes. What follows in
    /// the frame is not looked at.
    ///
    /// ```
    /// # use b2nd_kernel::{cpu::Level, zstd::Decoder};
    /// let frame = [0x28, 0xb5, 0x2f, 0xfd, 0x20, 12, 0x63, 0, 0, b'z'];
    /// let mut start = [0; 3];
    /// Decoder::new().decode_start(Level::detect(), &frame, 12, &mut start)?;
    /// assert_eq!(&start, b"zzz");
    /// # Ok::<(), b2nd_kernel::zstd::Refusal>(())
    /// ```
    ///
    /// # Errors
    /// As [`decode`](Self::decode).
    pub fn decode_start(&mut self, level: Level, src: &[u8], whole: usize, dst: &mut [u8]) -> Result<()> {
        self.choose::<true>(level, src, whole, dst)
    }

    fn choose<const START: bool>(
        &mut self,
        level: Level,
        src: &[u8],
        whole: usize,
        dst: &mut [u8],
    ) -> Result<()> {
        match level.tier() {
            #[cfg(target_arch = "x86_64")]
            Tier::Avx512(token) => isa::with_avx512::<START>(self, token, src, whole, dst),
            #[cfg(target_arch = "x86_64")]
            Tier::Avx2(token) => isa::with_avx2::<START>(self, token, src, whole, dst),
            _ => frame::decode::<_, START>(self, Plain, src, whole, dst),
        }
    }
}
