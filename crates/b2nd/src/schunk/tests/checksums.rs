//! Checksums through commits, rollbacks, copies, and the work of another program.

use super::*;
use crate::error::{Error, Part};
use b2nd_testkit::rng::Rng;

fn options() -> OpenOptions {
    OpenOptions::new().with_exec(Exec::new(1)).with_write(true)
}

fn chunk_of(seed: u64) -> Vec<u8> {
    let mut rng = Rng::new(seed);
    // Some longer than what has one entry, some short, some of zeros.
    match seed % 4 {
        0 => vec![0; 8000],
        1 => rng.bytes(8000),
        2 => (0..2000u32).flat_map(|n| (n / 5 + seed as u32).to_le_bytes()).collect(),
        _ => (0..8000).map(|n| if n % 3 == 0 { rng.below(200) as u8 } else { 7 }).collect(),
    }
}

fn create(path: Option<&std::path::Path>, layout: Layout) -> SChunk {
    let options = CreateOptions::new(Params::new(4).with_blocksize(Some(1000)))
        .with_chunksize(8000)
        .with_layout(layout)
        .with_checksums(true)
        .with_exec(Exec::new(1))
        .with_metalayer("owner", *b"\xa5first")
        .with_vlmetalayer("note", *b"\xa5hello");
    match path {
        Some(path) => options.create(path).unwrap(),
        None => options.create_in_memory().unwrap(),
    }
}

/// All that is stored matches, and holds what it should.
fn matches(schunk: &SChunk, seeds: &[u64]) {
    let found = schunk.verify().unwrap();
    assert!(found.is_sound() && found.stale.is_empty() && found.unchecked == 0, "{found:?}");
    assert_eq!(found.matching, seeds.iter().filter(|seed| *seed % 4 != 0).count() as u64);
    assert_eq!(schunk.nchunks(), seeds.len() as u64);
    for (n, seed) in (0..).zip(seeds) {
        assert!(schunk.decompress_chunk(n).unwrap() == chunk_of(*seed), "chunk {n}");
    }
}

#[test]
fn checksums_follow_the_chunks_through_every_change() {
    let temp = TempDir::new("checksums");
    for (layout, path) in [
        (Layout::Contiguous, None),
        (Layout::Contiguous, Some(temp.path("file"))),
        (Layout::Sparse, Some(temp.path("directory"))),
    ] {
        let mut rng = Rng::new(7);
        let mut schunk = create(path.as_deref(), layout);
        let mut seeds: Vec<u64> = Vec::new();
        for round in 0..60 {
            let mut now = seeds.clone();
            let mut t = schunk.transaction();
            for _ in 0..1 + rng.below(4) {
                let (n, seed) = (rng.below(now.len() as u64 + 1), rng.next_u64() % 1000);
                match rng.below(6) {
                    0 if !now.is_empty() => {
                        let n = n.min(now.len() as u64 - 1);
                        t.update(n, &chunk_of(seed)).unwrap();
                        now[n as usize] = seed;
                    }
                    1 if !now.is_empty() => {
                        let n = n.min(now.len() as u64 - 1);
                        t.delete(n).unwrap();
                        now.remove(n as usize);
                    }
                    2 if now.len() > 1 => {
                        let mut order: Vec<u64> = (0..now.len() as u64).collect();
                        order.rotate_left(1);
                        t.reorder(&order).unwrap();
                        now.rotate_left(1);
                    }
                    3 => t.set_vlmetalayer("note", &rng.bytes(30)).unwrap(),
                    _ => {
                        t.insert(n, &chunk_of(seed)).unwrap();
                        now.insert(n as usize, seed);
                    }
                }
                // What is not committed yet is read with its checks too.
                for (n, seed) in (0..).zip(&now) {
                    assert!(t.schunk().decompress_chunk(n).unwrap() == chunk_of(*seed));
                }
            }
            if rng.chance(30) {
                drop(t);
            } else {
                t.commit().unwrap();
                seeds = now;
            }
            assert!(schunk.has_checksums().unwrap());
            matches(&schunk, &seeds);
            if round % 10 == 9 {
                schunk.compact().unwrap();
                matches(&schunk, &seeds);
                matches(&SChunk::from_bytes(schunk.to_bytes().unwrap(), &options()).unwrap(), &seeds);
                if let Some(path) = &path {
                    drop(schunk);
                    schunk = SChunk::open(path, &options()).unwrap();
                }
            }
        }
        let copy = schunk.copy_in_memory(&CreateOptions::default().with_checksums(true)).unwrap();
        matches(&copy, &seeds);
        assert!(!schunk.copy_in_memory(&CreateOptions::default()).unwrap().has_checksums().unwrap());
    }
}

/// A frame of three chunks, none of zeros.
fn three() -> Vec<u8> {
    let mut schunk = create(None, Layout::Contiguous);
    [1, 2, 3].into_iter().for_each(|seed| schunk.append(&chunk_of(seed)).unwrap());
    schunk.to_bytes().unwrap()
}

/// Zeroes the fingerprint, as C-Blosc2 does.
fn unseal(bytes: &mut [u8]) {
    let at = bytes.len() - 16;
    bytes[at..].fill(0);
}

fn place_of(bytes: &[u8], n: u64) -> usize {
    let schunk = SChunk::from_bytes(bytes.to_vec(), &options().with_checks(false)).unwrap();
    let Place::Stored { offset, .. } = schunk.place(n).unwrap() else { panic!("chunk {n} is stored") };
    offset as usize
}

#[test]
fn what_another_program_changed_is_stale_until_renewed() {
    let mut bytes = three();
    let at = place_of(&bytes, 0) + 5000;
    bytes[at] ^= 255; // chunk 0 is stored as it is
    let read = |bytes: &[u8]| SChunk::from_bytes(bytes.to_vec(), &options()).unwrap();
    assert!(read(&bytes).decompress_chunk(0).is_err());
    unseal(&mut bytes);
    let mut schunk = read(&bytes);
    assert_ne!(schunk.decompress_chunk(0).unwrap(), chunk_of(1));
    let found = schunk.verify().unwrap();
    assert_eq!((found.damage.len(), found.stale, found.matching), (0, vec![0], 2));
    // A commit of ours makes only its own chunk sure.
    schunk.update(1, &chunk_of(5)).unwrap();
    let found = schunk.verify().unwrap();
    assert_eq!((found.damage.len(), found.stale, found.matching), (0, vec![0], 2));
    let mut bytes = schunk.to_bytes().unwrap(); // takes what is there as it is
    assert_eq!(read(&bytes).verify().unwrap().matching, 3);
    let at = place_of(&bytes, 1) + 5000;
    bytes[at] ^= 1;
    let damage = read(&bytes).verify().unwrap().damage;
    assert_eq!((damage[0].chunk, damage[0].block), (1, Some(4)));
    let Error::Format(error) = &damage[0].error else { panic!("damage is the file's fault") };
    assert!(error.bytes().unwrap().contains(&(at as u64)), "{error}");
    assert!(error.to_string().contains("do not match their checksum"), "{error}");

    schunk.renew_checksums().unwrap();
    let found = schunk.verify().unwrap();
    assert_eq!((found.stale.len(), found.matching), (0, 3));
}

#[test]
fn damage_of_trailer_header_and_layers_is_told() {
    let whole = three();
    let part = |bytes: Vec<u8>| match SChunk::from_bytes(bytes, &options()).map(drop) {
        Err(Error::Format(error)) => error.part(),
        other => panic!("{other:?}"),
    };
    let flipped = |at: usize, bits: u8| {
        let mut bytes = whole.clone();
        bytes[at] ^= bits;
        bytes
    };
    assert_eq!(part(flipped(whole.len() - 3, 1)), Part::Trailer);
    assert_eq!(part(flipped(28, 1)), Part::FrameHeader); // split mode
    let owner = whole.windows(5).position(|window| window == b"first").unwrap();
    assert_eq!(part(flipped(owner, 4)), Part::Metalayer);
    assert_eq!(part(flipped(owner, 6)), Part::Metalayer);
    // Whoever means that bit says so.
    let mut schunk = SChunk::from_bytes(flipped(owner, 4), &options().with_checks(false)).unwrap();
    schunk.renew_checksums().unwrap();
    let again = SChunk::from_bytes(schunk.to_bytes().unwrap(), &options()).unwrap();
    matches(&again, &[1, 2, 3]);
}

#[test]
fn a_header_that_another_program_has_rewritten_is_told_from_damage() {
    let whole = three();
    let owner = whole.windows(5).position(|window| window == b"first").unwrap();
    let opened = |changes: &[(usize, u8)]| {
        let mut bytes = whole.clone();
        changes.iter().for_each(|(at, byte)| bytes[*at] = *byte);
        SChunk::from_bytes(bytes, &options())
    };
    assert_eq!(opened(&[]).unwrap().rewritten().unwrap(), None);
    // What C-Blosc2 writes: its own numbers of threads, and a metalayer; after other parameters these too, and no block size.
    let metalayer = [(owner, b'F'), (owner + 1, b'I'), (64, 2), (67, 1)];
    let other = [(27, 0x91), (28, 3), (53, 0), (54, 0), (55, 0), (56, 0), (71, 2), (76, 1), (77, 1)];
    for changes in [&metalayer[..], &metalayer[2..], &[&metalayer[..], &other].concat()] {
        let mut schunk = opened(changes).unwrap();
        assert_eq!(schunk.rewritten().unwrap(), Some(Rewritten::Header), "{changes:?}");
        matches(&schunk, &[1, 2, 3]);
        // A commit of ours takes it over.
        schunk.append(&chunk_of(5)).unwrap();
        assert_eq!(schunk.rewritten().unwrap(), None);
        let again = SChunk::from_bytes(schunk.to_bytes().unwrap(), &options()).unwrap();
        assert_eq!(again.rewritten().unwrap(), None);
        matches(&again, &[1, 2, 3, 5]);
    }
    // No program writes the metalayer alone, or one number of threads, or none, or another item size with these chunks.
    for changes in [&metalayer[..2], &metalayer[..3], &[(67, 1)], &[(64, 2), (67, 0x80), (66, 0x80)]] {
        let Err(Error::Format(error)) = opened(changes) else { panic!("{changes:?}") };
        assert!(error.to_string().contains("do not match their checksum"), "{error}");
    }
    let Err(Error::Format(error)) = opened(&[(51, 8), (64, 2), (67, 1)]) else { panic!("another item size") };
    assert!(error.to_string().contains("another program has rewritten it"), "{error}");
    // All of the state: its trailer has no seal.
    let mut bytes = whole.clone();
    unseal(&mut bytes);
    let schunk = SChunk::from_bytes(bytes, &options()).unwrap();
    assert_eq!(schunk.rewritten().unwrap(), Some(Rewritten::Frame));
}

#[test]
fn no_changed_byte_of_a_header_makes_another_array() {
    let dtype = crate::Dtype::parse("<i2").unwrap();
    let new = crate::Options::new().with_chunks([3, 4]).with_checksums(true);
    let mut array = new.create_in_memory(dtype, [7, 5]).unwrap();
    let items: Vec<u8> = (0..70).collect();
    array.write_bytes((), &items).unwrap();
    let bytes = array.to_bytes().unwrap();
    let mut others = Vec::new();
    for at in 0..array.schunk().header.bytes().len() {
        for change in 1..=255 {
            let mut bytes = bytes.clone();
            bytes[at] ^= change;
            let Ok(other) = crate::Array::from_bytes(bytes, &options()) else { continue };
            let same = other.shape() == array.shape()
                && other.dtype() == array.dtype()
                && other.schunk().rewritten().unwrap().is_none()
                && other.read_bytes(()).is_ok_and(|read| read == items);
            if !same {
                others.push((at, change, other.shape().to_vec()));
            }
        }
    }
    assert!(others.is_empty(), "{} changes: {others:?}", others.len());
}

#[test]
fn a_damaged_attribute_does_not_become_right_by_a_commit() {
    let mut bytes = three();
    let note = bytes.windows(6).position(|window| window == b"\xa5hello").unwrap();
    bytes[note + 2] ^= 1;
    let mut schunk = SChunk::from_bytes(bytes, &options()).unwrap();
    assert!(schunk.vlmetalayer("note").is_err());
    schunk.append(&chunk_of(6)).unwrap();
    schunk.set_vlmetalayer("other", b"\x01").unwrap();
    let mut again = SChunk::from_bytes(schunk.to_bytes().unwrap(), &options()).unwrap();
    assert!(again.vlmetalayer("note").is_err() && again.vlmetalayer("other").unwrap().is_some());
    again.set_vlmetalayer("note", b"\xa5again").unwrap();
    assert_eq!(again.vlmetalayer("note").unwrap().unwrap(), b"\xa5again");
}

#[test]
fn frames_have_checksums_where_they_are_asked_for() {
    let temp = TempDir::new("asked");
    let new = || CreateOptions::new(Params::new(4)).with_chunksize(8000);
    let plain = new().with_checksums(false).create(temp.path("plain")).unwrap();
    assert!(!plain.has_checksums().unwrap() && !new().create_in_memory().unwrap().has_checksums().unwrap());
    assert!(new().create(temp.path("default")).unwrap().has_checksums().unwrap());
    drop(plain);
    let open = |options: OpenOptions| SChunk::open(temp.path("plain"), &options).unwrap();
    open(options()).append(&chunk_of(1)).unwrap();
    assert!(!open(options()).has_checksums().unwrap());
    open(options().with_checksums(true)).append(&chunk_of(2)).unwrap();
    let found = open(options()).verify().unwrap();
    assert_eq!((found.matching, found.unchecked), (1, 1));
    open(options()).renew_checksums().unwrap();
    assert_eq!(open(options()).verify().unwrap().matching, 2);
    open(options().with_checksums(false)).append(&chunk_of(3)).unwrap();
    assert!(!open(options()).has_checksums().unwrap());
    // The name is taken, and hidden.
    let mut schunk = open(options().with_checksums(true));
    schunk.set_vlmetalayer("note", b"\x01").unwrap();
    assert_eq!(schunk.vlmetalayer_names().unwrap().collect::<Vec<_>>(), ["note"]);
    assert!(schunk.set_vlmetalayer("b2nd.digests", b"\x01").is_err());
    assert!(schunk.vlmetalayer("b2nd.digests").unwrap().is_none());
}

#[test]
fn a_hundred_million_chunks_of_zeros_have_short_checksums() {
    let mut schunk = create(None, Layout::Contiguous);
    schunk.fill(Special::Zeros, &[], 100_000_000 * 2000).unwrap();
    assert!(schunk.has_checksums().unwrap() && schunk.frame_len() < 1000, "{} bytes", schunk.frame_len());
    assert!(schunk.nchunks() == 100_000_000 && schunk.verify_some());
}

impl SChunk {
    /// A few of many chunks.
    fn verify_some(&self) -> bool {
        [0, 77_777_777, 99_999_999].into_iter().all(|n| self.decompress_chunk(n).is_ok())
    }
}
