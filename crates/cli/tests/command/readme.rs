//! Every command and every figure of the README, run and compared.

use crate::support::Folder;
use std::path::Path;
use std::process::Command;

fn readme() -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md")).unwrap()
}

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

/// What is printed depends on the reference codecs: others compress to another size.
#[cfg(all(unix, feature = "c-codecs"))]
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

#[test]
fn the_figures_are_true() {
    let text = readme();
    let [times, rows, columns] = b2nd_cli::demo::field::SHAPE;
    let megabytes = (times * rows * columns * 4) as f64 / 1e6;
    assert!(text.contains(&format!("({times} × {rows} × {columns} numbers, {megabytes:.0} MB)")));
    assert!(text.contains(&format!("0 to {} dimensions", b2nd::array::MAX_NDIM)));
    for codec in ["blosclz", "lz4", "lz4hc", "zlib", "zstd"] {
        assert!(text.contains(codec) && b2nd::Codec::from_name(codec).is_some());
    }
    for link in text.split("](").skip(1).map(|rest| rest.split(')').next().unwrap()) {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(link);
        assert!(file.exists(), "the README links to {link}, which is not there");
    }
}
