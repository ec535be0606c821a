//! The frames of a file that holds several.

use std::path::Path;

use b2nd::schunk::{FrameInfo, frames};
use b2nd::{Array, Exec, OpenOptions};
use serde_json::{Value as Json, json};

use super::Row;
use crate::args::Place;
use crate::failure::Result;
use crate::{open, report};

/// A frame, and the array that it holds, where it holds one that opens.
pub(super) type Listed = (FrameInfo, Option<Array>);

/// The frames of a file, unless it is one frame and nothing before it, or one of them was asked for.
pub(super) fn of_several(path: &Path, place: Place, exec: &Exec) -> Result<Option<Vec<Listed>>> {
    if place.offset.is_some() || place.index.is_some() || !path.is_file() {
        return Ok(None);
    }
    // What is no frame at all is not ours to explain.
    let Ok(found) = frames(path, &OpenOptions::new()) else { return Ok(None) };
    if found.len() == 1 && found.iter().all(|frame| frame.offset() == 0) {
        return Ok(None);
    }
    let open = |frame: FrameInfo| {
        let place = Place { offset: Some(frame.offset()), index: None };
        let array = Array::open_with(path, &open::options(place, exec.clone())).ok();
        (frame, array)
    };
    Ok(Some(found.into_iter().map(open).collect()))
}

/// The bytes of the items; a frame counts the padding of its chunks too.
fn nbytes(frame: &FrameInfo, array: Option<&Array>) -> u64 {
    array.map_or_else(|| frame.nbytes(), Array::nbytes)
}

pub(super) fn to_json(listed: &[Listed]) -> Json {
    let each = |(index, (frame, array)): (usize, &Listed)| {
        json!({
            "index": index,
            "offset": frame.offset(),
            "frame_len": frame.frame_len(),
            "nbytes": nbytes(frame, array.as_ref()),
            "cbytes": frame.cbytes(),
            "shape": array.as_ref().map(Array::shape),
            "dtype": array.as_ref().map(|array| array.dtype().to_text()),
            "metalayers": frame.metalayers().collect::<Vec<_>>(),
        })
    };
    json!({ "frames": listed.iter().enumerate().map(each).collect::<Vec<_>>() })
}

pub(super) fn to_table(listed: &[Listed]) -> Vec<Row> {
    let mut rows = vec![("frames", format!("{} (`--index N` shows one)", listed.len()))];
    for (index, (frame, array)) in listed.iter().enumerate() {
        let what = match array {
            Some(array) => format!("array {} {}", report::lengths(array.shape()), array.dtype()),
            None if frame.is_array() => "an array that cannot be opened".into(),
            None => "a frame without an array".into(),
        };
        let (raw, len) = (report::bytes(nbytes(frame, array.as_ref())), report::bytes(frame.frame_len()));
        rows.push(("", format!("{index}: at {}, {len}: {what}, {raw}", frame.offset())));
    }
    rows
}
