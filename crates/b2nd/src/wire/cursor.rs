//! A position in untrusted bytes that cannot leave them.

use crate::error::{Error, Part, Result};

/// Takes fields off bytes, front to back; every failure says in which part of the file and where.
#[derive(Debug, Clone)]
pub(crate) struct Cursor<'a> {
    bytes: &'a [u8],
    position: usize,
    part: Part,
}

impl<'a> Cursor<'a> {
    /// Starts at `position` of `bytes`, which are the whole of `part`.
    pub(crate) fn new(bytes: &'a [u8], position: usize, part: Part) -> Self {
        Cursor { bytes, position, part }
    }
    /// Where the next field starts, from the start of the part.
    pub(crate) fn position(&self) -> usize {
        self.position
    }
    /// The next `len` bytes.
    pub(crate) fn take(&mut self, len: usize, what: &str) -> Result<&'a [u8]> {
        let end = self.position.checked_add(len);
        match end.and_then(|end| self.bytes.get(self.position..end).map(|taken| (end, taken))) {
            Some((end, taken)) => {
                self.position = end;
                Ok(taken)
            }
            None => Err(self.error(format!("{what} does not fit"))),
        }
    }
    /// The next `N` bytes as an array.
    pub(crate) fn array<const N: usize>(&mut self, what: &str) -> Result<[u8; N]> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N, what)?);
        Ok(array)
    }
    /// The next byte.
    pub(crate) fn byte(&mut self, what: &str) -> Result<u8> {
        self.array::<1>(what).map(|[byte]| byte)
    }
    /// An error at the place of the next field.
    pub(crate) fn error(&self, reason: impl Into<String>) -> Error {
        Error::format(self.part, self.position as u64, reason)
    }
}
