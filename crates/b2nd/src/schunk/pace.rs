//! Whether the store makes readers wait, and bytes announced to it before they are read.

use super::handle::{Place, SChunk};
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// A read takes so long at most where nobody waits: a call, and a copy at the speed of a busy machine.
const CALL: Duration = Duration::from_micros(30);
const BYTES_PER_MICROSECOND: u64 = 1000;

/// For how many reads a store counts as slow after the last that was: those that were announced are quick.
const MEMORY: u32 = 64;

/// How reads went lately.
#[derive(Debug, Default)]
pub(super) struct Pace(AtomicU32);

impl Pace {
    /// Takes note of a read of `len` bytes.
    pub(super) fn note(&self, took: Duration, len: usize) {
        let slow = took > CALL + Duration::from_micros(len as u64 / BYTES_PER_MICROSECOND);
        let left = self.0.load(Ordering::Relaxed);
        // A step that two threads take together counts once; it is a guess either way.
        if slow {
            self.0.store(MEMORY, Ordering::Relaxed);
        } else if left > 0 {
            self.0.store(left - 1, Ordering::Relaxed);
        }
    }
}

impl SChunk {
    /// Whether announcing reads is worth a call: the last ones had to wait.
    pub(crate) fn is_slow(&self) -> bool {
        self.pace.0.load(Ordering::Relaxed) > 0
    }

    /// Tells the store that these bytes of a chunk will be read; of those past the chunk nothing is said.
    pub(crate) fn announce(&self, place: Place, bytes: Range<u64>) {
        if let Place::Stored { file, offset, available } = place {
            let end = bytes.end.min(available);
            if let (Some(at), Some(len)) = (offset.checked_add(bytes.start), end.checked_sub(bytes.start)) {
                self.store.will_read(file, at, len);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_read_is_remembered_for_a_while() {
        let pace = Pace::default();
        let slow = || pace.0.load(Ordering::Relaxed) > 0;
        pace.note(Duration::from_micros(29), 0);
        assert!(!slow());
        // A megabyte in a third of a millisecond is a copy.
        pace.note(Duration::from_micros(300), 1 << 20);
        assert!(!slow());
        pace.note(Duration::from_micros(300), 4096);
        assert!(slow());
        for n in 0..MEMORY {
            assert!(slow(), "after {n}");
            pace.note(Duration::ZERO, 4096);
        }
        assert!(!slow());
    }
}
