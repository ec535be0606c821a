//! The value of an attribute, and what converts into it and out of it.

/// The value of an attribute: what MessagePack can say, which is how python-blosc2's `vlmeta` stores values.
///
/// Made with `From` of numbers, bools, texts and bytes, and with [`AttrValue::list`] and [`AttrValue::map`].
///
/// ```
/// use b2nd::AttrValue;
/// let station = AttrValue::map([
///     ("name", AttrValue::from("Zürich")),
///     ("height", AttrValue::from(408.5)),
///     ("codes", AttrValue::list([6660, 6670])),
/// ]);
/// assert_eq!(station.get("height").and_then(AttrValue::as_f64), Some(408.5));
/// assert_eq!(station.get("codes").and_then(AttrValue::as_list).map(<[_]>::len), Some(2));
/// assert_eq!(AttrValue::from_msgpack(&station.to_msgpack()?)?, station);
/// # Ok::<(), b2nd::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub enum AttrValue {
    /// No value: `None` in Python.
    #[default]
    Null,
    /// A truth value.
    Bool(bool),
    /// An integer in the range of `i64`.
    Int(i64),
    /// An integer above `i64::MAX`. Smaller ones are read as [`AttrValue::Int`].
    UInt(u64),
    /// A float. One of 32 bits is read as the `f64` of the same value.
    Float(f64),
    /// A text.
    Str(String),
    /// Bytes.
    Bytes(Vec<u8>),
    /// A list. python-blosc2 stores a tuple as a list that begins with the text `__tuple__`.
    List(Vec<AttrValue>),
    /// A map, in stored order. Keys are mostly texts, but any value can be one.
    Map(Vec<(AttrValue, AttrValue)>),
    /// A value of an extension type: its code and its bytes. python-blosc2 has 44 for complex numbers, 45 for sets and 46 for
    /// NumPy arrays.
    Ext(i8, Vec<u8>),
}

impl AttrValue {
    /// A list of values.
    ///
    /// ```
    /// use b2nd::AttrValue;
    /// assert_eq!(AttrValue::list(["x", "y"]).as_list().map(<[_]>::len), Some(2));
    /// ```
    pub fn list(items: impl IntoIterator<Item: Into<AttrValue>>) -> Self {
        AttrValue::List(items.into_iter().map(Into::into).collect())
    }

    /// A map, in the order of its entries.
    ///
    /// ```
    /// use b2nd::AttrValue;
    /// assert_eq!(AttrValue::map([("x", 1), ("y", 2)]).get("y"), Some(&AttrValue::Int(2)));
    /// ```
    pub fn map<K: Into<AttrValue>, V: Into<AttrValue>>(entries: impl IntoIterator<Item = (K, V)>) -> Self {
        AttrValue::Map(entries.into_iter().map(|(key, value)| (key.into(), value.into())).collect())
    }

    /// Whether it is [`AttrValue::Null`].
    pub fn is_null(&self) -> bool {
        matches!(self, AttrValue::Null)
    }
    /// The truth value; `None` for every other kind.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            AttrValue::Bool(value) => Some(*value),
            _ => None,
        }
    }
    /// The integer, if it fits in `i64`; `None` for every other kind.
    pub fn as_i64(&self) -> Option<i64> {
        match self {
            AttrValue::Int(value) => Some(*value),
            AttrValue::UInt(value) => i64::try_from(*value).ok(),
            _ => None,
        }
    }
    /// The integer, if it fits in `u64`; `None` for every other kind.
    pub fn as_u64(&self) -> Option<u64> {
        match self {
            AttrValue::Int(value) => u64::try_from(*value).ok(),
            AttrValue::UInt(value) => Some(*value),
            _ => None,
        }
    }
    /// The number as a float, integers rounded to the nearest; `None` for every other kind.
    pub fn as_f64(&self) -> Option<f64> {
        match self {
            AttrValue::Int(value) => Some(*value as f64),
            AttrValue::UInt(value) => Some(*value as f64),
            AttrValue::Float(value) => Some(*value),
            _ => None,
        }
    }
    /// The text; `None` for every other kind.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            AttrValue::Str(text) => Some(text),
            _ => None,
        }
    }
    /// The bytes; `None` for every other kind.
    pub fn as_bytes(&self) -> Option<&[u8]> {
        match self {
            AttrValue::Bytes(bytes) => Some(bytes),
            _ => None,
        }
    }
    /// The items of a list; `None` for every other kind.
    pub fn as_list(&self) -> Option<&[AttrValue]> {
        match self {
            AttrValue::List(items) => Some(items),
            _ => None,
        }
    }
    /// The entries of a map; `None` for every other kind.
    pub fn as_map(&self) -> Option<&[(AttrValue, AttrValue)]> {
        match self {
            AttrValue::Map(entries) => Some(entries),
            _ => None,
        }
    }
    /// The value under a text key of a map.
    pub fn get(&self, key: &str) -> Option<&AttrValue> {
        self.as_map()?.iter().find(|(found, _)| found.as_str() == Some(key)).map(|(_, value)| value)
    }
}

macro_rules! from_values {
    ($($type:ty, $value:ident => $made:expr;)*) => {$(
        impl From<$type> for AttrValue {
            fn from($value: $type) -> Self {
                $made
            }
        }
    )*};
}

from_values! {
    bool, value => AttrValue::Bool(value);
    i8, n => AttrValue::Int(i64::from(n));
    i16, n => AttrValue::Int(i64::from(n));
    i32, n => AttrValue::Int(i64::from(n));
    i64, n => AttrValue::Int(n);
    u8, n => AttrValue::Int(i64::from(n));
    u16, n => AttrValue::Int(i64::from(n));
    u32, n => AttrValue::Int(i64::from(n));
    u64, n => i64::try_from(n).map_or(AttrValue::UInt(n), AttrValue::Int);
    usize, n => AttrValue::from(n as u64);
    f32, x => AttrValue::Float(f64::from(x));
    f64, x => AttrValue::Float(x);
    &str, text => AttrValue::Str(text.to_owned());
    &String, text => AttrValue::Str(text.clone());
    String, text => AttrValue::Str(text);
    &[u8], bytes => AttrValue::Bytes(bytes.to_vec());
    Vec<u8>, bytes => AttrValue::Bytes(bytes);
    Vec<AttrValue>, items => AttrValue::List(items);
}

impl From<()> for AttrValue {
    fn from((): ()) -> Self {
        AttrValue::Null
    }
}

impl<const N: usize> From<&[u8; N]> for AttrValue {
    fn from(bytes: &[u8; N]) -> Self {
        AttrValue::Bytes(bytes.to_vec())
    }
}

impl<T: Into<AttrValue>> From<Option<T>> for AttrValue {
    fn from(value: Option<T>) -> Self {
        value.map_or(AttrValue::Null, Into::into)
    }
}
