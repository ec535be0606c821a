//! An open array, as Python holds it.

use crate::buffer::{Frame, Source};
use crate::errors::{raised, usage};
use crate::gate::Gate;
use crate::options::{Making, Opening, Place, Saving, dtype, split_name};
use crate::selection::{Picked, arranged};
use crate::watch::{Meter, detached};
use b2nd::{Array, ArrayWriter, Damage, Dtype, Error, Selection};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::RwLockReadGuard;

/// What is behind a handle.
pub(crate) enum Kept {
    Open(Array),
    /// Between `begin` and `commit` or `rollback`.
    Changing(ArrayWriter),
    Closed,
}

impl Kept {
    pub(crate) fn array(&self) -> PyResult<&Array> {
        match self {
            Kept::Open(array) => Ok(array),
            Kept::Changing(writer) => Ok(writer.array()),
            Kept::Closed => Err(closed()),
        }
    }
}

pub(crate) fn closed() -> PyErr {
    PyValueError::new_err("the array is closed")
}

/// An array: read by many threads at once, changed by one.
#[pyclass(frozen, module = "b2nd._b2nd")]
pub(crate) struct Handle {
    pub(crate) kept: Gate<Kept>,
    pub(crate) meter: Meter,
}

impl Handle {
    pub(crate) fn new(array: Array, meter: Meter) -> Self {
        Handle { kept: Gate::new(Kept::Open(array)), meter }
    }

    /// Looks at the array, without letting go of the interpreter.
    pub(crate) fn look<R>(&self, py: Python<'_>, look: impl FnOnce(&Array) -> R) -> PyResult<R> {
        let kept = self.kept.read(py)?;
        Ok(look(kept.array()?))
    }

    /// Reads the array, without the interpreter.
    pub(crate) fn detached<R: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&Array) -> Result<R, Error> + Send,
    ) -> PyResult<R> {
        let kept = self.kept.read(py)?;
        let array = kept.array()?;
        detached(py, &self.meter, || work(array))
    }

    /// Reads the items of the array, without the interpreter. Other threads may change the array meanwhile: what is read is
    /// the last commit before.
    pub(crate) fn reading<R: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&Array) -> Result<R, Error> + Send,
    ) -> PyResult<R> {
        let kept = self.kept.read(py)?;
        let snapshot = match &*kept {
            // A snapshot has a block cache of its own, which would be empty. Nobody changes what was opened for reading.
            Kept::Open(array)
                if array.schunk().is_writable() && array.schunk().block_cache().capacity == 0 =>
            {
                array.snapshot().ok()
            }
            _ => None,
        };
        if let Some(snapshot) = snapshot {
            drop(kept);
            return detached(py, &self.meter, || work(&snapshot));
        }
        let array = kept.array()?;
        detached(py, &self.meter, || work(array))
    }
}

#[pymethods]
impl Handle {
    #[getter]
    fn shape(&self, py: Python<'_>) -> PyResult<Vec<u64>> {
        self.look(py, |array| array.shape().to_vec())
    }
    #[getter]
    fn chunks(&self, py: Python<'_>) -> PyResult<Vec<u64>> {
        self.look(py, |array| array.chunks().to_vec())
    }
    #[getter]
    fn blocks(&self, py: Python<'_>) -> PyResult<Vec<u64>> {
        self.look(py, |array| array.blocks().to_vec())
    }
    /// The dtype as text.
    #[getter]
    fn dtype(&self, py: Python<'_>) -> PyResult<String> {
        self.look(py, |array| array.dtype().to_text())
    }
    #[getter]
    fn cbytes(&self, py: Python<'_>) -> PyResult<u64> {
        self.look(py, Array::cbytes)
    }
    #[getter]
    fn nchunks(&self, py: Python<'_>) -> PyResult<u64> {
        self.look(py, |array| array.schunk().nchunks())
    }
    #[getter]
    fn is_changing(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(matches!(*self.kept.read(py)?, Kept::Changing(_)))
    }
    #[getter]
    fn is_closed(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(matches!(*self.kept.read(py)?, Kept::Closed))
    }

    /// All that is told of the array and its frame.
    fn info<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let kept = self.kept.read(py)?;
        let (array, schunk, params) = {
            let array = kept.array()?;
            (array, array.schunk(), array.schunk().params())
        };
        let info = PyDict::new(py);
        info.set_item("path", schunk.path().map(|path| path.as_os_str().to_owned()))?;
        info.set_item("sparse", schunk.layout() == b2nd::Layout::Sparse)?;
        info.set_item("codec", params.codec().name())?;
        info.set_item("codec_meta", params.codec_meta())?;
        info.set_item("clevel", params.clevel())?;
        let filters: Vec<_> =
            params.pipeline().filters().map(|(f, meta)| (f.name().into_owned(), meta)).collect();
        info.set_item("filters", filters)?;
        info.set_item("splitmode", split_name(params.split()))?;
        info.set_item("use_dict", params.dictionary())?;
        info.set_item("nchunks", schunk.nchunks())?;
        info.set_item("frame_bytes", schunk.frame_len())?;
        info.set_item("frame_version", schunk.version())?;
        info.set_item("revision", array.revision().name())?;
        info.set_item("checksums", schunk.has_checksums().map_err(|error| raised(py, &error))?)?;
        info.set_item("nthreads", schunk.exec().threads())?;
        let cache = schunk.block_cache();
        info.set_item("cache_hits", cache.hits)?;
        info.set_item("cache_misses", cache.misses)?;
        Ok(info)
    }

    /// What is known of a chunk without decompressing it.
    fn chunk_info<'py>(&self, py: Python<'py>, n: u64) -> PyResult<Bound<'py, PyDict>> {
        let found =
            self.look(py, |array| array.schunk().chunk_info(n))?.map_err(|error| raised(py, &error))?;
        let info = PyDict::new(py);
        info.set_item("nchunk", found.number)?;
        info.set_item("nbytes", found.nbytes)?;
        info.set_item("cbytes", found.cbytes)?;
        info.set_item("cratio", found.ratio())?;
        info.set_item("blocksize", found.blocksize)?;
        info.set_item("special", found.special.map(|special| format!("{special:?}").to_lowercase()))?;
        Ok(info)
    }

    /// The contents of the metalayers, by their names.
    fn metalayers(&self, py: Python<'_>) -> PyResult<Vec<(String, Vec<u8>)>> {
        self.look(py, |array| array.schunk().metalayers().map(|(n, c)| (n.to_owned(), c.to_vec())).collect())
    }

    fn vlmetalayer_names(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.detached(py, |array| Ok(array.schunk().vlmetalayer_names()?.map(str::to_owned).collect()))
    }

    fn vlmetalayer(&self, py: Python<'_>, name: &str) -> PyResult<Option<Vec<u8>>> {
        self.detached(py, |array| array.schunk().vlmetalayer(name))
    }

    /// What tells this state of the array from those of other commits.
    fn state(&self, py: Python<'_>) -> PyResult<u128> {
        self.detached(py, |array| array.schunk().state())
    }

    /// The bytes that its files hold, and how many of them nothing refers to.
    fn space(&self, py: Python<'_>) -> PyResult<(u64, u64)> {
        let space = self.detached(py, |array| array.schunk().space())?;
        Ok((space.stored, space.dead()))
    }

    /// Decodes and checks everything; what is wrong, as a dictionary.
    fn verify<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let verified = self.detached(py, Array::verify)?;
        let report = PyDict::new(py);
        report.set_item("is_sound", verified.is_sound())?;
        report.set_item("matching", verified.matching)?;
        report.set_item("unchecked", verified.unchecked)?;
        report.set_item("stale", &verified.stale)?;
        report.set_item("damage", places(py, &verified.damage)?)?;
        Ok(report)
    }

    /// The array as one contiguous frame.
    fn to_frame(&self, py: Python<'_>) -> PyResult<Frame> {
        self.detached(py, Array::to_bytes).map(Frame)
    }

    fn save(&self, py: Python<'_>, path: std::path::PathBuf, options: Saving) -> PyResult<()> {
        let options = options.options(py)?;
        self.detached(py, |array| array.save(&path, &options))
    }

    /// What a selection takes of the array, or of its axes otherwise arranged, as an array of its own.
    #[pyo3(signature = (path, options, selection=Picked(Selection::all()), axes=None))]
    fn slice(
        &self,
        py: Python<'_>,
        path: Place,
        options: Making,
        selection: Picked,
        axes: Option<Vec<Option<i64>>>,
    ) -> PyResult<Handle> {
        self.made(py, options, None, |array, options| {
            let view = arranged(array, axes.as_deref())?;
            match path {
                Some(path) => options.slice(path, view, selection.0),
                None => options.slice_in_memory(view, selection.0),
            }
        })
    }

    /// A copy whose items have another dtype.
    fn astype(&self, py: Python<'_>, path: Place, options: Making, to: &str) -> PyResult<Handle> {
        let to = dtype(py, to)?;
        self.made(py, options, Some(&to), |array, options| match path {
            Some(path) => options.astype(path, array, &to),
            None => options.astype_in_memory(array, &to),
        })
    }

    /// A copy of another shape, with the items in the same order.
    fn reshape(&self, py: Python<'_>, path: Place, options: Making, shape: Vec<u64>) -> PyResult<Handle> {
        self.made(py, options, None, |array, options| match path {
            Some(path) => options.reshape(path, array, shape),
            None => options.reshape_in_memory(array, shape),
        })
    }
}

impl Handle {
    /// An array made of this one; `to` is its dtype, where that is another.
    fn made(
        &self,
        py: Python<'_>,
        options: Making,
        to: Option<&Dtype>,
        make: impl FnOnce(&Array, b2nd::Options) -> Result<Array, Error> + Send,
    ) -> PyResult<Handle> {
        let meter = Meter::default();
        let like = self.look(py, |array| array.params_for(to.unwrap_or(array.dtype())))?;
        let options = options.options(py, Some(like), &meter)?;
        let kept = self.kept.read(py)?;
        let array = kept.array()?;
        let made = detached(py, &meter, || make(array, options))?;
        Ok(Handle::new(made, meter))
    }
}

/// Makes a new array; with `data`, all its items in C order, it appears when they are in it. With `begun` it appears at `commit`.
#[pyfunction]
#[pyo3(signature = (path, dtype_text, shape, options, data=None, begun=false))]
pub(crate) fn create(
    py: Python<'_>,
    path: Place,
    dtype_text: &str,
    shape: Vec<u64>,
    options: Making,
    data: Option<Source>,
    begun: bool,
) -> PyResult<Handle> {
    let (meter, of) = (Meter::default(), dtype(py, dtype_text)?);
    let options = options.options(py, None, &meter)?;
    let made = detached(py, &meter, || {
        let mut writer = match path {
            Some(path) => options.create_uncommitted(path, of, shape)?,
            None => options.create_uncommitted_in_memory(of, shape)?,
        };
        if let Some(data) = &data {
            writer.write_bytes(Selection::all(), data.bytes())?;
        }
        Ok(if begun { Kept::Changing(writer) } else { Kept::Open(writer.commit()?) })
    })?;
    Ok(Handle { kept: Gate::new(made), meter })
}

/// Opens the array at a path.
#[pyfunction]
pub(crate) fn open(py: Python<'_>, path: std::path::PathBuf, options: Opening) -> PyResult<Handle> {
    let meter = Meter::default();
    let options = options.options(py, &meter)?;
    let array = detached(py, &meter, || Array::open_with(&path, &options))?;
    Ok(Handle::new(array, meter))
}

/// Opens an array in the bytes of a frame: where they are, when nobody can write to them and the array is not to be changed; else
/// in a copy.
#[pyfunction]
pub(crate) fn from_frame(py: Python<'_>, frame: Source, options: Opening) -> PyResult<Handle> {
    let (meter, share) = (Meter::default(), frame.is_fixed() && !options.write);
    let options = options.options(py, &meter)?;
    let array = detached(py, &meter, || {
        if share {
            Array::from_shared(frame, &options)
        } else {
            Array::from_bytes(frame.bytes().to_vec(), &options)
        }
    })?;
    Ok(Handle::new(array, meter))
}

/// Arrays one behind the other, along an axis that they have.
#[pyfunction]
pub(crate) fn concatenate(
    py: Python<'_>,
    path: Place,
    handles: Vec<Py<Handle>>,
    axis: usize,
    options: Making,
) -> PyResult<Handle> {
    joined(py, &handles, options, |options, arrays| match path {
        Some(path) => options.concatenate(path, arrays, axis),
        None => options.concatenate_in_memory(arrays, axis),
    })
}

/// Arrays one behind the other, along a new axis.
#[pyfunction]
pub(crate) fn stack(
    py: Python<'_>,
    path: Place,
    handles: Vec<Py<Handle>>,
    axis: usize,
    options: Making,
) -> PyResult<Handle> {
    joined(py, &handles, options, |options, arrays| match path {
        Some(path) => options.stack(path, arrays, axis),
        None => options.stack_in_memory(arrays, axis),
    })
}

fn joined(
    py: Python<'_>,
    handles: &[Py<Handle>],
    options: Making,
    join: impl FnOnce(b2nd::Options, &[&Array]) -> Result<Array, Error> + Send,
) -> PyResult<Handle> {
    let meter = Meter::default();
    let guards = all(py, handles)?;
    let arrays: Vec<&Array> = guards.iter().map(|kept| kept.array()).collect::<PyResult<_>>()?;
    let first = arrays.first().ok_or_else(|| usage(py, "there is nothing to join"))?;
    let options = options.options(py, Some(first.params_for(first.dtype())), &meter)?;
    let made = detached(py, &meter, || join(options, &arrays))?;
    Ok(Handle::new(made, meter))
}

/// What is damaged, a dictionary each.
pub(crate) fn places<'py>(py: Python<'py>, damage: &[Damage]) -> PyResult<Vec<Bound<'py, PyDict>>> {
    let one = |damage: &Damage| {
        let entry = PyDict::new(py);
        entry.set_item("chunk", damage.chunk)?;
        entry.set_item("block", damage.block)?;
        entry.set_item("count", damage.count)?;
        entry.set_item("start", &damage.start)?;
        entry.set_item("stop", &damage.stop)?;
        entry.set_item("error", raised(py, &damage.error).into_value(py))?;
        Ok(entry)
    };
    damage.iter().map(one).collect()
}

/// All of them, for reading.
pub(crate) fn all<'a>(py: Python<'_>, handles: &'a [Py<Handle>]) -> PyResult<Vec<RwLockReadGuard<'a, Kept>>> {
    handles.iter().map(|handle| handle.get().kept.read(py)).collect()
}
