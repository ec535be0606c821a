//! Requests that fail: what is tried again, what is an error, and what errors say.

use crate::support::{noise, open, run, serve};
use b2nd::{Array, Error, s};
use b2nd_remote::{AsyncArray, RemoteError, RemoteOptions};
use b2nd_testkit::http::{Fault, HttpServer, Settings};
use b2nd_testkit::rng::Rng;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

fn quick() -> RemoteOptions {
    RemoteOptions::new().with_retries(3).with_stall_timeout(Duration::from_millis(400))
}

/// Fails the first `times` requests in this way.
fn fail_first(server: &HttpServer, times: usize, fault: Fault) {
    let count = AtomicUsize::new(0);
    server.set_faults(move |_| (count.fetch_add(1, Ordering::Relaxed) < times).then(|| fault.clone()));
}

async fn opened(server: &HttpServer) -> AsyncArray {
    server.clear_faults();
    let far = open(server, "/a.b2nd", &quick()).await.unwrap();
    far.load_index().await.unwrap();
    far
}

fn setting() -> (Array, HttpServer) {
    let array = noise(30, 4096, 4);
    let server = serve(&array, Settings::default());
    (array, server)
}

#[test]
fn what_may_pass_is_tried_again() {
    let (array, server) = setting();
    let expected = array.read_bytes(s![7]).unwrap();
    run(async {
        let far = opened(&server).await;
        for fault in [
            Fault::Status(500, None),
            Fault::Status(503, None),
            Fault::Status(429, None),
            Fault::Status(429, Some("0".to_owned())),
            Fault::Status(408, None),
            Fault::NoAnswer,
            Fault::ResetAfter(0),
            Fault::ResetAfter(1000),
            Fault::Pause(Duration::from_secs(2)),
        ] {
            fail_first(&server, 2, fault.clone());
            let found = far.read_bytes(s![7]).await;
            assert!(found.is_ok_and(|found| found == expected), "{fault:?}");
            fail_first(&server, usize::MAX, fault.clone());
            let error = far.read_bytes(s![7]).await.unwrap_err();
            let remote = RemoteError::of(&error).unwrap_or_else(|| panic!("{fault:?}: {error}"));
            assert_eq!(remote.tries(), 4, "{fault:?}");
            assert!(remote.range().is_some() && error.to_string().contains("/a.b2nd"), "{error}");
        }
    });
}

#[test]
fn what_stays_is_an_error_at_once() {
    let (_, server) = setting();
    run(async {
        let far = opened(&server).await;
        for (fault, said) in [
            (Fault::Status(400, None), "status 400"),
            (Fault::Status(401, None), "access is refused"),
            (Fault::Status(403, None), "access is refused"),
            (Fault::Status(404, None), "no such object"),
            (Fault::Status(301, None), "status 301"),
            (Fault::Status(501, None), "status 501"),
            (Fault::Status(503, Some("86400".to_owned())), "status 503"),
            (Fault::Whole, "does not read ranges"),
            (Fault::ContentRange("bytes 0-9/10".to_owned()), "does not fit the request"),
            (Fault::ContentRange("bytes 0-18446744073709551615/9".to_owned()), "does not fit the request"),
            (Fault::ContentRange("words".to_owned()), "does not fit the request"),
        ] {
            server.take_counts();
            fail_first(&server, usize::MAX, fault.clone());
            let error = far.read_bytes(s![7]).await.unwrap_err();
            assert!(error.to_string().contains(said), "{fault:?}: {error}");
            assert_eq!(server.counts().requests, 1, "{fault:?}");
        }
        server.set_faults(|_| Some(Fault::Status(412, None)));
        assert!(matches!(far.read_bytes(s![7]).await, Err(Error::Changed { .. })));
    });
}

#[test]
fn bodies_of_other_lengths_are_never_taken() {
    let (array, server) = setting();
    let expected = array.read_bytes(s![7]).unwrap();
    run(async {
        let far = opened(&server).await;
        for fault in [Fault::Short(10), Fault::Long(10)] {
            fail_first(&server, 1, fault.clone());
            let found = far.read_bytes(s![7]).await;
            assert!(found.is_ok_and(|found| found == expected), "{fault:?}");
            fail_first(&server, usize::MAX, fault.clone());
            match far.read_bytes(s![7]).await {
                // Each try of a short body has some bytes more.
                Ok(found) => assert!(fault == Fault::Short(10) && found == expected),
                Err(error) => assert!(RemoteError::of(&error).is_some(), "{fault:?}: {error}"),
            }
        }
        // What breaks off goes on where it broke off.
        server.take_counts();
        fail_first(&server, 1, Fault::ResetAfter(9000));
        assert_eq!(far.read_bytes(s![7]).await.unwrap(), expected);
        let entries = server.entries();
        assert_eq!(entries.len(), 2, "{entries:?}");
        assert_ne!(entries[0].request, entries[1].request);
    });
}

#[test]
fn an_object_that_was_cut_off_is_an_error() {
    let array = noise(30, 4096, 4);
    let settings = Settings::default().with_tags(b2nd_testkit::http::Tags::None, false);
    let server = serve(&array, settings);
    let bytes = array.to_bytes().unwrap();
    run(async {
        let far = open(&server, "/a.b2nd", &quick().with_allow_unpinned(true)).await.unwrap();
        server.put("/a.b2nd", &bytes[..bytes.len() / 2]);
        let read = far.read_bytes(s![20]).await.map(|_| ());
        assert!(matches!(read, Err(Error::Changed { .. })), "{read:?}");
        let error = open(&server, "/a.b2nd", &quick().with_allow_unpinned(true)).await.unwrap_err();
        assert!(error.to_string().contains("cut off"), "{error}");
    });
}

/// A server that sends gigabytes is cut off after what was asked for.
#[test]
fn endless_bodies_end() {
    let (_, server) = setting();
    run(async {
        let far = opened(&server).await;
        for fault in [Fault::Endless, Fault::EndlessOf(1 << 40)] {
            server.take_counts();
            fail_first(&server, usize::MAX, fault.clone());
            let started = Instant::now();
            let error = far.read_bytes(s![7]).await.map(|_| fault.clone()).unwrap_err();
            assert!(RemoteError::of(&error).is_some(), "{fault:?}: {error}");
            assert!(open(&server, "/a.b2nd", &quick()).await.is_err());
            assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
            assert!(server.counts().bytes < 200 << 20, "{:?}", server.counts());
        }
    });
}

#[test]
fn damaged_bytes_are_found_by_checksums() {
    let (_, server) = setting();
    run(async {
        let far = opened(&server).await;
        server.set_faults(|_| Some(Fault::FlipBit));
        let error = far.read_bytes(s![7]).await.unwrap_err();
        assert!(matches!(error, Error::Format(_)) && error.to_string().contains("/a.b2nd"), "{error}");
    });
}

#[test]
fn secrets_are_in_no_message() {
    let (_, server) = setting();
    let address = server.address();
    let secrets = ["hunter2", "signature-of-mine", "token-of-mine"];
    let url = format!("http://me:hunter2@{address}/a.b2nd?sig=signature-of-mine");
    let options = quick().with_header("X-Token", "token-of-mine").with_retries(0);
    let hide = |text: String| {
        for secret in secrets {
            assert!(!text.contains(secret), "{text}");
        }
    };
    run(async {
        let far = AsyncArray::open_url(&url, &options).await.unwrap();
        hide(format!("{far:?} {:?} {options:?}", far.location()));
        let asked: &'static Mutex<Vec<String>> = Box::leak(Box::default());
        for fault in [
            Fault::Status(403, None),
            Fault::Status(500, None),
            Fault::Status(404, None),
            Fault::NoAnswer,
            Fault::Redirect(302, "ftp://me:hunter2@host/?signature-of-mine".to_owned()),
            Fault::Tag("\"other\"".to_owned()),
        ] {
            server.set_faults(move |request| {
                asked.lock().unwrap().push(format!("{} {:?}", request.query, request.headers));
                Some(fault.clone())
            });
            let error = far.read_bytes(s![7]).await.unwrap_err();
            hide(format!("{error} {error:?}"));
            // The tag of another version is not one while it is opened anew.
            if let Err(error) = AsyncArray::open_url(&url, &options).await {
                hide(format!("{error} {error:?}"));
            }
        }
        // But they are sent.
        let asked = asked.lock().unwrap().join("\n");
        assert!(asked.contains("sig=signature-of-mine") && asked.contains("token-of-mine"), "{asked}");
        assert!(asked.contains("Basic bWU6aHVudGVyMg=="), "{asked}");
        drop(server);
        let error = AsyncArray::open_url(&url, &options).await.unwrap_err();
        hide(format!("{error} {error:?}"));
        for bad in
            ["http://me:hunter2@:x/", "gopher://me:hunter2@host/?signature-of-mine", "not a URL hunter"]
        {
            let error = AsyncArray::open_url(bad, &options).await.unwrap_err();
            hide(format!("{error} {error:?}"));
        }
    });
}

/// One request of ten fails, in any way: no read gives a wrong byte, and none fails.
#[test]
fn many_reads_over_a_bad_line() {
    let reads = std::env::var("B2ND_REMOTE_READS").map_or(400, |text| text.parse().unwrap());
    let array = noise(300, 256, 4);
    let server = serve(&array, Settings::default());
    run(async {
        let options = RemoteOptions::new().with_stall_timeout(Duration::from_secs(5));
        let far = open(&server, "/a.b2nd", &options).await.unwrap();
        let rng = Mutex::new(Rng::new(11));
        server.set_faults(move |_| {
            let mut rng = rng.lock().unwrap();
            let fault = match rng.below(5) {
                0 => Fault::Status(503, None),
                1 => Fault::NoAnswer,
                2 => Fault::ResetAfter(rng.below(300) as usize),
                3 => Fault::Short(1 + rng.below(20) as usize),
                _ => Fault::Status(429, Some("0".to_owned())),
            };
            rng.chance(10).then_some(fault)
        });
        let mut rng = Rng::new(12);
        for read in 0..reads {
            let (row, at) = (rng.below(300) as i64, rng.below(256) as i64);
            let found = far.read_bytes(s![row, at]).await.unwrap();
            assert_eq!(found, array.read_bytes(s![row, at]).unwrap(), "read {read}");
        }
        let failed = server.entries().iter().filter(|entry| !matches!(entry.status, 206)).count();
        assert!(failed * 40 > reads, "{failed} of {reads} failed");
    });
}
