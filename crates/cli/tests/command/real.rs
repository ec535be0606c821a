//! Real arrays, where they are at hand: imported with every codec and exported again, byte for byte the same file.

use crate::support::Folder;
use std::path::{Path, PathBuf};

/// The folder of real arrays: `shared/data` beside the checkout, or below `B2ND_SHARED`.
fn data() -> PathBuf {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    std::env::var_os("B2ND_SHARED").map_or_else(beside, PathBuf::from).join("data")
}

#[test]
fn real_arrays_come_back_identical_with_every_codec() {
    let Ok(entries) = std::fs::read_dir(data()) else {
        eprintln!("skipped: there are no real arrays at {}", data().display());
        return;
    };
    let mut arrays: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    arrays.retain(|path| path.extension().is_some_and(|e| e == "npy"));
    assert!(!arrays.is_empty(), "the folder of real arrays is empty");
    let folder = Folder::new();
    for array in &arrays {
        let array = array.to_str().unwrap();
        let original = std::fs::read(array).unwrap();
        for codec in ["blosclz", "lz4", "lz4hc", "zlib", "zstd"] {
            folder.good(&["import", array, "a.b2nd", "--codec", codec, "--force"]);
            folder.good(&["export", "a.b2nd", "back.npy", "--force"]);
            assert!(folder.read("back.npy") == original, "{array} with {codec}");
            assert!(folder.good(&["verify", "a.b2nd"]).contains("OK"), "{array} with {codec}");
        }
    }
}
