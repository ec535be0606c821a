//! Memory stays within what `--memory` says, whatever the size of the input. Measured where Linux tells.
#![cfg(target_os = "linux")]

use std::fs;
use std::io::Write;
use std::process::Stdio;

use crate::support::{Folder, npy};

const MIB: u64 = 1 << 20;
/// The input: 192 MiB. A 24th part of it may be held as items.
const SHAPE: [usize; 3] = [96, 512, 1024];
const ALLOWED: &str = "8M";
/// What the program itself takes (its code, stacks, codecs), with much to spare.
const PROGRAM: u64 = 32 * MIB;
/// A chunk of 16 × 128 × 128 items of 4 bytes, two for each of two threads.
const CHUNKS: u64 = 4 * MIB;

/// Runs the command and gives the most memory that it ever held.
fn peak(folder: &Folder, args: &[&str]) -> u64 {
    let mut child = folder.command(args).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    while child.try_wait().unwrap().is_none() {
        let text = fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
        let kilobytes: u64 = line.trim().trim_end_matches(" kB").parse().unwrap_or(0);
        peak = peak.max(kilobytes * 1024);
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    assert!(peak > MIB, "{args:?} was not measured");
    peak
}

#[test]
fn import_export_convert_and_append_stay_within_their_memory() {
    let folder = Folder::new();
    for (name, fortran) in [("c.npy", false), ("f.npy", true)] {
        let mut file = fs::File::create(folder.path(name)).unwrap();
        file.write_all(&npy("<u4", &SHAPE, fortran, &[])).unwrap();
        let plane: Vec<u8> = (0..512 * 1024u32).flat_map(|n| (n / 3).to_le_bytes()).collect();
        for _ in 0..SHAPE[0] {
            file.write_all(&plane).unwrap();
        }
    }
    let work = ["--memory", ALLOWED, "--threads", "2", "--force"];
    let store = ["--chunks", "16,128,128", "--codec", "lz4"];
    let bound = 8 * MIB + CHUNKS + PROGRAM;
    for args in [
        [&["import", "c.npy", "c.b2nd"][..], &store, &work].concat(),
        [&["import", "f.npy", "f.b2nd"][..], &store, &work].concat(),
        [&["export", "c.b2nd", "back.npy"][..], &work].concat(),
        [&["convert", "c.b2nd", "d.b2nd"][..], &store, &work].concat(),
        // 96 is no multiple of 64: the last chunks are made anew.
        [&["import", "c.npy", "e.b2nd"][..], &["--chunks", "64,64,64", "--codec", "lz4"], &work].concat(),
        vec!["append", "e.b2nd", "f.npy", "--memory", ALLOWED, "--threads", "2"],
        vec!["append", "e.b2nd", "d.b2nd", "--memory", ALLOWED, "--threads", "2"],
    ] {
        let peak = peak(&folder, &args);
        assert!(peak < bound, "{args:?} took {} MiB", peak / MIB);
    }
    assert!(folder.read("back.npy") == folder.read("c.npy"));
}
