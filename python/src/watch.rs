//! Work without the interpreter, that hears Ctrl-C and tells its progress.
//!
//! The thread that calls is one of those that work. Before each block the crate asks its switch ([`Cancel::asking`]), which on this
//! thread, and only here, looks at the clock, and every now and then takes the interpreter to run signal handlers and the
//! callback.

use crate::errors::raised;
use b2nd::{Cancel, Error, Exec};
use pyo3::prelude::*;
use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How often the interpreter is looked at.
const EVERY: Duration = Duration::from_millis(50);

/// What the call on this thread is to hear of.
struct Watch {
    next: Instant,
    callback: Option<Py<PyAny>>,
    done: Arc<AtomicU64>,
    from: u64,
    /// Whether the callback was called.
    told: bool,
    raised: Option<PyErr>,
}

thread_local! {
    static WATCH: RefCell<Option<Watch>> = const { RefCell::new(None) };
    /// What the program has set for its operations on this thread.
    static CALLBACK: RefCell<Option<Py<PyAny>>> = const { RefCell::new(None) };
}

/// How much the operations of a handle have done, over its life.
pub(crate) type Meter = Arc<AtomicU64>;

/// Threads (`None`: all processors) that are watched.
pub(crate) fn exec(threads: Option<usize>, meter: &Meter) -> Exec {
    let meter = meter.clone();
    threads.map_or_else(Exec::default, Exec::new).with_cancel(Cancel::asking(is_over)).with_progress(
        move |bytes| {
            meter.fetch_add(bytes, Ordering::Relaxed);
        },
    )
}

/// Whether the call on this thread is to end.
fn is_over() -> bool {
    let due = WATCH.with_borrow_mut(|watch| {
        let watch = watch.as_mut()?;
        let now = Instant::now();
        if now < watch.next {
            return None;
        }
        watch.next = now + EVERY;
        Some(watch.done.load(Ordering::Relaxed).wrapping_sub(watch.from))
    });
    let Some(done) = due else { return false };
    let heard = Python::attach(|py| {
        py.check_signals()?;
        // The callback may use arrays itself: nothing is borrowed while it runs.
        let callback = WATCH.with_borrow(|watch| {
            watch.as_ref().and_then(|watch| watch.callback.as_ref().map(|callback| callback.clone_ref(py)))
        });
        let Some(callback) = callback else { return Ok(()) };
        WATCH.with_borrow_mut(|watch| watch.as_mut().map(|watch| watch.told = true));
        callback.call1(py, (done,)).map(drop)
    });
    let Err(error) = heard else { return false };
    WATCH.with_borrow_mut(|watch| watch.as_mut().map(|watch| watch.raised = Some(error)));
    true
}

/// Calls `callback` with the bytes done so far of each operation on this thread, every now and then; what was called before.
#[pyfunction]
#[pyo3(signature = (callback, /))]
pub(crate) fn watch_progress(callback: Option<Py<PyAny>>) -> Option<Py<PyAny>> {
    CALLBACK.replace(callback)
}

/// Does `work` without the interpreter.
pub(crate) fn detached<R: Send>(
    py: Python<'_>,
    meter: &Meter,
    work: impl FnOnce() -> Result<R, Error> + Send,
) -> PyResult<R> {
    let callback = CALLBACK.with_borrow(|callback| callback.as_ref().map(|callback| callback.clone_ref(py)));
    let watch = Watch {
        next: Instant::now() + EVERY,
        callback,
        done: meter.clone(),
        from: meter.load(Ordering::Relaxed),
        told: false,
        raised: None,
    };
    let before = WATCH.replace(Some(watch));
    let result = py.detach(work);
    let watch = WATCH.replace(before);
    let Some(watch) = watch else { return result.map_err(|error| raised(py, &error)) };
    let value = match (result, watch.raised) {
        (Err(Error::Cancelled), Some(error)) => return Err(error),
        (result, _) => result.map_err(|error| raised(py, &error))?,
    };
    // Who heard of the start hears of the end.
    if let Some(callback) = watch.callback.filter(|_| watch.told) {
        callback.call1(py, (watch.done.load(Ordering::Relaxed).wrapping_sub(watch.from),))?;
    }
    Ok(value)
}
