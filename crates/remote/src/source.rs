//! A frame far away, in the state that was opened: which object has which of its bytes.

use crate::error::changed;
use crate::fetch::{Fetcher, Object, Part};
use crate::pin::Pin;
use b2nd::io::FileId;
use b2nd::{Error, Layout, Result};
use bytes::Bytes;
use std::ops::Range;

/// A frame far away, in the state that was opened.
#[derive(Debug, Clone)]
pub(crate) struct Source {
    pub(crate) fetcher: Fetcher,
    pub(crate) layout: Layout,
    /// The version of the frame's object: of all of a contiguous frame, of `chunks.b2frame` of a sparse one.
    pub(crate) pin: Pin,
}

impl Source {
    /// The object that has a file of the frame. Chunk files of a sparse frame are made once and never replaced.
    pub(crate) fn object(&self, file: FileId) -> Object {
        let location = self.fetcher.location();
        match self.layout {
            Layout::Contiguous => Object {
                path: location.path().clone(),
                shown: location.shown().to_owned(),
                pin: Some(self.pin.clone()),
            },
            _ => Object {
                path: location.file_of_sparse(file),
                shown: location.shown_file(file),
                pin: (file == FileId::Frame).then(|| self.pin.clone()),
            },
        }
    }

    /// A range of a file of the frame as a part of its object.
    pub(crate) fn part(&self, file: FileId, range: &Range<u64>, may_be_short: bool) -> Part {
        let range = match file {
            FileId::Frame if self.layout == Layout::Contiguous => self.fetcher.location().in_object(range),
            _ => range.clone(),
        };
        if may_be_short { Part::AtMost(range) } else { Part::Exact(range) }
    }

    /// Fetches bytes of a file in one piece; returns the length of its object too.
    pub(crate) async fn get(
        &self,
        file: FileId,
        range: &Range<u64>,
        may_be_short: bool,
    ) -> Result<(Bytes, u64)> {
        let (object, part) = (self.object(file), self.part(file, range, may_be_short));
        let answer = self.fetcher.get(&object, part).await;
        match answer {
            Ok(answer) => Ok((answer.bytes, answer.meta.size)),
            Err(error) => Err(self.explain(file, error).await),
        }
    }

    /// A chunk object that is missing was removed after the frame was replaced, or is a fault of the frame.
    pub(crate) async fn explain(&self, file: FileId, error: Error) -> Error {
        if !matches!(file, FileId::Chunk(_)) || !error.is_not_found() {
            return error;
        }
        let frame = self.object(FileId::Frame);
        match self.fetcher.get(&frame, Part::Exact(0..1)).await {
            Err(changed @ Error::Changed { .. }) => changed,
            Err(gone) if gone.is_not_found() => changed(&frame.shown),
            _ => error,
        }
    }
}
