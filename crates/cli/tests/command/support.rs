//! A folder for each test, the command run in it, and the plainest possible `.npy` files.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// A folder that goes away with its test.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let n = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("command-{}-{n}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub(crate) fn write(&self, name: &str, bytes: &[u8]) {
        fs::write(self.path(name), bytes).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    /// The names of everything in the folder.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).unwrap();
        let mut names: Vec<String> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_b2nd"));
        command.current_dir(&self.0).args(args).env_remove("COLORTERM").env("COLUMNS", "80");
        command
    }

    /// Runs the command: exit code, standard output, standard error.
    pub(crate) fn run(&self, args: &[&str]) -> (i32, String, String) {
        told(&self.command(args).stdin(Stdio::null()).output().unwrap())
    }

    /// Runs the command, which must succeed, and gives what it printed.
    pub(crate) fn good(&self, args: &[&str]) -> String {
        let (code, out, err) = self.run(args);
        assert_eq!(code, 0, "{args:?}: {out}{err}");
        assert!(!err.contains("b2nd:"), "{args:?}: {err}");
        out
    }

    /// Runs the command, which must fail with `code` and name `word`, and give a hint.
    pub(crate) fn fails(&self, code: i32, word: &str, args: &[&str]) {
        let (found, out, err) = self.run(args);
        assert_eq!(found, code, "{args:?}: {out}{err}");
        assert!(err.starts_with("b2nd: ") && err.contains("hint: "), "{args:?}: {err}");
        assert!(err.contains(word), "{args:?} does not name {word:?}: {err}");
    }

    /// Runs the command with `input` on its standard input.
    pub(crate) fn feed(&self, input: &[u8], args: &[&str]) -> (i32, String, String) {
        let mut command = self.command(args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // A command that refuses its input closes the pipe.
        let _ = child.stdin.take().unwrap().write_all(input);
        told(&child.wait_with_output().unwrap())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn told(output: &Output) -> (i32, String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
}

/// A `.npy` file as NumPy writes it.
pub(crate) fn npy(descr: &str, shape: &[usize], fortran: bool, items: &[u8]) -> Vec<u8> {
    let lengths: String = shape.iter().map(|n| format!("{n}, ")).collect();
    let lengths = if shape.len() == 1 {
        lengths.trim_end().to_owned()
    } else {
        lengths.trim_end_matches(", ").to_owned()
    };
    let order = if fortran { "True" } else { "False" };
    let mut header = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': ({lengths}), }}");
    while (10 + header.len() + 1) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    let len = u16::try_from(header.len()).unwrap().to_le_bytes();
    [b"\x93NUMPY\x01\x00", &len[..], header.as_bytes(), items].concat()
}

/// Items that are all different: item `n` (in C order) is `7 n + 3`, little-endian.
pub(crate) fn items(shape: &[usize]) -> Vec<u8> {
    (0..shape.iter().product::<usize>()).flat_map(|n| (7 * n as u32 + 3).to_le_bytes()).collect()
}

/// Items of 4 bytes in C order, picked by their indices along each axis.
pub(crate) fn pick(shape: &[usize], items: &[u8], indices: &[Vec<usize>]) -> Vec<u8> {
    let mut at = vec![0];
    for (len, indices) in shape.iter().zip(indices) {
        at = at.iter().flat_map(|n| indices.iter().map(move |i| n * len + i)).collect();
    }
    at.iter().flat_map(|n| items[n * 4..][..4].to_vec()).collect()
}

/// The same items in Fortran order.
pub(crate) fn fortran(shape: &[usize], items: &[u8]) -> Vec<u8> {
    let count: usize = shape.iter().product();
    let mut out = vec![0; items.len()];
    for n in 0..count {
        let (mut rest, mut index) = (n, vec![0; shape.len()]);
        for d in (0..shape.len()).rev() {
            index[d] = rest % shape[d];
            rest /= shape[d];
        }
        let place = index.iter().zip(shape).rev().fold(0, |at, (i, len)| at * len + i);
        out[place * 4..][..4].copy_from_slice(&items[n * 4..][..4]);
    }
    out
}
