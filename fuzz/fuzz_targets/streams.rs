//! Any array that comes as slabs, in memory and in files: it is the naive array that they make, what a flush made visible stays
//! when the writer is dropped, and what is no slab is refused without a trace.
#![no_main]

use b2nd::{Array, Codec, Dtype, Durability, Exec, Layout, Options, Params, Slabs, StreamWriter};
use b2nd_fuzz::place::Folder;
use b2nd_testkit::nd::NaiveArray;
use libfuzzer_sys::arbitrary::{Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use std::path::Path;

fuzz_target!(|data: &[u8]| {
    let _ = run(&mut Unstructured::new(data));
});

fn run(u: &mut Unstructured<'_>) -> Result<()> {
    let folder = if u.ratio(1u8, 4u8)? { Some(Folder::new()) } else { None };
    let path = folder.as_ref().map(|folder| folder.at("stream"));
    let text = *u.choose(&["|u1", "<i2", "<f8", "|V3", "|V0", "|S0", "[('a', '<i4'), ('b', '|u1')]"])?;
    let Ok(dtype) = Dtype::parse(text) else { return Ok(()) };
    let mut shape = Vec::new();
    for _ in 0..u.int_in_range(1usize..=3)? {
        shape.push(u.int_in_range(0u64..=9)?);
    }
    // One axis too many now and then.
    let axis = u.int_in_range(0..=shape.len())?;
    let grows = u.arbitrary()?;
    let slabs = if grows { Slabs::growing(axis, &shape[..]) } else { Slabs::along(axis, &shape[..]) };
    let slabs = match u.int_in_range(0u8..=9)? {
        0 => slabs.with_memory(0),
        1 => slabs.with_memory(1 << 40),
        n => slabs.with_memory(1 << (n + 8)),
    };
    let options = options(u, &shape, dtype.itemsize())?;
    let started = match &path {
        Some(path) => options.stream(path, dtype.clone(), &slabs),
        None => options.stream_in_memory(dtype.clone(), &slabs),
    };
    let Ok(mut writer) = started else { return Ok(()) };
    let expected = if grows { None } else { Some(shape[axis] as usize) };
    let mut start: Vec<usize> = shape.iter().map(|&n| n as usize).collect();
    start[axis] = 0;
    let mut model = NaiveArray::zeros(&start, dtype.itemsize());
    let mut visible = None;
    for _ in 0..12 {
        if u.is_empty() {
            break;
        }
        if u.ratio(1u8, 8u8)? {
            writer.flush().expect("there is room for everything");
            visible = Some(model.clone());
        } else {
            push(u, &mut writer, axis, expected, &mut model)?;
        }
        assert!(writer.shape().iter().map(|&n| n as usize).eq(model.shape.iter().copied()));
    }
    if u.ratio(1u8, 4u8)? {
        drop(writer);
        if let Some(path) = &path {
            check_file(path, visible.as_ref());
        }
        return Ok(());
    }
    let array = writer.finish();
    if expected.is_some_and(|expected| model.shape[axis] < expected) {
        assert!(array.is_err(), "slabs are missing");
        return Ok(());
    }
    check(&array.expect("a whole array"), &model);
    if let Some(path) = &path {
        check_file(path, Some(&model));
    }
    Ok(())
}

fn options(u: &mut Unstructured<'_>, shape: &[u64], itemsize: usize) -> Result<Options> {
    let codec = *u.choose(&[Codec::BloscLz, Codec::Lz4, Codec::Zlib, Codec::Zstd])?;
    let params = Params::new((itemsize as u32).max(1)).with_codec(codec).with_clevel(u.int_in_range(0..=9)?);
    let options = Options::new()
        .with_params(params)
        .with_layout(*u.choose(&[Layout::Contiguous, Layout::Sparse])?)
        .with_durability(Durability::None)
        .with_checksums(u.arbitrary()?)
        .with_exec(Exec::new(u.int_in_range(1usize..=3)?));
    if u.ratio(1u8, 8u8)? {
        return Ok(options);
    }
    let (mut chunks, mut blocks) = (Vec::new(), Vec::new());
    for _ in shape {
        chunks.push(u.int_in_range(1u64..=6)?);
        blocks.push(u.int_in_range(1u64..=6)?);
    }
    Ok(options.with_chunks(chunks).with_blocks(blocks))
}

/// A slab, or what is none.
fn push(
    u: &mut Unstructured<'_>,
    writer: &mut StreamWriter,
    axis: usize,
    expected: Option<usize>,
    model: &mut NaiveArray,
) -> Result<()> {
    let mut shape = model.shape.clone();
    shape[axis] = u.int_in_range(0usize..=7)?;
    let (first, step): (u8, u8) = u.arbitrary()?;
    let mut slab = NaiveArray::zeros(&shape, model.itemsize);
    let bytes =
        slab.data.iter_mut().zip(0u8..=255).map(|(byte, n)| *byte = first.wrapping_add(n.wrapping_mul(step)));
    bytes.for_each(drop);
    let of_one = shape.iter().enumerate().filter(|(n, _)| *n != axis).map(|(_, &len)| len).product::<usize>();
    if u.ratio(1u8, 16u8)? && of_one * model.itemsize > 1 {
        slab.data.push(0);
        assert!(writer.push_bytes(&slab.data).is_err(), "no slab");
        return Ok(());
    }
    let pushed = writer.push_bytes(&slab.data);
    if expected.is_some_and(|expected| model.shape[axis] + shape[axis] > expected) {
        assert!(pushed.is_err(), "more than the axis was to have");
    } else {
        pushed.expect("a slab");
        model.join(axis, &slab);
    }
    Ok(())
}

fn check(array: &Array, model: &NaiveArray) {
    assert!(array.shape().iter().map(|&n| n as usize).eq(model.shape.iter().copied()));
    assert_eq!(array.read_bytes(()).expect("a whole array"), model.data);
    let found = array.verify().expect("nothing but damage");
    assert!(found.is_sound() && found.stale.is_empty(), "{found:?}");
}

/// What is under the name: an array, or nothing at all.
fn check_file(path: &Path, model: Option<&NaiveArray>) {
    match model {
        Some(model) => check(&Array::open(path).expect("what was made visible"), model),
        None => assert!(!path.exists(), "nothing was made visible"),
    }
}
