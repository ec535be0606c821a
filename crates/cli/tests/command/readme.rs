//! Every figure and every link of the README.

use std::path::{Path, PathBuf};

/// The root of the repository.
pub(crate) fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn the_figures_are_true() {
    let text = std::fs::read_to_string(repository().join("README.md")).unwrap();
    let [times, rows, columns] = b2nd_cli::demo::field::SHAPE;
    let megabytes = (times * rows * columns * 4) as f64 / 1e6;
    assert!(text.contains(&format!("({times} × {rows} × {columns} numbers, {megabytes:.0} MB)")));
    assert!(text.contains(&format!("0 to {} dimensions", b2nd::array::MAX_NDIM)));
    for codec in ["blosclz", "lz4", "lz4hc", "zlib", "zstd"] {
        assert!(text.contains(codec) && b2nd::Codec::from_name(codec).is_some());
    }
    for link in text.split("](").skip(1).map(|rest| rest.split(')').next().unwrap()) {
        let file = repository().join(link);
        assert!(file.exists(), "the README links to {link}, which is not there");
    }
}
