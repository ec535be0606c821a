//! The texts of the items of an array, which depend on all of them: numbers share a width, floats a notation.

use b2nd::Dtype;
use b2nd::array::{ByteOrder, Field, Kind, TimeUnit, bytes_repr, code_points_repr};

use crate::text::calendar::{NAT, iso};
use crate::text::float::{Float, FloatFormat};
use crate::text::{EDGE, Style, cut};

/// Where items stand, which a few types care about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Context {
    /// In an array of one axis or more.
    Array,
    /// In a structure that is printed alone: floats have all their digits, `True` has no column for the `F` of `False`.
    Alone,
    /// In a sub-array of such a structure.
    AloneInSubarray,
}

/// How the items of one array are written.
pub(super) enum Formatter {
    Bool { padded: bool },
    Int { dtype: Dtype, width: usize },
    Float { dtype: Dtype, format: FloatFormat },
    FloatAlone { dtype: Dtype },
    Complex { dtype: Dtype, real: FloatFormat, imaginary: FloatFormat },
    Bytes,
    Str { dtype: Dtype },
    Datetime { dtype: Dtype, width: usize },
    Timedelta { dtype: Dtype, width: usize },
    Void,
    Struct { fields: Vec<FieldFormatter> },
}

/// How a field of a structure is written.
pub(super) struct FieldFormatter {
    field: Field,
    shape: Vec<usize>,
    itemsize: usize,
    formatter: Formatter,
    style: Style,
}

impl Formatter {
    /// The formatter of all `items`.
    pub(super) fn new(dtype: &Dtype, items: &[&[u8]], context: Context, style: Style) -> Self {
        let dtype = dtype.clone();
        match dtype.kind() {
            Kind::Bool => Formatter::Bool { padded: context != Context::Alone },
            Kind::Int | Kind::Uint => {
                let width = items.iter().map(|bytes| integer(&dtype, bytes).to_string().len()).max();
                Formatter::Int { dtype, width: width.unwrap_or(0) }
            }
            Kind::Float if context != Context::Array => Formatter::FloatAlone { dtype },
            Kind::Float => {
                let values: Vec<Float> = items.iter().map(|bytes| float(&dtype, bytes)).collect();
                Formatter::Float { dtype, format: FloatFormat::new(&values, false, style.precision) }
            }
            Kind::Complex => {
                let (real, imaginary): (Vec<_>, Vec<_>) =
                    items.iter().map(|bytes| complex(&dtype, bytes)).unzip();
                let format = |values: &[Float], plus| FloatFormat::new(values, plus, style.precision);
                let (real, imaginary) = (format(&real, false), format(&imaginary, true));
                Formatter::Complex { dtype, real, imaginary }
            }
            Kind::Bytes => Formatter::Bytes,
            Kind::Str => Formatter::Str { dtype },
            Kind::Datetime => {
                let width = time_width(&dtype, items, |count| quoted_iso(count, dtype.unit()));
                Formatter::Datetime { dtype, width }
            }
            Kind::Timedelta => {
                let width = time_width(&dtype, items, |count| count.to_string());
                Formatter::Timedelta { dtype, width }
            }
            Kind::Struct => {
                let fields = dtype
                    .fields()
                    .iter()
                    .map(|field| FieldFormatter::new(field, items, context, style))
                    .collect();
                Formatter::Struct { fields }
            }
            // `Kind::Void`, and kinds that this command does not know.
            _ => Formatter::Void,
        }
    }

    /// The text of one item.
    pub(super) fn text(&self, bytes: &[u8]) -> String {
        match self {
            Formatter::Bool { padded } => match (bytes.iter().any(|&b| b != 0), padded) {
                (true, true) => " True".to_string(),
                (true, false) => "True".to_string(),
                (false, _) => "False".to_string(),
            },
            Formatter::Int { dtype, width } => format!("{:>width$}", integer(dtype, bytes)),
            Formatter::Float { dtype, format } => format.text(float(dtype, bytes)),
            Formatter::FloatAlone { dtype } => float(dtype, bytes).alone(false, true),
            Formatter::Complex { dtype, real, imaginary } => {
                let (re, im) = complex(dtype, bytes);
                let im = imaginary.text(im);
                // The j follows the last digit, before the blanks that fill the column.
                let digits = im.trim_end();
                format!("{}{digits}j{:2$}", real.text(re), "", im.len() - digits.len())
            }
            Formatter::Bytes => bytes_repr(without_zeros(bytes)),
            Formatter::Str { dtype } => code_points_repr(code_points(dtype, bytes).into_iter()),
            Formatter::Datetime { dtype, width } => match count(dtype, bytes) {
                NAT => format!("{:>width$}", "'NaT'"),
                steps => format!("{:>width$}", quoted_iso(steps, dtype.unit())),
            },
            Formatter::Timedelta { dtype, width } => match count(dtype, bytes) {
                NAT => format!("{:>width$}", "'NaT'"),
                steps => format!("{steps:>width$}"),
            },
            Formatter::Void => raw(bytes),
            Formatter::Struct { fields } => {
                let texts: Vec<String> = fields.iter().map(|field| field.text(bytes)).collect();
                match texts.as_slice() {
                    [text] => format!("({text},)"),
                    texts => format!("({})", texts.join(", ")),
                }
            }
        }
    }
}

impl FieldFormatter {
    fn new(field: &Field, items: &[&[u8]], context: Context, style: Style) -> Self {
        // A sub-array of sub-arrays is one of all their axes.
        let (mut shape, mut dtype) = (field.shape().to_vec(), field.dtype());
        while let Some((base, axes)) = dtype.subarray() {
            shape.extend(axes);
            dtype = base;
        }
        let count = shape.iter().product();
        let parts: Vec<&[u8]> =
            items.iter().flat_map(|item| cut(field_bytes(field, item), count, dtype.itemsize())).collect();
        let inner =
            if context == Context::Alone && !shape.is_empty() { Context::AloneInSubarray } else { context };
        let formatter = Formatter::new(dtype, &parts, inner, style);
        FieldFormatter { field: field.clone(), shape, itemsize: dtype.itemsize(), formatter, style }
    }

    fn text(&self, item: &[u8]) -> String {
        let bytes = field_bytes(&self.field, item);
        let count = self.shape.iter().product();
        let parts = cut(bytes, count, self.itemsize);
        let summarised = count as u64 > self.style.threshold;
        nested(&self.shape, &parts, summarised, &|part| self.formatter.text(part))
    }
}

pub(super) fn field_bytes<'i>(field: &Field, item: &'i [u8]) -> &'i [u8] {
    item.get(field.offset()..field.offset() + field.size()).unwrap_or_default()
}

/// A sub-array on one line, with commas.
fn nested(shape: &[usize], parts: &[&[u8]], summarised: bool, text: &dyn Fn(&[u8]) -> String) -> String {
    let Some((&len, inner)) = shape.split_first() else {
        return parts.first().map(|part| text(part)).unwrap_or_default();
    };
    let step: usize = inner.iter().product();
    let edge = EDGE as usize;
    let one =
        |n: usize| nested(inner, parts.get(n * step..(n + 1) * step).unwrap_or_default(), summarised, text);
    let texts: Vec<String> = if summarised && len > 2 * edge {
        let dots = std::iter::once("...".to_string());
        (0..edge).map(one).chain(dots).chain((len - edge..len).map(one)).collect()
    } else {
        (0..len).map(one).collect()
    };
    format!("[{}]", texts.join(", "))
}

/// The columns of times: those of the first and the last, and of the word for none.
fn time_width(dtype: &Dtype, items: &[&[u8]], text: impl Fn(i64) -> String) -> usize {
    let times = || items.iter().map(|bytes| count(dtype, bytes)).filter(|&steps| steps != NAT);
    let ends = times().min().into_iter().chain(times().max());
    let width = ends.map(|steps| text(steps).len()).max().unwrap_or(0);
    if times().count() < items.len() { width.max(5) } else { width }
}

fn quoted_iso(steps: i64, unit: Option<TimeUnit>) -> String {
    match unit {
        Some(unit) => format!("'{}'", iso(steps, unit)),
        // NumPy refuses to print these.
        None => format!("'{steps}'"),
    }
}

/// A number of up to 8 bytes, zero-extended.
fn bits(bytes: &[u8], order: ByteOrder) -> u64 {
    let add = |bits: u64, byte: &u8| bits << 8 | u64::from(*byte);
    if order == ByteOrder::Big { bytes.iter().fold(0, add) } else { bytes.iter().rev().fold(0, add) }
}

/// The steps of a time.
pub(super) fn count(dtype: &Dtype, bytes: &[u8]) -> i64 {
    bits(bytes, dtype.byte_order()).cast_signed()
}

/// An integer of any kind.
pub(super) fn integer(dtype: &Dtype, bytes: &[u8]) -> i128 {
    let bits = bits(bytes, dtype.byte_order());
    if dtype.kind() == Kind::Uint {
        return i128::from(bits);
    }
    let unused = 64u32.saturating_sub(8 * dtype.itemsize() as u32);
    i128::from((bits << unused).cast_signed() >> unused)
}

pub(super) fn float(dtype: &Dtype, bytes: &[u8]) -> Float {
    Float::from_bits(bits(bytes, dtype.byte_order()), bytes.len())
}

/// The real and the imaginary part.
pub(super) fn complex(dtype: &Dtype, bytes: &[u8]) -> (Float, Float) {
    let (real, imaginary) = bytes.split_at(bytes.len() / 2);
    (float(dtype, real), float(dtype, imaginary))
}

/// Bytes without the zeros that fill the item.
pub(super) fn without_zeros(bytes: &[u8]) -> &[u8] {
    let len = bytes.iter().rposition(|&b| b != 0).map_or(0, |last| last + 1);
    bytes.get(..len).unwrap_or_default()
}

/// Code points without the zeros that fill the item.
pub(super) fn code_points(dtype: &Dtype, bytes: &[u8]) -> Vec<u32> {
    let mut codes: Vec<u32> =
        bytes.chunks_exact(4).map(|code| bits(code, dtype.byte_order()) as u32).collect();
    while codes.last() == Some(&0) {
        codes.pop();
    }
    codes
}

/// Raw bytes, every one as an escape.
pub(super) fn raw(bytes: &[u8]) -> String {
    let escapes: String = bytes.iter().map(|byte| format!("\\x{byte:02X}")).collect();
    format!("b'{escapes}'")
}
