//! Processes that are killed while they write: what they acknowledged is there, and the next one goes on.
//!
//! `B2ND_KILLS` sets how many are killed for each layout.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, in its helper functions too")]

mod run;

use b2nd::Layout;

#[test]
#[ignore = "what the other tests start, to be killed"]
fn child() {
    run::child();
}

fn kills() -> u64 {
    std::env::var("B2ND_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(150)
}

#[test]
fn a_killed_writer_of_a_file_loses_nothing_that_it_acknowledged() {
    run::kill_writers("file", Layout::Contiguous, kills());
}

#[test]
fn a_killed_writer_of_a_directory_loses_nothing_that_it_acknowledged() {
    run::kill_writers("directory", Layout::Sparse, kills());
}
