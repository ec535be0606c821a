//! Counts of requests and bytes, for progress and for bills.

use std::sync::atomic::{AtomicU64, Ordering};

/// Counts the requests and bytes of all reads that share it; see
/// [`RemoteOptions::with_traffic`](crate::RemoteOptions::with_traffic).
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// use b2nd::{Dtype, Options, s};
/// use b2nd_remote::{AsyncArray, RemoteOptions, Traffic};
/// use object_store::{ObjectStoreExt, memory::InMemory, path::Path};
/// use std::sync::Arc;
/// let store = Arc::new(InMemory::new());
/// let array = Options::new().create_in_memory(Dtype::of::<f32>(), [10])?;
/// store.put(&Path::from("a.b2nd"), array.to_bytes()?.into()).await?;
///
/// let traffic = Arc::new(Traffic::default());
/// let options = RemoteOptions::new().with_traffic(Arc::clone(&traffic));
/// AsyncArray::open(store, "a.b2nd", &options).await?;
/// assert_eq!((traffic.requests(), traffic.retries()), (2, 0));
/// assert!(traffic.bytes() > 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct Traffic {
    requests: AtomicU64,
    retries: AtomicU64,
    bytes: AtomicU64,
}

impl Traffic {
    /// The requests that were sent, retries among them; redirects are not counted.
    pub fn requests(&self) -> u64 {
        self.requests.load(Ordering::Relaxed)
    }
    /// How many of the requests were tried again.
    pub fn retries(&self) -> u64 {
        self.retries.load(Ordering::Relaxed)
    }
    /// The bytes of bodies that came.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }
    pub(crate) fn count_request(&self) {
        self.requests.fetch_add(1, Ordering::Relaxed);
    }
    pub(crate) fn count_retry(&self) {
        self.retries.fetch_add(1, Ordering::Relaxed);
    }
    pub(crate) fn count_bytes(&self, bytes: usize) {
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }
}
