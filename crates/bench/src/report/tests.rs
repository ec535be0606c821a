//! What a page and its verdicts say of made-up numbers.

use super::cell::{Cell, Label, Unit};
use super::page::{Run, json, markdown};
use super::targets::TARGETS;
use super::verdict::{geometric_mean, spread, verdicts};
use crate::groups::name;
use crate::measure::Pair;

fn cell(group: &'static str, name: &str, ratio: f64) -> Cell {
    Label::new(group, name, 1, Unit::Bytes(1_000_000)).timed(Pair { ours: 0.5, rival: 0.5 * ratio, ratio })
}

fn run(cells: Vec<Cell>) -> Run {
    let versions = vec![("b2nd", "1".to_string())];
    Run {
        mode: "quick",
        machine: "a machine".into(),
        versions,
        cells,
        skipped: vec!["this".into()],
        seconds: 2.0,
    }
}

#[test]
fn numbers_have_the_unit_of_their_label() {
    let pair = Pair { ours: 0.5, rival: 1.0, ratio: 2.0 };
    let of = |unit| Label::new(name::WHOLE, "x", 2, unit).timed(pair);
    let (bytes, steps, time) = (of(Unit::Bytes(1_000_000)), of(Unit::Steps("items/s")), of(Unit::Time));
    assert_eq!((bytes.unit, bytes.ours, bytes.rival, bytes.ratio), ("MB/s", 2.0, 1.0, 2.0));
    assert_eq!((steps.unit, steps.ours), ("items/s", 2.0));
    assert_eq!((time.unit, time.ours, time.rival), ("ms", 500.0, 1000.0));
    let size = Label::new(name::SIZE, "x", 1, Unit::Time).bytes(50, 100);
    assert_eq!((size.unit, size.ours, size.rival, size.ratio), ("bytes", 50.0, 100.0, 2.0));
}

#[test]
fn the_json_has_the_fields_that_are_asked_for() {
    let mut sized = cell(name::COMPRESSION, "c", 1.2);
    sized.size_ratio = Some(0.5);
    let found = json(&run(vec![cell(name::OPEN, "o", 3.0), sized]));
    assert_eq!(found["machine"], "a machine");
    assert_eq!(found["versions"]["b2nd"], "1");
    let keys: Vec<&String> = found["cells"][0].as_object().into_iter().flat_map(|c| c.keys()).collect();
    assert_eq!(keys, ["group", "name", "ours", "ratio", "rival", "rival_name", "threads", "unit"]);
    assert_eq!(found["cells"][1]["size_ratio"], 0.5);
    assert_eq!(found["cells"][0]["rival_name"], "C-Blosc2");
}

#[test]
fn floors_means_and_noise_are_judged() {
    let cells = vec![
        cell(name::DECOMPRESSION, "A/A a", 1.02),
        cell(name::DECOMPRESSION, "a", 2.0),
        cell(name::DECOMPRESSION, "b", 0.985),
        cell(name::WHOLE, "a", 1.19),
        cell(name::WHOLE, "b", 4.0),
        cell(name::UPDATE, "a", 0.5),
        cell(name::DURABILITY, "a", 0.5),
        cell(name::COPY, "shuffle 8, 1 GiB", 0.79),
        cell(name::COPY, "shuffle 8, 4 MiB", 0.5),
        cell(name::OVERWRITE, "overwrite first chunk, 1 GB", 19.0),
        cell(name::OVERWRITE, "overwrite first chunk, 10 MB", 1.0),
        cell(name::PARTS, "a", 3.0),
        cell(name::SELECTIONS, "b", 3.0),
    ];
    assert!((spread(&cells) - 0.02).abs() < 1e-9);
    let verdicts = verdicts(&cells);
    let of = |title: &str| {
        verdicts.iter().find(|v| v.title.starts_with(title)).map(|v| (v.passes(), v.failing.len()))
    };
    assert_eq!(of("decompression"), Some((false, 1)));
    assert_eq!(of("whole-array"), Some((false, 1)));
    assert_eq!(of("shuffle and bitshuffle"), Some((false, 1)));
    assert_eq!(of("overwrite in"), Some((false, 1)));
    assert_eq!(of("hyperplanes"), Some((true, 0)));
    assert_eq!(of("overwriting"), Some((false, 1)), "the noise is a floor");
    assert_eq!(of(name::DURABILITY), Some((true, 0)), "no target, no failure");
    let within = &verdicts.iter().find(|v| v.title.starts_with("decompression")).map(|v| v.failing[0].2);
    assert_eq!(*within, Some(true));
}

#[test]
fn a_larger_result_does_not_count_as_faster() {
    let mut larger = cell(name::COMPRESSION, "c", 3.0);
    larger.size_ratio = Some(0.98);
    let cells = [larger];
    assert!(!verdicts(&cells)[0].passes());
    let page = markdown(&run(cells.to_vec()));
    assert!(page.contains("| FAIL |") && page.contains("larger") && page.contains("- this"), "{page}");
}

#[test]
fn means_leave_out_the_noise_and_titles_are_known() {
    let cells = [cell(name::OPEN, "A/A o", 100.0), cell(name::OPEN, "o", 4.0), cell(name::OPEN, "p", 1.0)];
    assert_eq!(verdicts(&cells)[0].mean, 2.0);
    assert_eq!(geometric_mean([].into_iter()), None);
    let groups = crate::groups::names();
    assert!(TARGETS.iter().flat_map(|t| t.groups).all(|group| groups.contains(group)));
}
