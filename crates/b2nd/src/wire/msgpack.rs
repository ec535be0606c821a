//! The few msgpack forms that frames use, read and written: the only file that knows big-endian numbers.

use super::Cursor;
use crate::error::Result;

/// `array of 3`, which opens a metalayer section.
pub(crate) const ARRAY_3: u8 = 0x93;
/// `u16`.
pub(crate) const UINT_16: u8 = 0xcd;
/// `u32`.
pub(crate) const UINT_32: u8 = 0xce;
/// `u64`.
pub(crate) const UINT_64: u8 = 0xcf;
/// `i16`.
pub(crate) const INT_16: u8 = 0xd1;
/// `i32`.
pub(crate) const INT_32: u8 = 0xd2;
/// `i64`.
pub(crate) const INT_64: u8 = 0xd3;
/// An array whose length is a `u16`.
pub(crate) const ARRAY_16: u8 = 0xdc;
/// A map whose length is a `u16`.
pub(crate) const MAP_16: u8 = 0xde;
/// Bytes whose length is a `u32`.
pub(crate) const BIN_32: u8 = 0xc6;
/// An extension of 16 bytes.
pub(crate) const FIXEXT_16: u8 = 0xd8;
/// The truth values.
pub(crate) const FALSE: u8 = 0xc2;
/// See [`FALSE`].
pub(crate) const TRUE: u8 = 0xc3;
/// A short text: this, or-ed with its length.
pub(crate) const FIXSTR: u8 = 0xa0;
/// The longest short text.
pub(crate) const FIXSTR_MAX: usize = 31;

impl<'a> Cursor<'a> {
    /// Takes the byte `marker`, which announces `what`.
    pub(crate) fn marker(&mut self, marker: u8, what: &str) -> Result<()> {
        let at = self.clone();
        let found = self.byte(what)?;
        if found == marker {
            Ok(())
        } else {
            Err(at.error(format!("{what} starts with {found:02x}, not {marker:02x}")))
        }
    }
    /// A marked `i32`.
    pub(crate) fn i32(&mut self, what: &str) -> Result<i32> {
        self.marker(INT_32, what)?;
        self.array(what).map(i32::from_be_bytes)
    }
    /// A marked `i64`.
    pub(crate) fn i64(&mut self, what: &str) -> Result<i64> {
        self.marker(INT_64, what)?;
        self.array(what).map(i64::from_be_bytes)
    }
    /// A marked `u64`.
    pub(crate) fn u64(&mut self, what: &str) -> Result<u64> {
        self.marker(UINT_64, what)?;
        self.array(what).map(u64::from_be_bytes)
    }
    /// A marked `u32`.
    pub(crate) fn u32(&mut self, what: &str) -> Result<u32> {
        self.marker(UINT_32, what)?;
        self.array(what).map(u32::from_be_bytes)
    }
    /// A number of 16 bits behind its marker.
    pub(crate) fn u16(&mut self, marker: u8, what: &str) -> Result<u16> {
        self.marker(marker, what)?;
        self.array(what).map(u16::from_be_bytes)
    }
    /// A short text, as bytes.
    pub(crate) fn fixstr(&mut self, what: &str) -> Result<&'a [u8]> {
        let at = self.clone();
        let marker = self.byte(what)?;
        let len = marker & 0x1f;
        if marker & 0xe0 != FIXSTR {
            return Err(
                at.error(format!("{what} starts with {marker:02x}, which is not the marker of a short text"))
            );
        }
        self.take(usize::from(len), what)
    }
    /// Bytes with a 32-bit length.
    pub(crate) fn bin32(&mut self, what: &str) -> Result<&'a [u8]> {
        let len = self.bin32_len(what)?;
        self.take(len, what)
    }
    /// The length of marked bytes, which start at the position then.
    pub(crate) fn bin32_len(&mut self, what: &str) -> Result<usize> {
        self.marker(BIN_32, what)?;
        let len = u32::from_be_bytes(self.array(what)?);
        Ok(usize::try_from(len).unwrap_or(usize::MAX))
    }
}

/// Appends a marked `i16`.
pub(crate) fn put_i16(out: &mut Vec<u8>, value: i16) {
    out.push(INT_16);
    out.extend_from_slice(&value.to_be_bytes());
}
/// Appends a marked `i32`.
pub(crate) fn put_i32(out: &mut Vec<u8>, value: i32) {
    out.push(INT_32);
    out.extend_from_slice(&value.to_be_bytes());
}
/// Appends a marked `i64`.
pub(crate) fn put_i64(out: &mut Vec<u8>, value: i64) {
    out.push(INT_64);
    out.extend_from_slice(&value.to_be_bytes());
}
/// Appends a marked `u64`.
pub(crate) fn put_u64(out: &mut Vec<u8>, value: u64) {
    out.push(UINT_64);
    out.extend_from_slice(&value.to_be_bytes());
}
/// Appends a marked `u32`.
pub(crate) fn put_u32(out: &mut Vec<u8>, value: u32) {
    out.push(UINT_32);
    out.extend_from_slice(&value.to_be_bytes());
}
/// Appends a number of 16 bits behind `marker`.
pub(crate) fn put_u16(out: &mut Vec<u8>, marker: u8, value: u16) {
    out.push(marker);
    out.extend_from_slice(&value.to_be_bytes());
}
/// Appends a short text; the caller keeps it to [`FIXSTR_MAX`] bytes.
pub(crate) fn put_fixstr(out: &mut Vec<u8>, text: &[u8]) {
    out.push(FIXSTR | (text.len() & FIXSTR_MAX) as u8);
    out.extend_from_slice(text);
}
/// Appends bytes with a 32-bit length.
pub(crate) fn put_bin32(out: &mut Vec<u8>, len: u32, bytes: &[u8]) {
    out.push(BIN_32);
    out.extend_from_slice(&len.to_be_bytes());
    out.extend_from_slice(bytes);
}
/// Overwrites the number of a marked `u64` (or a non-negative `i64`) whose marker is at `at`.
pub(crate) fn patch_64(bytes: &mut [u8], at: usize, value: u64) {
    if let Some(field) = bytes.get_mut(at..).and_then(|tail| tail.get_mut(1..9)) {
        field.copy_from_slice(&value.to_be_bytes());
    }
}
