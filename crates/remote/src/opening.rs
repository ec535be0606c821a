//! Opens a frame far away: head and end of it in one wave, where the store can read from the end.

use crate::error::changed;
use crate::fetch::{Answer, Fetcher, Object, Part, same_version};
use crate::location::Location;
use crate::options::RemoteOptions;
use crate::pin::Pin;
use crate::source::Source;
use b2nd::array::ArraySnapshot;
use b2nd::io::{FileId, FileRange, Step};
use b2nd::schunk::Opener;
use b2nd::{Array, Error, Layout, Result};
use bytes::Bytes;
use std::path::Path;

/// An object that is replaced while it is opened is opened again, this often.
const ATTEMPTS: usize = 3;

/// A frame that was opened.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) source: Source,
    pub(crate) array: ArraySnapshot,
    /// The parts of the frame that were fetched, and where they start.
    pub(crate) ends: Vec<(u64, Bytes)>,
}

/// Opens the array at a location.
pub(crate) async fn open(location: &Location, options: &RemoteOptions) -> Result<Opened> {
    let fetcher = Fetcher::new(location.clone(), options);
    let is_part = location.offset() > 0 || location.len().is_some();
    let layouts: &[Layout] = match options.layout {
        Some(Layout::Contiguous) => &[Layout::Contiguous],
        Some(_) => &[Layout::Sparse],
        None if is_part => &[Layout::Contiguous],
        None => &[Layout::Contiguous, Layout::Sparse],
    };
    let mut first = None;
    for layout in layouts {
        match open_as(&fetcher, *layout).await {
            Err(error) if error.is_not_found() => {
                first.get_or_insert(error);
            }
            opened => return opened.map_err(|error| error.at_path(Path::new(location.shown()))),
        }
    }
    Err(first.unwrap_or_else(|| Error::Usage("no layout to open".to_owned())))
}

async fn open_as(fetcher: &Fetcher, layout: Layout) -> Result<Opened> {
    for _ in 0..ATTEMPTS {
        match open_once(fetcher, layout).await {
            Err(Error::Changed { .. }) => {}
            opened => return opened,
        }
    }
    Err(changed(fetcher.location().shown()))
}

/// An opening that is under way.
struct Opening<'a> {
    fetcher: &'a Fetcher,
    opener: Opener,
    object: Object,
    /// The first answer: all others must be of the same version.
    first: Option<object_store::ObjectMeta>,
    ends: Vec<(u64, Bytes)>,
}

async fn open_once(fetcher: &Fetcher, layout: Layout) -> Result<Opened> {
    let (location, options) = (fetcher.location(), fetcher.options());
    let (path, shown) = match layout {
        Layout::Contiguous => (location.path().clone(), location.shown().to_owned()),
        _ => (location.file_of_sparse(FileId::Frame), location.shown_file(FileId::Frame)),
    };
    let opener = Opener::new(location.len(), layout, &options.open);
    let object = Object { path, shown, pin: None };
    let mut opening = Opening { fetcher, opener, object, first: None, ends: Vec::new() };
    while let Step::Need(ranges) = opening.opener.step()? {
        opening.wave(ranges).await?;
    }
    let Some(meta) = opening.first else {
        return Err(Error::State("a frame is open before anything was read".to_owned()));
    };
    let pin = Pin::of(&meta, options.allow_unpinned)?;
    let array = Array::from_snapshot(opening.opener.finish()?)?;
    Ok(Opened { source: Source { fetcher: fetcher.clone(), layout, pin }, array, ends: opening.ends })
}

impl Opening<'_> {
    /// Fetches what the opener asks for; with the first ranges also the end of the object, where nothing tells its length.
    async fn wave(&mut self, ranges: Vec<FileRange>) -> Result<()> {
        let location = self.fetcher.location();
        let fetches = ranges.iter().map(|range| {
            let wanted = location.in_object(&range.range);
            let part = if range.may_be_short { Part::AtMost(wanted) } else { Part::Exact(wanted) };
            self.fetcher.get(&self.object, part)
        });
        let is_open_end = self.first.is_none() && location.len().is_none() && location.offset() == 0;
        let suffix = async {
            if is_open_end {
                Some(self.fetcher.get(&self.object, Part::Last(Opener::TAIL)).await)
            } else {
                None
            }
        };
        let (answers, suffix) = futures_util::join!(futures_util::future::join_all(fetches), suffix);
        for (range, answer) in ranges.iter().zip(answers) {
            let answer = answer?;
            self.compare(&answer)?;
            self.opener.supply(range, &answer.bytes)?;
            self.ends.push((range.range.start, answer.bytes));
        }
        // A store that cannot read from the end takes another wave.
        if let Some(Ok(answer)) = suffix {
            self.compare(&answer)?;
            self.opener.supply_suffix(answer.meta.size, &answer.bytes)?;
            self.ends.push((answer.range.start, answer.bytes));
        }
        Ok(())
    }

    /// An error when the object was replaced since the first answer.
    fn compare(&mut self, answer: &Answer) -> Result<()> {
        let first = self.first.get_or_insert_with(|| answer.meta.clone());
        if same_version(first, &answer.meta) { Ok(()) } else { Err(changed(&self.object.shown)) }
    }
}
