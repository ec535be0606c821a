//! The description of a Huffman code: the weights of all bytes but the last.

use super::bits::BitWriter;
use super::fse::{EncodeTable, Shares};
use super::huffman::Code;

/// Writes the description at `at`; where it ends. `None` where there is none, or no room.
#[inline(always)]
pub(super) fn write(code: &Code, out: &mut [u8], at: usize) -> Option<usize> {
    let (mut weights, longest) = ([0_u8; 256], code.log as u8 + 1);
    for (weight, len) in weights.iter_mut().zip(&code.lengths) {
        *weight = if *len == 0 { 0 } else { longest - len };
    }
    let mut counts = [0_u32; 64];
    for (len, rank) in (1..=code.log).zip(&code.ranks[1..]) {
        counts[(code.log + 1 - len) as usize & 63] = *rank;
    }
    counts[0] = code.last as u32 + 1 - code.ranks.iter().sum::<u32>();
    counts[usize::from(weights[code.last]) & 63] -= 1;
    let weights = &weights[..code.last];
    if let Some(end) = compressed(weights, &counts, out, at + 1) {
        let len = end - at - 1;
        // Two weights a byte, or less.
        if len < 128 && (len < weights.len().div_ceil(2) || weights.len() > 128) {
            *out.get_mut(at)? = len as u8;
            return Some(end);
        }
    }
    if weights.len() > 128 {
        return None;
    }
    *out.get_mut(at)? = 127 + weights.len() as u8;
    let end = at + 1 + weights.len().div_ceil(2);
    for (byte, pair) in out.get_mut(at + 1..end)?.iter_mut().zip(weights.chunks(2)) {
        *byte = pair[0] << 4 | pair.get(1).copied().unwrap_or_default();
    }
    Some(end)
}

/// The weights by two states, turn and turn about. `None` where they are all the same, all different, or too few.
#[inline(always)]
fn compressed(weights: &[u8], counts: &[u32; 64], out: &mut [u8], at: usize) -> Option<usize> {
    let most = counts.iter().copied().max().unwrap_or_default() as usize;
    if weights.len() < 3 || most == weights.len() || most == 1 {
        return None;
    }
    let shares = Shares::new(counts, weights.len(), 6);
    let at = shares.write(out, at)?;
    let mut table = EncodeTable::new();
    table.build(&shares);
    let mut bits = BitWriter::new(out, at);
    let last = weights.len() - 1;
    let mut states = [0; 2];
    for n in [last, last - 1] {
        states[n & 1] = table.begin(weights[n]);
    }
    for (n, weight) in weights[..last - 1].iter().enumerate().rev() {
        table.step(&mut states[n & 1], *weight, &mut bits);
        if n & 3 == 0 {
            bits.flush();
        }
    }
    bits.flush();
    table.end(states[1], &mut bits);
    table.end(states[0], &mut bits);
    bits.close()
}
