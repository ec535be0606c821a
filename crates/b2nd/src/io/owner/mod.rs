//! The owner lock of a frame: the lock itself, and what it says of its holder.

mod holder;
mod lock;

pub(crate) use lock::Owner;

#[cfg(test)]
mod tests;
