use crate::support::Folder;
#[cfg(feature = "plot")]
use crate::support::{items, npy};

#[cfg(feature = "plot")]
fn stored(folder: &Folder, descr: &str, shape: &[usize]) {
    folder.write("in.npy", &npy(descr, shape, false, &items(shape)));
    folder.good(&["import", "in.npy", "a.b2nd", "--force"]);
}

#[cfg(feature = "plot")]
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

#[cfg(feature = "plot")]
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

#[cfg(feature = "plot")]
#[test]
fn the_title_is_the_slice() {
    let folder = Folder::new();
    stored(&folder, "<u4", &[300, 400]);
    for (slice, title) in
        [("100:200:2,300:100:-1", "a.b2nd 100:200:2,300:100:-1"), ("[9,3,5],...", "a.b2nd [9, 3, 5],...")]
    {
        let text = folder.good(&["plot", "a.b2nd", "--slice", slice]);
        assert!(text.contains(title), "{text}");
    }
    let text = folder.good(&["plot", "a.b2nd"]);
    assert!(text.contains("a.b2nd :,:"), "{text}");
}

#[cfg(feature = "plot")]
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
    let picture = cfg!(feature = "plot").then_some("d/field.png");
    for name in ["d/field.npy", "d/field.b2nd"].into_iter().chain(picture) {
        assert!(out.contains(name) && folder.path(name).is_file(), "{name}: {out}");
    }
    folder.good(&["export", "d/field.b2nd", "back.npy"]);
    assert!(folder.read("back.npy") == folder.read("d/field.npy"));
    folder.fails(2, "exists", &["demo", "d", "--size", "small"]);
    folder.good(&["demo", "d", "--size", "small", "--force"]);
}
