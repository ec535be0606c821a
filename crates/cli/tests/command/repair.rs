//! `b2nd repair`.

use crate::support::{Folder, items, npy};

const SHAPE: [usize; 2] = [40, 30];

fn stored(folder: &Folder, name: &str, options: &[&str]) -> Vec<u8> {
    folder.write("a.npy", &npy("<u4", &SHAPE, false, &items(&SHAPE)));
    folder.good(&[&["import", "a.npy", name, "--chunks", "10,10", "--blocks", "5,5"], options].concat());
    if options.is_empty() { folder.read(name) } else { Vec::new() }
}

#[test]
fn a_torn_file_is_made_whole_and_stays_as_it_is() {
    let folder = Folder::new();
    let mut bytes = stored(&folder, "a.b2nd", &[]);
    bytes[16..24].fill(0);
    folder.write("torn.b2nd", &bytes);
    folder.fails(1, "b2nd repair", &["info", "torn.b2nd"]);
    let out = folder.good(&["repair", "torn.b2nd", "whole.b2nd"]);
    assert!(out.contains("restored: frame header") && out.contains("WHOLE AGAIN: 12 chunks"), "{out}");
    assert_eq!(folder.read("torn.b2nd"), bytes);
    folder.good(&["diff", "a.b2nd", "whole.b2nd"]);
    assert!(folder.good(&["verify", "whole.b2nd"]).contains("checksums match"));
    let out = folder.good(&["repair", "whole.b2nd", "again.b2nd"]);
    assert!(out.contains("nothing was wrong"), "{out}");
}

#[test]
fn what_is_lost_is_named_with_its_items_and_the_exit_code_is_1() {
    let folder = Folder::new();
    stored(&folder, "a.b2nd", &["--sparse"]);
    std::fs::remove_file(folder.path("a.b2nd/00000004.chunk")).unwrap();
    let (code, out, err) = folder.run(&["repair", "a.b2nd", "b.b2nd", "--fill", "zeros"]);
    assert_eq!(code, 1, "{out}{err}");
    assert!(out.contains("lost: chunk 4, items [10:20, 10:20]: ") && out.contains("1 place lost"), "{out}");
    assert!(folder.good(&["verify", "b.b2nd"]).contains("OK"));
    let (code, out, _) = folder.run(&["repair", "a.b2nd", "--in-place"]);
    assert!(code == 1 && out.contains("kept: ") && out.contains("a.b2nd.orig"), "{out}");
    assert!(!folder.path("a.b2nd.orig/00000004.chunk").exists());
    folder.good(&["verify", "a.b2nd"]);
}

#[test]
fn what_exists_is_replaced_only_when_asked_and_the_input_never() {
    let folder = Folder::new();
    stored(&folder, "a.b2nd", &[]);
    folder.write("b.b2nd", b"mine");
    folder.fails(2, "exists already", &["repair", "a.b2nd", "b.b2nd"]);
    folder.good(&["repair", "a.b2nd", "b.b2nd", "--force"]);
    folder.fails(2, "the input itself", &["repair", "a.b2nd", "a.b2nd", "--force"]);
    folder.write("text.b2nd", &[b'x'; 5000]);
    folder.fails(2, "is a text", &["repair", "text.b2nd", "c.b2nd"]);
    assert!(!folder.path("c.b2nd").exists());
    folder.fails(3, "none.b2nd", &["repair", "none.b2nd", "c.b2nd"]);
}
