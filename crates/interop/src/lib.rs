//! b2nd against python-blosc2, both ways: the cases, their generator, the checks and the table of real data.
//!
//! The tests in `tests/` need a Python with `blosc2` (see [`python`]); where there is none they say so and pass, unless
//! `CI=true` or `B2ND_REQUIRE_INTEROP=1` demands them.

pub mod case;
pub mod check;
pub mod generate;
pub mod items;
pub mod python;
pub mod real_data;
pub mod sequence;
pub mod write;

/// What went wrong, for a person to read.
pub type Failure = Box<dyn std::error::Error + Send + Sync>;
/// A result with a [`Failure`].
pub type Outcome<T = ()> = Result<T, Failure>;
