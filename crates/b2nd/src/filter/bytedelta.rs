//! Byte differences: a block as `width` streams of bytes, each byte less the one before it.
//!
//! Meant to follow a shuffle, which puts the bytes of one place in the items side by side. What is left over behind the
//! streams is copied.

use b2nd_kernel::bytedelta;
use b2nd_kernel::cpu::Level;

/// Where the streams of the first version of the filter (id 34) begin anew: behind the last whole vector of this length.
const OLD_VECTOR: usize = 16;

/// The difference of every byte of a stream to the one before it.
pub(super) fn encode(level: Level, width: usize, src: &[u8], dst: &mut [u8]) {
    let stream = stream_len(width, src.len());
    dst.copy_from_slice(src);
    if stream > 0 {
        for (src, dst) in src.chunks_exact(stream).zip(dst.chunks_exact_mut(stream)).take(width) {
            bytedelta::encode(level, src, dst);
        }
    }
}

/// The inverse of [`encode`], in place. `old`: by the rules of id 34.
pub(super) fn decode(level: Level, width: usize, old: bool, block: &mut [u8]) {
    let stream = stream_len(width, block.len());
    if stream == 0 {
        return;
    }
    for stream in block.chunks_exact_mut(stream).take(width) {
        let vectors = if old { stream.len() / OLD_VECTOR * OLD_VECTOR } else { stream.len() };
        let (vectors, rest) = stream.split_at_mut(vectors);
        bytedelta::decode(level, vectors);
        bytedelta::decode(level, rest);
    }
}

/// The length of one stream; 0 where there is none.
fn stream_len(width: usize, len: usize) -> usize {
    len.checked_div(width).unwrap_or(0)
}
