//! The two arrays that are measured: items, partition and parameters.

use crate::arguments::Mode;
use crate::rival::{Plan, Setting};
use b2nd::{Codec, Durability, Exec, OpenOptions, Options, Params, Pipeline};
use b2nd_interop::Outcome;

/// Bytes of an item of either array.
pub(crate) const TYPESIZE: usize = 8;

/// An array to store.
#[derive(Debug)]
pub(crate) struct Subject {
    /// What it is called.
    pub(crate) name: &'static str,
    /// Shape.
    pub(crate) shape: Vec<i64>,
    /// Chunk shape.
    pub(crate) chunks: Vec<i32>,
    /// Block shape.
    pub(crate) blocks: Vec<i32>,
    /// dtype text.
    pub(crate) dtype: &'static str,
    /// Codec; the filter is shuffle.
    pub(crate) codec: Codec,
    /// Level.
    pub(crate) clevel: u8,
    /// The items, C order.
    pub(crate) items: Vec<u8>,
}

/// The names of the subjects.
pub(crate) const SUBJECTS: [&str; 2] = ["4-d f8", "3-d i8"];

impl Subject {
    /// The array that C-Blosc2's authors publish (`4-d f8`), or the one of three dimensions: whole, half of each axis in a
    /// quick run. Without its items.
    pub(crate) fn bare(name: &str, mode: Mode) -> Outcome<Self> {
        let found = match name {
            "4-d f8" => Subject {
                name: SUBJECTS[0],
                shape: mode.pick(vec![50, 100, 300, 250], vec![25, 50, 150, 125], vec![12, 30, 60, 52]),
                chunks: vec![10, 25, 50, 50],
                blocks: vec![3, 5, 10, 20],
                dtype: "<f8",
                codec: Codec::Zstd,
                clevel: 1,
                items: vec![],
            },
            "3-d i8" => Subject {
                name: SUBJECTS[1],
                shape: mode.pick(vec![1250, 745, 400], vec![625, 372, 200], vec![60, 160, 110]),
                chunks: vec![50, 150, 100],
                blocks: vec![13, 21, 30],
                dtype: "<i8",
                codec: Codec::Lz4,
                clevel: 5,
                items: vec![],
            },
            _ => return Err(format!("no array '{name}'").into()),
        };
        Ok(found)
    }
    /// As [`Subject::bare`], with its items.
    pub(crate) fn new(name: &str, mode: Mode) -> Outcome<Self> {
        Ok(Self::bare(name, mode)?.filled())
    }
    /// The same array with another length along axis 0.
    pub(crate) fn with_length(&self, length: i64) -> Self {
        let mut shape = self.shape.clone();
        shape[0] = length;
        let bare = Subject {
            shape,
            chunks: self.chunks.clone(),
            blocks: self.blocks.clone(),
            items: vec![],
            ..*self
        };
        bare.filled()
    }
    /// A smooth field, a product and sum of waves along the axes, with noise in its last bits.
    fn filled(mut self) -> Self {
        let wave = |axis: usize| -> Vec<f64> {
            let pitch = 0.11 / (axis + 1) as f64;
            (0..self.shape[axis]).map(|n| (n as f64 * pitch).sin() + 0.01 * n as f64).collect()
        };
        let ndim = self.shape.len();
        let (rows, columns) = (wave(ndim - 2), wave(ndim - 1));
        let outer: i64 = self.shape[..ndim - 2].iter().product();
        let mut items = Vec::with_capacity(self.nbytes());
        let mut noise = 0x9E37_79B9_7F4A_7C15u64;
        for n in 0..outer {
            let base = (n as f64 * 0.37).sin() * 8.0 + n as f64 * 0.002;
            for row in &rows {
                for column in &columns {
                    noise =
                        noise.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    let value = ((base + row * column) * 1024.0).round() + (noise >> 62) as f64;
                    match self.dtype {
                        "<f8" => items.extend_from_slice(&(value / 1024.0).to_le_bytes()),
                        _ => items.extend_from_slice(&(value as i64).to_le_bytes()),
                    }
                }
            }
        }
        self.items = items;
        self
    }
    /// Bytes of the items.
    pub(crate) fn nbytes(&self) -> usize {
        self.shape.iter().product::<i64>() as usize * TYPESIZE
    }
    /// Bytes of one index along axis 0.
    pub(crate) fn slab(&self) -> usize {
        self.nbytes() / self.shape[0] as usize
    }
    /// The shape, for b2nd.
    pub(crate) fn lengths(&self) -> Vec<u64> {
        self.shape.iter().map(|n| n.unsigned_abs()).collect()
    }
    /// Codec, level and filter, as a name has them.
    pub(crate) fn parameters(&self) -> String {
        format!("{} {}-{}", self.name, self.codec.name(), self.clevel)
    }
    /// How the rival stores it.
    pub(crate) fn plan(&self, threads: usize) -> Plan<'_> {
        let setting = Setting {
            codec: self.codec.id(),
            clevel: self.clevel,
            filters: [0, 0, 0, 0, 0, 1],
            filters_meta: [0; 6],
            typesize: TYPESIZE as u32,
            threads,
        };
        Plan { shape: &self.shape, chunks: &self.chunks, blocks: &self.blocks, dtype: self.dtype, setting }
    }
    /// How b2nd stores it, on the rival's terms: it waits for no disk and has no checksums.
    pub(crate) fn options(&self, threads: usize) -> Options {
        let wide = |dims: &[i32]| dims.iter().map(|n| u64::from(n.unsigned_abs())).collect::<Vec<_>>();
        let params = Params::new(TYPESIZE as u32)
            .with_codec(self.codec)
            .with_clevel(self.clevel)
            .with_pipeline(Pipeline::from_bytes([0, 0, 0, 0, 0, 1], [0; 6]));
        Options::new()
            .with_params(params)
            .with_chunks(wide(&self.chunks))
            .with_blocks(wide(&self.blocks))
            .with_exec(Exec::new(threads))
            .with_overwrite(true)
            .with_durability(Durability::None)
            .with_checksums(false)
    }
}

/// How b2nd opens an array, and changes it at the rival's durability: none.
pub(crate) fn open_options(threads: usize) -> OpenOptions {
    OpenOptions::new().with_exec(Exec::new(threads)).with_durability(Durability::None)
}
