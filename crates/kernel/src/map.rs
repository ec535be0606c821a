//! Files mapped into memory, for reading.

use std::fs::File;
use std::io;

/// A file that is mapped into memory, for reading.
///
/// The bytes are the file's own: no process may change or truncate it while the map exists. What happens otherwise is
/// stated in `docs/SAFETY.md` (reading truncated bytes ends the process with SIGBUS). So files are mapped only on
/// request.
#[derive(Debug)]
pub struct Map(memmap2::Mmap);

impl Map {
    /// Maps a whole file.
    ///
    /// # Errors
    /// The error of the operating system.
    pub fn read_only(file: &File) -> io::Result<Self> {
        // SAFETY: the map is read-only, and the caller who asks for a map promises that the file does not change.
        unsafe { memmap2::Mmap::map(file) }.map(Map)
    }
}

impl AsRef<[u8]> for Map {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}
