//! Chunks by C-Blosc2 with dictionaries and with blocks of variable length, against the digests of what it reads back: whole,
//! in parts and block by block.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking, in its helper functions too"
)]

use b2nd::chunk::{ChunkHeader, decode, decode_block, decode_range};
use b2nd::{Array, Exec, Limits, OpenOptions, s};
use sha2::{Digest, Sha256};
use std::path::Path;

fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn check_chunk(name: &str, kind: &str, chunk: &[u8], wanted: &str) {
    let (limits, exec) = (Limits::default(), Exec::new(2));
    let header = ChunkHeader::parse(chunk).unwrap();
    assert_eq!(header.is_variable(), kind == "variable", "{name}");
    assert_eq!(header.has_dictionary(), name.contains("dict"), "{name}");
    let whole = decode(chunk, &limits, &exec).unwrap_or_else(|e| panic!("{name}: {e}"));
    assert_eq!(digest(&whole), wanted, "{name}");
    let blocks: Vec<Vec<u8>> =
        (0..header.nblocks()).map(|n| decode_block(chunk, n, &limits, &exec).unwrap()).collect();
    assert!(blocks.len() > 10, "{name}");
    assert!(blocks.concat() == whole, "{name}");
    assert!(decode_block(chunk, blocks.len(), &limits, &exec).is_err());
    for (start, len) in [(0, 1), (whole.len() / 3, whole.len() / 2), (whole.len() - 1, 1), (whole.len(), 0)] {
        let mut part = vec![0xEE; len];
        decode_range(chunk, start, &mut part, &limits, &exec).unwrap();
        assert!(part == whole[start..start + len], "{name}: {len} from {start} on");
    }
}

fn check_array(path: &Path, wanted: &str) {
    let array = Array::open(path).unwrap();
    assert!(array.schunk().params().dictionary());
    let whole = array.read_bytes(s![]).unwrap();
    assert_eq!(digest(&whole), wanted, "{}", path.display());
    assert_eq!(array.read_bytes(s![61, 33]).unwrap(), whole[2 * (61 * 80 + 33)..][..2]);
    assert!(array.verify().unwrap().is_sound());
    let block = array.schunk().decompress_block(1, 5).unwrap();
    assert_eq!(block[..2], array.read_bytes(s![60, 20]).unwrap());
    // A change keeps the frame's ways: the new chunk has a dictionary too.
    let options = OpenOptions::new().with_write(true);
    let mut copy = Array::from_bytes(array.to_bytes().unwrap(), &options).unwrap();
    copy.write_bytes(s![0, 0], &[9, 9]).unwrap();
    assert!(ChunkHeader::parse(&copy.schunk().chunk(0).unwrap()).unwrap().has_dictionary());
    let changed = copy.read_bytes(s![]).unwrap();
    assert_eq!((&changed[..2], &changed[2..]), (&[9, 9][..], &whole[2..]));
}

#[test]
fn chunks_and_arrays_decode_to_their_digests() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/blocks");
    let table = std::fs::read_to_string(folder.join("DIGESTS.tsv")).unwrap();
    let mut seen = [0; 3];
    for line in table.lines().filter(|line| !line.starts_with('#')) {
        let [name, kind, _, wanted] = line.split('\t').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let path = folder.join(name);
        if kind == "array" {
            check_array(&path, wanted);
        } else {
            check_chunk(name, kind, &std::fs::read(&path).unwrap(), wanted);
        }
        seen[["dictionary", "variable", "array"].iter().position(|k| *k == kind).unwrap()] += 1;
    }
    assert_eq!(seen, [9, 12, 3]);
}
