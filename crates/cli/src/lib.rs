//! The `b2nd` command as a library: one module for each verb, and what they share.
//!
//! The binary calls [`run`] and nothing else. Nothing of the formats is known here: that is the `b2nd` crate's.
#![forbid(unsafe_code)]
// They panic where the stream is closed or full: `output` and `talk` have what does not.
#![deny(clippy::print_stderr, clippy::print_stdout)]

mod args;
pub mod demo;
mod failure;
mod far;
mod input;
mod interrupt;
mod leftover;
mod msgpack;
mod npy;
mod numeric;
mod open;
mod output;
mod progress;
mod report;
mod show;
mod shown;
mod talk;
pub mod text;
mod tiling;
mod verb;
mod view;

use std::ffi::OsString;
use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;

use crate::args::Cli;
use crate::failure::{Outcome, Result};
use crate::output::Talk;

/// Runs the command line `args` (the program's name first) and says how it went, in the process's exit code.
pub fn run(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    interrupt::listen();
    let result = match Cli::try_parse_from(args) {
        Ok(cli) => work(&cli),
        Err(error) => explain(&error),
    };
    let outcome = result.unwrap_or_else(|failure| {
        if interrupt::is_wanted() {
            // Whatever failed then, failed because of that: work that was cancelled, or a pipe that ended with us.
            output::tell("b2nd: interrupted: nothing was finished, and the files are as they were");
            return Outcome::Interrupted;
        }
        let text = failure.to_string();
        if !text.is_empty() {
            output::tell(&text);
        }
        failure.outcome()
    });
    outcome.into()
}

/// Does what the command line says, and says how long it took where that is asked for.
fn work(cli: &Cli) -> Result<Outcome> {
    output::set_talk(match (cli.quiet, cli.verbose) {
        (true, _) => Talk::Quiet,
        (_, true) => Talk::Verbose,
        _ => Talk::Normal,
    });
    let started = Instant::now();
    let result = verb::run(&cli.verb);
    output::detail(|| format!("took {}", report::seconds(started.elapsed())));
    result
}

/// Help goes to standard output; a wrong command line is an error like the others.
fn explain(error: &clap::Error) -> Result<Outcome> {
    let text = error.render();
    if !error.use_stderr() {
        output::print(&text.to_string())?;
        return Ok(Outcome::Good);
    }
    let text = text.to_string();
    output::tell(&format!("b2nd: {}", text.strip_prefix("error: ").unwrap_or(&text).trim_end()));
    Ok(Outcome::Usage)
}
