//! How many waves, requests and bytes reads take.

use crate::support::{noise, open, run, serve};
use b2nd::{Array, Selection, s};
use b2nd_remote::{AsyncArray, RemoteOptions};
use b2nd_testkit::http::{Counts, HttpServer, Settings};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// That of the table.
const LATENCY: Duration = Duration::from_millis(40);
/// So long that a busy machine sends the requests of one wave within it.
const LONG: Duration = Duration::from_millis(150);

/// A row of the table.
struct Row<'a> {
    frame: &'a str,
    what: &'a str,
    counts: Counts,
    took: Duration,
    wanted: u64,
}

impl Row<'_> {
    fn print(&self) {
        let Row { frame, what, counts, took, wanted } = self;
        println!(
            "| {frame} | {what} | {} | {} | {} | {wanted} | {:.0} ms |",
            counts.waves,
            counts.requests,
            counts.bytes,
            took.as_secs_f64() * 1000.0
        );
    }
}

/// Compressed bytes of the chunks of rows, or of the blocks in them that a column touches.
fn stored(array: &Array, rows: std::ops::Range<u64>, blocks: f64) -> u64 {
    let chunks = rows.map(|n| array.schunk().chunk(n).unwrap().len() as f64 * blocks);
    chunks.sum::<f64>() as u64
}

struct Bench<'a> {
    frame: &'a str,
    server: &'a HttpServer,
    array: &'a Array,
    far: AsyncArray,
}

impl Bench<'_> {
    async fn read(&self, what: &str, selection: impl Into<Selection>, wanted: u64) -> Counts {
        self.server.take_counts();
        let selection = selection.into();
        let started = Instant::now();
        let found = self.far.read_bytes(selection.clone()).await.unwrap();
        let took = started.elapsed();
        // The last answer is counted after it is written.
        tokio::time::sleep(Duration::from_millis(20)).await;
        assert!(found == self.array.read_bytes(selection).unwrap(), "{what}");
        let counts = self.server.take_counts();
        Row { frame: self.frame, what, counts, took, wanted }.print();
        counts
    }
}

/// Opens an array: at most one wave of 96 KiB; two where the end cannot be asked for.
async fn opened<'a>(frame: &'a str, server: &'a HttpServer, array: &'a Array, waves: usize) -> Bench<'a> {
    let path = if frame.starts_with("sparse") { "/s.b2nd/" } else { "/a.b2nd" };
    server.take_counts();
    let started = Instant::now();
    let far = open(server, path, &RemoteOptions::new()).await.unwrap();
    let took = started.elapsed();
    tokio::time::sleep(Duration::from_millis(20)).await;
    let counts = server.take_counts();
    Row { frame, what: "open", counts, took, wanted: 0 }.print();
    assert!(counts.waves <= waves && counts.bytes <= 96 << 10, "{counts:?}");
    Bench { frame, server, array, far }
}

#[test]
fn a_sparse_frame_takes_a_request_for_each_chunk_and_none_for_lengths() {
    let settings = Settings::default().with_pace(LONG, 50_000_000);
    let array = noise(60, 2048, 2);
    let server = serve(&array, settings.clone());
    run(async {
        let bench = opened("sparse, small chunks", &server, &array, 1).await;
        bench.far.load_index().await.unwrap();
        let counts = bench.read("item", s![40, 3], stored(&array, 40..41, 1.0)).await;
        assert_eq!((counts.waves, counts.requests), (1, 1));
        let counts = bench.read("box in 12 chunks", s![20..32, 3..9], stored(&array, 20..32, 1.0)).await;
        assert_eq!((counts.waves, counts.requests), (1, 12));
    });
    let array = noise(6, 131_072, 8);
    let server = serve(&array, settings);
    run(async {
        let bench = opened("sparse, large chunks", &server, &array, 1).await;
        bench.far.load_index().await.unwrap();
        let counts = bench.read("item", s![4, 3], stored(&array, 4..5, 0.125)).await;
        assert_eq!((counts.waves, counts.requests), (2, 2));
    });
}

/// The door without a runtime reads by the same waves.
#[test]
fn a_blocking_read_takes_as_few_waves() {
    let settings = Settings::default().with_pace(LONG, 50_000_000);
    let array = noise(40, 131_072, 8);
    let server = serve(&array, settings);
    let far = b2nd_remote::open(&server.url("/a.b2nd")).unwrap();
    let opening = server.take_counts();
    assert!(opening.waves <= 1, "{opening:?}");
    for (selection, waves) in [(s![4, 3], 3), (s![.., 3], 8), (s![5..9, 2], 2)] {
        let found = far.read_bytes(selection.clone()).unwrap();
        std::thread::sleep(Duration::from_millis(20));
        let counts = server.take_counts();
        assert!(found == array.read_bytes(selection.clone()).unwrap());
        assert!(counts.waves <= waves, "{selection:?}: {counts:?}");
    }
}

/// The frame of small chunks, and that of large ones in blocks.
fn table(latency: Duration, small: (u64, u64), large: (u64, u64, u64)) {
    println!(
        "| frame | what | waves | requests | bytes | bytes wanted | time |\n|---|---|---|---|---|---|---|"
    );
    let settings = Settings::default().with_pace(latency, 50_000_000);
    let (rows, len) = small;
    let array = noise(rows, len, 2);
    let server = serve(&array, settings.clone());
    run(async {
        let bench = opened("small chunks", &server, &array, 1).await;
        let counts = bench.read("first item, with the index", s![40, 3], stored(&array, 40..41, 1.0)).await;
        assert!(counts.waves <= 2, "{counts:?}");
        let counts = bench.read("another item", s![60, 3], stored(&array, 60..61, 1.0)).await;
        assert!(counts.waves <= 1, "{counts:?}");
        let wanted = stored(&array, 0..rows, 1.0);
        let counts = bench.read("plane through all chunks", s![.., 3], wanted).await;
        assert!(counts.bytes * 10 <= wanted * 13, "{counts:?}");
        let wanted = stored(&array, 20..60, 1.0);
        let counts = bench.read("box in 40 chunks", s![20..60, 3..9], wanted).await;
        assert!(counts.bytes * 10 <= wanted * 13, "{counts:?}");
    });
    let (rows, len, blocks) = large;
    let array = noise(rows, len, blocks);
    let server = serve(&array, settings.clone());
    run(async {
        let bench = opened("large chunks", &server, &array, 1).await;
        let one = 1.0 / blocks as f64;
        let counts = bench.read("first item, with the index", s![4, 3], stored(&array, 4..5, one)).await;
        assert!(counts.waves <= 3, "{counts:?}");
        let counts = bench.read("another item", s![5, 3], stored(&array, 5..6, one)).await;
        assert!(counts.waves <= 2, "{counts:?}");
        let wanted = stored(&array, 0..rows, one);
        let counts = bench.read("plane through all chunks", s![.., 3], wanted).await;
        assert!(counts.bytes * 10 <= wanted * 13, "{counts:?}");
        let part = (len / blocks) as i64;
        let wanted = stored(&array, 2..rows, 3.0 * one);
        let counts = bench.read("box of three blocks of a chunk", s![2.., part..4 * part], wanted).await;
        assert!(counts.bytes * 10 <= wanted * 13, "{counts:?}");
    });
    let server = serve(&array, settings.without_suffixes());
    run(async {
        opened("large chunks, no suffixes", &server, &array, 2).await;
    });
}

#[test]
fn small_frames_take_few_waves_and_bytes() {
    table(LONG, (2000, 2048), (12, 131_072, 8));
}

/// 10^5 chunks of 10 KB, and 250 chunks of 4 MB in blocks of 64 KiB.
#[test]
#[ignore = "1.5 GB of items: cargo test --release -p b2nd-remote --test all waves:: -- --ignored --nocapture"]
fn large_frames_take_few_waves_and_bytes() {
    table(LATENCY, (100_000, 2560), (250, 1 << 20, 64));
}

/// Fetches an object over `connections`, each its share of it: as fast as a plain client can.
fn plain_client(server: &HttpServer, len: u64, connections: u64) -> Duration {
    let started = Instant::now();
    std::thread::scope(|scope| {
        for n in 0..connections {
            scope.spawn(move || {
                let (from, to) = (len * n / connections, len * (n + 1) / connections);
                let mut stream = TcpStream::connect(server.address()).unwrap();
                let head = format!(
                    "GET /a.b2nd HTTP/1.1\r\nRange: bytes={from}-{}\r\nConnection: close\r\n\r\n",
                    to - 1
                );
                stream.write_all(head.as_bytes()).unwrap();
                let mut taken = 0;
                let mut buffer = vec![0; 256 << 10];
                loop {
                    match stream.read(&mut buffer).unwrap() {
                        0 => break,
                        count => taken += count as u64,
                    }
                }
                assert!(taken > to - from);
            });
        }
    });
    started.elapsed()
}

fn whole_array(array: &Array, bandwidth: u64, share: f64) {
    let server = serve(array, Settings::default().with_pace(LATENCY, bandwidth));
    let len = array.to_bytes().unwrap().len() as u64;
    let plain = plain_client(&server, len, 8);
    run(async {
        let far = open(&server, "/a.b2nd", &RemoteOptions::new().with_concurrency(8)).await.unwrap();
        far.load_index().await.unwrap();
        server.take_counts();
        let started = Instant::now();
        let found = far.read_bytes(s![]).await.unwrap();
        let took = started.elapsed();
        let counts = server.take_counts();
        println!(
            "{len} bytes over 8 connections: a plain client {plain:?}, the whole array {took:?}, {counts:?}"
        );
        assert!(found == array.read_bytes(s![]).unwrap());
        assert!(counts.at_once <= 8, "{counts:?}");
        assert!(plain.as_secs_f64() >= share * took.as_secs_f64(), "{plain:?} and {took:?}");
    });
}

#[test]
fn a_whole_array_comes_nearly_as_fast_as_its_bytes() {
    // So slow that decoding without optimisation is no part of it.
    whole_array(&noise(800, 4096, 4), 1_000_000, 0.8);
}

#[test]
#[ignore = "1 GB of items: cargo test --release -p b2nd-remote --test all waves:: -- --ignored --nocapture"]
fn a_large_array_comes_nearly_as_fast_as_its_bytes() {
    whole_array(&noise(250, 1 << 20, 64), 50_000_000, 0.9);
}
