//! The server by a plain socket.

use super::{Fault, HttpServer, Settings, Tags};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// A client on one connection.
struct Client(BufReader<TcpStream>);

impl Client {
    fn new(server: &HttpServer) -> Self {
        let stream = TcpStream::connect(server.address()).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        Client(BufReader::new(stream))
    }
    fn ask(&mut self, head: &str, body: &[u8]) {
        let request = format!("{head}\r\nContent-Length: {}\r\n\r\n", body.len());
        self.0.get_mut().write_all(request.as_bytes()).unwrap();
        self.0.get_mut().write_all(body).unwrap();
    }
    /// Status, headers and body; `None` when the connection is closed.
    fn answer(&mut self) -> Option<(u16, String, Vec<u8>)> {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if self.0.read_line(&mut head).ok()? == 0 {
                return None;
            }
        }
        let len = head.lines().find_map(|line| line.strip_prefix("Content-Length: "));
        let len = len.unwrap_or("0").parse().unwrap();
        let mut body = Vec::new();
        self.0.by_ref().take(len).read_to_end(&mut body).ok()?;
        Some((head[9..12].parse().unwrap(), head, body))
    }
    fn get(&mut self, headers: &str) -> (u16, String, Vec<u8>) {
        self.ask(&format!("GET /a%20b?x=1 HTTP/1.1{headers}"), b"");
        self.answer().unwrap()
    }
}

fn server(settings: Settings) -> HttpServer {
    let server = HttpServer::start(settings).unwrap();
    server.put("/a b", *b"0123456789");
    server
}

#[test]
fn ranges_and_suffixes_are_parts_of_the_object() {
    let server = server(Settings::default());
    let mut client = Client::new(&server);
    let (status, head, body) = client.get("");
    assert_eq!((status, &body[..]), (200, &b"0123456789"[..]));
    assert!(head.contains("ETag: \"v1\"") && head.contains("Last-Modified: "), "{head}");
    for (range, expected, named) in [
        ("2-4", "234", "bytes 2-4/10"),
        ("8-99", "89", "bytes 8-9/10"),
        ("7-", "789", "bytes 7-9/10"),
        ("-3", "789", "bytes 7-9/10"),
        ("-30", "0123456789", "bytes 0-9/10"),
    ] {
        let (status, head, body) = client.get(&format!("\r\nRange: bytes={range}"));
        assert_eq!((status, &body[..]), (206, expected.as_bytes()), "{range}");
        assert!(head.contains(named), "{head}");
    }
    assert_eq!(client.get("\r\nRange: bytes=10-20").0, 416);
    client.ask("HEAD /a%20b HTTP/1.1", b"");
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        client.0.read_line(&mut head).unwrap();
    }
    assert!(head.contains("Content-Length: 10"));
    client.ask("GET /none HTTP/1.1", b"");
    assert_eq!(client.answer().unwrap().0, 404);
    assert_eq!(server.counts().requests, 9);
}

#[test]
fn a_put_compares_and_replaces_in_one_step() {
    let server = server(Settings::default());
    let mut client = Client::new(&server);
    let mut put = |conditions: &str, body: &str| {
        client.ask(&format!("PUT /new HTTP/1.1{conditions}"), body.as_bytes());
        client.answer().unwrap().0
    };
    assert_eq!(put("\r\nIf-Match: \"v1\"", "none"), 412);
    assert_eq!(put("\r\nIf-None-Match: *", "first"), 200);
    assert_eq!(put("\r\nIf-None-Match: *", "second"), 412);
    assert_eq!(put("\r\nIf-Match: \"v1\"", "of another"), 412);
    assert_eq!(put("\r\nIf-Match: \"v2\"", "third"), 200);
    assert_eq!(**server.get("/new").unwrap(), *b"third");
    assert_eq!(server.paths(), ["/a b", "/new"]);

    // Of many at the same time one wins.
    let won: usize = std::thread::scope(|scope| {
        let put = |n: usize| {
            let mut client = Client::new(&server);
            client.ask("PUT /new HTTP/1.1\r\nIf-Match: \"v3\"", format!("writer {n}").as_bytes());
            usize::from(client.answer().unwrap().0 == 200)
        };
        let threads: Vec<_> = (0..8).map(|n| scope.spawn(move || put(n))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!(won, 1);
    let weak = HttpServer::start(Settings::default().with_tags(Tags::Weak, false)).unwrap();
    weak.put("/a b", *b"x");
    let mut client = Client::new(&weak);
    let (_, head, _) = client.get("");
    assert!(head.contains("ETag: W/\"v1\"") && !head.contains("Last-Modified"), "{head}");
    assert_eq!(client.get("\r\nIf-Match: W/\"v1\"").0, 412);
}

#[test]
fn requests_that_wait_for_answers_are_later_waves() {
    let server = server(Settings::default().with_pace(Duration::from_millis(30), 0));
    let mut clients: Vec<Client> = (0..3).map(|_| Client::new(&server)).collect();
    for _ in 0..2 {
        for client in &mut clients {
            client.ask("GET /a%20b HTTP/1.1\r\nRange: bytes=0-3", b"");
        }
        for client in &mut clients {
            assert_eq!(client.answer().unwrap().2, b"0123");
        }
        // The last answer is counted after it is written.
        std::thread::sleep(Duration::from_millis(10));
    }
    let counts = server.take_counts();
    assert_eq!((counts.requests, counts.waves, counts.bytes, counts.at_once), (6, 2, 24, 3));
    assert_eq!(server.counts().requests, 0);
}

#[test]
fn a_connection_has_a_latency_and_a_bandwidth() {
    let server = server(Settings::default().with_pace(Duration::from_millis(40), 1 << 20));
    server.put("/a b", vec![7; 256 << 10]);
    let mut client = Client::new(&server);
    let started = Instant::now();
    assert_eq!(client.get("").2.len(), 256 << 10);
    let took = started.elapsed();
    assert!(took >= Duration::from_millis(280), "{took:?}");
}

#[test]
fn faults_are_those_that_were_asked_for() {
    let server = server(Settings::default());
    let faults = [
        Fault::Status(503, Some("2".to_owned())),
        Fault::Redirect(302, "/other".to_owned()),
        Fault::NoAnswer,
        Fault::ResetAfter(4),
        Fault::Short(3),
        Fault::Long(3),
        Fault::Whole,
        Fault::ContentRange("bytes 0-1/2".to_owned()),
        Fault::Tag("\"other\"".to_owned()),
        Fault::FlipBit,
    ];
    let chosen = faults.clone();
    server.set_faults(move |request| chosen.get(request.number as usize).cloned());
    for fault in faults {
        let mut client = Client::new(&server);
        client.ask("GET /a%20b HTTP/1.1\r\nRange: bytes=2-8\r\nConnection: close", b"");
        let answer = client.answer();
        let is_due = match (&fault, answer) {
            (Fault::Status(..), Some((503, head, _))) => head.contains("Retry-After: 2"),
            (Fault::Redirect(..), Some((302, head, _))) => head.contains("Location: /other"),
            (Fault::NoAnswer, None) => true,
            (Fault::ResetAfter(_), Some((206, _, body))) => body == b"2345",
            (Fault::Short(_), Some((206, _, body))) => body == b"2345",
            (Fault::Long(_), Some((206, _, body))) => body == b"2345678\0\0\0",
            (Fault::Whole, Some((200, _, body))) => body == b"0123456789",
            (Fault::ContentRange(_), Some((206, head, _))) => head.contains("bytes 0-1/2"),
            (Fault::Tag(_), Some((206, head, _))) => head.contains("ETag: \"other\""),
            (Fault::FlipBit, Some((206, _, body))) => body == b"2341678",
            _ => false,
        };
        assert!(is_due, "{fault:?}");
    }
}

#[test]
fn a_server_stops_in_the_middle_of_answers() {
    let server = server(Settings::default().with_pace(Duration::from_secs(60), 0));
    let mut client = Client::new(&server);
    client.ask("GET /a%20b HTTP/1.1", b"");
    std::thread::sleep(Duration::from_millis(50));
    let started = Instant::now();
    drop(server);
    assert!(started.elapsed() < Duration::from_secs(5));
    // An answer that was on its way may still come.
    client.answer();
}
