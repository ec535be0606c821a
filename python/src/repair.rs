//! Damaged frames made whole again.

use crate::buffer::{Frame, Source};
use crate::handle::places;
use crate::options::{Place, Repairing};
use crate::watch::{Meter, detached};
use b2nd::Repaired;
use b2nd::error::Part;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::PathBuf;

/// Repairs the frame at a path, to another one or (`None`) in its place; what was found.
#[pyfunction]
pub(crate) fn repair(
    py: Python<'_>,
    path: PathBuf,
    out: Place,
    options: Repairing,
) -> PyResult<Bound<'_, PyDict>> {
    let meter = Meter::default();
    let options = options.options(py, &meter)?;
    let found = detached(py, &meter, || match &out {
        Some(out) => b2nd::repair(&path, out, &options),
        None => b2nd::repair_in_place(&path, &options),
    })?;
    told(py, &found)
}

/// Repairs a contiguous frame in memory: the new one, and what was found.
#[pyfunction]
pub(crate) fn repair_frame<'py>(
    py: Python<'py>,
    frame: Source,
    options: Repairing,
) -> PyResult<(Frame, Bound<'py, PyDict>)> {
    let meter = Meter::default();
    let options = options.options(py, &meter)?;
    let (whole, found) = detached(py, &meter, || b2nd::repair_bytes(frame.bytes().to_vec(), &options))?;
    Ok((Frame(whole), told(py, &found)?))
}

fn told<'py>(py: Python<'py>, found: &Repaired) -> PyResult<Bound<'py, PyDict>> {
    let report = PyDict::new(py);
    report.set_item("is_whole", found.is_whole())?;
    report.set_item("was_sound", found.was_sound())?;
    report.set_item("chunks", found.chunks)?;
    report.set_item("lost", places(py, &found.lost)?)?;
    let named = |(part, text): &(Part, String)| (part.name(), text.clone());
    report.set_item("lost_metalayers", found.lost_metalayers.iter().map(named).collect::<Vec<_>>())?;
    report.set_item("restored", found.restored.iter().map(named).collect::<Vec<_>>())?;
    let guesses = found.guesses.iter().map(|guess| (guess.part.name(), guess.what.clone()));
    report.set_item("guesses", guesses.collect::<Vec<_>>())?;
    report.set_item("stale", &found.stale)?;
    report.set_item("matching", found.matching)?;
    report.set_item("left_out", &found.left_out)?;
    report.set_item("original", found.original.as_deref().map(|path| path.as_os_str().to_owned()))?;
    report.set_item("text", found.to_string())?;
    Ok(report)
}
