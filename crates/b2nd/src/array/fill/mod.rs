//! One array, filled by many processes.

mod job;
mod receipt;
#[cfg(test)]
mod tests;

pub use job::{FillJob, Filled};
pub use receipt::FillReceipt;
