//! `b2nd info`: what is known of a file, as a table or as JSON.

mod chunk;
mod folder;
mod frames;
mod stats;

use std::fmt::Write;
use std::path::Path;

use b2nd::schunk::SpaceUse;
use b2nd::{Array, Filter, Layout, Pipeline, SChunk, SplitMode};
use serde_json::{Map, Value as Json, json};

use self::stats::Stats;
use crate::args::Info;
use crate::failure::{Failure, Outcome, Result};
use crate::open::{self, Opened};
use crate::shown::Shown as _;
use crate::{msgpack, output, report};

pub(super) fn run(args: &Info) -> Result<Outcome> {
    let mut first = true;
    super::each_file(&args.files, |file| {
        if !std::mem::take(&mut first) && !args.json {
            output::print("\n")?;
        }
        let result = one(args, file);
        if let (true, Err(failure @ Failure::Shown { message, .. })) = (args.json, &result) {
            let code = failure.outcome().code();
            let failed = json!({ "file": file.shown(), "error": message, "exit_code": code });
            output::print(&format!("{failed:#}\n"))?;
        }
        result
    })
}

/// Shows what is known of one file.
fn one(args: &Info, file: &Path) -> Result<Outcome> {
    let show = Show { file, json: args.json };
    if let Some(bare) = open::chunk(file, args.place)? {
        return show.print(|| chunk::to_json(&bare.header), || chunk::to_table(&bare.header));
    }
    let exec = args.threads.exec();
    if let Some(arrays) = folder::arrays(file, args.place, &exec)? {
        return show.print(|| folder::to_json(&arrays), || folder::to_table(&arrays));
    }
    if let Some(several) = frames::of_several(file, args.place, &exec)? {
        return show.print(|| frames::to_json(&several), || frames::to_table(&several));
    }
    let opened = open::described(file, args.place, exec)?;
    show.print(|| to_json(&opened), || to_table(&opened))
}

/// A row of the table: a name and what it is for this file.
type Row = (&'static str, String);

/// How a file is shown.
struct Show<'a> {
    file: &'a Path,
    json: bool,
}

impl Show<'_> {
    fn print(&self, json: impl FnOnce() -> Json, table: impl FnOnce() -> Vec<Row>) -> Result<Outcome> {
        let text = if self.json {
            let mut all = Map::new();
            all.insert("file".into(), Json::from(self.file.shown()));
            if let Json::Object(known) = json() {
                all.extend(known);
            }
            format!("{:#}\n", Json::Object(all))
        } else {
            let mut text = String::new();
            let _ = writeln!(text, "{:<13} {}", "file", self.file.shown());
            for (name, value) in table() {
                let _ = writeln!(text, "{name:<13} {value}");
            }
            text
        };
        output::print(&text)?;
        Ok(Outcome::Good)
    }
}

/// The filters as JSON.
fn filters(pipeline: &Pipeline) -> Vec<Json> {
    let each =
        |(filter, meta): (Filter, u8)| json!({ "id": filter.id(), "name": filter.name(), "meta": meta });
    report::filters(pipeline).into_iter().map(each).collect()
}

/// The stored dtype, where it is not the one that the items are taken as.
fn other_dtype(array: &Array) -> Option<String> {
    let stored = array.stored_dtype();
    let used = array.dtype().to_text();
    if stored == Some(used.as_str()) { None } else { stored.map(str::to_owned) }
}

fn to_json(opened: &Opened) -> Json {
    let schunk = opened.schunk();
    let params = schunk.params();
    let array = match opened {
        Opened::Array(array) => Some(&**array),
        Opened::Frame(_) => None,
    };
    let space = report::space(schunk);
    let space = space.as_ref();
    let (nbytes, cbytes) = sizes(opened, space);
    let mut all = json!({
        "shape": array.map(Array::shape),
        "dtype": array.map(|a| a.dtype().to_text()),
        "dimensions": array.and_then(report::dimensions),
        "chunks": array.map(Array::chunks),
        "blocks": array.map(Array::blocks),
        "codec": params.codec().name(),
        "codec_meta": report::codec_parameter(params.codec(), params.codec_meta()),
        "clevel": params.clevel(),
        "dictionary": params.dictionary(),
        "filters": filters(params.pipeline()),
        "nbytes": nbytes,
        "cbytes": cbytes,
        "layout": layout(schunk),
        "metalayer": array.map(|a| a.revision().name()),
        "ratio": if cbytes == 0 { Json::Null } else { json!(nbytes as f64 / cbytes as f64) },
        "stored": space.map(|space| space.stored),
        "dead": space.map(SpaceUse::dead),
        "nchunks": schunk.nchunks(),
        "chunk_kinds": Stats::of(schunk).map(|stats| stats.to_json()),
        "frame_version": schunk.version(),
        "rewritten": report::rewritten_key(schunk),
        "split": split(params.split()),
        "typesize": params.typesize(),
        "metalayers": sized(schunk.metalayers().map(|(name, content)| (name, Some(content.len() as u64)))),
        "vlmetalayers": schunk.vlmetalayer_lengths().ok().map(sized),
        "attributes": attributes(schunk),
    });
    if let (Some(object), Json::Object(all)) = (schunk.stored_object(), &mut all) {
        all.insert("object".into(), Json::from(object));
    }
    if let (Some(stored), Json::Object(all)) = (array.and_then(other_dtype), &mut all) {
        all.insert("stored_dtype".into(), Json::from(stored));
    }
    all
}

fn to_table(opened: &Opened) -> Vec<Row> {
    let schunk = opened.schunk();
    let mut rows = Vec::new();
    if let Opened::Array(array) = opened {
        rows.push(("shape", report::lengths(array.shape())));
        rows.extend(report::dimensions(array).map(|names| ("dimensions", names.join(", "))));
        rows.push(("dtype", array.dtype().to_text()));
        rows.extend(other_dtype(array).map(|stored| ("stored dtype", stored)));
        rows.push((
            "chunks",
            format!("{} ({})", report::lengths(array.chunks()), report::count(schunk.nchunks(), "chunk")),
        ));
        rows.push(("blocks", report::lengths(array.blocks())));
    } else {
        let what = match schunk.stored_object() {
            Some(object) => format!("none: {object} of python-blosc2, without data of its own"),
            None => "none: a frame without an array".into(),
        };
        rows.push(("shape", what));
        rows.push(("chunks", schunk.nchunks().to_string()));
    }
    let params = schunk.params();
    let space = report::space(schunk);
    let (nbytes, cbytes) = sizes(opened, space.as_ref());
    if let Some(kinds) = Stats::of(schunk).and_then(|stats| stats.to_text()) {
        rows.push(("chunks hold", kinds));
    }
    let codec = report::codec_text(params.codec(), params.codec_meta());
    let dictionary = if params.dictionary() { ", with dictionaries" } else { "" };
    rows.push(("codec", format!("{codec}, level {}{dictionary}", params.clevel())));
    rows.push(("filters", report::filter_text(params.pipeline())));
    rows.push(("split", split(params.split()).into()));
    rows.push(("size", format!("{} ({nbytes} bytes)", report::bytes(nbytes))));
    rows.push(("compressed", format!("{} ({cbytes} bytes)", report::bytes(cbytes))));
    rows.push(("ratio", report::ratio(nbytes, cbytes)));
    if let Some(space) = space.filter(|space| space.dead() > 0) {
        let (dead, share) = (space.dead(), 100.0 * space.dead_share());
        rows.push((
            "dead bytes",
            format!("{} of {} ({share:.1} %)", report::bytes(dead), report::bytes(space.stored)),
        ));
    }
    rows.push(("layout", layout(schunk).into()));
    rows.extend(report::rewritten(schunk).map(|what| ("checksums", what.into())));
    let metalayer = match opened {
        Opened::Array(array) => array.revision().name(),
        Opened::Frame(_) => "none",
    };
    rows.push(("revision", format!("{metalayer}, frame version {}", schunk.version())));
    let fixed = schunk.metalayers().map(|(name, content)| format!("{name} ({} bytes)", content.len()));
    rows.push(("metalayers", listed(fixed)));
    let size = |(name, len): (&str, Option<u64>)| match len {
        Some(len) => format!("{name} ({len} bytes)"),
        None => format!("{name} (damaged)"),
    };
    let variable = match schunk.vlmetalayer_lengths() {
        Ok(lengths) => listed(lengths.map(size)),
        Err(error) => format!("cannot be read: {error}"),
    };
    rows.push(("attributes", variable));
    rows
}

/// The bytes of the items, and of the compressed chunks; those that nothing refers to are left out where they are known.
fn sizes(opened: &Opened, space: Option<&SpaceUse>) -> (u64, u64) {
    let nbytes = match opened {
        Opened::Array(array) => array.nbytes(),
        Opened::Frame(schunk) => schunk.nbytes(),
    };
    (nbytes, space.map_or_else(|| opened.schunk().cbytes(), |space| space.chunks))
}

/// The values of the attributes, but for long ones; `None` where they cannot be listed.
fn attributes(schunk: &SChunk) -> Option<Json> {
    let lengths = schunk.vlmetalayer_lengths().ok()?;
    let short = lengths.filter(|(_, len)| len.is_some_and(|len| len <= report::LONG_ATTRIBUTE));
    let value = |(name, _): (&str, _)| {
        let content = schunk.vlmetalayer(name).ok()??;
        Some((name.to_owned(), msgpack::export(&content)))
    };
    Some(Json::Object(short.filter_map(value).collect()))
}

fn sized<'a>(entries: impl Iterator<Item = (&'a str, Option<u64>)>) -> Json {
    Json::Object(entries.map(|(name, len)| (name.to_owned(), Json::from(len))).collect::<Map<_, _>>())
}

fn listed(names: impl Iterator<Item = String>) -> String {
    let names: Vec<String> = names.collect();
    if names.is_empty() { "none".into() } else { names.join(", ") }
}

fn layout(schunk: &SChunk) -> &'static str {
    match schunk.layout() {
        Layout::Contiguous => "contiguous",
        Layout::Sparse => "sparse",
    }
}

fn split(mode: SplitMode) -> &'static str {
    match mode {
        SplitMode::Always => "always",
        SplitMode::Never => "never",
        SplitMode::Auto => "auto",
        SplitMode::ForwardCompat => "forward-compat",
    }
}
