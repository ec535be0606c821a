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

#[cfg(feature = "plot")]
fn import(folder: &Folder, name: &str, descr: &str, shape: &[usize], bytes: &[u8]) {
    folder.write("in.npy", &npy(descr, shape, false, bytes));
    folder.good(&["import", "in.npy", name, "--force"]);
}

#[cfg(feature = "plot")]
fn floats(values: impl Iterator<Item = f32>) -> Vec<u8> {
    values.flat_map(f32::to_le_bytes).collect()
}

#[cfg(feature = "plot")]
#[test]
fn an_outlier_does_not_flatten_a_picture_and_limits_are_said() {
    let folder = Folder::new();
    let wave = |n: u16| if n == 777 { 1e6 } else { f32::from(n % 50) };
    import(&folder, "a.b2nd", "<f4", &[40, 50], &floats((0..2000).map(wave)));
    let drawn = |options: &[&str]| {
        let size = ["plot", "a.b2nd", "--size", "120x24"];
        folder.good(&[&size[..], options].concat())
    };
    let text = drawn(&[]);
    assert!(text.contains("values from 0 to 1000000") && text.contains('@'), "{text}");
    assert!(text.lines().filter(|line| line.contains('=')).count() > 10, "the middle is not flat: {text}");
    let all = drawn(&["--percentiles", "0,100"]);
    assert!(!all.contains("values from") && all.contains("@ 1000000"), "{all}");
    assert!(drawn(&["--limits", "-10,10"]).contains("-10 .."));
    assert!(drawn(&["--percentiles", "10,90"]).contains("the colours end at 10 and 90 %"));
    for line in [&["--limits", "3,1"][..], &["--percentiles", "-1,50"], &["--map", "jet"], &["--size", "0x5"]]
    {
        assert_eq!(folder.run(&[&["plot", "a.b2nd"], line].concat()).0, 2, "{line:?}");
    }
    assert_eq!(folder.run(&["plot", "a.b2nd", "--limits", "0,1", "--percentiles", "0,1"]).0, 2);
}

#[cfg(feature = "plot")]
#[test]
fn logarithms_maps_titles_sizes_and_labels_are_taken() {
    let folder = Folder::new();
    import(&folder, "a.b2nd", "<f4", &[40, 50], &floats((0..2000u16).map(|n| 10f32.powi(i32::from(n % 7)))));
    let text = folder.good(&[
        "plot",
        "a.b2nd",
        "--log",
        "--title",
        "Seven powers",
        "--xlabel",
        "lon",
        "--ylabel",
        "lat",
    ]);
    for word in ["Seven powers", "down: lat, across: lon", "1 ..", "@ 1000000"] {
        assert!(text.contains(word), "{word}: {text}");
    }
    folder.fails(2, "no logarithm", &["plot", "a.b2nd", "--log", "--limits", "0,5"]);
    let image = |options: &[&str]| {
        folder.good(&[&["plot", "a.b2nd", "-o", "a.png", "--force"], options].concat());
        folder.read("a.png")
    };
    let plain = image(&[]);
    for options in [
        &["--map", "heat"][..],
        &["--map", "viridis_r"],
        &["--log"],
        &["--title", "x"],
        &["--size", "500x400"],
    ] {
        assert_ne!(image(options), plain, "{options:?}");
    }
    // Width and height of a PNG file.
    let sides = |png: &[u8]| [16, 20].map(|at| u32::from_be_bytes(png[at..at + 4].try_into().unwrap()));
    let small = sides(&image(&["--size", "500x400"]));
    assert!(small[0] <= 500 && small[1] <= 400 && small[0] > 300, "{small:?}");
    let size = ["plot", "a.b2nd", "--size", "60x12"];
    assert_eq!(folder.good(&size).lines().map(|line| line.chars().count()).collect::<Vec<_>>(), [60; 12]);
    import(&folder, "n.b2nd", "<f4", &[40, 50], &floats((0..2000u16).map(|n| -f32::from(n))));
    folder.fails(2, "no value is above 0", &["plot", "n.b2nd", "--log"]);
}

#[cfg(feature = "plot")]
#[test]
fn one_axis_is_a_line() {
    let folder = Folder::new();
    import(&folder, "a.b2nd", "<f4", &[3, 500], &floats((0..1500u16).map(|n| (f32::from(n) / 40.0).sin())));
    let text = folder.good(&["plot", "a.b2nd", "--slice", "1"]);
    assert!(text.contains("across: axis 1") && text.contains('*') && text.contains("0.5"), "{text}");
    let (width, stars) = (80, text.matches('*').count());
    assert!(stars > 60 && stars < 12 * width, "{text}");
    let out = folder.good(&["plot", "a.b2nd", "--slice", "1", "-o", "a.png"]);
    assert!(out.contains("a line of 500 values") && folder.read("a.png").starts_with(b"\x89PNG"), "{out}");
}

#[cfg(feature = "plot")]
#[test]
fn dates_stand_along_axes_and_beside_values() {
    let folder = Folder::new();
    let days: Vec<u8> = (11_000i64..11_100).flat_map(i64::to_le_bytes).collect();
    import(&folder, "time.b2nd", "<M8[D]", &[100], &days);
    import(&folder, "a.b2nd", "<f4", &[100, 8], &floats((0..800u16).map(f32::from)));
    let text = folder.good(&["plot", "a.b2nd", "--slice", ":,3", "--x", "time.b2nd"]);
    assert!(text.contains("2000-02-13"), "{text}");
    let text = folder.good(&["plot", "a.b2nd", "--y", "time.b2nd", "--slice", "::-1"]);
    assert!(text.contains("\n2000-05-22 ") && text.contains("down: axis 0"), "{text}");
    // The values themselves.
    let text = folder.good(&["plot", "time.b2nd"]);
    assert!(text.contains("2000-03-01") || text.contains("2000-03"), "{text}");
    folder.good(&["plot", "time.b2nd", "-o", "t.png"]);
    folder.fails(2, "which is 8 long", &["plot", "a.b2nd", "--x", "time.b2nd"]);
    folder.fails(2, "no axis", &["plot", "a.b2nd", "--slice", "[3,1,7],:", "--y", "time.b2nd"]);
    folder.fails(2, "are dates", &["plot", "time.b2nd", "--log"]);
}

#[cfg(feature = "plot")]
#[test]
fn threes_of_bytes_are_colours() {
    let folder = Folder::new();
    let bytes: Vec<u8> =
        (0..20 * 30).flat_map(|n| if n % 30 < 15 { [255, 0, 0] } else { [0, 0, 255] }).collect();
    import(&folder, "a.b2nd", "|u1", &[20, 30, 3], &bytes);
    let out = folder.good(&["plot", "a.b2nd", "-o", "a.png"]);
    assert!(out.contains("20 by 30 colours"), "{out}");
    folder.good(&["plot", "a.b2nd"]);
    folder.fails(2, "in its own colours", &["plot", "a.b2nd", "--log"]);
    // One of the parts is a picture of values.
    assert!(folder.good(&["plot", "a.b2nd", "--slice", "..., 0", "-o", "r.png"]).contains("20 by 30 values"));
    import(&folder, "i.b2nd", "<i4", &[20, 30, 3], &items(&[20, 30, 3]));
    folder.fails(2, "two axes", &["plot", "i.b2nd", "--slice", ":"]);
}

#[cfg(feature = "plot")]
#[test]
fn complex_numbers_are_drawn_by_a_modulus_that_is_named() {
    let folder = Folder::new();
    import(&folder, "a.b2nd", "<c8", &[10, 20], &floats((0..400u16).map(f32::from)));
    let text = folder.good(&["plot", "a.b2nd"]);
    assert!(text.contains("a.b2nd :,:, modulus"), "{text}");
    folder.good(&["attrs", "a.b2nd", "set", "long_name", "wave"]);
    folder.good(&["attrs", "a.b2nd", "set", "_ARRAY_DIMENSIONS", r#"["y", "x"]"#]);
    let text = folder.good(&["plot", "a.b2nd", "--size", "100x20"]);
    assert!(text.contains("modulus of wave") && text.contains("down: y, across: x"), "{text}");
}

#[cfg(feature = "plot")]
#[test]
fn the_demo_prints_the_command_that_draws_its_picture() {
    let folder = Folder::new();
    let out = folder.good(&["demo", "d", "--size", "small"]);
    let line = out.lines().find(|line| line.contains(" -o again.png")).unwrap().trim();
    let words = line.replace('\'', "\u{0}");
    // Words in quotes stay together.
    let args: Vec<String> = words
        .split('\u{0}')
        .enumerate()
        .flat_map(|(n, part)| match n % 2 {
            0 => part.split_whitespace().map(str::to_owned).collect(),
            _ => vec![part.to_owned()],
        })
        .collect();
    let args: Vec<&str> = args.iter().skip(1).map(String::as_str).collect();
    folder.good(&args);
    assert!(folder.read("again.png") == folder.read("d/field.png"), "{line}");
    // Bytes on the disk, both ways of reading, and what they mean.
    for word in ["On the disk the .b2nd file takes", "From memory", "is copied, a .b2nd file is decompressed"]
    {
        assert!(out.contains(word), "{word}: {out}");
    }
}
