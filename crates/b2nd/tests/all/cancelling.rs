//! Reads and writes are cancelled between the blocks of one chunk, however the chunk is stored.

use b2nd::{Array, Cancel, Codec, Dtype, Error, Exec, OpenOptions, Options, Params, s};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const SHAPE: [u64; 2] = [1024, 512];

/// A switch that is thrown at a certain question.
#[derive(Clone)]
struct Patience(Arc<AtomicUsize>);

impl Patience {
    fn new() -> Self {
        Patience(Arc::new(AtomicUsize::new(usize::MAX)))
    }
    fn exec(&self, threads: usize) -> Exec {
        let left = Arc::clone(&self.0);
        Exec::new(threads).with_cancel(Cancel::asking(move || left.fetch_sub(1, Ordering::Relaxed) == 0))
    }
    /// Runs `work`, which is cancelled when it asks for the second time.
    fn ends<T>(&self, work: impl FnOnce() -> Result<T, Error>) -> bool {
        self.0.store(1, Ordering::Relaxed);
        let result = work();
        self.0.store(usize::MAX, Ordering::Relaxed);
        matches!(result, Err(Error::Cancelled))
    }
}

/// One chunk of 32 blocks of 64 KiB.
fn options(clevel: u8) -> Options {
    let params = Params::new(4).with_codec(Codec::Lz4).with_clevel(clevel);
    Options::new().with_chunks(SHAPE).with_blocks([128, 128]).with_params(params)
}

#[test]
fn a_write_is_cancelled_between_the_blocks_of_one_chunk() {
    for threads in [1, 2] {
        let patience = Patience::new();
        let options = options(5).with_exec(patience.exec(threads));
        let mut array = options.create_in_memory(Dtype::parse("<u4").unwrap(), SHAPE).unwrap();
        let items: Vec<u32> = (0..1024 * 512).collect();
        array.write_items(s![], &items).unwrap();
        assert!(patience.ends(|| array.write_items(s![.., 7..9], &[1u32; 2048])), "{threads} threads");
        assert_eq!(array.read_items::<u32>(s![]).unwrap(), items);
    }
}

#[test]
fn a_read_is_cancelled_between_the_blocks_of_one_chunk() {
    // Compressed blocks, a chunk that is stored as it is, and one of zeros.
    for (clevel, written) in [(5, true), (0, true), (5, false)] {
        let mut array = options(clevel).create_in_memory(Dtype::parse("<u4").unwrap(), SHAPE).unwrap();
        if written {
            array.write_items(s![], &(0..1024 * 512).collect::<Vec<u32>>()).unwrap();
        }
        let patience = Patience::new();
        let opened = OpenOptions::new().with_exec(patience.exec(1));
        let array = Array::from_bytes(array.to_bytes().unwrap(), &opened).unwrap();
        assert!(patience.ends(|| array.read_bytes(s![])), "level {clevel}, written: {written}");
        let (chunk, exec) = (array.schunk().chunk(0).unwrap(), patience.exec(1));
        let decoded = || b2nd::chunk::decode(&chunk, array.schunk().limits(), &exec);
        assert!(patience.ends(decoded), "level {clevel}, written: {written}");
    }
}
