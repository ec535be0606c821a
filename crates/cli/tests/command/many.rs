//! Several files at once, folders of arrays, and what verbs say as JSON.

use serde_json::{Value, json};

use crate::support::{Folder, items, npy};

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("in.npy", &npy("<u4", &[40, 30], false, &items(&[40, 30])));
    for name in ["a.b2nd", "b.b2nd"] {
        folder.good(&["import", "in.npy", name, "--chunks", "10,8"]);
    }
    folder.good(&["convert", "a.b2nd", "torn.b2nd", "--sparse"]);
    std::fs::remove_file(folder.path("torn.b2nd/00000006.chunk")).unwrap();
    folder
}

#[test]
fn the_exit_code_of_several_files_is_that_of_the_worst() {
    let folder = folder();
    let out = folder.good(&["verify", "a.b2nd", "b.b2nd"]);
    assert!(out.contains("a.b2nd: OK") && out.contains("b.b2nd: OK") && out.lines().count() == 2, "{out}");
    let (code, out, _) = folder.run(&["verify", "torn.b2nd", "a.b2nd"]);
    assert!(code == 1 && out.contains("torn.b2nd: DAMAGED") && out.contains("a.b2nd: OK"), "{out}");
    let (code, out, err) = folder.run(&["verify", "in.npy", "torn.b2nd", "a.b2nd", "-q"]);
    assert!(code == 2 && err.contains("in.npy: is a NumPy file") && !out.contains("a.b2nd"), "{out}{err}");
    let (code, out, err) = folder.run(&["verify", "gone", "a.b2nd", "in.npy"]);
    assert!(
        code == 3 && out.contains("a.b2nd: OK") && err.contains("gone") && err.contains("in.npy"),
        "{out}{err}"
    );
    assert_eq!(folder.run(&["verify"]).0, 2);
    let out = folder.good(&["info", "a.b2nd", "b.b2nd"]);
    assert_eq!(out.matches("(40, 30)").count(), 2, "{out}");
    let (code, out, err) = folder.run(&["info", "in.npy", "b.b2nd"]);
    assert!(code == 2 && out.contains("(40, 30)") && err.contains("in.npy"), "{out}{err}");
}

#[test]
fn verify_says_as_json_what_is_damaged() {
    let folder = folder();
    let (code, out, _) = folder.run(&["verify", "--json", "a.b2nd", "torn.b2nd", "gone"]);
    let lines: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((code, lines.len()), (3, 3));
    assert_eq!(
        (&lines[0]["file"], &lines[0]["ok"], &lines[0]["damage"]),
        (&json!("a.b2nd"), &json!(true), &json!([]))
    );
    assert_eq!((&lines[1]["ok"], &lines[1]["damaged"]), (&json!(false), &json!(1)));
    let damage = &lines[1]["damage"][0];
    assert_eq!(
        (&damage["chunk"], &damage["start"], &damage["stop"]),
        (&json!(6), &json!([10, 16]), &json!([20, 24]))
    );
    assert_eq!((&lines[2]["ok"], &lines[2]["exit_code"]), (&json!(false), &json!(3)));
}

#[test]
fn repair_says_as_json_what_is_lost() {
    let folder = folder();
    let (code, out, _) = folder.run(&["repair", "torn.b2nd", "new.b2nd", "--json"]);
    let found: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, &found["whole"], &found["lost_places"]), (1, &json!(false), &json!(1)));
    assert_eq!(found["lost"][0]["chunk"], 6);
    let sound: Value = serde_json::from_str(&folder.good(&["repair", "a.b2nd", "r.b2nd", "--json"])).unwrap();
    assert_eq!((&sound["was_sound"], &sound["nchunks"]), (&json!(true), &json!(16)));
}

#[test]
fn info_has_the_values_of_attributes_and_the_names_of_axes() {
    let folder = folder();
    folder.good(&["attrs", "a.b2nd", "set", "units", "K"]);
    folder.good(&["attrs", "a.b2nd", "set", "_ARRAY_DIMENSIONS", r#"["lat", "lon"]"#]);
    folder.good(&["attrs", "a.b2nd", "set", "long", &format!("\"{}\"", "x".repeat(100_000))]);
    let info: Value = serde_json::from_str(&folder.good(&["info", "a.b2nd", "--json"])).unwrap();
    assert_eq!((&info["file"], &info["attributes"]["units"]), (&json!("a.b2nd"), &json!("K")));
    assert_eq!(info["dimensions"], json!(["lat", "lon"]));
    // Long ones are only counted.
    assert_eq!(info["attributes"]["long"], Value::Null);
    assert!(info["vlmetalayers"]["long"].as_u64().unwrap() > 100_000);
    assert!(folder.good(&["info", "a.b2nd"]).contains("dimensions    lat, lon\n"));
    // Names that do not fit the axes are none.
    folder.good(&["attrs", "a.b2nd", "set", "_ARRAY_DIMENSIONS", r#"["lat"]"#]);
    assert!(!folder.good(&["info", "a.b2nd"]).contains("dimensions"));
}

#[test]
fn a_folder_of_arrays_is_listed() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("set")).unwrap();
    folder.write("in.npy", &npy("<u4", &[4, 5], false, &items(&[4, 5])));
    for name in ["set/t2m.b2nd", "set/b.b2nd", "set/.dataset.b2nd"] {
        folder.good(&["import", "in.npy", name]);
    }
    folder.good(&["attrs", "set/t2m.b2nd", "set", "_ARRAY_DIMENSIONS", r#"["lat", "lon"]"#]);
    folder.good(&["attrs", "set/b.b2nd", "set", "_VARIABLE_NAME", "bias"]);
    folder.good(&["attrs", "set/.dataset.b2nd", "set", "_DATASET_ATTRIBUTES", r#"{"title": "a test"}"#]);
    folder.write("set/c.b2nd", b"no array");
    let out = folder.good(&["info", "set"]);
    for word in
        ["arrays        3\n", "(lat: 4, lon: 5) <u4, 80 B", "├─ bias", "└─ t2m", "cannot be opened", "title"]
    {
        assert!(out.contains(word), "{word}: {out}");
    }
    let info: Value = serde_json::from_str(&folder.good(&["info", "set", "--json"])).unwrap();
    assert_eq!(
        (&info["arrays"][0]["name"], &info["attributes"]),
        (&json!("bias"), &json!({ "title": "a test" }))
    );
    assert_eq!(info["arrays"][2]["dimensions"], json!(["lat", "lon"]));
}

#[test]
fn attributes_are_copied_as_json() {
    let folder = folder();
    for (name, value) in [("units", "\"K\""), ("scale", "[1, 2.5, null]"), ("map", r#"{"a": {"b": true}}"#)] {
        folder.good(&["attrs", "a.b2nd", "set", name, value]);
    }
    // What JSON has no words for.
    let options = b2nd::OpenOptions::new().with_write(true);
    let mut schunk = b2nd::SChunk::open(folder.path("a.b2nd"), &options).unwrap();
    schunk.set_vlmetalayer("bytes", b"\xc4\x02\x00\xff").unwrap();
    schunk.set_vlmetalayer("_FillValue", b"\xcb\x7f\xf8\0\0\0\0\0\0").unwrap();
    schunk.set_vlmetalayer("raw", b"\xc1").unwrap();
    drop(schunk);
    folder.good(&["attrs", "a.b2nd", "export", "all.json"]);
    assert_eq!(folder.read("all.json"), folder.good(&["attrs", "a.b2nd", "--json"]).as_bytes());
    assert_eq!(folder.read("all.json"), folder.good(&["attrs", "a.b2nd", "export"]).as_bytes());
    folder.fails(2, "exists", &["attrs", "a.b2nd", "export", "all.json"]);
    folder.good(&["attrs", "b.b2nd", "set", "own", "1"]);
    folder.good(&["attrs", "b.b2nd", "import", "all.json"]);
    let open = |name: &str| b2nd::SChunk::open(folder.path(name), &b2nd::OpenOptions::new()).unwrap();
    let (a, b) = (open("a.b2nd"), open("b.b2nd"));
    for name in ["units", "scale", "map", "bytes", "_FillValue", "raw"] {
        assert_eq!(a.vlmetalayer(name).unwrap(), b.vlmetalayer(name).unwrap(), "{name}");
    }
    assert_eq!(folder.good(&["attrs", "b.b2nd", "get", "own"]), "1\n");
}

#[test]
fn json_that_is_no_object_sets_nothing() {
    let folder = folder();
    let before = folder.read("a.b2nd");
    for (text, word) in [("[1]", "not an object"), ("{", "not JSON")] {
        folder.write("x.json", text.as_bytes());
        folder.fails(2, word, &["attrs", "a.b2nd", "import", "x.json"]);
    }
    folder.fails(2, "needs the name", &["attrs", "a.b2nd", "import"]);
    folder.fails(3, "gone.json", &["attrs", "a.b2nd", "import", "gone.json"]);
    assert_eq!(folder.read("a.b2nd"), before);
    let (code, ..) = folder.feed(br#"{"n": 5}"#, &["attrs", "a.b2nd", "import", "-"]);
    assert_eq!((code, folder.good(&["attrs", "a.b2nd"])), (0, "n: 5\n".to_owned()));
}

#[test]
fn convert_changes_the_dtype_as_astype_does() {
    let folder = Folder::new();
    let values = [1.9f64, -1.9, 300.0, 7.0];
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    folder.write("in.npy", &npy("<f8", &[2, 2], false, &bytes));
    folder.good(&["import", "in.npy", "a.b2nd"]);
    folder.good(&["attrs", "a.b2nd", "set", "units", "K"]);
    for memory in ["256M", "64"] {
        folder.good(&["convert", "a.b2nd", "b.b2nd", "--dtype", "<i2", "--force", "--memory", memory]);
        assert_eq!(folder.good(&["slice", "b.b2nd", ":", "--format", "csv"]), "1,-1\n300,7\n");
    }
    let info: Value = serde_json::from_str(&folder.good(&["info", "b.b2nd", "--json"])).unwrap();
    assert_eq!(
        (&info["dtype"], &info["attributes"]["units"], &info["typesize"]),
        (&json!("<i2"), &json!("K"), &json!(2))
    );
    folder.good(&["convert", "a.b2nd", "c.b2nd", "--dtype", "<f4", "--slice", "1,::-1"]);
    assert_eq!(folder.good(&["slice", "c.b2nd", ":", "--format", "csv"]), "7,300\n");
    folder.fails(2, "--dtype converts", &["convert", "a.b2nd", "d.b2nd", "--dtype", "<M8[s]"]);
}
