//! Any bytes as text: a dtype, a selection, a `.npy` header, filters and a codec; what is understood is written and understood again.
#![no_main]

use b2nd::array::npy;
use b2nd::{Array, Codec, Dtype, Exec, Options, Pipeline, Selection, s};
use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;

static ARRAY: LazyLock<Array> = LazyLock::new(|| {
    let dtype = Dtype::parse("|u1").expect("a dtype");
    let options = Options::new().with_chunks([2, 2, 3]).with_blocks([2, 1, 2]).with_exec(Exec::new(1));
    let mut array = options.create_in_memory(dtype, [3, 4, 5]).expect("an array");
    array.write_bytes(s![], &(0..60).collect::<Vec<u8>>()).expect("memory takes everything");
    array
});

fuzz_target!(|data: &[u8]| {
    header(data);
    let Ok(text) = std::str::from_utf8(data) else { return };
    dtype(text);
    selection(text);
    if let Ok(pipeline) = text.parse::<Pipeline>() {
        assert_eq!(pipeline.to_string().parse::<Pipeline>().expect("its own text"), pipeline);
    }
    if let Some(codec) = Codec::from_name(text) {
        assert_eq!(Codec::from_name(&codec.name()), Some(codec));
    }
});

fn dtype(text: &str) {
    let Ok(dtype) = Dtype::parse(text) else { return };
    let again = Dtype::parse(&dtype.to_text()).expect("its own text");
    assert_eq!(again.itemsize(), dtype.itemsize());
    assert_eq!(again.to_text(), dtype.to_text());
    if let Ok(bytes) = npy::Header::new(dtype.clone(), vec![2], false).to_bytes() {
        let header = npy::Header::parse(&bytes).expect("our own header");
        assert_eq!(header.dtype().itemsize(), dtype.itemsize());
    }
    assert!(dtype.fields().iter().all(|field| field.offset() + field.size() <= dtype.itemsize()));
    if dtype.itemsize() <= 1 << 12 {
        let mut item = vec![1; dtype.itemsize()];
        let _ = dtype.swap_to_native(&mut item);
        let _ = dtype.swap_to_native(&mut item);
    }
}

fn selection(text: &str) {
    let Ok(selection) = Selection::parse(text) else { return };
    let shown = selection.to_string();
    assert_eq!(Selection::parse(&shown).expect("its own text").to_string(), shown, "{text:?}");
    let small = ARRAY.selection_shape(selection.clone());
    let Ok(shape) = small else { return };
    let count = shape.iter().fold(1u64, |n, &len| n.saturating_mul(len));
    if count <= 1 << 16 {
        let items = ARRAY.read_bytes(selection).expect("a selection that fits");
        assert_eq!(items.len() as u64, count);
    }
}

fn header(data: &[u8]) {
    let len = npy::header_len(data);
    let Ok(header) = npy::Header::parse(data) else { return };
    let len = len.expect("it was parsed");
    assert!(len <= data.len());
    let _ = header.data_len();
    let Ok(bytes) = header.to_bytes() else { return };
    assert_eq!(npy::header_len(&bytes).expect("our own header"), bytes.len());
    let again = npy::Header::parse(&bytes).expect("our own header");
    assert_eq!((again.shape(), again.fortran_order()), (header.shape(), header.fortran_order()));
    assert_eq!(again.dtype().itemsize(), header.dtype().itemsize());
    // What NumPy cannot say of a dtype is lost once, and no more.
    assert_eq!(again.to_bytes().expect("our own header"), bytes);
}
