//! All chunks put together: those that were found, what is left of those that are damaged, and the fill in the place of others.

use super::fates::{Fate, Fates};
use super::judge::salvage;
use super::place::{Loss, Placed, Placing};
use crate::array::{Dtype, stored_geometry};
use crate::chunk;
use crate::chunk::{ChunkHeader, Special};
use crate::error::{Error, Part, Result};
use crate::frame::{ChunkOffset, Layout, Offsets};
use crate::limits::{Limits, copied};
use crate::schunk::is_damage;
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

impl Placing<'_> {
    /// What a lost chunk becomes.
    fn fill(&self) -> Result<Special> {
        let kind = match self.options.fill {
            Some(kind) => kind,
            None if self.is_float() => Special::Nan,
            None => Special::Uninit,
        };
        if kind == Special::Value || (kind == Special::Nan && !matches!(self.params.typesize(), 4 | 8)) {
            let typesize = self.params.typesize();
            return Err(Error::usage(format!(
                "lost chunks of items of {typesize} bytes cannot be filled with {kind:?}"
            )));
        }
        Ok(kind)
    }

    fn is_float(&self) -> bool {
        let header = &self.survey.header;
        let meta = stored_geometry(header.metalayers().map(|(name, content)| (name.text(), content)));
        let dtype = meta.and_then(|meta| meta.dtype).and_then(|text| Dtype::parse(&text).ok());
        let size = self.params.typesize() as usize;
        let float = |text: &str| Dtype::parse(text).is_ok_and(|float| Some(float) == dtype);
        matches!(size, 4 | 8)
            && dtype.as_ref().is_some_and(|d| d.itemsize() == size)
            && (float("<f4") || float("<f8"))
    }

    /// Puts together what was found.
    pub(super) fn finish(mut self) -> Result<Placed> {
        let kind = self.fill()?;
        let fates = std::mem::take(&mut self.fates);
        let mut making = Making {
            fill: ChunkOffset::Special(kind).to_raw().unwrap_or(0),
            kind,
            fixed: self.survey.header.chunksize() > 0,
            next: self.first_free(&fates),
            filled: None,
            sizes: HashMap::new(),
            sum: 0,
            offsets: Offsets::none(),
            placed: Placed {
                offsets: Offsets::none(),
                made: Vec::new(),
                files: BTreeMap::new(),
                losses: Vec::new(),
                lost: 0,
                stale: std::mem::take(&mut self.stale),
                nbytes: self.total,
            },
        };
        for (chunks, fate) in fates.runs() {
            self.options.common.exec.check_cancelled()?;
            match fate {
                Fate::Special(raw) => making.put(raw, &chunks, self.allowed)?,
                Fate::Stored(place) => {
                    if !making.fixed {
                        let nbytes = self.size_at(place, &mut making.sizes)?;
                        making.count(nbytes, &chunks);
                    }
                    making.put(signed(place)?, &chunks, self.allowed)?;
                }
                Fate::Unknown => self.fill_in(chunks, &mut making)?,
            }
        }
        let Making { fixed, sum, offsets, mut placed, .. } = making;
        placed.offsets = offsets;
        if !fixed {
            placed.nbytes = sum;
        }
        self.report.chunks = placed.offsets.len();
        self.report.matching = self.matching;
        self.report.stale_chunks = placed.stale.len() as u64;
        self.report.stale = placed.stale.keys().copied().take(self.most).collect();
        Ok(placed)
    }

    /// Uncompressed bytes of the chunk at a place.
    fn size_at(&mut self, place: u64, sizes: &mut HashMap<u64, u32>) -> Result<u32> {
        if let Some(size) = sizes.get(&place) {
            return Ok(*size);
        }
        let size = self.source.chunk(place, &mut self.buffer)?.nbytes();
        sizes
            .try_reserve(1)
            .map_err(|_| Error::out_of_memory("the sizes of the chunks", sizes.len() as u64))?;
        sizes.insert(place, size);
        Ok(size)
    }

    /// A number that no chunk file has.
    fn first_free(&self, fates: &Fates) -> u32 {
        let named = fates.runs().filter_map(|(_, fate)| match fate {
            Fate::Stored(place) => u32::try_from(place).ok(),
            _ => None,
        });
        named.chain(self.source.listing.chunks.last().copied()).max().map_or(0, |last| last.saturating_add(1))
    }

    /// Puts what is left of chunks into the place of those that are not whole, and the fill into that of lost ones.
    fn fill_in(&mut self, mut chunks: Range<u64>, making: &mut Making) -> Result<()> {
        while chunks.start < chunks.end {
            let next = chunks.start.saturating_add(1);
            let end = match self.partial.range(chunks.start..).next().map(|(n, _)| *n) {
                Some(n) if n == chunks.start => {
                    self.save(n, making)?;
                    next
                }
                partial => {
                    let end = partial.unwrap_or(chunks.end).min(chunks.end);
                    self.lose(chunks.start..end, making)?;
                    end
                }
            };
            chunks.start = end;
        }
        Ok(())
    }

    /// Notes lost chunks, which hold the fill.
    fn lose(&mut self, mut chunks: Range<u64>, making: &mut Making) -> Result<()> {
        let place = if making.fixed { making.fill } else { self.filled(making)? };
        making.put(place, &chunks, self.allowed)?;
        if !making.fixed {
            making.count(self.params.typesize(), &chunks);
        }
        making.placed.lost = making.placed.lost.saturating_add(chunks.end.saturating_sub(chunks.start));
        while chunks.start < chunks.end && making.placed.losses.len() < self.most {
            let (error, end) = self.why.take(&chunks);
            let gone = || {
                Error::format(
                    Part::Offsets,
                    None,
                    "its position is not known, and no chunk that was found matches it",
                )
            };
            let error = error.unwrap_or_else(gone);
            making.placed.losses.push(Loss { chunks: chunks.start..end, blocks: None, error });
            chunks.start = end;
        }
        Ok(())
    }

    /// The chunk that lost ones become where chunks differ in size: one item, which is no more than a header. How long a lost
    /// chunk was is not known.
    fn filled(&mut self, making: &mut Making) -> Result<i64> {
        if let Some(place) = making.filled {
            return Ok(place);
        }
        let chunk = chunk::encode_special(making.kind, self.params.typesize(), &[], &self.params)?;
        let place = self.add(&chunk, making)?;
        making.filled = Some(place);
        Ok(place)
    }

    /// Puts a chunk behind the data, or into a file of its own.
    fn add(&self, chunk: &[u8], making: &mut Making) -> Result<i64> {
        let too_large = || Error::too_large(i64::MAX as u64, "the frame is too large");
        if self.source.layout == Layout::Sparse {
            let number = making.next;
            making.next = number.checked_add(1).ok_or_else(too_large)?;
            making.placed.files.insert(number, copied("a chunk", chunk)?);
            return Ok(i64::from(number));
        }
        let made = &mut making.placed.made;
        let place = self.source.len.saturating_add(made.len() as u64);
        made.try_reserve(chunk.len()).map_err(|_| Error::out_of_memory("a chunk", chunk.len() as u64))?;
        made.extend_from_slice(chunk);
        signed(place)
    }

    /// Makes a chunk anew of which some blocks are lost; where that cannot be done, all of it is.
    fn save(&mut self, n: u64, making: &mut Making) -> Result<()> {
        let one = n..n.saturating_add(1);
        let Some((place, blocks)) = self.partial.remove(&n) else { return self.lose(one, making) };
        let nan = match self.params.typesize() {
            4 => f32::NAN.to_le_bytes().to_vec(),
            _ => f64::NAN.to_le_bytes().to_vec(),
        };
        let fill = if making.kind == Special::Nan { nan } else { vec![0] };
        self.source.chunk(place, &mut self.buffer)?;
        let exec = &self.options.common.exec;
        let (params, context, scratch) = (&self.params, &self.context, &mut self.scratch);
        let chunk = match salvage(&self.buffer, &blocks, &fill, params, context, exec, scratch) {
            Ok(chunk) if making.made_bytes().saturating_add(chunk.len() as u64) <= self.allowed => chunk,
            Ok(_) => return self.lose(one, making),
            Err(error) if is_damage(&error) => {
                self.why.note(one.clone(), || error);
                return self.lose(one, making);
            }
            Err(error) => return Err(error),
        };
        making.count(ChunkHeader::parse(&chunk)?.nbytes(), &one);
        let place = self.add(&chunk, making)?;
        making.put(place, &one, self.allowed)?;
        let placed = &mut making.placed;
        placed.lost = placed.lost.saturating_add(blocks.count());
        let room = self.most.saturating_sub(placed.losses.len());
        let losses = blocks.into_runs().take(room);
        placed.losses.extend(losses.map(|(blocks, error)| Loss {
            chunks: one.clone(),
            blocks: Some(blocks),
            error,
        }));
        Ok(())
    }
}

/// What an offset of the result costs while it is written.
const OFFSET_BYTES: u64 = 32;

/// The chunks of the result, as they are put together.
struct Making {
    kind: Special,
    /// The offset of a chunk that holds the fill.
    fill: i64,
    /// Whether all chunks have the same size.
    fixed: bool,
    /// A number that no chunk file has.
    next: u32,
    /// Where the chunk is that lost ones become, where chunks differ in size.
    filled: Option<i64>,
    /// Uncompressed bytes of the chunks at places that were looked at.
    sizes: HashMap<u64, u32>,
    /// Uncompressed bytes of all chunks so far.
    sum: u64,
    offsets: Offsets,
    placed: Placed,
}

impl Making {
    /// Appends chunks that have this offset.
    fn put(&mut self, raw: i64, chunks: &Range<u64>, allowed: u64) -> Result<()> {
        let same = match self.offsets {
            Offsets::Uniform { raw: other, .. } => other == raw,
            _ => self.offsets.len() == 0,
        };
        // Special values that are all the same are stored as one. Else there is a list, its bytes, and these compressed.
        if !same || raw >= 0 {
            Limits::check("the chunk offsets", chunks.end.saturating_mul(OFFSET_BYTES), allowed)?;
        }
        let len = self.offsets.len();
        self.offsets.insert(len, raw, chunks.end.saturating_sub(chunks.start))
    }
    /// Counts the uncompressed bytes of chunks.
    fn count(&mut self, nbytes: u32, chunks: &Range<u64>) {
        let count = chunks.end.saturating_sub(chunks.start);
        self.sum = self.sum.saturating_add(u64::from(nbytes).saturating_mul(count));
    }
    /// The bytes of the chunks that were made anew.
    fn made_bytes(&self) -> u64 {
        let files = self.placed.files.values().map(|file| file.len() as u64);
        files.fold(self.placed.made.len() as u64, u64::saturating_add)
    }
}

fn signed(place: u64) -> Result<i64> {
    i64::try_from(place).map_err(|_| Error::too_large(i64::MAX as u64, "the frame is too large"))
}
