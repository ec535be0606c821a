//! The operations, as data that both sides understand.

use crate::case::hex;
use serde_json::Value;
use serde_json::json;

/// `start:stop:step` of one axis, NumPy's way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slice {
    /// The first index, from the end where it is negative.
    pub start: Option<i64>,
    /// One past the last.
    pub stop: Option<i64>,
    /// From one index to the next.
    pub step: i64,
}

/// What part of an array is read or written.
#[derive(Debug, Clone, PartialEq)]
pub enum Place {
    /// Basic slices, one for each axis.
    Slices(Vec<Slice>),
    /// The outer product of one list of indices for each axis.
    Lists(Vec<Vec<i64>>),
    /// Single items: one list for each axis, all of the same length.
    Points(Vec<Vec<i64>>),
}

/// One operation.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// A new array.
    Create(Box<Create>),
    /// Items into a place.
    Write {
        /// Where.
        place: Place,
        /// The items, in C order.
        items: Vec<u8>,
    },
    /// Another shape; new items are zeros.
    Resize {
        /// The length of each axis.
        shape: Vec<u64>,
    },
    /// `count` slabs behind the last along an axis.
    Append {
        /// The axis.
        axis: usize,
        /// How many.
        count: u64,
        /// The items, in C order.
        items: Vec<u8>,
    },
    /// `count` slabs before index `at`.
    Insert {
        /// The axis.
        axis: usize,
        /// The index.
        at: u64,
        /// How many.
        count: u64,
        /// The items, in C order.
        items: Vec<u8>,
    },
    /// `count` slabs from index `at` on.
    Delete {
        /// The axis.
        axis: usize,
        /// The index.
        at: u64,
        /// How many.
        count: u64,
    },
    /// The items of a place.
    Read {
        /// Where.
        place: Place,
    },
    /// The items where the mask is true.
    MaskRead {
        /// One for each item, in C order.
        mask: Vec<bool>,
    },
    /// b2nd closes the file and opens it again.
    Reopen,
}

/// A new array.
#[derive(Debug, Clone, PartialEq)]
pub struct Create {
    /// The length of each axis.
    pub shape: Vec<u64>,
    /// The chunk shape.
    pub chunks: Vec<u64>,
    /// The block shape.
    pub blocks: Vec<u64>,
    /// As NumPy spells it.
    pub dtype: &'static str,
    /// The bytes of an item.
    pub itemsize: usize,
    /// Its name.
    pub codec: &'static str,
    /// 0 to 9.
    pub clevel: u8,
    /// By their ids, slot by slot.
    pub filters: [u8; 6],
    /// A directory, or one file.
    pub sparse: bool,
    /// All of them, in C order.
    pub items: Vec<u8>,
}

impl Step {
    /// The name that the tally counts under and Python goes by.
    pub fn name(&self) -> &'static str {
        match self {
            Step::Create(_) => "create",
            Step::Write { place: Place::Slices(_), .. } => "write",
            Step::Write { place: Place::Lists(_), .. } => "orthogonal_write",
            Step::Write { place: Place::Points(_), .. } => "scatter",
            Step::Resize { .. } => "resize",
            Step::Append { .. } => "append",
            Step::Insert { .. } => "insert",
            Step::Delete { .. } => "delete",
            Step::Read { place: Place::Slices(_) } => "read",
            Step::Read { place: Place::Lists(_) } => "orthogonal_read",
            Step::Read { place: Place::Points(_) } => "gather",
            Step::MaskRead { .. } => "mask_read",
            Step::Reopen => "reopen",
        }
    }

    /// Whether the step changes the array.
    pub fn writes(&self) -> bool {
        !matches!(self, Step::Read { .. } | Step::MaskRead { .. } | Step::Reopen)
    }

    /// What Python is told.
    pub fn to_json(&self) -> Value {
        let mut told = match self {
            Step::Create(new) => json!({
                "shape": new.shape, "chunks": new.chunks, "blocks": new.blocks, "dtype": new.dtype,
                "codec": new.codec.to_uppercase(), "clevel": new.clevel, "filters": new.filters,
                "sparse": new.sparse, "items": hex(&new.items),
            }),
            Step::Write { place, items } => {
                let mut told = place.to_json();
                told["items"] = json!(hex(items));
                told
            }
            Step::Resize { shape } => json!({"shape": shape}),
            Step::Append { axis, count, items } => json!({"axis": axis, "count": count, "items": hex(items)}),
            Step::Insert { axis, at, count, items } => {
                json!({"axis": axis, "at": at, "count": count, "items": hex(items)})
            }
            Step::Delete { axis, at, count } => json!({"axis": axis, "at": at, "count": count}),
            Step::Read { place } => place.to_json(),
            Step::MaskRead { mask } => json!({"mask": mask}),
            Step::Reopen => json!({}),
        };
        told["name"] = json!(self.name());
        told
    }

    /// The step in a line, without its items.
    pub fn summary(&self) -> String {
        let mut told = self.to_json();
        if let Some(told) = told.as_object_mut() {
            told.remove("items");
            told.remove("mask");
        }
        told.to_string()
    }
}

impl Place {
    fn to_json(&self) -> Value {
        match self {
            Place::Slices(slices) => {
                let list: Vec<_> = slices.iter().map(|slice| (slice.start, slice.stop, slice.step)).collect();
                json!({"slices": list})
            }
            Place::Lists(lists) => json!({"lists": lists}),
            Place::Points(points) => json!({"points": points}),
        }
    }

    /// The number of items that the place takes from an array of this shape.
    pub fn count(&self, shape: &[u64]) -> u64 {
        match self {
            Place::Slices(slices) => {
                slices.iter().zip(shape).map(|(slice, &len)| slice_len(*slice, len.cast_signed())).product()
            }
            Place::Lists(lists) => lists.iter().map(|list| list.len() as u64).product(),
            Place::Points(points) => points.first().map_or(1, |list| list.len() as u64),
        }
    }
}

/// The number of indices that a slice takes.
fn slice_len(slice: Slice, len: i64) -> u64 {
    let Slice { start, stop, step } = slice;
    let (low, high) = if step > 0 { (0, len) } else { (-1, len - 1) };
    let place = |v: i64| (if v < 0 { v + len } else { v }).clamp(low, high);
    let start = start.map_or(if step > 0 { low } else { high }, place);
    let stop = stop.map_or(if step > 0 { high } else { low }, place);
    let span = if step > 0 { stop - start } else { start - stop };
    if span <= 0 { 0 } else { (span.unsigned_abs() - 1) / step.unsigned_abs() + 1 }
}

#[cfg(test)]
mod tests {
    use super::{Slice, slice_len};

    #[test]
    fn slices_take_as_many_items_as_in_python() {
        for (start, stop, step, len, count) in [
            (None, None, 1, 7, 7),
            (None, None, -1, 7, 7),
            (Some(5), Some(1), -2, 7, 2),
            (Some(-3), None, 2, 7, 2),
            (Some(4), Some(2), 1, 7, 0),
            (Some(-20), Some(20), 3, 7, 3),
            (None, None, 1, 0, 0),
        ] {
            let slice = Slice { start, stop, step };
            assert_eq!(slice_len(slice, len), count, "{slice:?} of {len}");
        }
    }
}
