//! When work is shared with other threads: the constants, and what they were measured by.

use std::time::Duration;

/// Thresholds for starting, waking and sharing with threads.
///
/// An *effort* is a duration, counted in the bytes that LZ4 writes in that time (`codec/effort.rs`): 1 MiB is about 650 µs, 1 KiB
/// about 0.6 µs. All values were measured on two processors of a virtual machine (AMD EPYC, Zen 5).
pub(super) struct SharePolicy {
    /// Effort from which a call shares its work with threads that are awake.
    ///
    /// Sharing gains from 10 µs on: with calls back to back, 64 KiB by LZ4 takes 26 µs instead of 42 to write, and 12 instead of
    /// 18 to read.
    pub(super) share_from: u64,
    /// Effort for each thread of a call, the caller's among them: a thread that gets less costs more than it does.
    pub(super) share_each: u64,
    /// Effort from which a call wakes threads that sleep, and that a burst of calls must reach before its calls are shared.
    ///
    /// Waking a thread costs the caller 20 µs, and the thread comes 50 µs later. With a pause before each call, 64 KiB by LZ4
    /// took 60 µs on two threads and 42 on one.
    pub(super) wake_from: u64,
    /// Effort that starts one more thread. Starting one costs about 30 µs.
    pub(super) start_from: u64,
    /// Longest pause between two calls of a burst.
    pub(super) burst_gap: Duration,
    /// How long an idle thread polls for the next call before it sleeps. It is a little longer than `burst_gap`, so that the
    /// threads of a burst are awake.
    pub(super) poll: Duration,
    /// Longest time that a caller polls for its helpers before it sleeps.
    ///
    /// Sleeping and being woken takes 50 µs, half of what two threads need for a MiB: without polling, that MiB took 133 to
    /// 147 µs instead of 86 to 97.
    pub(super) linger: Duration,
}

/// The policy of all [`Exec`](super::Exec)s.
pub(super) const POLICY: SharePolicy = SharePolicy {
    share_from: 16 << 10,
    share_each: 8 << 10,
    wake_from: 128 << 10,
    start_from: 1 << 20,
    burst_gap: Duration::from_micros(20),
    poll: Duration::from_micros(30),
    linger: Duration::from_micros(100),
};

impl SharePolicy {
    /// Number of threads that work of this effort keeps busy.
    pub(super) fn threads(&self, effort: u64) -> usize {
        count(effort / self.share_each)
    }

    /// Number of new threads that work of this effort pays for.
    pub(super) fn new_threads(&self, effort: u64) -> usize {
        count(effort / self.start_from)
    }

    /// Effort of a burst that starts `threads` threads.
    pub(super) fn burst_to_start(&self, threads: usize) -> u64 {
        self.start_from.saturating_mul(threads as u64)
    }
}

/// `n` as a count, or the largest count.
fn count(n: u64) -> usize {
    usize::try_from(n).unwrap_or(usize::MAX)
}
