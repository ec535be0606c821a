//! What an item looks like: its kind, its size, its byte order, and the fields of a structure.

use std::fmt;
use std::sync::Arc;

use crate::array::dtype::TimeUnit;
use crate::error::{Error, Result};

/// The largest item, in bytes: NumPy holds sizes in 32 signed bits.
const MAX_ITEMSIZE: usize = i32::MAX as usize;
/// The most axes of a sub-array, as in NumPy.
const MAX_AXES: usize = 64;

/// Kind of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// One byte, 0 or 1.
    Bool,
    /// Signed integers of 1, 2, 4 or 8 bytes.
    Int,
    /// Unsigned integers of 1, 2, 4 or 8 bytes.
    Uint,
    /// Floats of 2, 4 or 8 bytes.
    Float,
    /// Two floats of 4 or 8 bytes.
    Complex,
    /// Bytes, padded with zeros at the end.
    Bytes,
    /// Code points of 4 bytes, padded with zeros at the end.
    Str,
    /// A point in time: steps of a unit since 1970, 8 bytes.
    Datetime,
    /// A span of time: steps of a unit, 8 bytes.
    Timedelta,
    /// Raw bytes.
    Void,
    /// Named fields.
    Struct,
}

/// The order of the bytes of a number in an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ByteOrder {
    /// The lowest byte first (`<`).
    Little,
    /// The highest byte first (`>`).
    Big,
    /// No byte order (`|`): single bytes, and structures, whose fields have orders of their own.
    None,
}

impl ByteOrder {
    /// The order of the machine that runs this.
    pub const NATIVE: ByteOrder =
        if cfg!(target_endian = "big") { ByteOrder::Big } else { ByteOrder::Little };

    /// As in dtype texts: `<`, `>` or `|`.
    pub fn symbol(self) -> char {
        match self {
            ByteOrder::Little => '<',
            ByteOrder::Big => '>',
            ByteOrder::None => '|',
        }
    }
}

/// The type of the items of an array.
///
/// ```
/// use b2nd::Dtype;
/// use b2nd::array::{ByteOrder, Kind};
/// let dtype = Dtype::parse(">f8")?;
/// assert_eq!((dtype.kind(), dtype.itemsize(), dtype.byte_order()), (Kind::Float, 8, ByteOrder::Big));
/// let pair = Dtype::parse("[('a', '<i4'), ('b', '|u1', (3,))]")?;
/// assert_eq!(pair.itemsize(), 7);
/// assert_eq!(pair.fields()[1].offset(), 4);
/// # Ok::<(), b2nd::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dtype {
    pub(super) repr: Repr,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Repr {
    Scalar(Scalar),
    Struct(Arc<Struct>),
    Sub(Arc<Sub>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Scalar {
    pub(super) kind: Kind,
    pub(super) size: usize,
    pub(super) order: ByteOrder,
    pub(super) unit: Option<TimeUnit>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Struct {
    pub(super) fields: Vec<Field>,
    pub(super) itemsize: usize,
    pub(super) aligned: bool,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Sub {
    pub(super) base: Dtype,
    pub(super) shape: Vec<usize>,
    pub(super) itemsize: usize,
}

/// A field of a structure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    pub(super) name: String,
    pub(super) title: Option<String>,
    pub(super) offset: usize,
    pub(super) dtype: Dtype,
    pub(super) shape: Vec<usize>,
}

impl Field {
    /// A field without a title, of this type at this distance from the start of the item.
    pub fn new(name: impl Into<String>, offset: usize, dtype: Dtype) -> Self {
        Field { name: name.into(), title: None, offset, dtype, shape: Vec::new() }
    }
    /// The field as a sub-array of `count` of what it is.
    #[must_use]
    pub fn repeated(mut self, count: usize) -> Self {
        self.shape.insert(0, count);
        self
    }
    /// The name, unique in its structure.
    pub fn name(&self) -> &str {
        &self.name
    }
    /// A second name, as NumPy allows.
    pub fn title(&self) -> Option<&str> {
        self.title.as_deref()
    }
    /// The distance from the start of the item, in bytes.
    pub fn offset(&self) -> usize {
        self.offset
    }
    /// The type of the field, or of each item of its sub-array.
    pub fn dtype(&self) -> &Dtype {
        &self.dtype
    }
    /// The shape of the sub-array; empty for a plain field.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }
    /// The bytes of the whole field, sub-array included.
    pub fn size(&self) -> usize {
        // Checked when the field was made.
        self.shape.iter().product::<usize>() * self.dtype.itemsize()
    }
}

impl Dtype {
    /// Parses a NumPy dtype: `.str` forms (`<i4`, `|S10`, `<M8[ns]`), names (`uint8`, `datetime64[ns]`), and the
    /// literals of structures (`[('a', '<i4'), ('b', '<f8', (2,))]`, `{'names': [...], ...}`).
    ///
    /// A text without a byte order, or with `=`, is little-endian. A field named `''` of plain void type is padding, as
    /// in `.npy` headers.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for Python objects, [`Error::Syntax`] for a text that is not known.
    ///
    /// ```
    /// use b2nd::Dtype;
    /// assert_eq!(Dtype::parse("float64")?.to_text(), "<f8");
    /// assert!(Dtype::parse("bfloat16").is_err());
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    pub fn parse(text: &str) -> Result<Self> {
        super::parse::from_text(text)
    }

    /// Raw items of `itemsize` bytes: `|V<itemsize>`.
    ///
    /// ```
    /// assert_eq!(b2nd::Dtype::raw(3).to_text(), "|V3");
    /// ```
    pub fn raw(itemsize: usize) -> Self {
        Self::scalar(Kind::Void, itemsize, ByteOrder::None)
    }

    /// A structure of these fields, in items of `itemsize` bytes.
    ///
    /// ```
    /// use b2nd::Dtype;
    /// use b2nd::array::Field;
    /// let fields = vec![Field::new("id", 0, Dtype::of::<u8>()), Field::new("xyz", 4, Dtype::of::<f32>()).repeated(3)];
    /// let dtype = Dtype::structured(fields, 16)?;
    /// assert_eq!((dtype.fields().len(), dtype.itemsize()), (2, 16));
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Usage`] when two fields have the same name or one ends behind the item; [`Error::TooLarge`] for more
    /// than 2 GiB.
    pub fn structured(fields: Vec<Field>, itemsize: usize) -> Result<Self> {
        let parts = fields.into_iter().map(|field| {
            let offset = field.offset;
            (field, Some(offset))
        });
        Dtype::structure(parts.collect(), Some(itemsize), false)
    }

    pub(crate) fn scalar(kind: Kind, size: usize, order: ByteOrder) -> Self {
        let orderless = matches!(kind, Kind::Bool | Kind::Bytes | Kind::Void)
            || (size == 1 && matches!(kind, Kind::Int | Kind::Uint));
        let order = if orderless { ByteOrder::None } else { order };
        Dtype { repr: Repr::Scalar(Scalar { kind, size, order, unit: None }) }
    }

    /// The same scalar in the byte order of this machine; others stay.
    pub(crate) fn to_native(&self) -> Self {
        match self.repr {
            Repr::Scalar(scalar) if scalar.order != ByteOrder::None => {
                Dtype { repr: Repr::Scalar(Scalar { order: ByteOrder::NATIVE, ..scalar }) }
            }
            _ => self.clone(),
        }
    }

    pub(super) fn time(kind: Kind, order: ByteOrder, unit: Option<TimeUnit>) -> Self {
        Dtype { repr: Repr::Scalar(Scalar { kind, size: 8, order, unit }) }
    }

    /// A sub-array of `base`; an empty shape is `base` itself.
    pub(super) fn sub(base: Dtype, shape: Vec<usize>) -> Result<Self> {
        if shape.is_empty() {
            return Ok(base);
        }
        let itemsize = sub_size(&base, &shape)?;
        Ok(Dtype { repr: Repr::Sub(Arc::new(Sub { base, shape, itemsize })) })
    }

    /// Lays out fields at their given offsets, or one after another.
    pub(super) fn structure(
        parts: Vec<(Field, Option<usize>)>,
        itemsize: Option<usize>,
        aligned: bool,
    ) -> Result<Self> {
        let mut fields = Vec::with_capacity(parts.len());
        let (mut next, mut end, mut alignment) = (0usize, 0usize, 1usize);
        for (mut field, offset) in parts {
            let align = if aligned { field.dtype.alignment() } else { 1 };
            alignment = alignment.max(align);
            field.offset = match offset {
                Some(offset) if offset.is_multiple_of(align) => offset,
                Some(_) => return Err(Error::usage("a dtype field is not aligned as its dtype says")),
                None => next.next_multiple_of(align),
            };
            next = bounded(field.offset.checked_add(sub_size(&field.dtype, &field.shape)?))?;
            end = end.max(next);
            fields.push(field);
        }
        let least = bounded(end.checked_next_multiple_of(alignment))?;
        let itemsize = match itemsize {
            Some(size) if size < end || !size.is_multiple_of(alignment) => {
                return Err(Error::usage(
                    "the itemsize of a dtype is too small for its fields or not aligned",
                ));
            }
            Some(size) => bounded(Some(size))?,
            None => least,
        };
        check_names(&fields)?;
        Ok(Dtype { repr: Repr::Struct(Arc::new(Struct { fields, itemsize, aligned })) })
    }

    /// The size of an item, in bytes.
    pub fn itemsize(&self) -> usize {
        match &self.repr {
            Repr::Scalar(scalar) => scalar.size,
            Repr::Struct(s) => s.itemsize,
            Repr::Sub(sub) => sub.itemsize,
        }
    }

    /// What the bytes stand for. A bare sub-array is [`Kind::Void`], as in NumPy.
    pub fn kind(&self) -> Kind {
        match &self.repr {
            Repr::Scalar(scalar) => scalar.kind,
            Repr::Struct(_) => Kind::Struct,
            Repr::Sub(_) => Kind::Void,
        }
    }

    /// The order of the bytes; [`ByteOrder::None`] for single bytes, structures and sub-arrays.
    pub fn byte_order(&self) -> ByteOrder {
        match &self.repr {
            Repr::Scalar(scalar) => scalar.order,
            _ => ByteOrder::None,
        }
    }

    /// The unit of a `datetime64` or `timedelta64`; `None` for others, and for those without a unit.
    pub fn unit(&self) -> Option<TimeUnit> {
        match &self.repr {
            Repr::Scalar(scalar) => scalar.unit,
            _ => None,
        }
    }

    /// The fields of a structure, in the order of their names; empty for others.
    pub fn fields(&self) -> &[Field] {
        match &self.repr {
            Repr::Struct(s) => &s.fields,
            _ => &[],
        }
    }

    /// The item type and the shape of a bare sub-array such as `('<f8', (2,))`.
    pub fn subarray(&self) -> Option<(&Dtype, &[usize])> {
        match &self.repr {
            Repr::Sub(sub) => Some((&sub.base, &sub.shape)),
            _ => None,
        }
    }

    /// The text that files hold for this dtype: NumPy's `dtype.str`, or `str(dtype)` for structures.
    ///
    /// [`Dtype::parse`] gives the same dtype back.
    pub fn to_text(&self) -> String {
        super::write::text(self)
    }

    pub(super) fn alignment(&self) -> usize {
        match &self.repr {
            Repr::Scalar(scalar) => match scalar.kind {
                Kind::Bool | Kind::Bytes | Kind::Void | Kind::Struct => 1,
                Kind::Complex => scalar.size / 2,
                Kind::Str => 4,
                Kind::Int | Kind::Uint | Kind::Float | Kind::Datetime | Kind::Timedelta => scalar.size,
            },
            Repr::Struct(s) if s.aligned => s.fields.iter().map(|f| f.dtype.alignment()).max().unwrap_or(1),
            Repr::Struct(_) => 1,
            Repr::Sub(sub) => sub.base.alignment(),
        }
    }
}

impl fmt::Display for Dtype {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_text())
    }
}

pub(super) fn bounded(size: Option<usize>) -> Result<usize> {
    size.filter(|&size| size <= MAX_ITEMSIZE)
        .ok_or_else(|| Error::too_large(MAX_ITEMSIZE, "a dtype of more than 2 GiB"))
}

fn sub_size(base: &Dtype, shape: &[usize]) -> Result<usize> {
    if shape.len() > MAX_AXES {
        return Err(Error::above(MAX_AXES, shape.len(), "a dtype with a sub-array of too many axes"));
    }
    // Every axis is bounded on its own too, for shapes with a zero or items of no bytes.
    let items = shape.iter().try_fold(1usize, |n, &axis| bounded(n.checked_mul(axis.max(1))))?;
    bounded(items.checked_mul(base.itemsize()))?;
    Ok(if shape.contains(&0) { 0 } else { items * base.itemsize() })
}

fn check_names(fields: &[Field]) -> Result<()> {
    let mut names: Vec<&str> =
        fields.iter().flat_map(|f| f.title.as_deref().into_iter().chain([&*f.name])).collect();
    names.sort_unstable();
    match names.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(Error::usage(format!("the dtype field {:?} occurs twice", pair[0]))),
        None => Ok(()),
    }
}
