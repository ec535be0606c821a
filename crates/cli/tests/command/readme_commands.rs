//! Every command of the README, run and compared. Only with the reference codecs: others compress to another size.

use crate::readme::readme;
use crate::support::Folder;
use std::path::Path;
use std::process::Command;

/// The commands of the README with what they are said to print.
fn sessions(text: &str) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    for block in text.split("```console\n").skip(1) {
        for line in block.split("```").next().unwrap().lines() {
            match line.strip_prefix("$ ") {
                Some(command) => found.push((command.to_string(), String::new())),
                None => found.last_mut().unwrap().1 += &format!("{line}\n"),
            }
        }
    }
    found
}

/// The text without speeds and times (`95 MB/s in 1.22 ms; `), which differ from run to run.
fn without_times(text: &str) -> String {
    let line = |line: &str| match line.split_once(" MB/s in ") {
        Some((before, after)) => {
            let before = before.trim_end_matches(|c: char| c.is_ascii_digit());
            format!("{before}{}\n", after.split_once("; ").unwrap().1)
        }
        None => format!("{line}\n"),
    };
    text.lines().map(line).collect()
}

#[test]
fn the_commands_print_what_the_readme_says() {
    let folder = Folder::new();
    let bin = Path::new(env!("CARGO_BIN_EXE_b2nd")).parent().unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    folder.good(&["demo", "--size", "small"]);
    let sessions = sessions(&readme());
    assert!(sessions.len() > 8, "the README has lost its commands");
    for (command, said) in sessions {
        let mut shell = Command::new("sh");
        shell.args(["-c", &command]).current_dir(folder.path("")).env("PATH", &path).env("COLUMNS", "80");
        let output = shell.output().unwrap();
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{command}: {err}");
        assert_eq!(without_times(&out), without_times(&said), "`{command}` prints something else");
    }
    assert!(folder.names().contains(&"small.png".to_string()));
}
