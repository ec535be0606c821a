//! Frames that python-blosc2 made are read to the byte, and copied without loss.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail")]

use b2nd::{Layout, OpenOptions, SChunk, chunk};
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/frame")
}

fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn contents(schunk: &SChunk) -> Vec<u8> {
    let decode = |n| chunk::decode(&schunk.chunk(n).unwrap(), schunk.context(), schunk.exec()).unwrap();
    (0..schunk.nchunks()).flat_map(decode).collect()
}

/// What a line of the manifest says about a frame.
struct Expected {
    name: String,
    nchunks: u64,
    digest: String,
    meta: Vec<String>,
    vlmeta: Vec<(String, String)>,
}

fn manifest() -> Vec<Expected> {
    let text = std::fs::read_to_string(fixtures().join("MANIFEST.tsv")).unwrap();
    let list = |field: &str| -> Vec<String> {
        field.split(',').filter(|part| *part != "-").map(str::to_owned).collect()
    };
    let line = |line: &str| {
        let fields: Vec<&str> = line.split('\t').collect();
        let vlmeta = list(fields[4])
            .iter()
            .map(|part| part.split_once('=').unwrap())
            .map(|(n, d)| (n.into(), d.into()))
            .collect();
        let (name, digest) = (fields[0].to_owned(), fields[2].to_owned());
        Expected { name, nchunks: fields[1].parse().unwrap(), digest, meta: list(fields[3]), vlmeta }
    };
    text.lines().map(line).collect()
}

fn check(schunk: &SChunk, expected: &Expected) {
    let name = &expected.name;
    assert_eq!(schunk.nchunks(), expected.nchunks, "{name}");
    let data = contents(schunk);
    assert_eq!(data.len() as u64, schunk.nbytes(), "{name}");
    assert_eq!(digest(&data), expected.digest, "{name}");
    let meta: Vec<&str> = schunk.metalayers().map(|(name, _)| name).collect();
    if !name.ends_with("b2nd") {
        assert_eq!(meta, expected.meta, "{name}");
    }
    let vlmeta: Vec<(String, String)> = schunk
        .vlmetalayer_names()
        .unwrap()
        .map(|name| (name.to_owned(), digest(&schunk.vlmetalayer(name).unwrap().unwrap())))
        .collect();
    assert_eq!(vlmeta, expected.vlmeta, "{name}");
}

#[test]
fn frames_of_the_reference_are_read() {
    let all = manifest();
    assert!(all.len() >= 16);
    for expected in &all {
        let path = fixtures().join(&expected.name);
        let schunk = SChunk::open(&path, &OpenOptions::new()).unwrap();
        let sparse = path.is_dir();
        assert_eq!(schunk.layout(), if sparse { Layout::Sparse } else { Layout::Contiguous });
        check(&schunk, expected);
        if !sparse {
            check(&SChunk::from_bytes(std::fs::read(&path).unwrap(), &OpenOptions::new()).unwrap(), expected);
        }
    }
}

#[test]
fn copies_keep_chunks_and_metalayers_and_lose_gaps() {
    for expected in &manifest() {
        let schunk = SChunk::open(fixtures().join(&expected.name), &OpenOptions::new()).unwrap();
        let bytes = schunk.to_bytes().unwrap();
        let copy = SChunk::from_bytes(bytes.clone(), &OpenOptions::new()).unwrap();
        check(&copy, expected);
        assert_eq!(copy.to_bytes().unwrap(), bytes, "{}", expected.name);
        assert_eq!(copy.params(), schunk.params());
        assert!(schunk.layout() == Layout::Sparse || copy.cbytes() <= schunk.cbytes());
        for n in 0..schunk.nchunks() {
            assert_eq!(copy.chunk(n).unwrap(), schunk.chunk(n).unwrap(), "{} chunk {n}", expected.name);
        }
    }
}

#[test]
fn a_missing_frame_is_nobodys_fault_but_the_paths() {
    let error =
        SChunk::open(fixtures().join("no.b2frame"), &OpenOptions::new().with_write(true)).unwrap_err();
    assert_eq!(error.fault(), b2nd::Fault::Environment);
}
