//! Lends borrowed bytes for the time of one call to code that needs an owned value.

use std::process;
use std::sync::Arc;

/// Bytes lent by [`lend`]. They must not be kept beyond that call.
pub struct Lent {
    start: *const u8,
    len: usize,
    /// Shared with [`lend`], which learns from the count when this value has been dropped.
    _alive: Arc<()>,
}

// SAFETY: it is a shared borrow of bytes, which any thread may read.
unsafe impl Send for Lent {}
// SAFETY: as above; there is no way to change the bytes through it.
unsafe impl Sync for Lent {}

impl AsRef<[u8]> for Lent {
    fn as_ref(&self) -> &[u8] {
        // SAFETY: start and length are those of a slice that `lend` borrows until this value is gone.
        unsafe { std::slice::from_raw_parts(self.start, self.len) }
    }
}

/// Ends the process when the bytes are still lent out at the end of the loan.
struct Collector(Arc<()>);

impl Drop for Collector {
    fn drop(&mut self) {
        if Arc::get_mut(&mut self.0).is_none() {
            // Returning would free the bytes while a reader still has them, so the process must end.
            process::abort();
        }
    }
}

/// Lends `bytes` to `borrower` as an owned value without a lifetime.
///
/// ```
/// let bytes = vec![1, 2, 3];
/// assert_eq!(b2nd_kernel::lend::lend(&bytes, |lent| lent.as_ref().len()), 3);
/// ```
///
/// If the borrower keeps or leaks the value beyond the call, the process is aborted, also during a panic: the
/// bytes may be freed by then. So `borrower` must not store the value in anything that lives longer.
pub fn lend<R>(bytes: &[u8], borrower: impl FnOnce(Lent) -> R) -> R {
    let collector = Collector(Arc::new(()));
    borrower(Lent { start: bytes.as_ptr(), len: bytes.len(), _alive: Arc::clone(&collector.0) })
}
