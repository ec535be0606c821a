//! One owner at a time, whatever became of the one before.

use super::holder::Record;
use super::lock::{HeldLock, Locking};
use super::*;
use crate::error::{Error, LockedError, Result};
use std::fs;
use std::fs::{File, TryLockError};
use std::io;
use std::path::PathBuf;

struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Self {
        let base = std::env::temp_dir().join(format!("b2nd-owner-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&base);
        fs::create_dir_all(&base).unwrap();
        fs::write(base.join("frame"), b"frame").unwrap();
        Place(fs::canonicalize(base).unwrap())
    }
    fn frame(&self) -> PathBuf {
        self.0.join("frame")
    }
    fn owner(&self) -> PathBuf {
        self.0.join("frame.b2owner")
    }
    fn names(&self) -> Vec<String> {
        let names = fs::read_dir(&self.0).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }
    /// What a process that is gone has left: its number is above all that are given.
    fn leave(&self) -> u32 {
        let text = Record::own().to_text();
        let own = format!("process {}\n", std::process::id());
        fs::write(self.owner(), text.replace(&own, "process 2147483000\n")).unwrap();
        2_147_483_000
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn no_locks(_: &File) -> std::result::Result<(), TryLockError> {
    Err(TryLockError::Error(io::ErrorKind::Unsupported.into()))
}

fn busy(_: &File) -> std::result::Result<(), TryLockError> {
    Err(TryLockError::WouldBlock)
}

fn locked<T: std::fmt::Debug>(result: Result<T>) -> LockedError {
    match result {
        Err(Error::Locked(error)) => *error,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_second_is_told_who_is_the_first() {
    let place = Place::new("second");
    let first = Owner::of_existing(&place.frame()).unwrap();
    for second in [Owner::of_existing(&place.frame()), Owner::of_new(&place.frame())] {
        let error = locked(second);
        assert_eq!((error.path(), error.lock()), (&*place.frame(), &*place.owner()));
        let holder = error.holder().unwrap();
        assert_eq!(holder.process(), std::process::id());
        let text = error.to_string();
        assert!(text.contains(holder.since()) && text.contains(holder.program()), "{text}");
    }
    drop(first);
    assert_eq!(place.names(), ["frame"], "nothing is left");
    drop(Owner::of_existing(&place.frame()).unwrap());
    assert!(Owner::of_existing(&place.0.join("missing")).is_err());
    assert_eq!(place.names(), ["frame"]);
}

#[cfg(unix)]
#[test]
fn a_link_is_the_frame_that_it_leads_to() {
    let place = Place::new("link");
    let link = place.0.join("link");
    std::os::unix::fs::symlink("frame", &link).unwrap();
    let first = Owner::of_existing(&link).unwrap();
    locked(Owner::of_existing(&place.frame()));
    locked(Owner::of_new(&link));
    drop(first);
    let new = Owner::of_new(&link).unwrap();
    locked(Owner::of_existing(&place.frame()));
    drop(new);
    // A hostile one is not written through.
    std::os::unix::fs::symlink("frame", place.owner()).unwrap();
    assert!(Owner::of_existing(&place.frame()).is_err());
    assert_eq!(fs::read(place.frame()).unwrap(), b"frame");
}

#[test]
fn a_large_file_is_left_alone() {
    let place = Place::new("stranger");
    let text = vec![b'x'; 5000];
    fs::write(place.owner(), &text).unwrap();
    let error = Owner::of_existing(&place.frame()).unwrap_err();
    assert_eq!(error.fault(), crate::error::Fault::Environment);
    let error = error.to_string();
    assert!(error.contains("frame.b2owner: cannot make its lock file: a file of 5000 bytes"), "{error}");
    assert_eq!(fs::read(place.owner()).unwrap(), text);
}

#[test]
fn a_lock_that_a_power_cut_has_torn_keeps_nobody_out() {
    let place = Place::new("torn");
    let whole = Record::own().to_text().into_bytes();
    let half = [&whole[..40], &[0; 60]].concat();
    for torn in [Vec::new(), vec![0; 1], vec![0; 160], vec![0; 4096], half, b"b2nd\0\0\0\0".to_vec()] {
        fs::write(place.owner(), &torn).unwrap();
        let held = Owner::of_existing(&place.frame()).unwrap();
        assert_eq!(fs::read(place.owner()).unwrap(), Record::own().to_text().as_bytes());
        locked(Owner::of_existing(&place.frame()));
        drop(held);
        assert_eq!(place.names(), ["frame"], "{torn:?}");
    }
    // What is more than a torn lock of ours is kept under another name.
    for (n, junk) in [b"a diary".to_vec(), (0..=255).rev().collect()].into_iter().enumerate() {
        fs::write(place.owner(), &junk).unwrap();
        let held = Owner::of_new(&place.frame()).unwrap();
        locked(Owner::of_existing(&place.frame()));
        drop(held);
        let kept = ["frame.b2owner.orig", "frame.b2owner.orig-2"];
        assert_eq!(fs::read(place.0.join(kept[n])).unwrap(), junk);
        assert_eq!(place.names(), [&["frame"], &kept[..=n]].concat());
    }
}

#[test]
fn a_torn_lock_that_is_held_is_not_taken_away() {
    let place = Place::new("torn-held");
    for torn in [&[0; 160][..], b"junk"] {
        fs::write(place.owner(), torn).unwrap();
        locked(HeldLock::take(&place.frame(), &place.frame(), busy));
        locked(HeldLock::take(&place.frame(), &place.frame(), no_locks));
        assert_eq!(fs::read(place.owner()).unwrap(), torn);
    }
}

#[cfg(unix)]
#[test]
fn who_is_gone_is_followed_and_cleaned_up_after() {
    let place = Place::new("gone");
    for (locking, refused) in [(File::try_lock as Locking, false), (busy, true), (no_locks, false)] {
        let process = place.leave();
        for n in 0..3 {
            fs::write(place.0.join(format!(".frame.tmp-{process}-{n}")), b"half").unwrap();
        }
        fs::write(place.0.join(".frame.tmp-1-0"), b"another's").unwrap();
        // A lock that is held is not taken away: another may have followed, and not have written its name yet.
        let locking = if refused {
            let before = fs::read(place.owner()).unwrap();
            let error = locked(HeldLock::take(&place.frame(), &place.frame(), locking));
            assert!(error.to_string().contains("remove"), "{error}");
            assert_eq!(fs::read(place.owner()).unwrap(), before);
            File::try_lock as Locking
        } else {
            locking
        };
        let held = HeldLock::take(&place.frame(), &place.frame(), locking).unwrap();
        let holder = Record::parse(&fs::read(place.owner()).unwrap()).unwrap().holder;
        assert_eq!(holder.process, std::process::id());
        drop(held);
        assert_eq!(place.names(), [".frame.tmp-1-0", "frame"]);
    }
}

#[test]
fn without_locks_the_file_itself_is_the_lock() {
    let place = Place::new("lockless");
    let take = || HeldLock::take(&place.frame(), &place.frame(), no_locks);
    let first = take().unwrap();
    let error = locked(take());
    assert!(error.to_string().contains("remove"), "a person may know better: {error}");
    drop(first);
    drop(take().unwrap());
    let text = Record::own().to_text().replace("host ", "host not-");
    fs::write(place.owner(), text).unwrap();
    assert!(locked(take()).holder().unwrap().host().starts_with("not-"), "it counts its processes itself");
}

#[test]
fn the_lock_of_another_process_is_not_removed() {
    let place = Place::new("forked");
    let mut held = HeldLock::take(&place.frame(), &place.frame(), File::try_lock).unwrap();
    held.process = held.process.wrapping_add(1);
    drop(held);
    assert_eq!(place.names(), ["frame", "frame.b2owner"], "as after a fork");
    // And one that took our place keeps it.
    let held = HeldLock::take(&place.frame(), &place.frame(), File::try_lock).unwrap();
    fs::remove_file(place.owner()).unwrap();
    let other = HeldLock::take(&place.frame(), &place.frame(), File::try_lock).unwrap();
    drop(held);
    assert_eq!(place.names(), ["frame", "frame.b2owner"]);
    drop(other);
    assert_eq!(place.names(), ["frame"]);
}

#[test]
fn many_threads_have_it_one_at_a_time() {
    use std::sync::atomic::{AtomicU32, Ordering};
    let place = Place::new("threads");
    for locking in [File::try_lock as Locking, no_locks] {
        let (inside, turns) = (AtomicU32::new(0), AtomicU32::new(0));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let mut done = 0;
                    while done < 50 {
                        match HeldLock::take(&place.frame(), &place.frame(), locking) {
                            Ok(held) => {
                                assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                                done += 1;
                                turns.fetch_add(1, Ordering::SeqCst);
                                inside.fetch_sub(1, Ordering::SeqCst);
                                drop(held);
                            }
                            Err(Error::Locked(_)) => std::thread::yield_now(),
                            Err(error) => panic!("{error}"),
                        }
                    }
                });
            }
        });
        assert_eq!(turns.load(Ordering::SeqCst), 200);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_folder_that_takes_no_files_is_named_and_no_lock() {
    let error = Owner::of_new(std::path::Path::new("/proc/x.b2nd")).unwrap_err();
    let Error::Io { source, path, .. } = &error else { panic!("{error}") };
    assert_eq!(source.kind(), io::ErrorKind::PermissionDenied, "{error}");
    assert_eq!(path.as_deref(), Some(std::path::Path::new("/proc/x.b2nd")));
    assert!(!error.to_string().contains("elsewhere"), "{error}");
}
