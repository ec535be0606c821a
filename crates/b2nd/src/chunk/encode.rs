//! Encoding of chunks, block by block: on one thread, or on many with the same bytes as the result.

use super::MAX_CHUNK_BYTES;
use super::assembly::{Assembly, Run};
use super::dictionary::Samples;
use super::header;
use super::header::ChunkHeader;
use super::params::Params;
use super::special;
use super::streams::Coder;
use super::streams::Sink;
use super::streams::reserve;
use crate::codec::Codec;
use crate::codec::Engine;
use crate::error::Error;
use crate::error::Result;
use crate::exec::Scratch;
use crate::exec::{Call, Exec};
use crate::filter::Filter;
use crate::filter::Pipeline;
use crate::filter::Steps;
use crate::filter::grown;
use crate::limits::copied;
use crate::registry::Context;
use std::mem::take;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering;

/// Chunks of fewer bytes are stored as they are.
const COMPRESS_FROM_BYTES: u32 = 32;

/// The most uncompressed bytes of a run of blocks that a thread encodes together (a single block may be longer).
const RUN_BYTES: usize = 256 << 10;

/// So many runs for each thread make up for runs that take longer than others.
const RUNS_PER_THREAD: usize = 4;

/// Where the uncompressed blocks of a chunk come from when it is encoded.
pub(crate) trait BlockSource: Sync {
    /// Uncompressed bytes of the whole chunk.
    fn nbytes(&self) -> usize;
    /// The bytes `range` of the chunk (one block): borrowed, or put into `buffer`, which is cleared first.
    ///
    /// May be called repeatedly for one block.
    fn block<'a>(&'a self, range: Range<usize>, buffer: &'a mut Vec<u8>) -> Result<&'a [u8]>;
}

impl BlockSource for &[u8] {
    fn nbytes(&self) -> usize {
        self.len()
    }
    fn block<'a>(&'a self, range: Range<usize>, _: &'a mut Vec<u8>) -> Result<&'a [u8]> {
        self.get(range).ok_or_else(|| Error::usage("a block outside the chunk"))
    }
}

/// Compresses `src` into one chunk, block by block on the threads of `exec`.
///
/// ```
/// use b2nd::{Codec, Exec, Params};
/// use b2nd::chunk::encode;
/// let items: Vec<u8> = (0..10_000u32).flat_map(u32::to_le_bytes).collect();
/// let chunk = encode(&items, &Params::new(4).with_codec(Codec::Lz4), &Exec::new(1))?;
/// assert!(chunk.len() < items.len() / 4);
/// # Ok::<(), b2nd::Error>(())
/// ```
pub fn encode(src: &[u8], params: &Params, exec: &Exec) -> Result<Vec<u8>> {
    encode_with(src, params, &Context::default(), exec)
}

/// As [`encode`], with codecs and filters of the user and with what an array knows of its blocks.
///
/// ```
/// use b2nd::{Codec, Exec, Params, Registry};
/// use b2nd::chunk::{Context, encode_with};
/// let context = Context::default().with_registry(Registry::new());
/// let params = Params::new(1).with_codec(Codec::from_id(200));
/// let error = encode_with(&[1; 100], &params, &context, &Exec::new(1)).unwrap_err();
/// assert!(error.to_string().contains("codec 200"));
/// ```
pub fn encode_with(src: &[u8], params: &Params, context: &Context, exec: &Exec) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    encode_from(&src, params, context, exec, &mut out)?;
    out.shrink_to_fit();
    Ok(out)
}

/// Like [`encode_with`], but replaces the contents of `out`, so that its memory is reused.
///
/// ```
/// use b2nd::{Exec, Limits, Params};
/// use b2nd::chunk::{Context, decode, encode_into};
/// let (params, exec, mut chunk) = (Params::new(1), Exec::new(1), Vec::new());
/// for byte in [1, 2] {
///     encode_into(&[byte; 1000], &params, &Context::default(), &exec, &mut chunk)?;
///     assert_eq!(decode(&chunk, &Limits::default(), &exec)?, [byte; 1000]);
/// }
/// # Ok::<(), b2nd::Error>(())
/// ```
///
/// # Errors
/// As [`encode_with`]; `out` is then empty.
pub fn encode_into(
    src: &[u8],
    params: &Params,
    context: &Context,
    exec: &Exec,
    out: &mut Vec<u8>,
) -> Result<()> {
    encode_from(&src, params, context, exec, out)
}

/// Compresses one chunk on the threads of `exec`, from blocks made on demand, and replaces the contents of `out`.
///
/// Tells the progress hook of each block. The result does not depend on the number of threads.
pub(crate) fn encode_from(
    source: &dyn BlockSource,
    params: &Params,
    context: &Context,
    exec: &Exec,
    out: &mut Vec<u8>,
) -> Result<()> {
    let result = encode_planned(source, params, context, exec, out);
    if result.is_err() {
        out.clear();
    }
    result
}

fn encode_planned(
    source: &dyn BlockSource,
    params: &Params,
    context: &Context,
    exec: &Exec,
    out: &mut Vec<u8>,
) -> Result<()> {
    let mut plan = EncodePlan::new(source.nbytes(), params, context)?;
    exec.with_scratch(|scratch| plan.train(source, params, scratch))?;
    // Reserved memory that is never touched costs almost nothing.
    reserve(out, plan.most())?;
    let told = AtomicU64::new(0);
    let after_block = |bytes| {
        told.fetch_add(bytes, Ordering::Relaxed);
        exec.progress(bytes);
        exec.check_cancelled()
    };
    let call = exec.call(plan.nblocks(), plan.effort);
    if call.is_shared() && !plan.raw_from_start() {
        plan.encode_parallel(source, exec, call, out, &after_block)?;
    } else {
        exec.check_cancelled()?;
        exec.with_scratch(|scratch| plan.encode_serial(source, scratch, out, &after_block))?;
        drop(call);
    }
    // Blocks that were not looked at, because the chunk is stored as it is.
    let rest = u64::from(plan.header.nbytes).saturating_sub(told.into_inner());
    if rest > 0 {
        exec.progress(rest);
    }
    Ok(())
}

/// Compresses one chunk on this thread, and replaces the contents of `out`. Does not call the progress hook.
///
/// Uses all of `scratch` but `packed`.
pub(crate) fn encode_one(
    source: &dyn BlockSource,
    params: &Params,
    context: &Context,
    scratch: &mut Scratch,
    out: &mut Vec<u8>,
) -> Result<()> {
    let mut plan = EncodePlan::new(source.nbytes(), params, context)?;
    plan.train(source, params, scratch)?;
    plan.encode_serial(source, scratch, out, &|_| Ok(()))
}

/// Everything that is decided before the first block is read.
pub(super) struct EncodePlan {
    /// The header, without `cbytes`.
    header: ChunkHeader,
    steps: Steps,
    coder: Coder,
    /// The number of streams of a full block.
    streams: usize,
    /// The dictionary that the streams refer to.
    dictionary: Option<Vec<u8>>,
    /// Effort of writing the chunk, in the units of [`Exec`].
    effort: u64,
}

/// Result of encoding the blocks of a chunk.
enum Outcome {
    Compressed,
    /// All blocks are zeros after the filters.
    Zeros,
    /// Longer than the data itself.
    NoGain,
}

impl EncodePlan {
    pub(super) fn new(nbytes: usize, params: &Params, context: &Context) -> Result<Self> {
        let steps = params.check(context)?;
        let nbytes = u32::try_from(nbytes).ok().filter(|n| *n <= MAX_CHUNK_BYTES).ok_or_else(|| {
            Error::above(
                MAX_CHUNK_BYTES,
                nbytes,
                format!("{nbytes} bytes are more than the {MAX_CHUNK_BYTES} that a chunk can hold"),
            )
        })?;
        let blocksize = params.effective_blocksize(nbytes);
        let typesize = params.stored_typesize();
        let short = params.short_header();
        let (pipeline, steps) = if short && tail_is_lost(nbytes, blocksize, typesize, params.pipeline()) {
            (Pipeline::none(), Steps::for_writing(&Pipeline::none(), usize::from(typesize), short, context)?)
        } else {
            (*params.pipeline(), steps)
        };
        let split = params.splits(blocksize) && blocksize.is_multiple_of(u32::from(typesize));
        let raw = params.clevel() == 0 || nbytes < COMPRESS_FROM_BYTES;
        let header = ChunkHeader {
            version: if short { header::VERSION_BLOSC1 } else { header::VERSION },
            codec_version: 1,
            flags: if raw {
                header::flags_raw(short)
            } else {
                header::flags(short, &pipeline, split, params.codec())
            },
            typesize,
            nbytes,
            blocksize,
            cbytes: 0,
            pipeline,
            codec_id: params.codec().id(),
            codec_meta: params.codec_meta(),
            flags2: 0,
            blosc2_flags: 0,
        };
        let engine = Engine::new(params.codec(), params.codec_meta(), params.typesize(), context);
        let coder = Coder { engine, clevel: params.clevel(), runs: !short };
        Ok(EncodePlan {
            header,
            steps,
            coder,
            streams: if split { usize::from(typesize) } else { 1 },
            dictionary: None,
            effort: params.codec().effort_to_write(params.clevel(), u64::from(nbytes)),
        })
    }

    /// The header, without `cbytes`.
    pub(super) fn header(&self) -> &ChunkHeader {
        &self.header
    }

    pub(super) fn nblocks(&self) -> usize {
        self.header.nbytes.div_ceil(self.header.blocksize) as usize
    }

    pub(super) fn block_range(&self, n: usize) -> Range<usize> {
        let (blocksize, nbytes) = (self.header.blocksize as usize, self.header.nbytes as usize);
        n * blocksize..((n + 1) * blocksize).min(nbytes)
    }

    /// Whether the chunk is stored raw without trying to compress it.
    fn raw_from_start(&self) -> bool {
        self.header.is_raw()
    }

    /// The length of header, block offsets and dictionary.
    fn head_len(&self) -> usize {
        let dictionary = self.dictionary.as_ref().map_or(0, |bytes| 4 + bytes.len());
        self.header.header_len() + 4 * self.nblocks() + dictionary
    }

    /// Writes header, room for the block offsets, and the dictionary.
    pub(super) fn put_head(&self, sink: &mut Sink<'_>) -> Result<()> {
        sink.put(&self.header.to_bytes().0[..self.header.header_len()])?;
        (0..self.nblocks()).try_for_each(|_| sink.put(&[0; 4]))?;
        if let Some(bytes) = &self.dictionary {
            sink.put(&(bytes.len() as u32).to_le_bytes())?;
            sink.put(bytes)?;
        }
        Ok(())
    }

    /// Makes the dictionary, if one is requested and the chunk is suitable.
    fn train(&mut self, source: &dyn BlockSource, params: &Params, scratch: &mut Scratch) -> Result<()> {
        let (nbytes, nblocks) = (self.header.nbytes as usize, self.nblocks());
        if !params.dictionary() || self.raw_from_start() {
            return Ok(());
        }
        let samples = Samples::new(params.codec(), nbytes, nblocks * self.streams);
        let Some(mut samples) = samples else { return Ok(()) };
        let (mut buffer, mut reference) = (Vec::new(), Vec::new());
        for n in (0..nblocks).step_by(samples.stride(nblocks, nbytes)) {
            let block = source.block(self.block_range(n), &mut buffer)?;
            if n == 0 && self.steps.has_delta() {
                self.set_reference(block, &mut reference, scratch)?;
            }
            let first = (n > 0).then_some(reference.as_slice());
            let Scratch { front, back, .. } = scratch;
            samples.add(self.steps.apply(block, first, front, back)?)?;
            if samples.is_enough() {
                break;
            }
        }
        self.dictionary = samples.train()?;
        if let Some(dictionary) = &self.dictionary {
            self.coder.engine = self.coder.engine.clone().writing_with(dictionary, params.clevel())?;
            self.header.set_dictionary(true);
        }
        Ok(())
    }

    /// The most bytes that are written on the way to the chunk: streams that do not shrink, with their lengths.
    fn most(&self) -> usize {
        self.head_len() + self.header.nbytes as usize + 4 * self.streams()
    }

    /// The first length of all blocks at which storing the data as it is takes no more.
    pub(super) fn no_gain_from(&self) -> usize {
        (self.header.nbytes as usize + self.header.header_len()).saturating_sub(self.head_len())
    }

    fn streams(&self) -> usize {
        let leftover = usize::from(!self.header.nbytes.is_multiple_of(self.header.blocksize));
        (self.nblocks() - leftover) * self.streams + leftover
    }

    /// Filters and compresses one block; `false`: only up to the limit of the sink.
    pub(super) fn encode_block(
        &self,
        src: &[u8],
        first: Option<&[u8]>,
        sink: &mut Sink<'_>,
        scratch: &mut Scratch,
    ) -> Result<bool> {
        let Scratch { front, back, stream, codec, .. } = scratch;
        let filtered = self.steps.apply(src, first, front, back)?;
        self.coder.write(filtered, self.ways_of(src.len()), sink, stream, codec)
    }

    /// Puts into `reference` what readers will refer to: the first block as they decode it.
    fn set_reference(&self, block: &[u8], reference: &mut Vec<u8>, scratch: &mut Scratch) -> Result<()> {
        let to = grown(reference, block.len(), "the first block of a chunk")?;
        let Scratch { front, back, .. } = scratch;
        if !self.steps.is_lossy() {
            to.copy_from_slice(block);
            return Ok(());
        }
        let mut filtered = copied("the first block of a chunk", self.steps.apply(block, None, front, back)?)?;
        if self.steps.moves(block.len()) {
            return self.steps.undo(&mut filtered, back, to, None);
        }
        self.steps.undo_in_place(&mut filtered, None)?;
        to.copy_from_slice(&filtered);
        Ok(())
    }

    fn encode_serial(
        &self,
        source: &dyn BlockSource,
        scratch: &mut Scratch,
        out: &mut Vec<u8>,
        after_block: &dyn Fn(u64) -> Result<()>,
    ) -> Result<()> {
        let mut buffer = take(&mut scratch.block);
        let mut reference = take(&mut scratch.reference);
        let mut sink = Sink::over(out);
        let result = self
            .serial_blocks(source, scratch, &mut buffer, &mut reference, &mut sink, after_block)
            .and_then(|outcome| match outcome {
                Outcome::NoGain => self.put_raw(source, &mut buffer, &mut sink),
                outcome => self.close(&outcome, &mut sink),
            });
        if result.is_err() {
            sink.rewind();
        }
        scratch.block = buffer;
        scratch.reference = reference;
        result
    }

    fn serial_blocks(
        &self,
        source: &dyn BlockSource,
        scratch: &mut Scratch,
        buffer: &mut Vec<u8>,
        reference: &mut Vec<u8>,
        sink: &mut Sink<'_>,
        after_block: &dyn Fn(u64) -> Result<()>,
    ) -> Result<Outcome> {
        if self.raw_from_start() {
            return Ok(Outcome::NoGain);
        }
        self.put_head(sink)?;
        let body = sink.end();
        sink.set_limit(body + self.no_gain_from());
        // While blocks come out longer than they are, each is written over the one before: the chunk is stored as it is if it
        // stays so, and only the blocks before the first that shrinks are put into their places, then.
        let mut bare = true;
        for n in 0..self.nblocks() {
            let range = self.block_range(n);
            let bytes = range.len();
            let block = source.block(range.clone(), buffer)?;
            if n == 0 && self.nblocks() > 1 && self.steps.has_delta() {
                self.set_reference(block, reference, scratch)?;
            }
            let first = (n > 0).then_some(reference.as_slice());
            let mut at = sink.end();
            let mut fits = self.encode_block(block, first, sink, scratch)?;
            if bare && fits && sink.end() - at == bytes + 4 * self.ways_of(bytes) {
                sink.rewind_to(at);
                after_block(bytes as u64)?;
                continue;
            }
            if bare && n > 0 {
                sink.rewind_to(at);
                self.store_blocks(n, source, buffer, reference, sink, scratch)?;
                at = sink.end();
                fits = self.encode_block(source.block(range, buffer)?, first, sink, scratch)?;
            }
            bare = false;
            self.note_block(n, at, sink);
            after_block(bytes as u64)?;
            if !fits || sink.end() - body >= self.no_gain_from() {
                return Ok(Outcome::NoGain);
            }
        }
        if bare {
            return Ok(Outcome::NoGain);
        }
        Ok(self.outcome(sink.end() - body))
    }

    /// Stores the first `count` blocks filtered but not compressed.
    fn store_blocks(
        &self,
        count: usize,
        source: &dyn BlockSource,
        buffer: &mut Vec<u8>,
        reference: &[u8],
        sink: &mut Sink<'_>,
        scratch: &mut Scratch,
    ) -> Result<()> {
        for n in 0..count {
            self.note_block(n, sink.end(), sink);
            let block = source.block(self.block_range(n), buffer)?;
            let Scratch { front, back, .. } = scratch;
            let filtered = self.steps.apply(block, (n > 0).then_some(reference), front, back)?;
            sink.put_streams(filtered, self.ways_of(block.len()))?;
        }
        Ok(())
    }

    /// Streams of a block of `len` bytes: one that is shorter than the others is not split.
    fn ways_of(&self, len: usize) -> usize {
        if len == self.header.blocksize as usize { self.streams } else { 1 }
    }

    /// Block `n` begins at `at`.
    pub(super) fn note_block(&self, n: usize, at: usize, sink: &mut Sink<'_>) {
        sink.patch(self.header.header_len() + 4 * n, &(at as u32).to_le_bytes());
    }

    /// Whether blocks that take `len` bytes are nothing but zeros, after the filters.
    pub(super) fn is_all_zeros(&self, len: usize) -> bool {
        // Only a run of zeros takes as little as its length.
        self.coder.runs && len == 4 * self.streams()
    }

    /// What became of blocks that have been written, in `len` bytes.
    fn outcome(&self, len: usize) -> Outcome {
        if self.is_all_zeros(len) { Outcome::Zeros } else { Outcome::Compressed }
    }

    /// Number of blocks that a thread encodes together: if each block were appended separately, threads would wait
    /// for each other longer than a short block takes.
    fn run_len(&self, threads: usize) -> usize {
        let fair = self.nblocks() / threads.saturating_mul(RUNS_PER_THREAD);
        fair.clamp(1, (RUN_BYTES / self.header.blocksize as usize).max(1))
    }

    /// Finishes the chunk, or replaces it by a shorter one.
    fn close(&self, outcome: &Outcome, sink: &mut Sink<'_>) -> Result<()> {
        if matches!(outcome, Outcome::Zeros) {
            let header = &self.header;
            let (bytes, len) = special::zeros(header.typesize, header.nbytes, header.blocksize).to_bytes();
            sink.rewind();
            return sink.put(&bytes[..len]);
        }
        let cbytes = sink.end() as u32;
        sink.patch(12, &cbytes.to_le_bytes());
        Ok(())
    }

    /// The header of the chunk stored raw.
    fn raw_header(&self) -> ChunkHeader {
        let header_len = self.header.header_len();
        let flags = header::flags_raw(header_len == header::SHORT);
        let cbytes = self.header.nbytes + header_len as u32;
        let mut header = ChunkHeader { flags, cbytes, ..self.header.clone() };
        header.set_dictionary(false);
        header
    }

    /// Replaces what was written by the raw chunk.
    fn put_raw(&self, source: &dyn BlockSource, buffer: &mut Vec<u8>, sink: &mut Sink<'_>) -> Result<()> {
        let header = self.raw_header();
        let (bytes, len) = header.to_bytes();
        sink.rewind();
        sink.expect(header.cbytes as usize)?;
        sink.put(&bytes[..len])?;
        for n in 0..self.nblocks() {
            sink.put(source.block(self.block_range(n), buffer)?)?;
        }
        Ok(())
    }

    /// As [`put_raw`](Self::put_raw), on the threads of `exec`.
    fn put_raw_parallel(&self, source: &dyn BlockSource, exec: &Exec, sink: &mut Sink<'_>) -> Result<()> {
        let header = self.raw_header();
        let (bytes, len) = header.to_bytes();
        let (to, items) = sink.again(header.cbytes as usize)?.split_at_mut(len);
        to.copy_from_slice(&bytes[..len]);
        let blocks: Vec<_> = items.chunks_mut(self.header.blocksize as usize).map(Mutex::new).collect();
        // A copy is about as quick as reading LZ4.
        exec.run(blocks.len(), Codec::Lz4.effort_to_read(u64::from(header.nbytes)), |scratch, n| {
            let Some(to) = blocks.get(n) else { return Ok(()) };
            let mut buffer = take(&mut scratch.block);
            let copied = source.block(self.block_range(n), &mut buffer).map(|block| {
                to.lock().unwrap_or_else(PoisonError::into_inner).copy_from_slice(block);
            });
            scratch.block = buffer;
            copied
        })
    }

    fn encode_parallel(
        &self,
        source: &dyn BlockSource,
        exec: &Exec,
        call: Call<'_>,
        out: &mut Vec<u8>,
        after_block: &(dyn Fn(u64) -> Result<()> + Sync),
    ) -> Result<()> {
        let mut reference = Vec::new();
        if self.steps.has_delta() {
            let mut buffer = Vec::new();
            let block = source.block(self.block_range(0), &mut buffer)?;
            exec.with_scratch(|scratch| self.set_reference(block, &mut reference, scratch))?;
        }
        let mut sink = Sink::over(out);
        self.put_head(&mut sink)?;
        let body = sink.end();
        let assembly = Assembly::new(self, sink);
        let run = self.run_len(exec.threads());
        call.run(self.nblocks().div_ceil(run), |scratch, r| {
            if assembly.is_pointless() {
                return Ok(());
            }
            let (mut buffer, mut packed) = (take(&mut scratch.block), take(&mut scratch.fetched));
            let mut own = Sink::over(&mut packed);
            let mut starts = Vec::new();
            starts.try_reserve_exact(run).map_err(|_| Error::out_of_memory("a run of blocks", run as u64))?;
            let result = (r * run..self.nblocks().min(r * run + run)).try_for_each(|n| {
                starts.push(own.end());
                let first = (n > 0).then_some(reference.as_slice());
                let block = source.block(self.block_range(n), &mut buffer)?;
                let bytes = block.len() as u64;
                self.encode_block(block, first, &mut own, scratch)?;
                after_block(bytes)
            });
            drop(own);
            scratch.block = buffer;
            result?;
            scratch.fetched = assembly.add(r, Run { starts, packed })?;
            Ok(())
        })?;
        let pointless = assembly.is_pointless();
        let mut sink = assembly.into_sink();
        if pointless {
            return self.put_raw_parallel(source, exec, &mut sink);
        }
        self.close(&self.outcome(sink.end() - body), &mut sink)
    }
}

/// Whether C-Blosc2 would lose the last bytes of such a chunk of Blosc1: it drops those after the last whole item of a
/// bit-shuffled block. Such chunks are written without the filter.
fn tail_is_lost(nbytes: u32, blocksize: u32, typesize: u8, pipeline: &Pipeline) -> bool {
    let typesize = u32::from(typesize);
    let last = match nbytes % blocksize {
        0 => blocksize,
        leftover => leftover,
    };
    pipeline.contains(Filter::BitShuffle)
        && !last.is_multiple_of(typesize)
        && (last / typesize).is_multiple_of(8)
}
