//! Damaged frames made whole again, as far as that goes: what can be read is found, wherever it lies, checked by what checksums
//! there are, and written as a new frame; what cannot is named.
//!
//! A repair decides nothing about bytes that it cannot check: it makes a *view* of the old file, with a header, offsets and a
//! trailer that open like those of any other frame, and copies that. So what comes out has been read the way every frame is.

mod fates;
mod finish;
mod header;
mod judge;
mod options;
mod place;
mod recognise;
mod report;
mod run;
mod scan;
mod sequence;
mod source;
mod survey;
mod tails;
mod view;

pub use options::RepairOptions;
pub use report::{Guess, Repaired};
pub use run::{repair, repair_bytes, repair_in_place};
