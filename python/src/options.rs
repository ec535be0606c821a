//! Options, as the Python half names them.

use crate::errors::{raised, usage};
use crate::watch::{self, Meter};
use b2nd::chunk::Special;
use b2nd::{
    Codec, Dtype, Durability, Fill, Filter, Layout, Limits, OpenOptions, Options, Params, Pipeline,
    RepairOptions, SaveOptions, SplitMode,
};
use pyo3::prelude::*;
use std::path::PathBuf;

/// How a new array is made; what is `None` is the crate's to choose, or as in the array that it is made of.
#[derive(FromPyObject, Default)]
#[pyo3(from_item_all)]
pub(crate) struct Making {
    #[pyo3(default)]
    chunks: Option<Vec<u64>>,
    #[pyo3(default)]
    blocks: Option<Vec<u64>>,
    #[pyo3(default)]
    codec: Option<String>,
    #[pyo3(default)]
    codec_meta: Option<u8>,
    #[pyo3(default)]
    clevel: Option<u8>,
    #[pyo3(default)]
    filters: Option<Vec<(String, u8)>>,
    #[pyo3(default)]
    splitmode: Option<String>,
    #[pyo3(default)]
    use_dict: Option<bool>,
    sparse: bool,
    #[pyo3(default)]
    fill: Option<Filling>,
    #[pyo3(default)]
    overwrite: bool,
    #[pyo3(default)]
    durability: Option<String>,
    #[pyo3(default)]
    checksums: Option<bool>,
    #[pyo3(default)]
    owner_lock: Option<bool>,
    #[pyo3(default)]
    block_cache: u64,
    #[pyo3(default)]
    nthreads: Option<usize>,
    #[pyo3(default)]
    meta: Vec<(String, Vec<u8>)>,
    #[pyo3(default)]
    vlmeta: Vec<(String, Vec<u8>)>,
}

/// What a new array holds: a word, or the bytes of an item.
#[derive(FromPyObject)]
enum Filling {
    Word(String),
    Item(Vec<u8>),
}

impl Making {
    /// The options for an array whose own, where it is made of one, are `like`.
    pub(crate) fn options(self, py: Python<'_>, like: Option<Params>, meter: &Meter) -> PyResult<Options> {
        let params = self.params(py, like)?;
        let mut options = Options::new()
            .with_overwrite(self.overwrite)
            .with_layout(layout(self.sparse))
            .with_durability(durability(py, self.durability.as_deref())?)
            .with_owner_lock(self.owner_lock.unwrap_or(true))
            .with_block_cache(self.block_cache)
            .with_exec(watch::exec(self.nthreads, meter));
        if let Some(params) = params {
            options = options.with_params(params);
        }
        if let Some(chunks) = self.chunks {
            options = options.with_chunks(chunks);
        }
        if let Some(blocks) = self.blocks {
            options = options.with_blocks(blocks);
        }
        if let Some(checksums) = self.checksums {
            options = options.with_checksums(checksums);
        }
        options = match self.fill {
            None => options,
            Some(Filling::Item(item)) => options.with_fill(Fill::Value(item)),
            Some(Filling::Word(word)) => options.with_fill(match &word[..] {
                "zeros" => Fill::Zeros,
                "nan" => Fill::Nan,
                "uninit" => Fill::Uninit,
                _ => return Err(usage(py, format!("an array cannot be filled with '{word}'"))),
            }),
        };
        for (name, content) in self.meta {
            options = options.with_metalayer(name, content);
        }
        for (name, content) in self.vlmeta {
            options = options.with_vlmetalayer(name, content);
        }
        Ok(options)
    }

    /// How it is compressed, where that is said.
    fn params(&self, py: Python<'_>, like: Option<Params>) -> PyResult<Option<Params>> {
        let said = self.codec.is_some() || self.codec_meta.is_some() || self.clevel.is_some();
        let said = said || self.filters.is_some() || self.splitmode.is_some() || self.use_dict.is_some();
        if !said {
            return Ok(None);
        }
        let mut params = like.unwrap_or_else(|| Params::new(0));
        if let Some(name) = &self.codec {
            let known = Codec::from_name(name).or_else(|| numbered(name, "codec-").map(Codec::from_id));
            params =
                params.with_codec(known.ok_or_else(|| usage(py, format!("there is no codec '{name}'")))?);
        }
        if let Some(meta) = self.codec_meta {
            params = params.with_codec_meta(meta);
        }
        if let Some(clevel) = self.clevel {
            params = params.with_clevel(clevel);
        }
        if let Some(filters) = &self.filters {
            params = params.with_pipeline(pipeline(py, filters)?);
        }
        if let Some(mode) = &self.splitmode {
            let known = SPLITS.iter().find(|(name, _)| name == mode);
            let (_, split) = known.ok_or_else(|| usage(py, format!("there is no split mode '{mode}'")))?;
            params = params.with_split(*split);
        }
        if let Some(dictionary) = self.use_dict {
            params = params.with_dictionary(dictionary);
        }
        Ok(Some(params))
    }
}

const SPLITS: [(&str, SplitMode); 4] = [
    ("always", SplitMode::Always),
    ("never", SplitMode::Never),
    ("auto", SplitMode::Auto),
    ("forward_compat", SplitMode::ForwardCompat),
];

/// The name of a split mode.
pub(crate) fn split_name(split: SplitMode) -> Option<&'static str> {
    SPLITS.iter().find(|(_, known)| *known == split).map(|(name, _)| *name)
}

fn pipeline(py: Python<'_>, filters: &[(String, u8)]) -> PyResult<Pipeline> {
    filters.iter().try_fold(Pipeline::new(), |pipeline, (name, meta)| {
        let known = Filter::from_name(name).or_else(|| numbered(name, "filter-").and_then(Filter::from_id));
        let filter = known.ok_or_else(|| usage(py, format!("there is no filter '{name}'")))?;
        pipeline.push(filter, *meta).map_err(|error| raised(py, &error))
    })
}

fn numbered(name: &str, prefix: &str) -> Option<u8> {
    name.strip_prefix(prefix)?.parse().ok()
}

/// How an array is opened.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Opening {
    pub(crate) write: bool,
    #[pyo3(default)]
    offset: u64,
    #[pyo3(default)]
    frame: Option<u64>,
    #[pyo3(default)]
    mmap: bool,
    #[pyo3(default)]
    durability: Option<String>,
    #[pyo3(default)]
    checksums: Option<bool>,
    #[pyo3(default)]
    checks: Option<bool>,
    #[pyo3(default)]
    owner_lock: Option<bool>,
    #[pyo3(default)]
    block_cache: u64,
    #[pyo3(default)]
    nthreads: Option<usize>,
    #[pyo3(default)]
    limits: Vec<(String, u64)>,
}

impl Opening {
    pub(crate) fn options(self, py: Python<'_>, meter: &Meter) -> PyResult<OpenOptions> {
        let limits = limits(py, self.limits)?;
        let mut options = OpenOptions::new()
            .with_write(self.write)
            .with_offset(self.offset)
            .with_mmap(self.mmap)
            .with_durability(durability(py, self.durability.as_deref())?)
            .with_checks(self.checks.unwrap_or(true))
            .with_owner_lock(self.owner_lock.unwrap_or(true))
            .with_block_cache(self.block_cache)
            .with_limits(limits)
            .with_exec(watch::exec(self.nthreads, meter));
        if let Some(frame) = self.frame {
            options = options.with_frame(frame);
        }
        if let Some(checksums) = self.checksums {
            options = options.with_checksums(checksums);
        }
        Ok(options)
    }
}

/// How an array is saved.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Saving {
    sparse: bool,
    #[pyo3(default)]
    overwrite: bool,
    #[pyo3(default)]
    durability: Option<String>,
    #[pyo3(default)]
    checksums: Option<bool>,
}

impl Saving {
    pub(crate) fn options(self, py: Python<'_>) -> PyResult<SaveOptions> {
        let options = SaveOptions::new()
            .with_layout(layout(self.sparse))
            .with_overwrite(self.overwrite)
            .with_durability(durability(py, self.durability.as_deref())?);
        Ok(match self.checksums {
            Some(checksums) => options.with_checksums(checksums),
            None => options,
        })
    }
}

/// How a damaged frame is repaired.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Repairing {
    #[pyo3(default)]
    fill: Option<String>,
    #[pyo3(default)]
    sparse: Option<bool>,
    overwrite: bool,
    renew_checksums: bool,
    offset: u64,
    #[pyo3(default)]
    durability: Option<String>,
    #[pyo3(default)]
    nthreads: Option<usize>,
    #[pyo3(default)]
    limits: Vec<(String, u64)>,
}

impl Repairing {
    pub(crate) fn options(self, py: Python<'_>, meter: &Meter) -> PyResult<RepairOptions> {
        let mut options = RepairOptions::new()
            .with_overwrite(self.overwrite)
            .with_renewed_checksums(self.renew_checksums)
            .with_offset(self.offset)
            .with_durability(durability(py, self.durability.as_deref())?)
            .with_limits(limits(py, self.limits)?)
            .with_exec(watch::exec(self.nthreads, meter));
        if let Some(sparse) = self.sparse {
            options = options.with_layout(layout(sparse));
        }
        Ok(match self.fill.as_deref() {
            None => options,
            Some("zeros") => options.with_fill(Special::Zeros),
            Some("nan") => options.with_fill(Special::Nan),
            Some("uninit") => options.with_fill(Special::Uninit),
            Some(word) => return Err(usage(py, format!("fill is 'zeros', 'nan' or 'uninit', not '{word}'"))),
        })
    }
}

fn limits(py: Python<'_>, said: Vec<(String, u64)>) -> PyResult<Limits> {
    said.into_iter().try_fold(Limits::default(), |limits, (name, bytes)| {
        Ok(match &name[..] {
            "chunk_bytes" => limits.with_max_chunk_bytes(bytes),
            "index_bytes" => limits.with_max_index_bytes(bytes),
            "meta_bytes" => limits.with_max_meta_bytes(bytes),
            "read_bytes" => limits.with_max_read_bytes(bytes),
            _ => return Err(usage(py, format!("there is no limit '{name}'"))),
        })
    })
}

fn layout(sparse: bool) -> Layout {
    if sparse { Layout::Sparse } else { Layout::Contiguous }
}

fn durability(py: Python<'_>, word: Option<&str>) -> PyResult<Durability> {
    match word {
        None | Some("full") => Ok(Durability::Full),
        Some("ordered") => Ok(Durability::Ordered),
        Some("none") => Ok(Durability::None),
        Some(other) => Err(usage(py, format!("durability is 'full', 'ordered' or 'none', not '{other}'"))),
    }
}

/// A dtype by the text that stands for it in files.
pub(crate) fn dtype(py: Python<'_>, text: &str) -> PyResult<Dtype> {
    Dtype::parse(text).map_err(|error| raised(py, &error))
}

/// Where an array goes; `None` is memory.
pub(crate) type Place = Option<PathBuf>;

/// The chunk and block shapes that an array gets where they are not said.
#[pyfunction]
#[pyo3(signature = (shape, itemsize, chunks=None, blocks=None))]
pub(crate) fn partition(
    py: Python<'_>,
    shape: Vec<u64>,
    itemsize: usize,
    chunks: Option<Vec<u64>>,
    blocks: Option<Vec<u64>>,
) -> PyResult<(Vec<u64>, Vec<u64>)> {
    b2nd::array::partition(&shape, itemsize, chunks.as_deref(), blocks.as_deref())
        .map_err(|error| raised(py, &error))
}

/// The names of the built-in codecs.
#[pyfunction]
pub(crate) fn codec_names() -> Vec<String> {
    let name = |id| {
        Some(Codec::from_id(id)).filter(|codec| !matches!(codec, Codec::Other(_))).map(|c| c.name().into())
    };
    (0..=u8::MAX).filter_map(name).collect()
}

/// The names of the built-in filters.
#[pyfunction]
pub(crate) fn filter_names() -> Vec<String> {
    let name = |id| {
        Filter::from_id(id).filter(|filter| !matches!(filter, Filter::Other(_))).map(|f| f.name().into())
    };
    (0..=u8::MAX).filter_map(name).collect()
}
