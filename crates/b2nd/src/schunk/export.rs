//! A frame as one buffer.

use super::handle::{Place, SChunk};
use crate::chunk::Special;
use crate::error::{Error, Result};
use crate::frame::Layout;
use crate::frame::{Entry, Offsets};
use std::collections::BTreeMap;

impl SChunk {
    /// The whole frame as one contiguous buffer, compact (no gaps), metalayers and vlmetalayers kept byte for byte.
    ///
    /// Chunks are copied as they are, compressed. A frame of the betas gets a header of today.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let mut header = self.header_for(Layout::Contiguous, None, &[])?;
        let mut out = header.bytes().to_vec();
        let base = out.len() as u64;
        let offsets = self.copy_chunks(|bytes| {
            let at = (out.len() as u64).saturating_sub(base);
            append(&mut out, bytes)?;
            i64::try_from(at).map_err(|_| Error::usage("the frame is too large"))
        })?;
        let too_large = || Error::usage("the frame is too large");
        let cbytes = (out.len() as u64).checked_sub(header.len()).ok_or_else(too_large)?;
        if header.nbytes() > 0 {
            append(&mut out, &offsets.encode(&self.exec.clone().without_progress())?)?;
        }
        append(&mut out, &self.trailer.encode()?)?;
        let cbytes = if header.nbytes() > 0 { cbytes } else { 0 };
        header.set_lengths(out.len() as u64, cbytes, !self.trailer.is_empty());
        out.get_mut(..header.bytes().len()).ok_or_else(too_large)?.copy_from_slice(header.bytes());
        Ok(out)
    }

    /// Hands the bytes of all stored chunks to `put`, which says where it puts them; returns the offsets of the copy.
    pub(super) fn copy_chunks(&self, mut put: impl FnMut(&[u8]) -> Result<i64>) -> Result<Offsets> {
        if let Offsets::Uniform { raw, .. } = &self.offsets
            && *raw < 0
        {
            return Ok(self.offsets.clone());
        }
        let mut buffer = Vec::new();
        // What is stored once for several chunks stays so: an index of a few bytes can name one chunk for all.
        let mut shared = self.shared()?;
        Offsets::collect(self.nchunks(), |n| {
            self.exec.check_cancelled()?;
            let raw = self.offsets.raw(n)?;
            if let Some(Some(known)) = shared.get(&raw) {
                return Ok(*known);
            }
            let new = self.copy_chunk(n, &mut buffer, &mut put)?;
            if let Some(known) = shared.get_mut(&raw) {
                *known = Some(new);
            }
            Ok(new)
        })
    }

    /// Hands one chunk to `put`; a special one may need no more than an offset.
    fn copy_chunk(
        &self,
        n: u64,
        buffer: &mut Vec<u8>,
        put: &mut impl FnMut(&[u8]) -> Result<i64>,
    ) -> Result<i64> {
        let place = self.place(n)?;
        let special = match place {
            Place::Special(kind) => Some(kind),
            Place::Stored { .. } => match self.chunk_header(n, place)?.special() {
                // On disk the reference accepts these as offsets only.
                Some(kind @ (Special::Zeros | Special::Nan | Special::Uninit)) if self.chunksize() > 0 => {
                    Some(kind)
                }
                _ => None,
            },
        };
        if let Some(raw) = special.and_then(|kind| Entry::Special(kind).to_raw()) {
            return Ok(raw);
        }
        let len = usize::try_from(self.chunk_header(n, place)?.cbytes()).unwrap_or(usize::MAX);
        let bytes = self.fetch(place, 0, len, buffer).map_err(|error| self.located(error.in_chunk(n)))?;
        put(bytes).map_err(|error| self.located(error.in_chunk(n)))
    }

    /// The offsets that several chunks have, each with room for its new value.
    fn shared(&self) -> Result<BTreeMap<i64, Option<i64>>> {
        let groups = self.same_chunks()?;
        let firsts = (0..groups.len()).filter_map(|group| groups.get(group));
        let several = firsts.filter(|(_, others)| others.len() > 0);
        several.map(|(first, _)| Ok((self.offsets.raw(first)?, None))).collect()
    }
}

fn append(out: &mut Vec<u8>, bytes: &[u8]) -> Result<()> {
    out.try_reserve(bytes.len()).map_err(|_| Error::out_of_memory("the frame", bytes.len() as u64))?;
    out.extend_from_slice(bytes);
    Ok(())
}
