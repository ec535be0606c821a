//! The tokens of cells some of whose rows are found elsewhere, for both directions.

/// Three rows of a cell of 4 × 4, by the upper five bits of the token; the encoder takes the first that fits.
pub(super) const THREE_OF_FOUR: [(u8, [usize; 3]); 4] =
    [(232, [0, 1, 2]), (224, [1, 2, 3]), (240, [0, 1, 3]), (248, [0, 2, 3])];

/// Two rows of a cell of 4 × 4.
pub(super) const TWO_OF_FOUR: [(u8, [usize; 2]); 6] =
    [(136, [0, 1]), (144, [0, 2]), (152, [0, 3]), (176, [1, 2]), (184, [1, 3]), (128, [2, 3])];

/// Two pairs of rows of a cell of 4 × 4.
pub(super) const TWO_PAIRS: [(u8, [usize; 4]); 3] =
    [(40, [0, 1, 2, 3]), (48, [0, 2, 1, 3]), (56, [0, 3, 1, 2])];

/// The first of three rows of a cell of 8 × 8 is added to this.
pub(super) const THREE_OF_EIGHT: u8 = 168;
/// The first of two rows of a cell of 8 × 8 is added to this.
pub(super) const TWO_OF_EIGHT: u8 = 136;

/// The rows of a cell of 8 × 8.
const OF_EIGHT: [usize; 8] = [0, 1, 2, 3, 4, 5, 6, 7];

/// The rows that a token finds elsewhere, in the order in which they are there: from the first place, and from the second.
pub(super) fn found(side: usize, token: u8) -> Option<(&'static [usize], &'static [usize])> {
    let kind = token & !7;
    if side == 8 {
        let first = usize::from(token & 7);
        let count = match kind {
            THREE_OF_EIGHT => 3,
            TWO_OF_EIGHT => 2,
            _ => return None,
        };
        return Some((OF_EIGHT.get(first..first + count)?, &[]));
    }
    if let Some((_, rows)) = THREE_OF_FOUR.iter().find(|known| known.0 == kind) {
        return Some((rows, &[]));
    }
    if let Some((_, rows)) = TWO_OF_FOUR.iter().find(|known| known.0 == kind) {
        return Some((rows, &[]));
    }
    TWO_PAIRS.iter().find(|known| known.0 == kind).map(|(_, rows)| rows.split_at(2))
}
