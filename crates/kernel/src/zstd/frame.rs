//! Frames and their blocks.

use super::moves::Moves;
use super::sequences::Coded;
use super::{Decoder, Refusal, Result, literals, sections};

/// The most bytes that a block stands for.
pub(super) const MOST: usize = 128 << 10;

const CUT_OFF: Refusal = Refusal::new("the frame is cut off");
const WRONG_LENGTH: Refusal = Refusal::new("the frame decodes to more or fewer bytes than expected");

/// Decodes the frame, which stands for `whole` bytes, into all of `dst`; with `START` only as much as there is room for.
#[inline(always)]
pub(super) fn decode<M: Moves, const START: bool>(
    decoder: &mut Decoder,
    isa: M,
    frame: &[u8],
    whole: usize,
    dst: &mut [u8],
) -> Result<()> {
    let (mut at, len) = header(frame)?;
    if len != whole as u64 || dst.len() > whole {
        return Err(WRONG_LENGTH);
    }
    decoder.huffman.log = None;
    decoder.sequences.reset();
    let mut repeats = [1, 4, 8];
    let mut out = 0;
    while !START || out < dst.len() {
        let header = frame.get(at..).and_then(<[u8]>::first_chunk::<3>).ok_or(CUT_OFF)?;
        let header = u32::from_le_bytes([header[0], header[1], header[2], 0]);
        at += 3;
        let size = (header >> 3) as usize;
        match header >> 1 & 3 {
            0 => {
                let src = frame.get(at..at + size).ok_or(CUT_OFF)?;
                let place = place::<START>(dst, out, size)?;
                place.copy_from_slice(&src[..place.len()]);
                out += place.len();
                at += size;
            }
            1 => {
                let place = place::<START>(dst, out, size)?;
                place.fill(*frame.get(at).ok_or(CUT_OFF)?);
                out += place.len();
                at += 1;
            }
            2 if size <= MOST => {
                let end = at + size;
                frame.get(at..end).ok_or(CUT_OFF)?;
                out = block::<_, START>(
                    decoder,
                    isa,
                    Section { frame, begin: at, end },
                    &mut repeats,
                    dst,
                    out,
                )?;
                at = end;
            }
            _ => return Err(Refusal::new("a block has an unknown kind")),
        }
        if header & 1 == 1 {
            break;
        }
    }
    if out != dst.len() || !START && at != frame.len() { Err(WRONG_LENGTH) } else { Ok(()) }
}

/// Room for `len` bytes from `out` on; with `START` for as many of them as there is.
#[inline(always)]
fn place<const START: bool>(dst: &mut [u8], out: usize, len: usize) -> Result<&mut [u8]> {
    let rest = &mut dst[out..];
    let len = if START { len.min(rest.len()) } else { len };
    rest.get_mut(..len).ok_or(WRONG_LENGTH)
}

/// Where the first block begins, and for how many bytes the frame stands.
fn header(frame: &[u8]) -> Result<(usize, u64)> {
    let (magic, rest) = frame.split_first_chunk().ok_or(CUT_OFF)?;
    if u32::from_le_bytes(*magic) != 0xfd2f_b528 {
        return Err(Refusal::new("not a frame"));
    }
    let flags = *rest.first().ok_or(CUT_OFF)?;
    if flags & 0b1111 != 0 {
        return Err(Refusal::new("a frame with a checksum or a dictionary"));
    }
    let single = flags >> 5 & 1 == 1;
    let begin = 5 + usize::from(!single);
    if !single && frame.get(5).ok_or(CUT_OFF)? >> 3 > 21 {
        return Err(Refusal::new("a frame with a window of 4 GiB and more"));
    }
    let width = match flags >> 6 {
        0 if single => 1,
        0 => return Err(Refusal::new("a frame that does not say its length")),
        n => 1 << n,
    };
    let bytes = frame.get(begin..begin + width).ok_or(CUT_OFF)?;
    let mut word = [0; 8];
    word[..width].copy_from_slice(bytes);
    // Two bytes begin where one ends.
    let len = u64::from_le_bytes(word) + if width == 2 { 256 } else { 0 };
    Ok((begin + width, len))
}

/// A block of a frame: the bytes from `begin` to `end`.
#[derive(Clone, Copy)]
struct Section<'a> {
    frame: &'a [u8],
    begin: usize,
    end: usize,
}

/// Decodes a block, and returns where its last byte went.
#[inline(always)]
fn block<M: Moves, const START: bool>(
    decoder: &mut Decoder,
    isa: M,
    section: Section<'_>,
    repeats: &mut [usize; 3],
    dst: &mut [u8],
    out: usize,
) -> Result<usize> {
    let Section { frame, begin, end } = section;
    let Decoder { huffman, sequences: tables, literals } = decoder;
    let header = literals::Header::read(frame, begin, end)?;
    let (count, at) = sections::count(frame, header.end, end)?;
    if count == 0 {
        let place = place::<START>(dst, out, header.len)?;
        if place.len() == header.len {
            header.decode(huffman, frame, place)?;
        } else {
            place.copy_from_slice(&header.with_slack(huffman, frame, literals)?[..place.len()]);
        }
        return Ok(out + place.len());
    }
    let literals = header.with_slack(huffman, frame, literals)?;
    let bits = sections::tables(tables, frame, at, end)?;
    isa.sequences::<START>(Coded { tables, bits, count }, literals, repeats, dst, out)
}
