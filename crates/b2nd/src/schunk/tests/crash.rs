//! A commit that is cut off at any point leaves the old frame or the new one.

use super::*;
use crate::array::{Array, Dtype, Options, Resize};
use crate::frame::Durability;
use crate::frame::plan::{FileId, WriteStep};
use crate::io::{MemoryStore, OpenedStore, ReadStore, WriteStore};
use crate::schunk::export::CopyHow;
use std::ops::Range;
use std::sync::{Arc, Mutex};

pub(super) type Log = Arc<Mutex<Vec<WriteStep<'static>>>>;

/// Writes down what is done to a store.
#[derive(Debug)]
pub(super) struct Recorder {
    pub(super) store: MemoryStore,
    pub(super) log: Log,
}

impl ReadStore for Recorder {
    fn len(&self, file: FileId) -> crate::Result<u64> {
        self.store.len(file)
    }
    fn read_at(&self, file: FileId, offset: u64, buf: &mut [u8]) -> crate::Result<()> {
        self.store.read_at(file, offset, buf)
    }
    fn slice(&self, file: FileId, range: Range<u64>) -> Option<&[u8]> {
        self.store.slice(file, range)
    }
    fn is_in_memory(&self) -> bool {
        true
    }
    fn chunk_files(&self) -> crate::Result<Vec<u32>> {
        self.store.chunk_files()
    }
}

impl WriteStore for Recorder {
    fn reader(&self) -> Arc<dyn ReadStore> {
        self.store.reader()
    }
    fn apply(&mut self, step: &WriteStep<'_>) -> crate::Result<()> {
        self.log.lock().unwrap().push(owned(step));
        self.store.apply(step)
    }
    fn is_alone(&self) -> bool {
        self.store.is_alone()
    }
}

fn owned(step: &WriteStep<'_>) -> WriteStep<'static> {
    match step {
        WriteStep::WriteAt { file, offset, bytes } => {
            WriteStep::WriteAt { file: *file, offset: *offset, bytes: bytes.to_vec().into() }
        }
        WriteStep::Put { file, bytes, sync } => {
            WriteStep::Put { file: *file, bytes: bytes.to_vec().into(), sync: *sync }
        }
        WriteStep::SetLen { file, len } => WriteStep::SetLen { file: *file, len: *len },
        WriteStep::Sync { file } => WriteStep::Sync { file: *file },
        WriteStep::Publish { sync } => WriteStep::Publish { sync: *sync },
        WriteStep::Remove { file } => WriteStep::Remove { file: *file },
    }
}

/// The states of the medium after a crash in the middle of `steps`: after each one, and in the middle of data writes.
/// The header and whole files are written at once: a sector, a rename.
fn crashes(steps: &[WriteStep<'static>]) -> Vec<Vec<WriteStep<'static>>> {
    let mut all = Vec::new();
    for done in 0..=steps.len() {
        all.push(steps[..done].to_vec());
        if let Some(WriteStep::WriteAt { file, offset, bytes }) = steps.get(done).filter(|s| !is_header(s)) {
            for cut in (0..bytes.len()).step_by(7) {
                let bytes = bytes[..cut].to_vec().into();
                all.push(
                    [&steps[..done], &[WriteStep::WriteAt { file: *file, offset: *offset, bytes }]].concat(),
                );
            }
        }
    }
    all
}

fn is_header(step: &WriteStep<'_>) -> bool {
    matches!(step, WriteStep::WriteAt { offset: 0, .. })
}

#[derive(Debug, PartialEq)]
struct Seen {
    chunks: Vec<Vec<u8>>,
    note: Vec<u8>,
    meta: Vec<u8>,
}

fn see(schunk: &SChunk) -> Seen {
    Seen {
        chunks: contents(schunk).unwrap(),
        note: schunk.vlmetalayer("note").unwrap().unwrap(),
        meta: schunk.metalayers().next().unwrap().1.to_vec(),
    }
}

/// A frame in memory, after a first commit and with every step from then on written down.
fn recorded(layout: Layout) -> (Vec<WriteStep<'static>>, SChunk, Log) {
    let log = Log::default();
    let base = Log::default();
    let mut schunk = SChunk::create(FrameTarget::Memory, spec(layout, 6), &options().common).unwrap();
    schunk.writer.store =
        OpenedStore::Write(Box::new(Recorder { store: MemoryStore::default(), log: base.clone() }));
    for n in 0..4 {
        let chunk = encoded(&schunk, &data(n));
        schunk.put_chunk(u64::from(n), &chunk).unwrap();
    }
    schunk.commit().unwrap();
    let base: Vec<_> = base.lock().unwrap().clone();
    let mut store = Recorder { store: MemoryStore::default(), log: Log::default() };
    base.iter().for_each(|step| store.apply(step).unwrap());
    store.log = log.clone();
    let schunk =
        SChunk::load(OpenedStore::Write(Box::new(store)), layout, &options().with_write(true)).unwrap();
    (base, schunk, log)
}

fn change(schunk: &mut SChunk) {
    for n in [1, 1, 3, 5] {
        let chunk = encoded(schunk, &data(n + 30));
        schunk.put_chunk(u64::from(n), &chunk).unwrap();
    }
    schunk.put_special(0, Special::Zeros).unwrap();
    schunk.stage_vlmetalayer("note", b"changed").unwrap();
    schunk.stage_metalayer("b2nd", &[1; 20]).unwrap();
}

/// Another list of chunks, some of them new.
fn relayout(schunk: &mut SChunk) {
    let source = [None, Some(3), Some(0), None, Some(5), None, Some(1)];
    schunk.relayout(7, Special::Uninit, |n| source[n as usize]).unwrap();
    for n in [0, 1] {
        let chunk = encoded(schunk, &data(n + 30));
        schunk.put_chunk(u64::from(n), &chunk).unwrap();
    }
    schunk.stage_metalayer("b2nd", &[2; 20]).unwrap();
}

/// No chunks left.
fn empty(schunk: &mut SChunk) {
    schunk.put_chunk(2, &encoded(schunk, &data(31))).unwrap();
    schunk.relayout(0, Special::Zeros, |_| None).unwrap();
}

/// Chunks inserted, removed and moved, and items changed.
fn edit(schunk: &mut SChunk) {
    schunk.stage_insert(2, &encoded(schunk, &data(31))).unwrap();
    schunk.stage_delete(0).unwrap();
    schunk.stage_reorder(&[1, 0, 5, 4, 3, 2]).unwrap();
    schunk.stage_items(90, &[1; 80]).unwrap();
    schunk.stage_fill(Special::Nan, &[], 250).unwrap();
}

/// Chunks that differ in size.
fn variable(schunk: &mut SChunk) {
    schunk.stage_update(1, &encoded(schunk, &data(31)[..40])).unwrap();
    schunk.stage_insert(6, &encoded(schunk, &[data(1), data(2)].concat())).unwrap();
}

const CHANGES: [fn(&mut SChunk); 5] = [change, relayout, empty, edit, variable];

#[test]
fn every_prefix_of_a_commit_is_the_old_frame_or_the_new_one() {
    for layout in [Layout::Contiguous, Layout::Sparse] {
        CHANGES.into_iter().for_each(|change| replay(layout, change));
    }
}

fn replay(layout: Layout, change: fn(&mut SChunk)) {
    let (base, mut schunk, log) = recorded(layout);
    let old = see(&schunk);
    change(&mut schunk);
    schunk.commit().unwrap();
    let new = see(&schunk);
    assert_ne!(old, new);
    let steps = log.lock().unwrap().clone();
    let mut found = [0, 0];
    for crash in crashes(&steps) {
        let mut store = MemoryStore::default();
        base.iter().chain(&crash).for_each(|step| store.apply(step).unwrap());
        let survived = see(&SChunk::load(OpenedStore::Write(Box::new(store)), layout, &options()).unwrap());
        assert!(survived == old || survived == new, "{layout:?} after {} steps", crash.len());
        found[usize::from(survived == new)] += 1;
    }
    assert!(found[0] > 0 && found[1] > 0, "{found:?}");
}

#[test]
fn nothing_is_visible_before_it_is_on_the_medium() {
    // What a crash may lose is everything since the last sync; so what the header refers to is synced before it.
    for (layout, change) in
        [Layout::Contiguous, Layout::Sparse].into_iter().flat_map(|l| CHANGES.map(|c| (l, c)))
    {
        let (_, mut schunk, log) = recorded(layout);
        change(&mut schunk);
        schunk.commit().unwrap();
        let steps = log.lock().unwrap().clone();
        let is_switch = |step: &WriteStep<'_>| {
            is_header(step) || matches!(step, WriteStep::Put { file: FileId::Frame, .. })
        };
        let switch = steps.iter().position(is_switch).unwrap();
        for (n, step) in steps.iter().enumerate().take(switch) {
            let (WriteStep::WriteAt { file, .. } | WriteStep::Put { file, .. }) = step else { continue };
            let dropped =
                steps[n..switch].iter().any(|s| matches!(s, WriteStep::Remove { file: f } if f == file));
            let synced =
                steps[n..switch].iter().any(|s| matches!(s, WriteStep::Sync { file: f } if f == file));
            // A frame that is left without chunks is replaced whole, what was written into it included.
            let replaced = matches!((&steps[switch], file), (WriteStep::Put { .. }, FileId::Frame));
            assert!(synced || dropped || replaced, "{layout:?} {step:?}");
        }
        assert!(matches!(steps[switch + 1], WriteStep::Sync { file: FileId::Frame }));
        // A file that goes leaves its number behind where that was the highest.
        let cleans = |step: &WriteStep<'_>| match step {
            WriteStep::Put { file: FileId::Chunk(_), bytes, .. } => bytes.is_empty(),
            other => matches!(other, WriteStep::Remove { .. }),
        };
        assert!(steps[switch + 2..].iter().all(cleans));
    }
}

#[test]
fn durability_changes_what_is_waited_for_and_not_the_order_of_writes() {
    for (layout, change) in
        [Layout::Contiguous, Layout::Sparse].into_iter().flat_map(|l| CHANGES.map(|c| (l, c)))
    {
        let steps_with = |durability| {
            let (_, mut schunk, log) = recorded(layout);
            schunk.writer.durability = durability;
            change(&mut schunk);
            schunk.commit().unwrap();
            log.lock().unwrap().clone()
        };
        let is_sync = |step: &WriteStep<'_>| matches!(step, WriteStep::Sync { .. });
        let writes = |steps: &[WriteStep<'static>]| {
            let shown = |step: &WriteStep<'_>| match step {
                WriteStep::Put { file, bytes, .. } => format!("{file:?} {bytes:?}"),
                other => format!("{other:?}"),
            };
            steps.iter().filter(|step| !is_sync(step)).map(shown).collect::<Vec<_>>()
        };
        let [none, ordered, full] = [Durability::None, Durability::Ordered, Durability::Full].map(steps_with);
        assert_eq!((writes(&none), writes(&ordered)), (writes(&full), writes(&full)));
        assert!(!none.iter().any(is_sync));
        let waits = |steps: &[WriteStep<'static>]| steps.iter().filter(|step| is_sync(step)).count();
        // Before files go, the name of the frame that does without them is on the medium in any case.
        let removes = |step: &WriteStep<'_>| match step {
            WriteStep::Put { file: FileId::Chunk(_), bytes, .. } => bytes.is_empty(),
            other => matches!(other, WriteStep::Remove { .. }),
        };
        let first =
            ordered.iter().position(|step| matches!(step, WriteStep::Put { file: FileId::Frame, .. }));
        let behind = first.map_or(&[][..], |switch| &ordered[switch + 1..]);
        let goes = behind.iter().any(removes);
        assert!(!goes || is_sync(&behind[0]), "{behind:?}");
        assert_eq!(waits(&ordered) + usize::from(!goes), waits(&full), "{layout:?}");
        let put_is_synced = |steps: &[WriteStep<'static>]| {
            let frame = steps.iter().find_map(|step| match step {
                WriteStep::Put { file: FileId::Frame, sync, .. } => Some(*sync),
                _ => None,
            });
            frame.unwrap_or(layout == Layout::Contiguous)
        };
        assert!(put_is_synced(&ordered) && put_is_synced(&full));
        assert!(layout == Layout::Contiguous || !put_is_synced(&none));
    }
}

#[test]
fn a_frame_that_is_made_compact_goes_on_waiting_for_as_much() {
    let unhurried = options().with_write(true).with_durability(Durability::None);
    let mut schunk =
        SChunk::create(FrameTarget::Memory, spec(Layout::Contiguous, 6), &unhurried.common).unwrap();
    schunk.commit().unwrap();
    schunk.compact().unwrap();
    assert_eq!(schunk.writer.durability, Durability::None);
}

#[test]
fn no_byte_of_the_last_commit_is_written_over() {
    for change in CHANGES {
        let (_, mut schunk, log) = recorded(Layout::Contiguous);
        let end = schunk.frame_len();
        change(&mut schunk);
        schunk.commit().unwrap();
        for step in log.lock().unwrap().iter() {
            let WriteStep::WriteAt { offset, bytes, .. } = step else { continue };
            let header = *offset == 0 && bytes.len() as u64 == schunk.header.len();
            assert!(header || *offset >= end, "{offset}");
        }
    }
}

#[test]
fn a_copy_behind_other_frames_that_is_cut_off_leaves_them_and_is_none() {
    let one = recorded(Layout::Contiguous).1;
    let host = one.to_bytes().unwrap();
    let log = Log::default();
    let mut recorder = Recorder { store: MemoryStore::default(), log: log.clone() };
    one.copy_to(&mut recorder, Layout::Contiguous, CopyHow::BEHIND).unwrap();
    let steps = log.lock().unwrap().clone();
    // All that the header refers to is on the medium before it.
    let header = steps.iter().position(is_header).unwrap();
    assert!(
        matches!(steps[header - 1], WriteStep::Sync { .. })
            && matches!(steps[header + 1], WriteStep::Sync { .. })
    );
    let old = see(&one);
    let mut counts = [0; 3];
    for crash in crashes(&steps) {
        let mut store = MemoryStore::from_bytes(host.clone()).at(host.len() as u64).unwrap();
        crash.iter().for_each(|step| store.apply(step).unwrap());
        let bytes = store.to_whole();
        assert_eq!(bytes[..host.len()], host);
        let found = frames_in(&bytes, &options()).unwrap();
        for frame in &found {
            let options = options().with_offset(frame.offset());
            assert_eq!(see(&SChunk::from_bytes(bytes.clone(), &options).unwrap()), old);
        }
        counts[found.len()] += 1;
        // The next one comes behind the rest, and is found.
        let again = [&bytes[..], &host].concat();
        assert_eq!(frames_in(&again, &options()).unwrap().len(), found.len() + 1);
    }
    assert!(counts[0] == 0 && counts[1] > 10 && counts[2] > 1, "{counts:?}");
}

/// An array in memory, with every step after its first commit written down.
fn recorded_array(layout: Layout) -> (Vec<WriteStep<'static>>, Array, Log) {
    let new =
        Options::new().with_layout(layout).with_exec(Exec::new(1)).with_chunks([3, 4]).with_blocks([2, 2]);
    let mut array = new.create_in_memory(Dtype::parse("<i2").unwrap(), [7, 6]).unwrap();
    array.write_items((), &(1..43).collect::<Vec<i16>>()).unwrap();
    let mut base: Vec<_> = Vec::new();
    for file in std::iter::once(FileId::Frame).chain((0..100).map(FileId::Chunk)) {
        if array.schunk.store.len(file).is_ok() {
            let bytes = whole(&array.schunk, file);
            base.push(WriteStep::Put { file, bytes: bytes.to_vec().into(), sync: false });
        }
    }
    let log = Log::default();
    let mut store = Recorder { store: MemoryStore::default(), log: Log::default() };
    base.iter().for_each(|step| store.apply(step).unwrap());
    store.log = log.clone();
    let schunk =
        SChunk::load(OpenedStore::Write(Box::new(store)), layout, &options().with_write(true)).unwrap();
    (base, Array::from_schunk(schunk).unwrap(), log)
}

#[test]
fn every_prefix_of_a_change_of_shape_is_the_old_array_or_the_new_one() {
    let changes: [fn(&mut Array); 4] = [
        |a| a.resize(Resize::to([8, 3]).with_starts([2, 1])).unwrap(),
        |a| a.insert_items(0, 2, &[9i16; 24]).unwrap(),
        |a| a.delete(1, 1..4).unwrap(),
        |a| a.resize([0, 9]).unwrap(),
    ];
    let look = |a: &Array| (a.shape().to_vec(), a.read_bytes(()).unwrap());
    for (layout, change) in
        [Layout::Contiguous, Layout::Sparse].into_iter().flat_map(|l| changes.map(|c| (l, c)))
    {
        let (base, mut array, log) = recorded_array(layout);
        let old = look(&array);
        change(&mut array);
        let new = look(&array);
        let steps = log.lock().unwrap().clone();
        let mut found = [0, 0];
        for crash in crashes(&steps) {
            let mut store = MemoryStore::default();
            base.iter().chain(&crash).for_each(|step| store.apply(step).unwrap());
            let schunk = SChunk::load(OpenedStore::Write(Box::new(store)), layout, &options()).unwrap();
            let survived = look(&Array::from_schunk(schunk).unwrap());
            assert!(survived == old || survived == new, "{layout:?} after {} steps", crash.len());
            found[usize::from(survived == new)] += 1;
        }
        assert!(found[0] > 0 && found[1] > 0, "{found:?}");
    }
}
