//! The protocol of S3, as far as reading needs it: paths of buckets, conditions, and signed requests.

use crate::support::{noise, run, serve};
use b2nd::{Error, s};
use b2nd_remote::{AsyncArray, Pin, RemoteOptions};
use b2nd_testkit::http::{Fault, Settings};
use std::sync::{Arc, Mutex};
use std::time::Duration;

#[test]
fn objects_of_a_bucket_are_read_and_pinned() {
    let array = noise(30, 4096, 4);
    let server = serve(&array, Settings::default());
    server.put("/bucket/folder/a b.b2nd", array.to_bytes().unwrap());
    let seen: Arc<Mutex<Vec<String>>> = Arc::default();
    let sees = Arc::clone(&seen);
    server.set_faults(move |request| {
        sees.lock().unwrap().push(format!("{:?}", request.headers));
        (request.number % 5 == 2).then_some(Fault::Status(503, None))
    });
    let options = RemoteOptions::new()
        .with_store_option("endpoint", server.url(""))
        .with_store_option("region", "eu-central-1")
        .with_store_option("access_key_id", "key-of-mine")
        .with_store_option("secret_access_key", "hunter2")
        .with_stall_timeout(Duration::from_secs(5));
    run(async {
        let url = "s3://bucket/folder/a%20b.b2nd";
        let far = AsyncArray::open_url(url, &options).await.unwrap();
        assert!(matches!(far.pin(), Pin::Tag(_)));
        for row in 0..10 {
            assert_eq!(far.read_bytes(s![row]).await.unwrap(), array.read_bytes(s![row]).unwrap());
        }
        let seen = seen.lock().unwrap().join("\n");
        assert!(seen.contains("AWS4-HMAC-SHA256") && seen.contains("if-match"), "{seen}");
        assert!(!format!("{far:?} {options:?}").contains("hunter2"));
        server.put("/bucket/folder/a b.b2nd", array.to_bytes().unwrap());
        let error = far.read_bytes(s![20]).await.unwrap_err();
        assert!(matches!(error, Error::Changed { .. }) && error.to_string().contains(url), "{error}");
        let error = AsyncArray::open_url("s3://bucket/none", &options).await.unwrap_err();
        assert!(error.is_not_found(), "{error}");
        let unknown = options.clone().with_store_option("no_such_option", "hunter2");
        let error = AsyncArray::open_url(url, &unknown).await.unwrap_err();
        assert!(
            error.to_string().contains("no_such_option") && !error.to_string().contains("hunter2"),
            "{error}"
        );
    });
}
