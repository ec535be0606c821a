//! Reshaped and converted arrays, and arrays that another handle has changed.

use super::*;
use proptest::prelude::*;
use std::path::PathBuf;

proptest! {
    #[test]
    fn a_reshaped_array_has_the_same_items_in_order(
        factors in proptest::collection::vec((1u64..7, 0usize..3, 0usize..3), 0..5),
        chunk in 1u64..6, other in 1u64..6, empty in proptest::bool::weighted(0.1),
    ) {
        let (mut from, mut to) = (vec![1u64; 3], vec![1u64; 3]);
        for (n, a, b) in factors {
            from[a] *= n;
            to[b] *= n;
        }
        if empty {
            (from[0], to[2]) = (0, 0);
        }
        let pair = Pair::new(Options::new().with_chunks([chunk; 3]).with_blocks([1, 1, chunk]), &from);
        let options = Options::new().with_chunks([other; 3]).with_blocks([other, 1, 1]);
        let array = options.reshape_in_memory(&pair.array, &to).unwrap();
        prop_assert_eq!(array.shape(), &to[..]);
        let model = NaiveArray { shape: usize_of(&to), ..pair.model };
        Pair { array, model, next: 0 }.check_stored();
    }
}

#[test]
fn reshaping_knows_scalars_and_refuses_another_size() {
    let pair = Pair::new(Options::new(), &[1, 1]);
    let scalar = Options::new().reshape_in_memory(&pair.array, ()).unwrap();
    assert_eq!(scalar.read_bytes(()).unwrap(), pair.model.data);
    let vector = Options::new().reshape_in_memory(&scalar, [1]).unwrap();
    assert_eq!(vector.read_bytes(()).unwrap(), pair.model.data);
    assert!(Options::new().reshape_in_memory(&vector, [2]).is_err());
    assert!(Options::new().reshape_in_memory(&vector, [1u64 << 40, 1 << 40]).is_err());
}

#[test]
fn a_converted_array_is_converted_item_by_item() {
    let options = || Options::new().with_chunks([3, 4]).with_blocks([2, 2]);
    let mut a = options()
        .with_vlmetalayer("unit", *b"\xa1K")
        .create_in_memory(Dtype::parse(">i2").unwrap(), [7, 9])
        .unwrap();
    let items: Vec<i16> = (0..21).map(|n| n * 300 - 3000).collect();
    a.write_items(crate::s![..3, 1..8], &items).unwrap();
    let floats = Options::new().astype_in_memory(&a, &Dtype::parse("<f8").unwrap()).unwrap();
    let due: Vec<f64> = a.read_items::<i16>(()).unwrap().into_iter().map(f64::from).collect();
    assert_eq!(floats.read_items::<f64>(()).unwrap(), due);
    assert_eq!((floats.chunks(), floats.blocks()), (a.chunks(), a.blocks()));
    assert_eq!(floats.schunk().vlmetalayer("unit").unwrap().unwrap(), b"\xa1K");
    // What was never written stays a special chunk.
    assert!(matches!(floats.schunk.place(8).unwrap(), crate::schunk::Place::Special(_)));
    check_padding(&floats);
    let nan = options().with_fill(Fill::Nan).create_in_memory(Dtype::parse("<f4").unwrap(), [5, 5]).unwrap();
    let truths =
        Options::new().with_chunks([2, 2]).astype_in_memory(&nan, &Dtype::parse("|b1").unwrap()).unwrap();
    assert_eq!(truths.read_items::<bool>(()).unwrap(), [true; 25]);
    assert!(Options::new().astype_in_memory(&nan, &Dtype::parse("|S4").unwrap()).is_err());
}

struct TempDir(PathBuf);

impl Drop for TempDir {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_refreshed_array_is_as_the_other_handle_left_it() {
    let dir = TempDir(std::env::temp_dir().join(format!("b2nd-refresh-{}", std::process::id())));
    std::fs::create_dir_all(&dir.0).unwrap();
    let writing = || OpenOptions::new().with_write(true).with_exec(Exec::new(1)).with_owner_lock(false);
    for layout in [Layout::Contiguous, Layout::Sparse] {
        let path = dir.0.join(format!("{layout:?}"));
        let options =
            options(layout, 1).with_chunks([4]).with_metalayer("note", *b"one").with_owner_lock(false);
        let mut first = options.create(&path, Dtype::parse("<u2").unwrap(), [0]).unwrap();
        let mut reader = Array::open(&path).unwrap();
        let mut second = Array::open_with(&path, &writing()).unwrap();
        assert!(!reader.refresh().unwrap());
        second.append_items(0, &[1u16, 2, 3, 4, 5]).unwrap();
        // Whoever has not seen it does not write over it.
        assert!(first.append_items(0, &[9u16]).is_err());
        for array in [&mut reader, &mut first] {
            assert!(array.refresh().unwrap());
            assert!(!array.refresh().unwrap());
            assert_eq!(array.read_items::<u16>(()).unwrap(), [1, 2, 3, 4, 5]);
        }
        first.delete(0, 1..4).unwrap();
        second.refresh().unwrap();
        second.write_items(crate::s![0], &[7u16]).unwrap();
        second.set_metalayer("note", b"two").unwrap();
        assert!(reader.refresh().unwrap());
        assert_eq!(reader.read_items::<u16>(()).unwrap(), [7, 5]);
        let notes: Vec<&[u8]> = reader.schunk().metalayers().map(|(_, content)| content).skip(1).collect();
        assert_eq!(notes, [b"two"]);
        second.set_vlmetalayer("v", b"x").unwrap();
        assert!(reader.refresh().unwrap());
        second.resize([0]).unwrap();
        assert!(reader.refresh().unwrap());
        assert_eq!(reader.shape(), [0]);
    }
    let mut memory = Options::new().create_in_memory(Dtype::parse("<u2").unwrap(), [3]).unwrap();
    assert!(!memory.refresh().unwrap());
}
