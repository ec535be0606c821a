//! Values of attributes as MessagePack, within bounds of depth and count.

use super::AttrValue;
use crate::error::Error;
use crate::error::Result;
use rmp::Marker;
use rmp::decode::RmpRead;
use rmp::encode;

/// The most lists and maps inside each other. The Python package has the same bound.
pub(super) const MAX_DEPTH: usize = 100;
/// The most values in an attribute, those inside lists and maps included: each takes memory of its own.
const MAX_VALUES: usize = 1 << 20;

/// A value that was read, or why the bytes are none.
type Read<T> = std::result::Result<T, String>;

impl AttrValue {
    /// Reads a value from the MessagePack bytes of an attribute, which must be one value and nothing behind it.
    ///
    /// Values are at most 100 levels deep, and 1,048,576 in all.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for bytes that are not MessagePack, a text that is not UTF-8, and more than these bounds.
    ///
    /// ```
    /// use b2nd::AttrValue;
    /// assert_eq!(AttrValue::from_msgpack(b"\xa3m/s")?, AttrValue::from("m/s"));
    /// assert!(AttrValue::from_msgpack(b"m/s").is_err()); // an integer, and bytes behind it
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    pub fn from_msgpack(bytes: &[u8]) -> Result<Self> {
        from_msgpack(bytes).map_err(|reason| Error::unsupported(format!("attribute: {reason}")))
    }

    /// The value as MessagePack, as python-blosc2 writes it: each number and length in the fewest bytes, floats in 64 bits.
    ///
    /// # Errors
    /// [`Error::TooLarge`] for more than 100 levels, and for a text, bytes, a list or a map of 2³² or more bytes or
    /// items.
    pub fn to_msgpack(&self) -> Result<Vec<u8>> {
        let mut out = Vec::new();
        write(self, &mut out, 0)?;
        Ok(out)
    }
}

/// Parses bytes that hold exactly one value.
pub(super) fn from_msgpack(bytes: &[u8]) -> Read<AttrValue> {
    let mut reader = ValueReader { rest: bytes, values: 0 };
    let value = reader.value(0)?;
    all_read(reader.rest)?;
    Ok(value)
}

/// Refuses bytes after a value.
pub(super) fn all_read(rest: &[u8]) -> Read<()> {
    match rest.len() {
        0 => Ok(()),
        left => Err(format!("{left} bytes follow a MessagePack value")),
    }
}

struct ValueReader<'a> {
    rest: &'a [u8],
    values: usize,
}

/// Reads the number of `$kind` behind a marker.
macro_rules! number {
    ($reader:expr, $read:ident) => {
        $reader.rest.$read().map_err(|_| cut_off())?
    };
}

fn cut_off() -> String {
    "a MessagePack value is cut off".to_owned()
}

impl ValueReader<'_> {
    fn value(&mut self, depth: usize) -> Read<AttrValue> {
        if depth > MAX_DEPTH {
            return Err(format!("a MessagePack value has more than {MAX_DEPTH} levels"));
        }
        self.values += 1;
        if self.values > MAX_VALUES {
            return Err(format!("the attribute has more than {MAX_VALUES} MessagePack values"));
        }
        let marker = rmp::decode::read_marker(&mut self.rest).map_err(|_| cut_off())?;
        Ok(match marker {
            Marker::Null => AttrValue::Null,
            Marker::False => AttrValue::Bool(false),
            Marker::True => AttrValue::Bool(true),
            Marker::FixPos(n) => AttrValue::from(n),
            Marker::FixNeg(n) => AttrValue::from(n),
            Marker::U8 => number!(self, read_data_u8).into(),
            Marker::U16 => number!(self, read_data_u16).into(),
            Marker::U32 => number!(self, read_data_u32).into(),
            Marker::U64 => number!(self, read_data_u64).into(),
            Marker::I8 => number!(self, read_data_i8).into(),
            Marker::I16 => number!(self, read_data_i16).into(),
            Marker::I32 => number!(self, read_data_i32).into(),
            Marker::I64 => number!(self, read_data_i64).into(),
            Marker::F32 => number!(self, read_data_f32).into(),
            Marker::F64 => number!(self, read_data_f64).into(),
            marker => return self.counted(marker, depth),
        })
    }

    /// A value that has a length.
    fn counted(&mut self, marker: Marker, depth: usize) -> Read<AttrValue> {
        let len = match marker {
            Marker::FixStr(n) | Marker::FixArray(n) | Marker::FixMap(n) => u32::from(n),
            Marker::FixExt1 => 1,
            Marker::FixExt2 => 2,
            Marker::FixExt4 => 4,
            Marker::FixExt8 => 8,
            Marker::FixExt16 => 16,
            Marker::Str8 | Marker::Bin8 | Marker::Ext8 => u32::from(number!(self, read_data_u8)),
            Marker::Str16 | Marker::Bin16 | Marker::Ext16 | Marker::Array16 | Marker::Map16 => {
                u32::from(number!(self, read_data_u16))
            }
            Marker::Str32 | Marker::Bin32 | Marker::Ext32 | Marker::Array32 | Marker::Map32 => {
                number!(self, read_data_u32)
            }
            _ => return Err("the byte c1 begins no MessagePack value".to_owned()),
        };
        let len = len as usize;
        match marker {
            Marker::FixStr(_) | Marker::Str8 | Marker::Str16 | Marker::Str32 => {
                let text = std::str::from_utf8(self.take(len)?)
                    .map_err(|error| format!("a text of {len} bytes is not UTF-8: {error}"))?;
                Ok(AttrValue::from(text))
            }
            Marker::Bin8 | Marker::Bin16 | Marker::Bin32 => Ok(AttrValue::from(self.take(len)?)),
            // Reserves no memory by the count, because the input may be shorter than it claims.
            Marker::FixArray(_) | Marker::Array16 | Marker::Array32 => {
                (0..len).map(|_| self.value(depth + 1)).collect::<Read<_>>().map(AttrValue::List)
            }
            Marker::FixMap(_) | Marker::Map16 | Marker::Map32 => {
                let entry = |_| -> Read<_> { Ok((self.value(depth + 1)?, self.value(depth + 1)?)) };
                (0..len).map(entry).collect::<Read<_>>().map(AttrValue::Map)
            }
            _ => {
                let code = number!(self, read_data_i8);
                Ok(AttrValue::Ext(code, self.take(len)?.to_vec()))
            }
        }
    }

    fn take(&mut self, len: usize) -> Read<&[u8]> {
        let (taken, rest) = self.rest.split_at_checked(len).ok_or_else(cut_off)?;
        self.rest = rest;
        Ok(taken)
    }
}

fn length(of: usize) -> Result<u32> {
    u32::try_from(of).map_err(|_| {
        Error::above(u32::MAX, of, format!("an attribute holds a value of length {of}: the most is 2³² − 1"))
    })
}

fn write(value: &AttrValue, out: &mut Vec<u8>, depth: usize) -> Result<()> {
    if depth > MAX_DEPTH {
        return Err(Error::too_large(
            MAX_DEPTH as u64,
            format!("an attribute has more than {MAX_DEPTH} levels of lists and maps"),
        ));
    }
    // Writing into a vector does not fail.
    let _ = match value {
        AttrValue::Null => encode::write_nil(out).map_err(drop),
        AttrValue::Bool(value) => encode::write_bool(out, *value).map_err(drop),
        AttrValue::Int(value) => encode::write_sint(out, *value).map(drop).map_err(drop),
        AttrValue::UInt(value) => encode::write_uint(out, *value).map(drop).map_err(drop),
        AttrValue::Float(value) => encode::write_f64(out, *value).map_err(drop),
        AttrValue::Str(text) => {
            length(text.len())?;
            encode::write_str(out, text).map_err(drop)
        }
        AttrValue::Bytes(bytes) => {
            length(bytes.len())?;
            encode::write_bin(out, bytes).map_err(drop)
        }
        AttrValue::List(items) => {
            let _ = encode::write_array_len(out, length(items.len())?);
            items.iter().try_for_each(|item| write(item, out, depth + 1))?;
            Ok(())
        }
        AttrValue::Map(entries) => {
            let _ = encode::write_map_len(out, length(entries.len())?);
            for (key, value) in entries {
                write(key, out, depth + 1)?;
                write(value, out, depth + 1)?;
            }
            Ok(())
        }
        AttrValue::Ext(code, bytes) => {
            let _ = encode::write_ext_meta(out, length(bytes.len())?, *code);
            out.extend_from_slice(bytes);
            Ok(())
        }
    };
    Ok(())
}
