//! Temporary directory for the arrays of a test.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, in its helper functions too")]

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

/// A directory of its own, removed when the value is dropped.
pub(crate) struct Scratch(pub(crate) PathBuf);

impl Scratch {
    pub(crate) fn new(name: &str) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let dir = std::env::temp_dir().join(format!("b2nd-{name}-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        Scratch(dir)
    }
    pub(crate) fn path(&self) -> PathBuf {
        self.0.join("a.b2nd")
    }
    pub(crate) fn entries(&self) -> usize {
        self.paths().len()
    }
    /// Paths of the directory's entries, without the owner locks of writers.
    pub(crate) fn paths(&self) -> Vec<PathBuf> {
        let paths = std::fs::read_dir(&self.0).unwrap().map(|entry| entry.unwrap().path());
        paths.filter(|path| path.extension().is_none_or(|end| end != "b2owner")).collect()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
