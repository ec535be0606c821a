//! Every truncation and every single-bit flip of small arrays: an error or an array, never a panic, and never more memory
//! than the limits allow. One test, as the allocator that is watched is that of the whole process.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, in its helper functions too")]

use b2nd::{Array, Error, Exec, Limits, OpenOptions, s};
use peak_alloc::PeakAlloc;
use std::path::{Path, PathBuf};

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

/// What a file may claim here, for each kind of number.
const CLAIM: u64 = 256 << 10;
/// What opening and reading may take at its worst: a chunk, a result, an index and metadata at their limits, the contexts
/// of the codecs (the largest is that of zlib and zstd, below a megabyte), and copies of the input.
const MOST: usize = 4 << 20;

/// The contiguous frames of the fixtures that are small enough to damage at every bit.
fn small_files() -> Vec<PathBuf> {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let mut found = Vec::new();
    let zfp = cfg!(feature = "zfp").then_some("zfp");
    for folder in ["b2nd", "revisions", "caterva", "registered"].into_iter().chain(zfp) {
        for entry in std::fs::read_dir(fixtures.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            let array = path.extension().is_some_and(|e| e == "b2nd" || e == "cat");
            if array && path.is_file() && path.metadata().unwrap().len() <= 700 {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// Opens and reads an input in every way; whether all of it could be read.
fn exercise(bytes: &[u8]) -> bool {
    let limits = Limits::default()
        .with_max_chunk_bytes(CLAIM)
        .with_max_index_bytes(CLAIM)
        .with_max_meta_bytes(CLAIM)
        .with_max_read_bytes(CLAIM);
    let options = OpenOptions::new().with_limits(limits).with_exec(Exec::new(1));
    let Ok(array) = Array::from_bytes(bytes.to_vec(), &options) else { return false };
    let whole = array.read_bytes(s![]);
    if array.ndim() > 0 {
        let _ = array.read_bytes(s![..;-3]);
        let _ = array.read_bytes(s![-1]);
    }
    let names: Vec<String> = array.schunk().vlmetalayer_names().map(str::to_string).collect();
    for name in names {
        let _ = array.schunk().vlmetalayer(&name);
    }
    let damage = array.verify();
    // What verify finds sound can be read, unless it is more than a read may give.
    if damage.is_ok_and(|found| found.is_sound()) {
        assert!(matches!(whole, Ok(_) | Err(Error::Limit { .. })), "{whole:?}");
    }
    let _ = array.to_bytes();
    whole.is_ok()
}

/// As [`exercise`], with an eye on the memory it takes.
fn bounded(bytes: &[u8], what: &dyn Fn() -> String) -> bool {
    ALLOCATOR.reset_peak_usage();
    let before = ALLOCATOR.current_usage();
    let read = exercise(bytes);
    let taken = ALLOCATOR.peak_usage().saturating_sub(before);
    assert!(taken <= MOST, "{} takes {taken} bytes", what());
    read
}

#[test]
fn damage_costs_an_error_and_no_more_than_the_limits() {
    let files = small_files();
    assert!(files.len() >= 15, "only {} small files are left to damage", files.len());
    let (mut tried, mut read) = (0u64, 0u64);
    for path in files {
        let sound = std::fs::read(&path).unwrap();
        assert!(bounded(&sound, &|| path.display().to_string()), "{} is sound", path.display());
        for len in 0..sound.len() {
            tried += 1;
            read += u64::from(bounded(&sound[..len], &|| format!("{} cut to {len}", path.display())));
        }
        let mut bytes = sound.clone();
        for bit in 0..8 * sound.len() {
            bytes[bit / 8] ^= 1 << (bit % 8);
            tried += 1;
            read += u64::from(bounded(&bytes, &|| format!("{} with bit {bit} flipped", path.display())));
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
    }
    println!("{tried} damaged inputs, {read} of them readable");
    // Bits of unused fields change nothing, and a flipped item is an item: but most of a file is checked.
    assert!(tried > 50_000 && read > 0 && read < tried);
}
