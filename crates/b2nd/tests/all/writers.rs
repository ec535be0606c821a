//! Many processes that write one frame: one at a time, and nothing that was acknowledged is lost, whoever is killed.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, in its helper functions too")]

use b2nd::schunk::CreateOptions;
use b2nd::{Durability, Error, Layout, OpenOptions, Params, SChunk};
use b2nd_testkit::rng::Rng;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const ITEMS: usize = 500;

/// What writer `id` appends as its `n`th chunk.
fn chunk(id: u64, n: u64) -> Vec<u8> {
    let items = (0..ITEMS as u64)
        .map(|item| if item < 2 { [id, n][item as usize] } else { id * 1000 + n + item / 9 });
    items.flat_map(u64::to_le_bytes).collect()
}

/// Does `change` to the frame as soon as no other writer has it; gives up when that takes a minute.
fn in_turn<T>(path: &Path, mut change: impl FnMut(&mut SChunk) -> b2nd::Result<T>) -> b2nd::Result<T> {
    let options = OpenOptions::new().with_write(true).with_durability(Durability::None);
    let start = Instant::now();
    loop {
        match SChunk::open(path, &options).and_then(|mut frame| change(&mut frame)) {
            Err(error @ Error::Locked(_)) if start.elapsed() > Duration::from_secs(60) => return Err(error),
            Err(Error::Locked(_)) => std::thread::sleep(Duration::from_micros(300)),
            done => return done,
        }
    }
}

/// The other processes: started by the tests below, with their orders in the environment.
#[test]
#[ignore = "a part of the other tests, which run it in processes of its own"]
fn child() {
    let order = |name: &str| std::env::var(name).unwrap();
    let path = PathBuf::from(order("WRITERS_PATH"));
    let [id, count] = ["WRITERS_ID", "WRITERS_COUNT"].map(|name| order(name).parse::<u64>().unwrap());
    if order("WRITERS_HOLD") == "1" {
        let mut frame = SChunk::open(&path, &OpenOptions::new().with_write(true)).unwrap();
        let mut t = frame.transaction();
        t.append(&chunk(id, 0)).unwrap();
        say(id, 0);
        std::thread::sleep(Duration::from_secs(600));
    }
    for n in 0..count {
        in_turn(&path, |frame| frame.append(&chunk(id, n))).unwrap();
        say(id, n);
    }
}

fn say(id: u64, n: u64) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "\nack {id} {n}").unwrap();
    out.flush().unwrap();
}

fn spawn(path: &Path, id: u64, count: u64, hold: bool) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["writers::child", "--exact", "--ignored", "--nocapture"])
        .env("WRITERS_PATH", path)
        .env("WRITERS_ID", id.to_string())
        .env("WRITERS_COUNT", count.to_string())
        .env("WRITERS_HOLD", if hold { "1" } else { "0" })
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .unwrap()
}

/// What a process says that it has appended, to its end.
fn acknowledged(child: &mut Child) -> Vec<(u64, u64)> {
    let lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    let acks = lines.filter_map(|line| {
        let mut words = line.strip_prefix("ack ")?.split(' ').map(|word| word.parse().ok());
        Some((words.next()??, words.next()??))
    });
    acks.collect()
}

struct Place(PathBuf);

impl Place {
    fn new(name: &str, layout: Layout) -> Self {
        let base = std::env::temp_dir().join(format!("b2nd-writers-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&base);
        std::fs::create_dir_all(&base).unwrap();
        let options = CreateOptions::new(Params::new(8)).with_layout(layout);
        options.with_chunksize(ITEMS as u32 * 8).create(base.join("frame")).unwrap();
        Place(base)
    }
    fn frame(&self) -> PathBuf {
        self.0.join("frame")
    }
    /// How often each chunk is there; each whole.
    fn chunks(&self) -> BTreeMap<(u64, u64), u32> {
        let frame = SChunk::open(self.frame(), &OpenOptions::new()).unwrap();
        let mut found = BTreeMap::new();
        for n in 0..frame.nchunks() {
            let bytes = frame.decompress_chunk(n).unwrap();
            let word = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
            let key = (word(0), word(8));
            assert_eq!(bytes, chunk(key.0, key.1), "chunk {n}");
            *found.entry(key).or_default() += 1;
        }
        found
    }
    /// What is beside the frame, when nobody writes any more.
    fn left(&self) -> Vec<String> {
        // Who comes next cleans up after those that were killed.
        in_turn(&self.frame(), |frame| frame.set_vlmetalayer("done", b"yes")).unwrap();
        let names =
            std::fs::read_dir(&self.0).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name != "frame").collect()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn all_that_is_acknowledged_is_there_at_the_end() {
    for layout in [Layout::Contiguous, Layout::Sparse] {
        let place = Place::new("all", layout);
        let mut children: Vec<Child> = (1..=4).map(|id| spawn(&place.frame(), id, 12, false)).collect();
        let acks: Vec<(u64, u64)> = children.iter_mut().flat_map(acknowledged).collect();
        for child in &mut children {
            assert!(child.wait().unwrap().success());
        }
        assert_eq!(acks.len(), 4 * 12);
        let expected: BTreeMap<(u64, u64), u32> = acks.into_iter().map(|ack| (ack, 1)).collect();
        assert_eq!(place.chunks(), expected, "{layout:?}");
        assert_eq!(place.left(), [""; 0]);
    }
}

#[test]
fn who_is_killed_costs_only_what_it_had_not_acknowledged() {
    let mut rng = Rng::new(7);
    for layout in [Layout::Contiguous, Layout::Sparse] {
        let place = Place::new("killed", layout);
        let mut acks = BTreeSet::new();
        for round in 0..15 {
            let mut children: Vec<Child> =
                (1..=2).map(|id| spawn(&place.frame(), round * 10 + id, u64::MAX, false)).collect();
            // Killed one after the other, wherever they are just then.
            std::thread::sleep(Duration::from_millis(60 + rng.below(60)));
            for child in &mut children {
                let ended = child.try_wait().unwrap();
                assert!(ended.is_none(), "{layout:?}: a writer failed: {ended:?}");
                child.kill().unwrap();
                child.wait().unwrap();
                acks.extend(acknowledged(child));
                std::thread::sleep(Duration::from_millis(rng.below(10)));
            }
        }
        assert!(!acks.is_empty(), "the processes were killed before they had done anything");
        let found = place.chunks();
        assert!(found.values().all(|count| *count == 1), "{layout:?}: nothing twice");
        let lost: Vec<_> = acks.iter().filter(|ack| !found.contains_key(ack)).collect();
        assert!(lost.is_empty(), "{layout:?}: lost {lost:?}");
        assert_eq!(place.left(), [""; 0]);
    }
}

#[test]
fn a_holder_is_named_while_it_lives_and_followed_when_it_is_killed() {
    for layout in [Layout::Contiguous, Layout::Sparse] {
        let place = Place::new("holder", layout);
        let mut child = spawn(&place.frame(), 1, 0, true);
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        assert!(lines.any(|line| line.unwrap() == "ack 1 0"), "it has the frame");
        let writing = OpenOptions::new().with_write(true);
        let Err(Error::Locked(error)) = SChunk::open(place.frame(), &writing) else { panic!() };
        assert_eq!(error.holder().unwrap().process(), child.id());
        assert_eq!(place.chunks(), BTreeMap::new(), "readers see what is committed");
        child.kill().unwrap();
        child.wait().unwrap();
        in_turn(&place.frame(), |frame| frame.append(&chunk(2, 0))).unwrap();
        assert_eq!(place.chunks(), BTreeMap::from([((2, 0), 1)]), "{layout:?}");
        assert_eq!(place.left(), [""; 0]);
    }
}
