//! Arrays far away for programs without a runtime: each read blocks its caller until the bytes are there.

mod runtime;
mod store;

use crate::location::Location;
use crate::opening::{self, Opened};
use crate::options::RemoteOptions;
use crate::schemes;
use b2nd::{Array, Result, SChunk};
use std::future::Future;
use std::sync::Arc;
use store::RemoteStore;

/// Opens the array at a URL for reading, with all methods of [`Array`] that read.
///
/// Requests run on a thread of this crate. So it works with and without a runtime, and each call blocks its caller: in a task of a
/// runtime, use [`AsyncArray`](crate::AsyncArray), or call it on a thread for blocking work.
///
/// # Errors
/// As [`AsyncArray::open_url`](crate::AsyncArray::open_url).
///
/// ```no_run
/// use b2nd::s;
/// let wind = b2nd_remote::open("https://example.org/wind.b2nd")?;
/// let first: Vec<f32> = wind.read_items(s![0, ..100])?;
/// # Ok::<(), b2nd::Error>(())
/// ```
pub fn open(url: &str) -> Result<Array> {
    open_with(url, &RemoteOptions::new())
}

/// As [`open`], with options.
///
/// # Errors
/// As [`AsyncArray::open_url`](crate::AsyncArray::open_url).
pub fn open_with(url: &str, options: &RemoteOptions) -> Result<Array> {
    let (location, options) = schemes::location(url, options)?;
    open_at(&location, &options)
}

/// As [`open_with`], at a location.
///
/// # Errors
/// As [`AsyncArray::open_at`](crate::AsyncArray::open_at).
pub fn open_at(location: &Location, options: &RemoteOptions) -> Result<Array> {
    let (at, with) = (location.clone(), options.clone());
    let Opened { source, array, ends } = block_on(async move { opening::open(&at, &with).await })?;
    let layout = source.layout;
    let store = Arc::new(RemoteStore::new(Arc::new(source), array.schunk().frame_len(), ends));
    SChunk::open_store(store, layout, &options.open).and_then(Array::from_schunk)
}

/// Runs a future on the thread of this crate, and waits for its result.
fn block_on<T: Send + 'static>(future: impl Future<Output = Result<T>> + Send + 'static) -> Result<T> {
    let (send, receive) = std::sync::mpsc::channel();
    let task = runtime::handle()?.spawn(async move {
        // The caller waits for it.
        let _ = send.send(future.await);
    });
    match receive.recv() {
        Ok(result) => result,
        Err(_) => {
            task.abort();
            Err(b2nd::Error::State("the thread for requests has ended".to_owned()))
        }
    }
}
