use super::*;
use crate::chunk;
use crate::chunk::Params;
use crate::exec::Exec;
use crate::frame::Trailer;
use crate::limits::Limits;
use std::sync::Arc;

/// The entries that chunk `n` has in these tests.
fn entries(n: u64) -> Vec<u64> {
    (0..=n % 5).map(|index| chunk::hash(&[n.to_le_bytes(), index.to_le_bytes()].concat())).collect()
}

fn draft(identity: [u64; 2], nchunks: u64, step: usize) -> Draft {
    let mut drafting = Drafting::new(identity, nchunks);
    (0..nchunks).step_by(step).try_for_each(|n| drafting.put(n, &entries(n))).unwrap();
    drafting.finish(vec![7, 8]).unwrap().unwrap()
}

#[test]
fn a_layer_says_what_was_put() {
    for (nchunks, step) in [(0, 1), (1, 1), (4096, 1), (10_000, 3), (100_000_000, 9_999_999)] {
        let draft = draft([5, 6], nchunks, step);
        let stored = draft.store(b"the header", b"the offsets").unwrap();
        assert_eq!(stored.len(), draft.stored_len(10));
        assert!(nchunks < 1 << 20 || stored.len() < 200_000, "{} bytes", stored.len());
        let layer = Layer::parse(&Arc::clone(&stored).into(), &Limits::default()).unwrap();
        assert_eq!((layer.identity, layer.nchunks, layer.header()), ([5, 6], nchunks, &b"the header"[..]));
        assert_eq!(layer.offsets, chunk::hash(b"the offsets"));
        assert_eq!([0, 1, 2].map(|n| layer.vlmetalayer(n)), [Some(7), Some(8), None]);
        for n in (0..nchunks).step_by(step.min(1000)).take(20_000) {
            let found = layer.sums(n, 0).unwrap();
            let found = found.map(|(state, sums)| {
                assert_eq!(state, EntryTrust::Sure);
                (0..sums.count).map(|index| sums.get(index).unwrap()).collect::<Vec<_>>()
            });
            assert_eq!(found, (n % step as u64 == 0).then(|| entries(n)), "chunk {n}");
        }
        assert!(layer.sums(nchunks, 0).unwrap().is_none());
    }
}

#[test]
fn entries_are_carried_to_other_numbers() {
    let stored = draft([1, 2], 5000, 1).store(b"", b"").unwrap();
    let layer = Layer::parse(&Arc::clone(&stored).into(), &Limits::default()).unwrap();
    let mut drafting = Drafting::new([1, 2], 5001);
    for n in 0..5000 {
        let (_, sums) = layer.sums(n, 0).unwrap().unwrap();
        let state = if n % 2 == 0 { EntryTrust::Doubtful } else { EntryTrust::Sure };
        drafting.carry(if n < 100 { n } else { n + 1 }, state, &sums).unwrap();
    }
    let stored = drafting.finish(Vec::new()).unwrap().unwrap().store(b"", b"").unwrap();
    let layer = Layer::parse(&Arc::clone(&stored).into(), &Limits::default()).unwrap();
    for n in 0..5000 {
        let (state, sums) = layer.sums(if n < 100 { n } else { n + 1 }, 0).unwrap().unwrap();
        assert_eq!(state == EntryTrust::Doubtful, n % 2 == 0);
        let found: Vec<u64> = (0..sums.count).map(|index| sums.get(index).unwrap()).collect();
        assert_eq!(found, entries(n));
    }
    assert!(layer.sums(100, 0).unwrap().is_none());
}

#[test]
fn a_layer_that_another_program_compressed_is_read() {
    let stored = draft([1, 2], 100, 1).store(b"header", b"").unwrap();
    let content = chunk::decode(&stored, &Limits::default(), &Exec::new(1)).unwrap();
    let packed: Arc<[u8]> = chunk::encode(&content, &Params::new(1), &Exec::new(1)).unwrap().into();
    assert!(packed != stored);
    let layer = Layer::parse(&Arc::clone(&packed).into(), &Limits::default()).unwrap();
    let (_, sums) = layer.sums(42, 0).unwrap().unwrap();
    assert_eq!((layer.header(), sums.get(2)), (&b"header"[..], entries(42).get(2).copied()));
    assert!(Layer::parse(&Arc::clone(&packed).into(), &Limits::default().with_max_meta_bytes(100)).is_err());
}

#[test]
fn segments_that_share_bytes_are_not_carried() {
    let stored = draft([1, 2], 10_000, 1).store(b"", b"").unwrap();
    let root_len = u32::from_le_bytes(stored[BEFORE + 12..][..4].try_into().unwrap()) as usize;
    // The list of three segments is the end of the root; the second says where it is behind its number.
    let place = BEFORE + root_len - 2 * LISTED + 8;
    for less in [0u64, 1, 4096] {
        let mut forged = stored.to_vec();
        let told = u64::from_le_bytes(forged[place..place + 8].try_into().unwrap());
        forged[place..place + 8].copy_from_slice(&(told - less).to_le_bytes());
        let layer = Layer::parse(&Arc::<[u8]>::from(forged).into(), &Limits::default()).unwrap();
        let mut drafting = Drafting::new([1, 2], 10_000);
        assert_eq!(drafting.carry_segment(0, &layer).unwrap(), less == 0);
        // What is whole is read, wherever it lies.
        assert_eq!(layer.sums(5000, 0).is_ok(), less == 0);
        assert_eq!(layer.sums(3, 0).unwrap().unwrap().1.get(2), entries(3).get(2).copied());
        assert!(layer.sums(9000, 0).unwrap().is_some());
    }
}

/// A layer of which only the root is at hand: segments come one by one, and what does not match is refused.
#[test]
fn segments_are_supplied_one_by_one() {
    let whole = draft([1, 2], 10_000, 1).store(b"header", b"").unwrap();
    let end = root_end(&whole).unwrap();
    let start = |bytes: &[u8]| StoredLayer::start(bytes[..end].into(), whole.len());
    let layer = Layer::parse(&start(&whole), &Limits::default()).unwrap();
    let (at, range) = layer.missing_segment(5000).unwrap();
    assert!(layer.sums(5000, 0).is_err() && layer.missing_segment(12_288).is_none());
    let mut forged = whole[range.clone()].to_vec();
    forged[77] ^= 1;
    assert!(!layer.supply_segment(at, &forged) && !layer.supply_segment(at, &forged[1..]));
    assert!(!layer.supply_segment(99, &whole[range.clone()]));
    assert!(layer.supply_segment(at, &whole[range]) && layer.missing_segment(5000).is_none());
    for n in 4096..8192 {
        let (_, sums) = layer.sums(n, 0).unwrap().unwrap();
        let found: Vec<u64> = (0..sums.count).map(|index| sums.get(index).unwrap()).collect();
        assert_eq!(found, entries(n));
    }
    assert!(layer.sums(3, 0).is_err() && layer.sums(9000, 0).is_err());
    // Segments that share bytes could be fetched many times over.
    let mut forged = whole.to_vec();
    let place = end - 2 * LISTED + 8;
    let told = u64::from_le_bytes(forged[place..place + 8].try_into().unwrap());
    forged[place..place + 8].copy_from_slice(&(told - 1).to_le_bytes());
    assert!(Layer::parse(&start(&forged), &Limits::default()).is_err());
}

/// Few bytes can speak for many chunks: what would become too long is given up before it is there.
#[test]
fn a_layer_that_gets_too_long_within_a_segment_is_given_up() {
    let mut drafting = Drafting::new([1, 2], 64);
    let many = vec![0; 1 << 20];
    for n in 0..64 {
        drafting.put(n, &many).unwrap();
        assert!(drafting.held() <= MOST_BYTES + (8 << 20) + 1000, "chunk {n}");
    }
    assert!(drafting.finish(Vec::new()).unwrap().is_none());
}

/// Every flipped bit of a trailer: no panic, and no entry that is another one.
#[test]
fn what_is_flipped_in_the_trailer_is_seen() {
    let mut trailer = Trailer::default();
    trailer.set("units", chunk::encode(b"\xa1K", &Params::new(1), &Exec::new(1)).unwrap()).unwrap();
    let stored = draft([1, 2], 30, 1).store(b"the header", b"the offsets").unwrap();
    let bytes = trailer.encode_with(Some(&stored)).unwrap();
    assert_eq!(bytes.len(), trailer.len_with(Some(stored.len())).unwrap());
    assert_eq!(trailer.encode_with(None).unwrap().len(), trailer.len_with(None).unwrap());
    let parse = |bytes: &[u8]| Trailer::parse(bytes, super::super::header::Dialect::Current);
    let whole = parse(&bytes).unwrap();
    assert_eq!((whole.checksums().1, whole.get("units")), (Seal::Intact, trailer.get("units")));
    let mut sealed = 0;
    for bit in 0..bytes.len() * 8 {
        let mut flipped = bytes.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        let Ok(found) = parse(&flipped) else { continue };
        let (Some(layer), Seal::Intact) = found.checksums() else { continue };
        sealed += 1;
        let layer = Layer::parse(layer, &Limits::default()).unwrap();
        let seen = (0..30).any(|n| layer.sums(n, 0).is_err());
        assert!(seen || found.get("units") != trailer.get("units"), "bit {bit}");
    }
    assert!(sealed > 500, "{sealed} flips lie in what the seal leaves out");
}
