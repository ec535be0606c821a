//! The runtime for those who have none: one thread for requests, made when it is first needed.

use b2nd::{Error, Result};
use std::process;
use std::sync::{Mutex, PoisonError};
use tokio::runtime::{Builder, Handle, Runtime};

/// The runtime of this process. A forked child has no threads of its parent, and makes its own.
static RUNTIME: Mutex<Option<(u32, Runtime)>> = Mutex::new(None);

/// The runtime for requests.
pub(super) fn handle() -> Result<Handle> {
    let mut found = RUNTIME.lock().unwrap_or_else(PoisonError::into_inner);
    let own = process::id();
    if let Some((process, runtime)) = &*found
        && *process == own
    {
        return Ok(runtime.handle().clone());
    }
    let made = Builder::new_multi_thread().worker_threads(1).thread_name("b2nd-remote").enable_all().build();
    let made = made.map_err(|source| Error::Io {
        action: "cannot start a thread for requests",
        path: None,
        source,
    })?;
    let handle = made.handle().clone();
    if let Some((_, of_the_parent)) = found.replace((own, made)) {
        // Its threads are not there to be waited for.
        of_the_parent.shutdown_background();
    }
    Ok(handle)
}
