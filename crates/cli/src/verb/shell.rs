//! `b2nd completions` and `b2nd man`: made of the same definitions as the command line itself.

use clap::CommandFactory;

use crate::args::{Cli, Completions, Man};
use crate::failure::{Failure, Outcome, Result};
use crate::output;

/// Prints what a shell needs to complete the command line.
pub(super) fn completions(args: &Completions) -> Result<Outcome> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "b2nd", &mut script);
    output::print_bytes(&script)?;
    Ok(Outcome::Good)
}

/// Prints the manual page of the command, or of a verb.
pub(super) fn man(args: &Man) -> Result<Outcome> {
    let mut all = Cli::command();
    all.build();
    let command = match &args.verb {
        None => all,
        Some(verb) => {
            let found = all.get_subcommands().find(|command| command.get_name() == verb);
            let names = || all.get_subcommands().map(clap::Command::get_name).collect::<Vec<_>>().join(", ");
            found.cloned().ok_or_else(|| {
                Failure::usage(format!("there is no verb '{verb}'"), format!("the verbs are: {}", names()))
            })?
        }
    };
    let mut page = Vec::new();
    clap_mangen::Man::new(command).render(&mut page).map_err(|error| Failure::stdout(&error))?;
    output::print_bytes(&page)?;
    Ok(Outcome::Good)
}
