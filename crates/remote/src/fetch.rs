//! Fetches a range of an object: compares the version, counts the bytes, and goes on where an answer broke off.

use crate::error::{Cause, RemoteError, changed};
use crate::location::Location;
use crate::options::RemoteOptions;
use crate::pace::{Measured, StorePace};
use crate::pin::Pin;
use crate::retry::Tries;
use b2nd::Result;
use bytes::{Bytes, BytesMut};
use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use object_store::path::Path;
use object_store::{Attribute, GetOptions, GetRange, GetResult, ObjectMeta, ObjectStore};
use std::error::Error as StdError;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// An answer that is slower than this for longer than [`Fetcher::patience`] makes no progress.
const LEAST_BYTES_A_SECOND: u64 = 1024;

/// Fetches ranges of the objects of one location.
#[derive(Debug, Clone)]
pub(crate) struct Fetcher {
    location: Location,
    options: Arc<RemoteOptions>,
    measured: Arc<Measured>,
}

/// One object, in words too.
#[derive(Debug, Clone)]
pub(crate) struct Object {
    pub(crate) path: Path,
    pub(crate) shown: String,
    /// The version that answers must be of.
    pub(crate) pin: Option<Pin>,
}

/// What is asked for of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Part {
    /// These bytes.
    Exact(Range<u64>),
    /// These bytes, as far as the object has them.
    AtMost(Range<u64>),
    /// The last bytes, this many where the object has them.
    Last(u64),
}

/// The bytes of a part, and what the answer says about the object.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) bytes: Bytes,
    pub(crate) range: Range<u64>,
    pub(crate) meta: ObjectMeta,
}

/// An answer whose body is still to come.
pub(crate) struct Body {
    stream: BoxStream<'static, object_store::Result<Bytes>>,
    /// The bytes that it must have.
    pub(crate) range: Range<u64>,
    pub(crate) meta: ObjectMeta,
    /// When the request was sent, and when its answer began.
    sent: Instant,
    began: Instant,
    received: u64,
}

/// A failure of one try.
pub(crate) struct Failure {
    cause: Cause,
    /// The pause that the server asks for.
    pause: Option<Duration>,
}

/// Why a try did not succeed.
pub(crate) enum Fault {
    /// It may be tried again, or not, as the cause says.
    Failed(Failure),
    /// The object is of another version.
    Changed,
}

impl From<Cause> for Fault {
    fn from(cause: Cause) -> Self {
        Fault::Failed(Failure { cause, pause: None })
    }
}

impl Fetcher {
    pub(crate) fn new(location: Location, options: &RemoteOptions) -> Self {
        Fetcher { location, options: Arc::new(options.clone()), measured: Arc::default() }
    }
    pub(crate) fn location(&self) -> &Location {
        &self.location
    }
    pub(crate) fn options(&self) -> &RemoteOptions {
        &self.options
    }
    /// How fast the store is.
    pub(crate) fn pace(&self) -> StorePace {
        self.options.pace.unwrap_or_else(|| self.measured.get())
    }
    /// How long an answer may be slow before it counts as stalled.
    fn patience(&self) -> Duration {
        self.options.stall_timeout.saturating_mul(2)
    }

    /// Fetches a part of an object in one piece.
    pub(crate) async fn get(&self, object: &Object, part: Part) -> Result<Answer> {
        let mut tries = Tries::new(&self.options);
        let mut held = BytesMut::new();
        let mut first: Option<(Range<u64>, ObjectMeta)> = None;
        loop {
            // After a part of the answer came, the rest is asked for.
            let rest = match &first {
                Some((range, _)) => Part::Exact(range.start.saturating_add(held.len() as u64)..range.end),
                None => part.clone(),
            };
            let tried = async {
                let mut body = self.begin(object, &rest).await?;
                let (_, meta) = first.get_or_insert_with(|| (body.range.clone(), body.meta.clone()));
                if !same_version(meta, &body.meta) {
                    return Err(Fault::Changed);
                }
                while let Some(bytes) = self.next(&mut body).await? {
                    held.extend_from_slice(&bytes);
                }
                Ok(())
            };
            match tried.await {
                Ok(()) => break,
                Err(fault) => self.pause(object, &part, fault, &mut tries).await?,
            }
        }
        let Some((range, meta)) = first else {
            return Err(RemoteError::new(&object.shown, None, Cause::Stalled, tries.count()).into_error());
        };
        Ok(Answer { bytes: held.freeze(), range, meta })
    }

    /// Waits after a try that failed, or returns the error where it is not tried again.
    pub(crate) async fn pause(
        &self,
        object: &Object,
        part: &Part,
        fault: Fault,
        tries: &mut Tries,
    ) -> Result<()> {
        let Fault::Failed(Failure { cause, pause }) = fault else { return Err(changed(&object.shown)) };
        match tries.failed(&cause, pause) {
            Some(pause) => {
                self.options.traffic.count_retry();
                tokio::time::sleep(pause).await;
                Ok(())
            }
            None => {
                let range = match part {
                    Part::Exact(range) | Part::AtMost(range) => Some(range.clone()),
                    Part::Last(_) => None,
                };
                Err(RemoteError::new(&object.shown, range, cause, tries.count()).into_error())
            }
        }
    }

    /// Sends a request, and checks what the answer says about itself.
    pub(crate) async fn begin(&self, object: &Object, part: &Part) -> Result<Body, Fault> {
        let range = match part {
            Part::Exact(range) | Part::AtMost(range) => GetRange::Bounded(range.clone()),
            Part::Last(count) => GetRange::Suffix(*count),
        };
        let mut options = GetOptions { range: Some(range), ..GetOptions::default() };
        options.if_match = object.pin.as_ref().and_then(Pin::tag).map(str::to_owned);
        self.options.traffic.count_request();
        let sent = Instant::now();
        let answer = tokio::time::timeout(
            self.options.stall_timeout,
            self.location.store().get_opts(&object.path, options),
        );
        let answer = match answer.await.map_err(|_| Cause::Stalled)?.map_err(|error| fault_of(&error)) {
            // The object that was opened had these bytes.
            Err(Fault::Failed(Failure { cause: Cause::Status(416), .. })) if object.pin.is_some() => {
                return Err(Fault::Changed);
            }
            answer => answer?,
        };
        check(object, part, &answer)?;
        let (meta, range) = (answer.meta.clone(), answer.range.clone());
        let stream = answer.into_stream();
        Ok(Body { stream, range, meta, sent, began: Instant::now(), received: 0 })
    }

    /// The next bytes of a body; `None` when it is complete.
    pub(crate) async fn next(&self, body: &mut Body) -> Result<Option<Bytes>, Fault> {
        let due = body.range.end.saturating_sub(body.range.start);
        let next = tokio::time::timeout(self.options.stall_timeout, body.stream.next()).await;
        let found = match next.map_err(|_| Cause::Stalled)? {
            Some(bytes) => bytes.map_err(|error| fault_of(&error))?,
            None if body.received == due => {
                let began = body.began.saturating_duration_since(body.sent);
                self.measured.note(began, due, body.began.elapsed());
                return Ok(None);
            }
            None => return Err(Cause::Length { expected: due, found: body.received }.into()),
        };
        self.options.traffic.count_bytes(found.len());
        body.received = body.received.saturating_add(found.len() as u64);
        if body.received > due {
            return Err(Cause::Length { expected: due, found: body.received }.into());
        }
        let took = body.began.elapsed();
        if took > self.patience() && body.received / took.as_secs().max(1) < LEAST_BYTES_A_SECOND {
            return Err(Cause::Stalled.into());
        }
        Ok(Some(found))
    }
}

/// Whether two answers are of one version, as far as they say.
pub(crate) fn same_version(one: &ObjectMeta, other: &ObjectMeta) -> bool {
    one.e_tag == other.e_tag && one.last_modified == other.last_modified && one.size == other.size
}

/// Checks that an answer is of the object and the part that were asked for.
fn check(object: &Object, part: &Part, answer: &GetResult) -> Result<(), Fault> {
    if object.pin.as_ref().is_some_and(|pin| !pin.admits(&answer.meta)) {
        return Err(Fault::Changed);
    }
    let size = answer.meta.size;
    let due = match part {
        Part::Exact(range) => range.clone(),
        Part::AtMost(range) => range.start..range.end.min(size),
        Part::Last(count) => size.saturating_sub(*count)..size,
    };
    if answer.range != due {
        let (found, size) = (&answer.range, answer.meta.size);
        let reason = format!(
            "bytes {} to {} of {size} in place of {} to {}: is the object cut off?",
            found.start, found.end, due.start, due.end
        );
        return Err(Cause::Answer(reason).into());
    }
    match answer.attributes.get(&Attribute::ContentEncoding) {
        Some(encoding) if !encoding.is_empty() && encoding.as_ref() != "identity" => {
            Err(Cause::Answer("its bytes are encoded for the transfer".to_owned()).into())
        }
        _ => Ok(()),
    }
}

/// What an error of a store means.
fn fault_of(error: &object_store::Error) -> Fault {
    use object_store::Error as E;
    match error {
        E::NotFound { .. } => Cause::NotFound.into(),
        E::Precondition { .. } => Fault::Changed,
        E::PermissionDenied { .. } | E::Unauthenticated { .. } => Cause::Refused(String::new()).into(),
        _ => failure_of(error),
    }
}

/// What the causes of an error say, from the outermost on.
fn failure_of(error: &(dyn StdError + 'static)) -> Fault {
    let mut innermost = error;
    let mut next = Some(error);
    while let Some(current) = next {
        #[cfg(feature = "network")]
        if let Some(status) = current.downcast_ref::<crate::http::Refusal>() {
            return Fault::Failed(Failure { cause: status.cause(), pause: status.pause() });
        }
        #[cfg(feature = "network")]
        if let Some(failed) = current.downcast_ref::<object_store::client::HttpError>() {
            use object_store::client::HttpErrorKind as Kind;
            let text = innermost_of(failed).to_string();
            match failed.kind() {
                Kind::Timeout => return Cause::Stalled.into(),
                Kind::Connect | Kind::Request | Kind::Interrupted => return Cause::Connection(text).into(),
                _ => {}
            }
        }
        if let Some(failed) = current.downcast_ref::<std::io::Error>() {
            use std::io::ErrorKind as Kind;
            match failed.kind() {
                Kind::TimedOut => return Cause::Stalled.into(),
                Kind::ConnectionReset | Kind::ConnectionAborted | Kind::BrokenPipe | Kind::UnexpectedEof => {
                    return Cause::Connection(failed.to_string()).into();
                }
                _ => {}
            }
        }
        innermost = current;
        next = current.source();
    }
    Cause::Other(innermost.to_string()).into()
}

/// The first cause of an error.
#[cfg(feature = "network")]
fn innermost_of<'a>(error: &'a (dyn StdError + 'static)) -> &'a (dyn StdError + 'static) {
    let mut innermost = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost
}
