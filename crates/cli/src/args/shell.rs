//! The options of the verbs that help a shell: `completions` and `man`.

use clap::Args;
use clap_complete::Shell;

/// `b2nd completions`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  b2nd completions bash > ~/.local/share/bash-completion/completions/b2nd
  b2nd completions zsh > ~/.zfunc/_b2nd        (a folder of $fpath)
  b2nd completions fish > ~/.config/fish/completions/b2nd.fish")]
pub(crate) struct Completions {
    /// The shell
    #[arg(value_enum, value_name = "SHELL")]
    pub(crate) shell: Shell,
}

/// `b2nd man`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  b2nd man | man -l -
  b2nd man slice | man -l -
  b2nd man > ~/.local/share/man/man1/b2nd.1")]
pub(crate) struct Man {
    /// The verb [default: the command itself]
    #[arg(value_name = "VERB")]
    pub(crate) verb: Option<String>,
}
