//! `b2nd diff`: are two arrays equal, bit for bit or within a tolerance, and where not.

mod found;
mod side;

use std::fmt::Write;

use b2nd::Dtype;
use serde_json::{Value as Json, json};

use self::found::{Differences, Pair};
pub(super) use self::side::Side;
use crate::args::{Diff, Place};
use crate::failure::{Failure, Outcome, Result};
use crate::numeric::{self, Items, Tolerance};
use crate::output::Talk;
use crate::progress::Progress;
use crate::shown::Shown as _;
use crate::tiling::{Grid, Tiling};
use crate::{output, report};

pub(super) fn run(args: &Diff) -> Result<Outcome> {
    let exec = args.work.exec();
    let mut a = Side::open(&args.a, Place { offset: args.offset, index: args.index }, exec.clone())?;
    let mut b = Side::open(&args.b, Place { offset: args.offset_b, index: args.index_b }, exec)?;
    let tolerance = tolerance(args);
    let mut compared = Compared { notes: side::notes(&a, &b)?, ..Compared::default() };
    if a.shape() != b.shape() {
        let (a, b) = (report::lengths(a.shape()), report::lengths(b.shape()));
        compared.reasons.push(format!("shape: {a} and {b}"));
    }
    if a.dtype() != b.dtype() {
        let text = format!("dtype: {} and {}", a.dtype(), b.dtype());
        // A tolerance is for numbers, whatever their dtypes.
        if tolerance.is_some() && numeric::is_number(a.dtype()) && numeric::is_number(b.dtype()) {
            compared.notes.push(text);
        } else {
            compared.reasons.push(text);
        }
    }
    if compared.reasons.is_empty() {
        compared.found = Some(contents(args, &mut a, &mut b, tolerance)?);
    }
    let equal = compared.found.as_ref().is_some_and(|found| found.count == 0);
    if args.json {
        output::print(&format!("{:#}\n", compared.to_json(args, &a, &b, equal)?))?;
    } else if output::talks(Talk::Normal) {
        output::print(&compared.to_text(args, &a, &b, equal)?)?;
    }
    Ok(if equal { Outcome::Good } else { Outcome::Damaged })
}

/// The tolerance, where the command line names one.
fn tolerance(args: &Diff) -> Option<Tolerance> {
    let given = args.rtol.is_some() || args.atol.is_some() || args.equal_nan;
    given.then(|| Tolerance {
        relative: args.rtol.unwrap_or(0.0),
        absolute: args.atol.unwrap_or(0.0),
        equal_nan: args.equal_nan,
    })
}

/// Compares the items, as many at a time as fit the memory.
fn contents(args: &Diff, a: &mut Side, b: &mut Side, tolerance: Option<Tolerance>) -> Result<Differences> {
    let (left_dtype, right_dtype) = (a.dtype().clone(), b.dtype().clone());
    let cut = a.chunks().or(b.chunks()).map(<[u64]>::to_vec);
    let cells = cut.unwrap_or_else(|| vec![1; a.shape().len()]);
    let axes: Vec<Grid> = a.shape().iter().zip(cells).map(|(&len, chunk)| Grid::new(len, chunk)).collect();
    let budget = args.work.budget();
    let itemsize = (left_dtype.itemsize() + right_dtype.itemsize()) as u64;
    let share = (budget / itemsize.max(1)).max(1);
    let progress = Progress::new("diff", a.nbytes());
    let mut found = Differences::default();
    for region in Tiling::of_cells(&axes, share).boxes() {
        let left = a.read(&region, budget).map_err(|failure| failure.about(&args.a))?;
        let right = b.read(&region, budget).map_err(|failure| failure.about(&args.b))?;
        let pair = Pair {
            left: Items { dtype: &left_dtype, bytes: left },
            right: Items { dtype: &right_dtype, bytes: right },
        };
        // Most often all is equal; NaN is not, where a tolerance is given.
        if tolerance.is_some() || left != right {
            found.add(&region, &pair, tolerance);
        }
        progress.add(left.len() as u64);
    }
    Ok(found)
}

/// What the comparison gave.
#[derive(Default)]
struct Compared {
    /// Why the items are not compared: shapes or dtypes that differ.
    reasons: Vec<String>,
    found: Option<Differences>,
    /// What differs and does not count.
    notes: Vec<String>,
}

impl Compared {
    fn to_text(&self, args: &Diff, a: &Side, b: &Side, equal: bool) -> Result<String> {
        let mut text = String::new();
        for reason in &self.reasons {
            let _ = writeln!(text, "{reason}");
        }
        if let Some(found) = self.found.as_ref().filter(|_| !equal) {
            found.describe(a.dtype(), b.dtype(), a.items(), &mut text)?;
        }
        for note in &self.notes {
            let _ = writeln!(text, "note: {note}");
        }
        let verdict = match (equal, tolerance(args)) {
            (false, _) => "different",
            (true, None) => "equal",
            (true, Some(_)) => "equal within the tolerance",
        };
        let (shape, dtype) = (report::lengths(a.shape()), a.dtype());
        let what = if equal { format!(": {shape} {dtype}, {} items", a.items()) } else { String::new() };
        let _ = writeln!(text, "{} and {} are {verdict}{what}", args.a.shown(), args.b.shown());
        Ok(text)
    }

    fn to_json(&self, args: &Diff, a: &Side, b: &Side, equal: bool) -> Result<Json> {
        let side = |path: &std::path::Path, side: &Side| {
            json!({
                "file": path.shown(),
                "shape": side.shape(),
                "dtype": side.dtype().to_text(),
            })
        };
        let mut all = json!({
            "equal": equal,
            "a": side(&args.a, a),
            "b": side(&args.b, b),
            "items": a.items(),
            "notes": self.notes,
        });
        let found = match &self.found {
            Some(found) => found.to_json(a.dtype(), b.dtype())?,
            None => json!({ "reasons": self.reasons }),
        };
        if let (Json::Object(all), Json::Object(found)) = (&mut all, found) {
            all.extend(found);
        }
        Ok(all)
    }
}

/// One item as text.
fn item(dtype: &Dtype, bytes: &[u8]) -> Result<String, Failure> {
    crate::show::item(dtype, bytes)
}
