//! The dictionary of a new chunk: made of its own filtered blocks, before they are compressed.

use crate::codec;
use crate::codec::Codec;
use crate::error::Error;
use crate::error::Result;

/// The longest dictionary that is written: the most that C-Blosc2 has read since 3.0.
const MAX_BYTES: usize = 32 << 10;
/// A dictionary takes at most 1/SHARE of the chunk.
const SHARE: usize = 20;
/// Shorter dictionaries cost more bytes than they save.
const MIN_BYTES: usize = 256;
/// Bytes of samples for each byte of a trained dictionary; more samples take longer and hardly improve it.
const LOOKED_AT: usize = 100;
/// The shortest samples that a dictionary is trained with.
const MIN_SAMPLE: usize = 32;

/// The samples of a chunk of `nbytes`, as they are gathered.
pub(super) struct Samples {
    codec: Codec,
    /// The most bytes that the dictionary may have.
    room: usize,
    /// Number of sample bytes that are enough.
    enough: usize,
    /// The usual length of a sample; `None` where each block is one.
    length: Option<usize>,
    bytes: Vec<u8>,
    lengths: Vec<usize>,
}

impl Samples {
    /// For a chunk of `streams` streams of about the same length; `None` where it is too short for a dictionary.
    pub(super) fn new(codec: Codec, nbytes: usize, streams: usize) -> Option<Self> {
        let length = (nbytes / streams.max(8) / 16).max(MIN_SAMPLE);
        Some(Samples { length: Some(length), ..Self::of_blocks(codec, nbytes)? })
    }

    /// For a chunk whose blocks are the samples.
    pub(super) fn of_blocks(codec: Codec, nbytes: usize) -> Option<Self> {
        let room = (nbytes / SHARE).min(MAX_BYTES);
        let trained = codec == Codec::Zstd;
        (room >= MIN_BYTES).then(|| Samples {
            codec,
            room,
            enough: if trained { room * LOOKED_AT } else { room },
            length: None,
            bytes: Vec::new(),
            lengths: Vec::new(),
        })
    }

    /// Distance between the blocks to add as samples, of `nblocks` blocks with `nbytes` in all.
    pub(super) fn stride(&self, nblocks: usize, nbytes: usize) -> usize {
        // A dictionary that is a plain copy of samples uses the first blocks.
        if self.codec == Codec::Zstd { (nbytes / self.enough).clamp(1, nblocks.max(1)) } else { 1 }
    }

    pub(super) fn is_enough(&self) -> bool {
        self.bytes.len() >= self.enough
    }

    /// Adds a filtered block.
    pub(super) fn add(&mut self, block: &[u8]) -> Result<()> {
        let len = self.bytes.len() + block.len();
        self.bytes
            .try_reserve(block.len())
            .map_err(|_| Error::out_of_memory("the samples of a dictionary", len as u64))?;
        self.bytes.extend_from_slice(block);
        self.lengths.extend(block.chunks(self.length.unwrap_or(block.len()).max(1)).map(<[u8]>::len));
        Ok(())
    }

    /// Trains the dictionary; `None` if the samples give none that pays.
    pub(super) fn train(&self) -> Result<Option<Vec<u8>>> {
        let dictionary = codec::train(self.codec, &self.bytes, &self.lengths, self.room)?;
        Ok(dictionary.filter(|bytes| bytes.len() >= MIN_BYTES))
    }
}
