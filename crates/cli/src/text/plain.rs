//! Values for other programs: CSV and JSON, item by item, without what NumPy adds for the eye.

use b2nd::Dtype;
use b2nd::array::Kind;
use serde_json::{Map, Number, Value as Json, json};

use crate::text::calendar::{NAT, iso};
use crate::text::float::Float;
use crate::text::item::{code_points, complex, count, field_bytes, float, integer, without_zeros};
use crate::text::{cut, scalar};

/// How values are written.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Values {
    /// The most digits after the point of floats; all that identify them without it.
    pub(crate) precision: Option<usize>,
}

impl Values {
    fn float(self, value: Float, plus: bool) -> String {
        value.alone_to(plus, false, self.precision)
    }
}

/// One item as JSON: numbers, truth values, texts, `[real, imaginary]`, dates as texts, structures as objects.
pub(crate) fn to_json(dtype: &Dtype, bytes: &[u8], values: Values) -> Json {
    if let Some((base, axes)) = dtype.subarray() {
        let items = cut(bytes, axes.iter().product(), base.itemsize());
        let items = items.into_iter().map(|item| to_json(base, item, values)).collect();
        return nest(items, axes);
    }
    match dtype.kind() {
        Kind::Bool => Json::Bool(bytes.iter().any(|&byte| byte != 0)),
        Kind::Int | Kind::Uint => {
            let n = integer(dtype, bytes);
            i64::try_from(n)
                .map(Json::from)
                .or_else(|_| u64::try_from(n).map(Json::from))
                .unwrap_or(Json::Null)
        }
        Kind::Float => json_float(float(dtype, bytes), values),
        Kind::Complex => {
            let (real, imaginary) = complex(dtype, bytes);
            Json::Array(vec![json_float(real, values), json_float(imaginary, values)])
        }
        Kind::Datetime => match count(dtype, bytes) {
            NAT => Json::Null,
            steps => dtype.unit().map_or_else(|| Json::from(steps), |unit| Json::from(iso(steps, unit))),
        },
        Kind::Timedelta => match count(dtype, bytes) {
            NAT => Json::Null,
            steps => Json::from(steps),
        },
        Kind::Str => Json::from(characters(dtype, bytes)),
        Kind::Bytes => match std::str::from_utf8(without_zeros(bytes)) {
            Ok(text) => Json::from(text),
            Err(_) => json!({ "bin": hex(bytes) }),
        },
        Kind::Struct => {
            let fields = dtype.fields().iter();
            let each = fields.map(|field| {
                let parts = whole(field.dtype(), field.shape(), field_bytes(field, bytes), values);
                (field.name().to_owned(), parts)
            });
            Json::Object(each.collect::<Map<_, _>>())
        }
        // `Kind::Void`, and kinds that this command does not know.
        _ => json!({ "bin": hex(bytes) }),
    }
}

/// The value of a field, which may be an array.
fn whole(dtype: &Dtype, shape: &[usize], bytes: &[u8], values: Values) -> Json {
    let items = cut(bytes, shape.iter().product(), dtype.itemsize());
    nest(items.into_iter().map(|item| to_json(dtype, item, values)).collect(), shape)
}

/// Items in C order as nested lists.
fn nest(items: Vec<Json>, shape: &[usize]) -> Json {
    let Some((_, inner)) = shape.split_first() else { return items.into_iter().next().unwrap_or(Json::Null) };
    if inner.is_empty() {
        return Json::Array(items);
    }
    let each = inner.iter().product::<usize>().max(1);
    Json::Array(items.chunks(each).map(|part| nest(part.to_vec(), inner)).collect())
}

fn json_float(value: Float, values: Values) -> Json {
    if !value.is_finite() {
        let text = values.float(value, false);
        let name = match text.as_str() {
            "inf" => "Infinity",
            "-inf" => "-Infinity",
            _ => "NaN",
        };
        return Json::from(name);
    }
    // The digits are those of the float's own width: 0.1 and not 0.10000000149011612.
    let number = values.float(value, false).parse::<f64>().ok().and_then(Number::from_f64);
    number.map_or(Json::Null, Json::Number)
}

/// One item as CSV: a field, or of a structure several.
pub(crate) fn to_csv(dtype: &Dtype, bytes: &[u8], values: Values) -> String {
    if dtype.kind() == Kind::Struct {
        let each = dtype.fields().iter().map(|field| {
            let bytes = field_bytes(field, bytes);
            if field.shape().is_empty()
                && field.dtype().subarray().is_none()
                && field.dtype().fields().is_empty()
            {
                return to_csv(field.dtype(), bytes, values);
            }
            // A list or a structure within a field.
            quoted(&whole(field.dtype(), field.shape(), bytes, values).to_string())
        });
        return each.collect::<Vec<_>>().join(",");
    }
    match dtype.kind() {
        Kind::Bool => if bytes.iter().any(|&byte| byte != 0) { "True" } else { "False" }.to_owned(),
        Kind::Float => values.float(float(dtype, bytes), false),
        Kind::Complex => {
            let (real, imaginary) = complex(dtype, bytes);
            format!("{}{}j", values.float(real, false), values.float(imaginary, true))
        }
        Kind::Timedelta => match count(dtype, bytes) {
            NAT => "NaT".to_owned(),
            steps => steps.to_string(),
        },
        Kind::Str => quoted(&characters(dtype, bytes)),
        Kind::Bytes => match std::str::from_utf8(without_zeros(bytes)) {
            Ok(text) => quoted(text),
            Err(_) => hex(bytes),
        },
        Kind::Void => hex(bytes),
        _ => scalar(dtype, bytes),
    }
}

/// The names of the columns: those of the fields of a structure.
pub(crate) fn csv_header(dtype: &Dtype) -> Option<String> {
    let names = dtype.fields().iter().map(|field| quoted(field.name()));
    (dtype.kind() == Kind::Struct).then(|| names.collect::<Vec<_>>().join(","))
}

/// A text as a field of CSV (RFC 4180).
fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) || text.starts_with(' ') || text.ends_with(' ') {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

fn characters(dtype: &Dtype, bytes: &[u8]) -> String {
    let codes = code_points(dtype, bytes).into_iter();
    codes.map(|code| char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
