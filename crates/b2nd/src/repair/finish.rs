//! All chunks put together: those that were found, what is left of those that are damaged, and the fill in the place of others.

use super::judge::salvage;
use super::place::{Fate, Loss, Placed, Placing};
use crate::array::{Dtype, stored_geometry};
use crate::chunk;
use crate::chunk::{ChunkHeader, Special};
use crate::error::{Error, Part, Result};
use crate::frame::{Entry, Layout, Offsets};
use crate::schunk::is_damage;
use std::collections::BTreeMap;

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
        let raw = Entry::Special(kind).to_raw().unwrap_or(0);
        let mut placed = Placed {
            offsets: Offsets::none(),
            made: Vec::new(),
            files: BTreeMap::new(),
            losses: Vec::new(),
            stale: std::mem::take(&mut self.stale),
            nbytes: self.total,
        };
        let fates = std::mem::take(&mut self.fates);
        let (mut next, mut sum) = (self.first_free(&fates), 0u64);
        let fixed = self.survey.header.chunksize() > 0;
        placed.offsets = Offsets::collect(fates.len() as u64, |n| {
            let fate = usize::try_from(n).ok().and_then(|n| fates.get(n));
            let stored = match fate {
                Some(Fate::Special(raw)) => return Ok(*raw),
                Some(Fate::Stored(place)) => Some(*place),
                _ => None,
            };
            if let Some(place) = stored {
                if !fixed {
                    sum = sum.saturating_add(u64::from(self.source.chunk(place, &mut self.buffer)?.nbytes()));
                }
                return i64::try_from(place).map_err(|_| Error::usage("the frame is too large"));
            }
            let chunk = match self.saved(n, kind, &mut placed.losses)? {
                None if fixed => return Ok(raw),
                // How long it was nobody knows: one item, which is no more than a header.
                None => chunk::encode_special(kind, self.params.typesize(), &[], &self.params)?,
                Some(chunk) => chunk,
            };
            sum = sum.saturating_add(u64::from(ChunkHeader::parse(&chunk)?.nbytes()));
            if self.source.layout == Layout::Sparse {
                let number = next;
                next = next.checked_add(1).ok_or_else(|| Error::usage("the frame is too large"))?;
                placed.files.insert(number, chunk);
                return Ok(i64::from(number));
            }
            let place = self.source.len.saturating_add(placed.made.len() as u64);
            placed
                .made
                .try_reserve(chunk.len())
                .map_err(|_| Error::out_of_memory("a chunk", chunk.len() as u64))?;
            placed.made.extend_from_slice(&chunk);
            i64::try_from(place).map_err(|_| Error::usage("the frame is too large"))
        })?;
        if !fixed {
            placed.nbytes = sum;
        }
        self.report.chunks = placed.offsets.len();
        self.report.matching = self.matching;
        self.report.stale = placed.stale.keys().copied().collect();
        Ok(placed)
    }

    /// A number that no chunk file has.
    fn first_free(&self, fates: &[Fate]) -> u32 {
        let named = fates.iter().filter_map(|fate| match fate {
            Fate::Stored(place) => u32::try_from(*place).ok(),
            _ => None,
        });
        named.chain(self.source.listing.chunks.last().copied()).max().map_or(0, |last| last.saturating_add(1))
    }

    /// What is left of a chunk that is not whole, with the fill in the place of its lost blocks; `None` where nothing is.
    fn saved(&mut self, n: u64, kind: Special, losses: &mut Vec<Loss>) -> Result<Option<Vec<u8>>> {
        self.check_list((losses.len() as u64).saturating_add(1))?;
        if let Some((place, blocks)) = self.partial.remove(&n) {
            let nan = match self.params.typesize() {
                4 => f32::NAN.to_le_bytes().to_vec(),
                _ => f64::NAN.to_le_bytes().to_vec(),
            };
            let fill = if kind == Special::Nan { nan } else { vec![0] };
            self.source.chunk(place, &mut self.buffer)?;
            let len = ChunkHeader::parse(&self.buffer)?.cbytes() as usize;
            self.buffer.resize(len, 0x7f);
            let how = (&self.params, &self.context);
            let saved = salvage(&self.buffer, &blocks, &fill, how, &self.options.exec, &mut self.scratch);
            match saved {
                Ok(chunk) => {
                    losses.extend(blocks.into_iter().map(|(block, error)| Loss {
                        chunk: n,
                        block: u32::try_from(block).ok(),
                        error,
                    }));
                    return Ok(Some(chunk));
                }
                Err(error) if is_damage(&error) => drop(self.why.insert(n, error)),
                Err(error) => return Err(error),
            }
        }
        let gone = || {
            Error::format(Part::Offsets, None, "where it was is not known, and nothing that was found is it")
        };
        let error = self.why.remove(&n).unwrap_or_else(gone);
        losses.push(Loss { chunk: n, block: None, error });
        Ok(None)
    }
}
