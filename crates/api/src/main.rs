//! Lists the public API of the library, one line an item, and compares it with `docs/API.txt`; with `--write` renews that file.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// The committed list, from the root of the workspace.
const LIST: &str = "docs/API.txt";

fn main() -> ExitCode {
    match run(std::env::args().skip(1)) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: impl Iterator<Item = String>) -> Result<ExitCode, Box<dyn Error>> {
    let write = match &arguments.collect::<Vec<_>>()[..] {
        [] => false,
        [only] if only == "--write" => true,
        _ => return Err("usage: b2nd-api [--write]".into()),
    };
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize()?;
    let list = root.join(LIST);
    let found = public_api(&document(&root)?)?;
    if write {
        fs::write(&list, found)?;
        return Ok(ExitCode::SUCCESS);
    }
    let listed = fs::read_to_string(&list)?;
    let twice = two_paths(&found);
    if !twice.is_empty() {
        eprintln!("{}\neach public item has one path: leave out the others", twice.join("\n"));
        return Ok(ExitCode::FAILURE);
    }
    if found == listed {
        println!("{} public items, as listed in {LIST}", found.lines().count());
        return Ok(ExitCode::SUCCESS);
    }
    for line in changes(&listed, &found) {
        eprintln!("{line}");
    }
    eprintln!(
        "the public API is not that of {LIST}: if the change is wanted, run `cargo run -p b2nd-api -- --write` and commit the file"
    );
    Ok(ExitCode::FAILURE)
}

/// Runs rustdoc, and returns the path of the JSON that it writes.
fn document(root: &Path) -> Result<PathBuf, Box<dyn Error>> {
    // Its own folder: build scripts of dependencies run again when the variable below is set.
    let target = root.join("target/api");
    let done = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .current_dir(root)
        .env("CARGO_TARGET_DIR", &target)
        // The pinned stable rustdoc writes JSON only when it is told to allow unstable options.
        .env("RUSTC_BOOTSTRAP", "1")
        .env_remove("RUSTFLAGS")
        .env_remove("RUSTDOCFLAGS")
        .args([
            "rustdoc",
            "-q",
            "-p",
            "b2nd",
            "--lib",
            "--no-default-features",
            "--features",
            "ndarray,mmap,zfp",
        ])
        // Procedural macros only: not worth optimising.
        .args(["--config", "profile.dev.package.\"*\".opt-level=0"])
        .args(["--", "-Z", "unstable-options", "--output-format", "json"])
        .status()?;
    if !done.success() {
        return Err("rustdoc failed".into());
    }
    Ok(target.join("doc/b2nd.json"))
}

/// The public items, one a line, without implementations that are derived or hold for every type, and without hidden items.
fn public_api(json: &Path) -> Result<String, Box<dyn Error>> {
    let api = public_api::Builder::from_rustdoc_json(json)
        .sorted(true)
        .omit_blanket_impls(true)
        .omit_auto_trait_impls(true)
        .omit_auto_derived_impls(true)
        .build()?;
    // Several `impl` blocks of one type begin with the same line.
    let mut seen = BTreeSet::new();
    let lines = api.items().map(|item| format!("{item}\n"));
    Ok(lines.filter(|line| seen.insert(line.clone())).collect())
}

/// What declares an item with a path of its own.
const DECLARATIONS: [&str; 9] =
    ["struct", "enum", "union", "trait", "type", "fn", "const", "static", "macro"];

/// The items of modules that are listed with the same name under several paths, each with its paths.
fn two_paths(list: &str) -> Vec<String> {
    let mut paths: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let name = list.lines().next().and_then(|first| first.rsplit(' ').next()).unwrap_or_default();
    let root = format!("{name}::");
    for line in list.lines() {
        let mut words = line.split(' ').skip_while(|word| *word != "pub").skip(1);
        let Some(kind) = words.find(|word| !matches!(*word, "unsafe" | "async")) else { continue };
        let Some(path) = words.next().filter(|_| DECLARATIONS.contains(&kind)) else { continue };
        let end = path.find(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | ':')).unwrap_or(path.len());
        let path = path[..end].trim_end_matches(':');
        let Some((module, name)) = path.rsplit_once("::") else { continue };
        // What belongs to a type has the path of the type; a type of another crate has no path here.
        if path.starts_with(&root) && !module.split("::").any(|part| part.starts_with(char::is_uppercase)) {
            paths.entry(name).or_default().insert(path);
        }
    }
    let several = paths.into_iter().filter(|(_, paths)| paths.len() > 1);
    several.map(|(name, paths)| format!("{name}: {}", Vec::from_iter(paths).join(", "))).collect()
}

/// The lines that are only in one of two lists, with a sign.
fn changes(before: &str, after: &str) -> Vec<String> {
    let (old, new): (BTreeSet<&str>, BTreeSet<&str>) = (before.lines().collect(), after.lines().collect());
    let gone = old.difference(&new).map(|line| format!("-{line}"));
    gone.chain(new.difference(&old).map(|line| format!("+{line}"))).collect()
}

#[cfg(test)]
mod tests {
    use super::{changes, two_paths};

    #[test]
    fn changes_are_lines_with_a_sign() {
        assert_eq!(changes("a\nb\n", "a\nc\n"), ["-b", "+c"]);
        assert!(changes("a\n", "a\n").is_empty());
    }

    #[test]
    fn an_item_with_two_paths_is_found() {
        let list = "pub mod b\npub mod b::io\n#[non_exhaustive] pub enum b::io::Lock\npub enum b::Lock\n\
                    pub struct b::View<'a>\npub fn b::View<'a>::new(b::Lock) -> Self\n\
                    pub fn b::io::View::new() -> Self\npub fn b::io::open()\npub fn b::new()\npub fn f32::new()\n";
        assert_eq!(two_paths(list), ["Lock: b::Lock, b::io::Lock"]);
    }
}
