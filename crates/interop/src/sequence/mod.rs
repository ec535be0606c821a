//! Random sequences of operations on one array, by b2nd and by C-Blosc2 in turn, with NumPy as the truth.
//!
//! A [`step::Step`] is drawn ([`draw`]), done to the file by one of the two writers ([`ours`] or `python/sequences.py`),
//! done to a NumPy array, and then both readers must find in the file what NumPy has.

pub mod draw;
pub mod ours;
pub mod run;
pub mod step;
