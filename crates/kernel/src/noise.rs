//! Detects bytes that no codec shrinks: all values are equally frequent, and no sequence repeats.

/// Shorter inputs compress fast enough without this test.
const MIN_INPUT: usize = 4096;
/// In longer inputs a distant repeat could be missed.
const MAX_INPUT: usize = 1 << 20;
/// For most inputs these first bytes are enough to decide.
const FIRST: usize = 1024;
/// The largest deviation of noise from even counts: the sum of squared deviations over 256 counts, divided by the
/// expected count, has mean 255 and standard deviation 22.6; this is six standard deviations above the mean.
const MOST_UNEVEN: u64 = 391;

/// Whether `src` is noise, judged by counts of bytes and by repeated sequences.
///
/// Nearly all other inputs are rejected at once, and so are short ones and those above 1 MiB. One repeat of 20 bytes
/// within 64 KiB is nearly always found, and so is one of many shorter repeats, from 6 bytes on. `table` is working
/// memory.
///
/// ```
/// use b2nd_kernel::noise::is_noise;
/// let mut table = Vec::new();
/// let mut state = 1_u64;
/// let noise: Vec<u8> = (0..10_000)
///     .map(|_| {
///         state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
///         (state >> 56) as u8
///     })
///     .collect();
/// assert!(is_noise(&noise, &mut table));
/// assert!(!is_noise(&noise[..5_000].repeat(2), &mut table));
/// assert!(!is_noise(&[7; 10_000], &mut table));
/// ```
pub fn is_noise(src: &[u8], table: &mut Vec<u32>) -> bool {
    (MIN_INPUT..=MAX_INPUT).contains(&src.len())
        && is_even(&src[..FIRST])
        && is_even(src)
        && !repeats(src, table)
}

/// Whether all values of a byte are about equally frequent.
fn is_even(src: &[u8]) -> bool {
    // Four tables, because increments of the same counter wait for each other.
    let mut counts = [[0_u32; 256]; 4];
    let (fours, rest) = src.as_chunks::<4>();
    for four in fours {
        for (counts, byte) in counts.iter_mut().zip(four) {
            counts[usize::from(*byte)] += 1;
        }
    }
    for byte in rest {
        counts[0][usize::from(*byte)] += 1;
    }
    let square =
        |value: usize| u128::from(counts.iter().map(|counts| u64::from(counts[value])).sum::<u64>()).pow(2);
    let squares: u128 = (0..256).map(square).sum();
    let len = src.len() as u128;
    squares * 256 <= len * (len + u128::from(MOST_UNEVEN))
}

/// Whether a sequence of six bytes repeats.
fn repeats(src: &[u8], table: &mut Vec<u32>) -> bool {
    // More slots than entries, as long as the table stays in the L2 cache.
    let log = (src.len() / 2).ilog2().clamp(8, 15);
    table.clear();
    table.resize(1 << log, 0);
    // A slot, and 32 more bits of hash that distinguish sequences of the same slot.
    let mark = |piece: &[u8; 20], at: usize| {
        let [a, b, c, d, e, f] = [0, 1, 2, 3, 4, 5].map(|n| piece[at + n]);
        let hash = u64::from_le_bytes([0, 0, a, b, c, d, e, f]).wrapping_mul(0x9E37_79B1_85EB_CA87);
        ((hash >> (64 - log)) as usize, (hash >> 16) as u32)
    };
    // Every third sequence is looked up, every fifth entered. Since 3 and 5 have no common divisor, every distance is
    // covered.
    for at in (0..src.len().saturating_sub(19)).step_by(15) {
        let Some(piece) = src[at..].first_chunk::<20>() else { break };
        for seen in [0, 3, 6, 9, 12] {
            let (place, mark) = mark(piece, seen);
            if table[place] == mark {
                return true;
            }
        }
        for entered in [0, 5, 10] {
            let (place, mark) = mark(piece, entered);
            table[place] = mark;
        }
    }
    false
}
