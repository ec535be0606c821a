//! The arrays of a folder: xarray's datasets are stored so, one array a variable.

use std::path::Path;

use b2nd::{Array, AttrValue, Exec};
use serde_json::{Value as Json, json};

use super::Row;
use crate::args::Place;
use crate::failure::{Failure, Result};
use crate::{msgpack, open, report};

/// The attribute that has the name of the variable of an array.
const NAME: &str = "_VARIABLE_NAME";
/// The attribute of an array in a folder that holds the attributes of the dataset.
const DATASET: &str = "_DATASET_ATTRIBUTES";
/// More files of a folder are not opened.
const MOST_FILES: usize = 10_000;

/// An array of a folder.
pub(super) struct Member {
    /// The name of the file.
    file: String,
    /// The name of the variable.
    name: String,
    array: Result<Array, String>,
}

/// What a folder holds.
pub(super) struct Folder {
    members: Vec<Member>,
    /// What the dataset says of itself.
    attributes: Option<AttrValue>,
}

/// The arrays of a folder, unless it is a sparse array itself or holds no file `*.b2nd`.
pub(super) fn arrays(path: &Path, place: Place, exec: &Exec) -> Result<Option<Folder>> {
    if !path.is_dir() || path.join("chunks.b2frame").exists() {
        return Ok(None);
    }
    let failed = |error: &std::io::Error| Failure::io("list the folder", path, error);
    let mut files = Vec::new();
    for entry in std::fs::read_dir(path).map_err(|error| failed(&error))?.take(MOST_FILES) {
        let file = entry.map_err(|error| failed(&error))?.file_name().to_string_lossy().into_owned();
        if file.ends_with(".b2nd") {
            files.push(file);
        }
    }
    files.sort_unstable();
    let mut folder = Folder { members: Vec::new(), attributes: None };
    for file in files {
        let array = Array::open_with(path.join(&file), &open::options(place, exec.clone()));
        let attribute =
            |name| array.as_ref().ok().and_then(|array| report::short_attribute(array.schunk(), name));
        if let Some(said) = attribute(DATASET) {
            folder.attributes = Some(said);
            // Nothing but the attributes of the dataset is in this one.
            if file.starts_with('.') {
                continue;
            }
        }
        let name = attribute(NAME).and_then(|name| name.as_str().map(str::to_owned));
        let name = name.unwrap_or_else(|| file.trim_end_matches(".b2nd").to_owned());
        folder.members.push(Member { file, name, array: array.map_err(|error| error.to_string()) });
    }
    Ok((!folder.members.is_empty()).then_some(folder))
}

pub(super) fn to_json(folder: &Folder) -> Json {
    let each = |member: &Member| match &member.array {
        Ok(array) => json!({
            "file": member.file,
            "name": member.name,
            "shape": array.shape(),
            "dimensions": report::dimensions(array),
            "dtype": array.dtype().to_text(),
            "chunks": array.chunks(),
            "nbytes": array.nbytes(),
            "cbytes": array.schunk().cbytes(),
        }),
        Err(error) => json!({ "file": member.file, "name": member.name, "error": error }),
    };
    let attributes = folder.attributes.as_ref().and_then(|value| value.to_msgpack().ok());
    json!({
        "arrays": folder.members.iter().map(each).collect::<Vec<_>>(),
        "attributes": attributes.map(|bytes| msgpack::export(&bytes)),
    })
}

pub(super) fn to_table(folder: &Folder) -> Vec<Row> {
    let longest = folder.members.iter().map(|member| member.name.chars().count()).max().unwrap_or(0);
    let mut rows = vec![("arrays", folder.members.len().to_string())];
    for (n, member) in folder.members.iter().enumerate() {
        let branch = if n + 1 == folder.members.len() { "└─" } else { "├─" };
        let what = match &member.array {
            Ok(array) => describe(array),
            Err(error) => format!("cannot be opened: {error}"),
        };
        rows.push(("", format!("{branch} {:<longest$}  {what}", member.name)));
    }
    if let Some(entries) = folder.attributes.as_ref().and_then(AttrValue::as_map) {
        let names: Vec<&str> = entries.iter().filter_map(|(name, _)| name.as_str()).collect();
        rows.push(("attributes", if names.is_empty() { "none".into() } else { names.join(", ") }));
    }
    rows
}

/// `(time: 24, lat: 121) <f4, 11.3 KiB → 2.0 KiB (5.65x)`.
fn describe(array: &Array) -> String {
    let shape = match report::dimensions(array).filter(|names| !names.is_empty()) {
        Some(names) => {
            let axes = names.iter().zip(array.shape()).map(|(name, len)| format!("{name}: {len}"));
            format!("({})", axes.collect::<Vec<_>>().join(", "))
        }
        None => report::lengths(array.shape()),
    };
    let (raw, stored) = (array.nbytes(), array.schunk().cbytes());
    format!(
        "{shape} {}, {} → {} ({})",
        array.dtype(),
        report::bytes(raw),
        report::bytes(stored),
        report::ratio(raw, stored)
    )
}
