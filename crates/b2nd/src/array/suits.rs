//! Which dtypes the lossy filters and codecs are made for. They see bytes and the size of an item; only the array knows
//! what an item is, and items of another kind would be destroyed.

use crate::array::dtype::ByteOrder;
use crate::array::dtype::Dtype;
use crate::array::dtype::Kind;
use crate::chunk::Params;
use crate::codec::Codec;
use crate::error::Error;
use crate::error::Result;
use crate::filter::Filter;
use crate::filter::Pipeline;

/// What a lossy filter or codec takes the bytes of an item for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Made {
    ForFloats,
    ForIntegers,
}

impl Made {
    fn of_filter(filter: Filter) -> Option<Self> {
        match filter {
            Filter::TruncPrec | Filter::NdMean => Some(Made::ForFloats),
            Filter::IntTrunc => Some(Made::ForIntegers),
            _ => None,
        }
    }

    fn of_codec(codec: Codec) -> Option<Self> {
        codec.is_zfp().then_some(Made::ForFloats)
    }

    /// Whether items of `dtype` are of that kind. Times are counted in integers.
    fn suits(self, dtype: &Dtype) -> bool {
        let kind = match self {
            Made::ForFloats => dtype.kind() == Kind::Float && matches!(dtype.itemsize(), 4 | 8),
            Made::ForIntegers => {
                matches!(dtype.kind(), Kind::Int | Kind::Uint | Kind::Datetime | Kind::Timedelta)
            }
        };
        kind && dtype.byte_order() != ByteOrder::Big
    }

    /// The error where items of `dtype` are of another kind.
    fn check(self, name: &str, dtype: &Dtype) -> Result<()> {
        if self.suits(dtype) {
            return Ok(());
        }
        let due = match self {
            Made::ForFloats => "little-endian floats of 4 or 8 bytes",
            Made::ForIntegers => "little-endian integers",
        };
        let advice = match (self, dtype.kind()) {
            (Made::ForFloats, Kind::Float) if matches!(dtype.itemsize(), 4 | 8) => {
                "store little-endian items, or leave it out"
            }
            (Made::ForFloats, Kind::Complex) => {
                "store real and imaginary parts as floats, along an axis of their own, or leave it out"
            }
            (Made::ForFloats, Kind::Int | Kind::Uint) => {
                "int_trunc is the filter for integers; or leave it out"
            }
            (Made::ForIntegers, Kind::Int | Kind::Uint | Kind::Datetime | Kind::Timedelta) => {
                "store little-endian items, or leave it out"
            }
            (Made::ForIntegers, Kind::Float) => "trunc_prec is the filter for floats; or leave it out",
            _ => "leave it out",
        };
        Err(Error::compression(format!(
            "{name} is lossy and made for {due}: it would destroy items of dtype {dtype}; {advice}"
        )))
    }
}

/// Checks that the lossy filters and the codec of `params` are made for items of `dtype`.
///
/// # Errors
/// [`Error::Compression`] with the filter or codec, the dtype, and what to do.
pub(crate) fn check_suits(params: &Params, dtype: &Dtype) -> Result<()> {
    if let Some(made) = Made::of_codec(params.codec()) {
        made.check(&params.codec().name(), dtype)?;
    }
    for (filter, _) in params.pipeline().filters() {
        if let Some(made) = Made::of_filter(filter) {
            made.check(&filter.name(), dtype)?;
        }
    }
    Ok(())
}

/// The same parameters without the lossy filters and codecs that are not made for items of `dtype`.
pub(crate) fn suited(params: Params, dtype: &Dtype) -> Params {
    if Made::of_codec(params.codec()).is_some_and(|made| !made.suits(dtype)) {
        let plain = Params::new(params.typesize());
        return params
            .with_codec(plain.codec())
            .with_codec_meta(plain.codec_meta())
            .with_pipeline(*plain.pipeline());
    }
    let suits = |id: u8| {
        let made = Filter::from_id(id).and_then(Made::of_filter);
        made.is_none_or(|made| made.suits(dtype))
    };
    let pipeline = params.pipeline();
    let kept = |id: u8, byte: u8| if suits(id) { byte } else { 0 };
    let (ids, mut meta) = (pipeline.ids(), pipeline.meta());
    for (meta, id) in meta.iter_mut().zip(ids) {
        *meta = kept(id, *meta);
    }
    params.with_pipeline(Pipeline::from_bytes(ids.map(|id| kept(id, id)), meta))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::array::Array;
    use crate::array::Options;
    use crate::s;
    use crate::schunk::OpenOptions;

    fn params(pipeline: &str) -> Params {
        Params::new(0).with_pipeline(pipeline.parse().unwrap())
    }

    fn create(params: Params, dtype: &str) -> Result<Array> {
        Options::new().with_params(params).create_in_memory(Dtype::parse(dtype).unwrap(), [16, 16])
    }

    #[test]
    fn lossy_filters_take_only_the_dtypes_they_are_made_for() {
        let all = [
            "|b1",
            "|i1",
            "<i2",
            "<i4",
            ">i4",
            "<u8",
            "<f2",
            "<f4",
            ">f4",
            "<f8",
            ">f8",
            "<c8",
            "<c16",
            "|S4",
            "<U2",
            "<M8[ns]",
            ">m8[s]",
            "|V8",
            "[('a', '<f4')]",
        ];
        for (pipeline, fit) in [
            ("trunc_prec:10", &["<f4", "<f8"][..]),
            ("ndmean:4,shuffle", &["<f4", "<f8"]),
            ("shuffle,int_trunc:3", &["|i1", "<i2", "<i4", "<u8", "<M8[ns]"]),
            ("delta,shuffle,bytedelta,ndcell:4", &all),
        ] {
            for dtype in all {
                match create(params(pipeline), dtype) {
                    Ok(_) => assert!(fit.contains(&dtype), "{pipeline} of {dtype}"),
                    Err(Error::Compression(text)) => {
                        assert!(!fit.contains(&dtype), "{pipeline} of {dtype}: {text}");
                        let filter = pipeline.split([':', ',']).find(|name| text.contains(name));
                        let named = text.contains(&Dtype::parse(dtype).unwrap().to_string());
                        assert!(filter.is_some() && named && text.contains("leave it out"), "{text}");
                    }
                    Err(error) => panic!("{pipeline} of {dtype}: {error}"),
                }
            }
        }
        for codec in [Codec::ZfpAccuracy, Codec::ZfpPrecision, Codec::ZfpRate] {
            let zfp = params("none").with_codec(codec).with_codec_meta(30);
            for dtype in all.iter().filter(|dtype| !["<f4", "<f8"].contains(dtype)) {
                let text = create(zfp.clone(), dtype).unwrap_err().to_string();
                assert!(text.contains(&*codec.name()) && text.contains("lossy"), "{dtype}: {text}");
            }
        }
    }

    #[test]
    fn an_array_of_another_dtype_is_checked_too() {
        let mut a = create(params("shuffle"), "<f8").unwrap();
        a.fill(s![], 0.0358).unwrap();
        let cut = || Options::new().with_params(params("trunc_prec:10"));
        let to = |text| Dtype::parse(text).unwrap();
        assert!(cut().astype_in_memory(&a, &to("<f4")).is_ok());
        assert!(cut().astype_in_memory(&a, &to("<i8")).is_err());
        assert!(cut().astype_in_memory(&a, &to(">f8")).is_err());
        assert!(Options::new().with_params(params("int_trunc:3")).copy_in_memory(&a).is_err());
        assert!(Options::new().with_params(params("int_trunc:3")).reshape_in_memory(&a, [256]).is_err());
    }

    #[test]
    fn lossy_filters_come_along_only_where_they_suit() {
        let mut a = create(params("trunc_prec:10,shuffle"), "<f4").unwrap();
        a.fill(s![], 1_000_003f32).unwrap();
        let filters = |a: &Array| a.schunk().params().pipeline().to_string();
        let to = |text| Options::new().astype_in_memory(&a, &Dtype::parse(text).unwrap()).unwrap();
        assert_eq!(filters(&to("<f8")), "trunc_prec:10,shuffle");
        assert_eq!(filters(&to("<i4")), "shuffle");
        assert_eq!(to("<i4").read_items::<i32>(s![0, 0]).unwrap(), [999_936]);
        assert_eq!(filters(&Options::new().copy_in_memory(&a).unwrap()), "trunc_prec:10,shuffle");
    }

    /// A file by another writer that says `trunc_prec` of integers.
    #[test]
    fn a_misused_filter_in_a_file_is_read_and_not_passed_on() {
        let mut a = create(params("trunc_prec:10,shuffle"), "<f4").unwrap();
        a.fill(s![], f32::from_bits(1_007_616)).unwrap();
        let mut bytes = a.to_bytes().unwrap();
        let at = bytes.windows(3).position(|text| text == b"<f4").unwrap();
        bytes[at..at + 3].copy_from_slice(b"<i4");
        let options = OpenOptions::new().with_write(true);
        let mut foreign = Array::from_bytes(bytes, &options).unwrap();
        assert_eq!(foreign.read_items::<i32>(s![3, 3]).unwrap(), [1_007_616]);
        for copy in
            [Options::new().copy_in_memory(&foreign), Options::new().slice_in_memory(&foreign, s![..;2])]
        {
            let mut copy = copy.unwrap();
            assert_eq!(copy.read_items::<i32>(s![3, 3]).unwrap(), [1_007_616]);
            copy.fill(s![1], 1_000_001i32).unwrap();
            assert_eq!(copy.read_items::<i32>(s![1, 1]).unwrap(), [1_000_001]);
        }
        // The file's own chunks stay of one kind.
        foreign.fill(s![1], 1_007_617i32).unwrap();
        assert_eq!(foreign.read_items::<i32>(s![1, 1]).unwrap(), [1_007_616]);
    }

    #[test]
    fn zfp_gives_way_to_the_default_codec() {
        let zfp = params("none").with_codec(Codec::ZfpRate).with_codec_meta(30).with_clevel(7);
        assert_eq!(suited(zfp.clone(), &Dtype::parse("<f8").unwrap()), zfp);
        let plain = suited(zfp, &Dtype::parse("<i8").unwrap());
        assert_eq!((plain.codec(), plain.clevel()), (Codec::Zstd, 7));
        assert_eq!((plain.codec_meta(), plain.pipeline().to_string()), (0, "shuffle".to_owned()));
    }
}
