//! Frames of old releases, where the shared corpus is there: all open, and plain ones decode to their digests.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail")]

use b2nd::{OpenOptions, SChunk, chunk};
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};

fn shared() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let root = std::env::var_os("B2ND_SHARED").map_or(beside, PathBuf::from);
    root.join("corpus/MANIFEST.tsv").is_file().then_some(root)
}

#[test]
fn frames_of_old_releases_are_read() {
    let Some(root) = shared() else { return };
    let manifest = std::fs::read_to_string(root.join("corpus/MANIFEST.tsv")).unwrap();
    let mut plain = 0;
    let mut opened = 0;
    for line in manifest.lines().filter(|line| !line.starts_with('#')) {
        let fields: Vec<&str> = line.split('\t').collect();
        if fields[1] == "chunk" {
            continue;
        }
        let schunk =
            SChunk::open(root.join(fields[0]), &OpenOptions::new()).unwrap_or_else(|e| panic!("{e}"));
        opened += 1;
        let decode = |n| {
            let chunk = schunk.chunk(n).unwrap_or_else(|e| panic!("{}: {e}", fields[0]));
            chunk::decode(&chunk, schunk.context(), schunk.exec())
        };
        let decoded: b2nd::Result<Vec<Vec<u8>>> = (0..schunk.nchunks()).map(decode).collect();
        match decoded {
            Ok(chunks) if fields[1] == "frame" => {
                let digest: String =
                    Sha256::digest(chunks.concat()).iter().map(|b| format!("{b:02x}")).collect();
                assert_eq!(digest, fields[4], "{}", fields[0]);
                plain += 1;
            }
            // Chunks that this build cannot decode are still found, and copied below.
            Ok(_) | Err(b2nd::Error::Unsupported { .. }) => {}
            Err(error) => panic!("{}: {error}", fields[0]),
        }
        if fields[1] != "frame" {
            assert!(
                schunk.metalayers().any(|(name, _)| name == "b2nd" || name == "caterva"),
                "{}",
                fields[0]
            );
        }
        let bytes = schunk.to_bytes().unwrap();
        let copy = SChunk::from_bytes(bytes, &OpenOptions::new()).unwrap();
        assert_eq!((copy.nchunks(), copy.nbytes()), (schunk.nchunks(), schunk.nbytes()), "{}", fields[0]);
        assert!(copy.version() >= 2, "{}", fields[0]);
        // A new frame would read the metalayer of an array without blocks as another array.
        let rewritten = fields[0].contains("partshape");
        assert_eq!(copy.metalayers().eq(schunk.metalayers()), !rewritten, "{}", fields[0]);
    }
    assert!(plain >= 2 && opened >= 15, "{plain} {opened}");
}
