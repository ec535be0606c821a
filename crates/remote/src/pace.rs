//! How fast a store is: given by the caller, or measured while it is read.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// How fast a store answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StorePace {
    latency: Duration,
    bandwidth: u64,
}

impl StorePace {
    /// Answers begin after `latency`, and come with `bandwidth` bytes a second for each request.
    pub const fn new(latency: Duration, bandwidth: u64) -> Self {
        StorePace { latency, bandwidth }
    }
    /// How long an answer takes to begin.
    pub fn latency(&self) -> Duration {
        self.latency
    }
    /// Bytes of one answer in a second.
    pub fn bandwidth(&self) -> u64 {
        self.bandwidth
    }
    /// How many bytes of an answer come in the time that another request takes to begin.
    pub(crate) fn bytes_of_latency(&self) -> u64 {
        let bytes = u128::from(self.bandwidth).saturating_mul(self.latency.as_micros()) / 1_000_000;
        u64::try_from(bytes).unwrap_or(u64::MAX)
    }
}

/// The pace of a store, as the last answers had it.
#[derive(Debug)]
pub(crate) struct Measured(Mutex<StorePace>);

impl Default for Measured {
    /// About what an object store in the same region has.
    fn default() -> Self {
        Measured(Mutex::new(StorePace::new(Duration::from_millis(30), 50_000_000)))
    }
}

impl Measured {
    /// Answers of fewer bytes tell nothing about the bandwidth.
    const LEAST: u64 = 256 << 10;

    pub(crate) fn get(&self) -> StorePace {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
    /// Takes note of an answer that began after `began` and had `len` bytes, the last of them `took` later.
    pub(crate) fn note(&self, began: Duration, len: u64, took: Duration) {
        let mut pace = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        pace.latency = (pace.latency.saturating_mul(7).saturating_add(began)) / 8;
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX).max(1);
        if len >= Self::LEAST {
            let found = len.saturating_mul(1_000_000) / micros;
            pace.bandwidth = pace.bandwidth.saturating_mul(7).saturating_add(found) / 8;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pace_follows_the_answers() {
        let measured = Measured::default();
        for _ in 0..60 {
            measured.note(Duration::from_millis(100), 1 << 20, Duration::from_secs(1));
            measured.note(Duration::from_millis(100), 10, Duration::ZERO);
        }
        let pace = measured.get();
        assert!((99..=100).contains(&pace.latency().as_millis()), "{pace:?}");
        assert!((1_000_000..1_100_000).contains(&pace.bandwidth()), "{pace:?}");
        assert!((95_000..110_000).contains(&pace.bytes_of_latency()), "{pace:?}");
        let wild = StorePace::new(Duration::MAX, u64::MAX);
        assert_eq!(wild.bytes_of_latency(), u64::MAX);
    }
}
