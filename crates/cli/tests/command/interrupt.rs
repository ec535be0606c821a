//! Ctrl-C in the middle of the work.

use std::io::Write;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::support::{Folder, items, npy};

/// Long enough for the slowest machine; a test that waits so long has failed.
const DEADLINE: Duration = Duration::from_secs(60);

/// A command that has begun to write, and waits for input that does not come.
fn waiting(folder: &Folder, args: &[&str]) -> Child {
    let input = npy("<u4", &[40, 30], false, &items(&[40, 30]));
    let before = folder.names().len();
    let mut command = folder.command(args);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.as_mut().unwrap().write_all(&input[..2000]).unwrap();
    let started = Instant::now();
    while folder.names().len() == before {
        assert!(started.elapsed() < DEADLINE, "nothing is written");
        sleep(Duration::from_millis(5));
    }
    child
}

/// Whether this process was started with Ctrl-C ignored, as jobs in the background of a script are.
fn ignores_interrupts() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 0b10 != 0)
}

fn interrupt(mut child: Child) -> (i32, String) {
    // The pipe stays open: the end of the input must not be what ends the command.
    let open = child.stdin.take();
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let started = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if started.elapsed() > DEADLINE {
            child.kill().unwrap();
        }
        sleep(Duration::from_millis(5));
    }
    drop(open);
    let output = child.wait_with_output().unwrap();
    (output.status.code().unwrap_or(-1), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn an_interrupted_import_leaves_nothing_behind() {
    if ignores_interrupts() {
        return;
    }
    // As it comes; through a copy of the input, because the chunks are read back and forth; into a folder.
    for options in [&["--chunks", "4,30"][..], &["--chunks", "40,4", "--memory", "1K"], &["--sparse"]] {
        let folder = Folder::new();
        folder.write("old.b2nd", b"what was there");
        let args = [&["import", "-", "old.b2nd", "--force"][..], options].concat();
        let (code, err) = interrupt(waiting(&folder, &args));
        assert_eq!(code, 130, "{options:?}: {err}");
        assert!(err.contains("b2nd: interrupted"), "{err}");
        assert_eq!(folder.names(), ["old.b2nd"], "{options:?}");
        assert_eq!(folder.read("old.b2nd"), b"what was there");
    }
}

#[test]
fn an_interrupted_append_leaves_the_array_as_it_was() {
    if ignores_interrupts() {
        return;
    }
    let folder = Folder::new();
    folder.write("in.npy", &npy("<u4", &[40, 30], false, &items(&[40, 30])));
    folder.good(&["import", "in.npy", "a.b2nd", "--chunks", "16,4"]);
    let before = folder.good(&["info", "a.b2nd"]);
    // The input is copied to a file first, which shows when the work has begun.
    let (code, err) = interrupt(waiting(&folder, &["append", "a.b2nd", "-", "--memory", "1K"]));
    assert_eq!(code, 130, "{err}");
    assert_eq!(folder.names(), ["a.b2nd", "in.npy"]);
    assert_eq!(folder.good(&["info", "a.b2nd"]), before);
    folder.good(&["verify", "a.b2nd"]);
}
