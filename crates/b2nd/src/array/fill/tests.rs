use super::{FillJob, FillReceipt, Filled};
use crate::array::{Dtype, Options};
use crate::error::Error;
use crate::frame::Layout;
use crate::schunk::{OpenOptions, SaveOptions};
use crate::{Array, s};
use std::path::PathBuf;

struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("b2nd-fill-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Place(path)
    }
    fn path(&self) -> PathBuf {
        self.0.join("array.b2nd")
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn begin(place: &Place, layout: Layout) -> FillJob {
    let options = Options::new().with_chunks([4, 8]).with_blocks([2, 4]).with_layout(layout);
    options.begin_fill(place.path(), Dtype::parse("<u4").unwrap(), [10, 20]).unwrap()
}

fn items(from: u32, count: usize) -> Vec<u8> {
    (from..).take(count).flat_map(u32::to_le_bytes).collect()
}

#[test]
fn boxes_of_whole_chunks_become_the_array() {
    for layout in [Layout::Contiguous, Layout::Sparse] {
        let place = Place::new(&format!("boxes-{layout:?}"));
        let job = begin(&place, layout);
        let mut model = Options::new().create_in_memory(Dtype::parse("<u4").unwrap(), [10, 20]).unwrap();
        let mut receipts = Vec::new();
        for (n, bounds) in [s![..4, ..16], s![4.., 16..], s![8.., ..16]].into_iter().enumerate() {
            let count = [64, 24, 32][n];
            let given = items(1000 * n as u32, count);
            model.write_bytes(bounds.clone(), &given).unwrap();
            receipts.extend(job.write_bytes(bounds, &given).unwrap());
        }
        let numbers: Vec<u64> = receipts.iter().map(FillReceipt::chunk).collect();
        assert_eq!(numbers, [0, 1, 5, 8, 6, 7]);
        assert!(Array::open(place.path()).unwrap().read_bytes(s![]).unwrap().iter().all(|b| *b == 0));
        assert_eq!(job.commit(&receipts).unwrap(), Filled { committed: 6, missing: 3 });
        assert_eq!(job.missing().unwrap(), [2, 3, 4]);
        // Zeros are something else than nothing.
        let rest = [2, 3, 4].map(|n| job.write_chunk(n, &vec![0; [16, 32, 32][n as usize - 2] * 4]).unwrap());
        let array = job.finish(&rest).unwrap();
        assert_eq!(array.read_bytes(s![]).unwrap(), model.read_bytes(s![]).unwrap());
        assert_eq!(std::fs::read_dir(&place.0).unwrap().count(), 1, "the parts are gone");
        assert!(matches!(FillJob::join(place.path()), Err(Error::NotFound { what: "job", .. })));
    }
}

#[test]
fn what_is_no_box_of_whole_chunks_is_refused_by_name() {
    let place = Place::new("unaligned");
    let job = begin(&place, Layout::Sparse);
    for (bounds, axis) in [(s![1..4, ..8], "axis 0"), (s![..4, ..9], "axis 1"), (s![..4, 8..19], "axis 1")] {
        let error = job.write_bytes(bounds, &[]).unwrap_err();
        assert!(error.to_string().contains(axis), "{error}");
    }
    for other in [s![0, ..8], s![..4;2, ..8], s![..;-1, ..8], s![[0, 2, 1, 3], ..8]] {
        assert!(matches!(job.write_bytes(other, &[0; 128]), Err(Error::Usage { .. })));
    }
    assert!(job.write_bytes(s![..4, ..8], &[0; 127]).is_err());
    assert!(job.write_chunk(9, &[]).is_err());
}

#[test]
fn commits_and_chunks_may_be_made_again() {
    let place = Place::new("again");
    let job = begin(&place, Layout::Sparse);
    let first = job.write_chunk(0, &items(1, 32)).unwrap();
    assert_eq!(job.write_chunk(0, &items(1, 32)).unwrap(), first);
    let other = job.write_chunk(0, &items(2, 32)).unwrap();
    assert_ne!(other, first);
    // The last receipt wins; after that another content is a conflict.
    let text: FillReceipt = other.to_string().parse().unwrap();
    assert_eq!(job.commit(&[first.clone(), text]).unwrap().committed, 1);
    assert_eq!(job.commit(&[other]).unwrap().committed, 0);
    assert!(matches!(job.commit(&[first]), Err(Error::State(_))));
    assert_eq!(Array::open(place.path()).unwrap().read_bytes(s![..4, ..8]).unwrap(), items(2, 32));
}

#[test]
fn nothing_is_committed_where_one_part_is_missing_or_damaged() {
    let place = Place::new("damaged");
    let job = begin(&place, Layout::Sparse);
    let good = job.write_chunk(0, &items(1, 32)).unwrap();
    let bad = job.write_chunk(4, &items(9, 32)).unwrap();
    let part = place.0.join("array.b2nd.parts").join(bad.name());
    let mut bytes = std::fs::read(&part).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    std::fs::write(&part, &bytes).unwrap();
    assert!(matches!(job.commit(&[good.clone(), bad.clone()]), Err(Error::Format(_))));
    std::fs::remove_file(&part).unwrap();
    assert!(matches!(job.commit(&[good.clone(), bad]), Err(Error::State(_))));
    assert_eq!(job.missing().unwrap().len(), 9);
    // A receipt for another chunk is none for this one.
    let moved = FillReceipt { chunk: 1, ..good.clone() };
    assert!(job.commit(&[moved]).is_err());
    let stranger = FillReceipt { job: 1, ..good.clone() };
    assert!(matches!(job.commit(&[stranger]), Err(Error::Usage { .. })));
    let error = job.finish(&[good]).unwrap_err();
    assert!(error.to_string().contains("8 of 9 chunks are missing: 1, 2, 3, 4, 5, …"), "{error}");
}

#[test]
fn a_job_is_begun_once_and_packed_without_recompression() {
    let place = Place::new("pack");
    let job = begin(&place, Layout::Sparse);
    let again = Options::new().begin_fill(place.path(), Dtype::parse("<u4").unwrap(), [4]);
    assert!(again.is_err(), "it goes on");
    let receipts = job.write_bytes(s![], &items(0, 200)).unwrap();
    let packed = place.0.join("packed.b2nd");
    FillJob::join_with(place.path(), &OpenOptions::new()).unwrap().commit(&receipts[..3]).unwrap();
    job.pack(&receipts, &packed, &SaveOptions::new()).unwrap();
    let packed = Array::open(packed).unwrap();
    assert_eq!(packed.read_bytes(s![]).unwrap(), items(0, 200));
    let filled = Array::open(place.path()).unwrap();
    assert_eq!(filled.schunk().layout(), Layout::Sparse);
    for n in 0..9 {
        assert_eq!(packed.schunk().chunk(n).unwrap(), filled.schunk().chunk(n).unwrap());
    }
}

#[test]
fn a_job_that_overwrites_takes_the_place_of_one_that_was_left() {
    for layout in [Layout::Contiguous, Layout::Sparse] {
        let place = Place::new(&format!("overwrite-{layout:?}"));
        let left = begin(&place, layout);
        let receipts = left.write_bytes(s![..4, ..16], &items(0, 64)).unwrap();
        left.commit(&receipts[..1]).unwrap();
        let options = || Options::new().with_chunks([2]).with_overwrite(true);
        let next = options().begin_fill(place.path(), Dtype::parse("<u4").unwrap(), [4]).unwrap();
        assert!(matches!(next.commit(&receipts), Err(Error::Usage { .. })), "receipts of the job before");
        assert!(left.commit(&receipts[1..]).is_err());
        let receipts = next.write_bytes(s![], &items(5, 4)).unwrap();
        assert_eq!(next.finish(&receipts).unwrap().read_bytes(s![]).unwrap(), items(5, 4));
        // An interrupted `begin` leaves a folder without a job; another folder is not ours to remove.
        let folder = place.0.join("array.b2nd.parts");
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(folder.join("letter"), "dear").unwrap();
        let refused = options().begin_fill(place.path(), Dtype::parse("<u4").unwrap(), [4]).unwrap_err();
        assert!(refused.to_string().contains("letter"), "{refused}");
        assert!(folder.join("letter").exists() && Array::open(place.path()).is_ok());
        std::fs::remove_file(folder.join("letter")).unwrap();
        options().begin_fill(place.path(), Dtype::parse("<u4").unwrap(), [4]).unwrap();
    }
}

#[test]
fn nothing_remains_of_a_job_that_is_abandoned() {
    for layout in [Layout::Contiguous, Layout::Sparse] {
        let place = Place::new(&format!("abandon-{layout:?}"));
        let job = begin(&place, layout);
        let worker = FillJob::join(place.path()).unwrap();
        let receipts = worker.write_bytes(s![..4, ..16], &items(0, 64)).unwrap();
        job.commit(&receipts[..1]).unwrap();
        let writer = Array::open_with(place.path(), &OpenOptions::new().with_write(true)).unwrap();
        let locked = FillJob::join(place.path()).unwrap().abandon();
        assert!(matches!(locked, Err(Error::Locked(_))));
        drop(writer);
        job.abandon().unwrap();
        assert_eq!(std::fs::read_dir(&place.0).unwrap().count(), 0);
        assert!(worker.write_bytes(s![..4, ..8], &items(0, 32)).is_err());
        assert!(worker.abandon().is_err());
        // A new job is left alone by those of the old one.
        let old = begin(&place, layout);
        FillJob::join(place.path()).unwrap().abandon().unwrap();
        let new = begin(&place, layout);
        assert!(matches!(old.abandon(), Err(Error::State(_))));
        assert_eq!(new.missing().unwrap().len(), 9);
    }
}
