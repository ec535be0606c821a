//! Answers of other versions are errors, and never mixed.

use crate::support::{noise, open, run, serve, sparse_files};
use b2nd::{Error, s};
use b2nd_remote::{Pin, RemoteOptions};
use b2nd_testkit::http::{Fault, Settings, Tags};

#[test]
fn a_replaced_object_is_noticed_and_taken_by_a_refresh() {
    let (old, new) = (noise(30, 4096, 4), noise(30, 4096, 8));
    for (tags, dates) in [(Tags::Strong, true), (Tags::Weak, true), (Tags::None, true), (Tags::None, false)] {
        let server = serve(&old, Settings::default().with_tags(tags, dates));
        run(async {
            let options = RemoteOptions::new();
            let mut far = match open(&server, "/a.b2nd", &options).await {
                Err(error) => {
                    assert!(!dates && matches!(error, Error::Usage(_)), "{error}");
                    assert!(error.to_string().contains("allow_unpinned"), "{error}");
                    open(&server, "/a.b2nd", &options.with_allow_unpinned(true)).await.unwrap()
                }
                Ok(far) => far,
            };
            match far.pin() {
                Pin::Tag(_) => assert_eq!(tags, Tags::Strong),
                Pin::DateAndLength { .. } => assert!(dates && tags != Tags::Strong),
                Pin::Length(_) => assert!(!dates),
                other => panic!("{other}"),
            }
            assert_eq!(far.read_bytes(s![3]).await.unwrap(), old.read_bytes(s![3]).unwrap());
            assert!(!far.refresh().await.unwrap());
            server.put("/a.b2nd", new.to_bytes().unwrap());
            let error = far.read_bytes(s![4]).await.unwrap_err();
            assert!(matches!(error, Error::Changed { .. }), "{error}");
            assert!(error.to_string().contains("a.b2nd"), "{error}");
            assert!(far.refresh().await.unwrap());
            assert_eq!(far.read_bytes(s![4]).await.unwrap(), new.read_bytes(s![4]).unwrap());
        });
    }
}

/// A server that ignores conditions, and answers with another version once.
#[test]
fn the_tag_of_each_answer_is_compared() {
    let array = noise(30, 4096, 4);
    let server = serve(&array, Settings::default());
    run(async {
        let far = open(&server, "/a.b2nd", &RemoteOptions::new()).await.unwrap();
        far.load_index().await.unwrap();
        server.set_faults(|_| Some(Fault::Tag("\"another\"".to_owned())));
        let error = far.read_bytes(s![4]).await.unwrap_err();
        assert!(matches!(error, Error::Changed { .. }), "{error}");
        // While it is opened, the versions of two answers differ each time.
        server.set_faults(|request| Some(Fault::Tag(format!("\"t{}\"", request.number))));
        let error = open(&server, "/a.b2nd", &RemoteOptions::new()).await.unwrap_err();
        assert!(matches!(error, Error::Changed { .. }), "{error}");
    });
}

#[test]
fn a_sparse_frame_is_pinned_by_its_frame_file() {
    let (old, new) = (noise(30, 256, 4), noise(30, 256, 8));
    let server = serve(&old, Settings::default());
    run(async {
        let mut far = open(&server, "/s.b2nd/", &RemoteOptions::new()).await.unwrap();
        assert_eq!(far.read_bytes(s![3]).await.unwrap(), old.read_bytes(s![3]).unwrap());
        // A new generation: other chunk objects, and the old ones are gone.
        for path in server.paths().iter().filter(|path| path.ends_with(".chunk")) {
            server.remove(path);
        }
        let error = far.read_bytes(s![4]).await.unwrap_err();
        assert!(error.is_not_found() && error.to_string().contains(".chunk"), "{error}");
        for (name, bytes) in sparse_files(&new) {
            if name.ends_with(".b2frame") {
                server.put("/s.b2nd/chunks.b2frame", bytes);
            }
        }
        let error = far.read_bytes(s![4]).await.unwrap_err();
        assert!(matches!(error, Error::Changed { .. }), "{error}");
        for (name, bytes) in sparse_files(&new) {
            server.put(&format!("/s.b2nd/{name}"), bytes);
        }
        assert!(far.refresh().await.unwrap());
        assert_eq!(far.read_bytes(s![4]).await.unwrap(), new.read_bytes(s![4]).unwrap());
    });
}
