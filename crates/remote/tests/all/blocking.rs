//! The door for those without a runtime.

use crate::support::{noise, run, serve};
use b2nd::{Error, s};
use b2nd_remote::RemoteOptions;
use b2nd_testkit::http::Settings;
use std::time::{Duration, Instant};

#[test]
fn an_array_of_the_library_outside_and_inside_of_a_runtime() {
    let array = noise(60, 4096, 8);
    let server = serve(&array, Settings::default());
    for path in ["/a.b2nd", "/s.b2nd", "/s.b2nd/"] {
        let read = || {
            let far = b2nd_remote::open(&server.url(path)).unwrap();
            assert_eq!(far.attrs().unwrap().get("unit").unwrap(), Some("K".into()));
            for selection in [s![3, ..7], s![10..20, ..], s![.., 5]] {
                assert!(far.read_bytes(selection.clone()).unwrap() == array.read_bytes(selection).unwrap());
            }
            let chunk = |array: &b2nd::Array| array.schunk().decompress_chunk(3).unwrap();
            assert_eq!(chunk(&far), chunk(&array));
            drop(far);
        };
        read();
        // In a task: it blocks its thread, and nothing else.
        run(async { read() });
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async { read() });
    }
    let error = b2nd_remote::open(&server.url("/none.b2nd")).unwrap_err();
    assert!(error.is_not_found() && error.to_string().contains("/none.b2nd"), "{error}");
}

#[test]
fn changes_and_failures_are_errors_here_too() {
    let array = noise(60, 4096, 8);
    let server = serve(&array, Settings::default());
    let far = b2nd_remote::open_with(&server.url("/a.b2nd"), &RemoteOptions::new().with_retries(0)).unwrap();
    far.read_bytes(s![1]).unwrap();
    server.put("/a.b2nd", noise(60, 4096, 4).to_bytes().unwrap());
    let error = far.read_bytes(s![2]).unwrap_err();
    assert!(matches!(error, Error::Changed { .. }) && error.to_string().contains("/a.b2nd"), "{error}");
}

/// While arrays far away are read through the asynchronous door, the only thread of a runtime goes on with other tasks.
#[test]
fn the_asynchronous_door_blocks_no_thread_of_the_runtime() {
    let array = noise(40, 65_536, 16);
    let server = serve(&array, Settings::default().with_pace(Duration::from_millis(5), 0));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let far =
            b2nd_remote::AsyncArray::open_url(&server.url("/a.b2nd"), &RemoteOptions::new()).await.unwrap();
        let (mut longest, mut last) = (Duration::ZERO, Instant::now());
        let mut read = std::pin::pin!(far.read_bytes(s![]));
        let read = loop {
            tokio::select! {
                read = &mut read => break read,
                () = tokio::time::sleep(Duration::from_millis(1)) => {
                    longest = longest.max(last.elapsed());
                    last = Instant::now();
                }
            }
        };
        assert!(read.unwrap() == array.read_bytes(s![]).unwrap());
        // Decoding all of it takes longer than that, without optimisation.
        assert!(longest < Duration::from_millis(250), "{longest:?}");
    });
}
