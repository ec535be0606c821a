//! Files mapped into memory, for reading.

use std::fs::File;
use std::io;

/// A file that is mapped into memory, for reading.
///
/// The bytes are the file's own: nobody may change or cut it while the map lives. What happens otherwise is stated in
/// `docs/SAFETY.md` (a read of bytes that were cut off ends the process with SIGBUS), and is why nothing maps a file unasked.
#[derive(Debug)]
pub struct Map(memmap2::Mmap);

impl Map {
    /// Maps a whole file.
    ///
    /// # Errors
    /// What the operating system says.
    pub fn read_only(file: &File) -> io::Result<Self> {
        // SAFETY: the map is for reading; that the file stays as it is meanwhile is what whoever asks for a map promises.
        unsafe { memmap2::Mmap::map(file) }.map(Map)
    }
}

impl AsRef<[u8]> for Map {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}
