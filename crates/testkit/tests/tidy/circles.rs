//! Circles: files of a crate that import one another, directly or by way of others.

use super::source::{Names, names};
use super::{is_test, root, rust_files};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

/// A module path from the root of the crate.
type Module = Vec<String>;

/// The files of a crate by their modules, and what they name.
struct Crate {
    files: BTreeMap<Module, (String, Names)>,
}

impl Crate {
    /// The module that a path leads to, and whether the whole path is that module. `None` outside of the crate.
    fn find(&self, from: &Module, path: &[String], depth: usize) -> Option<(Module, bool)> {
        let (mut module, rest) = match path.first()?.as_str() {
            "crate" => (Module::new(), &path[1..]),
            "self" => (from.clone(), &path[1..]),
            "super" => {
                let up = path.iter().take_while(|part| *part == "super").count();
                (from[..from.len().checked_sub(up)?].to_vec(), &path[up..])
            }
            first => {
                let mut child = from.clone();
                child.push(first.to_owned());
                if self.files.contains_key(&child) {
                    (from.clone(), path)
                } else {
                    let (_, names) = self.files.get(from)?;
                    let import = names.imports.iter().find(|import| import.name == *first)?;
                    // The path behind an import is that of the import, and the rest.
                    let whole: Vec<String> = import.path.iter().chain(&path[1..]).cloned().collect();
                    return if depth > 8 || import.path == path {
                        None
                    } else {
                        self.find(from, &whole, depth + 1)
                    };
                }
            }
        };
        for (at, part) in rest.iter().enumerate() {
            module.push(part.clone());
            if self.files.contains_key(&module) {
                continue;
            }
            module.pop();
            // An item: of this file, or handed on by it.
            let (_, names) = self.files.get(&module)?;
            let handed_on = names.imports.iter().find(|import| import.name == *part);
            return match handed_on {
                Some(import) if depth < 8 => {
                    let whole: Vec<String> = import.path.iter().chain(&rest[at + 1..]).cloned().collect();
                    self.find(&module, &whole, depth + 1).map(|(module, _)| (module, false))
                }
                _ => Some((module, false)),
            };
        }
        Some((module, true))
    }

    /// The files that a file takes something from.
    fn imports_of(&self, module: &Module) -> BTreeSet<&str> {
        let mut found = BTreeSet::new();
        let Some((own, names)) = self.files.get(module) else { return found };
        let used = |name: &str| names.paths.iter().any(|path| path[0] == name);
        let imports = names
            .imports
            .iter()
            // What is only handed on is the business of whoever takes it.
            .filter(|import| !import.is_public || used(&import.name))
            .map(|import| (&import.path, import.name == "*"));
        for (path, is_glob) in imports.chain(names.paths.iter().filter(|p| p.len() > 1).map(|p| (p, false))) {
            // A module alone names no item yet; a path through it does.
            if let Some((target, whole)) = self.find(module, path, 0)
                && (!whole || is_glob)
                && let Some((file, _)) = self.files.get(&target)
                && file != own
                // A folder's `mod.rs` and its files are one thing: they share what `mod.rs` defines.
                && !(target.len() < module.len() && module.starts_with(&target))
            {
                found.insert(file.as_str());
            }
        }
        found
    }

    /// The sets of files each of which leads to all others of its set.
    fn circles(&self) -> Vec<BTreeSet<String>> {
        let edges: BTreeMap<&str, BTreeSet<&str>> =
            self.files.iter().map(|(module, (file, _))| (file.as_str(), self.imports_of(module))).collect();
        let reach: BTreeMap<&str, BTreeSet<&str>> = edges
            .keys()
            .map(|&start| {
                let (mut seen, mut next) = (BTreeSet::new(), vec![start]);
                while let Some(file) = next.pop() {
                    next.extend(edges[file].iter().copied().filter(|other| seen.insert(*other)));
                }
                (start, seen)
            })
            .collect();
        let mut circles = Vec::new();
        let mut known = BTreeSet::new();
        for (&file, reached) in reach.iter().filter(|(file, reached)| reached.contains(*file)) {
            if !known.contains(file) {
                let circle: BTreeSet<&str> =
                    reached.iter().copied().filter(|other| reach[other].contains(file)).collect();
                known.extend(circle.iter().copied());
                circles.push(circle.into_iter().map(str::to_owned).collect());
            }
        }
        circles
    }
}

/// The crates of the workspace, by the folder of their sources.
fn crates(files: Vec<(String, String)>) -> BTreeMap<String, Crate> {
    let mut crates = BTreeMap::new();
    for (name, text) in files {
        let Some((folder, inside)) = name.split_once("/src/") else { continue };
        if is_test(&name) {
            continue;
        }
        let inside = inside.trim_end_matches(".rs");
        let inside = inside.strip_suffix("/mod").unwrap_or(inside);
        let module = match inside {
            "lib" | "main" => Module::new(),
            other => other.split('/').map(str::to_owned).collect(),
        };
        let files: &mut Crate =
            crates.entry(folder.to_owned()).or_insert_with(|| Crate { files: BTreeMap::new() });
        files.files.entry(module).or_insert_with(|| (name.clone(), names(&text)));
    }
    crates
}

/// The circles that docs/ARCHITECTURE.md lists and explains: `- files: reason`, each file by its path from the root.
fn listed() -> Vec<BTreeSet<String>> {
    let page = fs::read_to_string(root().join("docs/ARCHITECTURE.md")).unwrap();
    let section = page.split("\n## Circles").nth(1).unwrap();
    let section = section.split("\n## ").next().unwrap();
    let items = section.split("\n- ").skip(1);
    let lists = items.map(|item| {
        let (files, reason) = item.split_once(": ").unwrap();
        assert!(reason.len() > 20, "no reason: {item}");
        let mut folder = "";
        let names = files.split('`').skip(1).step_by(2);
        names
            .map(|name| match name.rsplit_once('/') {
                // A name alone lies beside the one before.
                None => format!("{folder}/{name}"),
                Some((path, _)) => {
                    folder = path;
                    name.to_owned()
                }
            })
            .collect()
    });
    lists.collect()
}

#[test]
fn circles_between_files_are_known_and_explained() {
    let listed = listed();
    let crates = crates(rust_files());
    let found: Vec<BTreeSet<String>> = crates.values().flat_map(Crate::circles).collect();
    let show = |circle: &BTreeSet<String>| circle.iter().cloned().collect::<Vec<_>>().join("`, `");
    let mut wrong: Vec<String> = found
        .iter()
        .filter(|circle| !listed.iter().any(|known| circle.is_subset(known)))
        .map(|circle| {
            let mut lines = format!("a new circle: `{}`", show(circle));
            for (module, (file, _)) in crates.values().flat_map(|files| &files.files) {
                if circle.contains(file) {
                    let of =
                        crates.values().find(|files| files.files.get(module).is_some_and(|f| f.0 == *file));
                    let imports = of.map(|files| files.imports_of(module)).unwrap_or_default();
                    let inside: Vec<&str> = imports.into_iter().filter(|f| circle.contains(*f)).collect();
                    lines.push_str(&format!("\n    {file} imports {}", inside.join(", ")));
                }
            }
            lines
        })
        .collect();
    wrong.extend(
        listed.iter().filter(|known| !found.iter().any(|circle| circle.is_subset(known))).map(|known| {
            format!("no circle any more, take it out of docs/ARCHITECTURE.md: `{}`", show(known))
        }),
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_circle_is_found_through_names_that_are_handed_on() {
    let file = |name: &str, text: &str| (format!("crates/x/src/{name}.rs"), text.to_owned());
    let files = vec![
        file("lib", "mod a; mod d;"),
        file("a/mod", "mod b; mod c; pub use b::B; pub(crate) use c::C;"),
        file("a/b", "use super::c::C; pub struct B(C);"),
        file("a/c", "use crate::d; pub struct C; fn f() -> d::D { d::g() }"),
        file("d", "use crate::a::B; pub struct D(B); pub fn g() {}"),
    ];
    let of_three = ["crates/x/src/a/b.rs", "crates/x/src/a/c.rs", "crates/x/src/d.rs"];
    let circles: Vec<_> = crates(files.clone()).values().flat_map(Crate::circles).collect();
    assert_eq!(circles, [BTreeSet::from(of_three.map(str::to_owned))]);
    let broken =
        files.into_iter().map(|(name, text)| (name, text.replace("use super::c::C;", "use std::C;")));
    assert!(crates(broken.collect()).values().all(|files| files.circles().is_empty()));
}
