//! Attributes: named values beside the items, as python-blosc2's `vlmeta` has them. Each is a vlmetalayer.

mod msgpack;
#[cfg(feature = "serde")]
mod serde;
#[cfg(test)]
mod tests;
mod value;

pub use value::AttrValue;

use crate::array::Array;
use crate::array::Options;
use crate::error::Error;
use crate::error::Result;

/// Read access to the attributes of an array: see [`Array::attrs`].
///
/// Each attribute is read and decoded on access.
#[derive(Debug, Clone)]
pub struct Attrs<'a> {
    array: &'a Array,
    names: Vec<&'a str>,
}

impl<'a> Attrs<'a> {
    /// The names, in stored order.
    pub fn names(&self) -> impl Iterator<Item = &'a str> {
        self.names.iter().copied()
    }
    /// Number of attributes.
    pub fn len(&self) -> usize {
        self.names.len()
    }
    /// Whether the array has no attributes.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }
    /// Whether an attribute of this name exists.
    pub fn contains(&self, name: &str) -> bool {
        self.names.contains(&name)
    }
    /// The value of an attribute; `None` when there is none of this name.
    ///
    /// # Errors
    /// [`Error::Unsupported`] when its bytes are not MessagePack:
    /// [`SChunk::vlmetalayer`](crate::schunk::FrameState::vlmetalayer) reads them. [`Error::Format`] when they are
    /// damaged.
    pub fn get(&self, name: &str) -> Result<Option<AttrValue>> {
        self.array.content(name)?.map(|content| decoded(name, msgpack::from_msgpack(&content))).transpose()
    }
    /// Names and values, in stored order; an error in one does not keep the others from being read.
    pub fn iter(&self) -> impl Iterator<Item = Result<(&'a str, AttrValue)>> {
        self.names().map(|name| Ok((name, self.get(name)?.unwrap_or_default())))
    }
}

/// Write access to the attributes of an array: see [`Array::attrs_mut`].
#[derive(Debug)]
pub struct AttrsMut<'a> {
    array: &'a mut Array,
}

impl AttrsMut<'_> {
    /// Adds or replaces an attribute, and commits. A name has 1 to 31 bytes.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`] for a name that is too long, [`Error::TooLarge`] for a value that is nested too
    /// deeply; [`Error::ReadOnly`]; [`Error::Io`] when it cannot be written.
    pub fn set(&mut self, name: &str, value: impl Into<AttrValue>) -> Result<()> {
        self.array.set_vlmetalayer(name, &value.into().to_msgpack()?)
    }
    /// Adds or replaces attributes in one commit: all of them, or after an error none.
    ///
    /// # Errors
    /// As [`AttrsMut::set`].
    pub fn extend<N: AsRef<str>, V: Into<AttrValue>>(
        &mut self,
        attrs: impl IntoIterator<Item = (N, V)>,
    ) -> Result<()> {
        let packed = |(name, value): (N, V)| Ok((name, value.into().to_msgpack()?));
        let packed = attrs.into_iter().map(packed).collect::<Result<Vec<(N, Vec<u8>)>>>()?;
        self.array.at_once(|t| {
            packed.iter().try_for_each(|(name, content)| t.set_vlmetalayer(name.as_ref(), content))
        })
    }
    /// Removes an attribute, and commits; returns whether it existed.
    ///
    /// # Errors
    /// [`Error::ReadOnly`]; [`Error::Io`] when it cannot be written.
    pub fn remove(&mut self, name: &str) -> Result<bool> {
        self.array.remove_vlmetalayer(name)
    }
}

impl Array {
    /// The attributes: names and values beside the items, which python-blosc2 has as `vlmeta`.
    ///
    /// ```
    /// use b2nd::{AttrValue, Dtype, Options};
    /// let mut a = Options::new().with_attr("units", "K").create_in_memory(Dtype::of::<f32>(), [3])?;
    /// a.attrs_mut().set("scale", 0.01)?;
    /// assert_eq!(a.attrs()?.get("units")?, Some(AttrValue::from("K")));
    /// for attr in a.attrs()?.iter() {
    ///     let (name, value) = attr?;
    ///     println!("{name}: {value:?}");
    /// }
    /// assert_eq!(a.attrs()?.names().collect::<Vec<_>>(), ["units", "scale"]);
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Io`] and [`Error::Format`] when the end of the file, which names them, cannot be read or is damaged.
    pub fn attrs(&self) -> Result<Attrs<'_>> {
        Ok(Attrs { array: self, names: self.schunk().vlmetalayer_names()?.collect() })
    }

    /// Write access to the attributes.
    ///
    /// ```
    /// use b2nd::{AttrValue, Dtype, Options};
    /// let mut a = Options::new().create_in_memory(Dtype::of::<f32>(), [3])?;
    /// a.attrs_mut().extend([("units", AttrValue::from("K")), ("levels", AttrValue::list([850, 500]))])?;
    /// assert!(a.attrs_mut().remove("levels")?);
    /// assert_eq!(a.attrs()?.len(), 1);
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    pub fn attrs_mut(&mut self) -> AttrsMut<'_> {
        AttrsMut { array: self }
    }

    /// The bytes of an attribute.
    fn content(&self, name: &str) -> Result<Option<Vec<u8>>> {
        self.schunk().vlmetalayer(name)
    }
}

impl Options {
    /// Adds an attribute to the new array; see [`Array::attrs`].
    #[must_use]
    pub fn with_attr(mut self, name: impl Into<String>, value: impl Into<AttrValue>) -> Self {
        self.attrs.push((name.into(), value.into()));
        self
    }
}

/// A value, or an error that names the attribute and says why its bytes are no such value.
fn decoded<T>(name: &str, value: std::result::Result<T, String>) -> Result<T> {
    value.map_err(|reason| Error::unsupported(format!("attribute `{name}`: {reason}")))
}
