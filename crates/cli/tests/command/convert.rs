use b2nd::{Array, Dtype, Options, Selection};

use crate::support::{Folder, items, npy};

const SHAPE: [usize; 2] = [60, 50];

fn source(folder: &Folder) -> Vec<u8> {
    let all = items(&SHAPE);
    let mut array = Options::new()
        .with_chunks([13, 17])
        .with_blocks([5, 6])
        .with_metalayer("mine", b"\x81\xa1x\x01".to_vec())
        .with_vlmetalayer("odd", b"\xc1 no msgpack".to_vec())
        .with_vlmetalayer("big", vec![7; 100_000])
        .create(folder.path("a.b2nd"), Dtype::parse("<u4").unwrap(), [60, 50])
        .unwrap();
    array.write_bytes(Selection::all(), &all).unwrap();
    all
}

/// Shape, contents, metalayers and attributes are those of the source.
fn is_same(folder: &Folder, name: &str, all: &[u8]) -> Array {
    let array = Array::open(folder.path(name)).unwrap();
    folder.good(&["export", name, "check.npy", "--force"]);
    assert!(folder.read("check.npy") == npy("<u4", &SHAPE, false, all), "{name}");
    let fixed: Vec<(&str, &[u8])> = array.schunk().metalayers().filter(|(name, _)| *name != "b2nd").collect();
    assert_eq!(fixed, [("mine", &b"\x81\xa1x\x01"[..])]);
    assert_eq!(array.schunk().vlmetalayer("odd").unwrap().unwrap(), b"\xc1 no msgpack");
    assert_eq!(array.schunk().vlmetalayer("big").unwrap().unwrap(), vec![7; 100_000]);
    array
}

#[test]
fn what_is_not_said_stays() {
    let folder = Folder::new();
    let all = source(&folder);
    folder.good(&["convert", "a.b2nd", "b.b2nd", "--codec", "lz4", "--level", "9", "--filter", "bitshuffle"]);
    folder.good(&["convert", "b.b2nd", "c.b2nd"]);
    let array = is_same(&folder, "c.b2nd", &all);
    assert_eq!((array.chunks(), array.blocks()), (&[13, 17][..], &[5, 6][..]));
    let info: serde_json::Value = serde_json::from_str(&folder.good(&["info", "c.b2nd", "--json"])).unwrap();
    assert_eq!((&info["codec"], &info["clevel"]), (&"lz4".into(), &9.into()));
    assert_eq!(info["filters"], serde_json::json!([{ "id": 2, "name": "bitshuffle", "meta": 0 }]));
    assert_eq!(info["layout"], "contiguous");
}

#[test]
fn other_chunks_and_layouts_with_any_memory() {
    let folder = Folder::new();
    let all = source(&folder);
    for memory in ["1", "2K", "1M"] {
        folder.good(&["convert", "a.b2nd", "b.b2nd", "--chunks", "7,50", "--memory", memory, "--force"]);
        assert_eq!(is_same(&folder, "b.b2nd", &all).chunks(), [7, 50]);
        folder.good(&["convert", "b.b2nd", "s.b2nd", "--sparse", "--memory", memory, "--force"]);
        is_same(&folder, "s.b2nd", &all);
        folder.good(&["convert", "s.b2nd", "o.b2nd", "--memory", memory, "--force"]);
        assert!(folder.path("s.b2nd").is_dir() && folder.path("o.b2nd").is_file());
        is_same(&folder, "o.b2nd", &all);
    }
}

#[test]
fn the_input_is_never_its_own_output() {
    let folder = Folder::new();
    let all = source(&folder);
    folder.good(&["convert", "a.b2nd", "s.b2nd", "--sparse"]);
    for (from, to) in
        [("a.b2nd", "a.b2nd"), ("a.b2nd", "./a.b2nd"), ("s.b2nd", "s.b2nd"), ("s.b2nd", "s.b2nd/inside.b2nd")]
    {
        folder.fails(2, "input itself", &["convert", from, to, "--force"]);
    }
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("a.b2nd", folder.path("link")).unwrap();
        std::fs::hard_link(folder.path("a.b2nd"), folder.path("hard")).unwrap();
        for (from, to) in [("link", "a.b2nd"), ("a.b2nd", "link"), ("a.b2nd", "hard")] {
            folder.fails(2, "input itself", &["convert", from, to, "--force"]);
        }
    }
    is_same(&folder, "a.b2nd", &all);
    is_same(&folder, "s.b2nd", &all);
}

#[test]
fn the_shape_is_checked() {
    let folder = Folder::new();
    source(&folder);
    folder.good(&["convert", "a.b2nd", "b.b2nd", "--shape", "60,50"]);
    folder.fails(2, "(60, 50)", &["convert", "a.b2nd", "c.b2nd", "--shape", "50,60"]);
    folder.fails(2, "exists", &["convert", "a.b2nd", "b.b2nd"]);
    assert_eq!(folder.names(), ["a.b2nd", "b.b2nd"]);
}

#[test]
fn a_slice_becomes_an_array_of_its_own() {
    let folder = Folder::new();
    let all = source(&folder);
    let array = Array::open(folder.path("a.b2nd")).unwrap();
    let cases = [
        ("13:52", &[39, 50][..], Some([13, 17])),
        ("5:20,17:", &[15, 33], Some([13, 17])),
        ("5:9", &[4, 50], None),
        ("::-1,::7", &[60, 8], None),
        ("...,-1", &[60], None),
        ("None,3", &[1, 50], None),
        ("3,4", &[], None),
        ("60:", &[0, 50], None),
    ];
    for (slice, shape, chunks) in cases {
        for memory in ["1", "1M"] {
            let args = ["convert", "a.b2nd", "b.b2nd", "--slice", slice, "--memory", memory, "--force"];
            folder.good(&args);
            let part = Array::open(folder.path("b.b2nd")).unwrap();
            assert_eq!(part.shape(), shape, "{slice}");
            let due = array.read_bytes(Selection::parse(slice).unwrap()).unwrap();
            assert!(part.read_bytes(Selection::all()).unwrap() == due, "{slice}");
            assert_eq!(part.schunk().vlmetalayer("big").unwrap().unwrap(), vec![7; 100_000]);
            match chunks {
                Some(chunks) => assert_eq!((part.chunks(), part.blocks()), (&chunks[..], &[5, 6][..])),
                None => assert_eq!(part.chunks(), shape, "{slice}"),
            }
        }
    }
    folder.good(&["convert", "a.b2nd", "c.b2nd", "--slice", "0", "--chunks", "9"]);
    assert_eq!(Array::open(folder.path("c.b2nd")).unwrap().chunks(), [9]);
    folder.fails(2, "3 lengths", &["convert", "a.b2nd", "d.b2nd", "--slice", "0", "--chunks", "9,9,9"]);
    folder.fails(2, "out of range", &["convert", "a.b2nd", "d.b2nd", "--slice", "60"]);
    is_same(&folder, "a.b2nd", &all);
    assert!(!folder.path("d.b2nd").exists());
}
