//! What a disk holds at one moment.

use super::{Event, Files, SECTOR};
use std::collections::BTreeMap;
use std::ops::Range;

/// The content of all files that ever were, and the names of those that have one.
#[derive(Debug, Clone, Default)]
pub(super) struct State {
    files: Vec<Vec<u8>>,
    names: BTreeMap<String, usize>,
}

impl State {
    pub(super) fn len(&self) -> usize {
        self.files.len()
    }
    pub(super) fn find(&self, name: &str) -> Option<usize> {
        self.names.get(name).copied()
    }
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.names.keys().map(String::as_str)
    }
    pub(super) fn content(&self, file: usize) -> &[u8] {
        self.files.get(file).map_or(&[], Vec::as_slice)
    }
    pub(super) fn files(&self) -> Files {
        self.names.iter().map(|(name, file)| (name.clone(), self.content(*file).to_vec())).collect()
    }
    fn file_mut(&mut self, file: usize) -> &mut Vec<u8> {
        if self.files.len() <= file {
            self.files.resize(file + 1, Vec::new());
        }
        &mut self.files[file]
    }
    /// Does what an event says, whole.
    pub(super) fn apply(&mut self, event: &Event) {
        match event {
            Event::Write { file, at, bytes } => self.write(*file, *at, bytes, 0),
            Event::SetLen { file, len } => self.file_mut(*file).resize(*len, 0),
            Event::Name { name, file, from } => {
                self.file_mut(*file);
                if let Some(from) = from {
                    self.names.remove(from);
                }
                self.names.insert(name.clone(), *file);
            }
            Event::Unname(name) => {
                self.names.remove(name);
            }
            Event::Sync(_) | Event::SyncNames | Event::Done(_) => {}
        }
    }
    /// Writes bytes; what comes to lie between them and the old end of the file is `fill`.
    pub(super) fn write(&mut self, file: usize, at: usize, bytes: &[u8], fill: u8) {
        let content = self.file_mut(file);
        let end = at + bytes.len();
        if content.len() < end {
            content.resize(end, fill);
        }
        content[at..end].copy_from_slice(bytes);
    }
    /// Writes some of the sectors of a write. With `grows` the file gets the length of the whole write in any case.
    pub(super) fn write_sectors(
        &mut self,
        file: usize,
        at: usize,
        bytes: &[u8],
        fill: u8,
        grows: bool,
        mut chosen: impl FnMut() -> bool,
    ) {
        let (end, len) = (at + bytes.len(), self.content(file).len());
        if grows && len < end {
            self.file_mut(file).resize(end, fill);
        }
        for part in sectors(at, bytes.len()) {
            if chosen() {
                self.write(file, at + part.start, &bytes[part], fill);
            }
        }
    }
}

/// The parts of a write that lie in one sector each, counted from its start.
pub(super) fn sectors(at: usize, len: usize) -> impl Iterator<Item = Range<usize>> {
    let mut start = 0;
    std::iter::from_fn(move || {
        let from = start;
        start = len.min(from + SECTOR - (at + from) % SECTOR);
        (from < len).then_some(from..start)
    })
}
