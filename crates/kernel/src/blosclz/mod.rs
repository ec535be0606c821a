//! BloscLZ: a byte-oriented LZ77 with runs of up to 32 literals and matches up to 72 KiB back.
//!
//! The stream is a list of commands, each led by a control byte `c` (the first one counts as `c & 31`):
//!
//! - `c < 32`: `c + 1` literal bytes follow;
//! - else a match of `(c >> 5) + 2` bytes; where `c >> 5` is 7, bytes follow that are added to the length, up to
//!   and including the first that is not 255. Then comes a byte `d`, and the match starts
//!   `((c & 31) << 8) + d + 1` bytes back. When `c & 31` is 31 and `d` is 255, two more bytes follow, big-endian,
//!   and the match starts that number + 8192 bytes back.
//!
//! The last command is a run of literals: readers look for another control byte after each match.
//!
//! Both directions check the room for a whole command once, and then move bytes by the word; near the ends of the
//! buffers checked code takes over. The caller decides what a level means.

mod decode;
mod encode;
mod probe;

pub use decode::{Defect, decode, decode_start};
pub use encode::{Effort, Encoder};
pub use probe::Probe;

/// The longest distance of the one-byte form.
pub const MAX_NEAR: usize = 8191;
/// The longest distance that the encoder of C-Blosc2 uses; the field could hold a little more.
pub const MAX_FAR: usize = 73_724;
/// What a far match adds to its 16-bit field.
const FAR_BASE: usize = 8192;
/// The longest run of literals of one control byte.
const MAX_RUN: usize = 32;
/// The length of a match from which its length goes on in further bytes.
const LONG_MATCH: usize = 9;
