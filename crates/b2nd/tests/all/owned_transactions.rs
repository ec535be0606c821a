//! A transaction that owns its array: one commit for all changes, and the array back as it was without one.

use b2nd::{Array, Dtype, Error, OpenOptions, Options, s};

#[test]
fn all_changes_come_at_once_or_not_at_all() {
    let path = std::env::temp_dir().join(format!("b2nd-owned-{}.b2nd", std::process::id()));
    let made = Options::new().with_overwrite(true).with_chunks([2, 3]);
    drop(made.create(&path, Dtype::parse("|u1").unwrap(), [2, 3]).unwrap());
    let options = OpenOptions::new().with_write(true);
    let seen = || Array::open(&path).unwrap();

    let mut writer = Array::open_with(&path, &options).unwrap().into_writer();
    writer.write_bytes(s![0], &[1, 2, 3]).unwrap();
    writer.append_bytes(0, &[7, 8, 9]).unwrap();
    writer.insert_bytes(1, 0, &[4, 5, 6]).unwrap();
    writer.set_vlmetalayer("unit", b"\xa1m").unwrap();
    assert_eq!((seen().shape(), seen().schunk().vlmetalayer("unit").unwrap()), (&[2, 3][..], None));
    let before = writer.commit().unwrap();
    assert_eq!(seen().read_bytes(s![]).unwrap(), [4, 1, 2, 3, 5, 0, 0, 0, 6, 7, 8, 9]);
    assert_eq!(seen().schunk().vlmetalayer("unit").unwrap().as_deref(), Some(&b"\xa1m"[..]));

    let mut writer = before.into_writer();
    writer.delete(1, 0).unwrap();
    writer.resize([1, 3]).unwrap();
    assert!(writer.remove_vlmetalayer("unit").unwrap());
    let other = Options::new().create_in_memory(Dtype::parse("|u1").unwrap(), [2, 3]).unwrap();
    writer.extend(0, &[&other]).unwrap();
    assert_eq!(writer.array().read_bytes(s![]).unwrap(), [1, 2, 3, 0, 0, 0, 0, 0, 0]);
    let back = writer.rollback().unwrap();
    assert_eq!(back.read_bytes(s![]).unwrap(), seen().read_bytes(s![]).unwrap());
    assert_eq!(seen().shape(), [3, 4]);

    // A change that failed leaves nothing but the way back.
    let mut writer = back.into_writer();
    writer.fill_bytes(s![], &[9]).unwrap();
    assert!(writer.delete(5, 0).is_err());
    assert!(matches!(writer.fill_bytes(s![], &[1]), Err(Error::State(_))));
    let back = writer.rollback().unwrap();
    assert_eq!(back.read_bytes(s![0]).unwrap(), [4, 1, 2, 3]);
    drop(back);
    std::fs::remove_file(&path).unwrap();
}

#[test]
fn a_new_array_has_nothing_to_go_back_to() {
    let writer = Options::new().create_uncommitted_in_memory(Dtype::parse("|u1").unwrap(), [2]).unwrap();
    assert!(matches!(writer.rollback(), Err(Error::State(_))));
}

#[test]
fn a_borrowed_transaction_changes_all_that_an_owned_one_does() {
    let made = Options::new().with_metalayer("origin", *b"station 07");
    let new = || made.clone().create_in_memory(Dtype::of::<u16>(), [2, 2]).unwrap();
    let other = Options::new().create_in_memory(Dtype::of::<u16>(), [1, 2]).unwrap();
    macro_rules! change {
        ($to:expr) => {{
            let to = $to;
            to.write_items(s![0], &[1u16, 2]).unwrap();
            to.fill(s![1, 1], 3u16).unwrap();
            to.insert_items(0, 1, &[5u16, 6]).unwrap();
            to.append_items(0, &[7u16, 8]).unwrap();
            to.extend(0, &[&other]).unwrap();
            to.set_metalayer("origin", b"station 12").unwrap();
            to.set_vlmetalayer("unit", b"\xa1m").unwrap();
            assert!(!to.remove_vlmetalayer("other").unwrap());
        }};
    }
    let mut borrowed = new();
    let mut t = borrowed.transaction();
    change!(&mut t);
    t.commit().unwrap();
    let mut writer = new().into_writer();
    change!(&mut writer);
    let owned = writer.commit().unwrap();
    for array in [&borrowed, &owned] {
        assert_eq!(array.read_items::<u16>(s![]).unwrap(), [1, 2, 5, 6, 0, 3, 7, 8, 0, 0]);
        assert_eq!(array.schunk().vlmetalayer("unit").unwrap().as_deref(), Some(&b"\xa1m"[..]));
        let origin = array.schunk().metalayers().find(|(name, _)| *name == "origin");
        assert_eq!(origin.map(|(_, content)| content.to_vec()), Some(b"station 12".to_vec()));
    }
    // The array's own metalayer stays its own, and nothing of a failed transaction is there.
    let mut t = borrowed.transaction();
    t.set_vlmetalayer("unit", b"\xa1s").unwrap();
    assert!(matches!(t.set_metalayer("b2nd", b""), Err(Error::Usage(_))));
    assert!(t.commit().is_err());
    assert_eq!(borrowed.schunk().vlmetalayer("unit").unwrap().as_deref(), Some(&b"\xa1m"[..]));
}
