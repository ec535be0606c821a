//! Holds `docs/PARITY.md` against the code: every test that it names is there.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, in its helper functions too")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// The rows of the tables: their cells, without heads and rules.
fn rows(page: &str) -> Vec<Vec<&str>> {
    let cells = |line: &str| -> usize { line.matches('|').count() };
    page.lines()
        .filter(|line| line.starts_with('|') && cells(line) > 2)
        .map(|line| line.trim_matches('|').split('|').map(str::trim).collect::<Vec<_>>())
        .filter(|row| !row[0].starts_with("---") && row[0] != "theirs")
        .collect()
}

/// What stands between backquotes and looks like `file.rs::test`.
fn named_tests(cell: &str) -> Vec<(&str, &str)> {
    cell.split('`').skip(1).step_by(2).filter_map(|text| text.split_once("::")).collect()
}

#[test]
fn every_row_of_the_parity_table_names_a_test_that_exists_or_a_reason() {
    let page = fs::read_to_string(root().join("docs/PARITY.md")).unwrap();
    let (mut wrong, mut tests) = (Vec::new(), BTreeSet::new());
    let rows = rows(&page);
    for row in &rows {
        let [theirs, ours, shown] = row.as_slice() else {
            wrong.push(format!("not three cells: {row:?}"));
            continue;
        };
        let named = named_tests(shown);
        let has_reason = ours.starts_with("none: ") && ours.len() > 20;
        if named.is_empty() && !has_reason {
            wrong.push(format!("{theirs}: neither a test nor a reason"));
        }
        for (file, test) in named {
            tests.insert(test);
            let text = fs::read_to_string(root().join("crates").join(file)).unwrap_or_default();
            let is_doctest = test == "example" && text.contains("/// ```");
            if !is_doctest && !text.contains(&format!("fn {test}(")) {
                wrong.push(format!("{theirs}: there is no test {test} in crates/{file}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(rows.len() > 100 && tests.len() > 30, "{} rows, {} tests", rows.len(), tests.len());
}
