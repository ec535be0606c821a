//! The number of a state: the same for all who see it, another after each commit.

use b2nd::{Array, Dtype, Layout, OpenOptions, Options, s};

#[test]
fn every_commit_has_a_number_that_all_handles_agree_on() {
    for (layout, checksums) in [
        (Layout::Contiguous, true),
        (Layout::Contiguous, false),
        (Layout::Sparse, true),
        (Layout::Sparse, false),
    ] {
        let name = format!("b2nd-states-{}-{layout:?}-{checksums}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let options = Options::new().with_layout(layout).with_checksums(checksums).with_chunks([4]);
        let mut a = options.create(&path, Dtype::parse("<u4").unwrap(), [40]).unwrap();
        let mut seen = Vec::new();
        let mut agree = |a: &Array| {
            let state = a.schunk().state().unwrap();
            assert_eq!(Array::open(&path).unwrap().schunk().state().unwrap(), state);
            assert!(!seen.contains(&state));
            seen.push(state);
        };
        agree(&a);
        a.write_items(s![3..9], &[1u32, 2, 3, 4, 5, 6]).unwrap();
        agree(&a);
        let mut reader = Array::open(&path).unwrap();
        a.fill(s![], 7u32).unwrap();
        agree(&a);
        a.set_vlmetalayer("unit", b"\xa1m").unwrap();
        agree(&a);
        a.set_vlmetalayer("unit", b"\xa1s").unwrap();
        agree(&a);
        a.resize([44]).unwrap();
        agree(&a);
        let state = a.schunk().state().unwrap();
        assert_ne!(reader.schunk().state().unwrap(), state);
        assert!(reader.refresh().unwrap());
        assert_eq!(reader.schunk().state().unwrap(), state);
        drop(a);
        let mut a = Array::open_with(&path, &OpenOptions::new().with_write(true)).unwrap();
        assert_eq!(a.schunk().state().unwrap(), state);
        let mut transaction = a.transaction();
        transaction.write_items(s![0], &[9u32]).unwrap();
        drop(transaction);
        assert_eq!(a.schunk().state().unwrap(), state);
        a.compact().unwrap();
        assert_eq!(a.read_items::<u32>(s![5]).unwrap(), [7]);
        drop(a);
        let gone = if path.is_dir() { std::fs::remove_dir_all(&path) } else { std::fs::remove_file(&path) };
        gone.unwrap();
    }
}
