//! Checksums of more chunks than one segment has: a commit carries over, unread, those of which no chunk has changed.

use super::*;
use crate::error::{Error, Part};
use b2nd_testkit::rng::Rng;

/// Two segments of 4096 chunks, and one chunk in a third.
const MANY: u64 = 8193;

/// A frame of chunks of one item each, these.
fn frame(items: &[u64]) -> SChunk {
    let create = CreateOptions::new(Params::new(8)).with_chunksize(8).with_checksums(true);
    let mut schunk = create.with_exec(Exec::new(1)).create_in_memory().unwrap();
    let mut filling = schunk.transaction();
    items.iter().try_for_each(|item| filling.append(&item.to_le_bytes())).unwrap();
    filling.commit().unwrap();
    schunk
}

fn bytes_of(items: &[u64]) -> Vec<u8> {
    items.iter().flat_map(|item| item.to_le_bytes()).collect()
}

fn read(bytes: Vec<u8>) -> SChunk {
    SChunk::from_bytes(bytes, &options().with_write(true)).unwrap()
}

#[test]
fn checksums_of_many_chunks_follow_them_through_every_change() {
    let items: Vec<u64> = (1..=MANY).collect();
    let schunk = frame(&items);
    let mut doubtful = schunk.to_bytes().unwrap();
    let fingerprint = doubtful.len() - 16;
    doubtful[fingerprint..].fill(0);
    every_change(schunk, items.clone());
    every_change(read(doubtful), items);
}

fn every_change(mut schunk: SChunk, mut items: Vec<u64>) {
    let mut rng = Rng::new(5);
    for round in 0..28u64 {
        let (n, item) = (rng.below(items.len() as u64), rng.next_u64() | 1);
        match round % 7 {
            0 => {
                schunk.append(&item.to_le_bytes()).unwrap();
                items.push(item);
            }
            1 => {
                schunk.update(n, &item.to_le_bytes()).unwrap();
                items[n as usize] = item;
            }
            2 => schunk.set_vlmetalayer("round", &[round as u8]).unwrap(),
            // These give the chunks behind them other numbers, but leave the segments before.
            3 => {
                schunk.delete(n).unwrap();
                items.remove(n as usize);
            }
            4 => {
                schunk.insert(n, &item.to_le_bytes()).unwrap();
                items.insert(n as usize, item);
            }
            5 => {
                let mut dropped = schunk.transaction();
                dropped.update(n, &item.to_le_bytes()).unwrap();
                dropped.delete(0).unwrap();
            }
            _ => {
                let mut order: Vec<u64> = (0..items.len() as u64).collect();
                order.swap(7, 4096);
                schunk.reorder(&order).unwrap();
                items.swap(7, 4096);
            }
        }
        if round % 5 == 4 {
            schunk = read(schunk.to_bytes().unwrap());
        }
        let found = schunk.verify().unwrap();
        assert!(found.is_sound() && found.stale.is_empty() && found.unchecked == 0, "{round}: {found:?}");
        assert_eq!(found.matching, items.len() as u64, "{round}");
        assert!(contents(&schunk).unwrap().concat() == bytes_of(&items), "{round}");
    }
}

#[test]
fn a_damaged_segment_stays_damaged_through_commits() {
    let items: Vec<u64> = (1..=MANY).collect();
    let mut bytes = frame(&items).to_bytes().unwrap();
    let root = bytes.windows(8).rposition(|window| window == b"b2nd\0sum").unwrap();
    let root_len = u32::from_le_bytes(bytes[root + 12..root + 16].try_into().unwrap()) as usize;
    // An entry of the first segment, behind the words of its 4096 chunks.
    bytes[root + root_len + 4096 * 4 + 100] ^= 4;
    let temp = TempDir::new("segments");
    let path = temp.path("frame");
    std::fs::write(&path, bytes).unwrap();
    let told = |schunk: &SChunk| match schunk.decompress_chunk(3) {
        Err(Error::Format(error)) => error.part(),
        other => panic!("{other:?}"),
    };
    let mut schunk = SChunk::open(&path, &options().with_write(true)).unwrap();
    assert_eq!(told(&schunk), Part::Checksums);
    schunk.append(&77u64.to_le_bytes()).unwrap();
    schunk.update(5000, &78u64.to_le_bytes()).unwrap();
    for _ in 0..2 {
        assert_eq!(told(&schunk), Part::Checksums);
        assert_eq!(schunk.decompress_chunk(5000).unwrap(), 78u64.to_le_bytes());
        assert_eq!(schunk.decompress_chunk(MANY).unwrap(), 77u64.to_le_bytes());
        schunk = reopened(schunk, &path);
    }
    // A change in that segment has to read it.
    let refused = schunk.update(3, &79u64.to_le_bytes());
    assert!(matches!(refused, Err(Error::Format(_))), "{refused:?}");
    assert_eq!(schunk.decompress_chunk(5000).unwrap(), 78u64.to_le_bytes());
}

#[test]
fn what_another_writer_changes_is_noticed_but_for_the_segments() {
    let temp = TempDir::new("noticed");
    let path = temp.path("frame");
    let mut whole = frame(&(1..=MANY).collect::<Vec<u64>>());
    whole.set_vlmetalayer("note", b"\xa5hello").unwrap();
    let whole = whole.to_bytes().unwrap();
    let root = whole.windows(8).rposition(|window| window == b"b2nd\0sum").unwrap();
    let root_len = u32::from_le_bytes(whole[root + 12..root + 16].try_into().unwrap()) as usize;
    let note = whole.windows(6).rposition(|window| window == b"\xa5hello").unwrap();
    let header = &SChunk::from_bytes(whole.clone(), &options()).unwrap().header;
    let index = (header.len() + header.cbytes()) as usize;
    let (segment, end) = (root + root_len + 100, whole.len());
    for at in
        [index, index + 40, note + 2, root + 20, root + root_len - 1, segment, end - 23, end - 17, end - 1]
    {
        std::fs::write(&path, &whole).unwrap();
        let mut schunk = SChunk::open(&path, &options().with_write(true)).unwrap();
        let mut changed = whole.clone();
        changed[at] ^= 3;
        // In place, as a program that does not replace the file.
        std::io::Write::write_all(
            &mut std::fs::OpenOptions::new().write(true).open(&path).unwrap(),
            &changed,
        )
        .unwrap();
        let done = schunk.append(&9u64.to_le_bytes());
        if at == segment {
            // Nobody writes there alone. What the handle knows of them is written again.
            done.unwrap();
            let found = reopened(schunk, &path).verify().unwrap();
            assert!(found.is_sound() && found.matching == MANY + 1, "{found:?}");
        } else {
            assert!(matches!(done, Err(Error::Changed { .. })), "byte {at}: {done:?}");
        }
    }
}
