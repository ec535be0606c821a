//! Frames behind frames in one file, saved and packed frames: python-blosc2 opens what b2nd places, and the other way round.

use b2nd::schunk::frames;
use b2nd::{Array, Dtype, Exec, Layout, OpenOptions, Options, SChunk, SaveOptions, Selection, chunk};
use b2nd_interop::case::hex;
use b2nd_interop::check::expect;
use b2nd_interop::python::{self, Server};
use b2nd_interop::{Failure, Outcome};
use b2nd_testkit::rng::Rng;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::path::Path;

const FILES: u64 = 60;
const FRAMES: u64 = 6;

/// What a frame is to hold: its shape (`None`: a frame without an array), digest and attribute.
struct Model {
    offset: u64,
    array: bool,
    sha256: String,
    note: u64,
}

fn options() -> OpenOptions {
    OpenOptions::new().with_exec(Exec::new(2))
}

/// The same items as `places.py` makes.
fn items(seed: u64, count: u64) -> Vec<u8> {
    (0..count).flat_map(|n| ((n * (2 * seed + 1) / 3) as i32).to_le_bytes()).collect()
}

fn shapes(rng: &mut Rng) -> (Vec<u64>, Vec<u64>, Vec<u64>) {
    let shape: Vec<u64> = (0..1 + rng.below(3)).map(|_| 1 + rng.below(12)).collect();
    let chunks: Vec<u64> = shape.iter().map(|&n| 1 + rng.below(n)).collect();
    let blocks = chunks.iter().map(|&n| 1 + rng.below(n)).collect();
    (shape, chunks, blocks)
}

/// Appends a frame by one of both writers.
fn append(rng: &mut Rng, path: &Path, by_python: bool, server: &mut Server) -> Outcome<Model> {
    let (shape, chunks, blocks) = shapes(rng);
    let note = rng.below(100);
    let count = shape.iter().product();
    let sha256 = hex(&Sha256::digest(items(note, count)));
    if by_python {
        let array = rng.chance(60);
        let kind = if array { "array" } else { "frame" };
        let shape = if array { shape } else { vec![count] };
        let command = json!({"op": "append", "path": path, "kind": kind, "seed": note, "shape": shape,
            "chunks": chunks, "blocks": blocks});
        let answer = server.ask(&command)?;
        let offset = answer["offset"].as_i64().and_then(|n| u64::try_from(n).ok());
        return Ok(Model { offset: offset.ok_or("refused")?, array, sha256, note });
    }
    let mut made = Options::new()
        .with_chunks(chunks)
        .with_blocks(blocks)
        .create_in_memory(Dtype::parse("<i4")?, &shape)?;
    made.write_bytes(Selection::all(), &items(note, count))?;
    made.set_vlmetalayer("note", &[note as u8])?;
    Ok(Model { offset: made.append_to(path)?, array: true, sha256, note })
}

/// The digest of all chunks.
fn digest(schunk: SChunk) -> Outcome<String> {
    let decode = |n| chunk::decode(&schunk.chunk(n)?, schunk.limits(), schunk.exec());
    let chunks: Vec<Vec<u8>> = (0..schunk.nchunks()).map(decode).collect::<b2nd::Result<_>>()?;
    match Array::from_schunk(schunk) {
        Ok(array) => Ok(hex(&Sha256::digest(array.read_bytes(Selection::all())?))),
        Err(_) => Ok(hex(&Sha256::digest(chunks.concat()))),
    }
}

fn check(path: &Path, models: &[Model], server: &mut Server) -> Outcome {
    let listed = frames(path, &options())?;
    let found: Vec<(u64, bool)> = listed.iter().map(|f| (f.offset(), f.is_array())).collect();
    let wanted: Vec<(u64, bool)> = models.iter().map(|m| (m.offset, m.array)).collect();
    expect("the frames", &found, &wanted)?;
    for (number, model) in (0..).zip(models) {
        let answer = server.ask(&json!({"op": "open", "path": path, "offset": model.offset}))?;
        expect("python's items", &answer["sha256"], &json!(model.sha256))?;
        expect("python's note", &answer["notes"], &json!({"note": model.note}))?;
        for options in [options().with_offset(model.offset), options().with_frame(number)] {
            let schunk = SChunk::open(path, &options)?;
            expect("our note", &schunk.vlmetalayer("note")?, &Some(vec![model.note as u8]))?;
            expect("our items", &digest(schunk)?, &model.sha256)?;
        }
    }
    Ok(())
}

/// Writes the last frame in place, where it is an array.
fn rewrite(
    rng: &mut Rng,
    path: &Path,
    models: &mut [Model],
    by_python: bool,
    server: &mut Server,
) -> Outcome {
    let Some(last) = models.last_mut().filter(|model| model.array) else { return Ok(()) };
    last.note = rng.below(100);
    let at = options().with_offset(last.offset);
    let count = Array::open_with(path, &at)?.size();
    let data = items(last.note, count);
    last.sha256 = hex(&Sha256::digest(&data));
    if by_python {
        server.ask(&json!({"op": "write", "path": path, "offset": last.offset, "seed": last.note}))?;
        return Ok(());
    }
    let mut array = Array::open_with(path, &at.with_write(true))?;
    array.write_bytes(Selection::all(), &data)?;
    array.set_vlmetalayer("note", &[last.note as u8])?;
    Ok(())
}

#[test]
fn both_append_to_one_file_and_open_all_of_it() -> Outcome {
    let Some(python) = python::find_for("places.py", "blosc2")? else { return Ok(()) };
    let folder = tempfile::tempdir()?;
    let mut server = python.serve()?;
    for file in 0..FILES {
        let mut rng = Rng::for_part(31, file);
        let path = folder.path().join(format!("{file}.b2nd"));
        let mut models = Vec::new();
        if rng.chance(30) {
            // Something that is no frame comes first.
            std::fs::write(&path, rng.bytes(200))?;
        } else {
            // The reference appends to a file that is there already.
            std::fs::write(&path, [])?;
        }
        for _ in 0..FRAMES {
            let by_python = rng.chance(50);
            let told = |error: Failure| {
                format!("file {file}, frame {} (python: {by_python}): {error}", models.len())
            };
            let appended = append(&mut rng, &path, by_python, &mut server).map_err(told)?;
            models.push(appended);
            if rng.chance(30) {
                rewrite(&mut rng, &path, &mut models, by_python, &mut server)?;
            }
        }
        check(&path, &models, &mut server).map_err(|error| format!("file {file}: {error}"))?;
    }
    println!("{FILES} files of {FRAMES} frames");
    Ok(())
}

#[test]
fn saved_and_packed_frames_are_the_same_to_both() -> Outcome {
    let Some(python) = python::find_for("places.py", "blosc2")? else { return Ok(()) };
    let folder = tempfile::tempdir()?;
    let mut server = python.serve()?;
    for case in 0..FILES {
        let mut rng = Rng::for_part(32, case);
        let path = |name: &str| folder.path().join(format!("{case}-{name}"));
        let (shape, chunks, blocks) = shapes(&mut rng);
        let (note, contiguous) = (rng.below(100), rng.chance(50));
        let command = json!({"op": "save", "path": path("theirs"), "kind": "array", "seed": note, "shape": shape,
            "chunks": chunks, "blocks": blocks, "contiguous": contiguous});
        let theirs = server.ask(&command)?;
        let array = Array::open_with(path("theirs"), &options())?;
        for (name, layout) in [("file", Layout::Contiguous), ("folder", Layout::Sparse)] {
            array.save(path(name), &SaveOptions::new().with_layout(layout))?;
            let ours = server.ask(&json!({"op": "open", "path": path(name), "offset": 0}))?;
            expect(name, &ours, &theirs)?;
            let copy = Array::open_with(path(name), &options())?;
            for n in 0..copy.schunk().nchunks() {
                expect("a chunk", &copy.schunk().chunk(n)?, &array.schunk().chunk(n)?)?;
            }
        }
        let back = Array::open_with(path("folder"), &options())?;
        back.save(path("back"), &SaveOptions::new())?;
        expect("there and back", &std::fs::read(path("back"))?, &std::fs::read(path("file"))?)?;
        expect("shape", &theirs["shape"], &Value::from(shape))?;
    }
    Ok(())
}
