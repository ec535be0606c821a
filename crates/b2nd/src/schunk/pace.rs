//! Whether the store makes readers wait, and bytes announced to it before they are read.

use super::snapshot::{FrameState, Place};
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// The longest duration of a read that did not wait for the disk: a system call, and a copy at the speed of a busy machine.
const CALL: Duration = Duration::from_micros(30);
const BYTES_PER_MICROSECOND: u64 = 1000;

/// Number of reads for which a slow one is remembered, because announced reads are fast. Two slow reads among these
/// make a slow store; a single one may be due to the scheduler.
const MEMORY: u32 = 32;

/// Which of the last reads were slow.
#[derive(Debug, Default)]
pub(super) struct Pace(AtomicU32);

impl Pace {
    /// Takes note of a read of `len` bytes.
    pub(super) fn note(&self, took: Duration, len: usize) {
        let slow = took > CALL + Duration::from_micros(len as u64 / BYTES_PER_MICROSECOND);
        let left = self.0.load(Ordering::Relaxed);
        // A race of two threads may count one read instead of two, which is harmless for an estimate.
        if slow {
            self.0.store((left + MEMORY).min(2 * MEMORY), Ordering::Relaxed);
        } else if left > 0 {
            self.0.store(left - 1, Ordering::Relaxed);
        }
    }

    fn is_slow(&self) -> bool {
        self.0.load(Ordering::Relaxed) > MEMORY
    }
}

impl FrameState {
    /// Whether announcing reads is worth a call: the store can use it, and the last reads had to wait.
    pub(crate) fn is_slow(&self) -> bool {
        self.pace.is_slow()
    }

    /// Announces to the store that these bytes of a chunk will be read; bytes past the chunk are left out.
    pub(crate) fn announce(&self, place: Place, bytes: Range<u64>) {
        if let Place::Stored { file, offset, available } = place {
            let len = bytes.end.min(available).saturating_sub(bytes.start);
            if let Some(at) = offset.checked_add(bytes.start).filter(|_| len > 0) {
                self.store.will_read(file, at, len);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_slow_reads_are_remembered_for_a_while() {
        let pace = Pace::default();
        for _ in 0..9 {
            pace.note(Duration::from_micros(29), 0);
            // A megabyte in a third of a millisecond is a copy.
            pace.note(Duration::from_micros(300), 1 << 20);
        }
        assert_eq!(pace.0.load(Ordering::Relaxed), 0);
        pace.note(Duration::from_micros(300), 4096);
        assert!(!pace.is_slow(), "after one");
        (0..9).for_each(|_| pace.note(Duration::from_micros(300), 4096));
        for n in 0..MEMORY {
            assert!(pace.is_slow(), "after {n}");
            pace.note(Duration::ZERO, 4096);
        }
        assert!(!pace.is_slow());
    }
}
