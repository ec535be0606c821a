//! The header of a `.npy` file: dtype, shape and order of the items that follow it.
//!
//! Bytes in, bytes out; whoever has the file reads and writes it. What is written is what `numpy.save` writes.

use crate::array::dtype::{Dtype, Literal, from_literal};
use crate::error::{Error, Fault, Part, Result};

/// The number of bytes of a file that [`header_len`] needs.
pub const PREFIX_LEN: usize = 12;
/// The longest header that is read, in bytes.
pub const MAX_HEADER_LEN: usize = 1 << 20;

const MAGIC: &[u8; 6] = b"\x93NUMPY";
/// The items start at a multiple of this.
const ALIGN: usize = 64;
/// The header has room for the axis that grows when items are appended: so many digits.
const GROWTH_DIGITS: usize = 21;

/// A parsed `.npy` header.
///
/// ```
/// use b2nd::Dtype;
/// use b2nd::array::npy;
/// let header = npy::Header::new(Dtype::parse("<f4")?, vec![3, 4], false);
/// let bytes = header.to_bytes()?;
/// assert_eq!(bytes.len(), 128);
/// assert_eq!(npy::header_len(&bytes)?, 128);
/// assert_eq!(npy::Header::parse(&bytes)?, header);
/// # Ok::<(), b2nd::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    dtype: Dtype,
    shape: Vec<u64>,
    fortran_order: bool,
}

/// The first dtype in `descr` of NumPy's `longdouble` or `clongdouble`, whose sizes vary with the machine.
fn long_double(descr: &Literal) -> Option<&str> {
    match descr {
        Literal::Str(text) => {
            let code = text.trim_start_matches(['<', '>', '=', '|']);
            matches!(code, "f10" | "f12" | "f16" | "c20" | "c24" | "c32").then_some(text)
        }
        Literal::List(parts) | Literal::Tuple(parts) => parts.iter().find_map(long_double),
        Literal::Dict(pairs) => pairs.iter().find_map(|(_, value)| long_double(value)),
        _ => None,
    }
}

fn broken(offset: usize, reason: impl Into<String>) -> Error {
    Error::format(Part::NpyHeader, offset as u64, reason)
}

/// A header around its text.
struct HeaderText {
    /// The bytes before the text.
    start: usize,
    /// The bytes of the text.
    len: usize,
    utf8: bool,
}

fn frame(bytes: &[u8]) -> Result<HeaderText> {
    let Some((magic, rest)) = bytes.split_first_chunk::<6>() else { return Err(broken(0, "cut off")) };
    if magic != MAGIC {
        return Err(broken(0, "not a .npy file"));
    }
    let (start, len, utf8) = match *rest {
        [1, 0, a, b, ..] => (10, u32::from(u16::from_le_bytes([a, b])), false),
        [version @ (2 | 3), 0, a, b, c, d, ..] => (12, u32::from_le_bytes([a, b, c, d]), version == 3),
        [1..=3, 0, ..] => return Err(broken(8, "cut off")),
        [major, minor, ..] => return Err(Error::unsupported(format!(".npy version {major}.{minor}"))),
        _ => return Err(broken(6, "cut off")),
    };
    match usize::try_from(len) {
        Ok(len) if len <= MAX_HEADER_LEN => Ok(HeaderText { start, len, utf8 }),
        _ => Err(Error::limit("a .npy header", u64::from(len), MAX_HEADER_LEN as u64)),
    }
}

/// The length of the whole header, which is where the items start, from the first [`PREFIX_LEN`] bytes of a file.
///
/// # Errors
/// [`Error::Format`] when the file is no `.npy` file, [`Error::Unsupported`] for versions above 3.0, [`Error::Limit`]
/// for a header of more than [`MAX_HEADER_LEN`] bytes.
///
/// ```
/// assert_eq!(b2nd::array::npy::header_len(b"\x93NUMPY\x01\x00\x76\x00{'")?, 128);
/// # Ok::<(), b2nd::Error>(())
/// ```
pub fn header_len(prefix: &[u8]) -> Result<usize> {
    frame(prefix).map(|frame| frame.start + frame.len)
}

impl Header {
    /// A header of an array of `shape`, with the first axis varying fastest when `fortran_order`.
    pub fn new(dtype: Dtype, shape: Vec<u64>, fortran_order: bool) -> Self {
        Header { dtype, shape, fortran_order }
    }

    /// The type of the items.
    pub fn dtype(&self) -> &Dtype {
        &self.dtype
    }
    /// The number of items along each axis.
    pub fn shape(&self) -> &[u64] {
        &self.shape
    }
    /// Whether the first axis varies fastest.
    pub fn fortran_order(&self) -> bool {
        self.fortran_order
    }
    /// The bytes of all items; `None` when 64 bits do not hold the number.
    pub fn data_len(&self) -> Option<u64> {
        if self.shape.contains(&0) {
            return Some(0);
        }
        self.shape.iter().try_fold(self.dtype.itemsize() as u64, |n, &axis| n.checked_mul(axis))
    }

    /// Reads a header from bytes that start with all of it.
    ///
    /// # Errors
    /// Those of [`header_len`]; [`Error::Format`] when the header is cut off or malformed; [`Error::Unsupported`] for
    /// Python objects.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        let frame = frame(bytes)?;
        let text = bytes.get(frame.start..frame.start + frame.len);
        let text = text.ok_or_else(|| broken(bytes.len(), "cut off"))?;
        let text = if frame.utf8 {
            std::str::from_utf8(text)
                .map_err(|e| broken(frame.start + e.valid_up_to(), "not UTF-8"))?
                .to_string()
        } else {
            text.iter().copied().map(char::from).collect()
        };
        Self::from_text(&text).map_err(|error| match error {
            error if error.fault() == Fault::Caller => broken(frame.start, error.to_string()),
            other => other,
        })
    }

    fn from_text(text: &str) -> Result<Self> {
        let dict = Literal::parse(text)?;
        let known = |key: &Literal| matches!(key, Literal::Str(key) if ["descr", "fortran_order", "shape"].contains(&&**key));
        match &dict {
            Literal::Dict(pairs) if pairs.len() == 3 && pairs.iter().all(|(key, _)| known(key)) => {}
            _ => return Err(Error::usage("not a dict of descr, fortran_order and shape")),
        }
        let missing = || Error::usage("descr, fortran_order or shape is missing");
        let descr = dict.get("descr").ok_or_else(missing)?;
        let dtype = from_literal(descr).map_err(|error| match long_double(descr) {
            Some(text) => Error::unsupported(format!("dtype {text} (long double)")),
            None => error,
        })?;
        let fortran_order = match dict.get("fortran_order").ok_or_else(missing)? {
            Literal::Bool(value) => *value,
            _ => return Err(Error::usage("fortran_order is neither True nor False")),
        };
        let Literal::Tuple(axes) = dict.get("shape").ok_or_else(missing)? else {
            return Err(Error::usage("the shape is no tuple"));
        };
        let axis = |axis: &Literal| match axis {
            Literal::Int(n) => u64::try_from(*n).map_err(|_| Error::usage("the shape has a negative axis")),
            _ => Err(Error::usage("the shape has an axis that is no integer")),
        };
        Ok(Header { dtype, shape: axes.iter().map(axis).collect::<Result<_>>()?, fortran_order })
    }

    /// The header as `numpy.save` writes it, padded so that the items after it are aligned: version 1.0 where that holds
    /// it, 2.0 for long ones, 3.0 for field names beyond Latin-1.
    ///
    /// # Errors
    /// [`Error::Usage`] for a dtype that `.npy` cannot hold, see [`Dtype::to_descr`].
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let axes: Vec<String> = self.shape.iter().map(ToString::to_string).collect();
        let comma = if axes.len() == 1 { "," } else { "" };
        let fortran_order = if self.fortran_order { "True" } else { "False" };
        let descr = self.dtype.to_descr()?;
        let shape = axes.join(", ");
        let mut text =
            format!("{{'descr': {descr}, 'fortran_order': {fortran_order}, 'shape': ({shape}{comma}), }}");
        let growing = if self.fortran_order { axes.last() } else { axes.first() };
        if let Some(axis) = growing {
            text.push_str(&" ".repeat(GROWTH_DIGITS.saturating_sub(axis.len())));
        }
        let latin1: Option<Vec<u8>> = text.chars().map(|c| u8::try_from(u32::from(c)).ok()).collect();
        let framed = match latin1 {
            Some(latin1) => framed(1, &latin1).or_else(|| framed(2, &latin1)),
            None => framed(3, text.as_bytes()),
        };
        framed.ok_or_else(|| Error::too_large(u32::MAX, "a dtype of more than 4 GiB of text"))
    }
}

/// The header around a text; `None` when the version has no room for its length.
fn framed(version: u8, text: &[u8]) -> Option<Vec<u8>> {
    let start = if version == 1 { 10 } else { 12 };
    // A line feed ends the text, and a whole unit of padding stands where none is needed.
    let padding = ALIGN - (start + text.len() + 1) % ALIGN;
    let len = text.len() + padding + 1;
    let len = if version == 1 {
        u16::try_from(len).ok()?.to_le_bytes().to_vec()
    } else {
        u32::try_from(len).ok()?.to_le_bytes().to_vec()
    };
    Some([MAGIC.as_slice(), &[version, 0], &len, text, &vec![b' '; padding], b"\n"].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines of dtype text, shape, order and the header in hex (`scripts/fixtures_npy.py`).
    const NUMPY: &str = include_str!("../../tests/fixtures/npy.tsv");

    fn cases() -> impl Iterator<Item = (Header, Vec<u8>)> {
        NUMPY.lines().map(|line| {
            let [dtype, shape, order, hex] = line.split('\t').collect::<Vec<_>>()[..] else {
                panic!("{line}")
            };
            let shape =
                shape.split(',').filter(|axis| !axis.is_empty()).map(|axis| axis.parse().unwrap()).collect();
            let bytes = (0..hex.len() / 2).map(|n| u8::from_str_radix(&hex[2 * n..2 * n + 2], 16).unwrap());
            (Header::new(Dtype::parse(dtype).unwrap(), shape, order == "F"), bytes.collect())
        })
    }

    #[test]
    fn headers_are_those_of_numpy() {
        assert!(cases().count() > 200);
        for (header, bytes) in cases() {
            assert_eq!(String::from_utf8_lossy(&header.to_bytes().unwrap()), String::from_utf8_lossy(&bytes));
            assert_eq!(header.to_bytes().unwrap(), bytes);
            let found = Header::parse(&bytes).unwrap();
            assert_eq!((found.shape(), found.fortran_order()), (header.shape(), header.fortran_order()));
            assert_eq!(found.dtype().to_descr().unwrap(), header.dtype().to_descr().unwrap());
            assert_eq!(header_len(&bytes[..PREFIX_LEN]).unwrap(), bytes.len());
        }
    }

    #[test]
    fn long_headers_are_version_2() {
        let fields: Vec<String> = (0..4000).map(|n| format!("('field{n}', '<f8')")).collect();
        let header = Header::new(Dtype::parse(&format!("[{}]", fields.join(", "))).unwrap(), vec![7], false);
        let bytes = header.to_bytes().unwrap();
        assert_eq!(bytes[..8], *b"\x93NUMPY\x02\x00");
        assert_eq!(bytes.len() % 64, 0);
        assert_eq!(Header::parse(&bytes).unwrap(), header);
        assert_eq!(header.data_len(), Some(7 * 8 * 4000));
    }

    #[test]
    fn other_spellings_are_read() {
        let text = "{\"shape\": (10L, 2), u'descr': '|u1', 'fortran_order': True}\n";
        let bytes = framed(1, text.as_bytes()).unwrap();
        let header = Header::parse(&bytes).unwrap();
        assert_eq!(header, Header::new(Dtype::parse("|u1").unwrap(), vec![10, 2], true));
        let empty = Header::new(Dtype::raw(9), vec![u64::MAX, 0, u64::MAX], false);
        assert_eq!(empty.data_len(), Some(0));
        assert_eq!(Header::new(Dtype::raw(9), vec![u64::MAX], false).data_len(), None);
    }

    #[test]
    fn broken_headers_are_refused() {
        for text in [
            "",
            "{}",
            "[]",
            "{'descr': '<f4', 'fortran_order': False}",
            "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'more': 1}",
            "{'descr': '<f4', 'fortran_order': 0, 'shape': (1,)}",
            "{'descr': '<f4', 'fortran_order': False, 'shape': [1]}",
            "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}",
            "{'descr': '<f4', 'fortran_order': False, 'shape': ('1',)}",
            "{'descr': 'x4', 'fortran_order': False, 'shape': (1,)}",
            "{'descr': '<f4', 'descr': '<f4', 'shape': (1,)}",
            "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} + 1",
        ] {
            let error = Header::parse(&framed(1, text.as_bytes()).unwrap()).expect_err(text);
            assert!(matches!(error, Error::Format(_)), "{text}: {error}");
        }
        let objects = framed(1, b"{'descr': '|O', 'fortran_order': False, 'shape': (1,)}").unwrap();
        assert!(matches!(Header::parse(&objects), Err(Error::Unsupported { .. })));
        for (descr, text) in [("'<f16'", "<f16"), ("[('a', '<i4'), ('b', '>c32', (2,))]", ">c32")] {
            let header = format!("{{'descr': {descr}, 'fortran_order': False, 'shape': (1,)}}");
            let error = Header::parse(&framed(1, header.as_bytes()).unwrap()).unwrap_err();
            assert_eq!(error.to_string(), format!("unsupported dtype {text} (long double)"));
        }
        let huge = b"\x93NUMPY\x02\x00\xff\xff\xff\xff";
        assert!(matches!(header_len(huge), Err(Error::Limit { .. })));
        assert!(matches!(header_len(b"\x93NUMPY\x04\x00\x00\x00\x00\x00"), Err(Error::Unsupported { .. })));
        let not_utf8 = framed(3, b"{'\xff'}").unwrap();
        assert!(matches!(Header::parse(&not_utf8), Err(Error::Format(_))));
    }

    #[test]
    fn damaged_headers_never_panic() {
        for (_, bytes) in cases().step_by(9) {
            for len in 0..bytes.len() {
                assert!(Header::parse(&bytes[..len]).is_err());
            }
            let mut flipped = bytes.clone();
            for bit in 0..bytes.len() * 8 {
                flipped[bit / 8] ^= 1 << (bit % 8);
                if let Ok(header) = Header::parse(&flipped) {
                    let _ = (header.data_len(), header.to_bytes());
                }
                flipped[bit / 8] ^= 1 << (bit % 8);
            }
        }
    }
}
