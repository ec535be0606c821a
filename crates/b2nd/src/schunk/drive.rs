//! Drives the parser of frames with the bytes of a store.

use crate::error::Result;
use crate::frame::{FrameHeader, FrameIndex, FrameParser, Layout, ParseStep};
use crate::io::{FileId, ReadStore};
use crate::limits::{Limits, zeroed};
use std::ops::Range;

/// Parses a frame out of a store.
pub(super) fn drive(store: &dyn ReadStore, layout: Layout, limits: &Limits) -> Result<FrameIndex> {
    drive_parser(FrameParser::new(store.len(FileId::Frame)?, layout, limits)?, store)
}

/// Parses index and trailer of a frame whose header was parsed before.
pub(super) fn drive_behind(
    store: &dyn ReadStore,
    header: FrameHeader,
    limits: &Limits,
) -> Result<FrameIndex> {
    drive_parser(FrameParser::behind(header, limits)?, store)
}

/// As [`drive_behind`], with the bytes that `find` has; or the range that it lacks.
pub(super) fn parse_behind<'a>(
    find: impl Fn(&Range<u64>) -> Option<&'a [u8]>,
    header: FrameHeader,
    limits: &Limits,
) -> Result<std::result::Result<FrameIndex, Range<u64>>> {
    let mut parser = FrameParser::behind(header, limits)?;
    loop {
        match parser.step() {
            ParseStep::Done(index) => return Ok(Ok(*index)),
            ParseStep::Need(range) => match find(&range) {
                Some(bytes) => parser.supply(bytes)?,
                None => return Ok(Err(range)),
            },
        }
    }
}

fn drive_parser(mut parser: FrameParser, store: &dyn ReadStore) -> Result<FrameIndex> {
    let mut buffer = Vec::new();
    loop {
        match parser.step() {
            ParseStep::Done(index) => return Ok(*index),
            ParseStep::Need(range) => supply(&mut parser, store, 0, range, &mut buffer)?,
        }
    }
}

/// Parses the header of a frame, and finds where its trailer starts.
pub(super) fn drive_outline(
    store: &dyn ReadStore,
    layout: Layout,
    limits: &Limits,
) -> Result<(FrameHeader, u64)> {
    let mut parser = FrameParser::outline_of(store.len(FileId::Frame)?, layout, limits)?;
    let mut buffer = Vec::new();
    loop {
        match parser.step() {
            ParseStep::Done(index) => return Ok((index.header, parser.trailer_start())),
            ParseStep::Need(range) => supply(&mut parser, store, 0, range, &mut buffer)?,
        }
    }
}

/// Supplies a parser with the bytes it requests, for a frame that starts at `at`.
pub(super) fn supply(
    parser: &mut FrameParser,
    store: &dyn ReadStore,
    at: u64,
    range: Range<u64>,
    buffer: &mut Vec<u8>,
) -> Result<()> {
    let len = range.end.saturating_sub(range.start);
    parser.supply(part(store, at.saturating_add(range.start), len, buffer)?)
}

/// The first `len` bytes of a frame.
pub(super) fn header_of(store: &dyn ReadStore, len: u64) -> Result<Vec<u8>> {
    let mut buffer = Vec::new();
    part(store, 0, len, &mut buffer).map(<[u8]>::to_vec)
}

/// A part of the frame's file: where it is in memory, or read into `buffer`.
pub(super) fn part<'b>(
    store: &'b dyn ReadStore,
    at: u64,
    len: u64,
    buffer: &'b mut Vec<u8>,
) -> Result<&'b [u8]> {
    if let Some(bytes) = store.slice(FileId::Frame, at..at.saturating_add(len)) {
        return Ok(bytes);
    }
    *buffer = zeroed("part of a frame", len)?;
    store.read_at(FileId::Frame, at, buffer)?;
    Ok(buffer)
}
