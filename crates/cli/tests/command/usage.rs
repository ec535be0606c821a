use crate::support::{Folder, items, npy};

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("in.npy", &npy("<u4", &[6, 7], false, &items(&[6, 7])));
    folder.good(&["import", "in.npy", "a.b2nd"]);
    folder
}

#[test]
fn help_teaches_every_verb() {
    let folder = Folder::new();
    assert!(folder.good(&["--help"]).contains("b2nd demo"));
    for verb in [
        "import", "export", "cat", "info", "slice", "plot", "convert", "verify", "compact", "diff", "attrs",
        "demo",
    ] {
        let help = folder.good(&[verb, "--help"]);
        assert!(help.contains("Examples:") && help.contains(&format!("  b2nd {verb}")), "{help}");
    }
    assert!(folder.good(&["--version"]).starts_with("b2nd "));
}

#[test]
fn a_wrong_command_line_is_2() {
    let folder = folder();
    for line in [
        &[][..],
        &["frobnicate"],
        &["import", "in.npy"],
        &["import", "in.npy", "b.b2nd", "--codec", "lzma"],
        &["import", "in.npy", "b.b2nd", "--level", "10"],
        &["import", "in.npy", "b.b2nd", "--filter", "shuffel"],
        &["import", "in.npy", "b.b2nd", "--memory", "lots"],
        &["import", "in.npy", "b.b2nd", "--threads", "0"],
        &["import", "in.npy", "b.b2nd", "--dtype", "<u4"],
        &["import", "in.npy", "b.b2nd", "--shape", "6,7"],
        &["slice", "a.b2nd"],
    ] {
        let (code, _, err) = folder.run(line);
        assert_eq!(code, 2, "{line:?}: {err}");
        assert!(!folder.path("b.b2nd").exists());
    }
}

#[test]
fn options_that_do_not_fit_the_array_are_2_and_say_its_shape() {
    let folder = folder();
    folder.fails(2, "(6, 7)", &["import", "in.npy", "b.b2nd", "--chunks", "2,2,2"]);
    folder.fails(2, "(6, 7)", &["import", "in.npy", "b.b2nd", "--blocks", "2"]);
    folder.fails(2, "(6, 7)", &["import", "in.npy", "b.b2nd", "--chunks", "0,2"]);
    folder.fails(2, "--blocks", &["import", "in.npy", "b.b2nd", "--chunks", "2,2", "--blocks", "4,1"]);
    for options in [&["--codec", "zlib", "--dict"][..], &["--codec", "ndlz:4", "--filter", "none"]] {
        folder.fails(2, "--help says", &[&["import", "in.npy", "b.b2nd"], options].concat());
        folder.fails(2, "--help says", &[&["convert", "a.b2nd", "b.b2nd"], options].concat());
    }
    folder.fails(2, "(6, 7)", &["slice", "a.b2nd", "6"]);
    folder.fails(2, "(6, 7)", &["slice", "a.b2nd", "0,0,0"]);
    folder.fails(2, "slice", &["slice", "a.b2nd", "1;2"]);
    folder.fails(2, "slice", &["export", "a.b2nd", "b.npy", "--slice", "::0"]);
    for line in [&["import", "in.npy", "-"][..], &["convert", "a.b2nd", "-"], &["info", "-"], &["attrs", "-"]]
    {
        folder.fails(2, "standard", line);
    }
    folder.write("raw", b"no npy file, but long enough to be one");
    folder.fails(2, "--shape", &["import", "raw", "b.b2nd"]);
    assert_eq!(folder.names(), ["a.b2nd", "in.npy", "raw"]);
}

#[test]
fn damaged_headers_are_1() {
    let folder = folder();
    folder.write("cut.npy", &folder.read("in.npy")[..50]);
    folder.fails(1, "cut.npy", &["import", "cut.npy", "b.b2nd"]);
    folder.write("object.npy", &npy("|O", &[1], false, b"pickle"));
    folder.fails(1, "object", &["import", "object.npy", "b.b2nd"]);
    assert!(!folder.path("b.b2nd").exists());
}

#[test]
fn what_is_not_there_is_3() {
    let folder = folder();
    for line in [
        &["import", "gone", "b.b2nd"][..],
        &["import", "in.npy", "gone/b.b2nd"],
        &["export", "gone", "b.npy"],
        &["info", "gone"],
        &["slice", "gone", "0"],
        &["plot", "gone"],
        &["convert", "gone", "b.b2nd"],
        &["verify", "gone"],
        &["diff", "a.b2nd", "gone"],
        &["attrs", "gone"],
    ] {
        folder.fails(3, "gone", line);
    }
    assert_eq!(folder.names(), ["a.b2nd", "in.npy"]);
}
