//! Dtypes to texts: the text of the array metalayer, and the `descr` of `.npy` headers.

use std::fmt::Write;

use crate::array::dtype::layout::{ByteOrder, Dtype, Field, Kind, Repr, Scalar, Struct};
use crate::array::dtype::repr::str_repr;
use crate::error::{Error, Result};

/// What python-blosc2 stores: `dtype.str` of plain types, `str(dtype)` of structures.
pub(super) fn text(dtype: &Dtype) -> String {
    match &dtype.repr {
        Repr::Scalar(scalar) => scalar_str(scalar),
        _ => nested(dtype, false),
    }
}

/// NumPy's `dtype.str`, with the `|` of unordered types.
fn scalar_str(scalar: &Scalar) -> String {
    let letter = match scalar.kind {
        Kind::Bool => 'b',
        Kind::Int => 'i',
        Kind::Uint => 'u',
        Kind::Float => 'f',
        Kind::Complex => 'c',
        Kind::Bytes => 'S',
        Kind::Str => 'U',
        Kind::Datetime => 'M',
        Kind::Timedelta => 'm',
        Kind::Void | Kind::Struct => 'V',
    };
    let size = if scalar.kind == Kind::Str { scalar.size / 4 } else { scalar.size };
    let unit = scalar.unit.map(|unit| format!("[{unit}]")).unwrap_or_default();
    format!("{}{letter}{size}{unit}", scalar.order.symbol())
}

/// A dtype inside the text of a structure, where plain types are quoted and shorter.
///
/// All structures inside an aligned one are aligned, which their own texts do not say. An aligned structure inside an
/// unaligned one says so here; NumPy's text leaves it out, and with it the padding.
fn nested(dtype: &Dtype, in_aligned: bool) -> String {
    match &dtype.repr {
        Repr::Scalar(scalar) => {
            let full = scalar_str(scalar);
            let text = match scalar.kind {
                Kind::Bool => "?",
                _ if scalar.size == 0 => full.trim_start_matches('|').trim_end_matches('0'),
                _ => full.trim_start_matches('|'),
            };
            format!("'{text}'")
        }
        Repr::Sub(sub) => format!("({}, {})", nested(&sub.base, in_aligned), shape_text(&sub.shape)),
        Repr::Struct(s) if s.aligned == in_aligned && is_list(s) => {
            let fields: Vec<String> =
                s.fields.iter().map(|f| field_text(f, &nested(&f.dtype, in_aligned))).collect();
            format!("[{}]", fields.join(", "))
        }
        Repr::Struct(s) => dict_text(s, s.aligned && !in_aligned),
    }
}

fn shape_text(shape: &[usize]) -> String {
    let axes: Vec<String> = shape.iter().map(ToString::to_string).collect();
    if axes.len() == 1 { format!("({},)", axes.concat()) } else { format!("({})", axes.join(", ")) }
}

fn field_text(field: &Field, dtype: &str) -> String {
    let name = str_repr(&field.name);
    let name = match &field.title {
        Some(title) => format!("({}, {name})", str_repr(title)),
        None => name,
    };
    if field.shape.is_empty() {
        format!("({name}, {dtype})")
    } else {
        format!("({name}, {dtype}, {})", shape_text(&field.shape))
    }
}

/// Whether the fields follow each other without gaps but for alignment, so that a list of them says it all.
fn is_list(s: &Struct) -> bool {
    let align = |field: &Field| if s.aligned { field.dtype.alignment() } else { 1 };
    let (mut next, mut alignment) = (0usize, 1);
    for field in &s.fields {
        // A nameless raw field would read as padding.
        let like_padding = field.name.is_empty() && field.title.is_none() && field.dtype.kind() == Kind::Void;
        if field.offset != next.next_multiple_of(align(field)) || like_padding {
            return false;
        }
        next = field.offset + field.size();
        alignment = alignment.max(align(field));
    }
    next.next_multiple_of(alignment) == s.itemsize
}

fn dict_text(s: &Struct, says_aligned: bool) -> String {
    let list = |text: &dyn Fn(&Field) -> String| -> String {
        s.fields.iter().map(text).collect::<Vec<_>>().join(", ")
    };
    let mut text = format!("{{'names': [{}]", list(&|f| str_repr(&f.name)));
    let format = |f: &Field| match f.shape.is_empty() {
        true => nested(&f.dtype, s.aligned),
        false => format!("({}, {})", nested(&f.dtype, s.aligned), shape_text(&f.shape)),
    };
    // Writing to a String cannot fail.
    let _ = write!(text, ", 'formats': [{}]", list(&format));
    let _ = write!(text, ", 'offsets': [{}]", list(&|f| f.offset.to_string()));
    if s.fields.iter().any(|f| f.title.is_some()) {
        let title = |f: &Field| f.title.as_deref().map_or_else(|| "None".to_string(), str_repr);
        let _ = write!(text, ", 'titles': [{}]", list(&title));
    }
    let _ = write!(text, ", 'itemsize': {}", s.itemsize);
    text.push_str(if says_aligned { ", 'aligned': True}" } else { "}" });
    text
}

impl Dtype {
    /// The `descr` value of a `.npy` header, as a Python literal: gaps between fields become nameless raw fields.
    ///
    /// # Errors
    /// [`Error::Usage`] for structures whose fields overlap or are out of order, which `.npy` cannot hold.
    ///
    /// ```
    /// use b2nd::Dtype;
    /// let dtype = Dtype::parse("{'names': ['a'], 'formats': ['<i4'], 'offsets': [4], 'itemsize': 8}")?;
    /// assert_eq!(dtype.to_descr()?, "[('', '|V4'), ('a', '<i4')]");
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    pub fn to_descr(&self) -> Result<String> {
        match &self.repr {
            Repr::Scalar(scalar) => Ok(format!("'{}'", scalar_str(scalar))),
            Repr::Sub(sub) => Ok(format!("({}, {})", sub.base.to_descr()?, shape_text(&sub.shape))),
            Repr::Struct(s) => descr_fields(s),
        }
    }

    /// Whether items are in the byte order of this machine, in every field.
    pub fn is_native(&self) -> bool {
        match &self.repr {
            Repr::Scalar(scalar) => matches!(scalar.order, ByteOrder::None | ByteOrder::NATIVE),
            Repr::Sub(sub) => sub.base.is_native(),
            Repr::Struct(s) => s.fields.iter().all(|f| f.dtype.is_native()),
        }
    }
}

fn descr_fields(s: &Struct) -> Result<String> {
    let mut parts = Vec::new();
    let mut next = 0usize;
    let gap = |from: usize, to: usize| -> Result<Option<String>> {
        match to.checked_sub(from) {
            None => Err(Error::usage("a dtype with overlapping or unordered fields has no .npy form")),
            Some(0) => Ok(None),
            Some(n) => Ok(Some(format!("('', '|V{n}')"))),
        }
    };
    for field in &s.fields {
        parts.extend(gap(next, field.offset)?);
        parts.push(field_text(field, &field.dtype.to_descr()?));
        next = field.offset + field.size();
    }
    parts.extend(gap(next, s.itemsize)?);
    Ok(format!("[{}]", parts.join(", ")))
}
