//! An array that many processes fill, among hostile receipts, parts and job files: whatever happens, a chunk is uninitialised or
//! what a receipt stands for, a commit that fails leaves the array as it was, and one that says it is complete is.
#![no_main]

use b2nd::array::{FillJob, FillReceipt};
use b2nd::schunk::ChunkPlace;
use b2nd::{Array, Dtype, Durability, OpenOptions, Options, s};
use b2nd_fuzz::place::Folder;
use libfuzzer_sys::arbitrary::{Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use std::fs;
use std::path::{Path, PathBuf};
use twox_hash::XxHash3_128;

const ROWS: u64 = 10;
const ROW: usize = 3;
const CHUNK: u64 = 4;
const CHUNKS: usize = 3;

fuzz_target!(|data: &[u8]| {
    let folder = Folder::new();
    let path = folder.at("filled.b2nd");
    let _ = run(&mut Unstructured::new(data), &path);
    let outside = folder.at("outside");
    assert!(
        !outside.exists() || fs::read(&outside).ok().as_deref() == Some(b"outside"),
        "nothing else is touched"
    );
});

fn options() -> OpenOptions {
    b2nd_fuzz::options().with_durability(Durability::None)
}

fn run(u: &mut Unstructured<'_>, path: &Path) -> Result<()> {
    let options_of_array = Options::new()
        .with_chunks([CHUNK, ROW as u64])
        .with_blocks([2, ROW as u64])
        .with_clevel(u.int_in_range(0..=9)?)
        .with_durability(Durability::None)
        .with_checksums(u.arbitrary()?);
    let dtype = Dtype::parse("|u1").expect("a dtype");
    drop(options_of_array.begin_fill(path, dtype, [ROWS, ROW as u64]).expect("a job"));
    let mut job = FillJob::join_with(path, &options()).expect("a job that was begun");
    let mut receipts: Vec<(FillReceipt, Option<Vec<u8>>)> = Vec::new();
    // What is in the array: nothing, or what was written; what a forged receipt brought is anybody's guess.
    let mut model: [Chunk; CHUNKS] = Default::default();
    let mut tampered = false;
    for _ in 0..16 {
        if u.is_empty() {
            break;
        }
        match u.int_in_range(0u8..=7)? {
            0 | 1 => {
                let n = u.int_in_range(0..=CHUNKS as u64)?;
                let rows = CHUNK.min(ROWS.saturating_sub(n * CHUNK)) as usize;
                let items = vec![u.arbitrary()?; rows * ROW + usize::from(u.ratio(1u8, 16u8)?)];
                let written = job.write_chunk(n, &items);
                assert_eq!(written.is_ok(), (n as usize) < CHUNKS && items.len() == rows * ROW);
                receipts.extend(written.map(|receipt| (receipt, Some(items))));
            }
            2 => {
                let (start, stop) = (u.int_in_range(0..=ROWS)?, u.int_in_range(0..=ROWS)?);
                let items = vec![u.arbitrary()?; stop.saturating_sub(start) as usize * ROW];
                let written = job.write_bytes(s![start as i64..stop as i64], &items).unwrap_or_default();
                let rows = items.chunks(CHUNK as usize * ROW).map(|items| Some(items.to_vec()));
                receipts.extend(written.into_iter().zip(rows));
            }
            3 => receipts.extend(forge(u, &receipts, &parts(path))?.map(|receipt| (receipt, None))),
            4 => tampered |= tamper(u, &parts(path))?,
            5 => {
                if let Ok(again) = FillJob::join_with(path, &options()) {
                    job = again;
                }
            }
            _ => {
                let from = u.int_in_range(0..=receipts.len())?;
                commit(&job, path, &receipts[from..], &mut model);
            }
        }
    }
    let before = chunks(path);
    let all: Vec<FillReceipt> = receipts.iter().map(|(receipt, _)| receipt.clone()).collect();
    match job.finish(&all) {
        Ok(_) => assert!(chunks(path).iter().all(Option::is_some), "nothing is missing"),
        Err(error) => {
            let complete = before.iter().all(Option::is_some) && all.is_empty();
            assert!(!complete || tampered, "{error}");
        }
    }
    Ok(())
}

/// What is known of a chunk of the array.
#[derive(Clone, Default, PartialEq, Debug)]
enum Chunk {
    #[default]
    Missing,
    Known(Vec<u8>),
    /// Put there by a forged receipt.
    Forged,
}

fn commit(
    job: &FillJob,
    path: &Path,
    receipts: &[(FillReceipt, Option<Vec<u8>>)],
    model: &mut [Chunk; CHUNKS],
) {
    let before = chunks(path);
    let all: Vec<FillReceipt> = receipts.iter().map(|(receipt, _)| receipt.clone()).collect();
    let done = job.commit(&all);
    let after = chunks(path);
    let Ok(done) = done else {
        assert_eq!(before, after, "a commit that fails changes nothing");
        return;
    };
    assert_eq!(done.missing, after.iter().filter(|chunk| chunk.is_none()).count() as u64);
    // The last receipt of a chunk counts, unless the chunk was there before.
    for (receipt, items) in receipts.iter().rev() {
        let n = receipt.chunk() as usize;
        if model[n] == Chunk::Missing {
            model[n] = items.clone().map_or(Chunk::Forged, Chunk::Known);
        }
    }
    for (known, found) in model.iter().zip(after) {
        match known {
            Chunk::Missing => assert_eq!(found, None),
            Chunk::Known(items) => assert_eq!(found.as_ref(), Some(&Some(items.clone()))),
            // It may be a chunk that says that it has never been written.
            Chunk::Forged => {}
        }
    }
}

/// The chunks that are not missing: their items, where they can be read.
fn chunks(path: &Path) -> Vec<Option<Option<Vec<u8>>>> {
    let array = Array::open_with(path, &options()).expect("the array is never lost");
    let missing = FillJob::join_with(path, &options()).and_then(|job| job.missing());
    let chunks = array.iter_chunks().map(|chunk| {
        let is_missing = match &missing {
            Ok(missing) => missing.contains(&chunk.number()),
            // Somebody has been at the job file: only a special chunk is missing.
            Err(_) => {
                array.schunk().chunk_info(chunk.number()).is_ok_and(|info| info.place == ChunkPlace::Index)
            }
        };
        (!is_missing).then(|| chunk.read_bytes().ok())
    });
    chunks.collect()
}

fn parts(path: &Path) -> PathBuf {
    path.with_file_name("filled.b2nd.parts")
}

/// A receipt that nobody gave: another with one of its words changed, any words, or one for a part that no worker made.
fn forge(
    u: &mut Unstructured<'_>,
    receipts: &[(FillReceipt, Option<Vec<u8>>)],
    parts: &Path,
) -> Result<Option<FillReceipt>> {
    if receipts.is_empty() || u.ratio(1u8, 4u8)? {
        let text = String::from_utf8_lossy(u.bytes(u.len().min(100))?).into_owned();
        let receipt = text.parse::<FillReceipt>().ok();
        if let Some(receipt) = &receipt {
            assert_eq!(receipt.to_string().parse::<FillReceipt>().ok().as_ref(), Some(receipt));
        }
        return Ok(receipt);
    }
    let (receipt, _) = u.choose(receipts)?;
    let text = receipt.to_string();
    let mut words: Vec<&str> = text.split(' ').collect();
    if u.ratio(1u8, 3u8)? {
        // A part with another content or number, that has the name and the digest that it should have.
        let n = u.int_in_range(0..=CHUNKS as u64)?;
        let Ok(mut bytes) = fs::read(parts.join(format!("{:08x}-{}.part", receipt.chunk(), words[4]))) else {
            return Ok(None);
        };
        for _ in 0..u.int_in_range(0u8..=3)? {
            let at = u.int_in_range(0..=bytes.len().saturating_sub(1))?;
            if let Some(byte) = bytes.get_mut(at) {
                *byte = u.arbitrary()?;
            }
        }
        let digest = XxHash3_128::oneshot(&bytes);
        let part = parts.join(format!("{n:08x}-{digest:032x}.part"));
        if fs::symlink_metadata(&part).is_err() {
            let _ = fs::write(part, &bytes);
        }
        return Ok(format!("{} {} {n} {} {digest:032x}", words[0], words[1], bytes.len()).parse().ok());
    }
    let other = u.choose(receipts)?.0.to_string();
    let number = u.arbitrary::<u64>()?.to_string();
    match u.int_in_range(0u8..=3)? {
        0 => words[2] = if u.arbitrary()? { &number } else { other.split(' ').nth(2).expect("a chunk") },
        1 => words[3] = &number,
        2 => words[4] = other.split(' ').nth(4).expect("a digest"),
        _ => words[1] = "00112233445566778899aabbccddeeff",
    }
    Ok(words.join(" ").parse().ok())
}

/// Whether this is a file, and no link to one.
fn is_regular(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_file())
}

/// Does something to a file of the job, or puts one there that nobody wrote.
fn tamper(u: &mut Unstructured<'_>, parts: &Path) -> Result<bool> {
    let Ok(entries) = fs::read_dir(parts) else { return Ok(false) };
    let mut files: Vec<PathBuf> =
        entries.flatten().map(|entry| entry.path()).filter(|path| is_regular(path)).collect();
    files.sort();
    if files.is_empty() {
        return Ok(false);
    }
    let file = u.choose(&files)?;
    match u.int_in_range(0u8..=4)? {
        0 => {
            let mut bytes = fs::read(file).expect("a file");
            let at = u.int_in_range(0..=bytes.len().saturating_sub(1))?;
            if let Some(byte) = bytes.get_mut(at) {
                *byte ^= u.arbitrary::<u8>()?;
            }
            fs::write(file, bytes).expect("a file");
        }
        1 => fs::remove_file(file).expect("a file"),
        2 => {
            let outside = parts.with_file_name("outside");
            fs::write(&outside, "outside").expect("a file");
            fs::remove_file(file).expect("a file");
            std::os::unix::fs::symlink(&outside, file).expect("a link");
        }
        3 => fs::write(file, u.bytes(u.len().min(40))?).expect("a file"),
        _ => {
            let other = u.choose(&files)?;
            let bytes = fs::read(other).expect("a file");
            fs::write(file, bytes).expect("a file");
        }
    }
    Ok(true)
}
