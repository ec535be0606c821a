//! A codec and a filter as a user may bring them along: their ids are the first that are free for anybody.

use b2nd::Registry;
use b2nd::registry::{BlockCodec, BlockFilter, BlockInfo, BlockResult};

/// The id of [`Runs`].
pub const CODEC: u8 = 160;
/// The id of [`RowDelta`].
pub const FILTER: u8 = 160;

/// Runs as (length, byte), each byte XORed with the meta byte.
pub struct Runs;

impl BlockCodec for Runs {
    fn compress(&self, info: &BlockInfo<'_>, src: &[u8], dst: &mut [u8]) -> BlockResult<Option<usize>> {
        let mut end = 0;
        for run in src.chunk_by(|a, b| a == b).flat_map(|run| run.chunks(255)) {
            let Some(to) = dst.get_mut(end..end + 2) else { return Ok(None) };
            to.copy_from_slice(&[run.len() as u8, run[0] ^ info.meta]);
            end += 2;
        }
        Ok(Some(end))
    }

    fn decompress(&self, info: &BlockInfo<'_>, src: &[u8], dst: &mut [u8]) -> BlockResult<()> {
        let mut rest = dst;
        for run in src.chunks(2) {
            let &[len, byte] = run else { return Err("half a run".into()) };
            let (part, after) = rest.split_at_mut_checked(usize::from(len)).ok_or("too many runs")?;
            part.fill(byte ^ info.meta);
            rest = after;
        }
        if rest.is_empty() { Ok(()) } else { Err("too few runs".into()) }
    }
}

/// Differences along the last axis of the block, where it has a shape; of neighbours where not.
pub struct RowDelta;

fn row(info: &BlockInfo<'_>) -> usize {
    let items = info.block_shape.and_then(|shape| shape.last()).map_or(1, |&n| n as usize);
    items.saturating_mul(info.typesize as usize).max(1)
}

impl BlockFilter for RowDelta {
    fn apply(&self, info: &BlockInfo<'_>, src: &[u8], dst: &mut [u8]) -> BlockResult<()> {
        let row = row(info);
        for n in 0..src.len() {
            dst[n] = if n < row { src[n] } else { src[n].wrapping_sub(src[n - row]) };
        }
        Ok(())
    }

    fn undo(&self, info: &BlockInfo<'_>, src: &[u8], dst: &mut [u8]) -> BlockResult<()> {
        let row = row(info);
        for n in 0..src.len() {
            dst[n] = if n < row { src[n] } else { src[n].wrapping_add(dst[n - row]) };
        }
        Ok(())
    }
}

/// Both of them.
pub fn registry() -> Registry {
    let registry = Registry::new().with_codec(CODEC, "runs", Runs).expect("a free id");
    registry.with_filter(FILTER, "row-delta", RowDelta).expect("a free id")
}
