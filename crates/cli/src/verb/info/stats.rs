//! What the chunks of a frame are, and how well they compress: from their headers, without decompressing any.

use b2nd::SChunk;
use b2nd::chunk::Special;
use b2nd::schunk::ChunkPlace;
use serde_json::{Value as Json, json};

use crate::report::MOST_CHUNKS;

/// A count of chunks by what they are.
#[derive(Debug, Default)]
pub(super) struct Stats {
    zeros: u64,
    nan: u64,
    uninit: u64,
    value: u64,
    data: u64,
    /// Chunks whose header is damaged.
    damaged: u64,
    /// The smallest and the largest ratio of chunks that are not special.
    ratios: Option<(f64, f64)>,
}

impl Stats {
    /// The chunks of a frame; `None` where there are too many to look at, or none.
    pub(super) fn of(schunk: &SChunk) -> Option<Self> {
        if schunk.nchunks() == 0 || schunk.nchunks() > MOST_CHUNKS {
            return None;
        }
        let mut stats = Stats::default();
        for info in schunk.chunk_infos() {
            let Ok(info) = info else {
                stats.damaged += 1;
                continue;
            };
            match info.special {
                Some(Special::Zeros) => stats.zeros += 1,
                Some(Special::Nan) => stats.nan += 1,
                Some(Special::Uninit) => stats.uninit += 1,
                Some(Special::Value) => stats.value += 1,
                None => {
                    stats.data += 1;
                    let ratio = info.ratio();
                    if info.place != ChunkPlace::Index && ratio.is_finite() {
                        let (least, most) = stats.ratios.unwrap_or((ratio, ratio));
                        stats.ratios = Some((least.min(ratio), most.max(ratio)));
                    }
                }
            }
        }
        Some(stats)
    }

    /// The kinds that occur, the plain one first.
    fn kinds(&self) -> impl Iterator<Item = (&'static str, u64)> {
        [
            ("data", self.data),
            ("zeros", self.zeros),
            ("NaN", self.nan),
            ("one value", self.value),
            ("uninitialised", self.uninit),
            ("damaged", self.damaged),
        ]
        .into_iter()
        .filter(|(_, count)| *count > 0)
    }

    pub(super) fn to_json(&self) -> Json {
        json!({
            "data": self.data,
            "zeros": self.zeros,
            "nan": self.nan,
            "value": self.value,
            "uninit": self.uninit,
            "damaged": self.damaged,
            "smallest_ratio": self.ratios.map(|(least, _)| least),
            "largest_ratio": self.ratios.map(|(_, most)| most),
        })
    }

    /// `3 with data (2.10x to 3.25x), 5 of zeros`; nothing for one chunk with data, of which the rest says all.
    pub(super) fn to_text(&self) -> Option<String> {
        let kinds: Vec<(&str, u64)> = self.kinds().collect();
        if kinds.as_slice() == [("data", 1)] {
            return None;
        }
        let each = |(kind, count): &(&str, u64)| match (*kind, self.ratios) {
            ("data", Some((least, most))) => {
                let (least, most) = (format!("{least:.2}x"), format!("{most:.2}x"));
                let ratios = if least == most { least } else { format!("{least} to {most}") };
                format!("{count} with data ({ratios})")
            }
            ("data", None) => format!("{count} with data"),
            ("damaged", _) => format!("{count} damaged"),
            (kind, _) => format!("{count} of {kind}"),
        };
        Some(kinds.iter().map(each).collect::<Vec<_>>().join(", "))
    }
}
