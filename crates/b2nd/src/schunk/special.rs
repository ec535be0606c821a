//! Chunks all of whose items are the same, as they are stored in a frame.

use super::handle::SChunk;
use crate::chunk;
use crate::chunk::{ChunkHeader, Params, Special};
use crate::error::{Error, Result};
use crate::filter::Pipeline;
use crate::frame::{ChunkOffset, ChunkSizes};
use crate::limits::{Limits, zeroed};

impl SChunk {
    /// Writes a chunk where nothing is yet, and returns its offset; in most frames a chunk of zeros, NaN or
    /// uninitialised items needs no more than that.
    pub(super) fn write_chunk(&mut self, chunk: &[u8], header: &ChunkHeader) -> Result<i64> {
        let typesize = self.header.params().typesize();
        let own = u32::from(header.typesize());
        let value = chunk.get(header.header_len()..).unwrap_or_default();
        match header.special() {
            // What nobody can read is copied as it is.
            _ if header.check_supported().is_err() => {
                self.begin()?;
                self.write_bytes(chunk)
            }
            // An offset speaks of the frame's items: NaN of others is other bytes.
            Some(Special::Nan) if own != typesize => self.write_repeated(nan(own), header.nbytes()),
            Some(Special::Value) if value.len() as u64 != u64::from(typesize) => {
                self.write_repeated(value, header.nbytes())
            }
            Some(kind @ (Special::Zeros | Special::Nan | Special::Uninit)) => {
                self.write_special(kind, header.nbytes())
            }
            _ => {
                self.begin()?;
                self.write_bytes(chunk)
            }
        }
    }

    /// The offset of a special chunk: one that says so, or where chunks differ in size, that of a real chunk.
    pub(super) fn write_special(&mut self, kind: Special, nbytes: u32) -> Result<i64> {
        let typesize = self.header.params().typesize();
        let raw = special_offset(kind, typesize)?;
        if self.header.chunk_sizes() != ChunkSizes::Variable {
            self.begin()?;
            return Ok(raw);
        }
        // An offset has no room for a size, and nobody reads real chunks of these kinds from a file.
        self.write_repeated(if kind == Special::Nan { nan(typesize) } else { &[0] }, nbytes)
    }

    /// Writes a chunk that repeats some bytes.
    fn write_repeated(&mut self, item: &[u8], nbytes: u32) -> Result<i64> {
        self.begin()?;
        let typesize = self.header.params().typesize();
        let same = !item.is_empty() && (typesize as usize).is_multiple_of(item.len());
        let bytes = |len: u32| {
            let mut bytes = zeroed("a repeated value", u64::from(len))?;
            bytes.iter_mut().zip(item.iter().cycle()).for_each(|(to, from)| *to = *from);
            Ok::<_, Error>(bytes)
        };
        // C-Blosc2 opens no frame with a repeated value of another size than the frame's items.
        let chunk = if same && nbytes.is_multiple_of(typesize) {
            chunk::encode_special(Special::Value, nbytes, &bytes(typesize)?, &Params::new(typesize))?
        } else {
            // A stranger's chunk of 40 bytes may claim 2 GiB.
            let most = self.context.limits().max_chunk_bytes();
            Limits::check("a chunk that repeats a value", u64::from(nbytes), most)?;
            // Not compressed, as an encoder may make zeros a special chunk.
            let plain = Params::new(typesize).with_clevel(0).with_pipeline(Pipeline::none());
            chunk::encode(&bytes(nbytes)?, &plain, &self.exec.clone().without_progress())?
        };
        self.write_bytes(&chunk)
    }
}

/// The bytes of NaN.
pub(super) fn nan(typesize: u32) -> &'static [u8] {
    const NAN_4: [u8; 4] = f32::NAN.to_le_bytes();
    const NAN_8: [u8; 8] = f64::NAN.to_le_bytes();
    if typesize == 4 { &NAN_4 } else { &NAN_8 }
}

/// The stored offset that stands for a special chunk.
pub(super) fn special_offset(kind: Special, typesize: u32) -> Result<i64> {
    if kind == Special::Nan && !matches!(typesize, 4 | 8) {
        return Err(Error::usage("special chunks of NaN need items of 4 or 8 bytes"));
    }
    ChunkOffset::Special(kind)
        .to_raw()
        .ok_or_else(|| Error::usage("a repeated value needs a chunk of its own"))
}
