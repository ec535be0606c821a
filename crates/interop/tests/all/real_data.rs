//! The real arrays survive every codec, and python-blosc2 reads the same items.

use b2nd_interop::{Outcome, python, real_data};

#[test]
fn real_arrays_are_identical_after_every_codec() -> Outcome {
    let (Some(root), Some(python)) = (real_data::shared(), python::find()?) else { return Ok(()) };
    let lines = real_data::lines(&root, &python)?;
    assert_eq!(lines.len(), 25, "five arrays with five codecs");
    let page = real_data::page(&lines, &python);
    println!("{page}");
    let kept = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/REAL-DATA.md"))?;
    // Up to our size: that of another version of python-blosc2 may differ.
    for row in page.lines().filter(|row| row.contains("_")).filter(|row| row.starts_with("| ")) {
        let ours: Vec<&str> = row.rsplitn(3, " | ").collect();
        assert!(kept.contains(ours[2]), "docs/REAL-DATA.md is out of date: run b2nd-interop again for {row}");
    }
    Ok(())
}
