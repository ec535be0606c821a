//! The steps done by b2nd.

use super::step::Create;
use super::step::Place;
use super::step::Slice;
use super::step::Step;
use crate::Outcome;
use b2nd::{Array, Codec, Dtype, Exec, Layout, OpenOptions, Options, Params, Pipeline, Selection};
use std::path::Path;

/// Makes the array of a step at `path`.
pub fn create(new: &Create, path: &Path) -> Outcome {
    let params = Params::new(u32::try_from(new.itemsize)?)
        .with_codec(Codec::from_name(new.codec).ok_or("no such codec")?)
        .with_clevel(new.clevel)
        .with_pipeline(Pipeline::from_bytes(new.filters, [0; 6]));
    let options = Options::new()
        .with_params(params)
        .with_chunks(new.chunks.clone())
        .with_blocks(new.blocks.clone())
        .with_layout(if new.sparse { Layout::Sparse } else { Layout::Contiguous });
    let mut array = options.create(path, Dtype::parse(new.dtype)?, &new.shape)?;
    array.write_bytes(Selection::all(), &new.items)?;
    Ok(())
}

/// The array at `path`, for writing, on `threads` threads.
pub fn open(path: &Path, threads: usize) -> Outcome<Array> {
    Ok(Array::open_with(path, &OpenOptions::new().with_write(true).with_exec(Exec::new(threads)))?)
}

/// Does a step that changes the array.
pub fn change(array: &mut Array, step: &Step) -> Outcome {
    match step {
        Step::Write { place: Place::Slices(slices), items } => {
            array.write_bytes(selection(slices)?, items)?;
        }
        Step::Write { place: Place::Lists(lists), items } => {
            array.write_bytes(Selection::orthogonal(lists.clone()), items)?;
        }
        Step::Write { place: Place::Points(points), items } => {
            array.write_bytes(Selection::coordinates(points.clone()), items)?;
        }
        Step::Resize { shape } => array.resize(shape.clone())?,
        Step::Append { axis, items, .. } => array.append_bytes(*axis, items)?,
        Step::Insert { axis, at, items, .. } => array.insert_bytes(*axis, *at, items)?,
        Step::Delete { axis, at, count } => array.delete(*axis, *at..*at + *count)?,
        _ => return Err(format!("{} changes nothing", step.name()).into()),
    }
    Ok(())
}

/// What a reading step gives.
pub fn read(array: &Array, step: &Step) -> Outcome<Vec<u8>> {
    Ok(match step {
        Step::Read { place: Place::Slices(slices) } => array.read_bytes(selection(slices)?)?,
        Step::Read { place: Place::Lists(lists) } => {
            array.read_bytes(Selection::orthogonal(lists.clone()))?
        }
        Step::Read { place: Place::Points(points) } => {
            array.read_bytes(Selection::coordinates(points.clone()))?
        }
        Step::MaskRead { mask } => array.read_bytes(Selection::mask(array.shape(), mask.clone()))?,
        _ => array.read_bytes(Selection::all())?,
    })
}

fn selection(slices: &[Slice]) -> Outcome<Selection> {
    let end = |end: Option<i64>| end.map_or(String::new(), |n| n.to_string());
    let one = |&Slice { start, stop, step }: &Slice| format!("{}:{}:{step}", end(start), end(stop));
    Ok(Selection::parse(&slices.iter().map(one).collect::<Vec<_>>().join(", "))?)
}
