//! The head of a request.

use std::io;
use std::io::BufRead;

/// The longest head of a request.
const MAX_HEAD: usize = 64 << 10;

/// Bytes of an object that a request asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Span {
    /// From the first to the last, both included.
    Part(u64, u64),
    /// From here on.
    From(u64),
    /// The last ones.
    Last(u64),
}

impl Span {
    fn parse(value: &str) -> Option<Self> {
        let (first, last) = value.trim().strip_prefix("bytes=")?.split_once('-')?;
        match (first, last) {
            ("", last) => last.parse().ok().map(Span::Last),
            (first, "") => first.parse().ok().map(Span::From),
            (first, last) => Some(Span::Part(first.parse().ok()?, last.parse().ok()?)),
        }
    }
    /// The bytes of an object of `len`; `None` where it has none of them.
    pub(super) fn of(self, len: u64) -> Option<std::ops::Range<u64>> {
        let range = match self {
            Span::Part(first, last) => first..last.saturating_add(1).min(len),
            Span::From(first) => first..len,
            Span::Last(count) => len.saturating_sub(count)..len,
        };
        (range.start < range.end).then_some(range)
    }
}

/// A request, without its body.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Request {
    /// Its number, from 0 on, in the order in which heads came since the server was started.
    pub number: u64,
    /// `GET`, `PUT`, and so on.
    pub method: String,
    /// The path, with percent signs decoded, without the query.
    pub path: String,
    /// What follows the question mark.
    pub query: String,
    /// The bytes that are asked for.
    pub span: Option<Span>,
    /// All headers: names in small letters.
    pub headers: Vec<(String, String)>,
}

impl Request {
    /// The value of a header, whose name is given in small letters.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
    }

    /// Reads the head of the next request; `None` at the end of the connection.
    pub(super) fn read(stream: &mut impl BufRead) -> io::Result<Option<Self>> {
        let mut budget = MAX_HEAD;
        let Some(first) = line(stream, &mut budget)? else { return Ok(None) };
        let mut words = first.split(' ');
        let (Some(method), Some(target)) = (words.next(), words.next()) else {
            return Err(bad("no request"));
        };
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let mut request = Request {
            number: 0,
            method: method.to_owned(),
            path: decode(path),
            query: query.to_owned(),
            span: None,
            headers: Vec::new(),
        };
        loop {
            let text = line(stream, &mut budget)?.ok_or_else(|| bad("a head that is cut off"))?;
            if text.is_empty() {
                break;
            }
            let (name, value) = text.split_once(':').ok_or_else(|| bad("a header without a colon"))?;
            request.headers.push((name.trim().to_ascii_lowercase(), value.trim().to_owned()));
        }
        request.span = request.header("range").and_then(Span::parse);
        Ok(Some(request))
    }
}

fn bad(reason: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, reason.to_owned())
}

/// The next line; `None` at the end.
fn line(stream: &mut impl BufRead, budget: &mut usize) -> io::Result<Option<String>> {
    let mut bytes = Vec::new();
    let mut limited = io::Read::take(stream, *budget as u64);
    limited.read_until(b'\n', &mut bytes)?;
    if bytes.is_empty() {
        return Ok(None);
    }
    if bytes.pop() != Some(b'\n') {
        return Err(bad("a line that is cut off or too long"));
    }
    *budget -= bytes.len();
    if bytes.last() == Some(&b'\r') {
        bytes.pop();
    }
    String::from_utf8(bytes).map(Some).map_err(|_| bad("a head that is no text"))
}

/// Decodes percent signs.
fn decode(path: &str) -> String {
    let mut out = Vec::with_capacity(path.len());
    let mut bytes = path.bytes();
    while let Some(byte) = bytes.next() {
        let mut rest = bytes.clone();
        let digits = (byte == b'%').then(|| Some([rest.next()?, rest.next()?])).flatten();
        let number =
            digits.and_then(|digits| u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok());
        match number {
            Some(number) => {
                out.push(number);
                bytes = rest;
            }
            None => out.push(byte),
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}
