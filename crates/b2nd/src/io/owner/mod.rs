//! The owner lock of a frame: the lock itself, and the record of its holder.

mod holder;
mod lock;

pub(super) use holder::is_running;
pub(crate) use lock::Owner;
pub(super) use lock::{SUFFIX, folder, left_lock};

#[cfg(test)]
mod tests;
