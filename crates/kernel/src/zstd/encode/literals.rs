//! The literals of a block, as they are or by a Huffman code.

use super::huffman::Code;
use super::tally::tally;
use super::tree;

/// Fewer literals are not worth a code.
const FEW: usize = 64;
/// From here on in four streams.
const FOUR: usize = 256;

/// Writes the literals at `at`; where they end. `None` where there is no room.
#[inline(always)]
pub(super) fn write(literals: &[u8], out: &mut [u8], at: usize) -> Option<usize> {
    if literals.len() >= FEW {
        let counts = tally(literals);
        let most = counts.iter().copied().max().unwrap_or_default() as usize;
        if most == literals.len() {
            let at = header(1, literals.len(), out, at)?;
            *out.get_mut(at)? = literals[0];
            return Some(at + 1);
        }
        // Where not even the commonest byte is common there is little to gain: the reference's rule.
        if most > (literals.len() >> 7) + 4
            && let Some(end) = coded(literals, &counts, out, at)
        {
            return Some(end);
        }
    }
    let at = header(0, literals.len(), out, at)?;
    let end = at + literals.len();
    out.get_mut(at..end)?.copy_from_slice(literals);
    Some(end)
}

/// The header of literals that are stored as they are (0), or of one byte again and again (1).
fn header(kind: usize, len: usize, out: &mut [u8], at: usize) -> Option<usize> {
    let (word, width) = match len {
        0..32 => (kind | len << 3, 1),
        32..4096 => (kind | 1 << 2 | len << 4, 2),
        _ => (kind | 3 << 2 | len << 4, 3),
    };
    out.get_mut(at..at + width)?.copy_from_slice(&word.to_le_bytes()[..width]);
    Some(at + width)
}

/// The literals by a code of their own. `None` where that gains too little.
#[inline(always)]
fn coded(literals: &[u8], counts: &[u32; 256], out: &mut [u8], at: usize) -> Option<usize> {
    let len = literals.len();
    let least = (len >> 6) + 2;
    let code = Code::new(counts, len);
    if (code.bits / 8) as usize + least >= len {
        return None;
    }
    let (format, bits, width) = match len {
        0..FOUR => (0, 10, 3),
        FOUR..1024 => (1, 10, 3),
        1024..16_384 => (2, 14, 4),
        _ => (3, 18, 5),
    };
    let begin = at + width;
    let mut end = tree::write(&code, out, begin)?;
    if len < FOUR {
        end = code.write(literals, out, end)?;
    } else {
        let jumps = end;
        end += 6;
        for (n, quarter) in literals.chunks(len.div_ceil(4)).enumerate() {
            let from = end;
            end = code.write(quarter, out, from)?;
            if n < 3 {
                let len = u16::try_from(end - from).ok()?;
                out.get_mut(jumps + 2 * n..)?.first_chunk_mut().map(|to| *to = len.to_le_bytes())?;
            }
        }
    }
    if end - begin + least >= len {
        return None;
    }
    let word = 2 | format << 2 | (len as u64) << 4 | ((end - begin) as u64) << (4 + bits);
    out.get_mut(at..begin)?.copy_from_slice(&word.to_le_bytes()[..width]);
    Some(end)
}
