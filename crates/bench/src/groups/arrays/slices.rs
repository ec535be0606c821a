//! Boxes of a file that another program made, read by b2nd alone: what `scripts/bench_formats.py` sets other formats beside.

use b2nd::{Array, Exec, OpenOptions, Selection};
use b2nd_interop::Outcome;
use std::ffi::OsString;
use std::path::Path;
use std::time::Instant;

const CHILD: &str = "--child-slices";

/// The work of a child, where the arguments ask for it: `--child-slices FILE BOXES.json THREADS` reads each of the boxes
/// (`[[start, stop], …]`, both lists of numbers), once to warm up and once timed; prints the seconds and the sum of all bytes.
pub(crate) fn child(arguments: impl Iterator<Item = OsString>) -> Option<Outcome> {
    let arguments: Vec<String> = arguments.map(|a| a.to_string_lossy().into_owned()).collect();
    let [mark, file, boxes, threads] = arguments.as_slice() else { return None };
    (mark == CHILD).then(|| {
        let (seconds, sum) = read(file.as_ref(), boxes.as_ref(), threads.parse()?)?;
        println!("{{\"seconds\": {seconds}, \"sum\": {sum}}}");
        Ok(())
    })
}

fn read(file: &Path, boxes: &Path, threads: usize) -> Outcome<(f64, u64)> {
    let boxes: Vec<[Vec<u64>; 2]> = serde_json::from_slice(&std::fs::read(boxes)?)?;
    let options = OpenOptions::new().with_exec(Exec::new(threads));
    let array = Array::open_with(file, &options)?;
    let itemsize = array.dtype().itemsize();
    let nbytes = |[start, stop]: &[Vec<u64>; 2]| {
        start.iter().zip(stop).map(|(a, b)| b.saturating_sub(*a)).product::<u64>() as usize * itemsize
    };
    let mut out = vec![0; boxes.iter().map(nbytes).max().unwrap_or(0)];
    let mut sum = 0u64;
    for part in &boxes {
        let out = &mut out[..nbytes(part)];
        array.read_bytes_into(Selection::from_box(&part[0], &part[1]), out)?;
        sum = out.iter().fold(sum, |sum, byte| sum.wrapping_add(u64::from(*byte)));
    }
    let start = Instant::now();
    for part in &boxes {
        array.read_bytes_into(Selection::from_box(&part[0], &part[1]), &mut out[..nbytes(part)])?;
    }
    Ok((start.elapsed().as_secs_f64(), sum))
}

#[cfg(test)]
mod tests {
    use super::*;
    use b2nd::{Dtype, Options};

    #[test]
    fn boxes_of_a_list_are_read() -> Outcome {
        let folder = tempfile::tempdir()?;
        let (file, boxes) = (folder.path().join("a.b2nd"), folder.path().join("boxes.json"));
        let mut array = Options::new().create(&file, Dtype::parse("<u2")?, [2, 3])?;
        array.write_items(Selection::all(), &[1u16, 2, 3, 4, 5, 256])?;
        std::fs::write(&boxes, "[[[0, 0], [1, 2]], [[1, 1], [2, 3]]]")?;
        let (seconds, sum) = read(&file, &boxes, 1)?;
        assert!(seconds >= 0.0);
        assert_eq!(sum, 1 + 2 + 5 + 1);
        assert!(read(&file, &folder.path().join("none"), 1).is_err());
        Ok(())
    }
}
