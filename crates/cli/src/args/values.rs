//! The values of options: sizes in bytes, lists of lengths, filter pipelines.

use std::str::FromStr;

use b2nd::{Codec, Filter, Pipeline};

/// A number of bytes: `4096`, `64K`, `256M`, `2G` (binary multiples; `MB` and `MiB` mean the same).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ByteSize(pub(crate) u64);

impl FromStr for ByteSize {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let lower = text.trim().to_ascii_lowercase();
        let digits = lower.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let shift = match lower.get(digits.len()..).unwrap_or_default() {
            "" | "b" => 0,
            "k" | "kb" | "kib" => 10,
            "m" | "mb" | "mib" => 20,
            "g" | "gb" | "gib" => 30,
            "t" | "tb" | "tib" => 40,
            _ => return Err("give a number of bytes such as 64K, 256M or 2G".into()),
        };
        let number: u64 =
            digits.trim().parse().map_err(|_| "give a number of bytes such as 64K, 256M or 2G")?;
        match number.checked_mul(1 << shift) {
            Some(0) => Err("give more than 0 bytes".into()),
            Some(bytes) => Ok(ByteSize(bytes)),
            None => Err("that is more than a computer can address".into()),
        }
    }
}

/// One length for each axis: `16,64,64`; brackets are allowed, and `()` is no axis at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Lengths(pub(crate) Vec<u64>);

impl FromStr for Lengths {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let inner = text.trim();
        let inner =
            inner.strip_prefix(['(', '[']).and_then(|s| s.strip_suffix([')', ']'])).unwrap_or(inner).trim();
        if inner.is_empty() {
            return Ok(Lengths(Vec::new()));
        }
        let inner = inner.strip_suffix(',').unwrap_or(inner);
        let lengths = inner.split(',').map(|part| part.trim().parse::<u64>()).collect::<Result<_, _>>();
        lengths.map(Lengths).map_err(|_| "give one length for each axis, such as 16,64,64".into())
    }
}

/// As [`Lengths`], where one length may be left open: `-1` is what the others leave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OpenLengths(pub(crate) Vec<Option<u64>>);

impl FromStr for OpenLengths {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let inner = text.trim();
        let inner =
            inner.strip_prefix(['(', '[']).and_then(|s| s.strip_suffix([')', ']'])).unwrap_or(inner).trim();
        let inner = inner.strip_suffix(',').unwrap_or(inner);
        if inner.is_empty() {
            return Ok(OpenLengths(Vec::new()));
        }
        let length = |part: &str| match part.trim() {
            "-1" => Ok(None),
            part => part.parse().map(Some),
        };
        let lengths: Result<Vec<Option<u64>>, std::num::ParseIntError> =
            inner.split(',').map(length).collect();
        match lengths {
            Ok(lengths) if lengths.iter().filter(|len| len.is_none()).count() < 2 => Ok(OpenLengths(lengths)),
            Ok(_) => Err("only one length can be -1".into()),
            Err(_) => Err(
                "give one length for each axis, such as 100,200; -1 stands for the length that the input has"
                    .into(),
            ),
        }
    }
}

/// A codec, and its parameter: `zstd`, `ndlz:4`. Which there are, the library says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CodecChoice {
    pub(crate) codec: Codec,
    pub(crate) meta: u8,
}

impl FromStr for CodecChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, meta) = text.split_once(':').map_or((text, None), |(name, meta)| (name, Some(meta)));
        let codec = Codec::from_name(name.trim());
        let codec = codec.ok_or_else(|| {
            format!(
                "there is no codec `{name}`: zstd, lz4, lz4hc, zlib, blosclz, ndlz:N, zfp-accuracy:N, zfp-precision:N and \
                 zfp-rate:N are"
            )
        })?;
        if !cfg!(feature = "zfp") && is_zfp(codec) {
            return Err("this b2nd was built without the feature `zfp`".to_owned());
        }
        let meta = match (meta, needed(codec)) {
            (Some(meta), _) => meta,
            (None, Some(what)) => return Err(format!("{} needs {what}", codec.name())),
            (None, None) => "0",
        };
        let number = meta.trim().parse::<i16>().ok();
        let byte =
            number.and_then(|n| u8::try_from(n).ok().or_else(|| i8::try_from(n).ok().map(i8::cast_unsigned)));
        Ok(CodecChoice { codec, meta: byte.ok_or("the parameter of a codec is a number from -128 to 255")? })
    }
}

/// Whether a codec is zfp in one of its modes.
pub(crate) fn is_zfp(codec: Codec) -> bool {
    matches!(codec, Codec::ZfpAccuracy | Codec::ZfpPrecision | Codec::ZfpRate)
}

/// What the parameter of a codec says, where there must be one.
fn needed(codec: Codec) -> Option<&'static str> {
    match codec {
        Codec::Ndlz => Some("the side of its cells: ndlz:4 or ndlz:8"),
        Codec::ZfpAccuracy => Some("the largest error as a power of ten: zfp-accuracy:-3 is 0.001"),
        Codec::ZfpPrecision => Some("the bits of precision to keep, such as zfp-precision:16"),
        Codec::ZfpRate => Some("the percentage of the size that is left, such as zfp-rate:25"),
        _ => None,
    }
}

/// Filters in pipeline order: `shuffle`, `delta`, `bytedelta`, `trunc_prec:10`, `ndcell:4`; `none` for no filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Filters(pub(crate) Pipeline);

impl FromStr for Filters {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let pipeline: Pipeline = text.parse().map_err(|error: b2nd::Error| error.to_string())?;
        let slots: Vec<(Filter, u8)> = pipeline.filters().collect();
        for (filter, meta) in &slots {
            check(*filter, *meta)?;
        }
        let free = Pipeline::SLOTS.saturating_sub(slots.len());
        // At the end, as the default pipeline has its shuffle and other writers have theirs.
        let (mut ids, mut meta) = ([0; Pipeline::SLOTS], [0; Pipeline::SLOTS]);
        for (n, (filter, value)) in slots.into_iter().enumerate() {
            if let (Some(id), Some(byte)) = (ids.get_mut(free + n), meta.get_mut(free + n)) {
                (*id, *byte) = (filter.id(), value);
            }
        }
        Ok(Filters(Pipeline::from_bytes(ids, meta)))
    }
}

/// What can be said of a filter's number before the array is known.
fn check(filter: Filter, meta: u8) -> Result<(), String> {
    let name = filter.name();
    match filter {
        Filter::TruncPrec if meta == 0 || i8::from_le_bytes([meta]).unsigned_abs() > 52 => {
            Err("trunc_prec needs the bits of precision to keep: 1 to 23 for f4, 1 to 52 for f8".into())
        }
        Filter::IntTrunc if meta == 0 => Err("int_trunc needs the bits to keep, such as int_trunc:10".into()),
        Filter::NdCell | Filter::NdMean if meta == 0 => {
            Err(format!("{name} needs the side of a cell in items, such as {name}:4"))
        }
        Filter::BitShuffle | Filter::Delta if meta != 0 => Err(format!("the filter `{name}` takes no value")),
        Filter::Other(_) | Filter::OldByteDelta => Err(format!("the filter `{name}` cannot be written")),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_binary_multiples() {
        for (text, bytes) in
            [("1", 1), ("64K", 65536), ("8m", 8 << 20), ("256MiB", 256 << 20), ("2GB", 2 << 30)]
        {
            assert_eq!(text.parse(), Ok(ByteSize(bytes)), "{text}");
        }
        for text in ["", "0", "M", "-1", "1.5G", "3X", "99999999999T"] {
            assert!(text.parse::<ByteSize>().is_err(), "{text}");
        }
    }

    #[test]
    fn codecs_may_have_a_parameter() {
        let parse = |text: &str| text.parse::<CodecChoice>().map(|c| (c.codec, c.meta));
        assert_eq!(parse("zstd"), Ok((Codec::Zstd, 0)));
        assert_eq!(parse("lz4:7"), Ok((Codec::Lz4, 7)));
        assert_eq!(parse("lz4:-1"), Ok((Codec::Lz4, 255)));
        assert_eq!(parse("ndlz:8"), Ok((Codec::Ndlz, 8)));
        let zfp = parse("zfp_accuracy:-3");
        assert_eq!(zfp.ok(), cfg!(feature = "zfp").then_some((Codec::ZfpAccuracy, 253)));
        for text in [
            "",
            "lzma",
            "ndlz",
            "zfp-accuracy",
            "zfp-precision",
            "zfp-rate",
            "zstd:",
            "zstd:256",
            "zstd:-129",
            "zstd:x",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn lengths_are_lists_with_or_without_brackets() {
        for text in ["16,64", "(16, 64)", "[16,64]", " 16 ,64,"] {
            assert_eq!(text.parse(), Ok(Lengths(vec![16, 64])), "{text}");
        }
        assert_eq!("()".parse(), Ok(Lengths(vec![])));
        for text in ["a", "1,,2", "-1", "1.0"] {
            assert!(text.parse::<Lengths>().is_err(), "{text}");
        }
    }

    #[test]
    fn one_length_may_be_left_open() {
        let open = |lengths: &[i64]| OpenLengths(lengths.iter().map(|&n| u64::try_from(n).ok()).collect());
        for (text, lengths) in [("-1", &[-1][..]), ("(-1, 3)", &[-1, 3]), ("4,-1,", &[4, -1]), ("()", &[])] {
            assert_eq!(text.parse(), Ok(open(lengths)), "{text}");
        }
        for text in ["-1,-1", "-2", "a", "1,,2"] {
            assert!(text.parse::<OpenLengths>().is_err(), "{text}");
        }
    }

    #[test]
    fn filters_end_in_the_last_slot_in_their_order() {
        let parse = |text: &str| text.parse::<Filters>().map(|f| (f.0.ids(), f.0.meta()));
        assert_eq!(parse("shuffle"), Ok(([0, 0, 0, 0, 0, 1], [0; 6])));
        assert_eq!(parse("trunc_prec:10,bitshuffle"), Ok(([0, 0, 0, 0, 4, 2], [0, 0, 0, 0, 10, 0])));
        assert_eq!(parse("trunc_prec:-3"), Ok(([0, 0, 0, 0, 0, 4], [0, 0, 0, 0, 0, 253])));
        assert_eq!(parse("shuffle,bytedelta"), Ok(([0, 0, 0, 0, 1, 35], [0; 6])));
        assert_eq!(parse("ndcell:4"), Ok(([0, 0, 0, 0, 0, 32], [0, 0, 0, 0, 0, 4])));
        assert_eq!(parse("none"), Ok(([0; 6], [0; 6])));
        for text in [
            "",
            "none,shuffle",
            "trunc_prec",
            "trunc_prec:0",
            "bitshuffle:1",
            "int_trunc",
            "ndcell",
            "filter-200",
            "lzma",
            "delta,delta,delta,delta,delta,delta,delta",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
