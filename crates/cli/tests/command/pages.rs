//! The console commands of the README and the book are run, and the book's reference of the command is the help.
//!
//! `B2ND_WRITE_PAGES=1` writes what the commands print into the pages, instead of comparing. Only with the reference
//! codecs: others compress to another size.

use crate::readme::repository;
use crate::support::Folder;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const FENCE: &str = "```";

/// The README and all pages of the book.
fn pages() -> Vec<PathBuf> {
    fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                found.push(path);
            }
        }
    }
    let mut found = vec![repository().join("README.md")];
    walk(&repository().join("book/src"), &mut found);
    found.sort();
    found
}

/// The page with the output of each console command replaced by what `run` gives.
fn with_outputs(text: &str, mut run: impl FnMut(&str) -> String) -> String {
    let (mut out, mut is_console) = (String::new(), false);
    for line in text.lines() {
        let command = line.strip_prefix("$ ").filter(|_| is_console);
        if line.starts_with(FENCE) {
            is_console = line == "```console";
        }
        if !is_console || command.is_some() || line.starts_with(FENCE) {
            out.push_str(&format!("{line}\n"));
        }
        if let Some(command) = command {
            out.push_str(&run(command));
        }
    }
    out
}

/// The text without speeds and times (`95 MB/s in 1.22 ms; `, `, 3.1 ms`), which differ from run to run.
fn without_times(text: &str) -> String {
    let is_time = |text: &str| text.ends_with(" ms") || text.ends_with(" s");
    let line = |line: &str| match line.split_once(" MB/s in ") {
        None if line.rsplit_once(", ").is_some_and(|(_, end)| is_time(end)) => {
            format!("{}\n", line.rsplit_once(", ").unwrap().0)
        }
        Some((before, after)) if after.contains("; ") => {
            let before = before.trim_end_matches(|c: char| c.is_ascii_digit());
            format!("{before}{}\n", after.split_once("; ").unwrap().1)
        }
        _ => format!("{line}\n"),
    };
    text.lines().map(line).collect()
}

/// Compares a page with what it should be, or writes it.
fn compare(path: &Path, is: &str, wanted: &str) {
    if std::env::var_os("B2ND_WRITE_PAGES").is_some() {
        fs::write(path, wanted).unwrap();
        return;
    }
    if without_times(is) == without_times(wanted) {
        return;
    }
    let lines = is.lines().zip(wanted.lines());
    let differing = lines.filter(|(is, wanted)| without_times(is) != without_times(wanted)).take(5);
    let told: Vec<String> = differing.map(|(is, wanted)| format!("- {is}\n+ {wanted}")).collect();
    panic!("{} is stale (B2ND_WRITE_PAGES=1 writes it):\n{}", path.display(), told.join("\n"));
}

#[test]
fn console_commands_print_what_the_pages_say() {
    let bin = Path::new(env!("CARGO_BIN_EXE_b2nd")).parent().unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let mut count = 0;
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        if !text.contains("```console\n") {
            continue;
        }
        let folder = Folder::new();
        folder.good(&["demo", "--size", "small"]);
        let wanted = with_outputs(&text, |command| {
            count += 1;
            let mut shell = Command::new("sh");
            shell.args(["-c", command]).current_dir(folder.path("")).env("PATH", &path).env("COLUMNS", "80");
            let output = shell.output().unwrap();
            let err = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{}: {command}: {err}", page.display());
            String::from_utf8(output.stdout).unwrap()
        });
        compare(&page, &text, &wanted);
    }
    assert!(count > 30, "only {count} commands were found in the pages");
}

/// The reference of the command: the help of the command and of each verb.
fn reference(folder: &Folder) -> String {
    let help = |args: &[&str]| {
        let output = folder.command(args).env("COLUMNS", "100").output().unwrap();
        assert!(output.status.success(), "{args:?}");
        String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
    };
    let main = help(&["--help"]);
    let mut page = format!("# The command\n\nThe help of `b2nd` and of each verb.\n\n```text\n{main}\n```\n");
    let verbs = main.split("Commands:\n").nth(1).unwrap().split("\n\n").next().unwrap();
    for line in verbs.lines().filter(|line| !line.starts_with("   ")) {
        let verb = line.split_whitespace().next().unwrap();
        if verb != "help" {
            page.push_str(&format!("\n## b2nd {verb}\n\n```text\n{}\n```\n", help(&[verb, "--help"])));
        }
    }
    page
}

#[test]
fn the_reference_of_the_book_is_the_help_of_the_command() {
    let path = repository().join("book/src/reference/command.md");
    let wanted = reference(&Folder::new());
    assert!(wanted.matches("\n## b2nd ").count() > 12, "verbs are missing:\n{wanted}");
    compare(&path, &fs::read_to_string(&path).unwrap_or_default(), &wanted);
}

#[test]
fn outputs_are_replaced_in_console_blocks_only() {
    let page = "a\n```console\n$ one\nold\n$ two\n```\n$ three\n```sh\n$ four\n```\n";
    let found = with_outputs(page, |command| format!("<{command}>\n"));
    assert_eq!(found, "a\n```console\n$ one\n<one>\n$ two\n<two>\n```\n$ three\n```sh\n$ four\n```\n");
}
