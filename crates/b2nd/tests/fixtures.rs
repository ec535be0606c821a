//! The files under `fixtures/`, by other writers: every one gives its items, its geometry and its revision.
//!
//! The manifests are described in `scripts/fixtures_b2nd.py`.

use b2nd::array::{Array, OpenOptions, Selection};
use std::path::{Path, PathBuf};

type Outcome<T = ()> = Result<T, Box<dyn std::error::Error>>;

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

fn lengths(text: &str) -> Outcome<Vec<u64>> {
    if text == "()" {
        return Ok(vec![]);
    }
    Ok(text.split('x').map(str::parse).collect::<Result<_, _>>()?)
}

/// `nbytes` of items after a pattern of the manifest.
fn items(pattern: &str, nbytes: usize) -> Outcome<Vec<u8>> {
    if let Some(size) = pattern.strip_prefix("ramp:") {
        let size: usize = size.parse()?;
        return Ok((0..nbytes / size).flat_map(|n| n.to_le_bytes().into_iter().take(size)).collect());
    }
    if let Some(hex) = pattern.strip_prefix("repeat:") {
        let item: Vec<u8> = (0..hex.len() / 2)
            .map(|i| u8::from_str_radix(&hex[2 * i..2 * i + 2], 16))
            .collect::<Result<_, _>>()?;
        return Ok(item.repeat(nbytes / item.len()));
    }
    let modulus = if pattern == "bits" { 2 } else { 251 };
    Ok((0..nbytes).map(|n| (n % modulus) as u8).collect())
}

fn check(array: &Array, folder: &Path, fields: &[&str]) -> Outcome {
    let &[name, revision, shape, chunks, blocks, dtype, itemsize, pattern] = fields else {
        return Err("eight fields expected".into());
    };
    let itemsize: usize = itemsize.parse()?;
    assert_eq!(array.shape(), lengths(shape)?);
    assert_eq!(array.chunks(), lengths(chunks)?);
    assert_eq!(array.blocks(), lengths(blocks)?);
    assert_eq!(array.revision().name(), revision);
    assert_eq!(array.stored_dtype(), (dtype != "-").then_some(dtype));
    assert_eq!(array.dtype().itemsize(), itemsize);
    let nbytes = array.shape().iter().product::<u64>() as usize * itemsize;
    let wanted = match pattern {
        "file" => std::fs::read(folder.join(name).with_extension("items"))?,
        pattern => items(pattern, nbytes)?,
    };
    assert!(array.read_bytes(Selection::all())? == wanted, "items differ");
    if !array.shape().is_empty() && nbytes > 0 {
        let last = array.read_bytes(Selection::parse(&vec!["-1"; array.shape().len()].join(", "))?)?;
        assert!(wanted.ends_with(&last) && last.len() == itemsize, "the last item differs");
    }
    assert!(array.verify()?.is_sound());
    Ok(())
}

/// Reads every file of a manifest, contiguous ones also from memory; the number of files.
fn read_all(name: &str) -> Outcome<usize> {
    let folder = folder(name);
    let manifest = std::fs::read_to_string(folder.join("MANIFEST.tsv"))?;
    for line in manifest.lines() {
        println!("{line}");
        let fields: Vec<&str> = line.split('\t').collect();
        let path = folder.join(fields[0]);
        check(&Array::open(&path)?, &folder, &fields)?;
        if path.is_file() {
            check(&Array::from_bytes(std::fs::read(&path)?, &OpenOptions::new())?, &folder, &fields)?;
        }
    }
    Ok(manifest.lines().count())
}

#[test]
fn files_of_caterva_0_7_3() -> Outcome {
    assert_eq!(read_all("caterva")?, 12);
    Ok(())
}

#[test]
fn files_of_python_blosc2() -> Outcome {
    assert_eq!(read_all("b2nd")?, 44);
    Ok(())
}

#[test]
fn files_with_registered_filters_and_codecs() -> Outcome {
    assert_eq!(read_all("registered")?, 9);
    Ok(())
}

#[cfg(feature = "zfp")]
#[test]
fn files_with_zfp() -> Outcome {
    assert_eq!(read_all("zfp")?, 4);
    Ok(())
}

#[cfg(not(feature = "zfp"))]
#[test]
fn files_with_zfp_name_the_feature_that_is_missing() -> Outcome {
    let array = Array::open(folder("zfp").join("accuracy.b2nd"))?;
    let error = array.read_bytes(Selection::all()).err().ok_or("zfp is read")?;
    assert!(
        matches!(error, b2nd::Error::Unsupported { .. }) && error.to_string().contains("feature zfp"),
        "{error}"
    );
    Ok(())
}

#[test]
fn every_revision_and_hybrid() -> Outcome {
    assert_eq!(read_all("revisions")?, 14);
    Ok(())
}

#[test]
fn layers_of_others_are_there() -> Outcome {
    let array = Array::open(folder("b2nd").join("layers.b2nd"))?;
    let user = array.schunk().metalayers().find(|(name, _)| *name == "user");
    assert_eq!(user.map(|(_, content)| content.to_vec()), Some(b"\xc4\x05fixed".to_vec()));
    let names: Vec<&str> = array.schunk().vlmetalayer_names().collect();
    assert_eq!(names, ["note", "n"]);
    let note = array.schunk().vlmetalayer("note")?.ok_or("note")?;
    assert_eq!(note, [b"\xd9\x78".to_vec(), b"hello ".repeat(20)].concat());
    assert_eq!(array.schunk().vlmetalayer("n")?, Some(vec![0x91, 1]));
    assert_eq!(array.schunk().vlmetalayer("other")?, None);
    Ok(())
}
