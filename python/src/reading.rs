//! Reading parts and reducing.

use crate::buffer::{Frame, Sink};
use crate::errors::usage;
use crate::handle::Handle;
use crate::selection::{Picked, arranged};
use b2nd::{Array, Error, Over, Reduced};
use pyo3::prelude::*;

#[pymethods]
impl Handle {
    /// Reads what a selection takes of the array, or of its axes otherwise arranged, into a buffer of its size.
    #[pyo3(signature = (selection, out, axes=None))]
    fn read_into(
        &self,
        py: Python<'_>,
        selection: Picked,
        mut out: Sink,
        axes: Option<Vec<Option<i64>>>,
    ) -> PyResult<()> {
        self.reading(py, |array| match &axes {
            None => array.read_bytes_into(selection.0, out.bytes()),
            Some(axes) => arranged(array, Some(axes))?.read_bytes_into(selection.0, out.bytes()),
        })
    }

    /// Reads a field of what a selection takes into a buffer of its size.
    #[pyo3(signature = (field, selection, out, axes=None))]
    fn read_field_into(
        &self,
        py: Python<'_>,
        field: &str,
        selection: Picked,
        mut out: Sink,
        axes: Option<Vec<Option<i64>>>,
    ) -> PyResult<()> {
        self.reading(py, |array| {
            arranged(array, axes.as_deref())?.field(field)?.read_bytes_into(selection.0, out.bytes())
        })
    }

    /// The chunk of a number as it is stored, compressed.
    fn chunk(&self, py: Python<'_>, n: u64) -> PyResult<Frame> {
        self.reading(py, |array| Ok(array.schunk().chunk(n)?.into_owned())).map(Frame)
    }

    /// A reduction along axes (`None`: all): the dtype, the shape and the bytes of the result.
    #[pyo3(signature = (name, axes, keepdims, ddof=0.0))]
    fn reduce(
        &self,
        py: Python<'_>,
        name: &str,
        axes: Option<Vec<i64>>,
        keepdims: bool,
        ddof: f64,
    ) -> PyResult<(String, Vec<u64>, Frame)> {
        let over = axes.map_or_else(Over::all, Over::axes);
        let over = if keepdims { over.keeping_axes() } else { over };
        let reduce: fn(&Array, Over, f64) -> Result<Reduced, Error> = match name {
            "sum" => |array, over, _| array.sum(over),
            "prod" => |array, over, _| array.prod(over),
            "mean" => |array, over, _| array.mean(over),
            "var" => |array, over, ddof| array.var(over, ddof),
            "std" => |array, over, ddof| array.std(over, ddof),
            "min" => |array, over, _| array.min(over),
            "max" => |array, over, _| array.max(over),
            "any" => |array, over, _| array.any(over),
            "all" => |array, over, _| array.all(over),
            "count_nan" => |array, over, _| array.count_nan(over),
            _ => return Err(usage(py, format!("there is no reduction '{name}'"))),
        };
        let reduced = self.reading(py, |array| reduce(array, over, ddof))?;
        Ok((reduced.dtype().to_text(), reduced.shape().to_vec(), Frame(reduced.into_bytes())))
    }
}
