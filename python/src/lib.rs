//! The door between Python and the crate: types are turned, the interpreter is let go of, errors become exceptions. What a user
//! sees is Python, in `python/b2nd`; what an array does is in the crate.

#![expect(clippy::needless_pass_by_value, reason = "arguments come from Python as values")]

mod buffer;
mod errors;
mod fill;
mod gate;
mod handle;
mod options;
mod reading;
mod repair;
mod selection;
mod watch;
mod writing;

use pyo3::prelude::*;

/// The compiled half of the package `b2nd`.
#[pymodule(gil_used = false)]
mod _b2nd {
    #[pymodule_export]
    use crate::buffer::Frame;
    #[pymodule_export]
    use crate::fill::FillJob;
    #[pymodule_export]
    use crate::handle::{Handle, concatenate, create, from_frame, open, stack};
    #[pymodule_export]
    use crate::options::{codec_names, filter_names, partition};
    #[pymodule_export]
    use crate::repair::{repair, repair_frame};

    #[pymodule_export]
    use crate::watch::watch_progress;

    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");
}
