//! Decodes everything and says what cannot be read, by chunk, block and array region.

use crate::array::Array;
use crate::array::read::chunk::read_head;
use crate::chunk::ChunkHead;
use crate::chunk::Content;
use crate::chunk::each_block;
use crate::error::Error;
use crate::error::Part;
use crate::error::Result;
use crate::exec::Scratch;
use crate::limits::Limits;
use crate::schunk::Place;
use crate::schunk::{Damage, Standing, Verified, is_damage};
use std::sync::Mutex;
use std::sync::PoisonError;

/// About what an entry of the list costs, its texts included.
const DAMAGE_BYTES: u64 = 512;

impl Array {
    /// Decodes every block, and checks it where there are checksums; one entry of damage for each block, or chunk where no block
    /// of it can be found, in order.
    ///
    /// Chunks that the index puts in the same place are decoded once.
    ///
    /// Without damage all items can be read. That they are right is known of chunks that match their checksums: most codecs
    /// do not notice a flipped bit that leaves their stream well-formed.
    ///
    /// ```
    /// use b2nd::{Dtype, Options};
    /// let a = Options::new().create(None, Dtype::parse("<f8")?, &[10, 10])?;
    /// assert!(a.verify()?.is_sound());
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// What is not the file's fault: [`Error::Cancelled`], [`Error::OutOfMemory`], [`Error::Limit`], and [`Error::Io`]
    /// unless a chunk file is missing or short.
    pub fn verify(&self) -> Result<Verified> {
        let found = Mutex::new(Verified::default());
        // An index of a few bytes can name one stored chunk for all: each is looked at once.
        let groups = self.schunk.same_chunks()?;
        self.schunk.exec().run(groups.len(), u64::MAX, |scratch, group| {
            let Some((first, others)) = groups.get(group) else { return Ok(()) };
            let (mut damage, standing) = self.verify_chunk(first, scratch)?;
            let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
            let all = std::iter::once(first).chain(others.iter());
            match standing {
                Some(standing) if damage.is_empty() => found.note(standing, all),
                _ if damage.is_empty() => {}
                _ => {
                    let unsupported = unsupported(&damage);
                    self.check_list(found.damage.len().saturating_add(damage.len()))?;
                    found.damage.append(&mut damage);
                    for n in others.iter() {
                        self.check_list(found.damage.len().saturating_add(1))?;
                        found.damage.push(self.same_damage(n, first, unsupported.as_deref()));
                    }
                }
            }
            drop(found);
            self.schunk.exec().progress((self.grid.chunk_bytes() as u64).saturating_mul(others.len() + 1));
            Ok(())
        })?;
        let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
        found.sort();
        Ok(found)
    }

    /// An error when a list of `len` entries costs more than the index of chunks may.
    fn check_list(&self, len: usize) -> Result<()> {
        let bytes = (len as u64).saturating_mul(DAMAGE_BYTES);
        Limits::check("the list of damage", bytes, self.schunk.limits().max_index_bytes())
    }

    /// The damage of a chunk that is stored in the same place as a damaged one, or as one that needs what this build cannot
    /// read, which is no damage of the file.
    fn same_damage(&self, n: u64, first: u64, unsupported: Option<&str>) -> Damage {
        let error = match unsupported {
            Some(what) => {
                Error::unsupported(format!("{what}, as chunk {first}, which is stored in the same place"))
            }
            None => {
                Error::format(Part::Offsets, None, format!("the same as chunk {first}, which is damaged"))
            }
        };
        self.damage_at(n, None, false, error)
    }

    /// What is damaged in a chunk, and how it stands to its checksums where it is more than an offset.
    fn verify_chunk(&self, n: u64, scratch: &mut Scratch) -> Result<(Vec<Damage>, Option<Standing>)> {
        let (mut damage, mut standing) = (Vec::new(), None);
        let mut fetched = std::mem::take(&mut scratch.fetched);
        let result = self.verify_stored(n, &mut fetched, scratch, &mut damage);
        scratch.fetched = fetched;
        match result {
            Err(error) if is_damage(&error) => {
                damage.push(self.damage_at(n, None, false, error));
            }
            other => standing = other?,
        }
        Ok((damage, standing))
    }

    fn verify_stored(
        &self,
        n: u64,
        fetched: &mut Vec<u8>,
        scratch: &mut Scratch,
        damage: &mut Vec<Damage>,
    ) -> Result<Option<Standing>> {
        let place = self.schunk.place(n)?;
        let Place::Stored { .. } = place else { return Ok(None) };
        let head = read_head(self, n, place, fetched)?;
        let chunk = self.schunk.fetch(place, 0, head.header().cbytes() as usize, fetched)?;
        let standing = self.schunk.standing(n, place, chunk)?;
        match head.content() {
            Content::Repeat(_) => return Ok(Some(standing)),
            Content::Raw => {
                for b in 0..head.nblocks() {
                    if let Err(error) = head.check_block(b, chunk.get(head.block_span(b)).unwrap_or_default())
                    {
                        damage.push(self.block_damage(n, b, &head, error));
                    }
                }
                return Ok(Some(standing));
            }
            Content::Blocks => {}
        }
        each_block(&head, chunk, scratch, |b, decoded| match decoded {
            Err(error) if is_damage(&error) => {
                damage.push(self.block_damage(n, b, &head, error));
                Ok(())
            }
            other => other.map(drop),
        })?;
        Ok(Some(standing))
    }

    fn block_damage(&self, n: u64, block: usize, head: &ChunkHead, error: Error) -> Damage {
        // In the oldest files a block of the chunk is no box of the array, and with delta all blocks need the first: all
        // of the chunk is in doubt.
        let own = head.header().blocksize() as usize == self.grid.block_bytes()
            && !(block == 0 && head.refers_to_first());
        self.damage_at(n, Some(block as u32), own, error)
    }

    /// The damage of a chunk, or of a block of it whose items alone (`own`) are lost then.
    pub(crate) fn damage_at(&self, n: u64, block: Option<u32>, own: bool, error: Error) -> Damage {
        let position = self.grid.chunk_position(n);
        let (start, stop) = match block {
            Some(block) if own => self.grid.block_box(&position, &self.grid.block_position(block as usize)),
            _ => self.grid.chunk_box(&position),
        };
        let error = match block {
            Some(block) => error.in_block(block),
            None => error,
        };
        Damage { chunk: n, block, start, stop, error: error.in_chunk(n).at(self.schunk.path()) }
    }
}

/// What cannot be read of a chunk, when nothing else is wrong with it.
fn unsupported(damage: &[Damage]) -> Option<String> {
    let only = damage.iter().all(|damage| matches!(damage.error, Error::Unsupported { .. }));
    match damage.first().map(|damage| &damage.error) {
        Some(Error::Unsupported { what, .. }) if only => Some(what.clone()),
        _ => None,
    }
}
