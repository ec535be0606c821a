//! Files of C-Blosc2, which have no checksums.

use super::support::{Original, is_sound, options};
use b2nd::{Array, Error, OpenOptions, SChunk, repair_bytes, s};
use b2nd_testkit::rng::Rng;
use std::path::Path;

/// The contiguous arrays that python-blosc2 wrote.
fn fixtures() -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/b2nd");
    let mut found: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_file() && path.extension().is_some_and(|end| end == "b2nd"))
        .map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), std::fs::read(&path).unwrap()))
        .collect();
    found.sort();
    assert!(found.len() > 30);
    found
}

fn items(bytes: &[u8]) -> Vec<u8> {
    Array::from_bytes(bytes.to_vec(), &OpenOptions::new()).unwrap().read_bytes(s![]).unwrap()
}

#[test]
fn what_is_sound_is_copied() {
    for (name, bytes) in fixtures() {
        let (whole, report) =
            repair_bytes(bytes.clone(), &options()).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert!(report.was_sound(), "{name}: {report}");
        assert_eq!(items(&whole), items(&bytes), "{name}");
        let frame = is_sound(whole, &report, &name);
        assert!(!frame.has_checksums().unwrap());
    }
}

#[test]
fn torn_lengths_are_put_right_without_a_guess() {
    for (name, bytes) in fixtures() {
        for range in [16..24, 39..47, 30..38, 0..10, 25..26] {
            for byte in [0, 0xff, 0x31] {
                let mut torn = bytes.clone();
                torn[range.clone()].fill(byte);
                let how = format!("{name}, {range:?} of {byte:x}");
                let (whole, report) = repair_bytes(torn, &options()).unwrap_or_else(|e| panic!("{how}: {e}"));
                assert!(report.is_whole(), "{how}: {report}");
                assert_eq!(items(&whole), items(&bytes), "{how}");
                is_sound(whole, &report, &how);
            }
        }
    }
}

#[test]
fn without_offsets_chunks_are_taken_in_the_order_of_lying() {
    let mut looked = 0;
    for (name, bytes) in fixtures() {
        let original = Original::of(bytes.clone());
        if original.places.iter().any(Option::is_none) || original.places.is_empty() {
            continue;
        }
        for cut in [false, true] {
            let mut torn = bytes.clone();
            if cut {
                torn.truncate(original.data_end + 5);
            } else {
                torn[original.data_end..original.data_end + 33].fill(0xee);
            }
            let how = format!("{name}, cut {cut}");
            let (whole, report) = repair_bytes(torn, &options()).unwrap_or_else(|e| panic!("{how}: {e}"));
            assert!(report.lost.is_empty() && !report.guesses.is_empty(), "{how}: {report}");
            let frame = is_sound(whole, &report, &how);
            let ascending = original.places.windows(2).all(|two| {
                two[0].as_ref().map(|place| place.start) < two[1].as_ref().map(|place| place.start)
            });
            if ascending {
                looked += 1;
                for (n, chunk) in original.chunks.iter().enumerate() {
                    assert_eq!(frame.decompress_chunk(n as u64).unwrap(), *chunk, "{how}: chunk {n}");
                }
            }
        }
    }
    assert!(looked > 30, "{looked}");
}

#[test]
fn a_lost_trailer_is_said_and_costs_no_chunk() {
    for (name, bytes) in fixtures() {
        let len = bytes.len();
        let mut torn = bytes.clone();
        torn[len - 23..].fill(0x55);
        let (whole, report) = repair_bytes(torn, &options()).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert!(report.lost.is_empty() && report.guesses.is_empty(), "{name}: {report}");
        assert_eq!(items(&whole), items(&bytes), "{name}");
        let (before, now) = (attributes(&bytes), attributes(&whole));
        assert_eq!(before, now, "{name}: they lie in front of what was damaged");
    }
}

fn attributes(bytes: &[u8]) -> Vec<(String, Vec<u8>)> {
    let frame = SChunk::from_bytes(bytes.to_vec(), &OpenOptions::new()).unwrap();
    let names: Vec<String> = frame.vlmetalayer_names().unwrap().map(str::to_owned).collect();
    names.into_iter().map(|name| (name.clone(), frame.vlmetalayer(&name).unwrap().unwrap())).collect()
}

#[test]
fn any_damage_gives_a_frame_or_an_error() {
    let all = fixtures();
    for run in 0..300 {
        let mut rng = Rng::for_part(13, run);
        let (name, bytes) = rng.pick(&all).clone();
        let damaged = super::support::damage(&bytes, &mut rng);
        let how = format!("run {run}: {name}, {}", damaged.how);
        match repair_bytes(damaged.bytes, &options()) {
            Ok((whole, report)) => drop(is_sound(whole, &report, &how)),
            Err(Error::Format(_) | Error::Limit { .. } | Error::Unsupported { .. }) => {}
            Err(other) => panic!("{how}: {other}"),
        }
    }
}
