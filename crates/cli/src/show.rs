//! Values as NumPy prints them, read from an array no further than they are shown.

use b2nd::array::{Array, Dtype};

use crate::failure::{Failure, Result};
use crate::text;
use crate::tiling::Region;
use crate::view::View;

/// A view as `print` of NumPy shows it, with a line end. Of a large one only the edges are read.
pub(crate) fn view(array: &Array, view: &View) -> Result<String> {
    let shape = view.shape();
    let edge_shape = text::edge_shape(&shape);
    let needed = text::needed(&shape);
    let itemsize = array.dtype().itemsize();
    let mut edge = Vec::new();
    crate::input::resize(&mut edge, edge_shape.iter().product(), itemsize)?;
    // Every combination of one range of each axis is a box of the view, and a box of the edge.
    let mut boxes = vec![(Region { start: vec![], stop: vec![] }, Vec::new())];
    for ranges in &needed {
        let mut longer = Vec::with_capacity(boxes.len() * ranges.len());
        for (region, at) in &boxes {
            let mut before = 0;
            for range in ranges {
                let (mut region, mut at) = (region.clone(), at.clone());
                region.start.push(range.start);
                region.stop.push(range.end);
                at.push(before);
                before += range.end.saturating_sub(range.start);
                longer.push((region, at));
            }
        }
        boxes = longer;
    }
    for (region, at) in boxes {
        let items = view.read(array, &region)?;
        place(&items, &region.shape(), itemsize, &mut edge, &edge_shape, &at);
    }
    let mut text = text::format(array.dtype(), &shape, &edge)?;
    text.push('\n');
    Ok(text)
}

/// One item.
pub(crate) fn item(dtype: &Dtype, bytes: &[u8]) -> Result<String> {
    text::format(dtype, &[], bytes).map_err(Failure::from)
}

/// Copies a box of `shape` into an array of shape `all`, from index `at` on.
fn place(items: &[u8], shape: &[u64], itemsize: usize, into: &mut [u8], all: &[u64], at: &[u64]) {
    let stop = at.iter().zip(shape).map(|(a, n)| a + n).collect();
    let mut rest = items;
    for (first, count) in crate::tiling::runs(all, &Region { start: at.to_vec(), stop }) {
        let native = |n: u64| usize::try_from(n).unwrap_or(usize::MAX).saturating_mul(itemsize);
        let (Some((now, later)), offset) = (rest.split_at_checked(native(count)), native(first)) else {
            return;
        };
        if let Some(place) = into.get_mut(offset..offset.saturating_add(now.len())) {
            place.copy_from_slice(now);
        }
        rest = later;
    }
}
