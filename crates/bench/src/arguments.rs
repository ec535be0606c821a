//! The arguments of the command.

use b2nd_interop::Outcome;
use std::ffi::OsString;
use std::path::PathBuf;

/// What is printed when the arguments are not understood.
pub(crate) const USAGE: &str =
    "usage: b2nd-bench [--quick | --smoke] [--only GROUP[,GROUP...]] [--rival PATH] [--json OUT.json]";

/// How much to measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// At most 4,000 cells, within 80 minutes on two processors.
    Full,
    /// At most 300 cells, within 8 minutes.
    Quick,
    /// Contents only: small data, one round.
    Smoke,
}

impl Mode {
    /// The name of the option.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Mode::Full => "full",
            Mode::Quick => "quick",
            Mode::Smoke => "smoke",
        }
    }
    /// One of three, by the mode.
    pub(crate) fn pick<T>(self, full: T, quick: T, smoke: T) -> T {
        match self {
            Mode::Full => full,
            Mode::Quick => quick,
            Mode::Smoke => smoke,
        }
    }
}

/// The arguments.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Arguments {
    /// How much.
    pub(crate) mode: Mode,
    /// The library to compare with; the installed one where none is named.
    pub(crate) rival: Option<PathBuf>,
    /// Where to keep the numbers.
    pub(crate) json: Option<PathBuf>,
    /// The groups to measure; all where none is named.
    pub(crate) only: Vec<String>,
}

impl Arguments {
    /// Reads the arguments behind the program's name; `groups` are those that may be named.
    pub(crate) fn parse(given: impl IntoIterator<Item = OsString>, groups: &[&str]) -> Outcome<Self> {
        let mut found = Arguments { mode: Mode::Full, rival: None, json: None, only: vec![] };
        let mut given = given.into_iter();
        while let Some(argument) = given.next() {
            let mut value = || given.next().ok_or(format!("{} needs a value\n{USAGE}", argument.display()));
            match argument.to_str() {
                Some("--quick") => found.mode = Mode::Quick,
                Some("--smoke") => found.mode = Mode::Smoke,
                Some("--rival") => found.rival = Some(value()?.into()),
                Some("--json") => found.json = Some(value()?.into()),
                Some("--only") => {
                    let names = value()?.into_string().map_err(|_| USAGE)?;
                    found.only.extend(names.split(',').map(|name| name.trim().to_string()));
                }
                _ => return Err(USAGE.into()),
            }
        }
        match found.only.iter().find(|name| !groups.contains(&name.as_str())) {
            Some(name) => Err(format!("no group '{name}'; the groups are: {}", groups.join(", ")).into()),
            None => Ok(found),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &[&str]) -> Outcome<Arguments> {
        Arguments::parse(text.iter().map(OsString::from), &["size", "array parts"])
    }

    #[test]
    fn all_options_are_read() -> Outcome {
        let all = parse(&["--quick", "--json", "a.json", "--only", "size, array parts", "--rival", "x.so"])?;
        let only = vec!["size".to_string(), "array parts".to_string()];
        assert_eq!(
            all,
            Arguments { mode: Mode::Quick, rival: Some("x.so".into()), json: Some("a.json".into()), only }
        );
        let none = Arguments { mode: Mode::Full, rival: None, json: None, only: vec![] };
        assert_eq!(parse(&[])?, none);
        assert_eq!(parse(&["--smoke"])?.mode, Mode::Smoke);
        Ok(())
    }

    #[test]
    fn what_is_not_known_is_refused() {
        for wrong in [&["--fast"][..], &["--json"], &["--only"], &["extra"]] {
            let message = parse(wrong).unwrap_err().to_string();
            assert!(message.contains("usage"), "{message}");
        }
        assert!(parse(&["--only", "sizes"]).unwrap_err().to_string().contains("array parts"));
    }
}
