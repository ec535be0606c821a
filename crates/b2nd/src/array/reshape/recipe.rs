//! How the chunks of an array in its new shape are made: kept, special, taken over compressed, or put together.

use crate::array::Array;
use crate::array::Selection;
use crate::array::cast::Cast;
use crate::array::grid::Grid;
use crate::array::grid::unravel;
use crate::array::read::chunk::special_item;
use crate::array::reshape::part::AxisPart;
use crate::array::reshape::part::AxisParts;
use crate::array::reshape::part::AxisSource;
use crate::array::reshape::part::ChunkSource;
use crate::array::write::FreshChunk;
use crate::chunk;
use crate::chunk::ChunkHeader;
use crate::chunk::Params;
use crate::chunk::Special;
use crate::codec::Codec;
use crate::error::Error;
use crate::error::Result;
use crate::exec::Exec;
use crate::exec::Scratch;
use crate::filter::Filter;
use crate::limits::copied;
use crate::limits::zeroed;
use crate::registry::Context;
use crate::schunk::Place;
use crate::schunk::Processing;
use b2nd_kernel::boxes::Source;
use b2nd_kernel::boxes::copy_box;
use std::ops::Range;
use std::sync::OnceLock;

/// What comes in where an axis has items that the array did not have.
pub(super) enum Incoming<'a> {
    /// One item over and over: as a special chunk of this kind, or as a stored value.
    Fill { special: Special, value: Option<Vec<u8>> },
    /// Items in C order: as many as come in along one axis, and all of the others.
    Items { bytes: &'a [u8], lengths: Vec<usize> },
    /// Other arrays, numbered as the parts name them.
    Arrays(Joined<'a>),
}

/// Arrays that come in, one behind the other.
pub(super) struct Joined<'a> {
    pub(super) arrays: &'a [&'a Array],
    /// The axis that the result has and the arrays have not.
    pub(super) stacked: Option<usize>,
    /// How their items become items of the result, where they are not the same.
    pub(super) cast: Option<Cast>,
}

/// What a chunk of the new shape is, as far as arithmetic tells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Plain {
    /// A chunk of the array as it was.
    Old(u64),
    /// A special chunk of new items.
    Special(Special),
    /// A chunk that must be read.
    Other,
}

/// What an array in its new shape is made of. The array as it was, the base, is handed in where it is read: between the
/// reads it is written.
pub(super) struct Recipe<'a> {
    /// The new geometry.
    pub(super) grid: &'a Grid,
    pub(super) axes: &'a [AxisParts],
    pub(super) incoming: Incoming<'a>,
    pub(super) params: Params,
    /// The codecs and filters of the user, and what these know of the array.
    pub(super) context: Context,
    /// The closures of the array that is made.
    pub(super) processing: Processing,
}

/// A chunk that is neither an old one nor filled, by its number; the special kind where it is one.
pub(super) type Changed = (u64, Option<Special>);

/// About the uncompressed bytes of the chunks that are compressed between two writes.
const BATCH_BYTES: usize = 32 << 20;

/// A box of the result that comes from one place.
pub(super) struct JoinedPiece {
    /// Where it begins in the chunk.
    pub(super) inside: Vec<usize>,
    pub(super) counts: Vec<usize>,
    pub(super) from: PieceOrigin,
    /// Where it begins there.
    start: Vec<u64>,
}

/// A place that items come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PieceOrigin {
    Base,
    New(usize),
}

impl Recipe<'_> {
    fn fates(&self, position: &[u64]) -> impl Iterator<Item = ChunkSource> {
        let axes = self.axes.iter().zip(position).zip(self.grid.chunks()).enumerate();
        axes.map(|(axis, ((parts, &at), &length))| {
            parts.fate(at, length, |source| self.source_len(source, axis))
        })
    }

    /// The length of an incoming source along an axis.
    fn source_len(&self, source: usize, axis: usize) -> u64 {
        match &self.incoming {
            Incoming::Fill { .. } => u64::MAX,
            Incoming::Items { lengths, .. } => lengths.get(axis).map_or(0, |&n| n as u64),
            Incoming::Arrays(joined) if joined.stacked == Some(axis) => 1,
            Incoming::Arrays(joined) => {
                let theirs = joined.axis(axis);
                joined.arrays.get(source).and_then(|a| a.shape().get(theirs)).copied().unwrap_or(0)
            }
        }
    }

    /// Whether the array had no item of the chunk at `position`.
    pub(super) fn all_new(&self, position: &[u64]) -> bool {
        self.fates(position).any(|fate| matches!(fate, ChunkSource::New { .. } | ChunkSource::Within(_)))
    }

    /// What the chunk at `position` is, without a look at any chunk.
    pub(super) fn plain(&self, position: &[u64], base: Option<&Grid>) -> Plain {
        if let Incoming::Fill { special, value: None } = self.incoming
            && self.all_new(position)
        {
            return Plain::Special(special);
        }
        let Some(base) = base else { return Plain::Other };
        if !self.fates(position).all(|fate| matches!(fate, ChunkSource::Old(_))) {
            return Plain::Other;
        }
        let numbers = self.fates(position).map(|fate| if let ChunkSource::Old(n) = fate { n } else { 0 });
        Plain::Old(base.chunk_number(numbers))
    }

    /// The kind of special chunk that holds all that the chunk at `position` is made of, where there is one.
    pub(super) fn special(&self, position: &[u64], base: Option<&Array>) -> Result<Option<Special>> {
        let mut found = None;
        match &self.incoming {
            Incoming::Items { .. } | Incoming::Fill { value: Some(_), .. } if self.takes_new(position) => {
                return Ok(None);
            }
            Incoming::Fill { special, value: None } if self.takes_new(position) => found = Some(*special),
            // A closure may make something else of it.
            _ if self.is_processed() && (base.is_none() || self.takes_new(position)) => return Ok(None),
            _ => {}
        }
        let cast = matches!(&self.incoming, Incoming::Arrays(joined) if joined.cast.is_some());
        for piece in self.pieces(position, base.is_some()) {
            let Some((array, start, counts)) = self.source(&piece, base) else { return Ok(None) };
            for number in touched_chunks(&array.grid, &start, &counts) {
                let Place::Special(kind) = array.schunk.place(number)? else { return Ok(None) };
                if cast && kind == Special::Nan {
                    // Zeros are zeros in every dtype; this is not.
                    return Ok(None);
                }
                found = match (found, kind) {
                    (None, kind) => Some(kind),
                    (Some(before), kind) if before == kind => Some(kind),
                    (Some(Special::Zeros | Special::Uninit), Special::Zeros | Special::Uninit) => {
                        Some(Special::Zeros)
                    }
                    _ => return Ok(None),
                };
            }
        }
        Ok(found)
    }

    /// The array that a piece comes from, with the box there.
    fn source<'s>(
        &'s self,
        piece: &JoinedPiece,
        base: Option<&'s Array>,
    ) -> Option<(&'s Array, Vec<u64>, Vec<u64>)> {
        let counts = piece.counts.iter().map(|&n| n as u64).collect();
        match (piece.from, &self.incoming) {
            (PieceOrigin::Base, _) => base.map(|array| (array, piece.start.clone(), counts)),
            (PieceOrigin::New(source), Incoming::Arrays(joined)) => {
                let array = joined.arrays.get(source)?;
                Some((array, joined.theirs(&piece.start), joined.theirs(&counts)))
            }
            _ => None,
        }
    }

    /// Whether the chunk at `position` has items that come in.
    pub(super) fn takes_new(&self, position: &[u64]) -> bool {
        let ranges = chunk_ranges(self.grid, position);
        self.axes
            .iter()
            .zip(ranges)
            .any(|(axis, range)| axis.within(range).any(|part| matches!(part.from, AxisSource::New { .. })))
    }

    /// The boxes that the chunk at `position` is put together from; those of a fill value are left out.
    pub(super) fn pieces(&self, position: &[u64], has_base: bool) -> Vec<JoinedPiece> {
        let filled = matches!(self.incoming, Incoming::Fill { .. });
        let ranges = chunk_ranges(self.grid, position);
        let mut pieces = vec![JoinedPiece {
            inside: Vec::new(),
            counts: Vec::new(),
            // Without a base all comes from elsewhere, also where there is no axis to say so.
            from: if has_base { PieceOrigin::Base } else { PieceOrigin::New(0) },
            start: Vec::new(),
        }];
        for (axis, range) in self.axes.iter().zip(ranges) {
            let parts = axis.within(range.clone());
            let parts = parts.filter(|part| !(filled && matches!(part.from, AxisSource::New { .. })));
            pieces = pieces
                .iter()
                .flat_map(|piece| parts.clone().map(|part| piece.along(part, range.start)))
                .collect();
        }
        pieces
    }

    /// The compressed chunk at `position`; `exec` has more than one thread where chunks are too few to go round.
    pub(super) fn encode(
        &self,
        position: &[u64],
        base: Option<&Array>,
        exec: &Exec,
        scratch: &mut Scratch,
    ) -> Result<Vec<u8>> {
        if let Incoming::Fill { value: Some(value), .. } = &self.incoming
            && self.all_new(position)
        {
            let nbytes = self.grid.chunk_bytes() as u32;
            return chunk::encode_special(Special::Value, nbytes, value, &self.params);
        }
        if let Some(taken) = self.take_over(position)? {
            return Ok(taken);
        }
        let whole;
        let (lengths, items, places) = if let Some(given) = self.given(position) {
            given
        } else {
            let lengths: Vec<usize> =
                chunk_ranges(self.grid, position).map(|range| (range.end - range.start) as usize).collect();
            whole = self.assemble(position, base, &lengths, exec)?;
            let places = vec![0; lengths.len()];
            (lengths, &whole[..], places)
        };
        let strides = Grid::strides(&lengths, self.grid.itemsize());
        let offset = places.iter().zip(&strides).map(|(&place, &stride)| place * stride).sum();
        let strides = strides.into_iter().map(usize::cast_signed).collect();
        let fresh = FreshChunk::new(self.grid, position, items, offset, strides);
        let processed = self.processed(position, base, &fresh, &lengths)?;
        let bytes = processed.as_deref();
        let source: &dyn chunk::BlockSource = if let Some(bytes) = &bytes { bytes } else { &fresh };
        let mut packed = std::mem::take(&mut scratch.packed);
        let encoded = if exec.threads() > 1 {
            chunk::encode_from(source, &self.params, &self.context, exec, &mut packed)
        } else {
            chunk::encode_one(source, &self.params, &self.context, scratch, &mut packed)
        };
        // Kept until all of a batch are done, so in memory of their own size.
        let kept = encoded.and_then(|()| copied("a chunk", &packed));
        scratch.packed = packed;
        kept
    }

    /// The caller's items, and the place among them where the chunk begins, when it is made of nothing else.
    fn given(&self, position: &[u64]) -> Option<(Vec<usize>, &[u8], Vec<usize>)> {
        let Incoming::Items { bytes, lengths } = &self.incoming else { return None };
        if !self.all_new(position) {
            return None;
        }
        let ranges = chunk_ranges(self.grid, position);
        let places = self.axes.iter().zip(ranges).map(|(axis, range)| {
            axis.within(range).next().map_or(0, |part| match part.from {
                AxisSource::Old(at) | AxisSource::New { at, .. } => at as usize,
            })
        });
        Some((lengths.clone(), bytes, places.collect()))
    }

    /// The compressed chunk of an incoming array, where it can be taken over as it is.
    fn take_over(&self, position: &[u64]) -> Result<Option<Vec<u8>>> {
        let Incoming::Arrays(joined @ Joined { arrays, stacked, cast: None }) = &self.incoming else {
            return Ok(None);
        };
        if self.is_processed() {
            return Ok(None);
        }
        let mut from = 0;
        let mut theirs = Vec::with_capacity(position.len());
        for fate in self.fates(position) {
            theirs.push(match fate {
                ChunkSource::New { source, chunk } => {
                    from = source;
                    chunk
                }
                ChunkSource::Old(chunk) => chunk,
                ChunkSource::Within(_) | ChunkSource::Mixed => return Ok(None),
            });
        }
        let Some(array) = arrays.get(from) else { return Ok(None) };
        let one = |axis: usize| self.grid.chunks()[axis] == 1 && self.grid.blocks()[axis] == 1;
        // With one axis more, what goes by the shape of a block finds another one.
        let flat = stacked.is_none_or(|axis| one(axis) && !goes_by_shape(&self.params));
        let same = joined.theirs(self.grid.chunks()) == array.chunks()
            && joined.theirs(self.grid.blocks()) == array.blocks()
            && array.grid.itemsize() == self.grid.itemsize()
            && *array.schunk.params() == self.params;
        if !flat || !same {
            return Ok(None);
        }
        let number = array.grid.chunk_number(joined.theirs(&theirs).into_iter());
        let bytes = array.schunk.chunk(number)?;
        let header = ChunkHeader::parse(&bytes)?;
        // A repeated value names blocks of its own making.
        let cut = header.special().is_some() || header.blocksize() as usize == self.grid.block_bytes();
        let long = bytes.get(2).is_some_and(|flags| flags & 5 == 5);
        Ok((cut && long && header.nbytes() as usize == self.grid.chunk_bytes()).then(|| bytes.into_owned()))
    }

    /// The chunks that are neither old nor filled, in order, with the special kind of those that have one.
    pub(super) fn changed(&self, base: Option<&Array>) -> Result<Vec<Changed>> {
        let mut changed = Vec::new();
        for n in 0..self.grid.nchunks() {
            let position = self.grid.chunk_position(n);
            if self.plain(&position, base.map(|base| &base.grid)) == Plain::Other {
                let bytes = (changed.len() as u64).saturating_mul(size_of::<Changed>() as u64);
                changed
                    .try_reserve(1)
                    .map_err(|_| Error::out_of_memory("the list of changed chunks", bytes))?;
                changed.push((n, self.special(&position, base)?));
            }
        }
        Ok(changed)
    }

    /// Compresses some chunks, in parallel.
    pub(super) fn batch(&self, numbers: &[u64], base: Option<&Array>, exec: &Exec) -> Result<Vec<Vec<u8>>> {
        let each = self.grid.chunk_bytes() as u64;
        let made: Vec<OnceLock<Vec<u8>>> = numbers.iter().map(|_| OnceLock::new()).collect();
        let few = numbers.len() < exec.threads();
        let inner = if few { exec.clone().without_progress() } else { exec.single() };
        let one = |scratch: &mut Scratch, task: usize| {
            let (Some(&number), Some(made)) = (numbers.get(task), made.get(task)) else { return Ok(()) };
            let encoded = self.encode(&self.grid.chunk_position(number), base, &inner, scratch);
            // No other task sets it.
            let _ = made.set(encoded.map_err(|error| error.in_chunk(number))?);
            exec.progress(each);
            Ok(())
        };
        if few {
            // The threads share the blocks of each.
            exec.with_scratch(|scratch| (0..numbers.len()).try_for_each(|task| one(scratch, task)))?;
        } else {
            let (codec, clevel) = (self.params.codec(), self.params.clevel());
            let effort = codec.effort_to_write(clevel, each.saturating_mul(numbers.len() as u64));
            exec.run(numbers.len(), effort, one)?;
        }
        Ok(made.into_iter().filter_map(OnceLock::into_inner).collect())
    }

    /// How many chunks to compress between two writes: work for all threads, within bounded memory.
    pub(super) fn batch_len(&self, exec: &Exec) -> usize {
        (BATCH_BYTES / self.grid.chunk_bytes().max(1)).max(2 * exec.threads())
    }

    /// The items of a chunk in C order, without padding.
    fn assemble(
        &self,
        position: &[u64],
        base: Option<&Array>,
        lengths: &[usize],
        exec: &Exec,
    ) -> Result<Vec<u8>> {
        let itemsize = self.grid.itemsize();
        let bytes = lengths.iter().fold(itemsize as u64, |total, &n| total.saturating_mul(n as u64));
        let mut whole = zeroed("a chunk", bytes)?;
        if let Some(array) = base
            && let Some(selection) = self.left_over(position)?
        {
            // In one read, so that no block is decoded for each of the parts that come from it.
            let items = self.items_of(array, PieceOrigin::Base);
            items.read_resolved_with(selection.resolve(array.shape())?, &mut whole, exec)?;
            return Ok(whole);
        }
        if let Incoming::Fill { special, value } = &self.incoming
            && self.takes_new(position)
        {
            let item = match (value, base) {
                (Some(value), _) => value.clone(),
                (None, Some(base)) => special_item(*special, itemsize, base.schunk.limits())?,
                (None, None) => Vec::new(),
            };
            if item.iter().any(|&byte| byte != 0) {
                whole.chunks_exact_mut(item.len()).for_each(|at| at.copy_from_slice(&item));
            }
        }
        let strides = Grid::strides(lengths, itemsize);
        for piece in self.pieces(position, base.is_some()) {
            self.put(&piece, base, &mut whole, lengths, &strides, exec)?;
        }
        Ok(whole)
    }

    /// Where the items of a chunk were, when all of them are old.
    fn left_over(&self, position: &[u64]) -> Result<Option<Selection>> {
        let mut parts = Vec::with_capacity(self.axes.len());
        for (axis, range) in self.axes.iter().zip(chunk_ranges(self.grid, position)) {
            match axis.old(range)? {
                Some(part) => parts.push(part),
                None => return Ok(None),
            }
        }
        Ok(Some(Selection::new(parts)))
    }

    /// Copies a piece to its place in a chunk in C order.
    fn put(
        &self,
        piece: &JoinedPiece,
        base: Option<&Array>,
        whole: &mut [u8],
        lengths: &[usize],
        strides: &[usize],
        exec: &Exec,
    ) -> Result<()> {
        let itemsize = self.grid.itemsize();
        let read;
        let (bytes, offset, from) = if let (PieceOrigin::New(_), Incoming::Items { bytes, lengths }) =
            (piece.from, &self.incoming)
        {
            let strides = Grid::strides(lengths, itemsize);
            let offset = piece.start.iter().zip(&strides).map(|(&at, &stride)| at as usize * stride).sum();
            (*bytes, offset, strides)
        } else {
            let missing = || Error::usage("a part of the new shape has no source");
            let (array, start, counts) = self.source(piece, base).ok_or_else(missing)?;
            let cast = match (&self.incoming, piece.from) {
                (Incoming::Arrays(joined), PieceOrigin::New(_)) => joined.cast.as_ref(),
                _ => None,
            };
            if piece.counts == lengths && cast.is_none() {
                return self.items_of(array, piece.from).read_box(&start, &counts, whole, exec);
            }
            let items: u64 = counts.iter().product();
            let mut items = zeroed("part of a chunk", items.saturating_mul(array.grid.itemsize() as u64))?;
            self.items_of(array, piece.from).read_box(&start, &counts, &mut items, exec)?;
            read = match cast {
                Some(cast) => cast.items(items)?,
                None => items,
            };
            (&read[..], 0, Grid::strides(&piece.counts, itemsize))
        };
        let to = piece.inside.iter().zip(strides).map(|(&at, &stride)| at * stride).sum();
        let from: Vec<isize> = from.iter().map(|&stride| stride as isize).collect();
        let source = Source { bytes, offset, strides: &from };
        if copy_box(itemsize, &piece.counts, whole, to, strides, source) {
            Ok(())
        } else {
            Err(Error::usage("the items do not fit the chunk"))
        }
    }
}

impl JoinedPiece {
    /// The piece, with one axis more.
    fn along(&self, part: AxisPart, chunk_start: u64) -> Self {
        let (from, at) = match part.from {
            AxisSource::Old(at) => (self.from, at),
            AxisSource::New { source, at } => (PieceOrigin::New(source), at),
        };
        let with = |list: &[usize], n: u64| list.iter().copied().chain([n as usize]).collect();
        JoinedPiece {
            inside: with(&self.inside, part.start - chunk_start),
            counts: with(&self.counts, part.count),
            from,
            start: self.start.iter().copied().chain([at]).collect(),
        }
    }
}

impl Joined<'_> {
    /// The axis of the arrays that an axis of the result is.
    fn axis(&self, axis: usize) -> usize {
        match self.stacked {
            Some(stacked) if stacked < axis => axis - 1,
            _ => axis,
        }
    }

    /// Numbers for the axes of the result, without the one that the arrays have not.
    fn theirs(&self, numbers: &[u64]) -> Vec<u64> {
        let kept = numbers.iter().enumerate().filter(|(axis, _)| self.stacked != Some(*axis));
        kept.map(|(_, &n)| n).collect()
    }
}

/// Whether codec or filters may look at the shape of a block; of those of the user nobody knows.
fn goes_by_shape(params: &Params) -> bool {
    let plain =
        |codec| matches!(codec, Codec::BloscLz | Codec::Lz4 | Codec::Lz4Hc | Codec::Zlib | Codec::Zstd);
    let shaped = |filter| matches!(filter, Filter::NdCell | Filter::NdMean | Filter::Other(_));
    !plain(params.codec()) || params.pipeline().filters().any(|(filter, _)| shaped(filter))
}

/// The indices of a chunk along each axis, without padding.
fn chunk_ranges(grid: &Grid, position: &[u64]) -> impl Iterator<Item = Range<u64>> {
    let (start, stop) = grid.chunk_box(position);
    start.into_iter().zip(stop).map(|(start, stop)| start..stop)
}

/// The numbers of the chunks that hold items of a box.
fn touched_chunks<'g>(grid: &'g Grid, start: &[u64], counts: &[u64]) -> impl Iterator<Item = u64> + 'g {
    let boxes = start.iter().zip(counts).zip(grid.chunks());
    let ranges: Vec<Range<u64>> = boxes.map(|((&at, &n), &c)| at / c..(at + n).div_ceil(c)).collect();
    let lengths: Vec<u64> = ranges.iter().map(|range| range.end - range.start).collect();
    (0..lengths.iter().product()).map(move |n| {
        let at = unravel(n, &lengths);
        grid.chunk_number(ranges.iter().zip(at).map(|(range, at)| range.start + at))
    })
}
