//! The options that say how an array is stored and with how much memory: shared by `import`, `convert` and `demo`.

use b2nd::array::MAX_NDIM;
use b2nd::{Exec, Layout, Options, Params, Pipeline, SplitMode};
use clap::Args;

use crate::args::values::{ByteSize, CodecChoice, Filters, Lengths, is_zfp};
use crate::failure::{Failure, Result};
use crate::interrupt;
use crate::report::lengths;

/// How an array is stored.
#[derive(Debug, Clone, Args, Default)]
pub(crate) struct Storage {
    /// Chunk shape, the unit of storage: one length for each axis [default: automatic, or the input's]
    #[arg(long, value_name = "16,64,64")]
    pub(crate) chunks: Option<Lengths>,
    /// Block shape, the unit of decompression inside a chunk [default: automatic, or the input's]
    #[arg(long, value_name = "4,32,32")]
    pub(crate) blocks: Option<Lengths>,
    /// Codec: zstd, lz4, lz4hc, zlib, blosclz, ndlz:4 or ndlz:8 (two axes, cells of so many items a side), and for floats,
    /// lossy: zfp-accuracy:-3 (errors up to 0.001), zfp-precision:16 (bits), zfp-rate:25 (per cent of the size)
    /// [default: zstd, or the input's]
    #[arg(long, value_name = "NAME[:N]")]
    pub(crate) codec: Option<CodecChoice>,
    /// Compression level: 0 stores, 9 is the smallest and slowest [default: 5, or the input's]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(0..=9))]
    pub(crate) level: Option<u8>,
    /// Filters in pipeline order: shuffle, bitshuffle, delta, bytedelta, ndcell:4 (cells of 4 items a side),
    /// trunc_prec:10 (keeps 10 bits of each float's precision: lossy), int_trunc:10 (of each integer: lossy), ndmean:4 (the mean of
    /// each cell: lossy), none [default: shuffle, or the input's]
    #[arg(long, value_name = "F[,F…]", allow_hyphen_values = true)]
    pub(crate) filter: Option<Filters>,
    /// Compress with a dictionary made of each chunk's own data, which pays for small blocks: zstd, lz4 and lz4hc. C-Blosc2 up to
    /// 3.3.5 at least does not read all slices of such arrays
    #[arg(long)]
    pub(crate) dict: bool,
    /// Store a directory with a file for each chunk instead of one file
    #[arg(long)]
    pub(crate) sparse: bool,
    #[command(flatten)]
    pub(crate) work: Work,
}

/// On how many threads the work is done.
#[derive(Debug, Clone, Copy, Args, Default)]
pub(crate) struct Threads {
    /// Number of threads [default: all processors]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) threads: Option<u16>,
}

impl Threads {
    /// The threads to work on, until a signal stops the work.
    pub(crate) fn exec(self) -> Exec {
        self.threads
            .map_or_else(Exec::default, |n| Exec::new(usize::from(n)))
            .with_cancel(interrupt::switch())
    }
}

/// With what means the work is done.
#[derive(Debug, Clone, Args, Default)]
pub(crate) struct Work {
    #[command(flatten)]
    pub(crate) threads: Threads,
    /// Memory for items in flight (K, M, G), besides two chunks for each thread [default: 256M]
    #[arg(long, value_name = "256M")]
    pub(crate) memory: Option<ByteSize>,
}

impl Work {
    /// The threads to work on, until a signal stops the work.
    pub(crate) fn exec(&self) -> Exec {
        self.threads.exec()
    }

    /// The bytes of items that may be in flight.
    pub(crate) fn budget(&self) -> u64 {
        self.memory.map_or(256 << 20, |size| size.0)
    }
}

impl Storage {
    /// Codec, level and filters as the options say, and as `base` says where they are silent.
    pub(crate) fn params(&self, base: Params) -> Params {
        let mut params = base;
        if let Some(codec) = self.codec {
            params = params.with_codec(codec.codec).with_codec_meta(codec.meta);
            if is_zfp(codec.codec) {
                // It takes floats as they are, so what was chosen for another codec does not hold.
                params = params.with_pipeline(Pipeline::none()).with_split(SplitMode::Auto);
            }
        }
        if let Some(level) = self.level {
            params = params.with_clevel(level);
        }
        if let Some(filters) = self.filter {
            params = params.with_pipeline(filters.0);
        }
        if self.dict {
            params = params.with_dictionary(true);
        }
        params
    }

    /// The library's options for a new array of this shape.
    pub(crate) fn options(&self, shape: &[u64], base: Params) -> Result<Options> {
        if shape.len() > MAX_NDIM {
            let message = format!("the shape {} has {} axes", lengths(shape), shape.len());
            return Err(Failure::usage(
                message,
                format!("an array has at most {MAX_NDIM}: join some, in NumPy with items.reshape(…)"),
            ));
        }
        let mut options = Options::new().with_params(self.params(base));
        if let Some(Lengths(chunks)) = &self.chunks {
            check_axes("--chunks", chunks, shape)?;
            options = options.with_chunks(chunks.clone());
        }
        if let Some(Lengths(blocks)) = &self.blocks {
            check_axes("--blocks", blocks, shape)?;
            options = options.with_blocks(blocks.clone());
        }
        if let (Some(Lengths(chunks)), Some(Lengths(blocks))) = (&self.chunks, &self.blocks)
            && chunks.iter().zip(blocks).any(|(chunk, block)| block > chunk)
        {
            let message =
                format!("--blocks {} does not fit in --chunks {}", lengths(blocks), lengths(chunks));
            return Err(Failure::usage(
                message,
                "a chunk is cut into blocks: no block may be longer than its chunk",
            ));
        }
        let layout = if self.sparse { Layout::Sparse } else { Layout::Contiguous };
        Ok(options.with_layout(layout))
    }
}

fn check_axes(option: &str, given: &[u64], shape: &[u64]) -> Result<()> {
    if given.len() != shape.len() {
        let message = format!(
            "{option} {} has {} lengths, and the array has {} axes",
            given.iter().map(u64::to_string).collect::<Vec<_>>().join(","),
            given.len(),
            shape.len()
        );
        return Err(Failure::usage(
            message,
            format!("the shape is {}: give one length for each axis", lengths(shape)),
        ));
    }
    if given.iter().zip(shape).any(|(&length, &axis)| length == 0 && axis != 0) {
        let message = format!("{option} {} has a length of zero", lengths(given));
        return Err(Failure::usage(
            message,
            format!("the shape is {}: give lengths of 1 or more", lengths(shape)),
        ));
    }
    Ok(())
}
