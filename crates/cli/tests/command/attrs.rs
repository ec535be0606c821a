use crate::support::{Folder, items, npy};

fn array(folder: &Folder, layout: &[&str]) {
    folder.write("in.npy", &npy("<u4", &[40], false, &items(&[40])));
    folder.good(&[&["import", "in.npy", "a.b2nd", "--chunks", "7"][..], layout].concat());
}

#[test]
fn attributes_are_set_shown_listed_and_removed() {
    for layout in [&[][..], &["--sparse"]] {
        let folder = Folder::new();
        array(&folder, layout);
        assert_eq!(folder.good(&["attrs", "a.b2nd"]), "");
        folder.good(&["attrs", "a.b2nd", "set", "units", "kelvin"]);
        folder.good(&["attrs", "a.b2nd", "set", "place", r#"{"z": [1, -2.5, null], "a": true}"#]);
        folder.good(&["attrs", "a.b2nd", "set", "offset", "-5"]);
        assert_eq!(folder.good(&["attrs", "a.b2nd", "get", "units"]), "\"kelvin\"\n");
        let all = "units: \"kelvin\"\nplace: {\"z\":[1,-2.5,null],\"a\":true}\noffset: -5\n";
        assert_eq!(folder.good(&["attrs", "a.b2nd"]), all);
        folder.good(&["attrs", "a.b2nd", "set", "units", "\"K\""]);
        folder.good(&["attrs", "a.b2nd", "rm", "place"]);
        assert_eq!(folder.good(&["attrs", "a.b2nd"]), "units: \"K\"\noffset: -5\n");
        // The items are as they were.
        folder.good(&["export", "a.b2nd", "out.npy"]);
        assert_eq!(folder.read("out.npy"), folder.read("in.npy"));
    }
}

#[test]
fn wrong_use_changes_nothing() {
    let folder = Folder::new();
    array(&folder, &[]);
    folder.good(&["attrs", "a.b2nd", "set", "units", "kelvin"]);
    let before = folder.read("a.b2nd");
    folder.fails(2, "other", &["attrs", "a.b2nd", "rm", "other"]);
    folder.fails(2, "units", &["attrs", "a.b2nd", "get", "other"]);
    folder.fails(2, "value", &["attrs", "a.b2nd", "set", "units"]);
    folder.fails(2, "extra", &["attrs", "a.b2nd", "get", "units", "extra"]);
    assert_eq!(folder.run(&["attrs", "a.b2nd", "get"]).0, 2);
    assert_eq!(folder.run(&["attrs", "a.b2nd", "drop", "units"]).0, 2);
    assert_eq!(folder.read("a.b2nd"), before);
}

#[test]
fn a_warning_comes_with_as_many_attributes_as_other_programs_can_handle() {
    for (plain, most) in [(false, 15), (true, 16)] {
        let folder = Folder::new();
        array(&folder, &[]);
        if plain {
            let bytes = folder.read("a.b2nd");
            let array = b2nd::Array::from_bytes(bytes, &b2nd::OpenOptions::new()).unwrap();
            let options = b2nd::SaveOptions::new().with_checksums(false).with_overwrite(true);
            array.schunk().save(folder.path("a.b2nd"), &options).unwrap();
        }
        for n in 1..=most + 1 {
            let set = |value: &str| folder.run(&["attrs", "a.b2nd", "set", &format!("name{n}"), value]);
            let (code, _, err) = set("1");
            assert_eq!(code, 0, "{err}");
            assert_eq!(err.contains("warning: a.b2nd: it has"), n >= most, "{n}, {plain}: {err}");
            assert_eq!(err.contains("cannot change the attributes"), n > most, "{n}, {plain}: {err}");
            // A new value takes no more room.
            assert_eq!(set("2").2, "");
        }
    }
}
