//! Bytes that are lent out, and mapped files.

use b2nd_kernel::lend::lend;

#[test]
fn lent_bytes_are_read_where_they_are() {
    let bytes: Vec<u8> = (0..100).collect();
    let sum = lend(&bytes, |lent| {
        assert!(std::ptr::eq(lent.as_ref(), &raw const *bytes), "nothing is copied");
        let boxed: Box<dyn AsRef<[u8]> + Send + Sync> = Box::new(lent);
        std::thread::scope(|scope| {
            let boxed = &boxed;
            let sum = |range: std::ops::Range<usize>| {
                (*boxed).as_ref().as_ref()[range].iter().map(|&b| u32::from(b)).sum::<u32>()
            };
            let first = scope.spawn(move || sum(0..50));
            first.join().unwrap() + sum(50..100)
        })
    });
    assert_eq!(sum, 99 * 50);
    assert_eq!(lend(&[], |lent| lent.as_ref().len()), 0);
}

#[test]
fn a_panic_gives_lent_bytes_back() {
    let bytes = [7; 10];
    let caught = std::panic::catch_unwind(|| {
        lend(&bytes, |lent| assert_eq!(lent.as_ref().len(), 11));
    });
    assert!(caught.is_err());
}

/// Runs itself in another process, which keeps what was lent.
#[test]
fn who_keeps_lent_bytes_does_not_live_on() {
    const KEEP: &str = "B2ND_TEST_KEEPS_LENT_BYTES";
    if std::env::var_os(KEEP).is_some() {
        drop(lend(&[1, 2, 3].repeat(9), |lent| lent));
        return;
    }
    let this = std::env::current_exe().unwrap();
    let name = "memory::who_keeps_lent_bytes_does_not_live_on";
    let status =
        std::process::Command::new(this).args([name, "--exact"]).env(KEEP, "1").output().unwrap().status;
    assert!(!status.success() && status.code() != Some(101), "{status}");
}

#[cfg(feature = "mmap")]
#[test]
fn a_map_is_the_file() {
    let path = std::env::temp_dir().join(format!("b2nd-map-{}", std::process::id()));
    std::fs::write(&path, b"mapped").unwrap();
    let map = b2nd_kernel::map::Map::read_only(&std::fs::File::open(&path).unwrap()).unwrap();
    assert_eq!(map.as_ref(), b"mapped");
    std::fs::remove_file(&path).unwrap();
}
