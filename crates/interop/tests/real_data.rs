//! The real arrays survive every codec, and python-blosc2 reads the same items.

use b2nd_interop::{Outcome, python, real_data};

#[test]
fn real_arrays_are_identical_after_every_codec() -> Outcome {
    let (Some(root), Some(python)) = (real_data::shared(), python::find()?) else { return Ok(()) };
    let lines = real_data::lines(&root, &python)?;
    assert_eq!(lines.len(), 25, "five arrays with five codecs");
    println!("{}", real_data::page(&lines, &python));
    Ok(())
}
