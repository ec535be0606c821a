//! `b2nd diff`: with `.npy` files, with tolerances, as JSON.

use serde_json::Value;

use crate::support::{Folder, fortran, items, npy};

fn floats(values: &[f64]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// Arrays and `.npy` files of the same names.
fn folder(arrays: &[(&str, &[f64])]) -> Folder {
    let folder = Folder::new();
    for (name, values) in arrays {
        folder.write(&format!("{name}.npy"), &npy("<f8", &[values.len()], false, &floats(values)));
        folder.good(&["import", &format!("{name}.npy"), &format!("{name}.b2nd")]);
    }
    folder
}

#[test]
fn arrays_and_npy_files_are_compared_either_way() {
    let folder = Folder::new();
    let shape = [40, 30];
    folder.write("c.npy", &npy("<u4", &shape, false, &items(&shape)));
    folder.write("f.npy", &npy("<u4", &shape, true, &fortran(&shape, &items(&shape))));
    folder.good(&["import", "c.npy", "a.b2nd", "--chunks", "7,8"]);
    for (a, b) in [("a.b2nd", "c.npy"), ("c.npy", "a.b2nd"), ("a.b2nd", "f.npy"), ("c.npy", "f.npy")] {
        for memory in ["256M", "4K"] {
            let text = folder.good(&["diff", a, b, "--memory", memory]);
            assert!(text.ends_with("are equal: (40, 30) <u4, 1200 items\n"), "{text}");
        }
    }
    let mut other = items(&shape);
    other[(12 * 30 + 7) * 4] ^= 1;
    folder.write("o.npy", &npy("<u4", &shape, false, &other));
    let (code, out, _) = folder.run(&["diff", "a.b2nd", "o.npy"]);
    assert!(
        code == 1 && out.contains("items: 1 of 1200 differ") && out.contains("within: [12:13, 7:8]"),
        "{out}"
    );
}

#[test]
fn tolerances_are_those_of_numpy() {
    let folder = folder(&[("a", &[100.0, 0.0, -5.0]), ("b", &[101.0, 0.0, -5.0])]);
    let code = |options: &[&str]| folder.run(&[&["diff", "a.b2nd", "b.b2nd"], options].concat()).0;
    assert_eq!(code(&[]), 1);
    assert_eq!((code(&["--atol", "1"]), code(&["--atol", "0.99"])), (0, 1));
    // Times the size of the number in the second array.
    assert_eq!((code(&["--rtol", "0.00991"]), code(&["--rtol", "0.0099"])), (0, 1));
    assert_eq!(folder.run(&["diff", "b.b2nd", "a.b2nd", "--rtol", "0.00991"]).0, 1);
    assert_eq!(code(&["--rtol", "-1"]), 2);
    let text = folder.good(&["diff", "a.b2nd", "b.npy", "--atol", "1"]);
    assert!(text.contains("are equal within the tolerance"), "{text}");
}

#[test]
fn nan_is_equal_to_nan_only_where_that_is_asked_for() {
    let folder = folder(&[("a", &[f64::NAN, 1.0]), ("n", &[-f64::NAN, 1.0]), ("z", &[0.0, 1.0])]);
    // The same bits are equal without a tolerance, as always; numbers are compared with one.
    folder.good(&["diff", "a.b2nd", "a.npy"]);
    assert_eq!(folder.run(&["diff", "a.b2nd", "a.npy", "--atol", "9"]).0, 1);
    assert_eq!(folder.run(&["diff", "a.b2nd", "n.npy"]).0, 1);
    folder.good(&["diff", "a.b2nd", "n.npy", "--equal-nan"]);
    assert_eq!(folder.run(&["diff", "a.b2nd", "z.npy", "--equal-nan"]).0, 1);
}

#[test]
fn a_tolerance_compares_numbers_of_different_dtypes() {
    let folder = folder(&[("a", &[1.0, 2.5])]);
    folder.write("s.npy", &npy("<f4", &[2], false, &[1f32.to_le_bytes(), 2.5f32.to_le_bytes()].concat()));
    let (code, out, _) = folder.run(&["diff", "a.b2nd", "s.npy"]);
    assert!(code == 1 && out.contains("dtype: <f8 and <f4"), "{out}");
    let text = folder.good(&["diff", "a.b2nd", "s.npy", "--rtol", "0"]);
    assert!(text.contains("note: dtype: <f8 and <f4"), "{text}");
}

#[test]
fn json_has_what_the_text_says() {
    let folder = folder(&[("a", &[1.0, 2.0, f64::NAN]), ("b", &[1.0, 2.5, 3.0])]);
    let json = |line: &[&str]| -> (i32, Value) {
        let (code, out, _) = folder.run(&[&["diff", "--json"], line].concat());
        (code, serde_json::from_str(&out).unwrap())
    };
    let (code, found) = json(&["a.b2nd", "b.b2nd"]);
    assert_eq!((code, &found["equal"], &found["different"]), (1, &false.into(), &2.into()));
    assert_eq!(found["first"]["index"], serde_json::json!([1]));
    assert_eq!((&found["largest_difference"], &found["nan"]), (&0.5.into(), &1.into()));
    assert_eq!(found["within"], serde_json::json!({ "start": [1], "stop": [3] }));
    let (code, found) = json(&["a.b2nd", "a.npy"]);
    assert_eq!((code, &found["equal"], &found["items"]), (0, &true.into(), &3.into()));
}
