//! What a bare chunk says of itself.

use b2nd::Codec;
use b2nd::chunk::{ChunkHeader, Special};
use serde_json::{Value as Json, json};

use super::{Row, filters};
use crate::report;

/// What the chunk is made of.
fn kind(header: &ChunkHeader) -> &'static str {
    match header.special() {
        Some(Special::Zeros) => "zeros",
        Some(Special::Nan) => "NaN",
        Some(Special::Uninit) => "uninitialised",
        Some(Special::Value) => "one value",
        None if header.is_raw() => "stored",
        None => "compressed",
    }
}

fn codec(header: &ChunkHeader) -> String {
    header.codec().map_or_else(|| "unknown".into(), |codec: Codec| codec.name().into_owned())
}

/// The codec with its parameter.
fn codec_text(header: &ChunkHeader) -> String {
    let text = |codec| report::codec_text(codec, header.codec_meta());
    header.codec().map_or_else(|| "unknown".into(), text)
}

/// Blosc1's header is short.
fn format(header: &ChunkHeader) -> &'static str {
    if header.header_len() == 16 { "blosc1" } else { "blosc2" }
}

/// The number of blocks, where the header tells it.
fn blocks(header: &ChunkHeader) -> u32 {
    if header.is_variable() {
        header.blocksize()
    } else {
        header.nbytes().div_ceil(header.blocksize().max(1))
    }
}

pub(super) fn to_json(header: &ChunkHeader) -> Json {
    json!({
        "chunk": format(header),
        "chunk_version": header.version(),
        "codec_version": header.codec_version(),
        "kind": kind(header),
        "codec": codec(header),
        "filters": filters(header.pipeline()),
        "typesize": header.typesize(),
        "nbytes": header.nbytes(),
        "cbytes": header.cbytes(),
        "blocksize": if header.is_variable() { Json::Null } else { json!(header.blocksize()) },
        "nblocks": blocks(header),
        "split": header.is_split(),
        "dictionary": header.has_dictionary(),
        "ratio": if header.cbytes() == 0 { Json::Null } else { json!(f64::from(header.nbytes()) / f64::from(header.cbytes())) },
    })
}

pub(super) fn to_table(header: &ChunkHeader) -> Vec<Row> {
    let (nbytes, cbytes) = (u64::from(header.nbytes()), u64::from(header.cbytes()));
    let format = if format(header) == "blosc1" { "Blosc" } else { "Blosc2" };
    let blocks = report::count(u64::from(blocks(header)), "block");
    let mut rows = vec![
        ("what", format!("a bare {format} chunk, version {}: {}", header.version(), kind(header))),
        ("typesize", header.typesize().to_string()),
    ];
    if header.special().is_none() && !header.is_raw() {
        let dictionary = if header.has_dictionary() { ", with a dictionary" } else { "" };
        rows.push((
            "codec",
            format!("{}, format {}{dictionary}", codec_text(header), header.codec_version()),
        ));
        rows.push(("filters", report::filter_text(header.pipeline())));
        rows.push(("split", if header.is_split() { "yes" } else { "no" }.into()));
        let each = if header.is_variable() {
            "differing sizes".into()
        } else {
            report::bytes(u64::from(header.blocksize()))
        };
        rows.push(("blocks", format!("{blocks} of {each}")));
    }
    rows.push(("size", format!("{} ({nbytes} bytes)", report::bytes(nbytes))));
    rows.push(("compressed", format!("{} ({cbytes} bytes)", report::bytes(cbytes))));
    rows.push(("ratio", report::ratio(nbytes, cbytes)));
    rows
}
