//! Keeps the house in order: floors, circles between files, and where `unsafe` and `std::fs` may be.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, in its helper functions too")]

mod circles;
mod paths;
mod signatures;
mod source;
mod type_names;

use std::fs;
use std::path::{Path, PathBuf};

/// The floors of the library, lowest first. What stands together is one floor.
const FLOORS: &[&[&str]] = &[
    &["error", "limits"],
    &["wire"],
    &["registry"],
    &["codec", "filter"],
    &["exec"],
    &["chunk"],
    &["frame"],
    &["io"],
    &["schunk"],
    &["array"],
    &["repair"],
];

/// Files that may hold `unsafe`, as prefixes, with the reason.
const UNSAFE_PLACES: &[(&str, &str)] = &[
    ("crates/kernel/src/", "the byte kernels"),
    ("crates/bench/src/rival/", "calls into the C library that is measured against"),
    ("crates/testkit/src/refuse.rs", "an allocator for tests"),
    ("python/src/buffer.rs", "bytes of Python objects, in and out without a copy"),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Every Rust file of the workspace, by its path from the root.
fn rust_files() -> Vec<(String, String)> {
    fn walk(dir: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() {
                if name != "target" && !name.starts_with('.') {
                    walk(&path, found);
                }
            } else if name.ends_with(".rs") {
                found.push(path);
            }
        }
    }
    let root = root();
    let mut found = Vec::new();
    walk(&root.join("crates"), &mut found);
    for place in ["fuzz", "python/src"] {
        if root.join(place).is_dir() {
            walk(&root.join(place), &mut found);
        }
    }
    found.sort();
    let name = |path: &PathBuf| path.strip_prefix(&root).unwrap().to_string_lossy().replace('\\', "/");
    found.iter().map(|path| (name(path), fs::read_to_string(path).unwrap())).collect()
}

fn is_test(name: &str) -> bool {
    name.ends_with("/tests.rs") || name.contains("/tests/") || name.ends_with("_tests.rs")
}

/// The code of a file without its comments, line by line with numbers.
fn code(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines().enumerate().map(|(n, line)| (n + 1, line.split("//").next().unwrap_or("")))
}

fn floor_of(name: &str) -> Option<usize> {
    FLOORS.iter().position(|floor| floor.contains(&name))
}

/// The words that follow `crate::` in a line.
fn imports(line: &str) -> impl Iterator<Item = &str> {
    let preceded = |at: usize| line[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '$');
    line.match_indices("crate::").filter(move |(at, _)| !preceded(*at)).map(|(at, found)| {
        let rest = &line[at + found.len()..];
        &rest[..rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len())]
    })
}

#[test]
fn no_floor_imports_one_above_it() {
    let mut wrong = Vec::new();
    let mut looked = 0;
    for (name, text) in rust_files() {
        let Some(inside) = name.strip_prefix("crates/b2nd/src/") else { continue };
        if is_test(&name) {
            // A test may look at what its floor means for those above.
            continue;
        }
        let own = inside.split(['/', '.']).next().unwrap_or("");
        let Some(floor) = floor_of(own) else { continue };
        for (line, code) in code(&text) {
            for import in imports(code) {
                looked += 1;
                if import.is_empty() {
                    wrong.push(format!("{name}:{line}: write one path for each `use crate::`"));
                } else if floor_of(import).is_some_and(|other| other > floor) {
                    wrong.push(format!("{name}:{line}: '{own}' imports '{import}', a floor above it"));
                }
            }
        }
    }
    assert!(looked > 50, "only {looked} imports were seen: the test looks in the wrong place");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_module_of_the_library_has_a_floor() {
    for entry in fs::read_dir(root().join("crates/b2nd/src")).unwrap() {
        let name = entry.unwrap().file_name().to_string_lossy().into_owned();
        let module = name.trim_end_matches(".rs");
        assert!(
            module == "lib" || floor_of(module).is_some(),
            "'{module}' stands on no floor: name it in this test"
        );
    }
}

#[test]
fn unsafe_stays_in_its_places() {
    let word = ["un", "safe"].concat();
    let mut wrong = Vec::new();
    for (name, text) in rust_files() {
        if UNSAFE_PLACES.iter().any(|(place, _)| name.starts_with(place))
            || name.starts_with("crates/kernel/")
        {
            continue;
        }
        for (line, code) in code(&text) {
            let words = code.split(|c: char| !c.is_alphanumeric() && c != '_');
            let in_text = code.contains('"') || code.trim_start().starts_with("#!");
            if words.clone().any(|w| w == word) && !in_text {
                wrong.push(format!("{name}:{line}"));
            }
        }
    }
    assert!(wrong.is_empty(), "`{word}` outside its places:\n{}", wrong.join("\n"));
    let library = fs::read_to_string(root().join("crates/b2nd/src/lib.rs")).unwrap();
    assert!(library.contains("#![forbid(unsafe_code)]"));
}

#[test]
fn files_are_touched_on_the_io_floor_only() {
    let mut wrong = Vec::new();
    for (name, text) in rust_files() {
        let inside = name.strip_prefix("crates/b2nd/src/").is_some_and(|inside| !inside.starts_with("io/"));
        if !inside || is_test(&name) {
            continue;
        }
        // Tests at the end of a file may use the file system.
        let library = text.split("#[cfg(test)]").next().unwrap_or("");
        wrong.extend(
            code(library).filter(|(_, c)| c.contains("std::fs")).map(|(line, _)| format!("{name}:{line}")),
        );
    }
    assert!(wrong.is_empty(), "`std::fs` above or below the io floor:\n{}", wrong.join("\n"));
}

#[test]
fn the_library_reads_no_environment() {
    let mut wrong = Vec::new();
    for (name, text) in rust_files() {
        let library = name.starts_with("crates/b2nd/src/") || name.starts_with("crates/kernel/src/");
        if library && !is_test(&name) {
            wrong.extend(
                code(&text).filter(|(_, c)| c.contains("env::var")).map(|(line, _)| format!("{name}:{line}")),
            );
        }
    }
    assert!(wrong.is_empty(), "the environment is read at:\n{}", wrong.join("\n"));
}

/// The pages of the book, by their paths below `book/src`.
fn book_pages() -> Vec<(String, String)> {
    let source = root().join("book/src");
    let mut folders = vec![source.clone()];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                let name = path.strip_prefix(&source).unwrap().to_string_lossy().replace('\\', "/");
                found.push((name, fs::read_to_string(&path).unwrap()));
            }
        }
    }
    found
}

#[test]
fn the_book_lists_each_page_and_tests_its_rust() {
    let pages = book_pages();
    let summary = &pages.iter().find(|(name, _)| name == "SUMMARY.md").unwrap().1;
    let library = fs::read_to_string(root().join("crates/b2nd/src/lib.rs")).unwrap();
    let mut wrong = Vec::new();
    for (name, text) in pages.iter().filter(|(name, _)| name != "SUMMARY.md") {
        if !summary.contains(&format!("]({name})")) {
            wrong.push(format!("{name} is not in SUMMARY.md"));
        }
        if text.contains("```rust") && !library.contains(&format!("/book/src/{name}\")")) {
            wrong.push(format!(
                "the Rust of {name} is no doctest: include it at the end of crates/b2nd/src/lib.rs"
            ));
        }
    }
    assert!(pages.len() > 20, "only {} pages were seen", pages.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Programs of integration tests. Each is linked by itself, so a crate has one, and others only where the process must differ.
const TEST_PROGRAMS: &[(&str, &str)] = &[
    ("crates/b2nd/tests/all/main.rs", "the tests of the library"),
    ("crates/b2nd/tests/out_of_memory.rs", "replaces the allocator"),
    ("crates/b2nd/tests/peak/main.rs", "replaces the allocator"),
    ("crates/cli/tests/command/main.rs", "the tests of the command"),
    ("crates/interop/tests/all/main.rs", "the tests against other implementations"),
    ("crates/kernel/tests/all/main.rs", "the tests of the kernels"),
    ("crates/kernel/tests/share_model.rs", "needs loom"),
    ("crates/remote/tests/all/main.rs", "the tests of arrays far away"),
    ("crates/testkit/tests/parity.rs", "no dependencies: built in a second"),
    ("crates/testkit/tests/tidy/main.rs", "no dependencies: built in a second"),
];

/// Whether a path below `tests/` is the root of a program, by Cargo's rules.
fn is_program(inside: &str) -> bool {
    match inside.split('/').collect::<Vec<_>>()[..] {
        [_] => true,
        [_, file] => file == "main.rs",
        _ => false,
    }
}

#[test]
fn each_test_file_is_part_of_a_known_program() {
    let files = rust_files();
    let text = |path: &str| files.iter().find(|(name, _)| name == path).map(|(_, text)| text.as_str());
    let mut wrong = Vec::new();
    for (name, _) in files.iter().filter(|(name, _)| name.starts_with("crates/")) {
        let Some((_, inside)) = name.split_once("/tests/").filter(|_| !name.contains("/src/")) else {
            continue;
        };
        if is_program(inside) {
            if !TEST_PROGRAMS.iter().any(|(program, _)| program == name) {
                wrong.push(format!("{name} is a program of its own: make it a module of another one"));
            }
            continue;
        }
        // `a/b.rs` is declared beside it, `a/b/mod.rs` one folder up.
        let module = name.trim_end_matches(".rs").trim_end_matches("/mod");
        let (folder, module) = module.rsplit_once('/').unwrap();
        let declared = format!("mod {module};");
        let roots = ["main.rs", "mod.rs"].map(|root| format!("{folder}/{root}"));
        if !roots.iter().filter_map(|root| text(root)).any(|text| text.lines().any(|line| line == declared)) {
            wrong.push(format!("{name} is never built: write `{declared}` in {folder}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
