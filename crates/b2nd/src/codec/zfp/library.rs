//! With the feature `zfp`: the `zfp-rs` library, which is plain Rust.

use super::Codec;
use super::check;
use crate::codec::error::broken;
use crate::error::{Error, Result};
use crate::registry::BlockInfo;
use zfp_rs::{
    ZfpBitStream, ZfpConfig, ZfpDimensionality, ZfpDims, ZfpField, ZfpFieldMut, ZfpScalar, ZfpScalarType,
    ZfpStreamAlignment,
};

/// Compresses a block into the start of `dst`. `None`: it does not fit.
pub(crate) fn compress(
    codec: Codec,
    info: &BlockInfo<'_>,
    src: &[u8],
    dst: &mut [u8],
) -> Result<Option<usize>> {
    check(codec, info)?;
    let job = ZfpJob::new(codec, info, src.len()).map_err(Error::compression)?;
    let stream = match info.typesize {
        4 => job.write(&items(src, f32::from_le_bytes)?)?,
        _ => job.write(&items(src, f64::from_le_bytes)?)?,
    };
    Ok(dst.get_mut(..stream.len()).map(|dst| {
        dst.copy_from_slice(&stream);
        stream.len()
    }))
}

/// Decompresses a block, which must fill `dst`.
pub(crate) fn decompress(codec: Codec, info: &BlockInfo<'_>, src: &[u8], dst: &mut [u8]) -> Result<()> {
    if info.block_shape.is_none() {
        return Err(Error::unsupported(format!("{} outside an array", codec.name())));
    }
    let job = ZfpJob::new(codec, info, dst.len()).map_err(broken)?;
    match info.typesize {
        4 => job.read(src, dst, f32::from_le_bytes, f32::to_le_bytes),
        _ => job.read(src, dst, f64::from_le_bytes, f64::to_le_bytes),
    }
}

/// What the library is told of a block.
struct ZfpJob {
    config: ZfpConfig,
    kind: ZfpScalarType,
    /// Axes, the fastest first: so many of the lengths.
    axes: usize,
    lengths: [usize; 4],
}

/// Floats in memory of their own, as the library wants them aligned.
fn items<const N: usize, T>(bytes: &[u8], read: impl Fn([u8; N]) -> T) -> Result<Vec<T>> {
    let (words, _) = bytes.as_chunks::<N>();
    let mut items = Vec::new();
    items
        .try_reserve_exact(words.len())
        .map_err(|_| Error::out_of_memory("a zfp block", bytes.len() as u64))?;
    items.extend(words.iter().map(|word| read(*word)));
    Ok(items)
}

impl ZfpJob {
    /// The error is a reason.
    fn new(codec: Codec, info: &BlockInfo<'_>, nbytes: usize) -> std::result::Result<Self, String> {
        let (kind, bits) = match info.typesize {
            4 => (ZfpScalarType::F32, 32.0),
            8 => (ZfpScalarType::F64, 64.0),
            other => return Err(format!("zfp data of items of {other} bytes")),
        };
        let shape = info.block_shape.unwrap_or_default();
        let (dims, guard) = match shape.len() {
            1 => (ZfpDimensionality::D1, 5),
            2 => (ZfpDimensionality::D2, 7),
            3 => (ZfpDimensionality::D3, 9),
            4 => (ZfpDimensionality::D4, 11),
            other => return Err(format!("zfp data in {other} dimensions")),
        };
        let whole =
            shape.iter().try_fold(info.typesize as usize, |n, &length| n.checked_mul(length as usize));
        if whole != Some(nbytes) {
            return Err(format!("zfp data of {nbytes} bytes in blocks of {shape:?}"));
        }
        let mut lengths = [1; 4];
        for (to, length) in lengths.iter_mut().zip(shape.iter().rev()) {
            *to = *length as usize;
        }
        let config = match codec {
            Codec::ZfpAccuracy => {
                ZfpConfig::fixed_accuracy(10_f64.powi(i32::from(i8::from_le_bytes([info.meta]))))
            }
            Codec::ZfpPrecision => ZfpConfig::fixed_precision((u32::from(info.meta) + guard).min(64)),
            _ => {
                let rate = f64::from(info.meta) / 100.0 * bits;
                ZfpConfig::fixed_rate(rate, kind, dims, ZfpStreamAlignment::Unaligned)
                    .map_err(|error| format!("zfp-rate:{}: {error}", info.meta))?
            }
        };
        Ok(ZfpJob { config, kind, axes: shape.len(), lengths })
    }

    fn write<T: ZfpScalar>(&self, items: &[T]) -> Result<Vec<u8>> {
        let [x, y, z, w] = self.lengths;
        match self.axes {
            1 => self.write_in(items, [x]),
            2 => self.write_in(items, [x, y]),
            3 => self.write_in(items, [x, y, z]),
            _ => self.write_in(items, [x, y, z, w]),
        }
    }

    fn write_in<T: ZfpScalar>(&self, items: &[T], dims: impl ZfpDims) -> Result<Vec<u8>> {
        let failed = |error: &dyn std::fmt::Display| Error::compression(format!("zfp: {error}"));
        let room = self.config.maximum_size(self.kind, dims).ok_or_else(|| failed(&"too large a block"))?;
        let field = ZfpField::new(items, dims).map_err(|error| failed(&error))?;
        let mut stream =
            ZfpBitStream::new(room).map_err(|_| Error::out_of_memory("a zfp block", room as u64))?;
        let len = stream.compress(&self.config, &field).map_err(|error| failed(&error))?;
        let mut bytes = stream.into_bytes().map_err(|_| Error::out_of_memory("a zfp block", room as u64))?;
        bytes.truncate(len);
        Ok(bytes)
    }

    fn read<const N: usize, T: ZfpScalar>(
        &self,
        src: &[u8],
        dst: &mut [u8],
        read: impl Fn([u8; N]) -> T,
        write: impl Fn(T) -> [u8; N],
    ) -> Result<()> {
        let mut items = items(dst, read)?;
        let [x, y, z, w] = self.lengths;
        match self.axes {
            1 => self.read_in(src, &mut items, [x])?,
            2 => self.read_in(src, &mut items, [x, y])?,
            3 => self.read_in(src, &mut items, [x, y, z])?,
            _ => self.read_in(src, &mut items, [x, y, z, w])?,
        }
        let (words, _) = dst.as_chunks_mut::<N>();
        for (word, item) in words.iter_mut().zip(items) {
            *word = write(item);
        }
        Ok(())
    }

    fn read_in<T: ZfpScalar>(&self, src: &[u8], items: &mut [T], dims: impl ZfpDims) -> Result<()> {
        let failed = |error: &dyn std::fmt::Display| broken(format!("the zfp data is damaged: {error}"));
        let mut field = ZfpFieldMut::new(items, dims).map_err(|error| failed(&error))?;
        let mut stream = ZfpBitStream::from_bytes(src)
            .map_err(|_| Error::out_of_memory("a zfp block", src.len() as u64))?;
        stream.decompress(&self.config, &mut field).map(drop).map_err(|error| failed(&error))
    }
}
