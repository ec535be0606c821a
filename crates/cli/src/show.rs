//! Values as NumPy prints them, read from an array no further than they are shown; and all of them as CSV and JSON.

use b2nd::{Array, Dtype};

use crate::failure::{Failure, Result};
use crate::output;
use crate::text::{self, Style, Values};
use crate::tiling::{Region, Tiling};
use crate::view::View;

/// A view as `print` of NumPy shows it, with a line end. Of a large one only the edges are read.
pub(crate) fn view(array: &Array, view: &View, style: Style) -> Result<String> {
    let shape = view.shape();
    let edge_shape = text::edge_shape(&shape, style);
    let needed = text::needed(&shape, style);
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
    let mut text = text::format(array.dtype(), &shape, &edge, style)?;
    text.push('\n');
    Ok(text)
}

/// All values of a view as CSV: a line for each row of the last axis, or for each structure.
pub(crate) fn csv(array: &Array, view: &View, values: Values, budget: u64) -> Result<()> {
    let (dtype, shape) = (array.dtype(), view.shape());
    let header = text::csv_header(dtype);
    if let Some(header) = &header {
        output::print(&format!("{header}\n"))?;
    }
    let row = if header.is_some() { 1 } else { shape.last().copied().unwrap_or(1) };
    each_item(array, view, budget, |n, item, text| {
        text.push_str(&text::to_csv(dtype, item, values));
        text.push(if (n + 1).is_multiple_of(row.max(1)) { '\n' } else { ',' });
    })
}

/// All values of a view as nested lists of JSON.
pub(crate) fn json(array: &Array, view: &View, values: Values, budget: u64) -> Result<()> {
    let (dtype, shape) = (array.dtype(), view.shape());
    let sizes: Vec<u64> = (0..shape.len()).map(|d| shape.iter().skip(d).product()).collect();
    if let Some(empty) = shape.iter().position(|&len| len == 0) {
        return output::print(&format!("{}\n", empty_lists(shape.get(..=empty).unwrap_or_default())));
    }
    // How many lists begin before item `n`, or end after item `n - 1`.
    let edges = |n: u64| sizes.iter().filter(|size| n.is_multiple_of(**size)).count();
    let total: u64 = shape.iter().product();
    each_item(array, view, budget, |n, item, text| {
        text.push_str(&"[".repeat(edges(n)));
        text.push_str(&text::to_json(dtype, item, values).to_string());
        text.push_str(&"]".repeat(edges(n + 1)));
        if n + 1 < total {
            text.push(',');
            // A line for each list of the last axis but one.
            if edges(n + 1) > 0 {
                text.push('\n');
            }
        }
    })?;
    output::print("\n")
}

/// The lists of an array without items, whose last axis here is the first without any.
fn empty_lists(shape: &[u64]) -> String {
    match shape.split_first() {
        None | Some((0, _)) => "[]".into(),
        Some((&len, inner)) => {
            let one = empty_lists(inner);
            let all = vec![one; usize::try_from(len).unwrap_or(0)];
            format!("[{}]", all.join(","))
        }
    }
}

/// Reads a view in C order and prints what `write` makes of each item, given its number.
fn each_item(
    array: &Array,
    view: &View,
    budget: u64,
    mut write: impl FnMut(u64, &[u8], &mut String),
) -> Result<()> {
    let itemsize = array.dtype().itemsize();
    // An item as text takes more than its bytes.
    let budget = (budget / (view.cost(itemsize) + 64)).max(1);
    let (mut n, mut text) = (0, String::new());
    for region in Tiling::in_order(&view.grid(array.chunks())?, budget).boxes() {
        for item in view.read(array, &region)?.chunks_exact(itemsize.max(1)) {
            write(n, item, &mut text);
            n += 1;
            if text.len() > PAGE {
                output::print(&text)?;
                text.clear();
            }
        }
    }
    output::print(&text)
}

/// As much text is printed at a time.
const PAGE: usize = 1 << 16;

/// One item.
pub(crate) fn item(dtype: &Dtype, bytes: &[u8]) -> Result<String> {
    text::format(dtype, &[], bytes, Style::default()).map_err(Failure::from)
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
