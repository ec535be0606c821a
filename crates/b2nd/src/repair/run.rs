//! A repair from one end to the other: to another path, in the place of the damaged frame, in memory.

use super::options::RepairOptions;
use super::place;
use super::report::Repaired;
use super::source::DamagedFrame;
use super::survey;
use super::view;
use super::view::ReadableFrame;
use crate::error::{Error, Result};
use crate::frame::{Layout, Offsets};
use crate::io;
use crate::io::{Listing, MemoryStore, Owner};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

/// Repairs the frame at `path`, and writes what can be saved as a new frame at `out`. The damaged frame is only read.
///
/// Chunks that can be read are copied as they are, compressed. Where checksums are there they decide what can be read, and find
/// chunks wherever they lie; without them a chunk counts as whole when it can be decoded, and chunks whose offsets are lost are
/// taken in the order in which they lie, which the report calls a guess. Of an array chunk that is damaged in some blocks the
/// others are kept. What is lost holds [`RepairOptions::with_fill`], and is named.
///
/// ```
/// use b2nd::{Array, Dtype, Options, RepairOptions, repair, s};
/// # let dir = std::env::temp_dir().join(format!("b2nd-doc-repair-{}", std::process::id()));
/// # std::fs::create_dir_all(&dir).unwrap();
/// let (path, out) = (dir.join("torn.b2nd"), dir.join("whole.b2nd"));
/// let mut array = Options::new().with_chunks([100]).create(&path, Dtype::parse("<i4")?, [1000])?;
/// array.write_items(s![], &(0..1000).collect::<Vec<i32>>())?;
/// drop(array);
/// let bytes = std::fs::read(&path).unwrap();
/// std::fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
/// assert!(Array::open(&path).is_err());
///
/// let report = repair(&path, &out, &RepairOptions::new())?;
/// let lost: Vec<u64> = report.lost.iter().map(|place| place.chunk).collect();
/// let array = Array::open(&out)?;
/// assert!(!lost.is_empty() && !lost.contains(&0));
/// assert_eq!(array.read_items::<i32>(s![..100])?, (0..100).collect::<Vec<i32>>());
/// # std::fs::remove_dir_all(&dir).unwrap();
/// # Ok::<(), b2nd::Error>(())
/// ```
///
/// # Errors
/// [`Error::Format`] when nothing of a frame can be found; [`Error::Unsupported`] for damaged frames of the betas;
/// [`Error::AlreadyExists`]; [`Error::Usage`] when `out` is the damaged frame; [`Error::Io`]; [`Error::Limit`]. Then
/// nothing is at `out` that was not there before.
pub fn repair(path: impl AsRef<Path>, out: impl AsRef<Path>, options: &RepairOptions) -> Result<Repaired> {
    let path = path.as_ref();
    let (source, mut report) = open(path, options)?;
    let view = restore(&source, options, &mut report).map_err(|error| error.at_path(path))?;
    let saving = options.saving(source.layout).with_overwrite(options.overwrite);
    view.schunk().save_kept(out.as_ref(), &saving, None)?;
    Ok(report)
}

/// As [`repair`], in the place of the damaged frame, which keeps all its bytes under another name beside it:
/// [`Repaired::original`] says which.
///
/// The repaired frame is made under a name of its own, `NAME.repaired`, and takes that of the damaged one when it is whole. The
/// owner lock is held meanwhile, so that nobody writes. Where nothing is wrong nothing is done.
///
/// # Errors
/// As [`repair`], and [`Error::Locked`] where a writer has the frame. Then the frame is as it was.
pub fn repair_in_place(path: impl AsRef<Path>, options: &RepairOptions) -> Result<Repaired> {
    let path = path.as_ref();
    if options.offset > 0 {
        return Err(Error::usage(
            "a frame inside another file cannot be repaired in place: repair it to another path",
        ));
    }
    let _owner = Owner::of_existing(path)?;
    let (source, mut report) = open(path, options)?;
    let view = restore(&source, options, &mut report).map_err(|error| error.at_path(path))?;
    if report.was_sound() && report.left_out.is_empty() && !options.renew {
        return Ok(report);
    }
    let new = io::beside(path)?;
    view.schunk().save_kept(&new, &options.saving(source.layout), Some(path))?;
    report.original = Some(io::replace_keeping(path, &new)?);
    Ok(report)
}

/// As [`repair`], of a contiguous frame in memory.
///
/// ```
/// use b2nd::{Dtype, Options, RepairOptions, repair_bytes};
/// let bytes = Options::new().create_in_memory(Dtype::parse("<i4")?, [1000])?.to_bytes()?;
/// let (copy, report) = repair_bytes([vec![7; 100], bytes].concat(), &RepairOptions::new())?;
/// assert_eq!(b2nd::Array::from_bytes(copy, &Default::default())?.shape(), [1000]);
/// assert_eq!(report.left_out, ["100 bytes before the frame"]);
/// # Ok::<(), b2nd::Error>(())
/// ```
///
/// # Errors
/// As [`repair`].
pub fn repair_bytes(bytes: Vec<u8>, options: &RepairOptions) -> Result<(Vec<u8>, Repaired)> {
    let store = MemoryStore::from_bytes(bytes).at(options.offset)?;
    let source = DamagedFrame::new(Arc::new(store), Layout::Contiguous, Listing::default())?;
    let mut report = Repaired::default();
    let view = restore(&source, options, &mut report)?;
    Ok((view.schunk().to_bytes()?, report))
}

fn open(path: &Path, options: &RepairOptions) -> Result<(DamagedFrame, Repaired)> {
    let (store, layout, listing) = io::open_damaged(path, options.offset)?;
    let mut report = Repaired::default();
    report
        .left_out
        .extend(listing.temporaries.iter().map(|name| format!("{name}: a file that nobody finished")));
    Ok((DamagedFrame::new(store, layout, listing)?, report))
}

/// The view of what can be read.
fn restore(source: &DamagedFrame, options: &RepairOptions, report: &mut Repaired) -> Result<ReadableFrame> {
    let mut survey = survey::survey(source, options, report)?;
    if !survey.header.is_current() {
        let view = view::as_it_is(source, options)?;
        report.chunks = view.schunk().nchunks();
        return Ok(view);
    }
    let placed = place::place(source, &mut survey, options, report)?;
    if source.layout == Layout::Sparse {
        let named = |raw: i64| u32::try_from(raw).ok();
        let mut used = BTreeSet::new();
        match &placed.offsets {
            Offsets::Uniform { raw, .. } => used.extend(named(*raw)),
            offsets => offsets.each_stored(|_, raw| {
                used.extend(named(raw));
                Ok(())
            })?,
        }
        let unused = source.listing.chunks.iter().filter(|number| !used.contains(number));
        report.left_out.extend(unused.map(|number| format!("{number:08X}.chunk: nothing refers to it")));
    }
    view::open(source, &survey, placed, options, report)
}
