//! Rust sources as tokens: enough to know what a file names, without a parser of the language.

use std::collections::BTreeSet;

/// A `use` of one name.
pub(super) struct Import {
    /// The path, as it is written.
    pub(super) path: Vec<String>,
    /// The name it has in the file; `*` for a glob.
    pub(super) name: String,
    /// Whether the name is handed on: `pub use`, `pub(crate) use`.
    pub(super) is_public: bool,
}

/// The names in a file.
pub(super) struct Names {
    /// What `use` brings in.
    pub(super) imports: Vec<Import>,
    /// The paths outside of `use`: identifiers joined by `::`.
    pub(super) paths: BTreeSet<Vec<String>>,
}

/// The code of a file without comments, the contents of strings, and tests at its end.
pub(super) fn code(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let skipped = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if let Some(len) = literal(rest, out.chars().next_back()) {
            out.push_str("\"\"");
            len
        } else {
            out.push(c);
            rest = &rest[c.len_utf8()..];
            continue;
        };
        rest = &rest[skipped..];
    }
    without_tests(&out)
}

/// The length of the string or character literal at the start of `rest`, if there is one.
fn literal(rest: &str, before: Option<char>) -> Option<usize> {
    let in_word = before.is_some_and(|c| c.is_alphanumeric() || c == '_');
    let raw = if in_word { rest } else { rest.trim_start_matches(['b', 'c']) };
    let prefix = rest.len() - raw.len();
    if let Some(raw) = raw.strip_prefix('r').filter(|_| !in_word) {
        let hashes = raw.len() - raw.trim_start_matches('#').len();
        if raw[hashes..].starts_with('"') {
            let end = format!("\"{}", "#".repeat(hashes));
            let found = raw[hashes + 1..].find(&end).map_or(raw.len(), |at| hashes + 1 + at + end.len());
            return Some(prefix + 1 + found);
        }
    }
    let quote = raw.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let mut escaped = false;
    for (at, c) in raw.char_indices().skip(1) {
        // A lifetime has no quote behind its first character.
        if quote == '\'' && at > 1 && !raw[1..].starts_with('\\') && c != quote {
            return None;
        }
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return Some(prefix + at + 1),
            _ => {}
        }
    }
    None
}

/// The code before an inline module of tests.
fn without_tests(code: &str) -> String {
    let mut from = 0;
    while let Some(at) = code[from..].find("#[cfg(test)]") {
        let start = from + at;
        let behind = code[start + "#[cfg(test)]".len()..].trim_start();
        let item = &behind[..behind.find(['{', ';']).unwrap_or(behind.len())];
        if item.starts_with("mod ") && behind[item.len()..].starts_with('{') {
            return code[..start].to_owned();
        }
        from = start + 1;
    }
    code.to_owned()
}

/// Identifiers and punctuation; `::` is one token.
pub(super) fn tokens(code: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = code.trim_start();
    while let Some(c) = rest.chars().next() {
        let len = if c.is_alphanumeric() || c == '_' {
            rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len())
        } else if rest.starts_with("::") {
            2
        } else {
            c.len_utf8()
        };
        found.push(&rest[..len]);
        rest = rest[len..].trim_start();
    }
    found
}

pub(super) fn is_word(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// What a file names; `text` is its source.
pub(super) fn names(text: &str) -> Names {
    let code = code(text);
    let tokens = tokens(&code);
    let mut names = Names { imports: Vec::new(), paths: BTreeSet::new() };
    let mut at = 0;
    while at < tokens.len() {
        if tokens[at] == "use" && at > 0 && tokens[at - 1] == "<" {
            // `impl Trait + use<'a>` imports nothing.
            at += 1;
        } else if tokens[at] == "use" {
            let is_public = at > 0 && matches!(tokens[at - 1], "pub" | ")");
            let end = tokens[at..].iter().position(|t| *t == ";").map_or(tokens.len(), |n| at + n);
            tree(&tokens[at + 1..end], &mut Vec::new(), is_public, &mut names.imports);
            at = end + 1;
        } else if is_word(tokens[at]) && (at == 0 || tokens[at - 1] != "::") {
            let mut path = vec![tokens[at].to_owned()];
            while tokens.get(at + 1) == Some(&"::") && tokens.get(at + 2).is_some_and(|t| is_word(t)) {
                path.push(tokens[at + 2].to_owned());
                at += 2;
            }
            names.paths.insert(path);
            at += 1;
        } else {
            at += 1;
        }
    }
    names
}

/// The imports of one tree of a `use`, below `prefix`.
fn tree(tokens: &[&str], prefix: &mut Vec<String>, is_public: bool, found: &mut Vec<Import>) {
    let depth = prefix.len();
    let mut at = 0;
    while at < tokens.len() {
        match tokens[at] {
            "{" => {
                for part in parts(&tokens[at + 1..tokens.len() - 1]) {
                    tree(part, prefix, is_public, found);
                }
                prefix.truncate(depth);
                return;
            }
            "::" => {}
            "as" => {
                let name = tokens[at + 1].to_owned();
                found.push(Import { path: prefix.clone(), name, is_public });
                prefix.truncate(depth);
                return;
            }
            "*" => {
                found.push(Import { path: prefix.clone(), name: "*".to_owned(), is_public });
                prefix.truncate(depth);
                return;
            }
            // `use a::{self}` is `use a`.
            "self" if !prefix.is_empty() => {}
            word => prefix.push(word.to_owned()),
        }
        at += 1;
    }
    if let Some(name) = prefix.last().cloned() {
        found.push(Import { path: prefix.clone(), name, is_public });
    }
    prefix.truncate(depth);
}

/// The parts between the commas of the outermost level.
fn parts<'a, 't>(tokens: &'a [&'t str]) -> Vec<&'a [&'t str]> {
    let mut depth = 0;
    let split = tokens.split(|token| {
        match *token {
            "{" => depth += 1,
            "}" => depth -= 1,
            _ => {}
        }
        *token == "," && depth == 0
    });
    split.filter(|part| !part.is_empty()).collect()
}

#[test]
fn names_are_found() {
    let text = "use a::{b, c::{self, D as E}, f::*}; // use x::y;\npub(crate) use super::g;\n\
                fn h<'a>(x: &'a str) { \"use q;\"; i::j::<K>('\\'', b\"::\", r#\"l::m\"#) }\n\
                #[cfg(test)]\nmod tests { use z::z; }";
    let names = names(text);
    let imports: Vec<String> = names
        .imports
        .iter()
        .map(|i| format!("{}{} = {}", if i.is_public { "pub " } else { "" }, i.name, i.path.join("::")))
        .collect();
    assert_eq!(imports, ["b = a::b", "c = a::c", "E = a::c::D", "* = a::f", "pub g = super::g"]);
    let paths: Vec<String> = names.paths.iter().map(|path| path.join("::")).collect();
    assert!(paths.contains(&"i::j".to_owned()) && paths.contains(&"K".to_owned()), "{paths:?}");
    assert!(!paths.iter().any(|path| ["q", "l::m", "z::z"].contains(&path.as_str())), "{paths:?}");
}
