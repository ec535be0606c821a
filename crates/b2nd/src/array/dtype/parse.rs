//! Texts and literals to dtypes. Knows NumPy's names and spellings, and not where they are stored.

use crate::array::dtype::layout::{ByteOrder, Dtype, Field, Kind, bounded};
use crate::array::dtype::literal::Literal;
use crate::array::dtype::time::TimeUnit;
use crate::error::{Error, Result};

const LITTLE: ByteOrder = ByteOrder::Little;

/// Names without a byte order or a size in them that NumPy gives its types, with the `.str` form of each.
const NAMES: &[(&str, &str)] = &[
    ("bool", "|b1"),
    ("bool_", "|b1"),
    ("byte", "|i1"),
    ("ubyte", "|u1"),
    ("short", "<i2"),
    ("ushort", "<u2"),
    ("intc", "<i4"),
    ("uintc", "<u4"),
    ("int", "<i8"),
    ("uint", "<u8"),
    ("int_", "<i8"),
    ("intp", "<i8"),
    ("uintp", "<u8"),
    ("long", "<i8"),
    ("ulong", "<u8"),
    ("longlong", "<i8"),
    ("ulonglong", "<u8"),
    ("half", "<f2"),
    ("single", "<f4"),
    ("double", "<f8"),
    ("float", "<f8"),
    ("csingle", "<c8"),
    ("cdouble", "<c16"),
    ("complex", "<c16"),
    ("str", "<U0"),
    ("str_", "<U0"),
    ("unicode", "<U0"),
    ("bytes", "|S0"),
    ("bytes_", "|S0"),
    ("void", "|V0"),
    ("datetime64", "<M8"),
    ("timedelta64", "<m8"),
    ("object", "|O"),
    ("object_", "|O"),
];

pub(super) fn from_text(text: &str) -> Result<Dtype> {
    match text.trim_start().chars().next() {
        Some('[' | '(' | '{') => from_literal(&Literal::parse(text)?).map_err(|error| match error {
            Error::Usage(message) => Error::syntax(text, message),
            other => other,
        }),
        _ => from_name(text),
    }
}

fn unknown(text: &str) -> Error {
    let shown: String = text.chars().take(60).collect();
    Error::syntax(text, format!("unknown dtype {shown:?}"))
}

fn objects() -> Error {
    Error::unsupported("dtype |O (Python objects)")
}

fn from_name(text: &str) -> Result<Dtype> {
    let (order, code) = match text.chars().next() {
        Some('>') => (ByteOrder::Big, &text[1..]),
        Some('<' | '=' | '|') => (LITTLE, &text[1..]),
        _ => (LITTLE, text),
    };
    if let Some(dtype) = from_code(order, code)? {
        return Ok(dtype);
    }
    if code.len() == text.len() {
        if let Some((_, code)) = NAMES.iter().find(|(name, _)| *name == text) {
            return from_name(code);
        }
        if let Some(dtype) = from_sized_name(text)? {
            return Ok(dtype);
        }
    }
    Err(unknown(text))
}

/// A plain decimal number without a sign.
fn number(digits: &str) -> Option<usize> {
    let plain = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    if plain { digits.parse().ok() } else { None }
}

/// `i4`, `S10`, `M8[ns]`, and the one-letter codes of C types.
fn from_code(order: ByteOrder, code: &str) -> Result<Option<Dtype>> {
    let Some(letter) = code.chars().next().filter(char::is_ascii) else { return Ok(None) };
    let tail = &code[1..];
    if letter == 'O' && (tail.is_empty() || number(tail).is_some()) {
        return Err(objects());
    }
    if tail.is_empty() {
        return Ok(from_letter(order, letter));
    }
    if matches!(letter, 'M' | 'm') {
        let Some(bracket) = tail.strip_prefix('8') else { return Ok(None) };
        return Ok(time(order, letter, bracket));
    }
    let Some(size) = number(tail) else { return Ok(None) };
    let (kind, size) = match (letter, size) {
        ('b', 1) => (Kind::Bool, 1),
        ('i', 1 | 2 | 4 | 8) => (Kind::Int, size),
        ('u', 1 | 2 | 4 | 8) => (Kind::Uint, size),
        ('f', 2 | 4 | 8) => (Kind::Float, size),
        ('c', 8 | 16) => (Kind::Complex, size),
        ('S' | 'a', _) => (Kind::Bytes, bounded(Some(size))?),
        ('U', _) => (Kind::Str, bounded(size.checked_mul(4))?),
        ('V', _) => (Kind::Void, bounded(Some(size))?),
        _ => return Ok(None),
    };
    Ok(Some(Dtype::scalar(kind, size, order)))
}

fn from_letter(order: ByteOrder, letter: char) -> Option<Dtype> {
    let (kind, size) = match letter {
        '?' => (Kind::Bool, 1),
        'b' => (Kind::Int, 1),
        'B' => (Kind::Uint, 1),
        'h' => (Kind::Int, 2),
        'H' => (Kind::Uint, 2),
        'i' => (Kind::Int, 4),
        'I' => (Kind::Uint, 4),
        'l' | 'q' | 'p' | 'n' => (Kind::Int, 8),
        'L' | 'Q' | 'P' | 'N' => (Kind::Uint, 8),
        'e' => (Kind::Float, 2),
        'f' => (Kind::Float, 4),
        'd' => (Kind::Float, 8),
        'F' => (Kind::Complex, 8),
        'D' => (Kind::Complex, 16),
        'c' => (Kind::Bytes, 1),
        'S' | 'a' => (Kind::Bytes, 0),
        'U' => (Kind::Str, 0),
        'V' => (Kind::Void, 0),
        'M' => return Some(Dtype::time(Kind::Datetime, order, None)),
        'm' => return Some(Dtype::time(Kind::Timedelta, order, None)),
        _ => return None,
    };
    Some(Dtype::scalar(kind, size, order))
}

fn time(order: ByteOrder, letter: char, bracket: &str) -> Option<Dtype> {
    let kind = if letter == 'M' { Kind::Datetime } else { Kind::Timedelta };
    if bracket.is_empty() {
        return Some(Dtype::time(kind, order, None));
    }
    let unit = bracket.strip_prefix('[')?.strip_suffix(']')?;
    Some(Dtype::time(kind, order, TimeUnit::parse(unit)?))
}

/// `uint8`, `complex128`, `datetime64[ns]`, and NumPy's `dtype.name` of strings, which counts bits: `str96`.
fn from_sized_name(text: &str) -> Result<Option<Dtype>> {
    if let Some(bracket) = text.strip_prefix("datetime64") {
        return Ok(time(LITTLE, 'M', bracket));
    }
    if let Some(bracket) = text.strip_prefix("timedelta64") {
        return Ok(time(LITTLE, 'm', bracket));
    }
    let stem = text.trim_end_matches(|c: char| c.is_ascii_digit());
    let Some(bits) = text.get(stem.len()..).and_then(number) else { return Ok(None) };
    if !bits.is_multiple_of(8) {
        return Ok(None);
    }
    let bytes = bits / 8;
    let (letter, size) = match stem {
        "int" => ('i', bytes),
        "uint" => ('u', bytes),
        "float" => ('f', bytes),
        "complex" => ('c', bytes),
        "bytes" => ('S', bytes),
        "void" => ('V', bytes),
        "str" if bytes.is_multiple_of(4) => ('U', bytes / 4),
        _ => return Ok(None),
    };
    from_code(LITTLE, &format!("{letter}{size}"))
}

/// The dtype that a literal stands for: a text, a list of fields, a dict of lists, or a sub-array.
pub(crate) fn from_literal(literal: &Literal) -> Result<Dtype> {
    from_part(literal, false)
}

/// The same inside a structure, which makes all structures in it aligned when it is aligned.
fn from_part(literal: &Literal, aligned: bool) -> Result<Dtype> {
    match literal {
        Literal::Str(text) => from_name(text),
        Literal::List(fields) => from_fields(fields, aligned),
        Literal::Dict(_) => from_dict(literal, aligned),
        Literal::Tuple(pair) => match pair.as_slice() {
            [base, shape] => from_pair(base, shape, aligned),
            _ => Err(malformed("a tuple that is not a pair")),
        },
        Literal::None | Literal::Bool(_) | Literal::Int(_) => Err(malformed("a value that is no dtype")),
    }
}

fn malformed(what: &str) -> Error {
    Error::usage(format!("a malformed dtype: {what}"))
}

fn from_pair(base: &Literal, shape: &Literal, aligned: bool) -> Result<Dtype> {
    let base = from_part(base, aligned)?;
    // `('S', 5)` is a longer way to write `S5`.
    if let (Literal::Int(_), Kind::Bytes | Kind::Str | Kind::Void, 0, None) =
        (shape, base.kind(), base.itemsize(), base.subarray())
    {
        let unit = if base.kind() == Kind::Str { 4 } else { 1 };
        let size = bounded(size_of(shape)?.checked_mul(unit))?;
        return Ok(Dtype::scalar(base.kind(), size, base.byte_order()));
    }
    Dtype::sub(base, shape_of(shape)?)
}

fn size_of(literal: &Literal) -> Result<usize> {
    match literal {
        Literal::Int(n) => usize::try_from(*n).map_err(|_| malformed("a negative or huge size")),
        _ => Err(malformed("a size that is no integer")),
    }
}

fn shape_of(literal: &Literal) -> Result<Vec<usize>> {
    match literal.sequence() {
        Some(axes) => axes.iter().map(size_of).collect(),
        None => Ok(vec![size_of(literal)?]),
    }
}

fn field(name: String, title: Option<String>, dtype: Dtype, shape: Vec<usize>) -> Field {
    // A sub-array as the type of a field is the shape of the field.
    match dtype.subarray() {
        Some((base, axes)) if shape.is_empty() => {
            Field { name, title, offset: 0, shape: axes.to_vec(), dtype: base.clone() }
        }
        _ => Field { name, title, offset: 0, dtype, shape },
    }
}

fn from_fields(items: &[Literal], aligned: bool) -> Result<Dtype> {
    let mut parts = Vec::with_capacity(items.len());
    let mut next = 0usize;
    for item in items {
        let Literal::Tuple(parts_of) = item else { return Err(malformed("a field that is no tuple")) };
        let (name, dtype, shape) = match parts_of.as_slice() {
            [name, dtype] => (name, dtype, Vec::new()),
            [name, dtype, shape] => (name, dtype, shape_of(shape)?),
            _ => return Err(malformed("a field of other than 2 or 3 parts")),
        };
        let (title, name) = match name {
            Literal::Str(name) => (None, name.clone()),
            Literal::Tuple(pair) => match pair.as_slice() {
                [Literal::Str(title), Literal::Str(name)] => (Some(title.clone()), name.clone()),
                _ => return Err(malformed("a field title or name that is no text")),
            },
            _ => return Err(malformed("a field name that is no text")),
        };
        let field = field(name, title, from_part(dtype, aligned)?, shape);
        let offset = if aligned { next.next_multiple_of(field.dtype.alignment()) } else { next };
        let whole = Dtype::sub(field.dtype.clone(), field.shape.clone())?;
        next = bounded(offset.checked_add(whole.itemsize()))?;
        let padding = field.name.is_empty() && field.title.is_none() && field.dtype.kind() == Kind::Void;
        if !padding {
            parts.push((field, Some(offset)));
        }
    }
    Dtype::structure(parts, if aligned { None } else { Some(next) }, aligned)
}

fn from_dict(dict: &Literal, in_aligned: bool) -> Result<Dtype> {
    let list = |key: &str| -> Result<Option<&[Literal]>> {
        match dict.get(key) {
            None | Some(Literal::None) => Ok(None),
            Some(value) => {
                value.sequence().map(Some).ok_or_else(|| malformed("a dict entry that is no list"))
            }
        }
    };
    let (Some(names), Some(formats)) = (list("names")?, list("formats")?) else {
        return Err(malformed("a dict without names and formats"));
    };
    let (offsets, titles) = (list("offsets")?, list("titles")?);
    let same = |other: Option<&[Literal]>| other.is_none_or(|other| other.len() == names.len());
    if !same(Some(formats)) || !same(offsets) || !same(titles) {
        return Err(malformed("a dict of lists of different lengths"));
    }
    let aligned = in_aligned || dict.get("aligned") == Some(&Literal::Bool(true));
    let mut parts = Vec::with_capacity(names.len());
    for (n, (name, format)) in names.iter().zip(formats).enumerate() {
        let Literal::Str(name) = name else { return Err(malformed("a field name that is no text")) };
        let title = match titles.and_then(|titles| titles.get(n)) {
            None | Some(Literal::None) => None,
            Some(Literal::Str(title)) => Some(title.clone()),
            Some(_) => return Err(malformed("a field title that is no text")),
        };
        let offset = offsets.and_then(|offsets| offsets.get(n)).map(size_of).transpose()?;
        parts.push((field(name.clone(), title, from_part(format, aligned)?, Vec::new()), offset));
    }
    let itemsize = dict.get("itemsize").map(size_of).transpose()?;
    Dtype::structure(parts, itemsize, aligned)
}
