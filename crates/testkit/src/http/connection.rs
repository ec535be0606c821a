//! One connection: reads requests and answers them, one after the other.

use super::fault::Fault;
use super::head::Request;
use super::meter::Ticket;
use super::objects::Object;
use super::{Shared, lock};
use std::fmt::Write as _;
use std::io;
use std::io::{BufReader, Read, Write};
use std::net::TcpStream;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The largest body of a request.
const MAX_BODY: u64 = 1 << 30;
/// How many bytes are written at a time.
const SLICE: usize = 64 << 10;

pub(super) struct Connection<'a> {
    input: BufReader<TcpStream>,
    output: TcpStream,
    shared: &'a Shared,
}

/// An answer before its fault.
struct Answer {
    status: u16,
    headers: Vec<(&'static str, String)>,
    bytes: Arc<Vec<u8>>,
    /// The bytes that are the body.
    part: Range<usize>,
}

impl Answer {
    fn empty(status: u16) -> Self {
        Answer { status, headers: Vec::new(), bytes: Arc::default(), part: 0..0 }
    }
    fn set(&mut self, name: &'static str, value: String) {
        self.headers.retain(|(found, _)| *found != name);
        self.headers.push((name, value));
    }
}

impl<'a> Connection<'a> {
    pub(super) fn new(stream: TcpStream, shared: &'a Shared) -> io::Result<Self> {
        // Small heads must not wait for acknowledgements.
        stream.set_nodelay(true)?;
        let output = stream.try_clone()?;
        Ok(Connection { input: BufReader::new(stream), output, shared })
    }

    /// Serves until either side closes the connection.
    pub(super) fn serve(&mut self) -> io::Result<()> {
        while !self.shared.is_stopped() {
            let Some(mut request) = Request::read(&mut self.input)? else { return Ok(()) };
            let ticket = lock(&self.shared.meter).begin(shown(&request));
            request.number = ticket.number;
            let (status, sent, result) = self.answer(&request);
            self.count(ticket, status, sent);
            if !result? || request.header("connection") == Some("close") {
                return Ok(());
            }
        }
        Ok(())
    }

    fn count(&self, ticket: Ticket, status: u16, sent: u64) {
        lock(&self.shared.meter).end(ticket, status, sent);
    }

    /// Answers a request: the status, the bytes of the body that were sent, and whether the connection goes on.
    fn answer(&mut self, request: &Request) -> (u16, u64, io::Result<bool>) {
        let body = match self.body(request) {
            Ok(body) => body,
            Err(error) => return (0, 0, Err(error)),
        };
        let fault = self.shared.fault(request);
        if let Some(Fault::Pause(pause)) = fault {
            self.shared.sleep(pause);
        }
        self.shared.sleep(self.shared.settings.latency);
        if fault == Some(Fault::NoAnswer) {
            return (0, 0, Ok(false));
        }
        let mut answer = match &fault {
            Some(Fault::Status(status, retry_after)) => {
                let mut answer = Answer::empty(*status);
                if let Some(value) = retry_after {
                    answer.set("Retry-After", value.clone());
                }
                answer
            }
            Some(Fault::Redirect(status, to)) => {
                let mut answer = Answer::empty(*status);
                answer.set("Location", to.clone());
                answer
            }
            _ => self.plain(request, body, fault == Some(Fault::Whole)),
        };
        let status = answer.status;
        if fault == Some(Fault::DropAnswer) {
            return (status, 0, Ok(false));
        }
        let mut sent = 0;
        let result = self.send(request, &mut answer, fault.as_ref(), &mut sent);
        (status, sent, result)
    }

    /// Reads the body of a request.
    fn body(&mut self, request: &Request) -> io::Result<Vec<u8>> {
        let len: u64 =
            request.header("content-length").map_or(Ok(0), str::parse).map_err(io::Error::other)?;
        if len > MAX_BODY {
            return Err(io::Error::other("a body of more than 1 GiB"));
        }
        let mut body = Vec::new();
        (&mut self.input).take(len).read_to_end(&mut body)?;
        Ok(body)
    }

    /// The answer without a fault.
    fn plain(&self, request: &Request, body: Vec<u8>, whole: bool) -> Answer {
        let mut objects = lock(&self.shared.objects);
        let admitted = objects.admits(request, self.shared.settings.tags);
        match request.method.as_str() {
            "GET" | "HEAD" => match objects.get(&request.path) {
                None => Answer::empty(404),
                Some(_) if !admitted => {
                    Answer::empty(if request.header("if-match").is_some() { 412 } else { 304 })
                }
                Some(object) => self.found(request, object, whole),
            },
            "PUT" if !admitted => Answer::empty(412),
            "PUT" => {
                let mut answer = Answer::empty(200);
                if let Some(tag) = objects.put(&request.path, Arc::new(body)).tag(self.shared.settings.tags) {
                    answer.set("ETag", tag);
                }
                answer
            }
            "DELETE" => Answer::empty(if objects.remove(&request.path) { 204 } else { 404 }),
            _ => Answer::empty(405),
        }
    }

    /// An object, or the part of it that is asked for.
    fn found(&self, request: &Request, object: &Object, whole: bool) -> Answer {
        let settings = &self.shared.settings;
        let len = object.bytes.len();
        let mut answer = Answer { bytes: Arc::clone(&object.bytes), part: 0..len, ..Answer::empty(200) };
        answer.set("Accept-Ranges", "bytes".to_owned());
        if let Some(tag) = object.tag(settings.tags) {
            answer.set("ETag", tag);
        }
        if settings.dates {
            answer.set("Last-Modified", object.date());
        }
        let is_suffix = matches!(request.span, Some(super::Span::Last(_)));
        let Some(span) = request.span.filter(|_| !whole) else { return answer };
        match span.of(len as u64).filter(|_| settings.suffixes || !is_suffix) {
            Some(range) => {
                answer.status = 206;
                answer.set("Content-Range", format!("bytes {}-{}/{len}", range.start, range.end - 1));
                answer.part = range.start as usize..range.end as usize;
            }
            None => {
                answer = Answer::empty(416);
                answer.set("Content-Range", format!("bytes */{len}"));
            }
        }
        answer
    }

    /// Sends an answer with its fault; whether the connection goes on.
    fn send(
        &mut self,
        request: &Request,
        answer: &mut Answer,
        fault: Option<&Fault>,
        sent: &mut u64,
    ) -> io::Result<bool> {
        let mut len = Some(answer.part.len() as u64);
        let mut extra = 0;
        match fault {
            Some(Fault::ContentRange(value)) => answer.set("Content-Range", value.clone()),
            Some(Fault::Tag(tag)) => answer.set("ETag", tag.clone()),
            Some(Fault::Short(count)) => {
                answer.part.end = answer.part.end.saturating_sub(*count).max(answer.part.start);
                len = Some(answer.part.len() as u64);
            }
            Some(Fault::Long(count)) => {
                extra = *count as u64;
                len = len.map(|len| len + extra);
            }
            Some(Fault::Endless) => (len, extra) = (None, u64::MAX),
            Some(Fault::EndlessOf(count)) => (len, extra) = (Some(*count), u64::MAX),
            Some(Fault::FlipBit) if !answer.part.is_empty() => {
                let mut bytes = answer.bytes[answer.part.clone()].to_vec();
                let middle = bytes.len() / 2;
                bytes[middle] ^= 4;
                (answer.part, answer.bytes) = (0..bytes.len(), Arc::new(bytes));
            }
            _ => {}
        }
        self.output.write_all(head(answer, len).as_bytes())?;
        if request.method == "HEAD" {
            return Ok(true);
        }
        let limit = match fault {
            Some(Fault::ResetAfter(count)) => *count,
            _ => usize::MAX,
        };
        let bytes = Arc::clone(&answer.bytes);
        let part = &bytes[answer.part.clone()];
        let part = part.get(..limit).unwrap_or(part);
        let started = Instant::now();
        self.body_of(part, started, sent)?;
        let zeros = [0; SLICE];
        while extra > 0 {
            let slice = &zeros[..(extra.min(SLICE as u64)) as usize];
            self.body_of(slice, started, sent)?;
            extra -= slice.len() as u64;
            if self.shared.is_stopped() {
                return Ok(false);
            }
        }
        Ok(limit == usize::MAX && len.is_some())
    }

    /// Writes bytes of a body at the pace of the connection.
    fn body_of(&mut self, bytes: &[u8], started: Instant, sent: &mut u64) -> io::Result<()> {
        for slice in bytes.chunks(SLICE) {
            let after = sent.saturating_add(slice.len() as u64);
            if self.shared.settings.bandwidth > 0 {
                let due = after as f64 / self.shared.settings.bandwidth as f64;
                let left = Duration::from_secs_f64(due).saturating_sub(started.elapsed());
                // Shorter pauses take longer than they should.
                if left > Duration::from_millis(1) {
                    self.shared.sleep(left);
                }
            }
            self.output.write_all(slice)?;
            *sent = after;
        }
        Ok(())
    }
}

/// What is asked for, in one line.
fn shown(request: &Request) -> String {
    let mut text = format!("{} {}", request.method, request.path);
    if let Some(range) = request.header("range") {
        // A text takes all that is written to it.
        let _ = write!(text, " {range}");
    }
    text
}

/// The head of an answer.
fn head(answer: &Answer, len: Option<u64>) -> String {
    let mut text = format!("HTTP/1.1 {} status\r\n", answer.status);
    if let Some(len) = len {
        let _ = write!(text, "Content-Length: {len}\r\n");
    }
    for (name, value) in &answer.headers {
        let _ = write!(text, "{name}: {value}\r\n");
    }
    text.push_str("\r\n");
    text
}
