//! Names of types: a name stands for one type in a crate, so that a reader need not ask which one is meant.

use std::collections::{BTreeMap, BTreeSet};

use super::source::{code, is_word, tokens};
use super::{is_test, rust_files};

/// The types that a file declares.
fn declared(text: &str) -> BTreeSet<String> {
    let code = code(text);
    let tokens = tokens(&code);
    let pairs = tokens.windows(2).filter(|pair| matches!(pair[0], "struct" | "enum" | "union" | "trait"));
    pairs.filter(|pair| is_word(pair[1])).map(|pair| pair[1].to_owned()).collect()
}

/// Where a name has to be unique: a crate, and in the kernel, whose modules are one algorithm each, a module.
///
/// The two halves of a codec, of which a build has one, share their names.
fn place(name: &str) -> Option<(String, String)> {
    let (folder, file) = name.split_once("/src/")?;
    let inside = if folder.ends_with("kernel") { file.split('/').next().unwrap_or_default() } else { "" };
    let file = file.replace("/reference.rs", "/pure.rs");
    Some((format!("{folder} {inside}"), file))
}

/// The types that two files of one place declare, each with the files.
fn shared_names(files: &[(String, String)]) -> Vec<String> {
    let mut found: BTreeMap<(String, String), BTreeSet<String>> = BTreeMap::new();
    for (name, text) in files {
        let Some((place, file)) = place(name) else { continue };
        for declared in declared(text) {
            found.entry((place.clone(), declared)).or_default().insert(file.clone());
        }
    }
    let several = found.into_iter().filter(|(_, files)| files.len() > 1);
    several
        .map(|((place, name), files)| {
            format!("{}: {name} in {}", place.trim_end(), Vec::from_iter(files).join(", "))
        })
        .collect()
}

#[test]
fn a_type_name_is_declared_once_in_a_crate() {
    let files: Vec<_> = rust_files().into_iter().filter(|(name, _)| !is_test(name)).collect();
    let wrong = shared_names(&files);
    assert!(wrong.is_empty(), "types of one name: say in the name what each is\n{}", wrong.join("\n"));
}

#[test]
fn types_of_one_name_are_found() {
    let file = |name: &str, text: &str| (name.to_owned(), text.to_owned());
    let found = shared_names(&[
        file("crates/a/src/x.rs", "pub struct One; // struct Two\nenum Two { A }"),
        file("crates/a/src/y/z.rs", "pub(crate) trait Two {}\nstruct Three<T>(T);"),
        file("crates/a/src/y/pure.rs", "struct Half;"),
        file("crates/a/src/y/reference.rs", "struct Half;"),
        file("crates/kernel/src/lz4/a.rs", "struct Place;"),
        file("crates/kernel/src/boxes/a.rs", "struct Place;"),
        file("crates/kernel/src/boxes/b.rs", "struct Place;"),
        file("crates/b/src/x.rs", "struct One;"),
    ]);
    assert_eq!(
        found,
        ["crates/a: Two in x.rs, y/z.rs", "crates/kernel boxes: Place in boxes/a.rs, boxes/b.rs"]
    );
}
