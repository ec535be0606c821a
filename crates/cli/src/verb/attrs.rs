//! `b2nd attrs`: attributes (vlmetalayers) listed, shown, set, removed, and copied as JSON.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use b2nd::{Array, Error, Exec, SChunk};
use serde_json::{Map, Value as Json};

use crate::args::{Attrs, AttrsAction};
use crate::failure::{Failure, Outcome, Result};
use crate::far;
use crate::shown::{self, Shown as _};
use crate::{leftover, msgpack, open, output};

pub(super) fn run(args: &Attrs) -> Result<Outcome> {
    check(args)?;
    output::check_named(&args.file)?;
    let about = |error: Error| Failure::from(error).about(&args.file);
    // The input is read whole before the file is opened for writing.
    let given = match (args.action, &args.name) {
        (Some(AttrsAction::Import), Some(from)) => Some(read_object(Path::new(from))?),
        _ => None,
    };
    let mut schunk = opened(args)?;
    let name = args.name.as_deref().unwrap_or_default();
    let missing = || {
        let names: Vec<&str> = schunk_names(&schunk);
        let known = if names.is_empty() {
            "the file has none".into()
        } else {
            format!("it has: {}", names.join(", "))
        };
        Failure::usage(format!("{}: no attribute {name:?}", args.file.shown()), known)
    };
    match args.action {
        None if args.json => output::print(&format!("{:#}\n", exported(&schunk).map_err(about)?))?,
        None => output::print(&list(&schunk)?)?,
        Some(AttrsAction::Export) => {
            let text = format!("{:#}\n", exported(&schunk).map_err(about)?);
            match args.name.as_deref().map(Path::new).filter(|path| !output::is_standard(path)) {
                None => output::print(&text)?,
                Some(path) => {
                    output::check_apart(&args.file, path)?;
                    output::check_free(path, args.force)?;
                    output::write_file(path, text.as_bytes(), args.force)?;
                }
            }
        }
        Some(AttrsAction::Get) => {
            let content = schunk.vlmetalayer(name).map_err(about)?.ok_or_else(missing)?;
            output::print(&format!("{}\n", msgpack::to_json(&content, true)))?;
        }
        Some(AttrsAction::Set) => {
            let value = args.value.as_deref().unwrap_or_default();
            let content = msgpack::from_text(value).map_err(about)?;
            set(args, &mut schunk, &[(name.to_owned(), content)])?;
        }
        Some(AttrsAction::Import) => set(args, &mut schunk, &given.unwrap_or_default())?,
        Some(AttrsAction::Rm) => {
            if !schunk_names(&schunk).contains(&name) {
                return Err(missing());
            }
            schunk.remove_vlmetalayer(name).map_err(about)?;
        }
    }
    Ok(Outcome::Good)
}

/// Refuses arguments that do not belong to the action, and those that lack.
fn check(args: &Attrs) -> Result<()> {
    use AttrsAction::{Export, Get, Import, Rm, Set};
    match (args.action, &args.name, &args.value) {
        (Some(Get | Set | Rm), None, _) => Err(Failure::usage(
            "the name of the attribute is missing",
            "b2nd attrs FILE get NAME; `b2nd attrs FILE` lists the names",
        )),
        (Some(Import), None, _) => Err(Failure::usage(
            "`import` needs the name of a JSON file",
            "b2nd attrs FILE import NAME.json, or - for standard input",
        )),
        (Some(Set), _, None) => Err(Failure::usage(
            "`set` needs a value",
            "b2nd attrs FILE set NAME VALUE, VALUE being JSON or a text",
        )),
        (Some(Get | Rm | Export | Import), _, Some(value)) => {
            Err(Failure::usage(format!("'{value}' is one argument too many"), "only `set` takes a value"))
        }
        _ => Ok(()),
    }
}

/// Opens the file, for writing where the action changes it.
fn opened(args: &Attrs) -> Result<SChunk> {
    let write = matches!(args.action, Some(AttrsAction::Set | AttrsAction::Rm | AttrsAction::Import));
    let options = open::options(args.place, Exec::default()).with_write(write);
    if let Some(url) = shown::url(&args.file).filter(|_| !write) {
        return far::open(url, args.place, Exec::default()).map(Array::into_schunk);
    }
    if write {
        far::check_written(&args.file)?;
        leftover::remove(&args.file);
    }
    SChunk::open(&args.file, &options).map_err(|error| {
        if write { open::unwritable(&args.file, error) } else { open::refused(&args.file, error) }
    })
}

/// Sets attributes in one commit, and warns where they become more than other programs can handle.
fn set(args: &Attrs, schunk: &mut SChunk, given: &[(String, Vec<u8>)]) -> Result<()> {
    let about = |error: Error| Failure::from(error).about(&args.file);
    let before = schunk_names(schunk).len();
    let mut transaction = schunk.transaction();
    for (name, content) in given {
        transaction.set_vlmetalayer(name, content).map_err(about)?;
    }
    transaction.commit().map_err(about)?;
    if let Some(text) = crowded(schunk).filter(|_| schunk_names(schunk).len() > before) {
        output::tell(&format!("warning: {}: {text}", args.file.shown()));
    }
    Ok(())
}

/// All attributes as one object, which `import` turns back.
fn exported(schunk: &SChunk) -> Result<Json, Error> {
    let mut all = Map::new();
    for name in schunk.vlmetalayer_names()? {
        if let Some(content) = schunk.vlmetalayer(name)? {
            all.insert(name.to_owned(), msgpack::export(&content));
        }
    }
    Ok(Json::Object(all))
}

/// The attributes of a JSON file, or of standard input.
fn read_object(path: &Path) -> Result<Vec<(String, Vec<u8>)>> {
    let mut text = String::new();
    let read = if output::is_standard(path) {
        io::stdin().read_to_string(&mut text)
    } else {
        File::open(path).and_then(|mut file| file.read_to_string(&mut text))
    };
    read.map_err(|error| Failure::io("read", path, &error))?;
    let wrong = |why: String| {
        let example = r#"give one JSON object, such as {"units": "K", "level": 3}; `b2nd attrs FILE export` writes one"#;
        Failure::usage(format!("{}: {why}", path.shown()), example)
    };
    match serde_json::from_str(&text).map_err(|error| wrong(format!("is not JSON: {error}")))? {
        Json::Object(all) => {
            let each = |(name, value): (&String, &Json)| Ok((name.clone(), msgpack::import(value)?));
            all.iter()
                .map(each)
                .collect::<Result<_, Error>>()
                .map_err(|error| Failure::from(error).about(path))
        }
        _ => Err(wrong("is JSON, but not an object".into())),
    }
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
