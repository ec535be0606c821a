//! Redirects: followed within bounds, and secrets stay with the first origin.

use crate::support::{noise, open, run, serve};
use b2nd::s;
use b2nd_remote::{AsyncArray, RemoteOptions};
use b2nd_testkit::http::{Fault, Settings};
use std::sync::{Arc, Mutex};

#[test]
fn redirects_are_followed_within_bounds() {
    let array = noise(30, 64, 4);
    let server = serve(&array, Settings::default());
    let to = server.url("/a.b2nd");
    server.set_faults(move |request| (request.path == "/moved").then(|| Fault::Redirect(307, to.clone())));
    run(async {
        let far = open(&server, "/moved", &RemoteOptions::new()).await.unwrap();
        assert_eq!(far.read_bytes(s![3]).await.unwrap(), array.read_bytes(s![3]).unwrap());
        server.set_faults(|request| Some(Fault::Redirect(302, format!("{}x", request.path))));
        server.take_counts();
        let error = open(&server, "/a.b2nd", &RemoteOptions::new().with_redirects(3)).await.unwrap_err();
        assert!(error.to_string().contains("more than 3 redirects"), "{error}");
        // Head and end of the object, each with three more requests.
        assert_eq!(server.counts().requests, 8);
        for (to, said) in [
            ("ftp://127.0.0.1/a", "another kind of URL"),
            ("http://me:secret@127.0.0.1/a", "with a user"),
            ("http://[", "no URL"),
        ] {
            server.set_faults(move |_| Some(Fault::Redirect(302, to.to_owned())));
            let error = open(&server, "/a.b2nd", &RemoteOptions::new()).await.unwrap_err();
            assert!(error.to_string().contains(said) && !error.to_string().contains("secret"), "{error}");
        }
    });
}

#[test]
fn secrets_do_not_go_to_another_origin() {
    let array = noise(30, 64, 4);
    let (first, other) = (serve(&array, Settings::default()), serve(&array, Settings::default()));
    let to = other.url("/a.b2nd");
    first.set_faults(move |_| Some(Fault::Redirect(302, to.clone())));
    let seen: Arc<Mutex<Vec<String>>> = Arc::default();
    let sees = Arc::clone(&seen);
    other.set_faults(move |request| {
        sees.lock().unwrap().push(format!("{:?} {}", request.headers, request.query));
        None
    });
    run(async {
        let url = format!("http://me:hunter2@{}/a.b2nd?sig=secret", first.address());
        let options = RemoteOptions::new().with_header("Cookie", "a=hunter2").with_header("X-Key", "hunter2");
        let far = AsyncArray::open_url(&url, &options).await.unwrap();
        assert_eq!(far.read_bytes(s![3]).await.unwrap(), array.read_bytes(s![3]).unwrap());
        let seen = seen.lock().unwrap().join("\n");
        assert!(seen.contains("range"), "{seen}");
        for secret in ["hunter2", "secret", "authorization", "cookie", "x-key", "bWU6", "referer"] {
            assert!(!seen.contains(secret), "{seen}");
        }
    });
}
