//! Any bytes as a file, at any offset: mapped, read piece by piece, and in memory it is the same frame, and a map that is open
//! keeps what it had while a writer changes the file.
//!
//! The last 32 bytes of the input choose the offset and the changes.
#![no_main]

use b2nd::schunk::{frames, frames_in};
use b2nd::{Array, Durability, SChunk};
use b2nd_fuzz::chunks;
use b2nd_fuzz::place::Folder;
use libfuzzer_sys::arbitrary::Unstructured;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let (frame, choices) = data.split_at(data.len().saturating_sub(32));
    let before = choices.first().map_or(0, |&n| if n < 128 { 0 } else { usize::from(n) * 4 });
    let file = [vec![7; before], frame.to_vec()].concat();
    let folder = Folder::new();
    let path = folder.at("frame");
    std::fs::write(&path, &file).expect("a file");
    let options = b2nd_fuzz::options().with_offset(before as u64);
    let mapping = options.clone().with_mmap(true);
    let mapped = SChunk::open(&path, &mapping);
    let expected = chunks::outcome(&SChunk::from_bytes(file.clone(), &options));
    assert_eq!(chunks::outcome(&mapped), expected);
    assert_eq!(chunks::outcome(&SChunk::open(&path, &options)), expected);
    let array = Array::from_bytes(file.clone(), &options).and_then(|array| array.read_bytes(()));
    let same = Array::open_with(&path, &mapping).and_then(|array| array.read_bytes(()));
    assert_eq!(array.ok(), same.ok());
    let plain = b2nd_fuzz::options();
    let listed = |found: b2nd::Result<Vec<b2nd::schunk::FrameInfo>>| -> Option<Vec<(u64, u64)>> {
        Some(found.ok()?.iter().map(|info| (info.offset(), info.frame_len())).collect())
    };
    assert_eq!(listed(frames(&path, &plain)), listed(frames_in(&file, &plain)));
    let Ok(mapped) = mapped else { return };
    if !chunks::is_small(&mapped) {
        return;
    }
    let Ok(mut writer) =
        SChunk::open(&path, &options.clone().with_write(true).with_durability(Durability::None))
    else {
        return;
    };
    let model = chunks::follow(&mut Unstructured::new(choices), &mut writer);
    drop(writer);
    assert_eq!(Some(chunks::look(&mapped)), expected, "a reader keeps its state");
    if let Ok(Some(model)) = model {
        let again = SChunk::open(&path, &mapping).expect("what was changed");
        assert_eq!(chunks::read(&again).expect("a sound frame"), model);
    }
});
