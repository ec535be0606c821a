//! Corners in which an array has no items, or a change was never finished.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, in its helper functions too")]

use b2nd::{Array, Options, Over, Selection, s};

#[test]
fn long_axes_beside_an_empty_one_are_no_overflow() {
    let long = 1u64 << 40;
    for shape in [[long, long, 0], [0, long, long], [long, 0, long]] {
        let mut a = Options::new().with_chunks([1, 1, 1]).create_memory::<f64>(shape).unwrap();
        let empty = shape.iter().position(|&n| n == 0).unwrap() as i64;
        for axes in [vec![0i64], vec![1], vec![2], vec![0, 1], vec![1, 2], vec![0, 2], vec![0, 1, 2]] {
            // What keeps the axis has no items; what does not, has more than anybody can have, or one.
            let kept = !axes.contains(&empty);
            let over = || Over::axes(axes.clone());
            let lengths = || (0..3).filter(|d| !axes.contains(d)).map(|d| shape[d as usize]);
            for result in [a.sum(over()), a.var(over(), 0.0), a.any(over()), a.count_nan(over())] {
                match result {
                    Ok(result) => assert_eq!(result.shape(), lengths().collect::<Vec<_>>()),
                    Err(_) => assert!(!kept && axes.len() < 3),
                }
            }
            assert_eq!(a.min(over()).is_ok(), kept);
        }
        assert!(a.read_bytes(s![]).unwrap().is_empty());
        assert!(a.transpose().read_bytes(Selection::flat([])).unwrap().is_empty());
        (0..3).for_each(|axis| a.append_bytes(axis, &[]).unwrap());
        assert_eq!(a.shape(), shape);
    }
}

#[test]
fn items_without_bytes_make_an_axis_longer() {
    let mut a = Options::new().create_memory::<u8>([2, 0]).unwrap();
    a.append(0, &ndarray::Array2::<u8>::zeros((3, 0))).unwrap();
    a.insert(0, 1, &ndarray::Array2::<u8>::zeros((1, 0))).unwrap();
    assert_eq!(a.shape(), [6, 0]);
    a.append(1, &ndarray::array![[1u8], [2], [3], [4], [5], [6]]).unwrap();
    assert_eq!(a.read_bytes(s![]).unwrap(), [1, 2, 3, 4, 5, 6]);
}

#[test]
fn a_leaked_transaction_does_not_come_along_with_a_metalayer() {
    let mut a = Options::new().with_metalayer("m", *b"1").create_memory::<u8>([4]).unwrap();
    let leak = |a: &mut Array| {
        let mut transaction = a.transaction();
        transaction.write_items(s![0], &[9u8]).unwrap();
        transaction.resize([9]).unwrap();
        std::mem::forget(transaction);
    };
    leak(&mut a);
    a.set_vlmetalayer("unit", b"y").unwrap();
    leak(&mut a);
    a.set_metalayer("m", b"2").unwrap();
    leak(&mut a);
    assert!(a.remove_vlmetalayer("unit").unwrap());
    assert!(!a.remove_vlmetalayer("unit").unwrap());
    assert_eq!(a.read_bytes(s![]).unwrap(), [0; 4]);
    let again = Array::from_bytes(a.to_bytes().unwrap(), &b2nd::OpenOptions::new()).unwrap();
    assert_eq!((again.shape(), again.read_bytes(s![]).unwrap()), (&[4][..], vec![0; 4]));
    assert_eq!(again.schunk().metalayers().find(|(name, _)| *name == "m").unwrap().1, b"2");
}
