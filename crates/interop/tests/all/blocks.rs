//! Chunks with dictionaries and with blocks of variable length: b2nd and C-Blosc2 read each other's.

use b2nd::chunk::{ChunkHeader, Context, decode, decode_block, encode, encode_blocks};
use b2nd::{Codec, Exec, Limits, Params};
use b2nd_interop::{Outcome, python};
use b2nd_testkit::rng::Rng;
use serde_json::json;
use std::fs;
use std::path::Path;

const CODECS: [&str; 3] = ["lz4", "lz4hc", "zstd"];
const FILTERS: [&str; 3] = ["none", "shuffle", "bitshuffle"];
const CASES: u64 = 540;

struct Case {
    raw: Vec<u8>,
    lengths: Vec<usize>,
    params: Params,
}

/// Records of a few kinds, of the kind that gains by a dictionary.
fn records(rng: &mut Rng, len: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    while bytes.len() < len {
        let kind = *rng.pick(&["temperature [K]", "pressure [hPa]", "wind [m s-1]", "station"]);
        bytes.extend(format!("{kind}={:06};", rng.below(1000)).bytes());
    }
    bytes.truncate(len);
    bytes
}

fn case(number: u64) -> Outcome<(Case, serde_json::Value)> {
    let mut rng = Rng::for_part(31, number);
    let (codec, filter) = (CODECS[number as usize % 3], FILTERS[number as usize / 3 % 3]);
    let typesize = if filter == "none" { 1 } else { *rng.pick(&[1, 2, 4, 8]) };
    let variable = number % 2 == 1;
    let dictionary = !variable || rng.chance(50);
    let (clevel, blocksize) = (1 + rng.below(9) as u8, *rng.pick(&[512, 1024, 4096]));
    let lengths: Vec<usize> = if variable {
        (0..1 + rng.below(60)).map(|_| 1 + rng.below(900) as usize).collect()
    } else {
        Vec::new()
    };
    let len = if variable { lengths.iter().sum() } else { 5120 + rng.below(60_000) as usize };
    let params = Params::new(typesize)
        .with_codec(Codec::from_name(codec).ok_or("codec")?)
        .with_clevel(clevel)
        .with_pipeline(filter.parse()?)
        .with_blocksize(Some(blocksize))
        .with_dictionary(dictionary);
    let value = json!({
        "codec": codec, "filter": filter, "typesize": typesize, "clevel": clevel, "blocksize": blocksize,
        "dictionary": dictionary, "lengths": lengths,
    });
    Ok((Case { raw: records(&mut rng, len), lengths, params }, value))
}

fn blocks(case: &Case) -> Vec<&[u8]> {
    let mut rest = &case.raw[..];
    let mut next = |len: &usize| {
        let (block, after) = rest.split_at(*len);
        rest = after;
        block
    };
    case.lengths.iter().map(&mut next).collect()
}

/// Writes a case; whether its chunk has a dictionary.
fn write_case(folder: &Path, number: u64) -> Outcome<bool> {
    let (case, value) = case(number)?;
    let ours = match case.lengths[..] {
        [] => encode(&case.raw, &case.params, &Exec::new(1))?,
        _ => encode_blocks(&blocks(&case), &case.params, &Context::default(), &Exec::new(2))?,
    };
    let at = folder.join(number.to_string());
    fs::write(at.with_extension("raw"), &case.raw)?;
    fs::write(at.with_extension("ours"), &ours)?;
    fs::write(at.with_extension("json"), value.to_string())?;
    Ok(ChunkHeader::parse(&ours)?.has_dictionary())
}

fn read_case(folder: &Path, number: u64) -> Outcome<bool> {
    let (case, _) = case(number)?;
    let theirs = fs::read(folder.join(format!("{number}.theirs")))?;
    let (limits, exec) = (Limits::default(), Exec::new(1));
    if decode(&theirs, &limits, &exec)? != case.raw {
        return Err("reads back as other bytes".into());
    }
    for (n, block) in blocks(&case).iter().enumerate() {
        if decode_block(&theirs, n, &limits, &exec)? != *block {
            return Err(format!("block {n} reads back as other bytes").into());
        }
    }
    Ok(ChunkHeader::parse(&theirs)?.has_dictionary())
}

#[test]
fn dictionaries_and_variable_blocks_are_read_by_both() -> Outcome {
    let Some(python) = python::find_for("blocks.py", "blosc2")? else { return Ok(()) };
    let folder = tempfile::tempdir()?;
    let (mut ours, mut theirs) = (0, 0);
    for number in 0..CASES {
        ours += u64::from(write_case(folder.path(), number).map_err(|e| format!("{number}: {e}"))?);
    }
    let output = python.start([Path::new("check"), folder.path()])?.wait_with_output()?;
    let complaints = String::from_utf8_lossy(&output.stderr);
    let shown: Vec<&str> = complaints.lines().take(20).collect();
    let summary: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    assert_eq!(summary["done"].as_u64(), Some(CASES), "{}", shown.join("\n"));
    for number in 0..CASES {
        let case = || fs::read_to_string(folder.path().join(format!("{number}.json"))).unwrap_or_default();
        theirs += u64::from(read_case(folder.path(), number).map_err(|e| format!("{}: {e}", case()))?);
    }
    println!("{}: {CASES} chunks each way, {ours} and {theirs} with dictionaries", python.versions);
    assert!(ours > CASES / 3 && theirs > CASES / 3, "{ours} {theirs}");
    Ok(())
}
