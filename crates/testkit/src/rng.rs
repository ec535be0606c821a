//! A small random number generator whose numbers are the same everywhere and for ever, so that a logged seed is enough.

/// SplitMix64.
#[derive(Debug, Clone)]
pub struct Rng {
    state: u64,
}

impl Rng {
    /// A generator for this seed.
    pub fn new(seed: u64) -> Self {
        Rng { state: seed.wrapping_mul(0x2545_F491_4F6C_DD1D) ^ 0x9E37_79B9_7F4A_7C15 }
    }
    /// A generator for part `index` of the run with this seed.
    pub fn for_part(seed: u64, index: u64) -> Self {
        let mut whole = Rng::new(seed);
        Rng::new(whole.next_u64() ^ index.wrapping_mul(0xD6E8_FEB8_6659_FD93))
    }
    /// 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
    /// A number below `end`; 0 when `end` is 0.
    pub fn below(&mut self, end: u64) -> u64 {
        // The bias of the remainder is below 2^-40 for the small ranges of tests.
        if end == 0 { 0 } else { self.next_u64() % end }
    }
    /// A number in `low..=high`.
    pub fn between(&mut self, low: i64, high: i64) -> i64 {
        let span = high.wrapping_sub(low).unsigned_abs().saturating_add(1);
        low.wrapping_add_unsigned(self.below(span))
    }
    /// Whether something happens that happens `per_cent` times in a hundred.
    pub fn chance(&mut self, per_cent: u64) -> bool {
        self.below(100) < per_cent
    }
    /// One of these.
    ///
    /// # Panics
    /// When there are none.
    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len() as u64) as usize]
    }
    /// This many random bytes.
    pub fn bytes(&mut self, len: usize) -> Vec<u8> {
        let mut out = Vec::with_capacity(len + 8);
        while out.len() < len {
            out.extend_from_slice(&self.next_u64().to_le_bytes());
        }
        out.truncate(len);
        out
    }
}

#[cfg(test)]
mod tests {
    use super::Rng;

    #[test]
    fn the_numbers_of_a_seed_stay() {
        let mut rng = Rng::new(1);
        let first = [rng.next_u64(), rng.next_u64()];
        let mut again = Rng::new(1);
        assert_eq!(first, [again.next_u64(), again.next_u64()]);
        assert_ne!(first[0], Rng::new(2).next_u64());
        assert_ne!(Rng::for_part(1, 0).next_u64(), Rng::for_part(1, 1).next_u64());
    }

    #[test]
    fn ranges_hold_and_reach_their_ends() {
        let mut rng = Rng::new(7);
        let seen: std::collections::BTreeSet<i64> = (0..1000).map(|_| rng.between(-2, 3)).collect();
        assert_eq!(seen.into_iter().collect::<Vec<_>>(), [-2, -1, 0, 1, 2, 3]);
        assert!((0..1000).all(|_| rng.below(5) < 5));
        assert_eq!(rng.bytes(13).len(), 13);
    }
}
