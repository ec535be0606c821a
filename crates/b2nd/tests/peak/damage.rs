//! Every truncation and every single-bit flip of small arrays: an error or an array, never a panic, and never more memory
//! than the limits allow.

use crate::{ALLOCATOR, alone};
use b2nd::chunk;
use b2nd::schunk::CreateOptions;
use b2nd::{Array, Error, Exec, Limits, OpenOptions, Params, RepairOptions, SChunk, repair_bytes, s};
use std::path::{Path, PathBuf};

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

fn limits() -> Limits {
    Limits::default()
        .with_max_chunk_bytes(CLAIM)
        .with_max_index_bytes(CLAIM)
        .with_max_meta_bytes(CLAIM)
        .with_max_read_bytes(CLAIM)
}

/// Opens and reads an input in every way; whether all of it could be read.
fn exercise(bytes: &[u8]) -> bool {
    let options = OpenOptions::new().with_limits(limits()).with_exec(Exec::new(1));
    let Ok(array) = Array::from_bytes(bytes.to_vec(), &options) else { return false };
    let whole = array.read_bytes(s![]);
    if array.ndim() > 0 {
        let _ = array.read_bytes(s![..;-3]);
        let _ = array.read_bytes(s![-1]);
    }
    let names: Vec<String> =
        array.schunk().vlmetalayer_names().into_iter().flatten().map(str::to_string).collect();
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

/// Does something with an eye on the memory it takes.
fn bounded<T>(action: impl FnOnce() -> T, what: &dyn Fn() -> String) -> T {
    ALLOCATOR.reset_peak_usage();
    let before = ALLOCATOR.current_usage();
    let done = action();
    let taken = ALLOCATOR.peak_usage().saturating_sub(before);
    assert!(taken <= MOST, "{} takes {taken} bytes", what());
    done
}

/// Of how many damaged inputs one is repaired as well.
const REPAIRED: u64 = 16;

/// Repairs an input; how many chunks of the result are lost.
fn mend(bytes: &[u8]) -> Option<usize> {
    let options = RepairOptions::new().with_limits(limits()).with_exec(Exec::new(1));
    let (mended, report) = repair_bytes(bytes.to_vec(), &options).ok()?;
    SChunk::from_bytes(mended, &OpenOptions::new().with_limits(limits())).unwrap();
    Some(report.lost.len())
}

#[test]
fn damage_costs_an_error_and_no_more_than_the_limits() {
    let _alone = alone();
    let files = small_files();
    assert!(files.len() >= 15, "only {} small files are left to damage", files.len());
    let (mut tried, mut read, mut mended) = (0u64, 0u64, 0);
    for path in files {
        let sound = std::fs::read(&path).unwrap();
        assert!(bounded(|| exercise(&sound), &|| path.display().to_string()), "{} is sound", path.display());
        let mut damaged = |bytes: &[u8], what: &dyn Fn() -> String| {
            tried += 1;
            read += u64::from(bounded(|| exercise(bytes), what));
            if tried.is_multiple_of(REPAIRED) {
                mended += usize::from(bounded(|| mend(bytes), what).is_some());
            }
        };
        for len in 0..sound.len() {
            damaged(&sound[..len], &|| format!("{} cut to {len}", path.display()));
        }
        let mut bytes = sound.clone();
        for bit in 0..8 * sound.len() {
            bytes[bit / 8] ^= 1 << (bit % 8);
            damaged(&bytes, &|| format!("{} with bit {bit} flipped", path.display()));
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
    }
    println!("{tried} damaged inputs, {read} of them readable, {mended} repaired");
    // Bits of unused fields change nothing, and a flipped item is an item: but most of a file is checked.
    assert!(tried > 50_000 && read > 0 && read < tried && mended as u64 > tried / REPAIRED / 2);
    forged_items();
}

/// Lost chunks of a frame whose chunks differ in size become one item each, however large an item is said to be.
fn forged_items() {
    let mut frame = CreateOptions::new(Params::new(4)).create_in_memory().unwrap();
    for len in [400usize, 800, 1200] {
        frame.append_chunk(&chunk::encode(&vec![5; len], &Params::new(4), &Exec::new(1)).unwrap()).unwrap();
    }
    let first = frame.chunk_info(0).unwrap();
    let mut bytes = frame.to_bytes().unwrap();
    let start = u32::from_be_bytes(bytes[11..15].try_into().unwrap()) as usize;
    bytes[start..][..first.cbytes as usize].fill(0xee);
    bytes[48..52].copy_from_slice(&0x6500_0000u32.to_be_bytes());
    assert!(bounded(|| mend(&bytes), &|| "forged items".to_string()).is_some_and(|lost| lost > 0));
}
