//! The codes of literal lengths, match lengths and offsets: what each stands for, and how often it occurs by default.

use super::fse::Entry;

const fn codes<const N: usize>(short: usize, least: u32, long: &[u8]) -> [Entry; N] {
    let mut table = [Entry::code(0, 0); N];
    let (mut n, mut base) = (0, least);
    while n < N {
        let extra = if n < short { 0 } else { long[n - short] as u32 };
        table[n] = Entry::code(base, extra);
        base += 1 << extra;
        n += 1;
    }
    table
}

/// How many literals: codes 0 to 15 stand for themselves.
pub(super) static LITERAL_LENGTHS: [Entry; 36] =
    codes(16, 0, &[1, 1, 1, 1, 2, 2, 3, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]);

/// How long a match is: codes 0 to 31 stand for 3 to 34.
pub(super) static MATCH_LENGTHS: [Entry; 53] =
    codes(32, 3, &[1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]);

/// Offsets: each code is as many bits below a one. The format has more, of 256 MiB and above.
pub(super) static OFFSETS: [Entry; 28] = {
    let mut table = [Entry::code(0, 0); 28];
    let mut n = 0;
    while n < table.len() {
        table[n] = Entry::code(1 << n, n as u32);
        n += 1;
    }
    table
};

/// How often each code occurs of 64 (of 32 for offsets), in blocks that do not say; -1 is less than once.
pub(super) static LITERAL_LENGTH_COUNTS: [i16; 36] = [
    4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 2, 1, 1, 1, 1, 1, -1, -1,
    -1, -1,
];
pub(super) static MATCH_LENGTH_COUNTS: [i16; 53] = [
    1, 4, 3, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1,
];
pub(super) static OFFSET_COUNTS: [i16; 29] =
    [1, 1, 1, 1, 1, 1, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1];
