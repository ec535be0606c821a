//! Each kind of error of the caller, provoked through the public API and matched by its fields.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, in its helper functions too")]

use crate::scratch::Scratch;
use b2nd::array::{FillJob, FillReceipt};
use b2nd::schunk::CreateOptions;
use b2nd::{
    Array, Codec, Dtype, Error, Fault, Layout, OpenOptions, Options, Params, Pipeline, SChunk, Selection,
    Slabs, s,
};

/// Four rows of five `<i4`.
fn array() -> Array {
    Options::new().with_chunks([2, 5]).create_in_memory(Dtype::parse("<i4").unwrap(), [4, 5]).unwrap()
}

/// Ten items of two bytes in chunks of four items.
fn frame() -> SChunk {
    let mut schunk = CreateOptions::new(Params::new(2)).with_chunksize(8).create_in_memory().unwrap();
    schunk.extend(&[7; 20]).unwrap();
    schunk
}

fn refused<T>(result: Result<T, Error>) -> Error {
    let error = result.map(drop).unwrap_err();
    assert_eq!(error.fault(), Fault::Caller, "{error}");
    assert!(error.to_string().len() > 10, "{error:?}");
    error
}

#[test]
fn what_exists_is_named_wherever_something_new_was_to_be_made() {
    let dir = Scratch::new("exists");
    for layout in [Layout::Contiguous, Layout::Sparse] {
        let path = dir.0.join(format!("{layout:?}.b2nd"));
        let options = || Options::new().with_layout(layout).with_chunks([2]);
        let dtype = || Dtype::parse("<i4").unwrap();
        drop(options().create(&path, dtype(), [4]).unwrap());
        let source = array();
        for result in [
            options().create(&path, dtype(), [4]).map(drop),
            options().create_uncommitted(&path, dtype(), [4]).map(drop),
            options().begin_fill(&path, dtype(), [4]).map(drop),
            options().stream(&path, dtype(), &Slabs::along(0, [4])).map(drop),
            Options::new().with_layout(layout).copy(&path, &source).map(drop),
            source.save(&path, &b2nd::SaveOptions::new()).map(drop),
            CreateOptions::new(Params::new(1)).with_layout(layout).create(&path).map(drop),
            b2nd::repair(&path, path.with_extension("new"), &b2nd::RepairOptions::new())
                .and_then(|_| b2nd::repair(&path, path.with_extension("new"), &b2nd::RepairOptions::new()))
                .map(drop),
        ] {
            let error = refused(result);
            assert!(error.is_already_exists() && !error.is_not_found(), "{error}");
            let Error::AlreadyExists { path: found, .. } = &error else { panic!("{error:?}") };
            assert_eq!(found.with_extension("b2nd"), path);
            assert!(error.to_string().starts_with(&format!("{}: it exists already", found.display())));
        }
        assert!(Array::open(&path).is_ok(), "it is as it was");
    }
}

#[test]
fn what_is_not_there_is_named() {
    let dir = Scratch::new("missing");
    let structure = Options::new().create_in_memory(Dtype::parse("[('a', '<i4')]").unwrap(), [2]).unwrap();
    let error = refused(structure.field("b"));
    assert!(matches!(&error, Error::NotFound { what: "field", name, path: None, .. } if name == "b"));
    assert!(error.is_not_found() && error.to_string().contains("[('a', '<i4')]"), "{error}");

    let error = refused(frame().set_metalayer("colour", b"red"));
    assert!(matches!(&error, Error::NotFound { what: "metalayer", name, .. } if name == "colour"), "{error}");

    let path = dir.path();
    array().save(&path, &b2nd::SaveOptions::new()).unwrap();
    let error = refused(Array::open_with(&path, &OpenOptions::new().with_frame(3)));
    assert!(error.is_not_found() && error.to_string().contains("the file has 1"), "{error}");
    let Error::NotFound { what: "frame", name, .. } = error else { panic!("{error:?}") };
    assert_eq!(name, "3");

    let error = refused(FillJob::join(&path));
    assert!(matches!(&error, Error::NotFound { what: "job", path: Some(found), .. } if *found == path));

    let error = Array::open(dir.0.join("none.b2nd")).unwrap_err();
    assert!(matches!(error, Error::Io { .. }) && error.is_not_found() && !error.is_already_exists());
    assert!(!refused(array().read_bytes(s![9])).is_not_found());
}

#[test]
fn readers_are_told_that_they_read() {
    let dir = Scratch::new("read-only");
    for layout in [Layout::Contiguous, Layout::Sparse] {
        let path = dir.0.join(format!("{layout:?}.b2nd"));
        array().save(&path, &b2nd::SaveOptions::new().with_layout(layout)).unwrap();
        let mut reader = Array::open(&path).unwrap();
        for result in [
            reader.write_bytes(s![], &[0; 80]),
            reader.resize([5, 5]),
            reader.set_vlmetalayer("a", b"b"),
            reader.attrs_mut().set("a", 1),
        ] {
            let error = refused(result);
            let Error::ReadOnly { path: Some(found), .. } = &error else { panic!("{error:?}") };
            assert_eq!(*found, path);
            assert!(error.to_string().contains("open it for writing"), "{error}");
        }
    }
    let mut memory = Array::from_bytes(array().to_bytes().unwrap(), &OpenOptions::new()).unwrap();
    assert!(matches!(memory.write_bytes(s![], &[0; 80]), Err(Error::ReadOnly { path: None, .. })));
}

#[test]
fn indices_outside_say_which_axis_and_how_many_there_are() {
    let (mut array, mut frame) = (array(), frame());
    for (selection, axis, index, len) in [
        (s![4], 0, 4, 4),
        (s![-5], 0, -5, 4),
        (s![.., 5], 1, 5, 5),
        (s![.., [0, -6]], 1, -6, 5),
        (Selection::points([0, 0, 1, 7]), 1, 7, 5),
        (Selection::coordinates([vec![4], vec![0]]), 0, 4, 4),
    ] {
        let error = refused(array.read_bytes(selection));
        let Error::OutOfBounds { axis: Some(a), index: i, len: n, .. } = error else { panic!("{error:?}") };
        assert_eq!((a, i, n), (axis, index, len));
    }
    let outside = |error: Error, index, len| {
        let Error::OutOfBounds { axis: None, index: i, len: n, .. } = error else { panic!("{error:?}") };
        assert_eq!((i, n), (index, len));
    };
    outside(refused(array.read_bytes(Selection::flat([3, 20]))), 20, 20);
    outside(refused(array.sum(2)), 2, 2);
    outside(refused(array.transpose().squeeze_axes(&[-3])), -3, 2);
    outside(refused(array.append_bytes(2, &[0; 4])), 2, 2);
    outside(refused(frame.decompress_chunk(3)), 3, 3);
    outside(refused(frame.insert(4, &[0; 8])), 4, 3);
    outside(refused(frame.delete(u64::MAX)), i64::MAX, 3);
    outside(refused(frame.read_items(8..11)), 11, 10);
    let error = refused(array.insert_bytes(1, 6, &[0; 16]));
    assert!(matches!(error, Error::OutOfBounds { axis: Some(1), index: 6, len: 5, .. }), "{error}");
    let far = OpenOptions::new().with_offset(1 << 20);
    assert!(matches!(
        Array::from_bytes(array.to_bytes().unwrap(), &far),
        Err(Error::OutOfBounds { index: 0x10_0000, .. })
    ));
}

#[test]
fn shapes_that_do_not_fit_are_both_in_the_error() {
    let array = array();
    let mismatch = |error: Error, expected: &[u64], found: &[u64]| {
        let Error::ShapeMismatch { expected: e, found: f, message, .. } = error else { panic!("{error:?}") };
        assert_eq!((&e[..], &f[..]), (expected, found));
        assert!(message.contains(&format!("{found:?}")), "{message}");
    };
    mismatch(refused(array.read_bytes(Selection::mask([5, 4], [true; 20]))), &[4, 5], &[5, 4]);
    mismatch(refused(Options::new().reshape_in_memory(&array, [3, 5])), &[4, 5], &[3, 5]);
    let other = Options::new().create_in_memory(Dtype::parse("<i4").unwrap(), [4, 6]).unwrap();
    mismatch(refused(Options::new().concatenate_in_memory(&[&array, &other], 0)), &[4, 5], &[4, 6]);
    mismatch(refused(Options::new().stack_in_memory(&[&array, &other], 0)), &[4, 5], &[4, 6]);
    #[cfg(feature = "ndarray")]
    {
        let mut array = array;
        mismatch(refused(array.write(s![], &ndarray::Array2::<i32>::zeros((5, 4)))), &[4, 5], &[5, 4]);
        mismatch(refused(array.append(0, &ndarray::Array2::<i32>::zeros((1, 4)))), &[4, 5], &[1, 4]);
    }
}

#[test]
fn numbers_of_axes_that_do_not_fit_are_both_in_the_error() {
    let mut array = array();
    let counts = |error: Error, expected, found| {
        let Error::NdimMismatch { expected: e, found: f, .. } = error else { panic!("{error:?}") };
        assert_eq!((e, f), (expected, found));
    };
    counts(refused(array.read_bytes(s![0, 0, 0])), 2, 3);
    counts(refused(array.read_bytes(Selection::coordinates([vec![0]]))), 2, 1);
    counts(refused(array.resize([4])), 2, 1);
    counts(refused(array.transpose().permute(&[0])), 2, 1);
    let dtype = Dtype::parse("<i4").unwrap();
    counts(refused(Options::new().with_chunks([2]).create_in_memory(dtype, [4, 5])), 2, 1);
    #[cfg(feature = "ndarray")]
    counts(refused(array.read_as::<i32, ndarray::Ix1>(s![])), 2, 1);
}

#[test]
fn dtypes_that_do_not_fit_are_both_in_the_error() {
    let mut array = array();
    let dtypes = |error: Error, expected: &str, found: &str| {
        let Error::DtypeMismatch { expected: e, found: f, .. } = error else { panic!("{error:?}") };
        assert_eq!((&*e, &*f), (expected, found));
    };
    dtypes(refused(array.read_items::<f64>(s![])), "<i4", "<f8");
    dtypes(refused(array.write_items(s![], &[1u32; 20])), "<i4", "<u4");
    dtypes(refused(array.sum(()).unwrap().item::<i32>()), "<i8", "<i4");
    let other = Options::new().create_in_memory(Dtype::parse("<f4").unwrap(), [4, 5]).unwrap();
    dtypes(refused(Options::new().concatenate_in_memory(&[&array, &other], 0)), "<i4", "<f4");
    dtypes(refused(Options::new().astype_in_memory(&array, &Dtype::parse("|S3").unwrap())), "|S3", "<i4");
}

#[test]
fn lengths_that_do_not_fit_are_both_in_the_error() {
    let (mut array, mut frame) = (array(), frame());
    let lengths = |error: Error, expected, found| {
        let Error::LengthMismatch { expected: e, found: f, .. } = error else { panic!("{error:?}") };
        assert_eq!((e, f), (expected, found));
    };
    lengths(refused(array.write_bytes(s![0], &[0; 3])), 20, 3);
    lengths(refused(array.fill_bytes(s![], &[0; 8])), 4, 8);
    lengths(refused(array.read_bytes_into(s![0, 0], &mut [0; 5])), 4, 5);
    lengths(refused(array.read_bytes(s![vec![true, false]])), 4, 2);
    lengths(refused(array.set_dtype(Dtype::parse("<f8").unwrap())), 4, 8);
    lengths(refused(array.transpose().squeeze_axes(&[0])), 1, 5);
    lengths(refused(array.set_vlmetalayer(&"n".repeat(32), b"")), 31, 32);
    lengths(refused(frame.reorder(&[0, 1])), 3, 2);
    let name = CreateOptions::new(Params::new(1)).with_metalayer("size", *b"four");
    lengths(refused(name.create_in_memory().unwrap().set_metalayer("size", b"five!")), 4, 5);
}

#[test]
fn parts_of_items_say_what_a_whole_one_has() {
    let (mut array, mut frame) = (array(), frame());
    let whole = |error: Error, size, found| {
        let Error::NotWhole { size: s, found: f, .. } = error else { panic!("{error:?}") };
        assert_eq!((s, f), (size, found));
    };
    whole(refused(frame.append(&[0; 3])), 2, 3);
    whole(refused(frame.read_items_into(0, &mut [0; 5])), 2, 5);
    whole(refused(array.append_bytes(0, &[0; 21])), 20, 21);
    whole(refused(array.read_bytes(Selection::points([0, 1, 2]))), 2, 3);
}

#[test]
fn what_is_too_large_says_how_much_is_possible() {
    let dtype = || Dtype::parse("<i4").unwrap();
    let error = refused(Options::new().create_in_memory(dtype(), [1; 17]));
    assert!(matches!(error, Error::TooLarge { most: 16, found: Some(17), .. }), "{error}");
    let error = refused(Options::new().create_in_memory(dtype(), [1u64 << 40, 1 << 40]));
    assert!(matches!(error, Error::TooLarge { found: None, .. }), "{error}");
    let error = refused(Options::new().with_chunks([1u64 << 30]).create_in_memory(dtype(), [1u64 << 31]));
    assert!(matches!(error, Error::TooLarge { .. }), "{error}");
    let error = refused(array().transpose().expand_dims(&(0..15).collect::<Vec<_>>()));
    assert!(matches!(error, Error::TooLarge { most: 16, found: Some(17), .. }), "{error}");
}

#[test]
fn texts_that_are_not_understood_are_in_the_error() {
    let syntax = |error: Error, text: &str| {
        let Error::Syntax { text: found, .. } = &error else { panic!("{error:?}") };
        assert_eq!(found, text);
        assert!(error.to_string().contains(text), "{error}");
    };
    syntax(refused(Dtype::parse("<q9")), "<q9");
    syntax(refused(Selection::parse("1:2, a:3")), "a:3");
    syntax(refused(Selection::parse("[1, x], 2")), "[1, x]");
    syntax(refused("shufle".parse::<Pipeline>()), "shufle");
    syntax(refused("shuffle:999".parse::<Pipeline>()), "999");
    syntax(refused("no receipt".parse::<FillReceipt>()), "no receipt");
    assert!(matches!(Dtype::parse("[('a', 'i4', 1e3)]"), Err(Error::Syntax { .. })));
}

#[test]
fn codecs_and_filters_that_cannot_be_are_told_from_other_errors() {
    let create = |options: Options| options.create_in_memory(Dtype::parse("<i4").unwrap(), [9]);
    for options in [
        Options::new().with_filters("trunc_prec:10".parse().unwrap()),
        Options::new().with_codec(Codec::Other(200)),
        Options::new().with_clevel(11),
    ] {
        let error = refused(create(options));
        assert!(matches!(error, Error::Compression(_)), "{error:?}");
    }
}

#[test]
fn states_in_which_nothing_can_be_done_are_told_from_other_errors() {
    let mut array = array();
    let mut transaction = array.transaction();
    assert!(transaction.write_bytes(s![], &[0; 3]).is_err());
    assert!(matches!(refused(transaction.write_bytes(s![], &[0; 80])), Error::State(_)));
    assert!(matches!(refused(transaction.commit()), Error::State(_)));
    let writer = Options::new().create_uncommitted_in_memory(Dtype::raw(1), [2]).unwrap();
    assert!(matches!(refused(writer.rollback()), Error::State(_)));
}
