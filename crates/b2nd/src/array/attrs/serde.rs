//! Attributes as values of the caller's own types, by way of `serde`.

use super::decoded;
use super::msgpack::MAX_DEPTH;
use super::msgpack::all_read;
use crate::array::Array;
use crate::error::Error;
use crate::error::Result;
use ::serde::Serialize;
use ::serde::de::DeserializeOwned;

impl Array {
    /// Reads an attribute as a value of any type that `serde` can make; `None` when there is none of this name. Needs the
    /// feature `serde`.
    ///
    /// ```
    /// use b2nd::{Dtype, Options};
    /// use serde::{Deserialize, Serialize};
    ///
    /// #[derive(Serialize, Deserialize, PartialEq, Debug)]
    /// struct Calibration {
    ///     offset: f64,
    ///     channels: Vec<u16>,
    /// }
    /// let mut a = Options::new().create_in_memory(Dtype::of::<f32>(), [3])?;
    /// let calibration = Calibration { offset: 0.5, channels: vec![1, 4] };
    /// a.set_attr("calibration", &calibration)?;
    /// assert_eq!(a.attr::<Calibration>("calibration")?, Some(calibration));
    /// assert_eq!(a.attr::<String>("nothing")?, None);
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Unsupported`] when its bytes are not MessagePack or not a value of the type; [`Error::Format`] when they are
    /// damaged.
    pub fn attr<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>> {
        self.content(name)?.map(|content| decoded(name, from_bytes(&content))).transpose()
    }

    /// Adds or replaces an attribute by a value of any type that `serde` can write, and commits. Structures become maps, as
    /// python-blosc2 reads them. Needs the feature `serde`.
    ///
    /// # Errors
    /// As [`AttrsMut::set`](crate::array::AttrsMut::set), and [`Error::Usage`] for what MessagePack cannot hold.
    pub fn set_attr(&mut self, name: &str, value: &(impl Serialize + ?Sized)) -> Result<()> {
        let mut content = Vec::new();
        let mut serializer = rmp_serde::Serializer::new(&mut content).with_struct_map();
        value
            .serialize(&mut serializer)
            .map_err(|error| Error::usage(format!("attribute `{name}`: {error}")))?;
        self.set_vlmetalayer(name, &content)
    }
}

fn from_bytes<T: DeserializeOwned>(mut content: &[u8]) -> std::result::Result<T, String> {
    let mut reader = rmp_serde::Deserializer::new(&mut content);
    reader.set_max_depth(MAX_DEPTH);
    let value = T::deserialize(&mut reader).map_err(|error| error.to_string())?;
    drop(reader);
    all_read(content)?;
    Ok(value)
}
