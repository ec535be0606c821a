//! `b2nd diff`: are two arrays equal, bit for bit, and where not.

use std::fmt::Write;

use b2nd::array::{Array, Selection};

use crate::args::{Diff, Place, Work};
use crate::failure::{Failure, Outcome, Result};
use crate::progress::Progress;
use crate::tiling::{Grid, Region, Tiling};
use crate::{numeric, open, output, report};

pub(super) fn run(args: &Diff) -> Result<Outcome> {
    let work = Work::default();
    let a = open::array(&args.a, Place { offset: args.offset, index: args.index }, None, work.exec())?;
    let b = open::array(&args.b, Place { offset: args.offset_b, index: args.index_b }, None, work.exec())?;
    let mut text = String::new();
    if a.shape() != b.shape() {
        let _ = writeln!(text, "shape: {} and {}", report::lengths(a.shape()), report::lengths(b.shape()));
    }
    if a.dtype() != b.dtype() {
        let _ = writeln!(text, "dtype: {} and {}", a.dtype(), b.dtype());
    }
    let mut equal = text.is_empty();
    if equal {
        let progress = Progress::new("diff", a.nbytes());
        let found = contents(args, &a, &b, work.budget(), &progress)?;
        drop(progress);
        equal = found.count == 0;
        if !equal {
            describe(&found, &a, &mut text)?;
        }
    }
    notes(&a, &b, &mut text)?;
    let verdict = if equal { "equal" } else { "different" };
    let (shape, dtype) = (report::lengths(a.shape()), a.dtype());
    let what = if equal { format!(": {shape} {dtype}, {} items", a.size()) } else { String::new() };
    let _ = writeln!(text, "{} and {} are {verdict}{what}", args.a.display(), args.b.display());
    output::print(&text)?;
    Ok(if equal { Outcome::Good } else { Outcome::Damaged })
}

/// The differences that were found.
#[derive(Debug, Default)]
struct Found {
    count: u64,
    /// The first in C order of the walk: its index, and the two items.
    first: Option<(Vec<u64>, Vec<u8>, Vec<u8>)>,
    /// The smallest box with all of them.
    bounds: Option<Region>,
    /// The largest distance of two numbers; `None` for items that are no numbers, and where each pair has a NaN.
    furthest: Option<f64>,
    /// How many pairs have a NaN on one side, or NaN of other bits on both.
    nans: u64,
}

fn contents(args: &Diff, a: &Array, b: &Array, budget: u64, progress: &Progress) -> Result<Found> {
    let itemsize = a.dtype().itemsize();
    let axes: Vec<Grid> =
        a.shape().iter().zip(a.chunks()).map(|(&len, &chunk)| Grid::new(len, chunk)).collect();
    let share = (budget / 2 / (itemsize as u64).max(1)).max(1);
    let mut found = Found::default();
    for region in Tiling::of_cells(&axes, share).boxes() {
        let part = Selection::from_box(&region.start, &region.stop);
        let left = a.read_bytes(part.clone()).map_err(|error| Failure::from(error).about(&args.a))?;
        let right = b.read_bytes(part).map_err(|error| Failure::from(error).about(&args.b))?;
        if left != right {
            compare(a, &region, &left, &right, &mut found);
        }
        progress.add(left.len() as u64);
    }
    Ok(found)
}

fn compare(array: &Array, region: &Region, left: &[u8], right: &[u8], found: &mut Found) {
    let itemsize = array.dtype().itemsize().max(1);
    let shape = region.shape();
    for (n, (x, y)) in left.chunks_exact(itemsize).zip(right.chunks_exact(itemsize)).enumerate() {
        if x == y {
            continue;
        }
        let index = index_of(n as u64, &shape, &region.start);
        found.count += 1;
        match numeric::distance(array.dtype(), x, y) {
            // It has no distance, and says nothing about how far the others are apart.
            Some(distance) if distance.is_nan() => found.nans += 1,
            Some(distance) => {
                found.furthest = Some(found.furthest.map_or(distance, |most| most.max(distance)));
            }
            None => {}
        }
        let bounds = found.bounds.get_or_insert_with(|| Region { start: index.clone(), stop: index.clone() });
        for ((start, stop), &at) in bounds.start.iter_mut().zip(&mut bounds.stop).zip(&index) {
            *start = (*start).min(at);
            *stop = (*stop).max(at + 1);
        }
        if found.first.as_ref().is_none_or(|(first, _, _)| index < *first) {
            found.first = Some((index, x.to_vec(), y.to_vec()));
        }
    }
}

fn index_of(mut n: u64, shape: &[u64], start: &[u64]) -> Vec<u64> {
    let mut index = start.to_vec();
    for (at, &len) in index.iter_mut().zip(shape).rev() {
        *at += n % len.max(1);
        n /= len.max(1);
    }
    index
}

fn describe(found: &Found, a: &Array, text: &mut String) -> Result<()> {
    let percent = found.count as f64 / a.size().max(1) as f64 * 100.0;
    let _ = writeln!(text, "items: {} of {} differ ({percent:.3} %)", found.count, a.size());
    if let Some((index, x, y)) = &found.first {
        let index: Vec<String> = index.iter().map(u64::to_string).collect();
        let (x, y) = (crate::show::item(a.dtype(), x)?, crate::show::item(a.dtype(), y)?);
        let _ = writeln!(text, "first: [{}]: {x} and {y}", index.join(", "));
    }
    if let Some(bounds) = &found.bounds {
        let _ = writeln!(text, "within: {}", report::region(&bounds.start, &bounds.stop));
    }
    if let Some(furthest) = found.furthest {
        let _ = writeln!(text, "largest difference: {furthest}");
    }
    if found.nans > 0 {
        let _ = writeln!(text, "NaN on one side or both: {}", report::count(found.nans, "item"));
    }
    Ok(())
}

/// Metalayers and attributes that differ: said, but not counted as a difference of the arrays.
fn notes(a: &Array, b: &Array, text: &mut String) -> Result<()> {
    let fixed = |array: &Array| -> Vec<(String, Vec<u8>)> {
        let own = |name: &str| name == "b2nd" || name == "caterva";
        array
            .schunk()
            .metalayers()
            .filter(|(n, _)| !own(n))
            .map(|(n, c)| (n.to_owned(), c.to_vec()))
            .collect()
    };
    note("metalayer", &fixed(a), &fixed(b), text);
    let variable = |array: &Array| -> Result<Vec<(String, Vec<u8>)>> {
        let names: Vec<String> = array.schunk().vlmetalayer_names()?.map(str::to_owned).collect();
        let content = |name: String| Ok(array.schunk().vlmetalayer(&name)?.map(|content| (name, content)));
        names.into_iter().filter_map(|name| content(name).transpose()).collect()
    };
    note("attribute", &variable(a)?, &variable(b)?, text);
    Ok(())
}

fn note(what: &str, a: &[(String, Vec<u8>)], b: &[(String, Vec<u8>)], text: &mut String) {
    for (name, content) in a {
        match b.iter().find(|(other, _)| other == name) {
            None => _ = writeln!(text, "note: {what} {name:?} is only in the first"),
            Some((_, other)) if other != content => _ = writeln!(text, "note: {what} {name:?} differs"),
            Some(_) => {}
        }
    }
    for (name, _) in b.iter().filter(|(name, _)| !a.iter().any(|(other, _)| other == name)) {
        let _ = writeln!(text, "note: {what} {name:?} is only in the second");
    }
}
