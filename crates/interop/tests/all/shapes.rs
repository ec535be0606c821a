//! Arrays change their shape in turns, by b2nd and by C-Blosc2: each goes on from what the other left.

use b2nd::{Array, Dtype, Exec, Layout, OpenOptions, Options, Resize};
use b2nd_interop::case::hex;
use b2nd_interop::generate::partition;
use b2nd_interop::python::{self, Server};
use b2nd_interop::{Outcome, check};
use b2nd_testkit::nd::NaiveArray;
use b2nd_testkit::rng::Rng;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::path::Path;

const SEQUENCES: u64 = 200;
const TURNS: usize = 8;
const LONGEST: u64 = 16;

/// A change along some axes.
enum Change {
    /// Lengths and starts; `None` for the ends.
    Resize(Vec<u64>, Option<Vec<u64>>),
    /// Axis, index (`None` for the end) and number of slabs.
    Insert(usize, Option<u64>, u64),
    /// Axis, index and number.
    Delete(usize, u64, u64),
}

/// A number of items of which all or none lie in the last, ragged chunk, as C-Blosc2 needs it; any for b2nd.
fn aligned(number: u64, chunk: u64, by_c: bool) -> u64 {
    if by_c { number / chunk * chunk } else { number }
}

fn draw(rng: &mut Rng, shape: &[u64], chunks: &[u64], by_c: bool) -> Change {
    let axis = rng.below(shape.len() as u64) as usize;
    let (length, chunk) = (shape[axis], chunks[axis]);
    let room = LONGEST.saturating_sub(length);
    match rng.below(5) {
        0 => Change::Insert(axis, None, rng.below(room + 1)),
        1 => {
            let index = aligned(rng.below(length + 1), chunk, by_c);
            Change::Insert(axis, Some(index), aligned(rng.below(room + 1), chunk, by_c))
        }
        2 => {
            let start = aligned(rng.below(length), chunk, by_c);
            let count = aligned(rng.below(length - start + 1), chunk, by_c);
            Change::Delete(axis, start, if count == length { 0 } else { count })
        }
        3 if !by_c => {
            let new: Vec<u64> = shape.iter().map(|_| 1 + rng.below(LONGEST)).collect();
            let starts =
                new.iter().zip(shape).map(|(&new, &old)| rng.below(old - old.saturating_sub(new) + 1));
            let starts = starts.collect();
            Change::Resize(new, Some(starts))
        }
        // C-Blosc2 leaves what it cuts off in the ragged chunk: it shrinks to whole chunks here.
        _ => {
            let mut one = |(&old, &chunk): (&u64, &u64)| {
                let new = 1 + rng.below(LONGEST);
                if by_c && new < old { aligned(new, chunk, by_c).max(chunk.min(old)) } else { new }
            };
            Change::Resize(shape.iter().zip(chunks).map(&mut one).collect(), None)
        }
    }
}

fn model(array: &mut NaiveArray, change: &Change, items: &NaiveArray) {
    match change {
        Change::Resize(shape, starts) => {
            for (axis, &new) in shape.iter().enumerate() {
                let (old, new) = (array.shape[axis], new as usize);
                let removed = old.saturating_sub(new);
                let start = starts.as_ref().map_or(old - removed, |starts| starts[axis] as usize);
                let zero = vec![0; array.itemsize];
                array.splice(axis, start..start + removed, new.saturating_sub(old), |_| zero.clone());
            }
        }
        Change::Insert(axis, index, count) => {
            let at = index.map_or(array.shape[*axis], |index| index as usize);
            array.splice(*axis, at..at, *count as usize, |at| items.item(at).to_vec());
        }
        Change::Delete(axis, index, count) => {
            array.splice(*axis, *index as usize..(index + count) as usize, 0, |_| Vec::new());
        }
    }
}

fn by_b2nd(path: &Path, change: &Change, items: &[u8]) -> Outcome {
    let mut array = Array::open_with(path, &OpenOptions::new().with_write(true).with_exec(Exec::new(2)))?;
    match change {
        Change::Resize(shape, None) => array.resize(&shape[..])?,
        Change::Resize(shape, Some(starts)) => {
            array.resize(Resize::to(shape.clone()).with_starts(starts.clone()))?;
        }
        Change::Insert(axis, None, _) => array.append_bytes(*axis, items)?,
        Change::Insert(axis, Some(index), _) => array.insert_bytes(*axis, *index, items)?,
        Change::Delete(axis, index, count) => array.delete(*axis, *index..index + count)?,
    }
    Ok(())
}

fn command(path: &Path, change: &Change, items: &[u8]) -> Value {
    match change {
        Change::Resize(shape, starts) => {
            json!({"op": "change", "path": path, "kind": "resize", "shape": shape, "starts": starts})
        }
        Change::Insert(axis, None, _) => {
            json!({"op": "change", "path": path, "kind": "append", "axis": axis, "items": hex(items)})
        }
        Change::Insert(axis, Some(index), _) => {
            json!({"op": "change", "path": path, "kind": "insert", "axis": axis, "index": index, "items": hex(items)})
        }
        Change::Delete(axis, index, count) => {
            json!({"op": "change", "path": path, "kind": "delete", "axis": axis, "index": index, "count": count})
        }
    }
}

fn compare(path: &Path, due: &NaiveArray, server: &mut Server) -> Outcome {
    let array = Array::open(path)?;
    let shape: Vec<u64> = due.shape.iter().map(|&n| n as u64).collect();
    check::expect("shape", &array.shape(), &&shape[..])?;
    if array.read_bytes(())? != due.data {
        return Err("b2nd reads other items".into());
    }
    let seen = server.ask(&json!({"op": "look", "path": path}))?;
    check::expect("python's shape", &seen["shape"], &json!(shape))?;
    check::expect("python's items", &seen["sha256"], &json!(hex(&Sha256::digest(&due.data))))
}

fn sequence(number: u64, path: &Path, server: &mut Server) -> Outcome<usize> {
    let mut rng = Rng::for_part(83, number);
    let shape: Vec<u64> = (0..1 + rng.below(3)).map(|_| 1 + rng.below(12)).collect();
    let (chunks, blocks) = partition(&mut rng, &shape);
    let (dtype, itemsize) = *rng.pick(&[("<i4", 4usize), ("|u1", 1), ("<c16", 16), ("|S300", 300)]);
    let layout = if rng.chance(40) { Layout::Sparse } else { Layout::Contiguous };
    let whole: u64 = chunks.iter().zip(&blocks).map(|(c, b)| c.div_ceil(*b) * b).product();
    let chunk_bytes = whole as usize * itemsize;
    let options = Options::new().with_chunks(chunks.clone()).with_blocks(blocks).with_layout(layout);
    let mut array = options.create(path, Dtype::parse(dtype)?, &shape)?;
    let lengths: Vec<usize> = shape.iter().map(|&n| n as usize).collect();
    let mut due = NaiveArray::zeros(&lengths, itemsize);
    due.data = rng.bytes(due.data.len());
    array.write_bytes((), &due.data)?;
    drop(array);
    for turn in 0..TURNS {
        let by_c = rng.chance(50);
        let shape: Vec<u64> = due.shape.iter().map(|&n| n as u64).collect();
        let change = draw(&mut rng, &shape, &chunks, by_c);
        let mut items = NaiveArray::zeros(&due.shape, itemsize);
        if let Change::Insert(axis, _, count) = change {
            items.shape[axis] = count as usize;
            items.data = rng.bytes(items.shape.iter().product::<usize>() * itemsize);
        }
        model(&mut due, &change, &items);
        // What fills a chunk exactly, C-Blosc2 appends as a chunk, also behind one that is not full: it then reads other items.
        let mistaken = matches!(change, Change::Insert(0, None, _)) && items.data.len() == chunk_bytes;
        let done = if by_c && !mistaken {
            server.ask(&command(path, &change, &items.data)).map(drop)
        } else {
            by_b2nd(path, &change, &items.data)
        };
        done.and_then(|()| compare(path, &due, server))
            .map_err(|e| format!("turn {turn} (by C: {by_c}): {} {e}", command(path, &change, &[])))?;
    }
    Ok(TURNS)
}

#[test]
fn both_change_the_shape_of_one_array() -> Outcome {
    let Some(python) = python::find()? else { return Ok(()) };
    let folder = tempfile::tempdir()?;
    let mut server = python.serve()?;
    let (mut turns, mut failures) = (0, Vec::new());
    for number in 0..SEQUENCES {
        let path = folder.path().join(format!("{number}.b2nd"));
        match sequence(number, &path, &mut server) {
            Ok(done) => turns += done,
            Err(error) => failures.push(format!("sequence {number}: {error}")),
        }
    }
    println!("{SEQUENCES} sequences, {turns} turns, {} failures", failures.len());
    assert!(failures.is_empty(), "{}", failures.into_iter().take(20).collect::<Vec<_>>().join("\n"));
    Ok(())
}
