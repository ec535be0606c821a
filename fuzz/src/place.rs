//! A folder of one's own for targets that work on files. `TMPDIR` should lead to memory.

use std::fs;
use std::path::PathBuf;

/// An empty folder, which is gone when this is.
pub struct Folder(PathBuf);

impl Folder {
    /// Makes it, or empties what a run that was killed has left.
    pub fn new() -> Self {
        let path = std::env::temp_dir().join(format!("b2nd-fuzz-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).expect("a folder to work in");
        Folder(path)
    }

    /// A path in it.
    pub fn at(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Default for Folder {
    fn default() -> Self {
        Folder::new()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The records that an input consists of: a kind, a length of two bytes (little-endian), and so many bytes, or what is left.
pub fn records(mut data: &[u8]) -> impl Iterator<Item = (u8, &[u8])> {
    std::iter::from_fn(move || {
        let (&[kind, low, high], rest) = data.split_first_chunk::<3>()?;
        let (content, rest) = rest.split_at(rest.len().min(usize::from(u16::from_le_bytes([low, high]))));
        data = rest;
        Some((kind, content))
    })
}
