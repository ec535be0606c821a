//! Chunks of Blosc1 against numcodecs, which carries C-Blosc 1.x: each reads what the other writes.

use b2nd::chunk::{ChunkHeader, decode, decode_range, encode};
use b2nd::{Codec, Exec, Limits, Params, SplitMode};
use b2nd_interop::{Outcome, python};
use b2nd_testkit::rng::Rng;
use serde_json::json;
use std::fs;
use std::path::Path;

const CODECS: [&str; 5] = ["blosclz", "lz4", "lz4hc", "zlib", "zstd"];
const FILTERS: [&str; 3] = ["none", "shuffle", "bitshuffle"];
const TYPESIZES: [u32; 9] = [1, 2, 3, 4, 8, 12, 16, 17, 255];
/// Bytes: the ends of what is compressed, whole and broken items and blocks. (numcodecs takes no chunk of nothing, not even
/// its own.)
const SIZES: [usize; 8] = [1, 31, 127, 128, 1000, 4097, 70_001, 300_000];

/// Items that compress somewhat: a walk, with noise in its lowest byte.
fn items(rng: &mut Rng, len: usize, typesize: usize) -> Vec<u8> {
    let mut value = rng.below(1 << 20);
    let mut bytes = Vec::with_capacity(len + typesize);
    while bytes.len() < len {
        value += rng.below(5);
        bytes.extend((0..typesize).map(|n| value.to_le_bytes().get(n).copied().unwrap_or(n as u8)));
    }
    bytes.truncate(len);
    bytes
}

fn write_case(folder: &Path, number: u64, codec: &str, filter: &str, typesize: u32, len: usize) -> Outcome {
    let mut rng = Rng::for_part(5, number);
    let raw =
        if number.is_multiple_of(13) { rng.bytes(len) } else { items(&mut rng, len, typesize as usize) };
    let clevel = number % 10;
    let blocksize = *rng.pick(&[0, 0, 500, 4096, 66_000]);
    let params = Params::new(typesize)
        .with_codec(Codec::from_name(codec).ok_or("codec")?)
        .with_clevel(clevel as u8)
        .with_pipeline(filter.parse()?)
        .with_split(*rng.pick(&[
            SplitMode::Auto,
            SplitMode::Always,
            SplitMode::Never,
            SplitMode::ForwardCompat,
        ]))
        .with_blocksize((blocksize > 0).then_some(blocksize))
        .with_short_header(true);
    let ours = encode(&raw, &params, &Exec::new(1))?;
    let header = ChunkHeader::parse(&ours)?;
    if (header.header_len(), header.version(), header.codec_version()) != (16, 2, 1) {
        return Err("not the header of Blosc1".into());
    }
    let case = json!({ "codec": codec, "filter": filter, "typesize": typesize, "clevel": clevel, "blocksize": blocksize });
    let at = folder.join(number.to_string());
    fs::write(at.with_extension("raw"), &raw)?;
    fs::write(at.with_extension("ours"), &ours)?;
    fs::write(at.with_extension("json"), case.to_string())?;
    Ok(())
}

fn read_case(folder: &Path, number: u64) -> Outcome {
    let at = folder.join(number.to_string());
    let (raw, theirs) = (fs::read(at.with_extension("raw"))?, fs::read(at.with_extension("theirs"))?);
    if ChunkHeader::parse(&theirs)?.version() != 2 {
        return Err("not a chunk of Blosc1".into());
    }
    for (who, chunk) in [("theirs", &theirs), ("ours", &fs::read(at.with_extension("ours"))?)] {
        if decode(chunk, &Limits::default(), &Exec::new(1))? != raw {
            return Err(format!("{who} reads back as other bytes").into());
        }
        let (start, end) = (raw.len() / 3, raw.len() - raw.len() / 4);
        let mut part = vec![0; end - start];
        decode_range(chunk, start, &mut part, &Limits::default(), &Exec::new(1))?;
        if part != raw[start..end] {
            return Err(format!("a part of {who} reads back as other bytes").into());
        }
    }
    Ok(())
}

#[test]
fn numcodecs_and_b2nd_read_each_other() -> Outcome {
    let Some(python) = python::find_for("blosc1.py", "numcodecs")? else { return Ok(()) };
    let folder = tempfile::tempdir()?;
    let mut count = 0;
    for codec in CODECS {
        for filter in FILTERS {
            for typesize in TYPESIZES {
                for len in SIZES {
                    write_case(folder.path(), count, codec, filter, typesize, len)
                        .map_err(|e| format!("{codec} {filter} {typesize} {len}: {e}"))?;
                    count += 1;
                }
            }
        }
    }
    let output = python.start([Path::new("check"), folder.path()])?.wait_with_output()?;
    let complaints = String::from_utf8_lossy(&output.stderr);
    let shown: Vec<&str> = complaints.lines().take(20).collect();
    let summary: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    assert_eq!(summary["done"].as_u64(), Some(count), "{}", shown.join("\n"));
    for number in 0..count {
        read_case(folder.path(), number).map_err(|e| {
            let case = fs::read_to_string(folder.path().join(format!("{number}.json")));
            format!("{}: {e}", case.unwrap_or_default())
        })?;
    }
    println!("{}: {count} chunks each way", python.versions);
    Ok(())
}
