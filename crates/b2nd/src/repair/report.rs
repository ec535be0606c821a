//! What a repair has done, and what is lost.

use crate::error::Part;
use crate::schunk::Damage;
use std::fmt;
use std::path::PathBuf;

/// What could not be known for sure, and what was taken for it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Guess {
    /// What it is about.
    pub part: Part,
    /// What was taken, and from what.
    pub what: String,
}

/// What a repair found, restored and lost. As text it is a list for people.
///
/// ```
/// use b2nd::{Dtype, Options, RepairOptions, repair_bytes};
/// let mut bytes = Options::new().create_in_memory(Dtype::parse("<i4")?, [1000])?.to_bytes()?;
/// bytes[16..24].fill(0); // no length any more
/// assert!(b2nd::Array::from_bytes(bytes.clone(), &Default::default()).is_err());
/// let (whole, report) = repair_bytes(bytes, &RepairOptions::new())?;
/// assert!(report.is_whole() && !report.restored.is_empty());
/// assert_eq!(b2nd::Array::from_bytes(whole, &Default::default())?.shape(), [1000]);
/// # Ok::<(), b2nd::Error>(())
/// ```
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Repaired {
    /// The number of chunks of the result.
    pub chunks: u64,
    /// Chunks, or blocks of chunks, that are lost: in the result they hold the fill. In the order of the chunks; at most 10,000
    /// entries, fewer where [`Limits::max_index_bytes`](crate::Limits::max_index_bytes) has less than 512 bytes for each.
    pub lost: Vec<Damage>,
    /// How many chunks and blocks are lost: all of them, listed in `lost` or not.
    pub lost_places: u64,
    /// Metalayers and vlmetalayers that are lost: of which part, and the name, where it is known.
    pub lost_metalayers: Vec<(Part, String)>,
    /// What was put right, and from what.
    pub restored: Vec<(Part, String)>,
    /// What could not be known for sure.
    pub guesses: Vec<Guess>,
    /// Chunks that do not match a checksum from before another program wrote to the frame: kept as they are. As many are listed
    /// as of what is lost.
    pub stale: Vec<u64>,
    /// The number of these chunks, listed in `stale` or not.
    pub stale_chunks: u64,
    /// Chunks all of which matches its checksums.
    pub matching: u64,
    /// What lay about and is not part of the result: bytes before and behind the frame, files that nothing refers to.
    pub left_out: Vec<String>,
    /// Where the damaged frame is now, when it was repaired in its place.
    pub original: Option<PathBuf>,
}

impl Repaired {
    /// Whether nothing is lost and nothing was guessed: the result is what was written.
    pub fn is_whole(&self) -> bool {
        self.lost_places == 0 && self.lost_metalayers.is_empty() && self.guesses.is_empty()
    }
    /// Whether anything was wrong at all.
    pub fn was_sound(&self) -> bool {
        self.is_whole() && self.restored.is_empty()
    }

    pub(super) fn restored(&mut self, part: Part, what: impl Into<String>) {
        self.restored.push((part, what.into()));
    }
    pub(super) fn guessed(&mut self, part: Part, what: impl Into<String>) {
        self.guesses.push(Guess { part, what: what.into() });
    }
}

/// Lines of lost places that are shown: more tell nobody more.
const MOST_LINES: usize = 1000;

impl fmt::Display for Repaired {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (part, what) in &self.restored {
            writeln!(f, "restored: {}: {what}", part.name())?;
        }
        for guess in &self.guesses {
            writeln!(f, "guessed: {}: {}", guess.part.name(), guess.what)?;
        }
        for (part, name) in &self.lost_metalayers {
            writeln!(f, "lost: {} {name}", part.name())?;
        }
        for place in self.lost.iter().take(MOST_LINES) {
            write!(f, "lost: {}", place.place())?;
            if !place.start.is_empty() {
                f.write_str(if place.count == 1 { ", items [" } else { ", in items [" })?;
                for (axis, (start, stop)) in place.start.iter().zip(&place.stop).enumerate() {
                    write!(f, "{}{start}:{stop}", if axis > 0 { ", " } else { "" })?;
                }
                f.write_str("]")?;
            }
            writeln!(f, ": {}", place.error)?;
        }
        let shown =
            self.lost.iter().take(MOST_LINES).fold(0u64, |sum, place| sum.saturating_add(place.count));
        if let Some(more) = self.lost_places.checked_sub(shown).filter(|more| *more > 0) {
            writeln!(f, "lost: and {more} more places")?;
        }
        if let Some(first) = self.stale.first() {
            let n = self.stale_chunks;
            writeln!(
                f,
                "stale: chunk {first}{}: another program wrote it, or it is damaged: kept",
                if n > 1 { format!(" and {} more", n - 1) } else { String::new() }
            )?;
        }
        for what in &self.left_out {
            writeln!(f, "left out: {what}")?;
        }
        if let Some(original) = &self.original {
            writeln!(f, "the damaged frame is kept: {}", original.display())?;
        }
        Ok(())
    }
}
