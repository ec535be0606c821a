//! Standard output and standard error that are closed, full or a terminal.

use std::fs::OpenOptions;
use std::process::{Command, Stdio};

use crate::support::{Folder, items, npy};

/// A file of the system that refuses all that is written, as a full disk does.
fn full() -> Stdio {
    OpenOptions::new().write(true).open("/dev/full").unwrap().into()
}

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("in.npy", &npy("<u4", &[6, 7, 5], false, &items(&[6, 7, 5])));
    folder.good(&["import", "in.npy", "a.b2nd"]);
    folder.write("long.npy", &[folder.read("in.npy"), vec![0; 9]].concat());
    folder
}

/// Lines that say something on standard error, and the exit codes that they have anyway.
const TOLD: [(i32, &[&str]); 6] = [
    (0, &["plot", "a.b2nd"]),
    (0, &["import", "long.npy", "b.b2nd", "--force"]),
    (2, &["slice", "a.b2nd", "9"]),
    (2, &["frobnicate"]),
    (2, &[]),
    (3, &["info", "gone.b2nd"]),
];

#[test]
fn messages_that_cannot_be_written_change_no_exit_code() {
    let folder = folder();
    for (due, line) in TOLD {
        let mut full_disk = folder.command(line);
        let full_disk = full_disk.stdout(Stdio::null()).stderr(full()).status().unwrap();
        let closed = Command::new("sh")
            .args(["-c", "exec \"$0\" \"$@\" 2>&-", env!("CARGO_BIN_EXE_b2nd")])
            .args(line)
            .current_dir(folder.path(""))
            .stdout(Stdio::null())
            .status()
            .unwrap();
        assert_eq!((full_disk.code(), closed.code()), (Some(due), Some(due)), "{line:?}");
    }
}

#[test]
fn output_that_cannot_be_written_is_3() {
    let folder = folder();
    for line in [&["info", "a.b2nd"][..], &["slice", "a.b2nd", "0"], &["export", "a.b2nd", "-"], &["--help"]]
    {
        let mut command = folder.command(line);
        let (out, err) = (full(), full());
        let status = command.stdout(out).stderr(err).status().unwrap();
        assert_eq!(status.code(), Some(3), "{line:?}");
        let output = folder.command(line).stdout(full()).output().unwrap();
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(told.starts_with("b2nd: standard output: cannot write: "), "{line:?}: {told}");
    }
}

/// On a terminal binary data comes only when it is asked for. `script` runs a command in one.
#[test]
fn binary_data_does_not_go_to_a_terminal() {
    if Command::new("script").arg("--version").output().is_err() {
        return;
    }
    let folder = folder();
    let on_terminal = |line: &str| {
        let line = format!("{} {line}", env!("CARGO_BIN_EXE_b2nd"));
        let mut script = Command::new("script");
        script.args(["-qec", &line, "/dev/null"]).current_dir(folder.path("")).stdin(Stdio::null());
        let output = script.output().unwrap();
        (output.status.code(), output.stdout)
    };
    for line in ["export a.b2nd -", "slice a.b2nd 0 -o -", "plot a.b2nd --slice 0 -o -", "cat a.b2nd"] {
        let (code, out) = on_terminal(line);
        let text = String::from_utf8(out).unwrap();
        assert!(code == Some(2) && text.contains("--force writes it anyway"), "{line}: {text}");
        let (code, out) = on_terminal(&format!("{line} --force"));
        assert!(code == Some(0) && out.len() > 100, "{line}: {code:?}");
    }
    assert_eq!(on_terminal("slice a.b2nd 0").0, Some(0));
}
