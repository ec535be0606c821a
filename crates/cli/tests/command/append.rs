//! `append`: what grows, by what, and what is refused.

use crate::support::{Folder, fortran, items, npy, pick};
use std::io::Write;
use std::process::Stdio;

const SHAPE: [usize; 3] = [10, 7, 6];

/// The items of `SHAPE` from `start` to `stop` along an axis, with the shape that they have.
fn part(axis: usize, start: usize, stop: usize) -> ([usize; 3], Vec<u8>) {
    let mut shape = SHAPE;
    shape[axis] = stop - start;
    let indices: Vec<Vec<usize>> = SHAPE
        .iter()
        .enumerate()
        .map(|(d, &len)| if d == axis { (start..stop).collect() } else { (0..len).collect() })
        .collect();
    (shape, pick(&SHAPE, &items(&SHAPE), &indices))
}

fn whole(folder: &Folder) {
    folder.good(&["export", "a.b2nd", "out.npy", "--force"]);
    assert!(folder.read("out.npy") == npy("<u4", &SHAPE, false, &items(&SHAPE)));
    folder.good(&["verify", "a.b2nd"]);
}

#[test]
fn an_array_grows_along_any_axis_with_any_memory() {
    let folder = Folder::new();
    for (axis, &length) in SHAPE.iter().enumerate() {
        let ((first, old), (second, new)) = (part(axis, 0, 3), part(axis, 3, length));
        folder.write("old.npy", &npy("<u4", &first, false, &old));
        folder.write("c.npy", &npy("<u4", &second, false, &new));
        folder.write("f.npy", &npy("<u4", &second, true, &fortran(&second, &new)));
        folder.write("raw", &new);
        folder.good(&["import", "c.npy", "other.b2nd", "--force", "--chunks", "3,2,4"]);
        let (plus, minus) = (axis.to_string(), (axis as i32 - 3).to_string());
        let shape = second.map(|n| n.to_string()).join(",");
        for layout in [&[][..], &["--sparse"]] {
            for memory in ["1", "200", "1M"] {
                for (input, axis) in
                    [("c.npy", &plus), ("f.npy", &minus), ("raw", &plus), ("other.b2nd", &minus)]
                {
                    let make =
                        ["import", "old.npy", "a.b2nd", "--force", "--chunks", "2,4,4", "--blocks", "1,3,2"];
                    folder.good(&[&make[..], layout].concat());
                    let raw = ["--dtype", "<u4", "--shape", &shape];
                    let raw = if input == "raw" { &raw[..] } else { &[] };
                    let append = ["append", "a.b2nd", input, "--axis", axis, "--memory", memory];
                    let out = folder.good(&[&append[..], raw].concat());
                    assert!(out.contains("appended") && out.contains("now (10, 7, 6) <u4"), "{out}");
                    whole(&folder);
                }
                folder.good(
                    &[&["import", "old.npy", "a.b2nd", "--force", "--chunks", "2,4,4"], layout].concat(),
                );
                let stream = npy(
                    "<u4",
                    &second,
                    axis == 1,
                    &if axis == 1 { fortran(&second, &new) } else { new.clone() },
                );
                let (code, _, err) =
                    folder.feed(&stream, &["append", "a.b2nd", "-", "--axis", &plus, "--memory", memory]);
                assert_eq!(code, 0, "{err}");
                whole(&folder);
            }
        }
    }
    assert_eq!(folder.names(), ["a.b2nd", "c.npy", "f.npy", "old.npy", "other.b2nd", "out.npy", "raw"]);
}

#[test]
fn slabs_go_one_behind_the_other() {
    let folder = Folder::new();
    let (first, old) = part(0, 0, 1);
    folder.write("in.npy", &npy("<u4", &first, false, &old));
    folder.good(&["import", "in.npy", "a.b2nd", "--chunks", "4,7,6"]);
    for n in 1..10 {
        let (_, slab) = part(0, n, n + 1);
        folder.write("in.npy", &npy("<u4", &SHAPE[1..], false, &slab));
        folder.good(&["append", "a.b2nd", "in.npy"]);
    }
    whole(&folder);
    // Nothing at all is a slab of length 0.
    folder.write("none.npy", &npy("<u4", &[0, 7, 6], false, &[]));
    assert!(folder.good(&["append", "a.b2nd", "none.npy"]).contains("0 B appended"));
    whole(&folder);
}

#[test]
fn an_array_may_begin_empty_and_be_added_to_itself() {
    let folder = Folder::new();
    folder.write("none.npy", &npy("<u4", &[0, 5], false, &[]));
    folder.good(&["import", "none.npy", "a.b2nd"]);
    folder.write("in.npy", &npy("<u4", &[3, 5], false, &items(&[3, 5])));
    for memory in ["8", "1M"] {
        folder.good(&["append", "a.b2nd", "in.npy", "--memory", memory]);
    }
    folder.good(&["append", "a.b2nd", "a.b2nd"]);
    folder.good(&["export", "a.b2nd", "out.npy"]);
    assert!(folder.read("out.npy") == npy("<u4", &[12, 5], false, &items(&[3, 5]).repeat(4)));
}

#[test]
fn a_file_that_another_command_writes_is_refused_by_name_and_keeps_its_turn() {
    let folder = Folder::new();
    folder.write("in.npy", &npy("<u4", &[3, 5], false, &items(&[3, 5])));
    folder.good(&["import", "in.npy", "a.b2nd"]);
    let waiting = ["append", "a.b2nd", "-"];
    let mut first = folder.command(&waiting).stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    for _ in 0..6000 {
        if folder.path("a.b2nd.b2owner").exists() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let holder = format!("open for writing elsewhere, by process {} (b2nd", first.id());
    folder.fails(3, &holder, &["append", "a.b2nd", "in.npy"]);
    folder.fails(3, "run the command again later", &["import", "in.npy", "a.b2nd", "--force"]);
    assert!(folder.good(&["info", "a.b2nd"]).contains("(3, 5)"), "it is read meanwhile");
    let input = npy("<u4", &[3, 5], false, &items(&[3, 5]));
    first.stdin.take().unwrap().write_all(&input).unwrap();
    assert!(first.wait().unwrap().success());
    folder.good(&["append", "a.b2nd", "in.npy"]);
    assert!(folder.good(&["info", "a.b2nd"]).contains("(9, 5)"));
    assert_eq!(folder.names(), ["a.b2nd", "in.npy"]);
}

#[test]
fn what_does_not_go_together_is_refused_and_changes_nothing() {
    let folder = Folder::new();
    let plain = items(&[4, 5]);
    folder.write("in.npy", &npy("<u4", &[4, 5], false, &plain));
    folder.write("signed.npy", &npy("<i4", &[4, 5], false, &plain));
    folder.write("long.npy", &npy("<u4", &[2, 10], false, &plain));
    folder.write("deep.npy", &npy("<u4", &[1, 1, 4, 5], false, &plain));
    folder.write("scalar.npy", &npy("<u4", &[], false, &plain[..4]));
    folder.write("cut.npy", &npy("<u4", &[4, 5], false, &plain[..70]));
    folder.good(&["import", "in.npy", "a.b2nd"]);
    folder.good(&["import", "scalar.npy", "s.b2nd"]);
    let before = folder.read("a.b2nd");
    folder.fails(2, "its items are <i4, and those of a.b2nd are <u4", &["append", "a.b2nd", "signed.npy"]);
    folder.fails(2, "astype('<u4')", &["append", "a.b2nd", "signed.npy"]);
    folder.fails(2, "shape (N, 5)", &["append", "a.b2nd", "long.npy"]);
    folder.fails(2, "shape (4, N)", &["append", "a.b2nd", "long.npy", "--axis", "1"]);
    folder.fails(2, "shape (N, 5)", &["append", "a.b2nd", "deep.npy"]);
    folder.fails(2, "shape (N, 5)", &["append", "a.b2nd", "s.b2nd"]);
    folder.fails(2, "--axis 2", &["append", "a.b2nd", "in.npy", "--axis", "2"]);
    folder.fails(2, "--axis -3", &["append", "a.b2nd", "in.npy", "--axis", "-3"]);
    folder.fails(2, "cannot grow", &["append", "s.b2nd", "scalar.npy"]);
    folder.fails(1, "truncated", &["append", "a.b2nd", "cut.npy"]);
    folder.fails(2, "is a NumPy file", &["append", "in.npy", "in.npy"]);
    folder.fails(3, "missing.b2nd", &["append", "missing.b2nd", "in.npy"]);
    folder.fails(3, "missing.npy", &["append", "a.b2nd", "missing.npy"]);
    folder.fails(2, "-:", &["append", "-", "in.npy"]);
    for memory in ["8", "1M"] {
        let cut = npy("<u4", &[4, 5], false, &plain[..70]);
        let (code, _, err) = folder.feed(&cut, &["append", "a.b2nd", "-", "--memory", memory]);
        assert!(code == 1 && err.contains("10 bytes are missing"), "{err}");
        folder.good(&["export", "a.b2nd", "out.npy", "--force"]);
        assert!(folder.read("out.npy") == folder.read("in.npy"));
    }
    let after = folder.read("a.b2nd");
    assert!(after[..before.len()] == before, "what was there is changed");
}

#[test]
fn only_the_last_of_several_frames_grows() {
    let folder = Folder::new();
    let fixture = concat!(env!("CARGO_MANIFEST_DIR"), "/../b2nd/tests/fixtures/several/behind.bin");
    std::fs::copy(fixture, folder.path("many.bin")).unwrap();
    let first = folder.good(&["slice", "many.bin", "...", "--index", "0"]);
    let before = folder.good(&["info", "many.bin", "--index", "3", "--json"]);
    folder.write("in.npy", &npy("<i4", &[2, 30], false, &items(&[2, 30])));
    folder.write("row.npy", &npy("<i4", &[7], false, &items(&[7])));
    let (code, _, err) = folder.run(&["append", "many.bin", "row.npy", "--index", "0"]);
    assert!(code == 2 && err.contains("hint: "), "{code} {err}");
    folder.good(&["append", "many.bin", "in.npy", "--index", "3"]);
    assert!(before.contains("40"));
    assert!(folder.good(&["info", "many.bin", "--index", "3"]).contains("(42, 30)"));
    assert_eq!(folder.good(&["slice", "many.bin", "...", "--index", "0"]), first);
    assert!(folder.good(&["slice", "many.bin", "-1,-1", "--index", "3"]).trim() == "416");
}
