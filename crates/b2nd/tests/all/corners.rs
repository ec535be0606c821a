//! Corners in which an array has no items, or a change was never finished.

#![expect(clippy::mem_forget, reason = "what is leaked is what is tested")]

use b2nd::{Array, Axis, Dtype, Error, Limits, OpenOptions, Options, Over, Selection, s};

#[test]
fn long_axes_beside_an_empty_one_are_no_overflow() {
    let long = 1u64 << 40;
    for shape in [[long, long, 0], [0, long, long], [long, 0, long]] {
        let mut a =
            Options::new().with_chunks([1, 1, 1]).create_in_memory(Dtype::of::<f64>(), shape).unwrap();
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
    let mut a = Options::new().create_in_memory(Dtype::of::<u8>(), [2, 0]).unwrap();
    a.append(0, &ndarray::Array2::<u8>::zeros((3, 0))).unwrap();
    a.insert(0, 1, &ndarray::Array2::<u8>::zeros((1, 0))).unwrap();
    assert_eq!(a.shape(), [6, 0]);
    a.append(1, &ndarray::array![[1u8], [2], [3], [4], [5], [6]]).unwrap();
    assert_eq!(a.read_bytes(s![]).unwrap(), [1, 2, 3, 4, 5, 6]);
}

#[test]
fn a_leaked_transaction_does_not_come_along_with_a_metalayer() {
    let mut a = Options::new().with_metalayer("m", *b"1").create_in_memory(Dtype::of::<u8>(), [4]).unwrap();
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

#[test]
fn indices_with_gaps_are_deleted_as_from_a_vector() {
    let mut rng = b2nd_testkit::rng::Rng::new(9);
    for round in 0..200 {
        let (rows, columns) = (1 + rng.next_u64() % 30, 1 + rng.next_u64() % 9);
        let (chunk, block) = (1 + rng.next_u64() % 8, 1 + rng.next_u64() % 8);
        let options = Options::new().with_chunks([chunk, 3]).with_blocks([block.min(chunk), 2]);
        let mut a = options.create_in_memory(Dtype::of::<u16>(), [rows, columns]).unwrap();
        let items: Vec<u16> = (0..rows * columns).map(|n| n as u16 + 1).collect();
        a.write_items(s![rows / 3..], &items[(rows / 3 * columns) as usize..]).unwrap();
        let before = a.read_items::<u16>(s![]).unwrap();
        let axis = (rng.next_u64() % 2) as usize;
        let length = [rows, columns][axis] as i64;
        let step = 1 + (rng.next_u64() % 4) as i64;
        let part = match round % 4 {
            0 => Axis::List((0..rng.next_u64() % 12).map(|_| rng.next_u64() as i64 % length).collect()),
            1 => Axis::Mask((0..length).map(|_| rng.next_u64().is_multiple_of(3)).collect()),
            2 => Axis::from((rng.next_u64() % 3) as i64..).with_step(step),
            _ => Axis::from(..).with_step(-step),
        };
        let numbers: Vec<i64> = (0..length).collect();
        let mut line = Options::new().create_in_memory(Dtype::of::<i64>(), [length as u64]).unwrap();
        line.write_items(s![], &numbers).unwrap();
        let gone = line.read_items::<i64>(Selection::new([part.clone()])).unwrap();
        let due: Vec<u16> = (0..rows * columns)
            .filter(|&n| !gone.contains(&([n / columns, n % columns][axis] as i64)))
            .map(|n| before[n as usize])
            .collect();
        a.delete(axis, part.clone()).unwrap();
        assert_eq!(a.read_items::<u16>(s![]).unwrap(), due, "{part} of {rows} x {columns} along {axis}");
        assert!(a.verify().unwrap().is_sound());
    }
    // Far more parts than anybody has memory for.
    let mut long =
        Options::new().with_chunks([1 << 20]).create_in_memory(Dtype::of::<u8>(), [1u64 << 40]).unwrap();
    assert!(matches!(long.delete(0, Axis::from(..).with_step(2)), Err(b2nd::Error::Limit { .. })));
    long.delete(0, Axis::from(..).with_step(1 << 39)).unwrap();
    assert_eq!(long.shape(), [(1 << 40) - 2]);
}

#[test]
fn a_write_makes_no_chunk_that_could_not_be_read_again() {
    let empty =
        Options::new().with_chunks([64, 64]).create_in_memory(Dtype::parse("|u1").unwrap(), [0, 64]).unwrap();
    let limits = Limits::default().with_max_chunk_bytes(1 << 10);
    let options = OpenOptions::new().with_write(true).with_limits(limits);
    let mut array = Array::from_bytes(empty.to_bytes().unwrap(), &options).unwrap();
    assert!(matches!(array.append_bytes(0, &[1; 64]), Err(Error::Limit { .. })));
    assert_eq!(array.shape(), [0, 64]);
    array.resize([3, 64]).unwrap();
    assert!(matches!(array.write_bytes((), &[1; 192]), Err(Error::Limit { .. })));
    assert_eq!(array.read_bytes(()).unwrap(), [0; 192], "zeros are no chunk");
}

#[test]
fn a_frame_of_fewer_bytes_than_its_chunks_is_no_array() {
    let mut a = Options::new().with_chunks([4]).create_in_memory(Dtype::of::<u16>(), [6]).unwrap();
    a.write_items(s![], &[1u16, 2, 3, 4, 5, 6]).unwrap();
    let sound = a.to_bytes().unwrap();
    // The last chunk of an array is padded, so the frame has two of 8 bytes. So few fewer are two chunks still.
    for nbytes in [16u64, 15, 12, 9] {
        let mut bytes = sound.clone();
        bytes[30..38].copy_from_slice(&nbytes.to_be_bytes());
        match Array::from_bytes(bytes, &OpenOptions::new()) {
            Ok(array) => assert_eq!((nbytes, array.read_items::<u16>(s![]).unwrap().len()), (16, 6)),
            Err(error) => assert!(nbytes < 16 && matches!(error, Error::Format(_)), "{error}"),
        }
    }
}
