use crate::support::{Folder, items, npy, pick};

const SHAPE: [usize; 3] = [19, 11, 13];

fn stored(folder: &Folder) -> Vec<u8> {
    let all = items(&SHAPE);
    folder.write("in.npy", &npy("<u4", &SHAPE, false, &all));
    folder.good(&["import", "in.npy", "a.b2nd", "--chunks", "4,5,6", "--blocks", "2,3,4"]);
    all
}

/// Slices in NumPy's notation, the indices they take, and the shape of the result.
/// A slice, the indices that it takes along each axis, and the shape of its result.
type SliceCase = (&'static str, [Vec<usize>; 3], Vec<usize>);

fn slices() -> Vec<SliceCase> {
    let all = |n: usize| (0..n).collect::<Vec<_>>();
    let down = |n: usize| (0..n).rev().collect::<Vec<_>>();
    vec![
        ("...", [all(19), all(11), all(13)], vec![19, 11, 13]),
        ("3:17,2:9,5", [(3..17).collect(), (2..9).collect(), vec![5]], vec![14, 7]),
        ("-5:,:", [(14..19).collect(), all(11), all(13)], vec![5, 11, 13]),
        ("-1", [vec![18], all(11), all(13)], vec![11, 13]),
        ("::-1,::-1,::-1", [down(19), down(11), down(13)], vec![19, 11, 13]),
        (
            "17:2:-3,::4,1::5",
            [(3..18).rev().step_by(3).collect(), vec![0, 4, 8], vec![1, 6, 11]],
            vec![5, 3, 3],
        ),
        ("None,7,...,None,-2", [vec![7], all(11), vec![11]], vec![1, 11, 1]),
        ("0,0,0", [vec![0], vec![0], vec![0]], vec![]),
        ("5:5", [vec![], all(11), all(13)], vec![0, 11, 13]),
        ("[0,2]", [vec![0, 2], all(11), all(13)], vec![2, 11, 13]),
        ("[18,0,0,-2],:", [vec![18, 0, 0, 17], all(11), all(13)], vec![4, 11, 13]),
        (":,[0,1,5],-1", [all(19), vec![0, 1, 5], vec![12]], vec![19, 3]),
        ("[],::5,1:3", [vec![], vec![0, 5, 10], vec![1, 2]], vec![0, 3, 2]),
        ("rows.npy,None,2", [vec![3, 1], vec![2], all(13)], vec![2, 1, 13]),
        (":, 1, mask.npy", [all(19), vec![1], vec![0, 4, 12]], vec![19, 3]),
    ]
}

/// Indices and a mask in files.
fn selections(folder: &Folder) {
    folder.write("rows.npy", &npy("<i2", &[2], false, &[3, 0, 1, 0]));
    let mask: Vec<u8> = (0..13).map(|n| u8::from([0, 4, 12].contains(&n))).collect();
    folder.write("mask.npy", &npy("|b1", &[13], false, &mask));
}

/// NumPy pairs the entries of several lists, and the true items of a mask of several axes.
#[test]
fn several_lists_and_masks_are_paired() {
    let folder = Folder::new();
    let all = stored(&folder);
    selections(&folder);
    let land: Vec<u8> = (0..19 * 11).map(|n| u8::from(n % 50 == 7)).collect();
    folder.write("land.npy", &npy("|b1", &[19, 11], false, &land));
    let line = |i: usize, j: usize| pick(&SHAPE, &all, &[vec![i], vec![j], (0..13).collect()]);
    let cases = [
        ("[3,1],[10,0]", vec![2, 13], [line(3, 10), line(1, 0)].concat()),
        ("rows.npy,[2]", vec![2, 13], [line(3, 2), line(1, 2)].concat()),
        ("land.npy", vec![5, 13], [7, 57, 107, 157, 207].map(|n| line(n / 11, n % 11)).concat()),
        ("land.npy,0", vec![5], [7, 57, 107, 157, 207].map(|n| line(n / 11, n % 11)[..4].to_vec()).concat()),
    ];
    for (text, shape, want) in cases {
        let want = npy("<u4", &shape, false, &want);
        for memory in ["1", "1M"] {
            let line = ["export", "a.b2nd", "p.npy", "--slice", text, "--memory", memory, "--force"];
            folder.good(&line);
            assert!(folder.read("p.npy") == want, "{text} {memory}");
        }
        folder.good(&["convert", "a.b2nd", "p.b2nd", "--slice", text, "--force"]);
        folder.good(&["export", "p.b2nd", "p.npy", "--force"]);
        assert!(folder.read("p.npy") == want, "{text} as an array");
    }
    folder.good(&["plot", "a.b2nd", "--slice", "[3,1,2],[10,0,7]"]);
    folder.fails(2, "3 and 2 entries", &["slice", "a.b2nd", "[0,1,2],[0,1]"]);
    folder.fails(2, "is a mask of shape (19, 11)", &["slice", "a.b2nd", "0,land.npy"]);
    folder.fails(2, "the mask has 13 entries", &["slice", "a.b2nd", "mask.npy"]);
    folder.fails(2, "cannot be used as a selection", &["slice", "a.b2nd", "in.npy"]);
    folder.fails(3, "gone.npy", &["slice", "a.b2nd", "gone.npy"]);
    folder.fails(2, "list", &["slice", "a.b2nd", "[0, 19]"]);
}

#[test]
fn slices_are_what_numpy_takes() {
    let folder = Folder::new();
    let all = stored(&folder);
    selections(&folder);
    for (text, indices, shape) in slices() {
        let want = npy("<u4", &shape, false, &pick(&SHAPE, &all, &indices));
        for memory in ["1", "500", "3K", "1M"] {
            let slice = format!("--slice={text}");
            folder.good(&["export", "a.b2nd", "part.npy", &slice, "--memory", memory, "--force"]);
            assert!(folder.read("part.npy") == want, "{text} {memory}");
            let output = folder
                .command(&["export", "a.b2nd", "-", "--slice", text, "--memory", memory])
                .output()
                .unwrap();
            assert!(output.stdout == want, "{text} {memory} to standard output");
        }
        for line in [
            ["slice", "a.b2nd", text, "-o", "part.npy", "--force"],
            ["slice", "-o", "part.npy", "a.b2nd", "--force", text],
        ] {
            folder.good(&line);
            assert!(folder.read("part.npy") == want, "{line:?}");
        }
    }
}

#[test]
fn printing_shows_the_values() {
    let folder = Folder::new();
    stored(&folder);
    assert_eq!(folder.good(&["slice", "a.b2nd", "0,0,:3"]), "[ 3 10 17]\n");
    assert_eq!(folder.good(&["slice", "a.b2nd", "0,0,[2,0]"]), "[17  3]\n");
    assert_eq!(folder.good(&["slice", "a.b2nd", "-1,-1,-1"]), format!("{}\n", 7 * (19 * 11 * 13 - 1) + 3));
    let edges = folder.good(&["slice", "a.b2nd", ":"]);
    assert!(edges.starts_with("[[[    3    10    17 ...    73    80    87]\n"), "{edges}");
    let last = 7 * (19 * 11 * 13 - 1) + 3;
    assert!(edges.trim_end().ends_with(&format!("{last}]]]")), "{edges}");
}

#[test]
fn a_dtype_may_be_said_where_the_file_says_none() {
    let folder = Folder::new();
    folder.write("v.npy", &npy("|V4", &[2], false, &[1, 0, 0, 0, 0, 0, 128, 63]));
    folder.good(&["import", "v.npy", "v.b2nd"]);
    folder.good(&["export", "v.b2nd", "u.npy", "--dtype", "<u4"]);
    assert_eq!(folder.read("u.npy"), npy("<u4", &[2], false, &[1, 0, 0, 0, 0, 0, 128, 63]));
    assert_eq!(folder.good(&["slice", "v.b2nd", "1", "--dtype", "<f4"]), "1.0\n");
    folder.fails(2, "2 bytes", &["export", "v.b2nd", "w.npy", "--dtype", "<i2"]);
    folder.fails(2, "dtype", &["export", "v.b2nd", "w.npy", "--dtype", "nonsense"]);
    folder.good(&["import", "u.npy", "u.b2nd"]);
    folder.fails(2, "<u4", &["export", "u.b2nd", "w.npy", "--dtype", "<f4"]);
}

#[test]
fn an_existing_output_stays_unless_forced() {
    let folder = Folder::new();
    stored(&folder);
    folder.write("out.npy", b"precious");
    for line in [["export", "a.b2nd", "out.npy"].as_slice(), &["slice", "a.b2nd", "0", "-o", "out.npy"]] {
        folder.fails(2, "exists", line);
        assert_eq!(folder.read("out.npy"), b"precious");
    }
    folder.fails(2, "input itself", &["export", "a.b2nd", "a.b2nd", "--force"]);
    folder.good(&["export", "a.b2nd", "out.npy", "--force"]);
    assert_eq!(folder.read("out.npy"), folder.read("in.npy"));
    assert_eq!(folder.names(), ["a.b2nd", "in.npy", "out.npy"]);
}

#[test]
fn damage_in_the_input_leaves_no_output() {
    let folder = Folder::new();
    stored(&folder);
    let mut bytes = folder.read("a.b2nd");
    let middle = bytes.len() / 2;
    bytes[middle..middle + 40].fill(0xff);
    folder.write("bad.b2nd", &bytes);
    folder.fails(1, "bad.b2nd", &["export", "bad.b2nd", "out.npy"]);
    folder.fails(1, "bad.b2nd", &["convert", "bad.b2nd", "out.b2nd"]);
    assert_eq!(folder.names(), ["a.b2nd", "bad.b2nd", "in.npy"]);
}

#[cfg(unix)]
#[test]
fn a_reader_that_goes_away_is_no_error() {
    let folder = Folder::new();
    folder.write("in.npy", &npy("<u4", &[1 << 20], false, &items(&[1 << 20])));
    folder.good(&["import", "in.npy", "a.b2nd"]);
    let mut command = folder.command(&["export", "a.b2nd", "-", "--memory", "64K"]);
    let mut child =
        command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(output.stderr, b"");
}

/// NumPy prints the scalar `a[0]` of bytes otherwise than the array without axes `a[0, ...]`.
#[test]
fn an_index_for_every_axis_prints_a_scalar() {
    let folder = Folder::new();
    folder.write("raw", b"ab\0\0cdef");
    folder.good(&["import", "raw", "a.b2nd", "--dtype", "|S4", "--shape", "2"]);
    assert_eq!(folder.good(&["slice", "a.b2nd", "0"]), "b'ab'\n");
    assert_eq!(folder.good(&["slice", "a.b2nd", "-1"]), "b'cdef'\n");
    assert_eq!(folder.good(&["slice", "a.b2nd", "0, ..."]), "np.bytes_(b'ab')\n");
}

#[cfg(unix)]
#[test]
fn what_is_replaced_keeps_its_permissions_and_its_links() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = Folder::new();
    folder.write("in.npy", &npy("<u4", &[5, 8], false, &items(&[5, 8])));
    let mode = |name: &str| std::fs::metadata(folder.path(name)).unwrap().permissions().mode() & 0o777;
    for (name, line) in [
        ("a.b2nd", &["import", "in.npy", "link", "--force"][..]),
        ("b.b2nd", &["convert", "a.b2nd", "link", "--force"]),
        ("out.npy", &["export", "a.b2nd", "link", "--force"]),
        ("out.raw", &["cat", "a.b2nd", "-o", "link", "--force"]),
        ("out.png", &["plot", "a.b2nd", "-o", "link", "--force"]),
    ] {
        folder.write(name, b"old");
        std::fs::set_permissions(folder.path(name), std::fs::Permissions::from_mode(0o600)).unwrap();
        symlink(name, folder.path("link")).unwrap();
        let (code, _, err) = folder.run(line);
        assert_eq!(code, 0, "{line:?}: {err}");
        assert!(folder.path("link").is_symlink() && folder.read(name) != b"old", "{line:?}");
        assert_eq!(mode(name), 0o600, "{line:?}");
        std::fs::remove_file(folder.path("link")).unwrap();
    }
    assert_eq!(folder.read("out.npy"), folder.read("in.npy"));
    assert!(folder.names().iter().all(|name| !name.contains("tmp")), "{:?}", folder.names());
    // Repaired in its place.
    let bytes = folder.read("a.b2nd");
    folder.write("a.b2nd", &bytes[..bytes.len() - 1]);
    assert!(folder.run(&["repair", "a.b2nd", "--in-place"]).0 <= 1);
    assert!(folder.path("a.b2nd.orig").exists());
    assert_eq!((mode("a.b2nd"), mode("a.b2nd.orig")), (0o600, 0o600));
}
