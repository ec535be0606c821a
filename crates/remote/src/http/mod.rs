//! The client for HTTP: one that follows redirects with care, bounds what it takes, and says why a request failed.

mod addresses;
mod client;
mod ranges;
mod redirects;
mod refusal;
mod tls;

pub(crate) use client::{Connector, User};
pub(crate) use refusal::Refusal;
