//! The verbs that read take URLs: each prints for an array behind HTTP what it prints for the file.

use crate::support::{Folder, items, npy};
use b2nd_testkit::http::{Fault, HttpServer, Settings};

struct Far {
    folder: Folder,
    server: HttpServer,
    url: String,
}

fn far() -> Far {
    let folder = Folder::new();
    folder.write("in.npy", &npy("<u4", &[40, 30], false, &items(&[40, 30])));
    folder.good(&["import", "in.npy", "a.b2nd", "--chunks", "10,30"]);
    folder.good(&["attrs", "a.b2nd", "set", "units", "kelvin"]);
    let server = HttpServer::start(Settings::default()).unwrap();
    server.put("/data/a.b2nd", folder.read("a.b2nd"));
    let url = server.url("/data/a.b2nd");
    Far { folder, server, url }
}

#[test]
fn verbs_that_read_print_the_same_for_a_url_as_for_the_file() {
    let Far { folder, url, server: _server } = far();
    for verb in [
        &["info"][..],
        &["info", "--json"],
        &["slice", "[3:5, ::7]"],
        &["cat"],
        &["attrs"],
        &["attrs", "--json"],
        &["verify"],
    ] {
        let with = |name: &str| {
            let mut args = vec![verb[0], name];
            args.extend(&verb[1..]);
            folder.good(&args).replace(name, "FILE")
        };
        assert_eq!(with(&url), with("a.b2nd"), "{verb:?}");
    }
    folder.good(&["export", &url, "out.npy"]);
    assert_eq!(folder.read("out.npy"), folder.read("in.npy"));
    folder.good(&["slice", &url, "[3:5, ::7]", "-o", "far.npy"]);
    folder.good(&["slice", "a.b2nd", "[3:5, ::7]", "-o", "near.npy"]);
    assert_eq!(folder.read("far.npy"), folder.read("near.npy"));
    folder.good(&["diff", &url, "a.b2nd"]);
    folder.good(&["convert", &url, "copy.b2nd"]);
    folder.good(&["diff", "copy.b2nd", &url]);
}

#[test]
fn a_small_part_is_not_fetched_with_the_whole() {
    let folder = Folder::new();
    let bytes = b2nd_testkit::rng::Rng::new(5).bytes(4 << 20);
    folder.write("in.npy", &npy("|u1", &[4 << 10, 1 << 10], false, &bytes));
    folder.good(&["import", "in.npy", "a.b2nd", "--chunks", "64,1024"]);
    let server = HttpServer::start(Settings::default()).unwrap();
    server.put("/a.b2nd", folder.read("a.b2nd"));
    folder.good(&["slice", &server.url("/a.b2nd"), "[2000, 7]"]);
    let counts = server.take_counts();
    assert!(counts.bytes < 400 << 10 && counts.requests < 9, "{counts:?}");
}

#[test]
fn what_cannot_be_done_with_a_url_is_said_and_no_secret_with_it() {
    let Far { folder, server, url } = far();
    let host = url.strip_prefix("http://").unwrap();
    let secret = format!("http://me:hunter2@{host}?signature=hunter2");
    server.set_faults(|_| Some(Fault::Status(403, None)));
    for args in [
        &["info", &secret][..],
        &["attrs", &secret, "set", "units", "K"],
        &["info", &secret, "--offset", "7"],
        &["import", "in.npy", &secret],
        &["append", &secret, "in.npy"],
        &["slice", "s3://bucket/a.b2nd?hunter2=hunter2", "--offset", "3", "[0]"],
    ] {
        let (code, out, error) = folder.run(args);
        assert_ne!(code, 0, "{args:?}");
        assert!(!error.contains("hunter2") && !out.contains("hunter2"), "{args:?}: {error}");
        assert!(error.contains("data/a.b2nd") || error.contains("URL"), "{args:?}: {error}");
    }
}
