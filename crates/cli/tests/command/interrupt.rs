//! Ctrl-C, SIGTERM and SIGHUP in the middle of the work, and what is done about files of commands that were killed.

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
    ignores(2)
}

fn ignores(signal: u32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    ignored
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .is_some_and(|mask| mask >> (signal - 1) & 1 != 0)
}

fn interrupt(child: Child) -> (i32, String) {
    stop(child, "INT")
}

fn stop(mut child: Child, signal: &str) -> (i32, String) {
    // The pipe stays open: the end of the input must not be what ends the command.
    let open = child.stdin.take();
    assert!(
        Command::new("kill").args([format!("-{signal}"), child.id().to_string()]).status().unwrap().success()
    );
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

#[test]
fn termination_and_hang_up_are_handled_as_interrupts() {
    for (signal, number) in [("TERM", 15), ("HUP", 1)] {
        if ignores(number) {
            continue;
        }
        for options in [&["--chunks", "4,30"][..], &["--sparse"]] {
            let folder = Folder::new();
            folder.write("old.b2nd", b"what was there");
            let args = [&["import", "-", "old.b2nd", "--force"][..], options].concat();
            let (code, err) = stop(waiting(&folder, &args), signal);
            assert_eq!(code, 128 + number as i32, "{signal}: {err}");
            assert!(err.contains("b2nd: interrupted"), "{err}");
            assert_eq!(folder.names(), ["old.b2nd"], "{signal}, {options:?}");
            assert_eq!(folder.read("old.b2nd"), b"what was there");
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_hang_up_that_is_ignored_stays_ignored() {
    let folder = Folder::new();
    let input = npy("<u4", &[40, 30], false, &items(&[40, 30]));
    let mut command = Command::new("sh");
    command.args(["-c", "trap '' HUP; exec \"$0\" import - a.b2nd", env!("CARGO_BIN_EXE_b2nd")]);
    command.current_dir(folder.path("")).stdin(Stdio::piped()).stdout(Stdio::null());
    let mut child = command.spawn().unwrap();
    child.stdin.as_mut().unwrap().write_all(&input[..2000]).unwrap();
    let started = Instant::now();
    while folder.names().is_empty() {
        assert!(started.elapsed() < DEADLINE, "nothing is written");
        sleep(Duration::from_millis(5));
    }
    assert!(Command::new("kill").args(["-HUP", &child.id().to_string()]).status().unwrap().success());
    sleep(Duration::from_millis(200));
    child.stdin.as_mut().unwrap().write_all(&input[2000..]).unwrap();
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
    folder.good(&["verify", "a.b2nd"]);
}

/// The names that are in a folder and were not in `before`.
fn new_names(folder: &Folder, before: &[String]) -> Vec<String> {
    folder.names().into_iter().filter(|name| !before.contains(name)).collect()
}

#[test]
fn what_a_killed_command_has_left_is_named_by_readers_and_removed_by_writers() {
    for layout in [&[][..], &["--sparse"]] {
        let folder = Folder::new();
        folder.write("in.npy", &npy("<u4", &[40, 30], false, &items(&[40, 30])));
        folder.good(&[&["import", "in.npy", "a.b2nd"][..], layout].concat());
        let before = folder.names();
        let args = [&["import", "-", "a.b2nd", "--force", "--memory", "1K", "--chunks", "40,4"][..], layout]
            .concat();
        let mut child = waiting(&folder, &args);
        while !folder.names().iter().any(|name| name.contains(".tmp-")) {
            sleep(Duration::from_millis(5));
        }
        // While it works, its files are nobody else's business.
        assert!(!folder.good(&["verify", "a.b2nd"]).contains("left over"));
        child.kill().unwrap();
        child.wait().unwrap();
        let left = new_names(&folder, &before);
        assert!(left.len() >= 2 && left.contains(&"a.b2nd.b2owner".to_owned()), "{left:?}");
        // What a process that runs has made, and what belongs to another file, stays.
        let (own, other) = (format!(".a.b2nd.tmp-{}-0", std::process::id()), ".b.b2nd.tmp-2147483000-0");
        folder.write(&own, b"half");
        folder.write(other, b"half");
        let said = folder.good(&["verify", "a.b2nd"]);
        assert!(left.iter().all(|name| said.contains(name.as_str())), "{said}");
        assert_eq!(said.matches("left over: ").count(), left.len(), "{said}");
        assert_eq!(new_names(&folder, &before).len(), left.len() + 2, "a reader removes nothing");
        let (code, _, err) = folder.run(&["attrs", "a.b2nd", "set", "units", "K"]);
        assert_eq!((code, err.matches("note: removed ").count()), (0, left.len()), "{err}");
        assert_eq!(new_names(&folder, &before), [own.as_str(), other]);
        assert!(!folder.good(&["verify", "a.b2nd"]).contains("left over"));
    }
}

#[test]
fn temporary_files_in_a_sparse_array_are_named_and_removed() {
    let folder = Folder::new();
    folder.write("in.npy", &npy("<u4", &[40], false, &items(&[40])));
    folder.good(&["import", "in.npy", "a.b2nd", "--sparse"]);
    let names =
        [".chunks.b2frame.tmp-2147483000-0", ".00000001.chunk.tmp-2147483000-3", ".notes.tmp-2147483000-0"];
    for name in names {
        folder.write(&format!("a.b2nd/{name}"), b"half");
    }
    // One that somebody has open.
    let held = ".00000002.chunk.tmp-2147483000-0";
    let file = std::fs::File::create(folder.path("a.b2nd").join(held)).unwrap();
    file.lock_shared().unwrap();
    let said = folder.good(&["verify", "a.b2nd"]);
    assert_eq!(said.matches("left over: ").count(), 2, "{said}");
    assert_eq!(folder.run(&["compact", "a.b2nd"]).0, 0);
    let there = |name: &str| folder.path("a.b2nd").join(name).exists();
    assert!(!there(names[0]) && !there(names[1]) && there(names[2]) && there(held));
    drop(file);
    // A command that replaces the array is not kept from it by them either.
    std::fs::remove_file(folder.path("a.b2nd").join(names[2])).unwrap();
    assert_eq!(folder.run(&["import", "in.npy", "a.b2nd", "--sparse", "--force"]).0, 0);
    assert!(!there(held));
}

#[test]
fn a_file_that_passes_the_limit_of_its_size_leaves_nothing_behind() {
    let folder = Folder::new();
    folder.write("in.npy", &npy("<u4", &[400, 300], false, &items(&[400, 300])));
    let mut command = Command::new("sh");
    command.args([
        "-c",
        "ulimit -f 20; exec \"$0\" import in.npy a.b2nd --level 0",
        env!("CARGO_BIN_EXE_b2nd"),
    ]);
    let output = command.current_dir(folder.path("")).output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    assert_eq!(folder.names(), ["in.npy"]);
}
