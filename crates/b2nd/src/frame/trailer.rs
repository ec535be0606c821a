//! The trailer of a frame: vlmetalayers, each a chunk of its own, kept compressed so that a rewrite changes no byte.
//!
//! ```text
//! 94 01 | metalayer section | ce trailer_len | d8 fingerprint type, fingerprint ×16
//! ```

use super::header::Dialect;
use super::metalayers;
use super::metalayers::Name;
use crate::error::{Error, Part, Result};
use crate::wire::Cursor;
use crate::wire::msgpack;

/// From the marker of the trailer length to the end of the frame.
pub(super) const TAIL_LEN: usize = 23;
/// The shortest trailer that anyone accepts.
const MIN_LEN: u64 = 25;
/// The name under which the user data of the betas is shown.
const USERMETA: &str = "usermeta";

/// The vlmetalayers of a frame.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Trailer {
    entries: Vec<(Name, Vec<u8>)>,
}

impl Trailer {
    /// The most vlmetalayers that are read or written. C-Blosc2 reads as many but cannot add one beyond 16.
    pub(crate) const MAX_ENTRIES: u16 = 8192;

    /// The length of the trailer, from the end of the frame; `room` bytes are there for it.
    pub(super) fn measure(tail: &[u8], room: u64) -> Result<u64> {
        let at = tail.len().saturating_sub(TAIL_LEN);
        let mut cursor = Cursor::new(tail, at, Part::Trailer);
        let len = cursor.u32("the trailer length").map_err(|_| {
            Error::format(
                Part::Trailer,
                None,
                "the frame does not end with a trailer: it is cut off or damaged",
            )
        })?;
        let len = u64::from(len);
        if len < MIN_LEN || len > room {
            return Err(Error::format(
                Part::Trailer,
                None,
                format!("a trailer length of {len} with room for {room}"),
            ));
        }
        Ok(len)
    }

    /// Reads a whole trailer.
    pub(super) fn parse(bytes: &[u8], dialect: Dialect) -> Result<Self> {
        let body =
            bytes.split_at_checked(bytes.len().saturating_sub(TAIL_LEN)).map_or(bytes, |(body, _)| body);
        let mut trailer = Trailer::default();
        let mut cursor = Cursor::new(body, 2, Part::Trailer);
        if dialect != Dialect::Current {
            let usermeta = cursor.bin32("the user metadata")?;
            if !usermeta.is_empty() {
                trailer.entries.push((Name::from_bytes(USERMETA.as_bytes()), usermeta.to_vec()));
            }
            if cursor.position() == body.len() {
                return Ok(trailer);
            }
        }
        for entry in metalayers::parse(body, cursor.position(), Self::MAX_ENTRIES, Part::Trailer)? {
            let content = body.get(entry.content).unwrap_or_default();
            trailer.entries.push((entry.name, content.to_vec()));
        }
        Ok(trailer)
    }

    /// The bytes of the trailer.
    pub(crate) fn encode(&self) -> Result<Vec<u8>> {
        let mut out = vec![0x94, 0x01];
        let entries: Vec<(&[u8], &[u8])> =
            self.entries().map(|(name, chunk)| (name.bytes(), chunk)).collect();
        metalayers::write(&mut out, &entries, 0)?;
        let len = out.len().saturating_add(TAIL_LEN);
        let len =
            u32::try_from(len).map_err(|_| Error::usage("the vlmetalayers are too large for a frame"))?;
        msgpack::put_u32(&mut out, len);
        out.extend_from_slice(&[msgpack::FIXEXT_16, 0]);
        out.extend_from_slice(&[0; 16]);
        Ok(out)
    }

    /// Whether there are no vlmetalayers.
    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
    /// Names and compressed contents, in stored order.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (&Name, &[u8])> {
        self.entries.iter().map(|(name, chunk)| (name, chunk.as_slice()))
    }
    /// The compressed content of a name (the first one of that name).
    pub(crate) fn get(&self, name: &str) -> Option<&[u8]> {
        self.entries().find(|(found, _)| found.text() == name).map(|(_, chunk)| chunk)
    }
    /// Adds or replaces an entry; `chunk` is its compressed content.
    pub(crate) fn set(&mut self, name: &str, chunk: Vec<u8>) -> Result<()> {
        if let Some((_, place)) = self.entries.iter_mut().find(|(found, _)| found.text() == name) {
            *place = chunk;
            return Ok(());
        }
        if self.entries.len() >= usize::from(Self::MAX_ENTRIES) {
            return Err(Error::usage(format!("a frame has at most {} vlmetalayers", Self::MAX_ENTRIES)));
        }
        self.entries.push((Name::new(name)?, chunk));
        Ok(())
    }
    /// Removes an entry; whether there was one.
    pub(crate) fn remove(&mut self, name: &str) -> bool {
        let before = self.entries.len();
        self.entries.retain(|(found, _)| found.text() != name);
        self.entries.len() != before
    }
}
