//! Any sequence of changes of an array in memory: it reads, and is stored, as a naive array that is changed alike.
#![no_main]

use b2nd::{Array, Codec, Dtype, Exec, Layout, OpenOptions, Options, Params, Pipeline};
use b2nd_fuzz::{change, pick::Pick, registry};
use b2nd_testkit::nd::NaiveArray;
use libfuzzer_sys::arbitrary::{Result, Unstructured};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let _ = run(&mut Unstructured::new(data));
});

fn run(u: &mut Unstructured<'_>) -> Result<()> {
    let (mut array, mut model) = create(u)?;
    for _ in 0..8 {
        if u.is_empty() {
            break;
        }
        let mut next = model.clone();
        let mut transaction = array.transaction();
        for _ in 0..u.int_in_range(1u8..=3)? {
            change::any(u, &mut transaction, &mut next)?.expect("a change that fits");
            Pick::any(u, &next.shape)?.check(transaction.array(), &next);
        }
        if u.ratio(4u8, 5u8)? {
            transaction.commit().expect("memory takes everything");
            model = next;
        } else {
            drop(transaction);
        }
        check(&array, &model);
        if u.ratio(1u8, 4u8)? {
            let options = OpenOptions::new().with_write(true).with_registry(registry::registry());
            let options = options.with_block_cache(if u.arbitrary()? { 1 << 12 } else { 0 });
            let bytes = if u.arbitrary()? { array.to_bytes() } else { array.into_bytes() };
            array = Array::from_bytes(bytes.expect("a frame"), &options).expect("our own frame");
            check(&array, &model);
        }
    }
    let found = array.verify().expect("nothing but damage");
    assert!(found.is_sound() && found.stale.is_empty(), "{found:?}");
    // Automatic chunks of an axis that is empty at first are longer than the strict limits allow.
    let options = OpenOptions::new().with_registry(registry::registry());
    let again = array.to_bytes().and_then(|bytes| Array::from_bytes(bytes, &options));
    check(&again.expect("our own frame"), &model);
    Ok(())
}

fn create(u: &mut Unstructured<'_>) -> Result<(Array, NaiveArray)> {
    let dtype = *u.choose(&["|u1", "<i2", "<f8", "|V3", "[('a', '<i4'), ('b', '|u1')]"])?;
    let dtype = Dtype::parse(dtype).expect("a dtype");
    let (mut shape, mut chunks, mut blocks) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..u.int_in_range(0usize..=3)? {
        shape.push(u.int_in_range(0u64..=12)?);
        chunks.push(u.int_in_range(1u64..=6)?);
        blocks.push(u.int_in_range(1..=chunks[chunks.len() - 1])?);
    }
    let layout = *u.choose(&[Layout::Contiguous, Layout::Sparse])?;
    let codec =
        *u.choose(&[Codec::BloscLz, Codec::Lz4, Codec::Zlib, Codec::Zstd, Codec::from_id(registry::CODEC)])?;
    let filter = *u.choose(&[0, 1, 2, 3, registry::FILTER])?;
    let params = Params::new(dtype.itemsize() as u32)
        .with_codec(codec)
        .with_clevel(u.int_in_range(0..=9)?)
        .with_pipeline(Pipeline::from_bytes([0, 0, 0, 0, 0, filter], [0; 6]));
    let options = Options::new()
        .with_layout(layout)
        .with_params(params)
        .with_registry(registry::registry())
        .with_block_cache(if u.arbitrary()? { 1 << 12 } else { 0 })
        .with_exec(Exec::new(1));
    let options = if u.ratio(7u8, 8u8)? { options.with_chunks(chunks).with_blocks(blocks) } else { options };
    let model = NaiveArray::zeros(&shape.iter().map(|&n| n as usize).collect::<Vec<_>>(), dtype.itemsize());
    Ok((options.create_in_memory(dtype, &shape).expect("an array"), model))
}

fn check(array: &Array, model: &NaiveArray) {
    assert!(array.shape().iter().map(|&n| n as usize).eq(model.shape.iter().copied()));
    assert_eq!(array.read_bytes(()).expect("a whole array"), model.data);
}
