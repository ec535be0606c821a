//! The paths of an opening, a read and a write in docs/ARCHITECTURE.md name items that exist.

use super::source::{code, is_word, tokens};
use super::{is_test, root, rust_files};
use std::fs;

/// The sections that list steps.
const SECTIONS: [&str; 3] = ["Opening", "Reading", "Writing"];
/// The most steps of a path.
const MOST_STEPS: usize = 10;

/// The text of a section.
fn section<'a>(page: &'a str, name: &str) -> &'a str {
    let start = page.split(&format!("\n## {name}\n")).nth(1).unwrap();
    start.split("\n## ").next().unwrap()
}

/// What stands between backticks.
fn quoted(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

/// A source file: its path from the root, and its tokens.
struct File {
    name: String,
    tokens: Vec<String>,
}

impl File {
    /// Whether `keyword name` is in the file.
    fn declares(&self, keywords: &[&str], name: &str) -> bool {
        self.tokens.windows(2).any(|pair| keywords.contains(&pair[0].as_str()) && pair[1] == name)
    }

    /// Whether the file declares a type, or implements something for it.
    fn has_type(&self, name: &str) -> bool {
        let implements = || {
            self.tokens.iter().enumerate().filter(|(_, token)| *token == "impl").any(|(at, _)| {
                self.tokens[at..].iter().take_while(|token| *token != "{").any(|token| token == name)
            })
        };
        self.declares(&["struct", "enum", "trait", "type"], name) || implements()
    }

    /// Whether the file declares an item or a variant of an enum.
    fn has_item(&self, name: &str) -> bool {
        let variant = || {
            self.tokens.windows(2).any(|pair| pair[0] == name && matches!(pair[1].as_str(), "(" | "{" | ","))
        };
        self.declares(&["fn", "struct", "enum", "trait", "type", "const", "static", "mod"], name)
            || name.starts_with(char::is_uppercase) && variant()
    }
}

/// Whether a file or an item of the library exists.
fn exists(item: &str, files: &[File]) -> bool {
    if item.ends_with(".rs") {
        return files.iter().any(|file| file.name.ends_with(&format!("/src/{item}")));
    }
    match item.split("::").collect::<Vec<_>>()[..] {
        [name] if name.starts_with(char::is_uppercase) => files.iter().any(|file| file.has_type(name)),
        [name] => files.iter().any(|file| file.declares(&["fn"], name)),
        [owner, name] if owner.starts_with(char::is_uppercase) => {
            files.iter().any(|file| file.has_type(owner) && file.has_item(name))
        }
        [module, name] => files.iter().any(|file| {
            let of_module = [format!("/{module}.rs"), format!("/{module}/mod.rs")];
            of_module.iter().any(|end| file.name.ends_with(end)) && file.has_item(name)
        }),
        _ => false,
    }
}

#[test]
fn the_steps_of_each_path_name_items_that_exist() {
    let files: Vec<File> = rust_files()
        .into_iter()
        .filter(|(name, _)| {
            !is_test(name) && (name.starts_with("crates/b2nd/src") || name.starts_with("crates/kernel/src"))
        })
        .map(|(name, text)| File {
            name,
            tokens: tokens(&code(&text)).into_iter().map(str::to_owned).collect(),
        })
        .collect();
    let page = fs::read_to_string(root().join("docs/ARCHITECTURE.md")).unwrap();
    let mut wrong = Vec::new();
    for name in SECTIONS {
        let text = section(&page, name);
        let steps = text.lines().filter(|line| line.starts_with(|c: char| c.is_ascii_digit())).count();
        assert!((3..=MOST_STEPS).contains(&steps), "{name}: {steps} steps");
        let items = quoted(text);
        assert!(items.len() >= steps, "{name}: the steps name no items");
        wrong.extend(
            items
                .into_iter()
                // A keyword is no item.
                .filter(|item| is_word(item) && !exists(item, &files))
                .map(|item| format!("{name}: `{item}`")),
        );
    }
    assert!(wrong.is_empty(), "docs/ARCHITECTURE.md names what does not exist:\n{}", wrong.join("\n"));
    for gone in ["FrameSnapshot::no_such_function", "NoSuchType", "schunk/no_such_file.rs"] {
        assert!(!exists(gone, &files), "{gone}");
    }
}
