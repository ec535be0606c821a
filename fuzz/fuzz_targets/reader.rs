//! Any bytes as a frame that is far away: opener and reader end, and read what a direct read does, in any order of answers.
//!
//! The last 32 bytes of the input choose the order.
#![no_main]

use b2nd::io::{FileId, FileRange, ReadBudget, Step};
use b2nd::schunk::Opener;
use b2nd::{Array, Layout, Result};
use libfuzzer_sys::arbitrary::Unstructured;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let (frame, choices) = data.split_at(data.len().saturating_sub(32));
    let options = b2nd_fuzz::options();
    let far = open(frame).and_then(|array| {
        if array.nbytes() > 1 << 22 {
            return Err(b2nd::Error::Cancelled);
        }
        let found = read(frame, &array, &mut Unstructured::new(choices))?;
        Ok((array, found))
    });
    let Ok((array, found)) = far else { return };
    let Ok(direct) = Array::from_bytes(frame.to_vec(), &options) else { return };
    // A header that a crash has torn is read as it was before by who has the whole file.
    if direct.schunk().metalayers().eq(array.schunk().metalayers())
        && direct.schunk().frame_len() == array.schunk().frame_len()
        && let Ok(expected) = direct.read_bytes(())
    {
        assert!(found == expected, "the reader gives other bytes than a direct read");
    }
});

fn answer<'a>(frame: &'a [u8], range: &FileRange) -> &'a [u8] {
    let end = usize::try_from(range.range.end).unwrap_or(usize::MAX).min(frame.len());
    let start = usize::try_from(range.range.start).unwrap_or(usize::MAX).min(end);
    &frame[start..end]
}

fn open(frame: &[u8]) -> Result<b2nd::array::ArraySnapshot> {
    let mut opener = Opener::new(Some(frame.len() as u64), Layout::Contiguous, &b2nd_fuzz::options());
    let mut steps = 0;
    while let Step::Need(ranges) = opener.step()? {
        steps += 1;
        assert!(steps < 10, "the opener does not end");
        for range in ranges {
            opener.supply(&range, answer(frame, &range))?;
        }
    }
    Array::from_snapshot(opener.finish()?)
}

fn read(frame: &[u8], array: &Array, u: &mut Unstructured<'_>) -> Result<Vec<u8>> {
    let budget =
        ReadBudget::new(u.int_in_range(1..=9).unwrap_or(4), 1 << u.int_in_range(4..=16).unwrap_or(12));
    let mut reader = array.reader(())?;
    let mut open: Vec<FileRange> = Vec::new();
    loop {
        match reader.step(&budget)? {
            Step::Done => return reader.finish(),
            Step::Need(ranges) => open.extend(ranges),
        }
        assert!(!open.is_empty(), "nothing is asked for and the reader is not done");
        let range = open.swap_remove(u.choose_index(open.len()).unwrap_or(0));
        let bytes = answer(frame, &range);
        let cut = u.int_in_range(0..=bytes.len()).unwrap_or(0);
        if cut > 0 && cut < bytes.len() && bytes.len() as u64 == range.len() && range.file == FileId::Frame {
            let middle = range.range.start + cut as u64;
            reader.supply(&FileRange::new(range.file, middle..range.range.end), &bytes[cut..])?;
            reader.supply(&FileRange::new(range.file, range.range.start..middle), &bytes[..cut])?;
        } else {
            reader.supply(&range, bytes)?;
        }
    }
}
