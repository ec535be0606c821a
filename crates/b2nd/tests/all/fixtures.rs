//! The files under `fixtures/`, by other writers: every one gives its items, its geometry and its revision.
//!
//! The manifests are described in `scripts/fixtures_b2nd.py`.

use b2nd::array::Revision;
use b2nd::schunk::CreateOptions;
use b2nd::{
    Array, Layout, OpenOptions, Options, RepairOptions, SChunk, SaveOptions, Selection, repair, repair_bytes,
};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

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
fn lazy_expressions_are_not_read_as_data() -> Outcome {
    for (name, what) in [
        ("lazyexpr.b2nd", "a lazy expression"),
        ("lazyexpr-sparse.b2nd", "a lazy expression"),
        ("lazyudf.b2nd", "a lazy function"),
        ("lazyarray-old.b2nd", "a lazy expression"),
    ] {
        let path = folder("objects").join(name);
        let error = Array::open(&path).err().ok_or_else(|| format!("{name} opens"))?;
        assert!(matches!(error, b2nd::Error::Unsupported { .. }), "{name}: {error}");
        assert!(error.to_string().contains(&format!("{what} of python-blosc2")), "{name}: {error}");
        let schunk = SChunk::open(&path, &OpenOptions::new())?;
        assert_eq!(schunk.stored_object(), Some(what), "{name}");
        let scratch = Scratch::new("objects")?;
        repair(&path, scratch.0.join(name), &RepairOptions::new())?;
        let saved = SChunk::open(scratch.0.join(name), &OpenOptions::new())?;
        assert_eq!(saved.stored_object(), Some(what), "{name}");
        assert!(saved.metalayers().eq(schunk.metalayers()), "{name}");
    }
    let plain = SChunk::open(folder("b2nd").join("layers.b2nd"), &OpenOptions::new())?;
    assert_eq!(plain.stored_object(), None);
    Ok(())
}

#[test]
fn layers_of_others_are_there() -> Outcome {
    let array = Array::open(folder("b2nd").join("layers.b2nd"))?;
    let user = array.schunk().metalayers().find(|(name, _)| *name == "user");
    assert_eq!(user.map(|(_, content)| content.to_vec()), Some(b"\xc4\x05fixed".to_vec()));
    let names: Vec<&str> = array.schunk().vlmetalayer_names().unwrap().collect();
    assert_eq!(names, ["note", "n"]);
    let note = array.schunk().vlmetalayer("note")?.ok_or("note")?;
    assert_eq!(note, [b"\xd9\x78".to_vec(), b"hello ".repeat(20)].concat());
    assert_eq!(array.schunk().vlmetalayer("n")?, Some(vec![0x91, 1]));
    assert_eq!(array.schunk().vlmetalayer("other")?, None);
    Ok(())
}

/// A directory of its own under the temporary one, removed when it is dropped.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> std::io::Result<Self> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("b2nd-{name}-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&path)?;
        Ok(Scratch(path))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Every way to write the array at `path` into a new frame: what it is called, and the new array.
fn copies(path: &Path, scratch: &Scratch) -> Outcome<Vec<(&'static str, Array)>> {
    let options = OpenOptions::new();
    let place = |name: &str| scratch.0.join(name);
    let array = Array::open(path)?;
    let schunk = SChunk::open(path, &options)?;
    let mut made = vec![
        ("to_bytes", Array::from_bytes(array.to_bytes()?, &options)?),
        ("into_bytes", Array::from_bytes(Array::open(path)?.into_bytes()?, &options)?),
        ("to_bytes of the super-chunk", Array::from_bytes(schunk.to_bytes()?, &options)?),
        ("Options::copy", Options::new().copy_in_memory(&array)?),
        ("SChunk::copy", Array::from_schunk(schunk.copy_in_memory(&CreateOptions::default())?)?),
    ];
    for (name, layout) in [("contiguous", Layout::Contiguous), ("sparse", Layout::Sparse)] {
        array.save(place(name), &SaveOptions::new().with_layout(layout))?;
        made.push(("save", Array::open(place(name))?));
        let path = place(&format!("{name} with a metalayer"));
        let options = CreateOptions::default().with_layout(layout).with_metalayer("more", *b"bytes");
        schunk.copy(&path, &options)?;
        made.push(("SChunk::copy to a path", Array::open(path)?));
    }
    for _ in 0..2 {
        let offset = array.append_to(place("many"))?;
        made.push(("append_to", Array::open_with(place("many"), &OpenOptions::new().with_offset(offset))?));
    }
    repair(path, place("repaired"), &RepairOptions::new())?;
    made.push(("repair", Array::open(place("repaired"))?));
    if path.is_file() {
        let (bytes, _) = repair_bytes(std::fs::read(path)?, &RepairOptions::new())?;
        made.push(("repair_bytes", Array::from_bytes(bytes, &options)?));
    }
    Ok(made)
}

/// Copies the array at `path` in every way, and compares the copies with it; how many there are.
fn check_copies(path: &Path) -> Outcome<usize> {
    let array = Array::open(path)?;
    let wanted = array.read_bytes(Selection::all());
    let names = |array: &Array| -> Vec<String> {
        array.schunk().vlmetalayer_names().into_iter().flatten().map(str::to_owned).collect()
    };
    let scratch = Scratch::new("copies")?;
    let copies = copies(path, &scratch)?;
    for (way, copy) in &copies {
        let what = format!("{}, {way}", path.display());
        assert!(copy.schunk().version() >= 2, "{what}");
        assert_eq!(copy.shape(), array.shape(), "{what}");
        assert_eq!(copy.dtype(), array.dtype(), "{what}");
        assert_eq!(names(copy), names(&array), "{what}");
        match (copy.read_bytes(Selection::all()), &wanted) {
            (Ok(items), Ok(wanted)) => assert!(items == *wanted, "{what}: items differ"),
            // A codec that this build does not have.
            (Err(error), Err(wanted)) => assert_eq!(error.to_string(), wanted.to_string(), "{what}"),
            (items, _) => return Err(format!("{what}: {:?}", items.err()).into()),
        }
        if wanted.is_ok() {
            assert!(copy.verify()?.is_sound(), "{what}");
        }
        // The old metalayer is kept where it says the same in a new frame.
        let kept = array.revision() != Revision::CatervaPartshape && *way != "Options::copy";
        assert_eq!(copy.revision(), if kept { array.revision() } else { Revision::B2nd7 }, "{what}");
        assert_eq!((copy.chunks(), copy.blocks()), (array.chunks(), array.blocks()), "{what}");
    }
    Ok(copies.len())
}

#[test]
fn copies_of_every_revision_open_to_the_same_array() -> Outcome {
    let folder = folder("revisions");
    let manifest = std::fs::read_to_string(folder.join("MANIFEST.tsv"))?;
    for line in manifest.lines() {
        let name = line.split('\t').next().unwrap_or_default();
        assert_eq!(check_copies(&folder.join(name))?, 13, "{name}");
    }
    Ok(())
}

#[test]
fn copies_of_real_old_files_open_to_the_same_array() -> Outcome {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let root = std::env::var_os("B2ND_SHARED").map_or(beside, PathBuf::from);
    let Ok(manifest) = std::fs::read_to_string(root.join("corpus/MANIFEST.tsv")) else { return Ok(()) };
    let kind = |line: &str| line.split('\t').nth(1).unwrap_or_default().to_owned();
    let arrays =
        manifest.lines().filter(|line| kind(line).starts_with("b2nd") || kind(line).starts_with("caterva"));
    for line in arrays {
        check_copies(&root.join(line.split('\t').next().unwrap_or_default()))?;
    }
    Ok(())
}
