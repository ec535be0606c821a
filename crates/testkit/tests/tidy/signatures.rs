//! Parameters of functions: what is given has a name, so none is a tuple.

use super::source::{code, is_word, tokens};
use super::{is_test, rust_files};

/// Whether `tokens` begin with a tuple of two or more.
fn is_tuple(tokens: &[&str]) -> bool {
    let Some(inside) = tokens.first().filter(|first| **first == "(").and_then(|_| enclosed(tokens)) else {
        return false;
    };
    parts(inside).len() > 1
}

/// What is between the bracket at the start of `tokens` and the one that closes it.
fn enclosed<'a, 't>(tokens: &'a [&'t str]) -> Option<&'a [&'t str]> {
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate() {
        depth += deeper(token, at.checked_sub(1).and_then(|before| tokens.get(before)));
        if depth == 0 {
            return tokens.get(1..at);
        }
    }
    None
}

/// By how much a token changes the depth of brackets; the `>` of an arrow is none.
fn deeper(token: &str, before: Option<&&str>) -> i32 {
    match token {
        "(" | "[" | "{" | "<" => 1,
        ">" if matches!(before, Some(&"-" | &"=")) => 0,
        ")" | "]" | "}" | ">" => -1,
        _ => 0,
    }
}

/// The parts between the commas of the outermost level.
fn parts<'a, 't>(tokens: &'a [&'t str]) -> Vec<&'a [&'t str]> {
    let (mut depth, mut start, mut found) = (0, 0, Vec::new());
    for (at, token) in tokens.iter().enumerate() {
        depth += deeper(token, at.checked_sub(1).and_then(|before| tokens.get(before)));
        if *token == "," && depth == 0 {
            found.push(&tokens[start..at]);
            start = at + 1;
        }
    }
    found.push(&tokens[start..]);
    found.retain(|part| !part.is_empty());
    found
}

/// The type without references and `Option`.
fn inner<'a, 't>(mut tokens: &'a [&'t str]) -> &'a [&'t str] {
    loop {
        tokens = match tokens {
            ["&" | "mut", rest @ ..] | ["'", _, rest @ ..] | ["Option", "<", rest @ ..] => rest,
            _ => return tokens,
        }
    }
}

/// The functions that take a tuple, each with the name of the function.
fn tuples(text: &str) -> Vec<String> {
    let code = code(text);
    let tokens = tokens(&code);
    // Another name for a tuple is no name for its parts.
    let aliases: Vec<&str> = tokens
        .iter()
        .enumerate()
        .filter(|(_, token)| **token == "type")
        .filter_map(|(at, _)| {
            let rest = &tokens[at + 1..];
            let equals = rest.iter().take(12).position(|token| *token == "=")?;
            is_tuple(&rest[equals + 1..]).then(|| rest[0])
        })
        .collect();
    let mut found = Vec::new();
    for (at, _) in tokens.iter().enumerate().filter(|(_, token)| **token == "fn") {
        let [name, rest @ ..] = &tokens[at + 1..] else { continue };
        // A type `fn(…)` has no name.
        if !is_word(name) {
            continue;
        }
        let rest = match rest.first() {
            Some(&"<") => enclosed(rest).map_or(rest, |generics| &rest[generics.len() + 2..]),
            _ => rest,
        };
        for parameter in enclosed(rest).map(parts).unwrap_or_default() {
            let Some(colon) = parameter.iter().position(|token| *token == ":") else { continue };
            let kind = inner(&parameter[colon + 1..]);
            if is_tuple(kind) || kind.first().is_some_and(|first| aliases.contains(first)) {
                found.push((*name).to_owned());
            }
        }
    }
    found
}

#[test]
fn no_parameter_is_a_tuple() {
    let mut wrong = Vec::new();
    for (name, text) in rust_files().into_iter().filter(|(name, _)| !is_test(name)) {
        wrong.extend(tuples(&text).into_iter().map(|function| format!("{name}: {function}")));
    }
    assert!(
        wrong.is_empty(),
        "parameters that are tuples: make them several, or a struct with names\n{}",
        wrong.join("\n")
    );
}

#[test]
fn tuples_are_found_where_they_hide() {
    let text = "type Pair<'a> = (&'a str, u8);
        fn a((x, y): (u8, u8)) {}
        fn b<T: Fn(u8) -> u8>(&self, z: u8, range: Option<(u64, u64)>) {}
        fn c(pair: &mut Pair<'_>) {}
        fn d(f: impl Fn(u8, u8) -> (u8, u8), g: fn((u8, u8)), list: &[(u8, u8)], unit: ()) {}
        fn e(map: impl IntoIterator<Item = (u8, u8)>, one: (u8), [a, b]: [u8; 2]) -> (u8, u8) { (1, 2) }";
    assert_eq!(tuples(text), ["a", "b", "c"]);
}
