//! A job: begun once, joined by workers, committed by whoever has their receipts.
//!
//! ```text
//! wind.b2nd          the array, whose chunks are uninitialised until they are committed
//! wind.b2nd.parts/   job, and finished chunks: CHUNK-DIGEST.part
//! ```
//!
//! Workers only add files, under names made of what is in them, so they need neither locks nor each other: a worker that is
//! killed costs the chunks it had not finished, and one that does a chunk again writes the same name again. Only a commit
//! changes the array, as any other change does: all of it or nothing.

use super::receipt::{FillReceipt, hex};
use crate::array::dtype::Dtype;
use crate::array::handle::Array;
use crate::array::options::{Fill, Options};
use crate::array::selection::Selection;
use crate::array::shape::Shape;
use crate::chunk::Special;
use crate::error::{Error, Part, Result};
use crate::io::{Parts, remove_frame};
use crate::schunk::{OpenOptions, Place, SaveOptions};
use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// The mark of a job, with its revision.
const MARK: &str = "b2nd-fill-1";

/// One array that many processes fill.
///
/// One process begins the job ([`Options::begin_fill`]); any number of others [join](FillJob::join) it, each writes whole
/// chunks of its own and sends the [receipts](FillReceipt) to whoever commits. Until then nobody sees the chunks; chunks that
/// are not there yet are uninitialised ([`FillJob::missing`]). Workers write at the same time without locks and without
/// knowing of each other, on any file system where renaming a file is atomic. A chunk may be written more than once: the
/// same content is the same part, and of differing ones the last receipt of a commit wins.
///
/// ```
/// use b2nd::array::FillJob;
/// use b2nd::{s, Array, Dtype, Options};
/// # let path = std::env::temp_dir().join(format!("b2nd-doc-fill-{}.b2nd", std::process::id()));
/// let options = Options::new().with_chunks([2, 4]);
/// options.begin_fill(&path, Dtype::parse("<u2")?, [3, 4])?;
///
/// // In another process, on another machine:
/// let worker = FillJob::join(&path)?;
/// let receipts = worker.write_bytes(s![..2], &[1; 16])?;
///
/// // Where receipts are collected:
/// let job = FillJob::join(&path)?;
/// assert_eq!(job.commit(&receipts)?.missing, 1);
/// assert_eq!(job.missing()?, [1]);
/// let rest = job.write_chunk(1, &[2; 8])?;
/// assert!(job.write_bytes(s![1..], &[2; 16]).is_err()); // not whole chunks
/// let array = job.finish(&[rest])?;
/// assert_eq!(array.read_items::<u16>(s![.., 0])?, [0x0101, 0x0101, 0x0202]);
/// # std::fs::remove_file(&path).unwrap();
/// # Ok::<(), b2nd::Error>(())
/// ```
#[derive(Debug)]
pub struct FillJob {
    array: Array,
    path: PathBuf,
    options: OpenOptions,
    parts: Parts,
    id: u128,
}

/// Result of a commit of a [`FillJob`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Filled {
    /// Chunks that this commit put into the array.
    pub committed: u64,
    /// Number of chunks that are still missing.
    pub missing: u64,
}

impl Options {
    /// Begins to fill an array at `path` from many processes: makes it, with no chunk initialised, and the folder beside it
    /// for what workers have finished. The fill of these options has no use here. With
    /// [`Options::with_overwrite`] the folder of an unfinished job is replaced too: the receipts of that job are refused from
    /// then on. See [`FillJob`].
    ///
    /// # Errors
    /// As [`Options::create`]; [`Error::Io`] when there is a folder of an unfinished job and it is not to be replaced;
    /// [`Error::Usage`] for options with a closure on blocks to write.
    pub fn begin_fill(
        self,
        path: impl AsRef<Path>,
        dtype: Dtype,
        shape: impl Into<Shape>,
    ) -> Result<FillJob> {
        let path = path.as_ref();
        let (options, overwrite) = (self.reopen(), self.overwrite);
        check_closures(&options)?;
        let writer = self.with_fill(Fill::Uninit).create_uncommitted(path, dtype, shape)?;
        let id = new_id();
        if overwrite {
            Parts::discard(path, options.common.durability)?;
        }
        let parts = Parts::create(path, &format!("{MARK}\n{id:032x}\n"), options.common.durability)?;
        if let Err(error) = writer.commit() {
            // Nothing remains.
            let _ = parts.close();
            return Err(error);
        }
        FillJob::join_with(path, &options)
    }
}

/// Parts are compressed as small arrays, so a closure would get positions in the part and not in the array.
fn check_closures(options: &OpenOptions) -> Result<()> {
    match options.common.processing.pre {
        Some(_) => {
            Err(Error::usage("workers of a fill job take no closure on blocks: change the items before"))
        }
        None => Ok(()),
    }
}

impl FillJob {
    /// Joins the job that was begun at `path`.
    ///
    /// # Errors
    /// [`Error::NotFound`] where none was begun or it is finished, and the errors of [`Array::open`].
    pub fn join(path: impl AsRef<Path>) -> Result<Self> {
        FillJob::join_with(path, &OpenOptions::new())
    }

    /// Joins a job with these options: threads, durability, codecs of the user.
    ///
    /// # Errors
    /// As [`FillJob::join`]; [`Error::Usage`] for options with a closure on blocks to write.
    pub fn join_with(path: impl AsRef<Path>, options: &OpenOptions) -> Result<Self> {
        let path = path.as_ref();
        check_closures(options)?;
        let array = Array::open_with(path, &options.clone().with_write(false))?;
        let none = || Error::NotFound {
            what: "job",
            name: path.display().to_string(),
            message: "no job is open here: it was never begun, or it is finished".to_owned(),
            path: Some(path.to_path_buf()),
        };
        let (parts, job) = Parts::open(path, options.common.durability)?.ok_or_else(none)?;
        let id = job.strip_prefix(MARK).and_then(|rest| hex(rest.trim())).ok_or_else(none)?;
        Ok(FillJob { array, path: path.to_path_buf(), options: options.clone(), parts, id })
    }

    /// The array as it was when this process joined: shape, dtype and partition.
    pub fn array(&self) -> &Array {
        &self.array
    }

    /// Writes chunk `n`: its items inside the array, in C order and in the dtype's own byte order.
    ///
    /// When this returns, the chunk is where its receipt says, at the durability of the options.
    ///
    /// # Errors
    /// [`Error::OutOfBounds`] where there is no such chunk, [`Error::LengthMismatch`] where it takes another number
    /// of bytes; [`Error::Io`] when the part cannot be written. Then there is no such part.
    pub fn write_chunk(&self, n: u64, items: &[u8]) -> Result<FillReceipt> {
        let grid = &self.array.grid;
        if n >= grid.nchunks() {
            return Err(Error::out_of_bounds(
                n,
                grid.nchunks(),
                format!("there is no chunk {n}: the array has {}", grid.nchunks()),
            ));
        }
        let (start, stop) = grid.chunk_box(&grid.chunk_position(n));
        let bounds: Vec<_> = start.into_iter().zip(stop).map(|(start, stop)| start..stop).collect();
        self.write_box(&bounds, items)?.pop().ok_or_else(|| Error::usage("the array has no items"))
    }

    /// Writes a box of whole chunks: a receipt for each, in the order of their numbers. At the end of an axis a chunk is
    /// whole when all of it that lies inside the array is there.
    ///
    /// # Errors
    /// [`Error::Usage`] for a selection that is no box of whole chunks (it says along which axis), or items of
    /// another number of bytes; [`Error::Io`] when a part cannot be written: parts that were finished before stay,
    /// without receipts.
    pub fn write_bytes(&self, selection: impl Into<Selection>, items: &[u8]) -> Result<Vec<FillReceipt>> {
        let resolved = selection.into().resolve(self.array.shape())?;
        let bounds = resolved.as_box().ok_or_else(|| {
            Error::usage("workers write boxes of whole chunks: ranges with step 1, without lists, indices and new axes")
        })?;
        self.write_box(&bounds, items)
    }

    fn write_box(&self, bounds: &[Range<u64>], items: &[u8]) -> Result<Vec<FillReceipt>> {
        let grid = &self.array.grid;
        for (axis, (range, (&chunk, &length))) in
            bounds.iter().zip(grid.chunks().iter().zip(grid.shape())).enumerate()
        {
            let whole = |at: u64| at.is_multiple_of(chunk.max(1));
            if !whole(range.start) || !whole(range.end) && range.end != length {
                return Err(Error::usage(format!(
                    "{}..{} of axis {axis} is not made of whole chunks, which have {chunk} items there: another worker may \
                     be writing the rest of a chunk at the same time",
                    range.start, range.end
                )));
            }
        }
        // A small array with the same chunk shape, which compresses a chunk to the same bytes as the large one.
        let shape: Vec<u64> = bounds.iter().map(|range| range.end - range.start).collect();
        let like = Options::new()
            .with_chunks(grid.chunks())
            .with_blocks(grid.blocks())
            .with_params(self.array.schunk.params_to_write())
            .with_frame_options(self.options.common.without_handle());
        let mut part = like.create_uncommitted_in_memory(self.array.dtype().clone(), &shape)?;
        part.write_bytes(Selection::all(), items)?;
        let part = part.array();
        (0..part.schunk.nchunks())
            .map(|n| {
                let position = part.grid.chunk_position(n).into_iter().zip(bounds).zip(grid.chunks());
                let position = position.map(|((at, range), &chunk)| at + range.start / chunk.max(1));
                let bytes = part.schunk.chunk(n)?;
                let receipt = FillReceipt::new(self.id, grid.chunk_number(position), &bytes);
                self.parts.put(&receipt.name(), &bytes)?;
                Ok(receipt)
            })
            .collect()
    }

    /// Puts chunks into the array by their receipts: all of them become visible at once, or none.
    ///
    /// Receipts may come in any order and repeatedly: a chunk that the array already has, with the same content, is
    /// skipped, so a commit whose outcome is unknown can be repeated. Several processes may commit, one after
    /// another.
    ///
    /// # Errors
    /// [`Error::Usage`] or [`Error::State`] for receipts of another job, for a chunk that was committed with another
    /// content, and if a part is missing; [`Error::Format`] for a part that is damaged: its worker has to write it
    /// again; [`Error::Locked`] while another process commits: try again. Other errors as [`Array::open_with`] for
    /// writing has them. Nothing has changed then.
    pub fn commit(&self, receipts: &[FillReceipt]) -> Result<Filled> {
        let mut last = BTreeMap::new();
        for receipt in receipts {
            if receipt.job != self.id {
                return Err(Error::usage(format!("the receipt '{receipt}' is of another job")));
            }
            last.insert(receipt.chunk, receipt);
        }
        let mut array = Array::open_with(&self.path, &self.options.clone().with_write(true))?;
        if array.shape() != self.array.shape() || array.chunks() != self.array.chunks() {
            return Err(Error::state(
                "the array has another shape than when this process joined: join again",
            ));
        }
        let mut committed = 0;
        let mut transaction = array.transaction();
        for (&n, receipt) in &last {
            transaction.stage(|array| {
                committed += u64::from(self.take(array, n, receipt)?);
                Ok(())
            })?;
        }
        if committed > 0 {
            transaction.commit()?;
        } else {
            drop(transaction);
        }
        // Their content is in the array now; other parts of these chunks, if any, go at the end.
        let names: Vec<String> = last.values().map(|receipt| receipt.name()).collect();
        self.parts.remove(names.iter().map(String::as_str));
        Ok(Filled { committed, missing: missing(&array)?.len() as u64 })
    }

    /// Puts one chunk into the array; returns whether the array did not have it yet.
    fn take(&self, array: &mut Array, n: u64, receipt: &FillReceipt) -> Result<bool> {
        let there = array.schunk.place(n)?;
        if !matches!(there, Place::Special(Special::Uninit)) {
            if receipt.fits(&array.schunk.chunk(n)?) {
                return Ok(false);
            }
            return Err(Error::state(format!("chunk {n} was committed before, with another content")));
        }
        let most = self.array.schunk.limits().max_chunk_bytes().saturating_add(1 << 20);
        let bytes = self.parts.get(&receipt.name(), most)?.ok_or_else(|| {
            Error::state(format!("the part of chunk {n} is gone: its worker has to write it again"))
        })?;
        if !receipt.fits(&bytes) {
            let reason = format!("the part {} is damaged: its worker has to write it again", receipt.name());
            return Err(Error::format(Part::Stream, None, reason).in_chunk(n));
        }
        array.schunk.put_chunk(n, &bytes)?;
        Ok(true)
    }

    /// The numbers of uncommitted chunks, ascending.
    ///
    /// # Errors
    /// Those of [`Array::open`].
    pub fn missing(&self) -> Result<Vec<u64>> {
        missing(&Array::open_with(&self.path, &self.options.clone().with_write(false))?)
    }

    /// Commits the last receipts, ends the job and removes the folder of the parts; the array, opened for reading.
    ///
    /// # Errors
    /// [`Error::State`] where chunks are missing (it names some): what there was is committed, and the job goes on.
    /// And as [`FillJob::commit`].
    pub fn finish(self, receipts: &[FillReceipt]) -> Result<Array> {
        self.complete(receipts)?;
        let array = Array::open_with(&self.path, &self.options.clone().with_write(false))?;
        self.parts.close()?;
        Ok(array)
    }

    /// As [`FillJob::finish`], and saves the array as one compact contiguous file at `path`, without recompression. The array
    /// that was filled stays.
    ///
    /// # Errors
    /// As [`FillJob::finish`] and [`Array::save`].
    pub fn pack(self, receipts: &[FillReceipt], path: impl AsRef<Path>, options: &SaveOptions) -> Result<()> {
        self.finish(receipts)?.save(path, options)
    }

    /// Ends the job without a result: removes the folder of the parts and the array, whatever was committed to it.
    ///
    /// Workers that still write get errors from then on.
    ///
    /// # Errors
    /// [`Error::State`] where the job has ended or another one has taken its place; [`Error::Locked`] while another
    /// process commits. Then nothing is removed. [`Error::Io`] when something cannot be removed.
    pub fn abandon(self) -> Result<()> {
        let current = FillJob::join_with(&self.path, &self.options)?;
        if current.id != self.id {
            return Err(Error::state(format!(
                "{}: this job was replaced by another one",
                self.path.display()
            )));
        }
        // Removes the array first: the next job notices parts without an array, but an array without parts would look
        // complete.
        remove_frame(&self.path, self.options.common.owner_lock())?;
        self.parts.close()
    }

    fn complete(&self, receipts: &[FillReceipt]) -> Result<()> {
        self.commit(receipts)?;
        let missing = self.missing()?;
        if missing.is_empty() {
            return Ok(());
        }
        let some: Vec<String> = missing.iter().take(5).map(u64::to_string).collect();
        let more = if missing.len() > some.len() { ", …" } else { "" };
        Err(Error::state(format!(
            "{} of {} chunks are missing: {}{more}",
            missing.len(),
            self.array.grid.nchunks(),
            some.join(", ")
        )))
    }
}

fn missing(array: &Array) -> Result<Vec<u64>> {
    let mut missing = Vec::new();
    for n in 0..array.schunk.nchunks() {
        if matches!(array.schunk.place(n)?, Place::Special(Special::Uninit)) {
            missing.push(n);
        }
    }
    Ok(missing)
}

/// A number that no other job has: by the process's own random keys, the process and the time.
fn new_id() -> u128 {
    let half = || {
        let now = std::time::SystemTime::now();
        u128::from(RandomState::new().hash_one((std::process::id(), now)))
    };
    half() << 64 | half()
}
