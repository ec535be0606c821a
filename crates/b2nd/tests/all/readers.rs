//! Readers in other processes keep the state that they opened, while a writer goes on.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test may fail")]

use b2nd::array::FillJob;
use b2nd::schunk::CreateOptions;
use b2nd::{Array, Dtype, Durability, Fill, Layout, OpenOptions, Options, Params, Result, SChunk};
use std::env;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Set in a process that reads: the path of the frame.
const PATH: &str = "B2ND_TEST_READS";

fn all(schunk: &SChunk) -> Vec<u8> {
    schunk.read_items(0..schunk.nitems()).unwrap()
}

/// Not a test by itself: what the other process does.
#[test]
fn reader() {
    let Ok(path) = env::var(PATH) else { return };
    let options = OpenOptions::new();
    let mut schunk = SChunk::open(path, &options).unwrap();
    let before = all(&schunk);
    let mut stdout = std::io::stdout();
    writeln!(stdout, "\nopened").unwrap();
    for line in std::io::stdin().lines() {
        match line.unwrap().as_str() {
            "look" => assert_eq!(all(&schunk), before),
            "refresh" => {
                assert!(schunk.refresh().unwrap() && !schunk.refresh().unwrap());
                assert_ne!(all(&schunk), before);
            }
            _ => break,
        }
        writeln!(stdout, "\ngood").unwrap();
    }
}

/// A process that has the frame open.
struct Reader {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
}

impl Reader {
    fn start(path: &Path) -> Reader {
        let mut command = Command::new(env::current_exe().unwrap());
        command.args(["--exact", "readers::reader", "--nocapture"]).env(PATH, path);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (to, from) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let mut reader = Reader { child, to, from };
        reader.wait_for("opened");
        reader
    }
    fn wait_for(&mut self, word: &str) {
        let found = self.from.by_ref().lines().any(|line| line.unwrap() == word);
        assert!(found, "the reader ended before it said `{word}`");
    }
    fn ask(&mut self, what: &str) {
        writeln!(self.to, "{what}").unwrap();
        self.wait_for("good");
    }
    fn end(mut self) {
        writeln!(self.to, "end").unwrap();
        assert!(self.child.wait().unwrap().success());
    }
    fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

/// Bytes that do not compress.
fn noise(seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    std::iter::repeat_with(next).take(4000).collect()
}

fn frame(name: &str, layout: Layout) -> (PathBuf, PathBuf, SChunk) {
    let dir = env::temp_dir().join(format!("b2nd-readers-{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&dir);
    fs::create_dir_all(&dir).unwrap();
    let path = dir.join("f");
    let options = CreateOptions::new(Params::new(1)).with_layout(layout).with_durability(Durability::None);
    let mut schunk = options.create(&path).unwrap();
    (0..20).for_each(|n| schunk.append(&noise(n)).unwrap());
    (dir, path, schunk)
}

#[test]
fn another_process_keeps_its_state_and_lets_go_when_it_ends() {
    for layout in [Layout::Contiguous, Layout::Sparse] {
        let (dir, path, mut writer) = frame(&format!("{layout:?}"), layout);
        let mut seed = 100;
        let mut write = |writer: &mut SChunk| {
            for n in 0..40 {
                seed += 1;
                writer.update(n % 20, &noise(seed)).unwrap();
            }
        };
        write(&mut writer);
        assert!(writer.space().unwrap().dead() < 24_000);
        let mut first = Reader::start(&path);
        write(&mut writer);
        let mut second = Reader::start(&path);
        write(&mut writer);
        first.ask("look");
        second.ask("look");
        // All that two readers may need is there, besides the frame.
        assert!(writer.space().unwrap().dead() > 40 * 4000);
        first.ask("refresh");
        write(&mut writer);
        second.ask("look");
        first.end();
        write(&mut writer);
        second.ask("look");
        // Nothing has to be told to the writer by a process that is killed.
        second.kill();
        write(&mut writer);
        write(&mut writer);
        let space = writer.space().unwrap();
        assert!(space.dead() < 24_000, "{space:?}");
        let written = all(&writer);
        drop(writer);
        assert_eq!(all(&SChunk::open(&path, &OpenOptions::new()).unwrap()), written);
        fs::remove_dir_all(dir).unwrap();
    }
}

#[test]
fn who_reads_keeps_the_old_file_when_a_frame_is_made_compact() {
    for layout in [Layout::Contiguous, Layout::Sparse] {
        let (dir, path, mut writer) = frame(&format!("compact-{layout:?}"), layout);
        let mut reader = Reader::start(&path);
        (0..20).for_each(|n| writer.update(n, &noise(n + 50)).unwrap());
        writer.compact().unwrap();
        reader.ask("look");
        (0..20).for_each(|n| writer.update(n, &noise(n + 90)).unwrap());
        reader.ask("look");
        reader.ask("refresh");
        reader.end();
        writer.compact().unwrap();
        assert_eq!(writer.space().unwrap().dead(), 0, "{layout:?}");
        assert_eq!(all(&writer), (90..110).flat_map(noise).collect::<Vec<_>>());
        fs::remove_dir_all(dir).unwrap();
    }
}

/// Set for a long run: for how many seconds a writer commits while others read.
const SECONDS: &str = "B2ND_TEST_READ_SECONDS";

/// Commit `n` of the array: every item is `n`, and the number of rows depends on `n`.
fn commit(array: &mut Array, n: u64) -> Result<()> {
    let rows = 4 + n % 5;
    let mut transaction = array.transaction();
    transaction.resize([rows, 8])?;
    let items: Vec<u8> = (0..rows * 8).flat_map(|_| n.to_le_bytes()).collect();
    transaction.write_bytes((), &items)?;
    transaction.commit()
}

/// The number of the commit that an array shows; an error where it shows parts of several.
fn commit_of(array: &Array) -> std::result::Result<u64, String> {
    let items = array.read_items::<u64>(()).map_err(|e| format!("read: {e}"))?;
    let first = items.first().copied().ok_or("no items")?;
    let whole = items.iter().all(|item| *item == first) && array.shape() == [4 + first % 5, 8];
    if whole { Ok(first) } else { Err(format!("mixed in shape {:?}: {items:?}", array.shape())) }
}

/// Opens, refreshes and reads until `done`; the number of snapshots, and what was wrong with some.
fn watch(path: &Path, done: &AtomicBool) -> (u64, Vec<String>) {
    let (mut snapshots, mut wrong) = (0, Vec::new());
    while !done.load(Ordering::Relaxed) {
        let mut array = match Array::open(path) {
            Ok(array) => array,
            Err(error) => {
                wrong.push(format!("open: {error}"));
                continue;
            }
        };
        let mut last = 0;
        for _ in 0..20 {
            snapshots += 1;
            match commit_of(&array) {
                Ok(n) if n >= last => last = n,
                Ok(n) => wrong.push(format!("back from commit {last} to {n}")),
                Err(what) => wrong.push(what),
            }
            if let Err(error) = array.refresh() {
                wrong.push(format!("refresh: {error}"));
            }
        }
        if let Err(error) = FillJob::join(path) {
            wrong.push(format!("join: {error}"));
        }
    }
    (snapshots, wrong)
}

#[test]
fn a_reader_beside_a_writer_that_commits_all_the_time_sees_whole_commits() {
    let seconds = env::var(SECONDS).ok().and_then(|text| text.parse().ok()).unwrap_or(1.0);
    for (name, layout, checksums) in [
        ("contiguous", Layout::Contiguous, true),
        ("sparse", Layout::Sparse, true),
        ("bare", Layout::Sparse, false),
    ] {
        let dir = env::temp_dir().join(format!("b2nd-readers-beside-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&dir);
        fs::create_dir_all(&dir).unwrap();
        let path = dir.join("f");
        let options = Options::new().with_layout(layout).with_fill(Fill::Zeros).with_checksums(checksums);
        let options = options.with_durability(Durability::None).with_chunks([2, 8]);
        drop(options.begin_fill(&path, Dtype::parse("<u8").unwrap(), [4, 8]).unwrap());
        let writing = OpenOptions::new().with_write(true).with_durability(Durability::None);
        let mut writer = Array::open_with(&path, &writing).unwrap();
        commit(&mut writer, 0).unwrap();
        let (done, begun) = (AtomicBool::new(false), Instant::now());
        let (mut commits, mut snapshots, mut wrong) = (0, 0, Vec::new());
        std::thread::scope(|scope| {
            let readers: Vec<_> = (0..3).map(|_| scope.spawn(|| watch(&path, &done))).collect();
            while begun.elapsed() < Duration::from_secs_f64(seconds) {
                commits += 1;
                if let Err(error) = commit(&mut writer, commits) {
                    wrong.push(format!("commit {commits}: {error}"));
                    break;
                }
            }
            done.store(true, Ordering::Relaxed);
            for reader in readers {
                let (seen, found) = reader.join().unwrap();
                snapshots += seen;
                wrong.extend(found);
            }
        });
        println!("{name}: {commits} commits, {snapshots} snapshots, {} wrong", wrong.len());
        assert!(wrong.is_empty(), "{name}: {} of {snapshots}: {wrong:#?}", wrong.len());
        fs::remove_dir_all(dir).unwrap();
    }
}
