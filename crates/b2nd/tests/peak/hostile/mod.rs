//! Files of a few kilobytes that claim millions of chunks, blocks and bytes: to open, describe, check and repair one, and to read
//! an item of it, costs what the file costs and not what it claims.

mod forge;

use super::{ALLOCATOR, alone};
use b2nd::{Array, Codec, Error, Exec, OpenOptions, RepairOptions, Result, SChunk, repair_bytes, s};
pub(crate) use forge::Forged;
use forge::{delta, header, index, runs, uniform};
use std::time::{Duration, Instant};

/// Memory that a file may cost, and what comes to that for each of its bytes.
const MEMORY: usize = 64 << 20;
const FOR_EACH_BYTE: usize = 16;
/// What a verb may take. On a quiet machine, optimised, each takes less than a second.
const TIME: Duration = Duration::from_secs(4);

/// Most chunks that an index has within the default limits.
const MOST_CHUNKS: u64 = (1 << 27) - 1;

fn options() -> OpenOptions {
    OpenOptions::new().with_exec(Exec::new(1))
}

/// Does something to a file, and holds what it costs against the bounds.
fn costs<T>(name: &str, verb: &str, bytes: &[u8], action: impl FnOnce(Vec<u8>) -> Result<T>) -> Option<T> {
    let copy = bytes.to_vec();
    ALLOCATOR.reset_peak_usage();
    let (before, started) = (ALLOCATOR.current_usage(), Instant::now());
    let done = action(copy);
    let (time, memory) = (started.elapsed(), ALLOCATOR.peak_usage().saturating_sub(before));
    let said = match &done {
        Ok(_) => "done".to_owned(),
        Err(error) => error.to_string(),
    };
    println!("{name}, {verb}: {memory} bytes, {time:?}: {}", said.chars().take(100).collect::<String>());
    let most = MEMORY + FOR_EACH_BYTE * bytes.len();
    assert!(memory <= most, "{name}, {verb}: {memory} bytes of memory for {} of a file", bytes.len());
    assert!(time <= TIME, "{name}, {verb}: {time:?}");
    assert!(!matches!(done, Err(Error::OutOfMemory { .. })), "{name}, {verb}: {said}");
    done.ok()
}

/// What `info` looks at.
fn info(frame: &SChunk) -> usize {
    let chunks =
        if frame.nchunks() <= 20_000 { frame.chunk_infos().filter(Result::is_ok).count() } else { 0 };
    let _ = frame.space();
    chunks + frame.vlmetalayer_lengths().map_or(0, Iterator::count)
}

fn every_verb(name: &str, bytes: &[u8]) {
    costs(name, "info", bytes, |bytes| SChunk::from_bytes(bytes, &options()).map(|frame| info(&frame)));
    let frame = |bytes| SChunk::from_bytes(bytes, &options());
    costs(name, "verify", bytes, |bytes| match Array::from_bytes(bytes.clone(), &options()) {
        Ok(array) => array.verify().map(|found| found.damaged),
        Err(_) => frame(bytes)?.verify().map(|found| found.damaged),
    });
    costs(name, "verify attributes", bytes, |bytes| {
        frame(bytes)?.damaged_vlmetalayers().map(|damaged| damaged.len())
    });
    costs(name, "read an item", bytes, |bytes| match Array::from_bytes(bytes.clone(), &options()) {
        Ok(array) if array.ndim() == 1 => array.read_bytes(s![-1]),
        _ => frame(bytes).and_then(|frame| frame.read_items(0..1)),
    });
    let repairing = RepairOptions::new().with_exec(Exec::new(1));
    let repaired = costs(name, "repair", bytes, |bytes| repair_bytes(bytes, &repairing));
    let Some((whole, report)) = repaired else { return };
    costs(name, "text of a repair", bytes, |_| Ok(report.to_string().len()));
    let frame = SChunk::from_bytes(whole.clone(), &options()).unwrap();
    assert_eq!(frame.nchunks(), report.chunks, "{name}");
    // What is too large to be checked is kept as it is.
    let limited = |(_, error): &(String, Error)| matches!(error, Error::Limit { .. });
    assert!(frame.damaged_vlmetalayers().unwrap().iter().all(limited), "{name}");
    let found = match Array::from_bytes(whole, &options()) {
        Ok(array) => array.verify().unwrap(),
        Err(_) => frame.verify().unwrap(),
    };
    assert!(found.is_sound(), "{name}: what was repaired is damaged: {:?}\n{report}", found.damage);
}

/// Forged files, by what they claim.
fn files() -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<(String, Forged)> = Vec::new();
    let mut add = |name: &str, file: Forged| files.push((name.to_owned(), file));
    let small = runs(64, 16, Codec::Lz4);
    let zeros = i64::from_le_bytes([0, 0, 0, 0, 0, 0, 0, 0x81]);
    for (what, raw) in [("past the data", 1 << 40), ("no kind", i64::MIN), ("zeros", zeros), ("the first", 0)]
    {
        add(
            &format!("all offsets {what}"),
            Forged::new(64, small.clone(), MOST_CHUNKS, uniform(raw, MOST_CHUNKS)),
        );
        let array = Forged::new(64, small.clone(), MOST_CHUNKS, uniform(raw, MOST_CHUNKS)).array(16);
        add(&format!("all offsets {what}, an array"), array);
    }
    // A value that repeats has no blocks behind it, however many a header claims.
    let mut nan = uniform(0, MOST_CHUNKS);
    nan[8..12].copy_from_slice(&8u32.to_le_bytes());
    nan[31] = nan[31] & 0x8f | 0x20;
    add("offsets that are NaN", Forged::new(64, small.clone(), MOST_CHUNKS, nan.clone()));
    add("offsets that are NaN, an array", Forged::new(64, small.clone(), MOST_CHUNKS, nan).array(16));
    // What is claimed here stays below what an index in memory may cost.
    let claimed = 1 << 15;
    let two = [small.clone(), small.clone()].concat();
    let (one, bad) = (0, small.len() as i64 + 7);
    for (what, pattern) in [
        ("one and another", vec![0, small.len() as i64]),
        ("one and none", vec![one, bad]),
        ("none and past the data", vec![bad, i64::MAX, bad, i64::MAX - 1]),
        ("one and zeros", vec![one, zeros]),
    ] {
        let offsets = || index(pattern.iter().copied().cycle().take(claimed));
        add(&format!("offsets {what}"), Forged::new(64, two.clone(), claimed as u64, offsets()));
        add(
            &format!("offsets {what}, an array"),
            Forged::new(64, two.clone(), claimed as u64, offsets()).array(16),
        );
    }
    let each = (0..claimed as i64).map(|n| (1 << 40) + n);
    add("every offset past the data", Forged::new(64, small.clone(), claimed as u64, index(each)));
    for (what, chunk) in [
        ("stored, and cut off", header(7, 1 << 28, 1, (1 << 28) + 32)),
        ("stored in blocks of 64, and cut off", header(7, 1 << 28, 64, (1 << 28) + 32)),
        ("compressed, and cut off", header(0x37, 1 << 28, 1, (1 << 30) + 64)),
        ("compressed, of blocks of one byte", header(0x35, 1 << 28, 1, (1 << 30) + 64)),
        ("blocks of variable length", {
            let mut chunk = header(0x35, 1 << 28, 1 << 28, (1 << 30) + 64);
            chunk[0] = 6;
            chunk[30] = 1;
            chunk
        }),
        ("zeros", encode_zeros(1 << 28)),
    ] {
        let data = [chunk, vec![0; 200]].concat();
        add(&format!("a chunk {what}"), Forged::new(1 << 28, data.clone(), 1, uniform(0, 1)));
        add(
            &format!("a chunk {what}, an array"),
            Forged::new(1 << 28, data.clone(), 1, uniform(0, 1)).array(1 << 12),
        );
        add(&format!("many chunks {what}"), Forged::new(1 << 28, data, 1000, uniform(0, 1000)));
    }
    let items: Vec<u8> = (0..4096u32).map(|n| (n * n / 97) as u8).collect();
    let chunk = delta(&items, 256);
    let mut broken = chunk.clone();
    let first = u32::from_le_bytes(broken[32..36].try_into().unwrap()) as usize;
    broken[first..first + 4].fill(0x7f);
    let len = chunk.len() as i64;
    let data = [broken, chunk].concat();
    for (what, offsets) in
        [("", vec![0, len]), (" twice", vec![0, len, len, 0]), (" and others", vec![len, 0, zeros])]
    {
        let count = offsets.len() as u64;
        let mut file = Forged::new(4096, data.clone(), count, index(offsets)).array(256);
        file.filters[0] = 3;
        add(&format!("the first block, to which others refer, is lost{what}"), file);
    }
    let attribute = runs(80 << 20, 1 << 20, Codec::Zstd);
    add(
        "an attribute of 80 MiB",
        Forged::new(64, small.clone(), 1, uniform(0, 1)).array(16).with_vlmetalayer("a", attribute),
    );
    let attribute = runs(80 << 20, 80 << 20, Codec::Zstd);
    add(
        "an attribute of one block of 80 MiB",
        Forged::new(64, small, 1, uniform(0, 1)).array(16).with_vlmetalayer("a", attribute),
    );
    files.into_iter().map(|(name, file)| (name, file.bytes())).collect()
}

fn encode_zeros(nbytes: u32) -> Vec<u8> {
    b2nd::chunk::encode_special(b2nd::chunk::Special::Zeros, nbytes, &[], &b2nd::Params::new(1)).unwrap()
}

#[test]
fn a_file_costs_what_it_is_and_not_what_it_claims() {
    let _alone = alone();
    let files = files();
    assert!(files.len() > 30);
    for (name, bytes) in files {
        every_verb(&name, &bytes);
    }
}
