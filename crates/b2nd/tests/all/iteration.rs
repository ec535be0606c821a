//! Chunks one by one and on many threads: each item is seen once, in the right place.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, in its helper functions too")]

use b2nd::{Array, Dtype, Error, Exec, Options, s};
use std::sync::Mutex;

fn arrays() -> Vec<Array> {
    let mut all = Vec::new();
    for (shape, chunks, blocks) in [
        (vec![], vec![], vec![]),
        (vec![7, 11, 5], vec![3, 4, 5], vec![2, 3, 2]),
        (vec![100], vec![33], vec![10]),
        (vec![4, 0], vec![2, 1], vec![1, 1]),
    ] {
        for dtype in ["<i4", ">i4"] {
            let options = Options::new()
                .with_chunks(chunks.clone())
                .with_blocks(blocks.clone())
                .with_exec(Exec::new(3));
            let mut array = options.create_in_memory(Dtype::parse(dtype).unwrap(), &shape).unwrap();
            let items: Vec<i32> = (0..array.size() as i32).map(|n| if n < 20 { 0 } else { n }).collect();
            array.write_items(s![], &items).unwrap();
            all.push(array);
        }
    }
    all
}

#[test]
fn chunks_tile_the_array_and_hold_its_items() {
    for array in arrays() {
        let mut seen = 0;
        for (number, chunk) in array.iter_chunks().enumerate() {
            assert_eq!(chunk.number(), number as u64);
            assert_eq!(
                chunk.read_items::<i32>().unwrap(),
                array.read_items::<i32>(chunk.selection()).unwrap()
            );
            assert_eq!(array.selection_shape(chunk.selection()).unwrap(), chunk.shape());
            if let Some(value) = chunk.value().unwrap() {
                assert_eq!(chunk.read_bytes().unwrap(), value.repeat(chunk.size() as usize));
            }
            seen += chunk.size();
        }
        assert_eq!(seen, array.size());
    }
}

#[test]
fn every_thread_gets_the_items_of_its_chunks() {
    for array in arrays() {
        let found = Mutex::new(Vec::new());
        array
            .par_chunks(|chunk| {
                let mut bytes = vec![0; chunk.size() as usize * 4];
                chunk.read_bytes_into(&mut bytes)?;
                assert!(matches!(
                    chunk.read_bytes_into(&mut [0; 3]),
                    Err(Error::LengthMismatch { found: 3, .. })
                ));
                assert!(chunk.read_items::<f64>().is_err());
                found.lock().unwrap().push((chunk.number(), bytes, chunk.read_items::<i32>()?));
                Ok(())
            })
            .unwrap();
        let mut found = found.into_inner().unwrap();
        found.sort();
        let wanted: Vec<_> = array
            .iter_chunks()
            .map(|chunk| (chunk.number(), chunk.read_bytes().unwrap(), chunk.read_items::<i32>().unwrap()))
            .collect();
        assert_eq!(found, wanted);
    }
}

#[test]
fn the_first_error_and_a_cancellation_end_the_walk() {
    let mut array = Options::new().with_chunks([1]).create_in_memory(Dtype::of::<u8>(), [100_000]).unwrap();
    array.set_exec(Exec::new(2));
    let refused = array.par_chunks(|chunk| chunk.read_items::<f32>().map(|_| ()));
    assert!(matches!(refused, Err(Error::DtypeMismatch { .. })));
    let cancel = b2nd::Cancel::new();
    array.set_exec(Exec::new(2).with_cancel(cancel.clone()));
    let stopped = array.par_chunks(|chunk| {
        if chunk.number() > 10 {
            cancel.cancel();
        }
        Ok(())
    });
    assert!(matches!(stopped, Err(Error::Cancelled)));
}
