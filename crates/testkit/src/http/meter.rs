//! Counts requests, waves and bytes.

/// What was asked of a server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counts {
    /// Requests.
    pub requests: usize,
    /// Dependent round trips: a request is in a later wave than all whose answers were complete when it came.
    pub waves: usize,
    /// Bytes of bodies that were sent.
    pub bytes: u64,
    /// The most requests that were being answered at the same time.
    pub at_once: usize,
}

/// One request that was counted.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Entry {
    /// What was asked for.
    pub request: String,
    /// The wave, from 1 on.
    pub wave: usize,
    /// The status of the answer; 0 where there was none.
    pub status: u16,
    /// Bytes of the body that were sent.
    pub bytes: u64,
}

/// Counts requests from when their head was read to when the last byte of the answer was written.
#[derive(Debug, Default)]
pub(super) struct Meter {
    next: u64,
    /// Requests with a lower number belong to counts that were taken.
    since: u64,
    /// The latest wave of which an answer is complete.
    complete: usize,
    active: usize,
    counts: Counts,
    entries: Vec<Entry>,
}

/// The place of a request in the counts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ticket {
    pub(super) number: u64,
    at: usize,
}

impl Meter {
    /// A request has come, which gets its number.
    pub(super) fn begin(&mut self, request: String) -> Ticket {
        let number = self.next;
        self.next += 1;
        let wave = self.complete + 1;
        self.active += 1;
        self.counts.requests += 1;
        self.counts.waves = self.counts.waves.max(wave);
        self.counts.at_once = self.counts.at_once.max(self.active);
        self.entries.push(Entry { request, wave, status: 0, bytes: 0 });
        Ticket { number, at: self.entries.len() - 1 }
    }
    /// Its answer is complete.
    pub(super) fn end(&mut self, ticket: Ticket, status: u16, bytes: u64) {
        self.active = self.active.saturating_sub(1);
        if ticket.number < self.since {
            return;
        }
        self.counts.bytes += bytes;
        if let Some(entry) = self.entries.get_mut(ticket.at) {
            (entry.status, entry.bytes) = (status, bytes);
            self.complete = self.complete.max(entry.wave);
        }
    }
    pub(super) fn counts(&self) -> Counts {
        self.counts
    }
    pub(super) fn take(&mut self) -> Counts {
        let (next, active) = (self.next, self.active);
        std::mem::replace(self, Meter { next, since: next, active, ..Meter::default() }).counts
    }
    pub(super) fn entries(&self) -> Vec<Entry> {
        self.entries.clone()
    }
}
