//! The identity of an array, a hash of its content, which binds the checksums of chunks to the array.

use super::digests::FreshEntries;
use crate::error::Result;
use crate::frame::digests::MOST_BYTES;
use crate::frame::{FrameHeader, Offsets, Trailer};
use twox_hash::XxHash3_128;

/// The first bytes that are hashed: another way to make identities starts with others.
const TITLE: &[u8] = b"b2nd identity 1\0";

/// The identity of a frame at the commit that writes its first checksums.
///
/// It depends on the lengths, the metalayers, the vlmetalayers and the chunks alone: not on the time, the process, the number
/// of threads, the places of the chunks in the file or the layout. So the same input gives the same bytes, and no random
/// numbers are needed.
///
/// # Errors
/// Those of reading the offsets.
pub(super) fn identity(
    header: &FrameHeader,
    trailer: &Trailer,
    offsets: &Offsets,
    fresh: &FreshEntries,
) -> Result<[u64; 2]> {
    let mut hasher = XxHash3_128::new();
    hasher.write(TITLE);
    for word in [u64::from(header.params().typesize()), u64::from(header.chunksize()), header.nbytes()] {
        put(&mut hasher, word);
    }
    let fixed = header.metalayers().map(|(name, content)| (name.bytes(), content));
    put_layers(&mut hasher, &fixed.collect::<Vec<_>>());
    let variable = trailer.entries().map(|(name, stored)| (name.bytes(), stored));
    put_layers(&mut hasher, &variable.collect::<Vec<_>>());
    put(&mut hasher, offsets.len());
    let mut chunks = ChunksHash { hasher: &mut hasher, fresh, left: MOST_BYTES / 8, run: None };
    match offsets {
        Offsets::Uniform { raw, len } if *raw < 0 => chunks.run = Some((*raw, *len)).filter(|run| run.1 > 0),
        _ => offsets.each_block(|_, block| {
            block.iter().for_each(|raw| chunks.put(*raw));
            Ok(())
        })?,
    }
    chunks.end_run();
    let hash = hasher.finish_128();
    Ok([hash as u64, (hash >> 64) as u64])
}

fn put(hasher: &mut XxHash3_128, word: u64) {
    hasher.write(&word.to_le_bytes());
}

fn put_layers(hasher: &mut XxHash3_128, layers: &[(&[u8], &[u8])]) {
    put(hasher, layers.len() as u64);
    for (name, content) in layers {
        for bytes in [name, content] {
            put(hasher, bytes.len() as u64);
            hasher.write(bytes);
        }
    }
}

/// The part of the hash that is over the chunks.
struct ChunksHash<'a> {
    hasher: &'a mut XxHash3_128,
    fresh: &'a FreshEntries,
    /// How many more entries a layer has room for. An index of a few bytes can name one chunk millions of times: past this no
    /// layer is written.
    left: u64,
    /// Chunks in a row that are no more than the same negative offset, which says their value: it and their number.
    run: Option<(i64, u64)>,
}

impl ChunksHash<'_> {
    fn end_run(&mut self) {
        if let Some((raw, len)) = self.run.take() {
            self.hasher.write(&raw.to_le_bytes());
            put(self.hasher, len);
        }
    }

    /// Adds a chunk: the hashes of a stored one, or none if it was written without checksums.
    fn put(&mut self, raw: i64) {
        if let Some((_, len)) = self.run.as_mut().filter(|run| run.0 == raw) {
            *len = len.saturating_add(1);
            return;
        }
        self.end_run();
        if raw < 0 {
            self.run = Some((raw, 1));
            return;
        }
        let entries = self.fresh.entries(raw).unwrap_or_default();
        put(self.hasher, entries.len() as u64);
        match self.left.checked_sub(entries.len() as u64) {
            Some(left) => self.left = left,
            None => return,
        }
        entries.iter().for_each(|entry| put(self.hasher, *entry));
    }
}
