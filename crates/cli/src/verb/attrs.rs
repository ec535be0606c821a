//! `b2nd attrs`: attributes (vlmetalayers) listed, shown, set and removed.

use std::fmt::Write as _;
use std::io::{self, Write as _};

use b2nd::schunk::SChunk;
use b2nd::{Error, Exec};

use crate::args::{Attrs, AttrsAction};
use crate::failure::{Failure, Outcome, Result};
use crate::{leftover, msgpack, open, output};

pub(super) fn run(args: &Attrs) -> Result<Outcome> {
    let value = match (args.action, &args.value) {
        (Some(AttrsAction::Set), None) => {
            return Err(Failure::usage(
                "`set` needs a value",
                "b2nd attrs FILE set NAME VALUE, VALUE being JSON or a text",
            ));
        }
        (Some(AttrsAction::Get | AttrsAction::Rm), Some(value)) => {
            return Err(Failure::usage(
                format!("there is no place for '{value}'"),
                "only `set` takes a value",
            ));
        }
        (_, value) => value.as_deref().unwrap_or_default(),
    };
    output::check_named(&args.file)?;
    let write = matches!(args.action, Some(AttrsAction::Set | AttrsAction::Rm));
    let about = |error: Error| Failure::from(error).about(&args.file);
    let options = open::options(args.place, Exec::default()).with_write(write);
    if write {
        leftover::remove(&args.file);
    }
    let opened = SChunk::open(&args.file, &options);
    let mut schunk = opened.map_err(|error| {
        if write { open::unwritable(&args.file, error) } else { open::refused(&args.file, error) }
    })?;
    let name = args.name.as_deref().unwrap_or_default();
    let missing = || {
        let names: Vec<&str> = schunk_names(&schunk);
        let known = if names.is_empty() {
            "the file has none".into()
        } else {
            format!("it has: {}", names.join(", "))
        };
        Failure::usage(format!("{}: no attribute {name:?}", args.file.display()), known)
    };
    match args.action {
        None => output::print(&list(&schunk)?)?,
        Some(AttrsAction::Get) => {
            let content = schunk.vlmetalayer(name).map_err(about)?.ok_or_else(missing)?;
            output::print(&format!("{}\n", msgpack::to_json(&content, true)))?;
        }
        Some(AttrsAction::Set) => {
            let is_new = !schunk_names(&schunk).contains(&name);
            msgpack::from_text(value)
                .and_then(|content| schunk.set_vlmetalayer(name, &content))
                .map_err(about)?;
            if let Some(text) = crowded(&schunk).filter(|_| is_new) {
                let _ = writeln!(io::stderr(), "warning: {}: {text}", args.file.display());
            }
        }
        Some(AttrsAction::Rm) => {
            if !schunk_names(&schunk).contains(&name) {
                return Err(missing());
            }
            schunk.remove_vlmetalayer(name).map_err(about)?;
        }
    }
    Ok(Outcome::Good)
}

/// The most vlmetalayers of a file that C-Blosc2 and python-blosc2 (4.14 and before) can change: one more fails there, or crashes.
const MOST_ELSEWHERE: usize = 16;

/// What to say of a file that has as many attributes as other programs can handle, or more.
fn crowded(schunk: &SChunk) -> Option<String> {
    let own = usize::from(schunk.has_checksums().unwrap_or(false));
    let attributes = schunk_names(schunk).len();
    if attributes.saturating_add(own) < MOST_ELSEWHERE {
        return None;
    }
    let checksums = if own > 0 { " and the checksums, which count as one more" } else { "" };
    let most = MOST_ELSEWHERE.saturating_sub(own);
    let more = if attributes > most {
        "cannot change the attributes of a file of so many"
    } else {
        "cannot add another"
    };
    Some(format!(
        "it has {attributes} attributes{checksums}: C-Blosc2 and python-blosc2 (4.14 and before) {more} (their limit here is {most}); \
         put several values into one attribute, as JSON"
    ))
}

fn schunk_names(schunk: &SChunk) -> Vec<&str> {
    schunk.vlmetalayer_names().into_iter().flatten().collect()
}

fn list(schunk: &SChunk) -> Result<String> {
    let mut text = String::new();
    for name in schunk.vlmetalayer_names()? {
        let content = schunk.vlmetalayer(name)?.unwrap_or_default();
        let _ = writeln!(text, "{name}: {}", msgpack::to_json(&content, false));
    }
    Ok(text)
}
