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
        "import",
        "export",
        "cat",
        "info",
        "slice",
        "plot",
        "convert",
        "verify",
        "compact",
        "diff",
        "attrs",
        "demo",
        "completions",
        "man",
    ] {
        if verb == "plot" && !cfg!(feature = "plot") {
            continue;
        }
        let help = folder.good(&[verb, "--help"]);
        assert!(help.contains("Examples:") && help.contains(&format!("  b2nd {verb}")), "{help}");
    }
    let version = folder.good(&["--version"]);
    assert!(version.starts_with(&format!("b2nd {}\nfeatures: ", env!("CARGO_PKG_VERSION"))), "{version}");
    for word in ["codecs: blosclz, lz4, lz4hc, zlib, zstd", "filters: shuffle, bitshuffle, delta"] {
        assert!(version.contains(word), "{version}");
    }
    assert_eq!(version.contains("zfp-accuracy"), cfg!(feature = "zfp"));
    assert_eq!(folder.good(&["-V"]).lines().count(), 1);
}

#[test]
fn shells_and_man_know_every_verb_and_option() {
    let folder = Folder::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = folder.good(&["completions", shell]);
        for word in ["import", "repair", "equal-nan", "threshold"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
    assert_eq!(folder.run(&["completions", "cmd.exe"]).0, 2);
    let page = folder.good(&["man"]);
    assert!(page.contains(".TH b2nd 1") && page.contains("verify"), "{page}");
    let page = folder.good(&["man", "diff"]);
    assert!(page.contains(".TH b2nd-diff 1") && page.contains("equal\\-nan"), "{page}");
    folder.fails(2, "there is no verb 'frob'", &["man", "frob"]);
}

#[test]
fn quiet_prints_results_and_errors_only_and_verbose_says_more() {
    let folder = folder();
    assert_eq!(folder.run(&["import", "in.npy", "q.b2nd", "-q"]), (0, String::new(), String::new()));
    assert_eq!(folder.run(&["--quiet", "export", "q.b2nd", "q.npy"]), (0, String::new(), String::new()));
    assert_eq!(folder.run(&["verify", "q.b2nd", "-q"]), (0, String::new(), String::new()));
    assert_eq!(folder.run(&["diff", "q.b2nd", "a.b2nd", "-q"]), (0, String::new(), String::new()));
    assert_eq!(folder.good(&["slice", "q.b2nd", "0,0", "-q"]), "3\n");
    folder.fails(2, "exists", &["import", "in.npy", "q.b2nd", "-q"]);
    let (code, out, err) = folder.run(&["slice", "q.b2nd", "0,0", "-v", "--threads", "1"]);
    assert_eq!((code, out.as_str()), (0, "3\n"));
    assert!(err.contains("b2nd: opened q.b2nd: (6, 7) <u4") && err.contains("; 1 thread\n"), "{err}");
    assert!(err.contains("b2nd: took "), "{err}");
    assert_eq!(folder.run(&["-q", "-v", "info", "q.b2nd"]).0, 2);
}

#[test]
fn threads_are_given_wherever_work_is_done() {
    let folder = folder();
    for line in [
        &["slice", "a.b2nd", "0"][..],
        &["verify", "a.b2nd"],
        &["info", "a.b2nd"],
        &["diff", "a.b2nd", "in.npy"],
        &["compact", "a.b2nd"],
        &["repair", "a.b2nd", "r.b2nd"],
        &["convert", "a.b2nd", "c.b2nd"],
        &["export", "a.b2nd", "o.npy"],
        #[cfg(feature = "plot")]
        &["plot", "a.b2nd"],
    ] {
        folder.good(&[line, &["--threads", "1"]].concat());
        assert_eq!(folder.run(&[line, &["--threads", "0"]].concat()).0, 2);
    }
    for line in [&["slice", "a.b2nd", "0"][..], &["diff", "a.b2nd", "in.npy"]] {
        folder.good(&[line, &["--memory", "64K"]].concat());
    }
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
fn damaged_headers_are_1_and_items_that_cannot_be_stored_2() {
    let folder = folder();
    folder.write("cut.npy", &folder.read("in.npy")[..50]);
    folder.fails(1, "cut.npy", &["import", "cut.npy", "b.b2nd"]);
    folder.write("object.npy", &npy("|O", &[1], false, b"pickle"));
    folder.fails(2, "Python objects", &["import", "object.npy", "b.b2nd"]);
    folder.write("long.npy", &npy("<f16", &[1], false, &[0; 16]));
    folder.fails(2, "unsupported dtype <f16 (long double)", &["import", "long.npy", "b.b2nd"]);
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
        #[cfg(feature = "plot")]
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

#[test]
fn inputs_of_another_kind_are_named_and_2() {
    let folder = folder();
    folder.write("a.npz", b"PK\x03\x04 and what follows in a zip file");
    folder.write("a.h5", b"\x89HDF\r\n\x1a\n and what follows");
    std::fs::create_dir(folder.path("a.zarr")).unwrap();
    folder.write("a.zarr/zarr.json", b"{}");
    folder.good(&["convert", "a.b2nd", "s.b2nd", "--sparse"]);
    for (name, words) in [
        ("a.npz", ["a zip file (.npz", "unzip it"]),
        ("a.h5", ["an HDF5 file", "numpy.save"]),
        ("a.zarr", ["a Zarr store", "numpy.save"]),
        ("a.b2nd", ["a Blosc2 file already", "b2nd convert"]),
        ("s.b2nd", ["a sparse array already", "b2nd convert"]),
    ] {
        for word in words {
            folder.fails(2, word, &["import", name, "b.b2nd"]);
        }
    }
    for verb in ["info", "verify", "attrs", "cat"] {
        for (name, word) in
            [("a.npz", "a zip file (.npz"), ("a.h5", "an HDF5 file"), ("a.zarr", "a Zarr store")]
        {
            folder.fails(2, word, &[verb, name]);
        }
    }
    folder.write("deep.npy", &npy("<u4", &[1; 17], false, &items(&[1])));
    folder.fails(2, "17 axes", &["import", "deep.npy", "b.b2nd"]);
    folder.fails(2, "at most 16: join some", &["import", "deep.npy", "b.b2nd"]);
}

#[test]
fn one_length_of_raw_input_follows_from_its_size() {
    let folder = folder();
    folder.write("raw", &items(&[6, 7]));
    let shape = |options: &[&str]| {
        let line = [&["import", "raw", "b.b2nd", "--force", "--dtype", "<u4"], options].concat();
        let out = folder.good(&line);
        out.split_once(" <u4").unwrap().0.to_owned()
    };
    assert_eq!(shape(&["--shape", "-1,7"]), "b.b2nd: (6, 7)");
    assert_eq!(shape(&["--shape", "(2, -1, 7)"]), "b.b2nd: (2, 3, 7)");
    assert_eq!(shape(&["--shape", "-1"]), "b.b2nd: (42,)");
    assert_eq!(shape(&[]), "b.b2nd: (42,)");
    let raw = ["import", "raw", "c.b2nd", "--dtype", "<u4", "--shape"];
    folder.fails(2, "168 bytes are not a whole number of parts of 20 bytes", &[&raw[..], &["-1,5"]].concat());
    folder.fails(2, "a .npy file", &["import", "in.npy", "c.b2nd", "--dtype", "<u4", "--shape", "-1,7"]);
    folder.fails(2, "its length is not known", &["import", "-", "c.b2nd", "--dtype", "<u4"]);
    folder.fails(3, "gone", &["import", "gone", "c.b2nd", "--dtype", "<u4"]);
    let (code, _, err) = folder.run(&[&raw[..], &["-1,-1"]].concat());
    assert!(code == 2 && err.contains("only one length can be -1"), "{err}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_folder_that_takes_no_files_is_3_and_named() {
    let folder = folder();
    let (code, _, err) = folder.run(&["import", "in.npy", "/proc/x.b2nd"]);
    assert_eq!(code, 3, "{err}");
    assert!(
        err.starts_with("b2nd: /proc/x.b2nd: cannot create it in its folder: permission denied"),
        "{err}"
    );
    assert!(err.contains("hint: check the permissions"), "{err}");
    // So is a lock file that cannot be made because something else has its name.
    folder.write("a.b2nd.b2owner", &[b'x'; 5000]);
    folder.fails(3, "a.b2nd.b2owner: cannot make its lock file", &["attrs", "a.b2nd", "set", "x", "1"]);
}
