//! A frame as one buffer.

use super::handle::{Place, SChunk};
use crate::chunk::Special;
use crate::error::{Error, Result};
use crate::frame::Layout;
use crate::frame::{Entry, Header, HeaderFields, Name, Offsets};
use std::collections::BTreeMap;

impl SChunk {
    /// The whole frame as one contiguous buffer, compact (no gaps), metalayers and vlmetalayers kept byte for byte.
    ///
    /// Chunks are copied as they are, compressed. A frame of the betas gets a header of today.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let mut header = self.contiguous_header()?;
        let mut out = header.bytes().to_vec();
        let offsets = match &self.offsets {
            uniform @ Offsets::Uniform { raw, .. } if *raw < 0 => uniform.clone(),
            _ => self.copy_chunks(&mut out)?,
        };
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

    /// The header of the copy, without its lengths.
    fn contiguous_header(&self) -> Result<Header> {
        if self.header.is_current() {
            let mut header = self.header.clone();
            header.set_layout(Layout::Contiguous);
            return Ok(header);
        }
        let (chunksize, nbytes) = (self.chunksize(), self.nbytes());
        let fields =
            HeaderFields { layout: Layout::Contiguous, params: self.header.params(), chunksize, nbytes };
        let metalayers: Vec<(&[u8], &[u8])> =
            self.header.metalayers().map(|(name, content): (&Name, &[u8])| (name.bytes(), content)).collect();
        Header::build(&fields, &metalayers)
    }

    /// Appends all chunks to `out`, which holds the header; returns where they are.
    fn copy_chunks(&self, out: &mut Vec<u8>) -> Result<Offsets> {
        let base = out.len() as u64;
        let count = usize::try_from(self.nchunks()).unwrap_or(usize::MAX);
        let mut all = Vec::new();
        all.try_reserve_exact(count)
            .map_err(|_| Error::out_of_memory("the chunk offsets", self.nchunks().saturating_mul(8)))?;
        let mut buffer = Vec::new();
        // What is stored once for several chunks stays so: an index of a few bytes can name one chunk for all.
        let mut shared = self.shared()?;
        for n in 0..self.nchunks() {
            self.exec.check_cancelled()?;
            let raw = self.offsets.raw(n)?;
            if let Some(Some(known)) = shared.get(&raw) {
                all.push(*known);
                continue;
            }
            let place = self.place(n)?;
            let entry = match place {
                Place::Special(kind) => Entry::Special(kind),
                Place::Stored { .. } => {
                    let header = self.chunk_header(n, place)?;
                    match header.special() {
                        // On disk the reference accepts these as offsets only.
                        Some(kind @ (Special::Zeros | Special::Nan | Special::Uninit))
                            if self.chunksize() > 0 =>
                        {
                            Entry::Special(kind)
                        }
                        _ => {
                            let len = usize::try_from(header.cbytes()).unwrap_or(usize::MAX);
                            let bytes = self.fetch(place, 0, len, &mut buffer);
                            let entry = Entry::Stored((out.len() as u64).saturating_sub(base));
                            append(out, bytes.map_err(|error| self.located(error.in_chunk(n)))?)?;
                            entry
                        }
                    }
                }
            };
            let new = entry.to_raw().ok_or_else(|| Error::usage("the frame is too large"))?;
            if let Some(known) = shared.get_mut(&raw) {
                *known = Some(new);
            }
            all.push(new);
        }
        Ok(Offsets::Each(all))
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
