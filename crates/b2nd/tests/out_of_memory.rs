//! Every large allocation of reads and writes is refused once: each gives an error that says so, or the operation does
//! without. Nothing aborts, and what was refused is right at the next try.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking, in its helper functions too"
)]

use b2nd::{
    Array, Codec, Dtype, Error, Exec, Filter, OpenOptions, Options, Params, Pipeline, Result, SaveOptions, s,
};
use b2nd_testkit::refuse::{Refusing, refuse, stop};
use b2nd_testkit::rng::Rng;

#[global_allocator]
static ALLOCATOR: Refusing = Refusing;

/// Blocks have 256 KiB, chunks 1 MiB; the tables of codecs, which no input makes larger, stay below this.
const LARGE: usize = 80 << 10;
const SHAPE: [u64; 2] = [700, 600];

fn array(codec: Codec, filter: Filter) -> Vec<u8> {
    let pipeline = Pipeline::new().push(filter, 0).unwrap();
    let params = Params::new(4).with_codec(codec).with_clevel(5).with_pipeline(pipeline);
    let new = Options::new()
        .with_exec(Exec::new(1))
        .with_params(params)
        .with_chunks([512, 512])
        .with_blocks([256, 256]);
    let mut array = new.create_in_memory(Dtype::parse("<u4").unwrap(), SHAPE).unwrap();
    array.write_bytes((), &items(700 * 600)).unwrap();
    array.to_bytes().unwrap()
}

fn items(len: usize) -> Vec<u8> {
    let mut rng = Rng::new(len as u64);
    (0..len).flat_map(|n| ((n as u32 / 3) ^ (rng.next_u64() as u32 & 0xff)).to_le_bytes()).collect()
}

fn open(bytes: Vec<u8>) -> Result<Array> {
    Array::from_bytes(bytes, &OpenOptions::new().with_write(true).with_exec(Exec::new(1)))
}

fn in_threads(a: &mut Array) -> &mut Array {
    a.set_exec(Exec::new(3));
    a
}

/// Refuses each large allocation of an operation in turn.
fn refuse_each(name: &str, bytes: &[u8], operation: impl Fn(&mut Array) -> Result<()>) -> usize {
    for before in 0..1000 {
        let (copy, mut again) = (bytes.to_vec(), open(bytes.to_vec()).unwrap());
        refuse(LARGE, before);
        let mut array = open(copy);
        let result = match &mut array {
            Ok(array) => operation(array),
            Err(Error::OutOfMemory { .. }) => Ok(()),
            Err(other) => panic!("{name}, {before} before: opening failed with {other}"),
        };
        let refused = stop();
        match result {
            Err(Error::OutOfMemory { .. }) if refused => {
                let mut array = array.unwrap();
                // It failed whole, and there is memory now.
                operation(&mut array).unwrap();
                operation(&mut again).unwrap();
                assert_eq!(
                    array.read_bytes(()).unwrap(),
                    again.read_bytes(()).unwrap(),
                    "{name}, {before} before"
                );
            }
            Ok(()) if refused => {}
            Ok(()) => return before,
            Err(other) => panic!("{name}, {before} before: {other}"),
        }
    }
    panic!("{name}: it never came to an end");
}

#[test]
fn no_refused_allocation_ends_the_process() {
    let folder = std::env::temp_dir().join(format!("b2nd-out-of-memory-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("saved");
    let (all, rows, mut total) = (items(700 * 600), items(300 * 600), 0);
    let kinds = [
        (Codec::BloscLz, Filter::Delta, true),
        (Codec::Lz4, Filter::BitShuffle, true),
        // The library panics where it gets no memory for the state of its encoder.
        (Codec::Zlib, Filter::Shuffle, false),
    ];
    for (codec, filter, writes) in kinds {
        let bytes = array(codec, filter);
        let mut each = |name: &str, operation: &dyn Fn(&mut Array) -> Result<()>| {
            let refused = refuse_each(name, &bytes, operation);
            println!("{codec:?}, {name}: {refused} refused");
            total += refused;
        };
        each("read all", &|a| a.read_bytes(()).map(drop));
        each("read a part", &|a| a.read_bytes(s![10..690, 3..500]).map(drop));
        each("read with steps", &|a| a.read_bytes(s![1..600;3, ..;2]).map(drop));
        each("read turned", &|a| a.transpose().read_bytes(()).map(drop));
        each("verify", &|a| a.verify().map(drop));
        each("read in threads", &|a| in_threads(a).read_bytes(()).map(drop));
        each("to bytes", &|a| a.to_bytes().map(drop));
        each("save", &|a| a.save(&path, &SaveOptions::new().with_overwrite(true)));
        each("chunks", &|a| a.iter_chunks().try_for_each(|chunk| chunk.read_bytes().map(drop)));
        if !writes {
            continue;
        }
        each("write all", &|a| a.write_bytes((), &all));
        each("write a part", &|a| a.write_bytes(s![100..400], &rows));
        each("write in threads", &|a| in_threads(a).write_bytes((), &all));
        each("append", &|a| a.append_bytes(0, &rows));
        each("insert", &|a| a.insert_bytes(0, 7, &rows));
        each("delete", &|a| a.delete(0, 5..400));
        each("resize", &|a| a.resize([900, 400]));
    }
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(total > 100, "{total}");
}
