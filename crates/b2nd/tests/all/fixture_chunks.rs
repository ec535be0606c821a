//! Chunks by C-Blosc2 over codecs, filters, item sizes, split modes and kinds, against the digests of what it reads back.

use b2nd::chunk::{ChunkHeader, decode, decode_range};
use b2nd::{Exec, Limits};
use sha2::{Digest, Sha256};
use std::path::Path;

#[test]
fn chunks_by_c_blosc2_decode_to_their_digests() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/chunk");
    let table = std::fs::read_to_string(folder.join("DIGESTS.tsv")).unwrap();
    let (mut seen, mut specials, mut raw, mut short) = (0, 0, 0, 0);
    for line in table.lines().filter(|line| !line.starts_with('#')) {
        let [name, nbytes, digest] = line.split('\t').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let chunk = std::fs::read(folder.join(name)).unwrap();
        let exec = Exec::new(1);
        let bytes = decode(&chunk, &Limits::default(), &exec).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(bytes.len().to_string(), nbytes, "{name}");
        let found: String = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(found, digest, "{name}");
        for (start, len) in [(0, bytes.len()), (bytes.len() / 2, bytes.len() / 3), (bytes.len(), 0)] {
            let mut part = vec![0xEE; len];
            decode_range(&chunk, start, &mut part, &Limits::default(), &exec).unwrap();
            assert!(part == bytes[start..start + len], "{name}: {len} from {start} on");
        }
        let header = ChunkHeader::parse(&chunk).unwrap();
        seen += 1;
        specials += usize::from(header.special().is_some());
        raw += usize::from(header.is_raw());
        short += usize::from(header.header_len() == 16);
    }
    assert!(seen >= 60 && specials >= 5 && raw >= 4 && short >= 5, "{seen} {specials} {raw} {short}");
}
