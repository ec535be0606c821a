//! A disk in memory that a power cut may strike at any moment: it knows what is on the medium and what was only written.
//!
//! What was not waited for may be there or not, in any order: writes whole, cut off, or some of their sectors; names of files
//! (a rename is atomic) apart from what the files hold. A sector of 512 bytes is old or new, never half of each.

mod crash;
mod state;

pub use crash::{Crash, Cut, Effort};
use state::State;
use std::collections::BTreeMap;

/// Files by name.
pub type Files = BTreeMap<String, Vec<u8>>;

/// The bytes that a medium writes whole or not at all.
pub const SECTOR: usize = 512;
/// The bytes that a process that is killed has written whole or not at all.
pub const PAGE: usize = 4096;

/// What was done to a disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// Bytes were written.
    Write {
        /// The number of the file.
        file: usize,
        /// Where.
        at: usize,
        /// What.
        bytes: Vec<u8>,
    },
    /// A file was cut off or grown.
    SetLen {
        /// The number of the file.
        file: usize,
        /// Its length.
        len: usize,
    },
    /// A file has a name now, another one perhaps no longer.
    Name {
        /// The name.
        name: String,
        /// The number of the file.
        file: usize,
        /// Its name before.
        from: Option<String>,
    },
    /// A name was removed.
    Unname(String),
    /// A file was waited for.
    Sync(usize),
    /// The names were waited for.
    SyncNames,
    /// This many changes have been acknowledged.
    Done(usize),
}

/// The disk.
#[derive(Debug, Clone, Default)]
pub struct Disk {
    now: State,
    /// What was on the medium before the log begins.
    first: State,
    log: Vec<Event>,
    temporaries: usize,
}

impl Disk {
    /// A disk on which these files are.
    pub fn new(files: &Files) -> Self {
        let mut disk = Disk::default();
        for (name, bytes) in files {
            let file = disk.create(name);
            disk.write(file, 0, bytes);
        }
        disk.settle();
        disk
    }
    fn push(&mut self, event: Event) {
        self.now.apply(&event);
        self.log.push(event);
    }
    /// A new, empty file; its number.
    pub fn create(&mut self, name: &str) -> usize {
        let file = self.now.len();
        self.push(Event::Name { name: name.to_owned(), file, from: None });
        file
    }
    /// A name that no file has yet, for one that is to be renamed to `name`.
    pub fn temporary(&mut self, name: &str) -> String {
        self.temporaries += 1;
        format!(".{name}.tmp-{}", self.temporaries)
    }
    /// The number of the file of this name.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.now.find(name)
    }
    /// The names that are there.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.now.names()
    }
    /// What a file holds, on the medium or not.
    pub fn content(&self, file: usize) -> &[u8] {
        self.now.content(file)
    }
    /// Writes bytes, growing the file where needed.
    pub fn write(&mut self, file: usize, at: usize, bytes: &[u8]) {
        self.push(Event::Write { file, at, bytes: bytes.to_vec() });
    }
    /// Cuts a file off, or grows it.
    pub fn set_len(&mut self, file: usize, len: usize) {
        self.push(Event::SetLen { file, len });
    }
    /// Gives a file another name, in the place of what has it.
    pub fn rename(&mut self, from: &str, to: &str) {
        if let Some(file) = self.find(from) {
            self.push(Event::Name { name: to.to_owned(), file, from: Some(from.to_owned()) });
        }
    }
    /// Takes a name away.
    pub fn remove(&mut self, name: &str) {
        self.push(Event::Unname(name.to_owned()));
    }
    /// Waits until a file is on the medium; its name may not be.
    pub fn sync(&mut self, file: usize) {
        self.push(Event::Sync(file));
    }
    /// Waits until all names are on the medium.
    pub fn sync_names(&mut self) {
        self.push(Event::SyncNames);
    }
    /// Says that this many changes have been acknowledged.
    pub fn done(&mut self, changes: usize) {
        self.push(Event::Done(changes));
    }
    /// All that is there is on the medium from now on, and the log begins anew.
    pub fn settle(&mut self) {
        self.first = self.now.clone();
        self.log.clear();
    }
    /// What was done, in its order.
    pub fn log(&self) -> &[Event] {
        &self.log
    }
    /// What was done, in its order, to be changed for a test of the tests.
    pub fn log_mut(&mut self) -> &mut Vec<Event> {
        &mut self.log
    }
    /// The files as they are now.
    pub fn files(&self) -> Files {
        self.now.files()
    }
}

#[cfg(test)]
mod tests;
