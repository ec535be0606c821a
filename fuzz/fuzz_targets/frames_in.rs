//! Any bytes as a file of frames: each that is listed opens by its number as by its offset, or neither way; owned, shared, lent
//! bytes and a store of the caller's give the same frame.
#![no_main]

use b2nd::io::{FileId, ReadStore};
use b2nd::schunk::frames_in;
use b2nd::{Array, Error, Layout, Result, SChunk};
use libfuzzer_sys::fuzz_target;
use std::sync::Arc;

fuzz_target!(|data: &[u8]| {
    let options = b2nd_fuzz::options();
    let Ok(frames) = frames_in(data, &options) else {
        // What is no frame at its start and holds none has no first one either.
        assert!(SChunk::from_bytes(data.to_vec(), &options.with_frame(0)).is_err());
        return;
    };
    let mut end = 0;
    for (n, info) in frames.iter().enumerate().take(8) {
        assert!(info.offset() >= end, "frames do not overlap");
        end = info.offset() + info.frame_len();
        assert!(end <= data.len() as u64, "a frame lies inside its file");
        let by_number = SChunk::from_bytes(data.to_vec(), &options.clone().with_frame(n as u64));
        let at = options.clone().with_offset(info.offset());
        let by_offset = SChunk::from_bytes(data.to_vec(), &at);
        let first = outcome(&by_number);
        assert_eq!(first, outcome(&by_offset));
        let shared: std::sync::Arc<[u8]> = data.into();
        assert_eq!(first, outcome(&SChunk::from_shared(shared, &at)));
        assert_eq!(first, SChunk::with_borrowed(data, &at, |frame| Ok(look(frame))).ok());
        let rest = Arc::new(Plain(data[info.offset() as usize..].to_vec()));
        assert_eq!(first, outcome(&SChunk::open_store(rest, Layout::Contiguous, &options)));
        let array = Array::with_borrowed(data, &at, |array| array.read_bytes(())).ok();
        let owned = Array::from_bytes(data.to_vec(), &at).and_then(|array| array.read_bytes(()));
        assert_eq!(array, owned.ok());
    }
    let writing = options.with_frame(frames.len() as u64 - 1).with_write(true);
    if let Ok(mut last) = SChunk::from_bytes(data.to_vec(), &writing) {
        let before = look(&last);
        if last.set_vlmetalayer("note", b"something new").is_ok() {
            let mut after = look(&last);
            // A forged offset past the end may lead to a chunk once the frame is longer.
            before
                .3
                .iter()
                .zip(&mut after.3)
                .filter(|(chunk, _)| chunk.is_none())
                .for_each(|(_, now)| *now = None);
            assert_eq!(before, after);
            assert_eq!(last.vlmetalayer("note").expect("it was just set"), Some(b"something new".to_vec()));
        }
    }
});

/// What a frame says of itself, and its first chunks.
type Looked = (u64, u64, u64, Vec<Option<Vec<u8>>>);

fn look(frame: &SChunk) -> Looked {
    let chunks = (0..frame.nchunks().min(4)).map(|n| frame.decompress_chunk(n).ok());
    (frame.nchunks(), frame.nbytes(), frame.nitems(), chunks.collect())
}

fn outcome(frame: &Result<SChunk>) -> Option<Looked> {
    frame.as_ref().ok().map(look)
}

/// Bytes behind the smallest store that a caller could bring.
#[derive(Debug)]
struct Plain(Vec<u8>);

impl ReadStore for Plain {
    fn len(&self, _: FileId) -> Result<u64> {
        Ok(self.0.len() as u64)
    }

    fn read_at(&self, _: FileId, offset: u64, buf: &mut [u8]) -> Result<()> {
        let start = usize::try_from(offset).map_err(|_| Error::Usage("far away".into()))?;
        let end = start.checked_add(buf.len()).ok_or_else(|| Error::Usage("far away".into()))?;
        buf.copy_from_slice(self.0.get(start..end).ok_or_else(|| Error::Usage("past the end".into()))?);
        Ok(())
    }
}
