//! Files of several frames that C-Blosc2 appended: each is found, opened by its offset and by its number, and read.
//!
//! The manifest is described in `scripts/fixtures_several.py`.

use b2nd::schunk::{frames, frames_in};
use b2nd::{Array, Exec, OpenOptions, SChunk, Selection, chunk};
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};

type Outcome<T = ()> = Result<T, Box<dyn std::error::Error>>;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/several")
}

fn hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn check(schunk: SChunk, shape: &str, sha256: &str, note: &str) -> Outcome {
    assert_eq!(schunk.vlmetalayer("note")?, Some(vec![note.parse()?]));
    if shape == "-" {
        let chunks = (0..schunk.nchunks()).map(|n| {
            let chunk = schunk.chunk(n)?;
            chunk::decode(&chunk, schunk.limits(), &Exec::new(1))
        });
        assert_eq!(hex(&chunks.collect::<b2nd::Result<Vec<_>>>()?.concat()), sha256);
        assert!(Array::from_schunk(schunk).is_err());
        return Ok(());
    }
    let array = Array::from_schunk(schunk)?;
    let found: Vec<String> = array.shape().iter().map(u64::to_string).collect();
    assert_eq!(found.join("x"), shape);
    assert_eq!(hex(&array.read_bytes(Selection::all())?), sha256);
    Ok(())
}

#[test]
fn frames_appended_by_the_reference_are_found_and_read() -> Outcome {
    let manifest = std::fs::read_to_string(folder().join("MANIFEST.tsv"))?;
    let mut seen = 0;
    for file in ["several.b2nd", "behind.bin"] {
        let path = folder().join(file);
        let bytes = std::fs::read(&path)?;
        let lines: Vec<Vec<&str>> = manifest.lines().map(|line| line.split('\t').collect()).collect();
        let lines: Vec<_> = lines.iter().filter(|fields| fields[0] == file).collect();
        let listed = frames(&path, &OpenOptions::new())?;
        assert_eq!(listed, frames_in(&bytes, &OpenOptions::new())?);
        assert_eq!(listed.len(), lines.len());
        let ends: u64 = listed.iter().map(b2nd::schunk::FrameInfo::frame_len).sum();
        assert_eq!(listed[0].offset() + ends, bytes.len() as u64, "{file}: nothing is between them");
        for ((number, info), fields) in (0..).zip(&listed).zip(&lines) {
            let &[_, offset, shape, sha256, note] = &fields[..] else { return Err("five fields".into()) };
            assert_eq!(info.offset(), offset.parse::<u64>()?);
            assert_eq!(info.is_array(), shape != "-");
            let places =
                [OpenOptions::new().with_offset(info.offset()), OpenOptions::new().with_frame(number)];
            for options in places {
                check(SChunk::open(&path, &options)?, shape, sha256, note)?;
                check(SChunk::from_bytes(bytes.clone(), &options)?, shape, sha256, note)?;
                check(SChunk::from_shared(bytes.clone(), &options)?, shape, sha256, note)?;
                if cfg!(feature = "mmap") {
                    check(SChunk::open(&path, &options.with_mmap(true))?, shape, sha256, note)?;
                }
            }
            seen += 1;
        }
    }
    assert_eq!(seen, 8);
    Ok(())
}
