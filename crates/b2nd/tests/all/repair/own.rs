//! Files that b2nd wrote, with their checksums.

use super::support::{
    Damaged, Original, TempDir, array, damage, is_sound, lost_is_damaged, options, repaired, special,
};
use b2nd::chunk::Special;
use b2nd::{Array, OpenOptions, SChunk, repair, repair_bytes, repair_in_place, s};
use b2nd_testkit::rng::Rng;

/// Damages of each kind that the daily check tries; `B2ND_REPAIRS` says another number.
const RANDOM: u64 = 400;

fn random() -> u64 {
    std::env::var("B2ND_REPAIRS").ok().and_then(|n| n.parse().ok()).unwrap_or(RANDOM)
}

#[test]
fn what_is_sound_is_copied_and_nothing_is_said_to_be_wrong() {
    for seed in 0..4 {
        let original = array(seed);
        let whole = Damaged { bytes: original.bytes.clone(), gone: vec![], how: format!("sound, {seed}") };
        let report = repaired(&original, &whole).unwrap();
        assert!(report.was_sound() && report.left_out.is_empty(), "{report}");
        assert_eq!(report.matching, original.places.iter().flatten().count() as u64);
    }
}

#[test]
fn random_damage_costs_what_it_hits_and_no_more() {
    let mut found = 0;
    for run in 0..random() {
        let mut rng = Rng::for_part(7, run);
        let original = array(run % 8);
        let mut damaged = damage(&original.bytes, &mut rng);
        damaged.how = format!("run {run}, {}", damaged.how);
        if let Some(report) = repaired(&original, &damaged) {
            lost_is_damaged(&original, &damaged, &report);
            found += 1;
        }
    }
    // What is cut off near its start has nothing left.
    assert!(found * 100 >= random() * 90, "{found} of {}", random());
}

/// An array of so many chunks, each of six blocks, that were written at once.
fn few(chunks: u64) -> Original {
    let dir = TempDir::new("few");
    let path = dir.0.join("a.b2nd");
    let items: Vec<f32> = (0..chunks * 6000).map(|n| (n as f32 * 0.01).sin()).collect();
    let mut array = b2nd::Options::new()
        .with_chunks([6000])
        .with_blocks([1000])
        .create(&path, b2nd::Dtype::parse("<f4").unwrap(), [chunks * 6000])
        .unwrap();
    array.write_items(s![], &items).unwrap();
    drop(array);
    Original::of(std::fs::read(&path).unwrap())
}

/// A bit of block `block` of each of these chunks is another.
fn flipped(original: &Original, chunks: u64, block: usize) -> Damaged {
    let mut bytes = original.bytes.clone();
    let mut gone = Vec::new();
    for place in original.places.iter().take(chunks as usize).flatten() {
        let start = i32::from_le_bytes(bytes[place.start + 32 + 4 * block..][..4].try_into().unwrap());
        let at = place.start + start as usize + 40;
        bytes[at] ^= 4;
        gone.push(at..at + 1);
    }
    Damaged { bytes, gone, how: format!("block {block} of {chunks}") }
}

#[test]
fn where_no_chunk_is_whole_the_damaged_blocks_are_lost_all_the_same() {
    for chunks in [1, 2] {
        let original = few(chunks);
        for block in 0..6 {
            let damaged = flipped(&original, chunks, block);
            let report = repaired(&original, &damaged).unwrap();
            let lost: Vec<_> = report.lost.iter().map(|place| (place.chunk, place.block)).collect();
            let expected: Vec<_> = (0..chunks).map(|n| (n, Some(block as u32))).collect();
            assert_eq!((lost, report.guesses.len()), (expected, 0), "{report}");
            lost_is_damaged(&original, &damaged, &report);
        }
    }
}

#[test]
fn where_no_chunk_is_whole_those_without_a_whole_block_are_lost() {
    // One block, and one entry of the checksums: nothing of the chunks matches, and they decode.
    let original = {
        let items: Vec<u8> = (0..1000u32).map(|n| (n * n % 251) as u8).collect();
        let params = b2nd::Params::new(1).with_codec(b2nd::Codec::Lz4).with_clevel(0);
        let options = b2nd::Options::new().with_params(params).with_chunks([500]).with_blocks([500]);
        let dir = TempDir::new("tiny");
        let path = dir.0.join("a.b2nd");
        let mut array = options.create(&path, b2nd::Dtype::parse("|u1").unwrap(), [1000]).unwrap();
        array.write_items(s![], &items).unwrap();
        drop(array);
        Original::of(std::fs::read(&path).unwrap())
    };
    let mut damaged = Damaged { bytes: original.bytes.clone(), gone: vec![], how: "both".to_owned() };
    for place in original.places.iter().flatten() {
        damaged.bytes[place.end - 100] ^= 1;
        damaged.gone.push(place.end - 100..place.end - 99);
    }
    let report = repaired(&original, &damaged).unwrap();
    let lost: Vec<_> = report.lost.iter().map(|place| (place.chunk, place.block)).collect();
    assert_eq!((lost, report.guesses.len()), (vec![(0, None), (1, None)], 0), "{report}");
}

#[test]
fn a_damaged_seal_does_not_make_a_damaged_block_right() {
    // The last bytes of the trailer are its checksum: what the blocks match proves the others.
    let original = few(1);
    for block in 0..6 {
        let mut damaged = flipped(&original, 1, block);
        let len = damaged.bytes.len();
        damaged.bytes[len - 2] ^= 1;
        damaged.gone.push(len - 2..len - 1);
        let report = repaired(&original, &damaged).unwrap();
        let lost: Vec<_> = report.lost.iter().map(|place| (place.chunk, place.block)).collect();
        assert_eq!(lost, [(0, Some(block as u32))], "{report}");
    }
}

#[test]
fn a_flipped_bit_anywhere_costs_a_block_at_most() {
    let original = array(1);
    for byte in 0..original.bytes.len() {
        let mut bytes = original.bytes.clone();
        bytes[byte] ^= 1 << (byte % 8);
        let gone = vec![byte..byte + 1];
        let damaged = Damaged { bytes, gone, how: format!("bit {} of byte {byte}", byte % 8) };
        let report =
            repaired(&original, &damaged).unwrap_or_else(|| panic!("nothing was found: byte {byte}"));
        let lost = report.lost.len() + report.lost_metalayers.len();
        // Of a trailer that does not match its checksum nobody knows whether names are wrong, or checksums.
        let guesses = 2 * usize::from(byte >= original.data_end);
        assert!(lost <= 1 && report.guesses.len() <= guesses, "{}:\n{report}", damaged.how);
        lost_is_damaged(&original, &damaged, &report);
    }
}

#[test]
fn every_cut_keeps_what_is_before_it() {
    let original = array(2);
    for len in (0..original.bytes.len()).rev().step_by(7) {
        let bytes = original.bytes[..len].to_vec();
        let damaged = Damaged { bytes, gone: vec![len..original.bytes.len()], how: format!("cut at {len}") };
        repaired(&original, &damaged);
    }
}

#[test]
fn offsets_that_are_gone_are_made_anew_and_proven() {
    for original in
        [array(1), array(2), special(Special::Zeros), special(Special::Nan), special(Special::Uninit)]
    {
        let mut bytes = original.bytes.clone();
        let at = original.data_end;
        bytes[at..at + 40].fill(0xff);
        let damaged = Damaged { bytes, gone: vec![], how: "offsets".to_owned() };
        let report = repaired(&original, &damaged).unwrap();
        assert!(report.is_whole() && !report.restored.is_empty(), "{report}");
    }
}

#[test]
fn a_header_that_is_gone_is_taken_from_its_copy() {
    let original = array(3);
    for range in [0..8, 0..60, 15..24, 30..38, 0..140] {
        let mut bytes = original.bytes.clone();
        bytes[range.clone()].fill(0);
        let damaged = Damaged { bytes, gone: vec![], how: format!("zeros at {range:?}") };
        let report = repaired(&original, &damaged).unwrap();
        assert!(report.is_whole() && !report.restored.is_empty(), "{range:?}: {report}");
    }
}

#[test]
fn bytes_that_were_put_in_or_taken_out_move_no_chunk_out_of_reach() {
    let original = array(5);
    let places: Vec<_> = original.places.iter().flatten().cloned().collect();
    let last = places.iter().max_by_key(|place| place.start).unwrap();
    let mut longer = original.bytes.clone();
    longer.splice(last.start..last.start, [7; 100]);
    let report = repaired(&original, &Damaged { bytes: longer, gone: vec![], how: "put in".into() }).unwrap();
    assert!(report.lost.is_empty() && report.lost_metalayers.is_empty(), "{report}");
    let mut shorter = original.bytes.clone();
    shorter.drain(last.start + 40..last.start + 50);
    let how = "taken out".to_owned();
    let report = repaired(&original, &Damaged { bytes: shorter, gone: vec![], how }).unwrap();
    let lost: Vec<u64> = report.lost.iter().map(|place| place.chunk).collect();
    let one = original.places.iter().position(|place| place.as_ref() == Some(last)).unwrap() as u64;
    assert!(lost.iter().all(|n| *n == one) && !lost.is_empty(), "{report}");
}

#[test]
fn lost_blocks_hold_the_fill_and_are_named_with_their_items() {
    let original = array(1);
    let (n, place) = original.places.iter().enumerate().find_map(|(n, p)| Some((n, p.clone()?))).unwrap();
    let mut bytes = original.bytes.clone();
    bytes[place.end - 3] ^= 0x55;
    let (whole, report) = repair_bytes(bytes, &options().with_fill(Special::Zeros)).unwrap();
    let [lost] = &report.lost[..] else { panic!("{report}") };
    assert_eq!(lost.chunk, n as u64);
    let array = Array::from_bytes(whole, &OpenOptions::new()).unwrap();
    let axes: Vec<_> = lost.start.iter().zip(&lost.stop).map(|(a, b)| *a..*b).collect();
    let items = array.read_bytes(s![axes[0].clone(), axes[1].clone()]).unwrap();
    assert!(!items.is_empty() && items.iter().all(|byte| *byte == 0));
    assert!(report.to_string().contains(&format!("lost: chunk {n}")), "{report}");
    let b2nd::Error::Format(error) = &lost.error else { panic!("{:?}", lost.error) };
    let range = error.bytes().unwrap();
    assert!(range.contains(&(place.end as u64 - 3)), "{range:?} {place:?}");
}

#[test]
fn an_old_copy_of_a_chunk_is_never_taken_for_it() {
    // Both states of the chunk lie in the file, whole; the offsets are gone.
    let dir = TempDir::new("old");
    let path = dir.0.join("a.b2nd");
    let options = b2nd::Options::new().with_chunks([100]).with_blocks([100]);
    let mut a = options.create(&path, b2nd::Dtype::parse("<i4").unwrap(), [300]).unwrap();
    for state in 1..=3 {
        a.write_items(s![], &(0..300).map(|n| n * 1_234_567 * state).collect::<Vec<i32>>()).unwrap();
    }
    let wanted = a.read_bytes(s![]).unwrap();
    drop(a);
    let original = super::support::Original::of(std::fs::read(&path).unwrap());
    let mut bytes = original.bytes.clone();
    bytes[original.data_end..original.data_end + 30].fill(1);
    let (whole, report) = repair_bytes(bytes, &super::support::options()).unwrap();
    assert!(report.is_whole(), "{report}");
    assert_eq!(Array::from_bytes(whole, &OpenOptions::new()).unwrap().read_bytes(s![]).unwrap(), wanted);
}

#[test]
fn the_damaged_file_stays_as_it_is_and_keeps_its_bytes_in_place_too() {
    let dir = TempDir::new("files");
    let (path, out) = (dir.0.join("a.b2nd"), dir.0.join("b.b2nd"));
    let original = array(4);
    let torn = &original.bytes[..original.data_end];
    std::fs::write(&path, torn).unwrap();
    let report = repair(&path, &out, &options()).unwrap();
    assert!(report.original.is_none());
    assert_eq!(std::fs::read(&path).unwrap(), torn);
    is_sound(std::fs::read(&out).unwrap(), &report, "a file");
    assert!(repair(&path, &out, &options()).is_err(), "it was overwritten");
    assert!(repair(&path, &path, &options().with_overwrite(true)).is_err(), "the original was overwritten");

    let report = repair_in_place(&path, &options()).unwrap();
    let kept = report.original.clone().unwrap();
    assert_eq!((kept.clone(), std::fs::read(&kept).unwrap()), (dir.0.join("a.b2nd.orig"), torn.to_vec()));
    let frame = is_sound(std::fs::read(&path).unwrap(), &report, "in place");
    assert_eq!(frame.nchunks(), original.chunks.len() as u64);
    let mut names: Vec<_> = std::fs::read_dir(&dir.0).unwrap().map(|e| e.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["a.b2nd", "a.b2nd.orig", "b.b2nd"]);
    // Now it is sound, and a second repair has nothing to do.
    let again = repair_in_place(&path, &options()).unwrap();
    assert!(again.was_sound() && again.original.is_none(), "{again}");
    assert!(SChunk::open(&path, &OpenOptions::new()).is_ok());
}

/// A frame of items of 0x2f00 bytes all of whose chunks are said to be NaN, found by fuzzing.
const NO_NAN: &str = "\
    9ea862326672616d6500d200000061cf00000000000000aca412005102d30000000000004e3cd30000000000000000d2\
    2f000004d200000fa0d200000fa0d10001d10002c2d8060000000000010100000000000000000093cd0007de0000dc00\
    0005010508300000003000000028000000000000000000000000000000000000300000000000000082940193cd0006de\
    0000dc0000ce00000023d80000000000000000000000000000000000\
";

#[test]
fn items_that_cannot_be_nan_are_none() {
    let hex = |n: usize| u8::from_str_radix(&NO_NAN[n..n + 2], 16).unwrap();
    let bytes: Vec<u8> = (0..NO_NAN.len()).step_by(2).map(hex).collect();
    if let Ok((whole, report)) = repair_bytes(bytes, &options()) {
        assert_eq!(report.lost_places, report.chunks, "{report}");
        is_sound(whole, &report, "no NaN");
    }
}

#[test]
fn any_bytes_give_a_frame_or_an_error() {
    for run in 0..random() {
        let mut rng = Rng::for_part(11, run);
        let mut bytes = array(run % 4).bytes;
        for _ in 0..1 + rng.below(6) {
            bytes = damage(&bytes, &mut rng).bytes;
            if bytes.is_empty() {
                break;
            }
        }
        if let Ok((whole, report)) = repair_bytes(bytes, &options()) {
            is_sound(whole, &report, &format!("run {run}"));
        }
    }
    for len in [0, 1, 16, 100, 5000] {
        assert!(repair_bytes(vec![0; len], &options()).is_err());
        assert!(repair_bytes(vec![5; len], &options()).is_err());
    }
}
