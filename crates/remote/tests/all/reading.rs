//! Reads of arrays far away give the items of local reads.

use crate::support::{noise, open, run, serve};
use b2nd::{Array, Error, Selection, s};
use b2nd_remote::object_store::memory::InMemory;
use b2nd_remote::object_store::path::Path;
use b2nd_remote::object_store::{ObjectStore, ObjectStoreExt};
use b2nd_remote::{AsyncArray, Location, Pin, RemoteOptions};
use b2nd_testkit::http::Settings;
use b2nd_testkit::rng::Rng;
use futures_util::TryStreamExt;
use std::sync::Arc;

fn random_selection(rng: &mut Rng, shape: &[u64]) -> Selection {
    if rng.chance(20) {
        let points: Vec<i64> = (0..rng.below(20))
            .flat_map(|_| shape.iter().map(|&len| rng.below(len) as i64).collect::<Vec<_>>())
            .collect();
        return Selection::points(points);
    }
    let sides = shape.iter().map(|&len| {
        let start = rng.below(len);
        (start, start + rng.below(len + 1 - start))
    });
    let (start, stop): (Vec<u64>, Vec<u64>) = sides.unzip();
    Selection::from_box(&start, &stop)
}

async fn compare(far: &AsyncArray, array: &Array, seed: u64) {
    let mut rng = Rng::new(seed);
    for _ in 0..12 {
        let selection = random_selection(&mut rng, array.shape());
        let found = far.read_bytes(selection.clone()).await.unwrap();
        assert!(found == array.read_bytes(selection).unwrap(), "seed {seed}");
        let boxes: Vec<Selection> =
            (0..rng.below(6)).map(|_| random_selection(&mut rng, array.shape())).collect();
        let found = far.read_boxes(boxes.clone()).await.unwrap();
        for (found, selection) in found.into_iter().zip(boxes) {
            assert!(found == array.read_bytes(selection).unwrap(), "seed {seed}");
        }
    }
}

#[test]
fn any_selection_gives_the_items_of_a_local_read() {
    for (rows, len, blocks) in [(300, 64, 4), (40, 4096, 8), (6, 65_536, 16)] {
        let array = noise(rows, len, blocks);
        let server = serve(&array, Settings::default());
        run(async {
            for path in ["/a.b2nd", "/s.b2nd", "/s.b2nd/"] {
                for options in [
                    RemoteOptions::new(),
                    RemoteOptions::new().with_concurrency(1).with_memory(1),
                    RemoteOptions::new().with_concurrency(3).with_memory(100_000),
                ] {
                    let far = open(&server, path, &options).await.unwrap();
                    assert_eq!((far.shape(), far.dtype()), (array.shape(), array.dtype()));
                    compare(&far, &array, rows).await;
                }
            }
        });
    }
}

#[test]
fn stores_of_the_caller_and_parts_of_objects_are_read() {
    let array = noise(50, 256, 4);
    let bytes = array.to_bytes().unwrap();
    let store: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
    run(async {
        let inside = [&[9; 777][..], &bytes, &bytes, &[7; 99]].concat();
        store.put(&Path::from("many"), inside.into()).await.unwrap();
        for (offset, len) in [(777, None), (777, Some(bytes.len() as u64)), (777 + bytes.len() as u64, None)]
        {
            let at = Location::new(Arc::clone(&store), "many").with_part(offset, len);
            let far = AsyncArray::open_at(&at, &RemoteOptions::new()).await.unwrap();
            compare(&far, &array, offset).await;
            let far = tokio::task::spawn_blocking(move || b2nd_remote::open_at(&at, &RemoteOptions::new()));
            let far = far.await.unwrap().unwrap();
            assert_eq!(far.read_bytes(s![3..9]).unwrap(), array.read_bytes(s![3..9]).unwrap());
        }
        let outside = Location::new(Arc::clone(&store), "many").with_part(778, None);
        let error = AsyncArray::open_at(&outside, &RemoteOptions::new()).await.unwrap_err();
        assert!(matches!(error, Error::Format(_)) && error.to_string().contains("many"), "{error}");
    });
}

#[test]
fn items_attributes_and_memory_of_the_caller() {
    let array = noise(20, 64, 4);
    let server = serve(&array, Settings::default());
    run(async {
        let far = open(&server, "/a.b2nd", &RemoteOptions::new()).await.unwrap();
        let expected = array.read_items::<u32>(s![3..5, ..7]).unwrap();
        assert_eq!(far.read_items::<u32>(s![3..5, ..7]).await.unwrap(), expected);
        let mut out = [0u32; 14];
        far.read_into(s![3..5, ..7], &mut out).await.unwrap();
        assert_eq!(out[..], expected);
        assert!(far.read_into(s![3..5, ..6], &mut out).await.is_err());
        let requests = server.counts().requests;
        assert!(matches!(far.read_items::<f32>(s![3]).await, Err(Error::DtypeMismatch { .. })));
        assert_eq!(server.counts().requests, requests, "an error of the caller costs no request");
        far.load_index().await.unwrap();
        assert_eq!(far.attrs().unwrap().get("unit").unwrap(), Some("K".into()));
        assert!(format!("{far:?}").contains("a.b2nd"));
    });
}

#[test]
fn chunks_come_in_order_with_a_bounded_lead() {
    let array = noise(200, 16_384, 4);
    let server = serve(&array, Settings::default());
    run(async {
        let far = open(&server, "/a.b2nd", &RemoteOptions::new()).await.unwrap();
        let mut chunks = std::pin::pin!(far.chunk_stream(8 << 20));
        let first = chunks.try_next().await.unwrap().unwrap();
        assert_eq!((&first.start[..], &first.shape[..]), (&[0, 0][..], &[1, 16_384][..]));
        tokio::time::sleep(std::time::Duration::from_millis(200)).await;
        // 13 MB of items take about 10 MB.
        let taken = server.counts().bytes;
        assert!(taken < 9 << 20, "{taken} bytes for the first chunk");
        let mut row = 1;
        while let Some(chunk) = chunks.try_next().await.unwrap() {
            assert_eq!(chunk.start, [row, 0]);
            assert!(chunk.bytes == array.read_bytes(s![row as i64]).unwrap());
            row += 1;
        }
        assert_eq!(row, 200);
    });
}

#[test]
fn a_read_that_is_dropped_ends_its_requests() {
    let array = noise(200, 4096, 4);
    let slow = Settings::default().with_pace(std::time::Duration::from_millis(100), 0);
    let server = serve(&array, slow);
    run(async {
        let options = RemoteOptions::new().with_concurrency(2).with_memory(40_000);
        let far = open(&server, "/a.b2nd", &options).await.unwrap();
        let read = far.read_bytes(s![]);
        assert!(tokio::time::timeout(std::time::Duration::from_millis(500), read).await.is_err());
        let requests = server.counts().requests;
        tokio::time::sleep(std::time::Duration::from_millis(500)).await;
        assert!(server.counts().requests <= requests + 2);
        assert!(matches!(far.pin(), Pin::Tag(_)));
    });
}
