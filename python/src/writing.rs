//! Changing an array: at once, or many changes in a transaction.

use crate::buffer::Source;
use crate::errors::{raised, usage};
use crate::handle::{Handle, Kept, all, closed};
use crate::selection::{Picked, one};
use crate::watch::{self, detached};
use b2nd::{Array, ArrayWriter, Error, Fill, Resize};
use pyo3::prelude::*;

/// A change of an array: in a commit of its own, or in that of a transaction.
macro_rules! change {
    ($handle:expr, $py:expr, |$to:ident| $change:expr) => {{
        let mut kept = $handle.kept.write($py)?;
        match &mut *kept {
            Kept::Open($to) => detached($py, &$handle.meter, || $change),
            Kept::Changing($to) => detached($py, &$handle.meter, || $change),
            Kept::Closed => Err(closed()),
        }
    }};
}

#[pymethods]
impl Handle {
    /// Writes items, in C order, into a selection.
    fn write(&self, py: Python<'_>, selection: Picked, items: Source) -> PyResult<()> {
        change!(self, py, |to| to.write_bytes(selection.0, items.bytes()))
    }

    /// Writes one item into every place of a selection.
    fn fill(&self, py: Python<'_>, selection: Picked, item: Source) -> PyResult<()> {
        change!(self, py, |to| to.fill_bytes(selection.0, item.bytes()))
    }

    #[pyo3(signature = (shape, starts=None, fill=None))]
    fn resize(
        &self,
        py: Python<'_>,
        shape: Vec<u64>,
        starts: Option<Vec<u64>>,
        fill: Option<Source>,
    ) -> PyResult<()> {
        let mut resize = Resize::to(shape);
        if let Some(starts) = starts {
            resize = resize.with_starts(starts);
        }
        if let Some(item) = fill {
            resize = resize.with_fill(Fill::Value(item.bytes().to_vec()));
        }
        change!(self, py, |to| to.resize(resize))
    }

    fn append(&self, py: Python<'_>, axis: usize, items: Source) -> PyResult<()> {
        change!(self, py, |to| to.append_bytes(axis, items.bytes()))
    }

    fn insert(&self, py: Python<'_>, axis: usize, index: u64, items: Source) -> PyResult<()> {
        change!(self, py, |to| to.insert_bytes(axis, index, items.bytes()))
    }

    fn delete(&self, py: Python<'_>, axis: usize, part: &Bound<'_, PyAny>) -> PyResult<()> {
        let part = one(part)?;
        change!(self, py, |to| to.delete(axis, part))
    }

    /// Appends other arrays along an axis, compressed where they fit.
    fn extend(slf: &Bound<'_, Self>, axis: usize, handles: Vec<Py<Handle>>) -> PyResult<()> {
        let (py, handle) = (slf.py(), slf.get());
        if handles.iter().any(|other| other.is(slf)) {
            return Err(usage(py, "an array cannot be appended to itself: copy it first"));
        }
        let guards = all(py, &handles)?;
        let arrays: Vec<&Array> = guards.iter().map(|kept| kept.array()).collect::<PyResult<_>>()?;
        change!(handle, py, |to| to.extend(axis, &arrays))
    }

    fn set_metalayer(&self, py: Python<'_>, name: &str, content: Source) -> PyResult<()> {
        let mut kept = self.kept.write(py)?;
        match &mut *kept {
            Kept::Open(array) => detached(py, &self.meter, || array.set_metalayer(name, content.bytes())),
            Kept::Changing(_) => {
                Err(usage(py, "metalayers are not changed in a transaction: vlmetalayers may be"))
            }
            Kept::Closed => Err(closed()),
        }
    }

    fn set_vlmetalayer(&self, py: Python<'_>, name: &str, content: Source) -> PyResult<()> {
        change!(self, py, |to| to.set_vlmetalayer(name, content.bytes()))
    }

    /// Removes a vlmetalayer; whether there was one.
    fn remove_vlmetalayer(&self, py: Python<'_>, name: &str) -> PyResult<bool> {
        change!(self, py, |to| to.remove_vlmetalayer(name))
    }

    /// Begins a transaction: what is changed from now on becomes visible together.
    fn begin(&self, py: Python<'_>) -> PyResult<()> {
        let mut kept = self.kept.write(py)?;
        let (next, begun) = match std::mem::replace(&mut *kept, Kept::Closed) {
            Kept::Open(array) => (Kept::Changing(array.into_writer()), Ok(())),
            Kept::Closed => (Kept::Closed, Err(closed())),
            changing => (changing, Err(usage(py, "a transaction of this array is open already"))),
        };
        *kept = next;
        begun
    }

    /// Makes all changes of the transaction visible; after an error none is, and the handle is closed.
    fn commit(&self, py: Python<'_>) -> PyResult<()> {
        self.end(py, ArrayWriter::commit)
    }

    /// Forgets all changes of the transaction.
    fn rollback(&self, py: Python<'_>) -> PyResult<()> {
        self.end(py, ArrayWriter::rollback)
    }

    /// Takes over what others have committed; whether there was anything.
    fn refresh(&self, py: Python<'_>) -> PyResult<bool> {
        match &mut *self.kept.write(py)? {
            Kept::Open(array) => detached(py, &self.meter, || array.refresh()),
            Kept::Changing(_) => {
                Err(usage(py, "a transaction of this array is open: commit it, or roll it back"))
            }
            Kept::Closed => Err(closed()),
        }
    }

    /// Writes the file anew without dead bytes.
    fn compact(&self, py: Python<'_>) -> PyResult<()> {
        match &mut *self.kept.write(py)? {
            Kept::Open(array) => detached(py, &self.meter, || array.compact()),
            Kept::Changing(_) => {
                Err(usage(py, "a transaction of this array is open: commit it, or roll it back"))
            }
            Kept::Closed => Err(closed()),
        }
    }

    /// From now on works on so many threads.
    fn set_nthreads(&self, py: Python<'_>, nthreads: usize) -> PyResult<()> {
        match &mut *self.kept.write(py)? {
            Kept::Open(array) => {
                array.set_exec(watch::exec(Some(nthreads), &self.meter));
                Ok(())
            }
            Kept::Changing(_) => Err(usage(py, "threads are not changed in a transaction")),
            Kept::Closed => Err(closed()),
        }
    }

    /// Lets go of the file and its locks. What a transaction has not committed is gone.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        let kept = std::mem::replace(&mut *self.kept.write(py)?, Kept::Closed);
        py.detach(|| drop(kept));
        Ok(())
    }
}

impl Handle {
    fn end(&self, py: Python<'_>, end: fn(ArrayWriter) -> Result<Array, Error>) -> PyResult<()> {
        let mut kept = self.kept.write(py)?;
        match std::mem::replace(&mut *kept, Kept::Closed) {
            Kept::Changing(writer) => {
                // A commit is not cut short by Ctrl-C: it is heard when it is done.
                *kept = Kept::Open(py.detach(|| end(writer)).map_err(|error| raised(py, &error))?);
                Ok(())
            }
            other => {
                let closed_already = matches!(other, Kept::Closed);
                *kept = other;
                Err(if closed_already { closed() } else { usage(py, "no transaction of this array is open") })
            }
        }
    }
}
