//! `b2nd append`: an array grows along an axis, by a `.npy` file, raw bytes, a stream or another array.

use std::time::Instant;

use b2nd::{Array, Dtype, Selection, Transaction};

use crate::args::{Append, Place};
use crate::failure::{Failure, Outcome, Result};
use crate::input::Input;
use crate::progress::Progress;
use crate::shown::Shown as _;
use crate::tiling::Grid;
use crate::{open, output, report};

pub(super) fn run(args: &Append) -> Result<Outcome> {
    let started = Instant::now();
    output::check_named(&args.file)?;
    let mut array = open::writable(&args.file, args.place, args.work.exec())?;
    let axis = axis(args, &array)?;
    let before = array.nbytes();
    let raw = open::raw(&args.raw, &args.input)?;
    if raw.is_none() && open::is_frame(&args.input) {
        extend(args, &mut array, axis)?;
    } else {
        let mut input = Input::open(&args.input, raw)?;
        if input.kind().shape.len() + 1 == array.ndim() {
            input.insert_axis(axis);
        }
        check(args, &array, axis, &input.kind().dtype, &input.kind().shape)?;
        write(args, &mut array, axis, &mut input)?;
    }
    let added = array.nbytes().saturating_sub(before);
    let text = report::appended(&args.file.shown(), &array, added, axis, started.elapsed());
    output::summary(&text)?;
    Ok(Outcome::Good)
}

/// The axis that grows.
fn axis(args: &Append, array: &Array) -> Result<usize> {
    let ndim = i32::try_from(array.ndim()).unwrap_or(i32::MAX);
    let from_the_end = if args.axis < 0 { ndim } else { 0 };
    let axis = usize::try_from(args.axis + from_the_end).ok().filter(|&axis| axis < array.ndim());
    axis.ok_or_else(|| {
        let message = format!(
            "--axis {}: the shape of {} is {}",
            args.axis,
            args.file.shown(),
            report::lengths(array.shape())
        );
        let hint = match ndim {
            0 => "an array without axes holds one item and cannot grow".into(),
            n => format!("give an axis from 0 to {}, or from -{n} to -1, counted from the end", n - 1),
        };
        Failure::usage(message, hint)
    })
}

/// Another array: the library takes its chunks over.
fn extend(args: &Append, array: &mut Array, axis: usize) -> Result<()> {
    let other = open::array(&args.input, Place::default(), None, args.work.exec())?;
    check(args, array, axis, other.dtype(), other.shape())?;
    let progress = Progress::new("append", other.nbytes());
    array.set_exec(progress.watch(args.work.exec()));
    array.extend(axis, &[&other]).map_err(|error| Failure::from(error).about(&args.input))
}

/// Refuses items of another dtype, and shapes that do not go together.
fn check(args: &Append, array: &Array, axis: usize, dtype: &Dtype, shape: &[u64]) -> Result<()> {
    let (file, input) = (args.file.shown(), args.input.shown());
    if dtype != array.dtype() {
        let message = format!("{input}: its items are {dtype}, and those of {file} are {}", array.dtype());
        let hint = if array.stored_dtype().is_none() {
            format!(
                "if {file} holds {dtype}: `b2nd convert {file} NEW.b2nd --dtype '{dtype}'` makes a file that says so"
            )
        } else {
            format!("append converts nothing; in NumPy: items.astype('{}')", array.dtype())
        };
        return Err(Failure::usage(message, hint));
    }
    let others = |shape: &[u64]| -> Vec<u64> {
        shape.iter().enumerate().filter(|(d, _)| *d != axis).map(|(_, &len)| len).collect()
    };
    if shape.len() != array.ndim() || others(shape) != others(array.shape()) {
        let wanted: Vec<String> = array.shape().iter().map(u64::to_string).collect();
        let wanted: Vec<&str> =
            wanted.iter().enumerate().map(|(d, len)| if d == axis { "N" } else { len.as_str() }).collect();
        let comma = if wanted.len() == 1 { "," } else { "" };
        return Err(Failure::usage(
            format!(
                "{input}: shape {} cannot be appended along axis {axis} of {file}, which has shape {}",
                report::lengths(shape),
                report::lengths(array.shape())
            ),
            format!(
                "the input needs shape ({}{comma}); --axis says along which axis it is appended",
                wanted.join(", ")
            ),
        ));
    }
    Ok(())
}

/// Items that come from outside, in one commit.
fn write(args: &Append, array: &mut Array, axis: usize, input: &mut Input) -> Result<()> {
    let progress = Progress::new("append", input.nbytes());
    array.set_exec(progress.watch(args.work.exec()));
    let budget = args.work.budget();
    let mut transaction = array.transaction();
    if input.nbytes() > 0 && input.fits(budget) {
        // In one piece, so that the old last chunks, which may not be full, are made anew only once.
        let mut items = Vec::new();
        input.read(&input.whole(), &mut items, budget)?;
        transaction.append_bytes(axis, &items)?;
    } else {
        in_boxes(args, &mut transaction, axis, input)?;
    }
    input.check_end()?;
    transaction.commit()?;
    Ok(())
}

/// More than the memory holds: boxes of whole chunks, written into an array that has its new shape already.
fn in_boxes(args: &Append, transaction: &mut Transaction<'_>, axis: usize, input: &mut Input) -> Result<()> {
    let kind = input.kind().clone();
    let mut shape = transaction.array().shape().to_vec();
    let mut start = vec![0; shape.len()];
    for (d, ((len, start), new)) in shape.iter_mut().zip(&mut start).zip(&kind.shape).enumerate() {
        if d == axis {
            *start = *len;
            *len = len.saturating_add(*new);
        }
    }
    transaction.resize(shape)?;
    let chunks = transaction.array().chunks();
    let axes =
        kind.shape.iter().zip(chunks).zip(&start).map(|((&len, &chunk), &at)| Grid::from(len, chunk, at));
    let budget = args.work.budget();
    let tiling = input.tiling(axes.collect(), budget);
    input.prepare(&tiling, &args.file)?;
    let mut items = Vec::new();
    for region in tiling.boxes() {
        input.read(&region, &mut items, budget)?;
        let place = if kind.fortran { region.reversed() } else { region };
        let shift = |at: &[u64]| -> Vec<u64> { at.iter().zip(&start).map(|(a, b)| a + b).collect() };
        transaction.write_bytes(Selection::from_box(&shift(&place.start), &shift(&place.stop)), &items)?;
    }
    Ok(())
}
