//! Arrays by other writers of other times, held against the digests of their manifest.
//!
//! The files are not part of this repository: `B2ND_SHARED`, or `shared` next to the checkout. Skipped where absent.

use b2nd::{Array, Selection};
use b2nd_interop::Outcome;
use b2nd_interop::case::hex;
use b2nd_interop::check::expect;
use b2nd_interop::real_data::shared;
use sha2::{Digest, Sha256};
use std::path::Path;

/// The revision by name: the manifest gives the metalayer's name and the number of elements that its first byte announces.
fn revision(path: &str, kind: &str) -> &'static str {
    match (path, kind) {
        (path, _) if path.contains("partshape") => "caterva-partshape",
        (_, "b2nd-7") => "b2nd-7",
        (_, "b2nd-6") => "b2nd-6",
        (_, "b2nd-5") => "b2nd-5",
        _ => "caterva-5",
    }
}

fn check(root: &Path, line: &str) -> Outcome {
    let fields: Vec<&str> = line.split('\t').collect();
    let &[path, kind, shape, dtype, digest] = fields.as_slice() else {
        return Err("five fields expected".into());
    };
    let array = Array::open(root.join(path))?;
    let shape: Vec<u64> = shape
        .split(|c: char| !c.is_ascii_digit())
        .filter(|s| !s.is_empty())
        .map(str::parse)
        .collect::<Result<_, _>>()?;
    expect("shape", &array.shape(), &shape.as_slice())?;
    expect("revision", &array.revision().name(), &revision(path, kind))?;
    expect("stored dtype", &array.stored_dtype(), &(dtype != "-").then_some(dtype))?;
    let items = array.read_bytes(Selection::all())?;
    expect("digest", &hex(&Sha256::digest(&items)).as_str(), &digest)?;
    expect("damaged places", &array.verify()?.damage.len(), &0)?;
    if let Ok(raw) = std::fs::read(root.join(format!("{path}.raw"))) {
        expect("raw bytes", &(raw == items), &true)?;
    }
    Ok(())
}

#[test]
fn arrays_of_the_corpus() -> Outcome {
    let Some(root) = shared() else { return Ok(()) };
    let manifest = std::fs::read_to_string(root.join("corpus/MANIFEST.tsv"))?;
    let (mut arrays, mut failures) = (0, Vec::new());
    for line in manifest
        .lines()
        .filter(|l| l.starts_with("corpus/caterva/") || l.starts_with("corpus/c-blosc2-history/"))
    {
        arrays += 1;
        if let Err(error) = check(&root, line) {
            failures.push(format!("{line}: {error}"));
        }
    }
    println!("{arrays} arrays, {} failures", failures.len());
    assert!(arrays >= 13, "the manifest has more arrays than {arrays}");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    Ok(())
}
