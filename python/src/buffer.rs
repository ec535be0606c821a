//! Bytes of Python objects, in and out without a copy. The only `unsafe` of the door.
//!
//! A buffer view that Python has given out stays where it is, at its length, until it is released: the exporter must not move or
//! free it. What nobody can rule out is that another thread of the program writes to it meanwhile: as with NumPy, which lets go of
//! the interpreter too while it copies, that is the program's to avoid. Nothing here, or below, decides on memory by the values
//! of items.
#![expect(unsafe_code, reason = "the memory of a buffer view is known by its address only")]

use pyo3::buffer::PyUntypedBuffer;
use pyo3::exceptions::{PyBufferError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyMemoryView};
use std::ffi::{c_int, c_void};

/// The contiguous view of an object; its bytes in C order.
fn contiguous(object: &Bound<'_, PyAny>) -> PyResult<PyUntypedBuffer> {
    let view = PyUntypedBuffer::get(object)?;
    if view.is_c_contiguous() {
        Ok(view)
    } else {
        Err(PyValueError::new_err("the buffer is not contiguous in C order"))
    }
}

fn bytes_of(view: &PyUntypedBuffer) -> &[u8] {
    if view.len_bytes() == 0 {
        return &[];
    }
    // SAFETY: a contiguous view holds `len_bytes` initialised bytes at `buf_ptr`, which stay there while the view does.
    unsafe { std::slice::from_raw_parts(view.buf_ptr().cast::<u8>(), view.len_bytes()) }
}

/// Bytes that are read: of a NumPy array, `bytes`, a `memoryview`, a memory map.
pub(crate) struct Source {
    view: PyUntypedBuffer,
    is_fixed: bool,
}

impl Source {
    pub(crate) fn bytes(&self) -> &[u8] {
        bytes_of(&self.view)
    }

    /// Whether nobody can ever write to them: such can be kept, not only used for a call.
    pub(crate) fn is_fixed(&self) -> bool {
        self.is_fixed
    }
}

/// Whether an object's bytes stay as they are. A view may be read-only on an array that others write to.
fn is_fixed(object: &Bound<'_, PyAny>) -> bool {
    object.is_instance_of::<PyBytes>() || object.is_instance_of::<Frame>()
}

impl AsRef<[u8]> for Source {
    fn as_ref(&self) -> &[u8] {
        self.bytes()
    }
}

impl FromPyObject<'_, '_> for Source {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        let view = contiguous(&object)?;
        let is_fixed = is_fixed(&object)
            || object.is_instance_of::<PyMemoryView>()
                && object.getattr("obj").is_ok_and(|lender| is_fixed(&lender));
        Ok(Source { view, is_fixed })
    }
}

/// A buffer that b2nd writes to.
pub(crate) struct Sink(PyUntypedBuffer);

impl Sink {
    pub(crate) fn bytes(&mut self) -> &mut [u8] {
        if self.0.len_bytes() == 0 {
            return &mut [];
        }
        // SAFETY: as in `bytes_of`, and the view is writable; this one is borrowed alone.
        unsafe { std::slice::from_raw_parts_mut(self.0.buf_ptr().cast::<u8>(), self.0.len_bytes()) }
    }
}

impl FromPyObject<'_, '_> for Sink {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        let view = contiguous(&object)?;
        if view.readonly() { Err(PyBufferError::new_err("the buffer is read-only")) } else { Ok(Sink(view)) }
    }
}

/// The bytes of a whole frame, made once, never changed: give it to `memoryview` or `bytes`, or to whatever takes a buffer.
#[pyclass(frozen, module = "b2nd._b2nd")]
pub(crate) struct Frame(pub(crate) Vec<u8>);

#[pymethods]
impl Frame {
    fn __len__(&self) -> usize {
        self.0.len()
    }

    /// Lends the bytes, for reading.
    ///
    /// # Safety
    /// Python calls it with a `view` to fill.
    unsafe fn __getbuffer__(slf: Bound<'_, Self>, view: *mut ffi::Py_buffer, flags: c_int) -> PyResult<()> {
        let bytes = &slf.get().0;
        let len =
            isize::try_from(bytes.len()).map_err(|_| PyBufferError::new_err("the frame is too long"))?;
        let start = bytes.as_ptr().cast_mut().cast::<c_void>();
        // SAFETY: `view` is Python's to fill; the bytes are as many, and stay while the object does, which the view keeps alive; it is
        // filled as read-only.
        let filled = unsafe { ffi::PyBuffer_FillInfo(view, slf.as_ptr(), start, len, 1, flags) };
        if filled == 0 { Ok(()) } else { Err(PyErr::fetch(slf.py())) }
    }
}
