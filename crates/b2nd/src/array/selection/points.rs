//! Selections of single items: points, positions and masks, as flat C-order positions.

use crate::array::selection::resolve::Resolved;
use crate::array::selection::resolve::Taken;
use crate::array::selection::resolve::absolute;
use crate::error::Error;
use crate::error::Result;
use crate::limits::reserved;

/// What the buffers are for, in errors.
const POINTS: &str = "a selection of points";

fn resolved(positions: Vec<u64>) -> Resolved {
    let shape = vec![positions.len() as u64];
    Resolved { taken: Taken::Points(positions), shape, axes: vec![None] }
}

/// One more coordinate of a position.
fn step(flat: u64, index: i64, axis: usize, length: u64, point: usize) -> Result<u64> {
    let at = absolute(index, length)
        .ok_or_else(|| Error::index(axis, index, length, format_args!("{index} of point {point}")))?;
    // Inside an array, whose items are fewer than 2^63.
    Ok(flat.wrapping_mul(length).wrapping_add(at))
}

/// The indices of one point after the other.
pub(super) fn points(coordinates: &[i64], shape: &[u64]) -> Result<Resolved> {
    let ndim = shape.len();
    if ndim == 0 || !coordinates.len().is_multiple_of(ndim) {
        return Err(Error::not_whole(
            ndim,
            coordinates.len(),
            format!(
                "{} numbers are not a whole number of points: a point of this array has {ndim} of them, one for each axis",
                coordinates.len()
            ),
        ));
    }
    let mut positions = reserved(POINTS, coordinates.len() / ndim)?;
    for (point, at) in coordinates.chunks_exact(ndim).enumerate() {
        let mut axes = at.iter().zip(shape).enumerate();
        positions.push(
            axes.try_fold(0, |flat, (axis, (&index, &length))| step(flat, index, axis, length, point))?,
        );
    }
    Ok(resolved(positions))
}

/// The indices of all points along one axis after the other.
pub(super) fn coordinates(lists: &[Vec<i64>], shape: &[u64]) -> Result<Resolved> {
    if lists.len() != shape.len() || shape.is_empty() {
        return Err(Error::ndim(
            shape.len(),
            lists.len(),
            format!(
                "{} lists of coordinates are given, and the array has {} axes: its shape is {shape:?}",
                lists.len(),
                shape.len()
            ),
        ));
    }
    let count = lists.first().map_or(0, Vec::len);
    if let Some(other) = lists.iter().find(|list| list.len() != count) {
        return Err(Error::length(
            count,
            other.len(),
            format!(
                "lists of coordinates have {count} and {} entries: they need the same number, one for each point",
                other.len()
            ),
        ));
    }
    let mut positions = reserved(POINTS, count)?;
    positions.resize(count, 0);
    for (axis, (list, &length)) in lists.iter().zip(shape).enumerate() {
        for (point, (flat, &index)) in positions.iter_mut().zip(list).enumerate() {
            *flat = step(*flat, index, axis, length, point)?;
        }
    }
    Ok(resolved(positions))
}

/// Positions in C order, negative from the end.
pub(super) fn flat(list: &[i64], shape: &[u64]) -> Result<Resolved> {
    // An array has fewer than 2^63 items; a shape that has more is not one of an array.
    let size =
        if shape.contains(&0) { 0 } else { shape.iter().fold(1u64, |n, &length| n.saturating_mul(length)) };
    let mut positions = reserved(POINTS, list.len())?;
    for (entry, &index) in list.iter().enumerate() {
        positions.push(absolute(index, size).ok_or_else(|| {
            Error::out_of_bounds(
                index,
                size,
                format!("position {index} (entry {entry}) is out of range for {size} items"),
            )
        })?);
    }
    Ok(resolved(positions))
}

/// The items where a mask is true, in C order.
pub(super) fn mask(mask: &[bool], mask_shape: &[u64], shape: &[u64]) -> Result<Resolved> {
    if mask_shape != shape {
        return Err(Error::shape(
            shape,
            mask_shape,
            format!("the mask has the shape {mask_shape:?}, and the array {shape:?}"),
        ));
    }
    let size = shape.iter().try_fold(1u64, |n, &length| n.checked_mul(length));
    if !shape.contains(&0) && size != Some(mask.len() as u64) || shape.contains(&0) && !mask.is_empty() {
        return Err(Error::length(
            size.unwrap_or(0),
            mask.len(),
            format!("a mask of {} items does not have the shape {shape:?}", mask.len()),
        ));
    }
    let mut positions = reserved(POINTS, mask.iter().filter(|&&taken| taken).count())?;
    positions.extend(mask.iter().zip(0..).filter(|(taken, _)| **taken).map(|(_, position)| position));
    Ok(resolved(positions))
}
