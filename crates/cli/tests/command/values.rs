//! The values of a slice: as text with other settings, as CSV, as JSON.

use serde_json::{Value, json};

use crate::support::{Folder, items, npy};

fn stored(folder: &Folder, descr: &str, shape: &[usize], bytes: &[u8]) {
    folder.write("in.npy", &npy(descr, shape, false, bytes));
    folder.good(&["import", "in.npy", "a.b2nd", "--force"]);
}

fn floats(values: &[f64]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

#[test]
fn thresholds_decide_whether_all_values_are_printed() {
    let folder = Folder::new();
    stored(&folder, "<u4", &[2000], &items(&[2000]));
    assert!(folder.good(&["slice", "a.b2nd", ":"]).contains("..."));
    let full = folder.good(&["slice", "a.b2nd", ":", "--full"]);
    let numbers: Vec<u32> =
        full.trim_matches(['[', ']', '\n']).split_whitespace().map(|word| word.parse().unwrap()).collect();
    assert_eq!(numbers, (0..2000).map(|n| 7 * n + 3).collect::<Vec<u32>>());
    assert_eq!(folder.good(&["slice", "a.b2nd", ":", "--threshold", "2000"]), full);
    assert_eq!(folder.good(&["slice", "a.b2nd", ":9", "--threshold", "8"]), "[ 3 10 17 ... 45 52 59]\n");
    folder.fails(3, "--format csv", &["slice", "a.b2nd", ":", "--full", "--memory", "4K"]);
    assert_eq!(folder.run(&["slice", "a.b2nd", ":", "--full", "--threshold", "5"]).0, 2);
    assert_eq!(folder.run(&["slice", "a.b2nd", ":", "--format", "csv", "-o", "x.npy"]).0, 2);
}

#[test]
fn precision_is_that_of_numpy() {
    let folder = Folder::new();
    stored(&folder, "<f8", &[3], &floats(&[std::f64::consts::PI, 2.0, -1.25]));
    assert_eq!(folder.good(&["slice", "a.b2nd", ":", "--precision", "3"]), "[ 3.142  2.    -1.25 ]\n");
    assert_eq!(folder.good(&["slice", "a.b2nd", ":", "--precision", "0"]), "[ 3.  2. -1.]\n");
    let long = "[ 3.141592653589793  2.                -1.25             ]\n";
    assert_eq!(folder.good(&["slice", "a.b2nd", ":", "--precision", "20"]), long);
    assert_eq!(
        folder.good(&["slice", "a.b2nd", ":", "--format", "csv", "--precision", "2"]),
        "3.14,2,-1.25\n"
    );
}

#[test]
fn csv_has_a_line_for_each_row() {
    let folder = Folder::new();
    stored(&folder, "<u4", &[40, 30], &items(&[40, 30]));
    let rows: Vec<String> = (0..40u32)
        .map(|row| {
            (0..30).map(|col| (7 * (row * 30 + col) + 3).to_string()).collect::<Vec<_>>().join(",") + "\n"
        })
        .collect();
    assert_eq!(folder.good(&["slice", "a.b2nd", ":", "--format", "csv"]), rows.concat());
    // In many small parts too.
    let small = ["slice", "a.b2nd", ":", "--format", "csv", "--memory", "4K"];
    assert_eq!(folder.good(&small), rows.concat());
    assert_eq!(folder.good(&["slice", "a.b2nd", "0,0", "--format", "csv"]), "3\n");
    assert_eq!(folder.good(&["slice", "a.b2nd", "5:5", "--format", "csv"]), "");
    stored(&folder, "<f8", &[4], &floats(&[f64::NAN, f64::INFINITY, -0.0, 1e300]));
    assert_eq!(folder.good(&["slice", "a.b2nd", ":", "--format", "csv"]), "nan,inf,-0,1e+300\n");
}

#[test]
fn texts_and_structures_are_csv_that_others_read() {
    let folder = Folder::new();
    stored(&folder, "|S4", &[3], b"a,b\0q\"\0\0xy\0\0");
    assert_eq!(folder.good(&["slice", "a.b2nd", ":", "--format", "csv"]), "\"a,b\",\"q\"\"\",xy\n");
    let mut bytes = Vec::new();
    for n in 0..2u8 {
        bytes.extend([n, 0, 0, 0]);
        bytes.extend(f32::from(n).to_le_bytes());
    }
    folder.write("raw", &bytes);
    let dtype = "[('n', '<i4'), ('x', '<f4')]";
    folder.good(&["import", "raw", "s.b2nd", "--dtype", dtype]);
    assert_eq!(folder.good(&["slice", "s.b2nd", ":", "--format", "csv"]), "n,x\n0,0\n1,1\n");
    let text = folder.good(&["slice", "s.b2nd", ":", "--format", "json"]);
    let value: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(value, json!([{ "n": 0, "x": 0.0 }, { "n": 1, "x": 1.0 }]));
}

#[test]
fn json_is_nested_lists_of_every_value() {
    let folder = Folder::new();
    stored(&folder, "<u4", &[3, 4, 5], &items(&[3, 4, 5]));
    let wanted: Vec<Vec<Vec<u32>>> = (0..3)
        .map(|i| (0..4).map(|j| (0..5).map(|k| 7 * ((i * 4 + j) * 5 + k) + 3).collect()).collect())
        .collect();
    for memory in ["256M", "2K"] {
        let text = folder.good(&["slice", "a.b2nd", ":", "--format", "json", "--memory", memory]);
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), json!(wanted));
    }
    let parse = |slice: &str| -> Value {
        serde_json::from_str(&folder.good(&["slice", "a.b2nd", slice, "--format", "json"])).unwrap()
    };
    assert_eq!(parse("0,0,0"), json!(3));
    assert_eq!(parse("1:1"), json!([]));
    assert_eq!(parse("0,:,1:1"), json!([[], [], [], []]));
}

#[test]
fn json_says_what_has_no_number_as_text() {
    let folder = Folder::new();
    let parse = || -> Value {
        serde_json::from_str(&folder.good(&["slice", "a.b2nd", ":", "--format", "json"])).unwrap()
    };
    stored(&folder, "<f8", &[4], &floats(&[f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.1]));
    assert_eq!(parse(), json!(["NaN", "Infinity", "-Infinity", 0.1]));
    stored(&folder, "<f4", &[1], &0.1f32.to_le_bytes());
    assert_eq!(parse(), json!([0.1]));
    stored(&folder, "<c16", &[1], &floats(&[1.5, -2.0]));
    assert_eq!(parse(), json!([[1.5, -2.0]]));
    stored(&folder, "|b1", &[2], &[1, 0]);
    assert_eq!(parse(), json!([true, false]));
    let days = [365i64, i64::MIN];
    stored(&folder, "<M8[D]", &[2], &days.map(i64::to_le_bytes).concat());
    assert_eq!(parse(), json!(["1971-01-01", null]));
    stored(&folder, "<u8", &[1], &u64::MAX.to_le_bytes());
    assert_eq!(parse(), json!([u64::MAX]));
}
