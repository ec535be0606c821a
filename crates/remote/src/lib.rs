//! Arrays of [`b2nd`] in object stores and behind HTTP.
//!
//! An array far away is opened by one round trip, and any part of it is read in two or three: one for the index the first time,
//! one for the starts of large chunks, one for the blocks. Ranges are joined as the latency and the bandwidth of the store make
//! worthwhile, and fetched at the same time. Nothing is read that the selection does not touch.
//!
//! [`AsyncArray`] is for programs that have a runtime (tokio). [`open`] gives a [`b2nd::Array`] to all others, whose methods
//! block.
//!
//! ```
//! use b2nd::{Dtype, Options, s};
//! use b2nd_remote::{AsyncArray, RemoteOptions};
//! use object_store::{ObjectStoreExt, memory::InMemory, path::Path};
//! use std::sync::Arc;
//!
//! # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
//! let store = Arc::new(InMemory::new());
//! let mut array = Options::new().create_in_memory(Dtype::of::<f32>(), [100, 100])?;
//! array.fill(s![7..9], 1.5f32)?;
//! store.put(&Path::from("a.b2nd"), array.to_bytes()?.into()).await?;
//!
//! let far = AsyncArray::open(store, "a.b2nd", &RemoteOptions::new()).await?;
//! assert_eq!(far.shape(), [100, 100]);
//! assert_eq!(far.read_items::<f32>(s![6..8, 3]).await?, [0.0, 1.5]);
//! let boxes = far.read_boxes([s![7, ..2], s![50, ..2]]).await?;
//! assert_eq!(far.items_of::<f32>(&boxes[0])?, [1.5, 1.5]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! **State.** The object is pinned when it is opened: each answer must be of the same version, by its `ETag`, or by date and
//! length where there is none ([`Pin`]). When the object was replaced, reads return [`b2nd::Error::Changed`];
//! [`AsyncArray::refresh`] takes the new state.
//!
//! **Failures.** Requests that fail for a while are repeated, with random pauses ([`RemoteOptions::with_retries`]). Errors carry a
//! [`RemoteError`] with the URL, the range and the cause. User names, passwords, and what follows the question mark of a URL are
//! never shown.

mod array;
mod blocking;
mod chunks;
mod drive;
mod error;
mod fetch;
#[cfg(feature = "network")]
mod http;
mod joins;
mod location;
mod opening;
mod options;
mod pace;
mod pin;
mod requests;
mod retry;
mod schemes;
mod shown;
mod source;
mod traffic;

pub use array::AsyncArray;
pub use blocking::{open, open_at, open_with};
pub use chunks::Chunk;
pub use error::RemoteError;
pub use location::Location;
pub use options::RemoteOptions;
pub use pace::StorePace;
pub use pin::Pin;
pub use traffic::Traffic;

pub use object_store;

/// The result of an operation of this crate: errors are those of [`b2nd`], with a [`RemoteError`] where a request failed.
pub type Result<T> = b2nd::Result<T>;
