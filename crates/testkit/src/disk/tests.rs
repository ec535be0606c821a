//! What crashes of small logs leave, written out by hand.

use super::{Crash, Cut, Disk, Effort, Files, SECTOR};
use crate::rng::Rng;
use std::collections::BTreeSet;

const ALL: Effort = Effort { random: 1000, sectors: 200, odd: 1000 };

fn crashes(disk: &Disk) -> Vec<(Cut, usize, Files)> {
    let mut found = Vec::new();
    let mut keep = |crash: &Crash| found.push((crash.cut, crash.done, crash.files.clone()));
    disk.crashes(ALL, &mut Rng::new(1), &mut keep);
    found
}

/// What one file may hold after a power cut, by changes that were acknowledged.
fn contents(disk: &Disk, name: &str, acknowledged: usize) -> BTreeSet<Option<Vec<u8>>> {
    let power =
        crashes(disk).into_iter().filter(|(cut, done, _)| (*cut, *done) == (Cut::Power, acknowledged));
    power.map(|(_, _, files)| files.get(name).cloned()).collect()
}

fn with_file(bytes: &[u8]) -> Disk {
    Disk::new(&Files::from([("a".to_owned(), bytes.to_vec())]))
}

#[test]
fn what_was_waited_for_is_there_and_what_was_not_may_be() {
    let mut disk = with_file(b"..");
    disk.write(0, 0, b"1");
    disk.sync(0);
    disk.done(1);
    disk.write(0, 1, b"2");
    disk.done(2);
    let some = |all: &[&[u8]]| all.iter().map(|bytes| Some(bytes.to_vec())).collect::<BTreeSet<_>>();
    assert_eq!(contents(&disk, "a", 0), some(&[b"..", b"1."]));
    assert_eq!(contents(&disk, "a", 1), some(&[b"1."]));
    assert_eq!(contents(&disk, "a", 2), some(&[b"1.", b"12"]));
}

#[test]
fn writes_reach_the_medium_in_any_order() {
    let mut disk = with_file(b"...");
    disk.write(0, 0, b"ab");
    disk.write(0, 1, b"cd");
    disk.done(1);
    let found = contents(&disk, "a", 1);
    let expected: [&[u8]; 5] = [b"...", b"ab.", b".cd", b"acd", b"abd"];
    assert_eq!(found, expected.iter().map(|bytes| Some(bytes.to_vec())).collect());
}

#[test]
fn a_sector_is_written_whole_or_not_at_all() {
    let mut disk = with_file(&[b'.'; 3 * SECTOR]);
    disk.write(0, 500, &[b'x'; 2 * SECTOR]);
    disk.done(1);
    let found = contents(&disk, "a", 1);
    for bytes in found.iter().flatten() {
        for (part, old) in [(500..512, 12), (512..1024, 512), (1024..1524, 500)] {
            let new = bytes[part].iter().filter(|byte| **byte == b'x').count();
            assert!(new == 0 || new == old);
        }
    }
    // All choices of three sectors.
    assert_eq!(found.len(), 8);
}

#[test]
fn what_grows_a_file_is_cut_anywhere() {
    let mut disk = with_file(b"old");
    disk.write(0, 3, b"new!");
    let found = contents(&disk, "a", 0);
    for len in 3..=7 {
        assert!(found.contains(&Some(b"oldnew!"[..len].to_vec())), "{len}");
    }
    // Grown, and nothing written.
    assert!(found.contains(&Some(b"old\0\0\0\0".to_vec())));
}

#[test]
fn a_name_may_come_before_what_the_file_holds() {
    let mut disk = with_file(b"old");
    let file = disk.create("t");
    disk.write(file, 0, b"n");
    disk.rename("t", "a");
    let unsynced = contents(&disk, "a", 0);
    assert!(unsynced.contains(&Some(Vec::new())) && unsynced.contains(&Some(b"old".to_vec())));
    let mut disk = with_file(b"old");
    let file = disk.create("t");
    disk.write(file, 0, b"n");
    disk.sync(file);
    disk.rename("t", "a");
    let synced = contents(&disk, "a", 0);
    assert_eq!(synced, [b"old".to_vec(), b"n".to_vec()].into_iter().map(Some).collect());
    disk.sync_names();
    disk.done(1);
    disk.remove("a");
    assert_eq!(contents(&disk, "a", 1), [Some(b"n".to_vec()), None].into_iter().collect());
}

#[test]
fn a_killed_process_has_written_in_order() {
    let mut disk = with_file(b"..");
    disk.write(0, 0, b"1");
    disk.write(0, 1, b"2");
    let killed: BTreeSet<_> = crashes(&disk)
        .into_iter()
        .filter(|(cut, ..)| *cut == Cut::Kill)
        .map(|(.., files)| files["a"].clone())
        .collect();
    assert_eq!(killed, [b"..", b"1.", b"12"].into_iter().map(|bytes| bytes.to_vec()).collect());
}

#[test]
fn many_writes_are_tried_at_random() {
    let mut disk = with_file(&[b'.'; 20]);
    (0..20).for_each(|at| disk.write(0, at, b"x"));
    let found = contents(&disk, "a", 0);
    assert!(found.len() > 500, "{}", found.len());
}
