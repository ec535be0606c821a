//! Filling one array from many processes.

use crate::buffer::Source;
use crate::errors::{raised, usage};
use crate::gate::Gate;
use crate::handle::Handle;
use crate::options::{Making, Opening, Saving, dtype};
use crate::selection::Picked;
use crate::watch::{Meter, detached};
use b2nd::array::{self, FillReceipt};
use pyo3::prelude::*;
use std::path::PathBuf;

/// A job that fills an array; see `b2nd::array::FillJob`. Threads write side by side.
#[pyclass(frozen, module = "b2nd._b2nd")]
pub(crate) struct FillJob {
    /// Taken out by its end.
    job: Gate<Option<array::FillJob>>,
    path: PathBuf,
    meter: Meter,
}

impl FillJob {
    fn new(job: array::FillJob, path: PathBuf, meter: Meter) -> Self {
        FillJob { job: Gate::new(Some(job)), path, meter }
    }

    fn with<R: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&array::FillJob) -> Result<R, b2nd::Error> + Send,
    ) -> PyResult<R> {
        let kept = self.job.read(py)?;
        let job = kept.as_ref().ok_or_else(|| ended(py))?;
        detached(py, &self.meter, || work(job))
    }

    fn taken(&self, py: Python<'_>) -> PyResult<array::FillJob> {
        self.job.write(py)?.take().ok_or_else(|| ended(py))
    }
}

fn ended(py: Python<'_>) -> PyErr {
    usage(py, "this job has ended")
}

fn receipts(py: Python<'_>, texts: &[String]) -> PyResult<Vec<FillReceipt>> {
    texts.iter().map(|text| text.parse().map_err(|error| raised(py, &error))).collect()
}

#[pymethods]
impl FillJob {
    /// Makes the array, with no chunk initialised, and begins to fill it.
    #[staticmethod]
    fn begin(
        py: Python<'_>,
        path: PathBuf,
        dtype_text: &str,
        shape: Vec<u64>,
        options: Making,
    ) -> PyResult<Self> {
        let (meter, of) = (Meter::default(), dtype(py, dtype_text)?);
        let options = options.options(py, None, &meter)?;
        let job = detached(py, &meter, || options.begin_fill(&path, of, &shape))?;
        Ok(FillJob::new(job, path, meter))
    }

    /// Joins a job that was begun.
    #[staticmethod]
    fn join(py: Python<'_>, path: PathBuf, options: Opening) -> PyResult<Self> {
        let meter = Meter::default();
        let options = options.options(py, &meter)?;
        let job = detached(py, &meter, || array::FillJob::join_with(&path, &options))?;
        Ok(FillJob::new(job, path, meter))
    }

    #[getter]
    fn path(&self) -> PathBuf {
        self.path.clone()
    }

    /// The shape, the chunks and the dtype of the array.
    fn layout(&self, py: Python<'_>) -> PyResult<(Vec<u64>, Vec<u64>, String)> {
        self.with(py, |job| {
            let array = job.array();
            Ok((array.shape().to_vec(), array.chunks().to_vec(), array.dtype().to_text()))
        })
    }

    /// Writes a box of whole chunks: a receipt for each.
    fn write(&self, py: Python<'_>, selection: Picked, items: Source) -> PyResult<Vec<String>> {
        let receipts = self.with(py, |job| job.write_bytes(selection.0, items.bytes()))?;
        Ok(receipts.iter().map(ToString::to_string).collect())
    }

    /// Puts chunks into the array by their receipts: how many, and how many are missing still.
    fn commit(&self, py: Python<'_>, texts: Vec<String>) -> PyResult<(u64, u64)> {
        let receipts = receipts(py, &texts)?;
        let filled = self.with(py, |job| job.commit(&receipts))?;
        Ok((filled.committed, filled.missing))
    }

    /// The chunks that nobody has committed yet.
    fn missing(&self, py: Python<'_>) -> PyResult<Vec<u64>> {
        self.with(py, array::FillJob::missing)
    }

    /// Commits the last receipts and ends the job.
    fn finish(&self, py: Python<'_>, texts: Vec<String>) -> PyResult<Handle> {
        let receipts = receipts(py, &texts)?;
        let job = self.taken(py)?;
        let array = detached(py, &self.meter, || job.finish(&receipts))?;
        Ok(Handle::new(array, self.meter.clone()))
    }

    /// As `finish`, and saves the array as one compact file.
    fn pack(&self, py: Python<'_>, texts: Vec<String>, path: PathBuf, options: Saving) -> PyResult<()> {
        let (receipts, options) = (receipts(py, &texts)?, options.options(py)?);
        let job = self.taken(py)?;
        detached(py, &self.meter, || job.pack(&receipts, &path, &options))
    }

    /// Ends the job without a result: nothing of it remains.
    fn abandon(&self, py: Python<'_>) -> PyResult<()> {
        let job = self.taken(py)?;
        detached(py, &self.meter, || job.abandon())
    }
}
