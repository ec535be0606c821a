//! Requests of a read that are under way: what they answer comes range by range.

use crate::fetch::{Body, Object};
use crate::joins::{Request, Wanted};
use crate::retry::Tries;
use crate::source::Source;
use b2nd::Result;
use b2nd::io::FileRange;
use bytes::{Bytes, BytesMut};
use futures_util::StreamExt;
use futures_util::stream::{BoxStream, SelectAll};
use std::collections::VecDeque;

/// Bytes that a range is answered with.
pub(crate) type Piece = (FileRange, Bytes);

/// What is wanted of a frame, and the requests that are under way for it.
pub(crate) struct Requests {
    source: Source,
    wanted: Wanted,
    open: SelectAll<BoxStream<'static, Result<Piece>>>,
}

impl Requests {
    pub(crate) fn new(source: &Source) -> Self {
        Requests { source: source.clone(), wanted: Wanted::default(), open: SelectAll::new() }
    }
    /// Fetches these too.
    pub(crate) fn add(&mut self, ranges: Vec<FileRange>) {
        self.wanted.add(ranges);
    }
    /// The bytes of a range that have come; `None` when nothing is under way.
    pub(crate) async fn next(&mut self) -> Option<Result<Piece>> {
        loop {
            self.start();
            match self.open.next().await {
                // The last request that was open has ended, and there may be room for another.
                None if !self.wanted.is_empty() => {}
                piece => return piece,
            }
        }
    }
    /// Sends requests while there is room for more.
    fn start(&mut self) {
        let most = self.source.fetcher.options().concurrency;
        while self.open.len() < most
            && let Some(request) =
                self.wanted.next(most.saturating_sub(self.open.len()), most, self.source.fetcher.pace())
        {
            self.open.push(self.source.stream(request));
        }
    }
}

impl Source {
    /// The bytes of a request, range by range. What breaks off is asked for again from there on.
    fn stream(&self, request: Request) -> BoxStream<'static, Result<Piece>> {
        let source = self.clone();
        let object = source.object(request.file);
        let tries = Tries::new(source.fetcher.options());
        let fetch = Fetch { wanted: request.wanted.into(), at: request.range.start, ..Fetch::default() };
        let mut asked = FileRange::new(request.file, request.range);
        asked.may_be_short = request.may_be_short;
        let state = (source, object, asked, fetch, tries);
        futures_util::stream::try_unfold(state, async move |mut state| {
            let (source, object, asked, fetch, tries) = &mut state;
            let piece = source.next_piece(object, asked, fetch, tries).await?;
            Ok(piece.map(|piece| (piece, state)))
        })
        .boxed()
    }

    /// The next range of a request that is complete.
    async fn next_piece(
        &self,
        object: &Object,
        asked: &FileRange,
        fetch: &mut Fetch,
        tries: &mut Tries,
    ) -> Result<Option<Piece>> {
        loop {
            if let Some(piece) = fetch.complete() {
                return Ok(Some(piece));
            }
            if fetch.wanted.is_empty() {
                // The end of the answer frees the connection. What comes after it is nobody's.
                if let Some(body) = &mut fetch.body {
                    let _ = self.fetcher.next(body).await;
                }
                return Ok(None);
            }
            let rest = fetch.next_byte()..asked.range.end;
            // The file may end between what came and the end of the range.
            let part = self.part(asked.file, &rest, asked.may_be_short);
            let tried = async {
                let body = match &mut fetch.body {
                    Some(body) => body,
                    None => {
                        let body = self.fetcher.begin(object, &part).await?;
                        if asked.may_be_short {
                            fetch.ends_at = Some(body.meta.size);
                        }
                        fetch.body.insert(body)
                    }
                };
                self.fetcher.next(body).await
            };
            match tried.await {
                Ok(Some(bytes)) => fetch.held.extend_from_slice(&bytes),
                // A complete body has all that is wanted, as far as the file has it.
                Ok(None) => fetch.body = None,
                Err(fault) => {
                    fetch.body = None;
                    let paused = self.fetcher.pause(object, &part, fault, tries).await;
                    if let Err(error) = paused {
                        return Err(self.explain(asked.file, error).await);
                    }
                }
            }
        }
    }
}

/// How far a request has come.
#[derive(Default)]
struct Fetch {
    wanted: VecDeque<FileRange>,
    body: Option<Body>,
    /// Where `held` starts.
    at: u64,
    held: BytesMut,
    /// The length of a file of which it was not known.
    ends_at: Option<u64>,
}

impl Fetch {
    fn next_byte(&self) -> u64 {
        self.at.saturating_add(self.held.len() as u64)
    }

    /// Takes the first wanted range out, where all of it has come.
    fn complete(&mut self) -> Option<Piece> {
        let first = self.wanted.front()?;
        let short = self.ends_at.filter(|_| first.may_be_short);
        let end = short.map_or(first.range.end, |end| first.range.end.min(end));
        if self.next_byte() < end {
            return None;
        }
        let first = self.wanted.pop_front()?;
        let place = |at: u64| usize::try_from(at.saturating_sub(self.at)).unwrap_or(usize::MAX);
        let bytes = self.held.get(place(first.range.start)..place(end)).unwrap_or_default();
        let bytes = Bytes::copy_from_slice(bytes);
        // What lies before the next range is not wanted any longer.
        let keep = self.wanted.front().map_or(self.next_byte(), |next| next.range.start);
        let gone = place(keep).min(self.held.len());
        let _ = self.held.split_to(gone);
        self.at = self.at.saturating_add(gone as u64);
        Some((first, bytes))
    }
}
