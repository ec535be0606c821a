//! Bytes that no codec shrinks: all values equally often, and nothing that comes again.

/// Shorter inputs are no burden to anybody.
const MIN_INPUT: usize = 4096;
/// In longer ones a repeat from far back could slip through.
const MAX_INPUT: usize = 1 << 20;
/// Most inputs are told apart by so many of their first bytes.
const FIRST: usize = 1024;
/// How far the counts of noise are from even, at most: the sum of squares over 256 counts, in units of what is expected, has
/// the mean 255 and the standard deviation 22.6; this is six of those above.
const MOST_UNEVEN: u64 = 391;

/// Whether `src` is noise, as far as counting bytes and looking for sequences that repeat can tell.
///
/// `false` is said at once of nearly everything else, and of inputs that are short, or longer than 1 MiB. One repeat of 20 bytes within 64 KiB is nearly always seen, and
/// one among many shorter ones, from 6 bytes on. `table` is working memory.
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
    // Four tables, as counts of the same byte in a row would wait for each other.
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

/// Whether a sequence of six bytes comes again.
fn repeats(src: &[u8], table: &mut Vec<u32>) -> bool {
    // More places than are entered, up to what stays in a near cache.
    let log = (src.len() / 2).ilog2().clamp(8, 15);
    table.clear();
    table.resize(1 << log, 0);
    // A place, and 32 more bits that tell sequences of the same place apart.
    let mark = |piece: &[u8; 20], at: usize| {
        let [a, b, c, d, e, f] = [0, 1, 2, 3, 4, 5].map(|n| piece[at + n]);
        let hash = u64::from_le_bytes([0, 0, a, b, c, d, e, f]).wrapping_mul(0x9E37_79B1_85EB_CA87);
        ((hash >> (64 - log)) as usize, (hash >> 16) as u32)
    };
    // Every third sequence is looked up, every fifth entered: as 3 and 5 have no common divisor, no distance slips through.
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
