use crate::support::{Folder, items, npy};

fn stored(folder: &Folder, descr: &str, shape: &[usize]) {
    folder.write("in.npy", &npy(descr, shape, false, &items(shape)));
    folder.good(&["import", "in.npy", "a.b2nd", "--force"]);
}

#[test]
fn a_plane_is_drawn_as_png_and_as_text() {
    let folder = Folder::new();
    for descr in ["<u4", ">i4", "<f4", ">f4"] {
        stored(&folder, descr, &[12, 20, 30]);
        folder.good(&["plot", "a.b2nd", "--slice", "-1,::-1,:", "-o", "a.png", "--force"]);
        assert!(folder.read("a.png").starts_with(b"\x89PNG\r\n\x1a\n"), "{descr}");
        let text = folder.good(&["plot", "a.b2nd", "--slice", "3,:,:"]);
        assert!(text.contains("axis 1") && text.contains("axis 2") && !text.contains('\x1b'), "{text}");
    }
}

#[test]
fn without_a_slice_the_middle_is_drawn_and_said() {
    let folder = Folder::new();
    stored(&folder, "<u4", &[12, 20, 30]);
    let (code, _, err) = folder.run(&["plot", "a.b2nd"]);
    assert!(code == 0 && err.contains("6,:,:"), "{err}");
    stored(&folder, "<u4", &[50]);
    folder.good(&["plot", "a.b2nd"]);
    stored(&folder, "<u4", &[]);
    folder.good(&["plot", "a.b2nd"]);
}

#[test]
fn what_is_no_plane_of_numbers_is_refused() {
    let folder = Folder::new();
    stored(&folder, "<u4", &[12, 20, 30]);
    folder.fails(2, "two axes", &["plot", "a.b2nd", "--slice", ":"]);
    folder.fails(2, "nothing to draw", &["plot", "a.b2nd", "--slice", "5:5,0"]);
    folder.write("a.png", b"precious");
    folder.fails(2, "exists", &["plot", "a.b2nd", "--slice", "0", "-o", "a.png"]);
    assert_eq!(folder.read("a.png"), b"precious");
    stored(&folder, "|S4", &[12, 20]);
    folder.fails(2, "|S4", &["plot", "a.b2nd"]);
}

#[test]
fn the_demo_makes_its_files_and_its_comparison() {
    let folder = Folder::new();
    let out = folder.good(&["demo", "d", "--size", "small"]);
    assert!(out.contains("All slices are equal"), "{out}");
    for name in ["d/field.npy", "d/field.b2nd", "d/field.png"] {
        assert!(out.contains(name) && folder.path(name).is_file(), "{name}: {out}");
    }
    folder.good(&["export", "d/field.b2nd", "back.npy"]);
    assert!(folder.read("back.npy") == folder.read("d/field.npy"));
    folder.fails(2, "exists", &["demo", "d", "--size", "small"]);
    folder.good(&["demo", "d", "--size", "small", "--force"]);
}
