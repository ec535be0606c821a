//! Any files as a sparse directory, with links, folders and strange names among them: it reads as the same files do behind a
//! store of the caller's that has no links, a change is done as on a list of chunks, and nothing outside is read or written.
//!
//! Records of [`place::records`], the last 32 bytes choose changes. Kinds: 0 the frame, else the first byte is a number: 1 its
//! chunk file, 2 the same as a link to a file outside, 3 as a folder, 4 under a name in small letters; 5 the frame as a link;
//! 6 any file beside them.
#![no_main]

use b2nd::io::{FileId, ReadStore};
use b2nd::{Array, Durability, Error, Layout, OpenOptions, Result, SChunk};
use b2nd_fuzz::chunks;
use b2nd_fuzz::place::{self, Folder};
use libfuzzer_sys::arbitrary::Unstructured;
use libfuzzer_sys::fuzz_target;
use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;

fuzz_target!(|data: &[u8]| {
    let (files, choices) = data.split_at(data.len().saturating_sub(32));
    let folder = Folder::new();
    let (frame, outside) = (folder.at("frame"), folder.at("outside"));
    fs::create_dir(&frame).expect("a folder");
    fs::create_dir(&outside).expect("a folder");
    let mut model = Files::default();
    let mut strange = BTreeMap::new();
    for (kind, content) in place::records(files).take(24) {
        lay_out(kind, content, &frame, &outside, &mut model, &mut strange);
    }
    let before = contents(&outside);
    let options = b2nd_fuzz::options();
    let opened = SChunk::open(&frame, &options);
    let expected = SChunk::open_store(Arc::new(model.clone()), Layout::Sparse, &options);
    assert_eq!(chunks::outcome(&opened), chunks::outcome(&expected));
    let array = Array::open_with(&frame, &options).and_then(|array| array.read_bytes(()));
    let expected = expected.and_then(Array::from_schunk).and_then(|array| array.read_bytes(()));
    assert_eq!(array.ok(), expected.ok());
    if let Ok(opened) = opened {
        let _ = (opened.verify(), opened.to_bytes());
        if chunks::is_small(&opened) {
            drop(opened);
            change(&frame, choices, options);
        }
    }
    assert_eq!(before, contents(&outside), "what lies outside is left alone");
    for (path, content) in strange {
        assert_eq!(fs::read(&path).ok(), Some(content), "{path:?} is no file of the frame");
    }
});

/// Puts one file where its record says, and into the model if it is one of the frame's.
fn lay_out(
    kind: u8,
    content: &[u8],
    frame: &Path,
    outside: &Path,
    model: &mut Files,
    strange: &mut BTreeMap<PathBuf, Vec<u8>>,
) {
    let number = content.first().copied().unwrap_or(0);
    let bytes = content.get(1..).unwrap_or_default();
    let index = frame.join("chunks.b2frame");
    let path = frame.join(format!("{number:08X}.chunk"));
    let far = outside.join(number.to_string());
    let taken = |path: &Path| fs::symlink_metadata(path).is_ok();
    match kind {
        0 if !taken(&index) => {
            fs::write(&index, content).expect("a file");
            model.0.insert(FileId::Frame, content.to_vec());
        }
        1 if !taken(&path) => {
            fs::write(&path, bytes).expect("a file");
            model.0.insert(FileId::Chunk(u32::from(number)), bytes.to_vec());
        }
        2 if !taken(&path) => {
            fs::write(&far, bytes).expect("a file");
            symlink(&far, &path).expect("a link");
        }
        3 if !taken(&path) => fs::create_dir(&path).expect("a folder"),
        4 => {
            let path = frame.join(format!("{number:08x}.chunk"));
            if number & 0xf > 9 && !taken(&path) {
                fs::write(&path, bytes).expect("a file");
                strange.insert(path, bytes.to_vec());
            }
        }
        5 if !taken(&index) => {
            let far = outside.join("index");
            fs::write(&far, content).expect("a file");
            symlink(&far, &index).expect("a link");
        }
        6 => {
            let name: String =
                content.iter().take(40).map(|&b| char::from(b)).filter(|&c| c != '/' && c != '\0').collect();
            let path = frame.join(format!("{name}.x"));
            if !taken(&path) {
                fs::write(&path, content).expect("a file");
                strange.insert(path, content.to_vec());
            }
        }
        _ => {}
    }
}

/// Changes the frame where it lies; what is found there afterwards is what the handle had.
fn change(frame: &Path, choices: &[u8], options: OpenOptions) {
    let lock = choices.first().is_some_and(|first| first % 2 == 0);
    let writing = options.clone().with_write(true).with_durability(Durability::None).with_owner_lock(lock);
    let Ok(mut opened) = SChunk::open(frame, &writing) else { return };
    if let Ok(Some(model)) = chunks::follow(&mut Unstructured::new(choices), &mut opened) {
        drop(opened);
        let again = SChunk::open(frame, &options).expect("what was changed");
        assert_eq!(chunks::read(&again).expect("a sound frame"), model);
    }
}

fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    entries.map(|path| (path.clone(), fs::read(path).expect("a file"))).collect()
}

/// The regular files of a frame, in memory.
#[derive(Debug, Clone, Default)]
struct Files(HashMap<FileId, Vec<u8>>);

impl Files {
    fn file(&self, file: FileId) -> Result<&Vec<u8>> {
        self.0.get(&file).ok_or_else(|| Error::Usage("no such file".into()))
    }
}

impl ReadStore for Files {
    fn len(&self, file: FileId) -> Result<u64> {
        Ok(self.file(file)?.len() as u64)
    }

    fn read_at(&self, file: FileId, offset: u64, buf: &mut [u8]) -> Result<()> {
        let far = || Error::Usage("past the end".into());
        let start = usize::try_from(offset).map_err(|_| far())?;
        let end = start.checked_add(buf.len()).ok_or_else(far)?;
        buf.copy_from_slice(self.file(file)?.get(start..end).ok_or_else(far)?);
        Ok(())
    }
}
