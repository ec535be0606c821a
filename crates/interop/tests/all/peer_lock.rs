//! Processes of python-blosc2 with locking and writers of b2nd change one file at the same time: nothing is lost, and what
//! one side has committed the other side sees.

use b2nd::schunk::CreateOptions;
use b2nd::{Array, B2Lock, Dtype, Durability, Error, Layout, OpenOptions, Options, Params, SChunk};
use b2nd_interop::Outcome;
use b2nd_interop::check::expect;
use b2nd_interop::python::{self, Python};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Child;
use std::time::{Duration, Instant};

const ITEMS: u64 = 500;
const COUNT: u64 = 40;

/// How often the chunk of a writer, with its number, was found.
type Counts = BTreeMap<(u64, u64), i32>;

/// What writer `writer` writes as its `n`th chunk, here as in Python.
fn content(writer: u64, n: u64) -> Vec<u64> {
    (0..ITEMS)
        .map(|item| [writer, n].get(item as usize).copied().unwrap_or(item / 9 + writer * 1000 + n))
        .collect()
}

fn bytes(items: &[u64]) -> Vec<u8> {
    items.iter().flat_map(|item| item.to_le_bytes()).collect()
}

fn writing() -> OpenOptions {
    OpenOptions::new().with_write(true).with_durability(Durability::None)
}

/// What makes the lock file. A handle of C-Blosc2 reads the frame before it locks, and reads it again only where the lock
/// file counts changes already: where that handle makes the file itself, a commit of ours in between is lost.
fn locking_from_the_start() -> OpenOptions {
    writing().with_b2lock(B2Lock::Always)
}

/// Does a change as soon as no other writer is in its way; how often it was refused before.
fn in_turn(mut change: impl FnMut() -> b2nd::Result<()>) -> Outcome<u32> {
    let start = Instant::now();
    for refused in 0.. {
        match change() {
            Ok(()) => return Ok(refused),
            Err(Error::Locked(_) | Error::Changed { .. }) if start.elapsed() < Duration::from_secs(60) => {
                std::thread::sleep(Duration::from_micros(200));
            }
            Err(error) => return Err(error.into()),
        }
    }
    Err("refused for ever".into())
}

fn lines(child: Child, word: &str) -> Outcome<Vec<(u64, u64)>> {
    let output = child.wait_with_output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    let text = String::from_utf8(output.stdout)?;
    let numbers = |line: &str| {
        let mut words = line.strip_prefix(word)?.split_whitespace().map(|word| word.parse().ok());
        Some((words.next()??, words.next()??))
    };
    Ok(text.lines().filter_map(numbers).collect())
}

fn start(python: &Python, verb: &str, path: &Path, numbers: &[u64]) -> Outcome<Child> {
    let path = path.to_str().ok_or("path is not UTF-8")?.to_string();
    python.start([verb.to_string(), path].into_iter().chain(numbers.iter().map(u64::to_string)))
}

fn appends(python: &Python, folder: &Path, layout: Layout) -> Outcome {
    let path = folder.join(format!("appends-{layout:?}"));
    let options = CreateOptions::new(Params::new(8)).with_layout(layout).with_chunksize(ITEMS as u32 * 8);
    drop(options.create(&path)?);
    let mut first = SChunk::open(&path, &locking_from_the_start())?;
    first.append(&bytes(&content(0, 0)))?;
    drop(first);
    let all = 4 * COUNT + 1;
    let watch = start(python, "watch", &path, &[all])?;
    let theirs = [start(python, "append", &path, &[1, COUNT])?, start(python, "append", &path, &[2, COUNT])?];
    let refused = std::thread::scope(|scope| {
        let ours = [3, 4].map(|writer| {
            let path = &path;
            scope.spawn(move || {
                let append = |n| {
                    in_turn(|| SChunk::open(path, &writing())?.append(&bytes(&content(writer, n))))
                        .map_err(|error| error.to_string())
                };
                (0..COUNT).map(append).sum::<Result<u32, String>>()
            })
        });
        ours.map(|thread| thread.join().map_err(|_| "a thread panicked".to_string()).flatten())
    });
    let refused: u32 = refused.into_iter().sum::<Result<u32, String>>()?;
    let mut expected = BTreeMap::from([((0, 0), 1)]);
    for child in theirs {
        expected.extend(lines(child, "ack ")?.into_iter().map(|key| (key, 1)));
    }
    expected.extend([3, 4].into_iter().flat_map(|writer| (0..COUNT).map(move |n| ((writer, n), 1))));
    let mut found = BTreeMap::new();
    let frame = SChunk::open(&path, &OpenOptions::new())?;
    for chunk in frame.decompressed_chunks() {
        let chunk = chunk?;
        let items: Vec<u64> = chunk.as_chunks::<8>().0.iter().map(|item| u64::from_le_bytes(*item)).collect();
        let key = (items[0], items[1]);
        expect("a chunk", &items, &content(key.0, key.1))?;
        *found.entry(key).or_insert(0) += 1;
    }
    let differ = |a: &Counts, b: &Counts| -> Vec<_> {
        a.iter().filter(|(key, n)| b.get(*key) != Some(*n)).map(|(key, n)| (*key, *n)).collect()
    };
    expect("chunks that differ", &differ(&found, &expected), &Vec::new())?;
    expect("chunks that are lost", &differ(&expected, &found), &Vec::new())?;
    let seen: Counts = lines(watch, "saw ")?.into_iter().map(|key| (key, 1)).collect();
    expect("what a reader of theirs sees at last", &seen, &expected)?;
    eprintln!("{layout:?}: {} chunks by four writers, {refused} tries of ours were refused", found.len());
    Ok(())
}

/// Rows of one array, each a chunk: two writers of either side, every fourth row each, again and again.
fn rows(python: &Python, folder: &Path, layout: Layout) -> Outcome {
    const ROWS: u64 = 32;
    const ROUNDS: u64 = 4;
    let path = folder.join(format!("rows-{layout:?}"));
    let options = Options::new().with_layout(layout).with_chunks([1, ITEMS]).with_blocks([1, ITEMS / 5]);
    drop(options.create(&path, Dtype::parse("<u8")?, [ROWS, ITEMS])?);
    Array::open_with(&path, &locking_from_the_start())?.write_items(b2nd::s![0], &content(0, 0))?;
    let theirs = [start(python, "rows", &path, &[0, ROUNDS])?, start(python, "rows", &path, &[1, ROUNDS])?];
    // One handle that goes on, and is refreshed where the other side was quicker.
    let mut array = in_turn_value(|| Array::open_with(&path, &writing()))?;
    for n in 0..ROUNDS {
        for row in (0..ROWS).filter(|row| row % 4 >= 2) {
            let items = content(row % 4, n * 100 + row);
            in_turn(|| {
                array.refresh()?;
                array.write_items(b2nd::s![row as i64], &items)
            })?;
        }
    }
    drop(array);
    for child in theirs {
        expect("rounds", &lines(child, "ack ")?.len(), &1)?;
    }
    let found = Array::open(&path)?.read_items::<u64>(())?;
    for (row, items) in found.chunks(ITEMS as usize).enumerate() {
        let row = row as u64;
        expect(&format!("row {row}"), &items, &&content(row % 4, (ROUNDS - 1) * 100 + row)[..])?;
    }
    Ok(())
}

fn in_turn_value<T>(mut open: impl FnMut() -> b2nd::Result<T>) -> Outcome<T> {
    let mut value = None;
    in_turn(|| open().map(|opened| value = Some(opened)))?;
    value.ok_or_else(|| "nothing was opened".into())
}

#[test]
fn nothing_is_lost_where_both_sides_write() -> Outcome {
    let Some(python) = python::find_for("peer_lock.py", "blosc2")? else { return Ok(()) };
    let folder = tempfile::tempdir()?;
    for layout in [Layout::Contiguous, Layout::Sparse] {
        appends(&python, folder.path(), layout)?;
        rows(&python, folder.path(), layout)?;
    }
    Ok(())
}

#[test]
fn a_lock_that_is_never_let_go_of_is_an_error_in_time() -> Outcome {
    let Some(python) = python::find_for("peer_lock.py", "blosc2")? else { return Ok(()) };
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("held");
    let mut ours = CreateOptions::new(Params::new(8)).create(&path)?;
    ours.append(&bytes(&content(0, 0)))?;
    drop(ours);
    let mut ours = SChunk::open(&path, &writing().with_lock_patience(Duration::from_millis(50)))?;
    let mut child = start(&python, "hold", &path, &[600])?;
    let mut first = String::new();
    BufReader::new(child.stdout.as_mut().ok_or("no pipe")?).read_line(&mut first)?;
    expect("the lock", &first.trim(), &"held")?;
    let result = ours.append(&bytes(&content(0, 1)));
    child.kill()?;
    child.wait()?;
    let Err(Error::Locked(error)) = result else { return Err(format!("{result:?}").into()) };
    expect("the lock file", &error.lock().extension().is_some_and(|end| end == "b2lock"), &true)?;
    // The system has unlocked it.
    ours.append(&bytes(&content(0, 1)))?;
    expect("chunks", &ours.nchunks(), &2)
}
