//! Readers in other processes keep the state that they opened, while a writer goes on.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test may fail")]

use b2nd::schunk::{CreateOptions, Layout};
use b2nd::{Durability, OpenOptions, Params, SChunk};
use std::env;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

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
        command.args(["--exact", "reader", "--nocapture"]).env(PATH, path);
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
    let mut schunk = options.create(Some(&path)).unwrap();
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
