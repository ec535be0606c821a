//! The undo record: what a commit leaves at the end of the file before it writes over a header that no single sector holds,
//! so that a header of which only some sectors were written is found, and the old one is known.
//!
//! ```text
//!  0 distance u64, from the start of the frame to here | 8 header_len u32 | 12 at u32 | 16 n u32 | 20 phase u32
//! 24 n old bytes, n new bytes: header[at .. at + n] | XXH3-64 of all before it and the whole old header u64
//! .. length of the record u32 | "b2undo", 0, 1                                   all little-endian, at the end of the file
//! ```
//!
//! `phase` is where in a sector the frame starts. Nothing of the record looks like a frame: the mark of one never changes.

use crate::error::{Error, Result};
use std::ops::Range;
use twox_hash::XxHash3_64;

/// The bytes that a medium writes whole or not at all.
const SECTOR: u64 = 512;
const MAGIC: &[u8; 8] = b"b2undo\0\x01";
/// The fields before the bytes of the headers.
const FIELDS: usize = 24;
/// Checksum, length, magic.
const END: usize = 20;
/// The bytes at the end of a file that say whether there is a record, and how long it is.
pub(crate) const TAIL: usize = 12;

/// How a header stands to an undo record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum HeaderState {
    /// The record was left by a commit of another header.
    Unrelated,
    /// It is the old one or the new one, whole.
    Whole,
    /// Some of its sectors are old and some new; this is the old one.
    Torn(Vec<u8>),
}

/// An undo record.
#[derive(Debug)]
pub(crate) struct UndoRecord<'a> {
    bytes: &'a [u8],
    distance: u64,
    header_len: u64,
    changed: Range<usize>,
    phase: u64,
}

/// Where in a header of `len` bytes that starts `start` bytes into its file the first sector ends, if it goes on after that.
pub(crate) fn sector_end(start: u64, len: u64) -> Option<usize> {
    let first = SECTOR.saturating_sub(start % SECTOR);
    usize::try_from(first).ok().filter(|_| first < len)
}

/// The record that has to be on the medium before one header is written over another, if one is needed: where all that
/// changes lies in one sector, the header is old or new whatever happens.
///
/// The frame starts `start` bytes into its file, the record `distance` bytes after that.
pub(crate) fn undo_record(old: &[u8], new: &[u8], start: u64, distance: u64) -> Result<Option<Vec<u8>>> {
    let differs = |(a, b): (&u8, &u8)| a != b;
    let Some(first) = old.iter().zip(new).position(differs) else { return Ok(None) };
    let last = old.iter().zip(new).rposition(differs).unwrap_or(first);
    let sector = |at: usize| start.saturating_add(at as u64) / SECTOR;
    if sector(first) == sector(last) {
        return Ok(None);
    }
    let changed = first..last.saturating_add(1);
    let too_large = |_| Error::too_large(u32::MAX, "the header is too large for an undo record");
    let field = |value: usize| u32::try_from(value).map_err(too_large);
    let mut record = Vec::new();
    record.extend_from_slice(&distance.to_le_bytes());
    let phase = usize::try_from(start % SECTOR).unwrap_or(0);
    for value in [old.len(), first, changed.len(), phase] {
        record.extend_from_slice(&field(value)?.to_le_bytes());
    }
    for header in [old, new] {
        record.extend_from_slice(header.get(changed.clone()).unwrap_or_default());
    }
    let checksum = checksum(&record, old);
    record.extend_from_slice(&checksum.to_le_bytes());
    let len = field(record.len().saturating_add(TAIL))?;
    record.extend_from_slice(&len.to_le_bytes());
    record.extend_from_slice(MAGIC);
    Ok(Some(record))
}

fn checksum(record: &[u8], old: &[u8]) -> u64 {
    XxHash3_64::oneshot(&[record, old].concat())
}

/// The length of the record that ends with these bytes.
pub(crate) fn record_len(tail: [u8; TAIL]) -> Option<u64> {
    let (len, magic) = tail.split_first_chunk::<4>()?;
    let len = u64::from(u32::from_le_bytes(*len));
    (magic == MAGIC && len >= (FIELDS + END) as u64).then_some(len)
}

impl<'a> UndoRecord<'a> {
    /// Reads a record; `None` for what is none.
    pub(crate) fn parse(bytes: &'a [u8]) -> Option<Self> {
        let (distance, rest) = bytes.split_first_chunk::<8>()?;
        let (header_len, rest) = rest.split_first_chunk::<4>()?;
        let (at, rest) = rest.split_first_chunk::<4>()?;
        let (n, rest) = rest.split_first_chunk::<4>()?;
        let (phase, _) = rest.split_first_chunk::<4>()?;
        let [header_len, at, n, phase] = [header_len, at, n, phase].map(|field| u32::from_le_bytes(*field));
        let distance = u64::from_le_bytes(*distance);
        let (start, n) = (usize::try_from(at).ok()?, usize::try_from(n).ok()?);
        let record = UndoRecord {
            bytes,
            distance,
            header_len: u64::from(header_len),
            changed: start..start.checked_add(n)?,
            phase: u64::from(phase),
        };
        let len = n.checked_mul(2)?.checked_add(FIELDS + END)?;
        let fits = record.changed.end as u64 <= record.header_len && record.header_len <= distance;
        (len == bytes.len() && fits && record.phase < SECTOR).then_some(record)
    }
    /// From the start of the frame to the record.
    pub(crate) fn distance(&self) -> u64 {
        self.distance
    }
    /// The length of the header.
    pub(crate) fn header_len(&self) -> u64 {
        self.header_len
    }
    /// Compares a header of the right length with the undo record.
    pub(crate) fn judge(&self, header: &[u8]) -> HeaderState {
        self.judged(header).unwrap_or(HeaderState::Unrelated)
    }

    fn judged(&self, header: &[u8]) -> Option<HeaderState> {
        let n = self.changed.len();
        let (before, rest) = self.bytes.split_at_checked(n.checked_mul(2)?.checked_add(FIELDS)?)?;
        let (old, new) = before.get(FIELDS..)?.split_at_checked(n)?;
        let mut whole = header.to_vec();
        let found = header.get(self.changed.clone())?;
        whole.get_mut(self.changed.clone())?.copy_from_slice(old);
        if u64::from_le_bytes(*rest.first_chunk::<8>()?) != checksum(before, &whole) {
            return None;
        }
        let (mut is_old, mut is_new) = (true, true);
        let mut at = 0;
        while at < n {
            let place = self.phase.checked_add(self.changed.start as u64)?.checked_add(at as u64)?;
            let end = usize::try_from(SECTOR.checked_sub(place % SECTOR)?).ok()?.checked_add(at)?.min(n);
            let (there, old, new) = (found.get(at..end)?, old.get(at..end)?, new.get(at..end)?);
            if there != old && there != new {
                return None;
            }
            is_old &= there == old;
            is_new &= there == new;
            at = end;
        }
        Some(if is_old || is_new { HeaderState::Whole } else { HeaderState::Torn(whole) })
    }
}

#[cfg(test)]
#[allow(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::unwrap_used,
    reason = "a test may fail"
)]
mod tests {
    use super::{FIELDS, HeaderState, TAIL, UndoRecord, record_len, sector_end, undo_record};

    fn headers() -> (Vec<u8>, Vec<u8>) {
        let old: Vec<u8> = (0..1500u32).map(|n| (n % 251) as u8).collect();
        let mut new = old.clone();
        for at in [20, 700, 1300] {
            new[at] ^= 0xff;
        }
        (old, new)
    }

    fn torn(old: &[u8], new: &[u8], start: usize, sectors: u32) -> Vec<u8> {
        let mut header = old.to_vec();
        for at in 0..old.len() {
            if sectors >> ((start + at) / 512 - start / 512) & 1 == 1 {
                header[at] = new[at];
            }
        }
        header
    }

    #[test]
    fn every_mixture_of_sectors_is_told_apart() {
        let (old, new) = headers();
        for start in [0, 1, 300, 500, 511, 512, 5000] {
            let bytes = undo_record(&old, &new, start as u64, 9000).unwrap().unwrap();
            assert_eq!(record_len(*bytes.last_chunk::<TAIL>().unwrap()), Some(bytes.len() as u64));
            let record = UndoRecord::parse(&bytes).unwrap();
            assert_eq!((record.distance(), record.header_len()), (9000, 1500));
            for sectors in 0..16 {
                let header = torn(&old, &new, start, sectors);
                let whole = header == old || header == new;
                let expected = if whole { HeaderState::Whole } else { HeaderState::Torn(old.clone()) };
                assert_eq!(record.judge(&header), expected, "{start} {sectors:b}");
            }
        }
    }

    #[test]
    fn a_header_that_is_neither_is_left_alone() {
        let (old, new) = headers();
        let bytes = undo_record(&old, &new, 0, 9000).unwrap().unwrap();
        let record = UndoRecord::parse(&bytes).unwrap();
        let mixed = torn(&old, &new, 0, 1);
        for at in 0..mixed.len() {
            let mut other = mixed.clone();
            other[at] ^= 1;
            assert_eq!(record.judge(&other), HeaderState::Unrelated, "{at}");
        }
        assert_eq!(record.judge(&mixed[1..]), HeaderState::Unrelated);
    }

    #[test]
    fn a_damaged_record_is_none() {
        let (old, new) = headers();
        let bytes = undo_record(&old, &new, 77, 9000).unwrap().unwrap();
        let mixed = torn(&old, &new, 77, 2);
        assert!(matches!(UndoRecord::parse(&bytes).unwrap().judge(&mixed), HeaderState::Torn(_)));
        for bit in 0..(bytes.len() - TAIL) * 8 {
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            let state =
                UndoRecord::parse(&damaged).map_or(HeaderState::Unrelated, |record| record.judge(&mixed));
            assert_eq!(state, HeaderState::Unrelated, "bit {bit}");
        }
        for len in 0..bytes.len() {
            assert!(UndoRecord::parse(&bytes[..len]).is_none());
        }
        assert!(UndoRecord::parse(&[0xff; FIELDS + 100]).is_none());
    }

    #[test]
    fn one_sector_needs_none() {
        let (old, _) = headers();
        let mut new = old.clone();
        new[15..100].fill(0);
        assert!(undo_record(&old, &new, 0, 9000).unwrap().is_none());
        assert!(undo_record(&old, &old, 450, 9000).unwrap().is_none());
        assert!(undo_record(&old, &new, 450, 9000).unwrap().is_some());
        assert_eq!(
            [sector_end(0, 512), sector_end(0, 513), sector_end(500, 100)],
            [None, Some(512), Some(12)]
        );
    }
}
