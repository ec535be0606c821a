//! All chunks of an array in turn, some of them fetched ahead.

use crate::array::AsyncArray;
use b2nd::{Result, Selection};
use futures_util::stream::Stream;
use futures_util::{StreamExt, TryStreamExt};

/// A chunk of an array far away, decompressed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Chunk {
    /// The first item of it, by its indices.
    pub start: Vec<u64>,
    /// How many items it has along each axis: fewer at the edge of the array.
    pub shape: Vec<u64>,
    /// The items, in C order.
    pub bytes: Vec<u8>,
}

/// Chunks are fetched in groups of about this many bytes, so that small ones share requests.
const GROUP: u64 = 4 << 20;

impl AsyncArray {
    /// All chunks in C order, with about `ahead` bytes of items fetched and decoded before they are asked for.
    ///
    /// ```
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
    /// # use b2nd::{Dtype, Options};
    /// # use b2nd_remote::{AsyncArray, RemoteOptions};
    /// # use object_store::{ObjectStoreExt, memory::InMemory, path::Path};
    /// # use std::sync::Arc;
    /// use futures_util::TryStreamExt;
    /// # let store = Arc::new(InMemory::new());
    /// # let array = Options::new().with_chunks([4, 4]).create_in_memory(Dtype::of::<f32>(), [10, 4])?;
    /// # store.put(&Path::from("a.b2nd"), array.to_bytes()?.into()).await?;
    /// let far = AsyncArray::open(store, "a.b2nd", &RemoteOptions::new()).await?;
    /// let mut chunks = std::pin::pin!(far.chunk_stream(16 << 20));
    /// let mut rows = Vec::new();
    /// while let Some(chunk) = chunks.try_next().await? {
    ///     rows.push(chunk.shape[0]);
    /// }
    /// assert_eq!(rows, [4, 4, 2]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn chunk_stream(&self, ahead: u64) -> impl Stream<Item = Result<Chunk>> + Send + 'static {
        let (shape, chunks) = (self.shape().to_vec(), self.snapshot().chunks().to_vec());
        let bytes = chunks.iter().fold(self.dtype().itemsize() as u64, |all, &len| all.saturating_mul(len));
        let counts: Vec<u64> =
            shape.iter().zip(&chunks).map(|(&len, &chunk)| len.div_ceil(chunk.max(1))).collect();
        let total: u64 = counts.iter().product();
        let group = (GROUP / bytes.max(1)).max(1);
        let groups_ahead = ahead.checked_div(group.saturating_mul(bytes)).unwrap_or(1).clamp(1, 64);
        let array = self.clone();
        futures_util::stream::iter((0..total).step_by(usize::try_from(group).unwrap_or(usize::MAX)))
            .map(move |first| {
                let boxes: Vec<(Vec<u64>, Vec<u64>)> = (first..total.min(first.saturating_add(group)))
                    .map(|n| chunk_box(n, &shape, &chunks, &counts))
                    .collect();
                let array = array.clone();
                async move { array.read_group(boxes).await }
            })
            .buffered(usize::try_from(groups_ahead).unwrap_or(1))
            .map_ok(|group| futures_util::stream::iter(group.into_iter().map(Ok)))
            .try_flatten()
    }

    async fn read_group(&self, boxes: Vec<(Vec<u64>, Vec<u64>)>) -> Result<Vec<Chunk>> {
        let selection = |(start, shape): &(Vec<u64>, Vec<u64>)| {
            let stop: Vec<u64> = start.iter().zip(shape).map(|(at, len)| at.saturating_add(*len)).collect();
            Selection::from_box(start, &stop)
        };
        let items = self.read_boxes(boxes.iter().map(selection)).await?;
        let chunk = |((start, shape), bytes)| Chunk { start, shape, bytes };
        Ok(boxes.into_iter().zip(items).map(chunk).collect())
    }
}

/// Start and shape of chunk `n`, without its padding.
fn chunk_box(mut n: u64, shape: &[u64], chunks: &[u64], counts: &[u64]) -> (Vec<u64>, Vec<u64>) {
    let mut start = vec![0; shape.len()];
    for ((at, count), chunk) in start.iter_mut().zip(counts).zip(chunks).rev() {
        *at = (n % (*count).max(1)).saturating_mul(*chunk);
        n /= (*count).max(1);
    }
    let lens = start.iter().zip(shape).zip(chunks);
    let lens = lens.map(|((at, len), chunk)| len.saturating_sub(*at).min(*chunk)).collect();
    (start, lens)
}
