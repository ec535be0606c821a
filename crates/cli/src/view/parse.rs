//! The parts of a slice: what the library parses, and indices or masks from `.npy` files.

use std::path::Path;

use b2nd::array::Kind;
use b2nd::{Axis, Selection};

use crate::failure::{Failure, Result};
use crate::input::Input;
use crate::numeric;
use crate::report::lengths;

/// A list with more entries is cut short in titles.
const MOST_ENTRIES: usize = 8;
/// The memory for the items of a file of indices, in flight.
const BUDGET: u64 = 1 << 28;

/// One part of a slice.
#[derive(Debug, Clone)]
pub(super) struct Part {
    /// What the user wrote.
    pub(super) text: String,
    /// What it selects: of a mask with several axes a list for each, whose entries belong together.
    pub(super) axes: Vec<Axis>,
    /// The shape of a mask with several axes.
    mask: Option<Vec<u64>>,
}

impl From<Axis> for Part {
    fn from(axis: Axis) -> Self {
        Part { text: short(&axis), axes: vec![axis], mask: None }
    }
}

/// A part in NumPy's notation.
fn short(axis: &Axis) -> String {
    let dots = match axis {
        Axis::List(list) if list.len() > MOST_ENTRIES => Axis::from(&list[..MOST_ENTRIES - 1]),
        Axis::Mask(mask) if mask.len() > MOST_ENTRIES => Axis::from(&mask[..MOST_ENTRIES - 1]),
        whole => return whole.to_string(),
    };
    let text = dots.to_string();
    format!("{}, …]", text.strip_suffix(']').unwrap_or(&text))
}

/// The parts of a slice.
pub(super) fn parts(text: &str) -> Result<Vec<Part>> {
    if !text.contains(".npy") {
        return axes(text, text).map(|axes| axes.into_iter().map(Part::from).collect());
    }
    // A comma inside brackets does not part.
    let mut depth = 0i32;
    let whole = text.trim();
    let pieces = whole.strip_suffix(',').unwrap_or(whole).split(|c| {
        depth += i32::from(c == '[') - i32::from(c == ']');
        c == ',' && depth <= 0
    });
    let mut parts = Vec::new();
    for piece in pieces.map(str::trim) {
        if Path::new(piece).extension().is_some_and(|extension| extension == "npy") {
            parts.push(from_file(piece)?);
            continue;
        }
        match &axes(text, piece)?[..] {
            [axis] => parts.push(Part::from(axis.clone())),
            _ => return Err(unclear(text, &format!("cannot understand '{piece}'"))),
        }
    }
    Ok(parts)
}

/// What the library reads in a piece of a slice.
fn axes(text: &str, piece: &str) -> Result<Vec<Axis>> {
    let selection = Selection::parse(piece).map_err(|error| unclear(text, &error.to_string()))?;
    Ok(selection.axes().unwrap_or_default().to_vec())
}

fn unclear(text: &str, why: &str) -> Failure {
    Failure::usage(
        format!("the slice '{text}': {why}"),
        "write slices as in NumPy, one part for each axis: '10:20,:,-5', '::-1', '...,0', '[0,2],None', 'mask.npy'",
    )
}

/// Indices along one axis, or a mask, from a `.npy` file.
fn from_file(name: &str) -> Result<Part> {
    let mut input = Input::open(Path::new(name), None)?;
    let (dtype, shape) = (input.kind().dtype.clone(), input.kind().shape.clone());
    let mut items = Vec::new();
    input.read(&input.whole(), &mut items, BUDGET)?;
    let mask = dtype.kind() == Kind::Bool;
    let part = |axes| Part { text: name.into(), axes, mask: None };
    match shape.len() {
        1 if mask => Ok(part(vec![Axis::Mask(items.iter().map(|&item| item != 0).collect())])),
        1 if matches!(dtype.kind(), Kind::Int | Kind::Uint) => {
            let indices = numeric::to_i64(&dtype, &items).unwrap_or_default();
            Ok(part(vec![Axis::List(indices)]))
        }
        2.. if mask => {
            let mut lists = vec![Vec::new(); shape.len()];
            for (n, _) in items.iter().enumerate().filter(|(_, item)| **item != 0) {
                let mut rest = n as u64;
                for (list, &len) in lists.iter_mut().zip(&shape).rev() {
                    list.push(i64::try_from(rest % len.max(1)).unwrap_or(i64::MAX));
                    rest /= len.max(1);
                }
            }
            let axes = lists.into_iter().map(Axis::List).collect();
            Ok(Part { text: name.into(), axes, mask: Some(shape) })
        }
        _ => Err(Failure::usage(
            format!(
                "{name}: an array of shape {} and dtype {dtype} cannot be used as a selection",
                lengths(&shape)
            ),
            "a slice takes a mask (booleans), or integers in one axis: indices along an axis of the array",
        )),
    }
}

/// Refuses masks of several axes whose shape differs from that of the axes they select.
pub(super) fn check_masks(shape: &[u64], parts: &[Part]) -> Result<()> {
    let named = |parts: &[Part]| -> usize {
        let counts = |axis: &&Axis| !matches!(axis, Axis::NewAxis | Axis::Ellipsis);
        parts.iter().flat_map(|part| part.axes.iter()).filter(counts).count()
    };
    let mut at = 0;
    for (n, part) in parts.iter().enumerate() {
        let (before, rest) = (at, parts.get(n..).unwrap_or_default());
        at = match part.axes[..] {
            [Axis::Ellipsis] => shape.len().saturating_sub(named(rest)),
            _ => at + named(std::slice::from_ref(part)),
        };
        let Some(mask) = &part.mask else { continue };
        let due = shape.get(before..before + mask.len()).unwrap_or_default();
        if !due.is_empty() && due != mask {
            return Err(Failure::usage(
                format!("{}: is a mask of shape {}", part.text, lengths(mask)),
                format!(
                    "the shape of the array is {}: a mask there has shape {}",
                    lengths(shape),
                    lengths(due)
                ),
            ));
        }
    }
    Ok(())
}
