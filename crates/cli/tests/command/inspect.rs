use serde_json::{Value, json};

use b2nd::{Dtype, Fill, Options};

use crate::support::{Folder, items, npy};

const SHAPE: [usize; 2] = [40, 30];

fn stored(folder: &Folder, name: &str, options: &[&str]) {
    folder.write("in.npy", &npy("<u4", &SHAPE, false, &items(&SHAPE)));
    folder.good(&[&["import", "in.npy", name, "--chunks", "10,8", "--blocks", "5,4"][..], options].concat());
}

#[test]
fn a_header_that_another_program_has_rewritten_is_named() {
    let folder = Folder::new();
    stored(&folder, "a.b2nd", &[]);
    let info: Value = serde_json::from_str(&folder.good(&["info", "a.b2nd", "--json"])).unwrap();
    assert_eq!(info["rewritten"], Value::Null);
    assert!(folder.good(&["verify", "a.b2nd"]).ends_with("checksums match\n"));
    // The numbers of threads that C-Blosc2 writes.
    let mut bytes = std::fs::read(folder.path("a.b2nd")).unwrap();
    (bytes[64], bytes[67]) = (4, 1);
    folder.write("a.b2nd", &bytes);
    let info: Value = serde_json::from_str(&folder.good(&["info", "a.b2nd", "--json"])).unwrap();
    assert_eq!(info["rewritten"], "header");
    for verb in ["info", "verify"] {
        let text = folder.good(&[verb, "a.b2nd"]);
        assert!(
            text.contains("another program (C-Blosc2, python-blosc2) has rewritten the header"),
            "{text}"
        );
    }
}

#[test]
fn info_has_the_promised_keys() {
    let folder = Folder::new();
    stored(&folder, "a.b2nd", &["--codec", "zlib", "--level", "7", "--filter", "delta,shuffle"]);
    stored(&folder, "s.b2nd", &["--sparse"]);
    let info: Value = serde_json::from_str(&folder.good(&["info", "a.b2nd", "--json"])).unwrap();
    let want = json!({
        "shape": [40, 30], "dtype": "<u4", "chunks": [10, 8], "blocks": [5, 4], "codec": "zlib", "clevel": 7,
        "filters": [{ "id": 3, "name": "delta", "meta": 0 }, { "id": 1, "name": "shuffle", "meta": 0 }],
        "nbytes": 4800, "layout": "contiguous", "metalayer": "b2nd-7", "nchunks": 16,
    });
    for (key, value) in want.as_object().unwrap() {
        assert_eq!(&info[key], value, "{key}");
    }
    assert!(info["cbytes"].as_u64().unwrap() > 0);
    assert_eq!(info["dictionary"], false);
    assert_eq!(info["chunk_kinds"]["data"], 16);
    assert!(info["chunk_kinds"]["smallest_ratio"].as_f64() <= info["chunk_kinds"]["largest_ratio"].as_f64());
    let sparse: Value = serde_json::from_str(&folder.good(&["info", "s.b2nd", "--json"])).unwrap();
    assert_eq!(sparse["layout"], "sparse");
    let table = folder.good(&["info", "a.b2nd"]);
    for word in
        ["(40, 30)", "<u4", "(10, 8)", "(5, 4)", "zlib, level 7", "delta,shuffle", "4800 bytes", "b2nd-7"]
    {
        assert!(table.contains(word), "{word}: {table}");
    }
}

#[test]
fn info_counts_the_chunks_by_what_they_hold() {
    let folder = Folder::new();
    // Three chunks: zeros, a constant, which compresses best, and numbers.
    let mut plain = vec![0; 4000];
    plain.extend([7, 0, 0, 0].repeat(1000));
    plain.extend(items(&[1000]));
    folder.write("in.npy", &npy("<u4", &[3000], false, &plain));
    folder.good(&["import", "in.npy", "a.b2nd", "--chunks", "1000", "--blocks", "1000", "--codec", "lz4:3"]);
    let table = folder.good(&["info", "a.b2nd"]);
    assert!(table.contains("lz4:3, level 5"), "{table}");
    assert!(table.contains("2 with data (") && table.contains("x), 1 of zeros"), "{table}");
    let kinds: Value = serde_json::from_str(&folder.good(&["info", "a.b2nd", "--json"])).unwrap();
    assert_eq!((&kinds["chunk_kinds"]["zeros"], &kinds["codec_meta"]), (&json!(1), &json!(3)));
    folder.good(&["convert", "a.b2nd", "c.b2nd", "--level", "6"]);
    assert!(
        folder.good(&["info", "c.b2nd"]).contains("lz4:3, level 6"),
        "the parameter stays with its codec"
    );
    let fill = Fill::Value(vec![9, 0]);
    let empty = Options::new().with_fill(fill).with_chunks([10]);
    drop(empty.create(folder.path("v.b2nd"), Dtype::parse("<u2").unwrap(), [40]).unwrap());
    assert!(folder.good(&["info", "v.b2nd"]).contains("4 of one value"));
}

#[test]
fn a_sound_file_verifies_and_a_damaged_one_says_where() {
    let folder = Folder::new();
    for layout in [&[][..], &["--sparse"]] {
        stored(&folder, "a.b2nd", &[&["--force"], layout].concat());
        let out = folder.good(&["verify", "a.b2nd"]);
        assert!(out.contains("OK") && out.contains("16 chunks"), "{out}");
    }
    std::fs::remove_file(folder.path("a.b2nd/00000006.chunk")).unwrap();
    let (code, out, err) = folder.run(&["verify", "a.b2nd"]);
    assert_eq!(code, 1, "{out}{err}");
    // Chunk 6 is in the second row of chunks, the third column.
    assert!(out.contains("chunk 6") && out.contains("items [10:20, 16:24]"), "{out}{err}");
    assert!(out.contains("DAMAGED in 1 place:"), "{out}");
}

#[test]
fn a_damaged_header_is_damage() {
    let folder = Folder::new();
    stored(&folder, "a.b2nd", &[]);
    let bytes = folder.read("a.b2nd");
    folder.write("cut.b2nd", &bytes[..bytes.len() / 2]);
    folder.write(
        "text.b2nd",
        b"not a frame at all, but a text that is long enough to hold a header of one, or so it seems",
    );
    folder.write("empty.b2nd", b"");
    let mut headless = bytes.clone();
    headless[..40].fill(0xaa);
    folder.write("headless.b2nd", &headless);
    for name in ["cut.b2nd", "headless.b2nd", "empty.b2nd"] {
        for verb in ["verify", "info", "attrs"] {
            folder.fails(1, name, &[verb, name]);
        }
    }
    folder.fails(1, "its beginning is damaged", &["info", "headless.b2nd"]);
    folder.fails(2, "is a text, not a Blosc2 file", &["info", "text.b2nd"]);
    folder.write("other.b2nd", &[0xaa; 300]);
    folder.fails(2, "is not a Blosc2 file", &["verify", "other.b2nd"]);
    folder.fails(1, "not a Blosc2 file", &["cat", "empty.b2nd"]);
    folder.fails(1, "cut off", &["info", "cut.b2nd"]);
    folder.fails(1, "lists the frames", &["info", "a.b2nd", "--offset", "7"]);
}

#[test]
fn a_file_of_another_kind_is_called_by_its_name() {
    let folder = Folder::new();
    stored(&folder, "a.b2nd", &[]);
    folder.write("b.npy", &npy("<u4", &SHAPE, false, &items(&SHAPE)));
    std::fs::create_dir(folder.path("empty")).unwrap();
    let params = b2nd::Params::new(4);
    let chunk = b2nd::chunk::encode(&items(&SHAPE), &params, &b2nd::Exec::new(1)).unwrap();
    folder.write("c.chunk", &chunk);
    for (name, word) in
        [("b.npy", "b2nd import"), ("empty", "chunks.b2frame"), ("c.chunk", "a bare Blosc chunk")]
    {
        for line in [&["verify", name][..], &["slice", name, "0"], &["attrs", name]] {
            folder.fails(2, word, line);
        }
        if name != "c.chunk" {
            folder.fails(2, word, &["info", name]);
            folder.fails(2, word, &["cat", name]);
        }
    }
    stored(&folder, "s.b2nd", &["--sparse"]);
    folder.fails(2, "the folder", &["info", "s.b2nd/chunks.b2frame"]);
}

#[test]
fn damage_of_a_short_chunk_names_all_its_items() {
    let folder = Folder::new();
    folder.write("a.npy", &npy("<u4", &[1000], false, &items(&[1000])));
    folder.good(&["import", "a.npy", "a.b2nd", "--chunks", "800", "--blocks", "200", "--sparse"]);
    // Of the second chunk only the first block has items. The length of a stream in its last block becomes absurd.
    let mut bytes = folder.read("a.b2nd/00000001.chunk");
    let start = u32::from_le_bytes(bytes[44..48].try_into().unwrap()) as usize;
    bytes[start..start + 4].copy_from_slice(&i32::MAX.to_le_bytes());
    folder.write("a.b2nd/00000001.chunk", &bytes);
    let (code, out, err) = folder.run(&["verify", "a.b2nd"]);
    assert_eq!(code, 1, "{out}{err}");
    // It has one checksum for all of its blocks.
    assert!(
        out.contains("chunk 1: items [800:1000]: ") && out.contains("do not match their checksum"),
        "{out}"
    );
}

#[test]
fn diff_counts_nan_apart_from_distances() {
    let folder = Folder::new();
    let bytes = |items: [f32; 4]| items.iter().flat_map(|item| item.to_le_bytes()).collect::<Vec<u8>>();
    for (name, items) in [
        ("numbers", [1.0, 2.0, 3.0, 4.0]),
        ("nan", [1.0, f32::NAN, 3.0, 4.0]),
        ("both", [1.0, f32::NAN, 3.5, 4.0]),
    ] {
        folder.write(&format!("{name}.npy"), &npy("<f4", &[4], false, &bytes(items)));
        folder.good(&["import", &format!("{name}.npy"), &format!("{name}.b2nd")]);
    }
    let (code, out, _) = folder.run(&["diff", "numbers.b2nd", "nan.b2nd"]);
    assert!(code == 1 && out.contains("NaN on one side or both: 1 item\n"), "{out}");
    assert!(!out.contains("largest difference"), "{out}");
    let (_, out, _) = folder.run(&["diff", "numbers.b2nd", "both.b2nd"]);
    assert!(out.contains("largest difference: 0.5\n") && out.contains("both: 1 item\n"), "{out}");
}

#[test]
fn diff_finds_every_difference() {
    let folder = Folder::new();
    stored(&folder, "a.b2nd", &[]);
    folder.good(&["convert", "a.b2nd", "b.b2nd", "--chunks", "40,7", "--codec", "lz4", "--sparse"]);
    assert!(folder.good(&["diff", "a.b2nd", "b.b2nd"]).contains("equal"));
    let mut other = items(&SHAPE);
    for (row, col, value) in [(12, 20, 1000u32), (30, 5, 0), (12, 7, 1)] {
        other[(row * 30 + col) * 4..][..4].copy_from_slice(&value.to_le_bytes());
    }
    folder.write("other.npy", &npy("<u4", &SHAPE, false, &other));
    folder.good(&["import", "other.npy", "c.b2nd"]);
    let (code, out, _) = folder.run(&["diff", "a.b2nd", "c.b2nd"]);
    assert_eq!(code, 1);
    let first = 7 * (12 * 30 + 7) + 3;
    let furthest = 7 * (30 * 30 + 5) + 3;
    for line in [
        "items: 3 of 1200 differ".to_owned(),
        format!("first: [12, 7]: {first} and 1"),
        "within: [12:31, 5:21]".to_owned(),
        format!("largest difference: {furthest}\n"),
    ] {
        assert!(out.contains(&line), "{line}: {out}");
    }
}

#[test]
fn diff_tells_shapes_and_dtypes_apart_and_attributes_only_as_a_note() {
    let folder = Folder::new();
    stored(&folder, "a.b2nd", &[]);
    folder.write("s.npy", &npy("<u4", &[30, 40], false, &items(&SHAPE)));
    folder.write("d.npy", &npy("<i4", &SHAPE, false, &items(&SHAPE)));
    folder.good(&["import", "s.npy", "s.b2nd"]);
    folder.good(&["import", "d.npy", "d.b2nd"]);
    let (code, out, _) = folder.run(&["diff", "a.b2nd", "s.b2nd"]);
    assert!(code == 1 && out.contains("shape: (40, 30) and (30, 40)"), "{out}");
    let (code, out, _) = folder.run(&["diff", "a.b2nd", "d.b2nd"]);
    assert!(code == 1 && out.contains("dtype: <u4 and <i4"), "{out}");
    folder.good(&["convert", "a.b2nd", "n.b2nd"]);
    folder.good(&["attrs", "n.b2nd", "set", "units", "kelvin"]);
    assert!(
        folder
            .good(&["diff", "a.b2nd", "n.b2nd"])
            .contains("note: attribute \"units\" is only in the second")
    );
}

#[test]
fn equal_nans_are_equal() {
    let folder = Folder::new();
    let bytes: Vec<u8> = [f32::NAN, 1.0].iter().flat_map(|x| x.to_le_bytes()).collect();
    folder.write("n.npy", &npy("<f4", &[2], false, &bytes));
    folder.good(&["import", "n.npy", "a.b2nd"]);
    folder.good(&["import", "n.npy", "b.b2nd", "--codec", "lz4"]);
    folder.good(&["diff", "a.b2nd", "b.b2nd"]);
}

#[test]
fn dead_bytes_do_not_count_as_compressed() {
    let folder = Folder::new();
    stored(&folder, "a.b2nd", &[]);
    let sizes = || -> (u64, u64) {
        let info: Value = serde_json::from_str(&folder.good(&["info", "a.b2nd", "--json"])).unwrap();
        (info["cbytes"].as_u64().unwrap(), info["dead"].as_u64().unwrap())
    };
    let (before, dead) = sizes();
    assert_eq!(dead, 0);
    let ratio = |text: &str| text.lines().find(|line| line.starts_with("ratio")).unwrap().to_owned();
    let first = ratio(&folder.good(&["info", "a.b2nd"]));
    for n in 0..24 {
        folder.good(&["attrs", "a.b2nd", "set", &format!("name{}", n % 12), "1"]);
    }
    let (after, dead) = sizes();
    assert!(after == before && dead > 0, "{before} {after} {dead}");
    let table = folder.good(&["info", "a.b2nd"]);
    assert_eq!(ratio(&table), first);
    assert!(table.contains("dead bytes"), "{table}");
}

#[test]
fn info_counts_dead_bytes_and_compact_gives_them_back() {
    let folder = Folder::new();
    stored(&folder, "a.b2nd", &["--level", "0"]);
    let dead = || -> (u64, u64) {
        let info: Value = serde_json::from_str(&folder.good(&["info", "a.b2nd", "--json"])).unwrap();
        (info["dead"].as_u64().unwrap(), info["stored"].as_u64().unwrap())
    };
    assert_eq!(dead(), (0, folder.read("a.b2nd").len() as u64));
    folder.good(&["append", "a.b2nd", "in.npy"]);
    folder.good(&["attrs", "a.b2nd", "set", "units", "\"K\""]);
    let (gone, stored) = dead();
    assert_eq!(stored, folder.read("a.b2nd").len() as u64);
    assert!(gone > 100, "{gone}");
    let share = format!("({:.1} %)", 100.0 * gone as f64 / stored as f64);
    assert!(folder.good(&["info", "a.b2nd"]).contains(&share));
    folder.good(&["export", "a.b2nd", "before.npy"]);
    let told = folder.good(&["compact", "a.b2nd"]);
    assert!(told.contains(" → ") && told.contains("0 B of dead bytes left"), "{told}");
    // The offsets are compressed anew.
    let (left, now) = dead();
    assert!(left == 0 && now <= stored - gone + 50 && now == folder.read("a.b2nd").len() as u64, "{now}");
    folder.good(&["export", "a.b2nd", "after.npy"]);
    assert_eq!(folder.read("before.npy"), folder.read("after.npy"));
    folder.fails(3, "gone.b2nd", &["compact", "gone.b2nd"]);
}

#[test]
fn lazy_expressions_of_python_blosc2_are_named_and_not_read() {
    let folder = Folder::new();
    let fixtures = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../b2nd/tests/fixtures/objects");
    for (name, what) in [
        ("lazyexpr.b2nd", "a lazy expression of python-blosc2"),
        ("lazyudf.b2nd", "a lazy function of python-blosc2"),
    ] {
        let path = fixtures.join(name);
        let file = path.to_str().unwrap();
        for verb in ["info", "verify"] {
            let said = folder.good(&[verb, file]);
            assert!(said.contains(what) && said.contains("without data"), "{verb}: {said}");
        }
        let info: Value = serde_json::from_str(&folder.good(&["info", file, "--json"])).unwrap();
        assert!(what.starts_with(info["object"].as_str().unwrap()) && info["shape"].is_null(), "{info}");
        for args in [
            &["slice", file, "0"][..],
            &["cat", file],
            &["export", file, "a.npy"],
            &["convert", file, "a.b2nd"],
        ] {
            folder.fails(1, what, args);
        }
        assert!(!folder.path("a.npy").exists() && !folder.path("a.b2nd").exists());
    }
}
