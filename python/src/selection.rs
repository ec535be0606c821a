//! Selections, as `b2nd/_indexing.py` hands them over, and the axes of views.

use b2nd::{Array, Axis, Error, Selection, View};
use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyList, PyTuple};

/// `None`: everything. A list: for each axis an index, `(start, stop, step)`, or a buffer of indices (`int64`). A buffer: flat
/// positions.
pub(crate) struct Picked(pub(crate) Selection);

impl FromPyObject<'_, '_> for Picked {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        if object.is_none() {
            return Ok(Picked(Selection::all()));
        }
        if let Ok(axes) = object.cast::<PyList>() {
            let axes: Vec<Axis> = axes.iter().map(|axis| one(&axis)).collect::<PyResult<_>>()?;
            return Ok(Picked(Selection::new(axes)));
        }
        let positions = PyBuffer::<i64>::get(&object)?.to_vec(object.py())?;
        Ok(Picked(Selection::flat(positions)))
    }
}

/// A part of a selection along one axis.
pub(crate) fn one(axis: &Bound<'_, PyAny>) -> PyResult<Axis> {
    if axis.is_instance_of::<PyInt>() {
        return Ok(Axis::Index(axis.extract()?));
    }
    if axis.is_instance_of::<PyTuple>() {
        let (start, stop, step) = axis.extract()?;
        return Ok(Axis::Range { start, stop, step });
    }
    Ok(Axis::List(PyBuffer::<i64>::get(axis)?.to_vec(axis.py())?))
}

/// The array under other axes: for each which of the array's it is, or a new one. Those that are not named have length 1.
pub(crate) fn arranged<'a>(array: &'a Array, axes: Option<&[Option<i64>]>) -> Result<View<'a>, Error> {
    let Some(axes) = axes else { return Ok(array.view()) };
    let kept: Vec<i64> = axes.iter().flatten().copied().collect();
    let ndim = i64::try_from(array.ndim()).unwrap_or(i64::MAX);
    let left_out: Vec<i64> = (0..ndim).filter(|axis| !kept.contains(axis)).collect();
    let place = |axis: &i64| axis - left_out.iter().filter(|out| *out < axis).count() as i64;
    let order: Vec<i64> = kept.iter().map(place).collect();
    let new: Vec<i64> = (0i64..).zip(axes).filter(|(_, axis)| axis.is_none()).map(|(at, _)| at).collect();
    array.squeeze_axes(&left_out)?.permute(&order)?.expand_dims(&new)
}
