use crate::support::{Folder, fortran, items, npy};

const SHAPE: [usize; 3] = [23, 17, 31];
const CHUNKS: &str = "5,6,7";

/// Every way in gives the file that was put in, with any amount of memory.
fn comes_back(args: &[&str], input: Option<&[u8]>, folder: &Folder) {
    let plain = npy("<u4", &SHAPE, false, &items(&SHAPE));
    for memory in ["1", "4K", "30K", "256M"] {
        for threads in ["1", "3"] {
            let options = ["--chunks", CHUNKS, "--memory", memory, "--threads", threads, "--force"];
            let line = [&["import"], args, &options].concat();
            match input {
                Some(bytes) => assert_eq!(folder.feed(bytes, &line).0, 0, "{line:?}"),
                None => _ = folder.good(&line),
            }
            folder.good(&["export", "a.b2nd", "back.npy", "--memory", memory, "--force"]);
            assert!(folder.read("back.npy") == plain, "{line:?}");
        }
    }
    assert!(folder.names().iter().all(|name| !name.contains("tmp")), "{:?}", folder.names());
}

#[test]
fn npy_in_c_order() {
    let folder = Folder::new();
    folder.write("in.npy", &npy("<u4", &SHAPE, false, &items(&SHAPE)));
    comes_back(&["in.npy", "a.b2nd"], None, &folder);
}

#[test]
fn npy_in_fortran_order() {
    let folder = Folder::new();
    folder.write("in.npy", &npy("<u4", &SHAPE, true, &fortran(&SHAPE, &items(&SHAPE))));
    comes_back(&["in.npy", "a.b2nd"], None, &folder);
}

#[test]
fn raw_bytes() {
    let folder = Folder::new();
    folder.write("in.raw", &items(&SHAPE));
    comes_back(&["in.raw", "a.b2nd", "--dtype", "<u4", "--shape", "23,17,31"], None, &folder);
}

#[test]
fn standard_input_in_every_order() {
    let folder = Folder::new();
    let all = items(&SHAPE);
    comes_back(&["-", "a.b2nd"], Some(&npy("<u4", &SHAPE, false, &all)), &folder);
    comes_back(&["-", "a.b2nd"], Some(&npy("<u4", &SHAPE, true, &fortran(&SHAPE, &all))), &folder);
    comes_back(&["-", "a.b2nd", "--dtype", "uint32", "--shape", "(23, 17, 31)"], Some(&all), &folder);
}

#[test]
fn a_sparse_directory() {
    let folder = Folder::new();
    folder.write("in.npy", &npy("<u4", &SHAPE, false, &items(&SHAPE)));
    comes_back(&["in.npy", "a.b2nd", "--sparse"], None, &folder);
    assert!(folder.path("a.b2nd").is_dir());
}

#[test]
fn every_codec_and_filter() {
    let folder = Folder::new();
    let plain = npy("<u4", &SHAPE, false, &items(&SHAPE));
    folder.write("in.npy", &plain);
    for codec in ["zstd", "lz4", "lz4hc", "zlib", "blosclz"] {
        for filter in ["none", "shuffle", "bitshuffle", "delta,shuffle"] {
            for level in ["0", "5", "9"] {
                let options = ["--codec", codec, "--filter", filter, "--level", level, "--force"];
                folder.good(&[&["import", "in.npy", "a.b2nd"][..], &options].concat());
                folder.good(&["export", "a.b2nd", "back.npy", "--force"]);
                assert!(folder.read("back.npy") == plain, "{options:?}");
                let info: serde_json::Value =
                    serde_json::from_str(&folder.good(&["info", "a.b2nd", "--json"])).unwrap();
                let names: Vec<&str> =
                    info["filters"].as_array().unwrap().iter().map(|f| f["name"].as_str().unwrap()).collect();
                assert_eq!(info["codec"], codec);
                assert_eq!(info["clevel"].to_string(), level);
                assert_eq!(names.join(","), filter.replace("none", ""));
            }
        }
    }
}

#[test]
fn trunc_prec_keeps_the_leading_bits() {
    let folder = Folder::new();
    let values: Vec<f32> = (0..1000).map(|n| (n as f32 + 0.1) * 1.7).collect();
    let bytes: Vec<u8> = values.iter().flat_map(|x| x.to_le_bytes()).collect();
    folder.write("in.npy", &npy("<f4", &[1000], false, &bytes));
    folder.good(&["import", "in.npy", "a.b2nd", "--filter", "trunc_prec:10,shuffle"]);
    folder.good(&["export", "a.b2nd", "out.npy"]);
    let cut: Vec<u8> = values.iter().flat_map(|x| (x.to_bits() & !0x1fff).to_le_bytes()).collect();
    assert_eq!(folder.read("out.npy"), npy("<f4", &[1000], false, &cut));
}

#[test]
fn codecs_and_filters_for_arrays() {
    let folder = Folder::new();
    let values: Vec<f64> = (0..60 * 50).map(|n| f64::from(n % 50).sin() * f64::from(n / 50)).collect();
    let bytes: Vec<u8> = values.iter().flat_map(|x| x.to_le_bytes()).collect();
    let plain = npy("<f8", &[60, 50], false, &bytes);
    folder.write("in.npy", &plain);
    folder.good(&["import", "in.npy", "plain.b2nd"]);
    let back = |name: &str| -> Vec<f64> {
        folder.good(&["export", name, "back.npy", "--force"]);
        let file = folder.read("back.npy");
        let items = &file[file.len() - bytes.len()..];
        items.as_chunks::<8>().0.iter().map(|item| f64::from_le_bytes(*item)).collect()
    };
    for (codec, most) in [
        ("ndlz:4", 0.0),
        ("ndlz:8", 0.0),
        ("zfp-accuracy:-3", 1e-3),
        ("zfp-precision:30", 1e-3),
        ("zfp-rate:60", 1e-3),
    ] {
        if !cfg!(feature = "zfp") && codec.starts_with("zfp") {
            let (code, _, err) = folder.run(&["import", "in.npy", "a.b2nd", "--codec", codec]);
            assert!(code == 2 && err.contains("without the feature"), "{err}");
            continue;
        }
        folder.good(&["import", "in.npy", "a.b2nd", "--codec", codec, "--force"]);
        folder.good(&["convert", "plain.b2nd", "b.b2nd", "--codec", codec, "--force"]);
        folder.good(&["convert", "a.b2nd", "c.b2nd", "--chunks", "30,30", "--force"]);
        for name in ["a.b2nd", "b.b2nd", "c.b2nd"] {
            let worst = values.iter().zip(back(name)).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
            assert!(worst <= most, "{codec} {name} {worst}");
            assert!(most == 0.0 || worst > 0.0, "{codec} {name} loses nothing");
            assert!(folder.good(&["info", name]).contains(codec), "{codec}");
            let info: serde_json::Value =
                serde_json::from_str(&folder.good(&["info", name, "--json"])).unwrap();
            assert_eq!(format!("{}:{}", info["codec"].as_str().unwrap(), info["codec_meta"]), codec);
        }
    }
    for filter in ["shuffle,bytedelta", "ndcell:4", "ndcell:4,shuffle", "ndmean:4"] {
        folder.good(&["import", "in.npy", "a.b2nd", "--filter", filter, "--force"]);
        assert_eq!(back("a.b2nd") == values, filter != "ndmean:4", "{filter}");
        assert!(folder.good(&["info", "a.b2nd"]).contains(filter), "{filter}");
    }
}

#[test]
fn codecs_that_do_not_fit_the_array_leave_no_file() {
    let folder = Folder::new();
    folder.write("in.npy", &npy("<u4", &SHAPE, false, &items(&SHAPE)));
    folder.write("f4.npy", &npy("<f4", &SHAPE, false, &items(&SHAPE)));
    folder.write("u2.npy", &npy("<u2", &[8, 8], false, &[7; 128]));
    for (word, input, options) in [
        ("two dimensions", "in.npy", &["--codec", "ndlz:4"][..]),
        ("shuffle", "u2.npy", &["--codec", "ndlz:4", "--filter", "none"]),
        ("shuffle", "f4.npy", &["--codec", "zfp-accuracy:-3", "--filter", "shuffle"]),
        ("4 items", "f4.npy", &["--codec", "zfp-rate:50", "--blocks", "2,8,8", "--chunks", "8,8,8"]),
        ("4 or 8 bytes", "u2.npy", &["--codec", "zfp-precision:9"]),
        ("4 or 8", "u2.npy", &["--codec", "ndlz:5"]),
        ("4 or 8 bytes", "u2.npy", &["--filter", "ndmean:4"]),
        ("smaller side", "u2.npy", &["--filter", "ndcell:100"]),
    ] {
        if !cfg!(feature = "zfp") && options.iter().any(|option| option.starts_with("zfp")) {
            continue;
        }
        folder.fails(2, word, &[&["import", input, "a.b2nd"], options].concat());
        assert!(!folder.path("a.b2nd").exists(), "{options:?}");
    }
}

#[test]
fn lossy_filters_are_refused_for_other_dtypes() {
    let folder = Folder::new();
    folder.write("i4.npy", &npy("<i4", &SHAPE, false, &items(&SHAPE)));
    folder.write("f8.npy", &npy(">f8", &[4, 4], false, &[7; 128]));
    for (input, filter, dtype) in [("i4.npy", "trunc_prec:3,shuffle", "<i4"), ("f8.npy", "ndmean:4", ">f8")] {
        folder.good(&["import", input, "plain.b2nd", "--force"]);
        for verb in [["import", input], ["convert", "plain.b2nd"]] {
            let said = format!("destroy items of dtype {dtype}");
            folder.fails(2, &said, &[&verb[..], &["a.b2nd", "--filter", filter]].concat());
            assert!(!folder.path("a.b2nd").exists(), "{verb:?}");
        }
    }
}

#[test]
fn empty_and_zero_dimensional_arrays() {
    let folder = Folder::new();
    for (shape, name) in [(vec![3, 0, 2], "e"), (vec![], "s"), (vec![1], "o"), (vec![0], "z")] {
        let plain = npy("<u4", &shape, false, &items(&shape));
        folder.write("in.npy", &plain);
        folder.good(&["import", "in.npy", name]);
        folder.good(&["export", name, "back.npy", "--force"]);
        assert_eq!(folder.read("back.npy"), plain, "{shape:?}");
    }
}

#[test]
fn a_short_input_says_how_much_is_missing_and_leaves_nothing() {
    let folder = Folder::new();
    let all = items(&SHAPE);
    let plain = npy("<u4", &SHAPE, false, &all);
    let turned = npy("<u4", &SHAPE, true, &fortran(&SHAPE, &all));
    folder.write("cut.npy", &plain[..plain.len() - 1001]);
    folder.fails(1, "1001 bytes are missing", &["import", "cut.npy", "a.b2nd"]);
    folder.fails(1, "cut.npy", &["import", "cut.npy", "a.b2nd"]);
    folder.write("cut.raw", &all[..all.len() - 5]);
    folder.fails(
        2,
        "5 bytes are missing",
        &["import", "cut.raw", "a.b2nd", "--dtype", "<u4", "--shape", "23,17,31"],
    );
    for whole in [&plain, &turned] {
        for memory in ["4K", "30K", "256M"] {
            for layout in [&[][..], &["--sparse"]] {
                let line =
                    [&["import", "-", "a.b2nd", "--chunks", CHUNKS, "--memory", memory][..], layout].concat();
                let (code, _, err) = folder.feed(&whole[..whole.len() - 1001], &line);
                assert_eq!(code, 1, "{err}");
                assert!(err.contains("1001 bytes are missing"), "{err}");
            }
        }
    }
    assert_eq!(folder.names(), ["cut.npy", "cut.raw"]);
}

#[test]
fn a_long_input_is_refused_when_raw_and_noted_when_npy() {
    let folder = Folder::new();
    let mut all = items(&SHAPE);
    let mut plain = npy("<u4", &SHAPE, false, &all);
    all.extend([1, 2]);
    folder.write("long.raw", &all);
    let raw = ["--dtype", "<u4", "--shape", "23,17,31"];
    folder.fails(2, "2 bytes after the last item", &[&["import", "long.raw", "a.b2nd"][..], &raw].concat());
    let (code, _, err) = folder.feed(&all, &[&["import", "-", "a.b2nd"][..], &raw].concat());
    assert_eq!(code, 2, "{err}");
    assert_eq!(folder.names(), ["long.raw"]);
    plain.extend([1, 2]);
    folder.write("long.npy", &plain);
    let (code, _, err) = folder.run(&["import", "long.npy", "a.b2nd"]);
    assert_eq!(code, 0, "{err}");
    assert!(err.contains("warning"), "{err}");
}

#[test]
fn an_existing_output_stays_unless_forced() {
    let folder = Folder::new();
    folder.write("in.npy", &npy("<u4", &[4], false, &items(&[4])));
    folder.write("cut.npy", &npy("<u4", &[4], false, &[0; 3]));
    folder.write("a.b2nd", b"precious");
    folder.fails(2, "exists", &["import", "in.npy", "a.b2nd"]);
    folder.fails(1, "missing", &["import", "cut.npy", "a.b2nd", "--force"]);
    assert_eq!(folder.read("a.b2nd"), b"precious");
    folder.good(&["import", "in.npy", "a.b2nd", "--force"]);
    assert_eq!(folder.good(&["slice", "a.b2nd", ":"]), "[ 3 10 17 24]\n");
    std::fs::create_dir(folder.path("dir")).unwrap();
    folder.write("dir/mine.txt", b"precious");
    folder.fails(2, "folder", &["import", "in.npy", "dir", "--force", "--sparse"]);
    folder.fails(2, "input itself", &["import", "in.npy", "in.npy", "--force"]);
    assert_eq!(folder.read("dir/mine.txt"), b"precious");
}

#[test]
fn two_imports_of_the_same_input_give_the_same_bytes() {
    let folder = Folder::new();
    let plain = npy("<u4", &SHAPE, false, &items(&SHAPE));
    folder.write("in.npy", &plain);
    folder.write("fortran.npy", &npy("<u4", &SHAPE, true, &fortran(&SHAPE, &items(&SHAPE))));
    for (input, memory) in [("in.npy", "256M"), ("in.npy", "4K"), ("fortran.npy", "256M"), ("-", "256M")] {
        let import = |output: &str, threads: &str| {
            let line =
                ["import", input, output, "--chunks", CHUNKS, "--memory", memory, "--threads", threads];
            match input {
                "-" => assert_eq!(folder.feed(&plain, &line).0, 0),
                _ => _ = folder.good(&line),
            }
            let bytes = folder.read(output);
            std::fs::remove_file(folder.path(output)).unwrap();
            bytes
        };
        let first = import("a.b2nd", "1");
        for threads in ["1", "4", "4"] {
            assert!(import("b.b2nd", threads) == first, "{input}, {memory}, {threads} threads");
        }
    }
}
