//! Chunks by other writers, from Blosc 1.3 on, against the digests of what they hold.
//!
//! They live outside the repository, in the folder `B2ND_SHARED` or `shared` beside the workspace; without it there is
//! nothing to check.

use b2nd::chunk::{decode, decode_range};
use b2nd::{Exec, Limits};
use sha2::{Digest, Sha256};
use std::path::PathBuf;

fn shared() -> Option<PathBuf> {
    let beside = || {
        let crate_dir = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
        crate_dir.ancestors().skip(3).map(|above| above.join("shared")).find(|p| p.join("corpus").is_dir())
    };
    std::env::var_os("B2ND_SHARED").map(PathBuf::from).or_else(beside)
}

#[test]
fn chunks_of_all_ages_decode_to_their_digests() {
    let Some(shared) = shared() else { return };
    let manifest = std::fs::read_to_string(shared.join("corpus/MANIFEST.tsv")).unwrap();
    let mut seen = 0;
    for line in manifest.lines() {
        let [path, "chunk", nbytes, _, digest] = line.split('\t').collect::<Vec<_>>()[..] else { continue };
        let chunk = std::fs::read(shared.join(path)).unwrap();
        for threads in [1, 2] {
            let exec = Exec::new(threads);
            let bytes = decode(&chunk, &Limits::default(), &exec).unwrap_or_else(|e| panic!("{path}: {e}"));
            assert_eq!(bytes.len().to_string(), nbytes, "{path}");
            let found: String = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!(found, digest, "{path}");
            let (start, len) = (bytes.len() / 3, bytes.len() / 2);
            let mut part = vec![0; len];
            decode_range(&chunk, start, &mut part, &Limits::default(), &exec).unwrap();
            assert!(part == bytes[start..start + len], "{path}");
        }
        seen += 1;
    }
    assert!(seen > 20, "{seen} chunks in the manifest");
}
