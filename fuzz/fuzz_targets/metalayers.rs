//! Any bytes as the metalayer of an array, under either name, in a frame that has the chunks it speaks of: what opens says what
//! a plain reading of the bytes says, reads under any selection, and is written and read again alike.
//!
//! The first byte chooses name and special chunks, the last 32 the selections.
#![no_main]

use b2nd::chunk::Special;
use b2nd::schunk::CreateOptions;
use b2nd::{Array, Error, Exec, Params};
use b2nd_fuzz::pick::Pick;
use b2nd_testkit::nd::NaiveArray;
use libfuzzer_sys::arbitrary::Unstructured;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((&first, rest)) = data.split_first() else { return };
    let (content, choices) = rest.split_at(rest.len().saturating_sub(32));
    let plain = Plain::read(content);
    let itemsize = choices.first().map_or(1, |&n| u32::from(n % 32) + 1);
    let name = if first & 1 == 0 { "b2nd" } else { "caterva" };
    // A frame with the chunks that the metalayer asks for, where there are such.
    let (nchunks, chunk) = plain.as_ref().and_then(|plain| plain.geometry(itemsize)).unwrap_or((1, 64));
    let create = CreateOptions::new(Params::new(itemsize)).with_chunksize(chunk).with_exec(Exec::new(1));
    let create = create.with_limits(b2nd_fuzz::limits()).with_metalayer(name, content);
    let kind = if first & 2 == 0 { Special::Zeros } else { Special::Uninit };
    let nitems = nchunks.saturating_mul(u64::from(chunk)) / u64::from(itemsize);
    let Ok(mut frame) = create.create_in_memory() else { return };
    if frame.fill(kind, &[], nitems).is_err() {
        return;
    }
    let Ok(bytes) = frame.to_bytes() else { return };
    let options = b2nd_fuzz::options();
    let Ok(array) = Array::from_bytes(bytes, &options) else { return };
    let plain = plain.expect("what opens can be read");
    assert_eq!(array.shape(), plain.shape);
    assert_eq!(array.chunks(), plain.chunks);
    assert_eq!(array.blocks(), plain.blocks);
    assert_eq!(array.dtype().itemsize(), itemsize as usize);
    let items = plain.shape.iter().fold(1u64, |n, &len| n.saturating_mul(len));
    assert_eq!(array.size(), items);
    let whole = array.read_bytes(());
    assert!(matches!(whole, Ok(_) | Err(Error::Limit { .. })), "{:?}", whole.err());
    match array.verify() {
        Ok(found) => assert!(found.is_sound()),
        // The index is read when it is asked for, and may claim more than the limits of this target allow.
        Err(error) => {
            assert!(matches!(error, Error::Limit { .. }), "{error}");
            return;
        }
    }
    let again = array.to_bytes().and_then(|bytes| Array::from_bytes(bytes, &options)).expect("a copy");
    assert_eq!((again.shape(), again.dtype()), (array.shape(), array.dtype()));
    if items <= 1 << 12 && array.ndim() <= 8 && plain.shape.iter().all(|&n| n <= 1 << 12) {
        let shape: Vec<usize> = plain.shape.iter().map(|&n| n as usize).collect();
        let model = NaiveArray::zeros(&shape, itemsize as usize);
        let mut u = Unstructured::new(choices);
        for _ in 0..3 {
            if let Ok(pick) = Pick::any(&mut u, &model.shape) {
                pick.check(&array, &model);
            }
        }
    }
});

/// What a metalayer says of the geometry, read with no care for what it means.
struct Plain {
    shape: Vec<u64>,
    chunks: Vec<u64>,
    blocks: Vec<u64>,
}

impl Plain {
    fn read(content: &[u8]) -> Option<Self> {
        let ndim = usize::from(*content.get(2)?);
        let mut at = 4;
        let mut list = |len: usize| {
            let found: Option<Vec<u64>> = (0..ndim)
                .map(|_| {
                    let bytes = content.get(at + 1..at + 1 + len)?;
                    at += 1 + len;
                    // A length below zero is one that no array has.
                    Some(bytes.iter().fold(0, |n, &byte| n << 8 | u64::from(byte)))
                })
                .collect();
            at += 1;
            found
        };
        Some(Plain { shape: list(8)?, chunks: list(4)?, blocks: list(4)? })
    }

    /// The number of chunks and the bytes of one, padded to whole blocks.
    fn geometry(&self, itemsize: u32) -> Option<(u64, u32)> {
        let (mut count, mut chunk) = (1u64, u64::from(itemsize));
        for ((&len, &of), &block) in self.shape.iter().zip(&self.chunks).zip(&self.blocks) {
            count = count.checked_mul(len.div_ceil(of.max(1)))?;
            chunk = chunk.checked_mul(of.div_ceil(block.max(1)).checked_mul(block)?)?;
        }
        Some((count, u32::try_from(chunk).ok()?))
    }
}
