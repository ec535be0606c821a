//! The registered filters and codecs for arrays: b2nd and python-blosc2 read each other's, and lose the same where they lose.

use b2nd::{Array, Codec, Dtype, Exec, Options, Params, Pipeline, Selection, SplitMode};
use b2nd_interop::write::split_number;
use b2nd_interop::{Outcome, python};
use b2nd_testkit::rng::Rng;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// What is tried, with the dtypes that it takes.
const KINDS: [(&str, &[&str]); 10] = [
    ("bytedelta", &["|u1", "<i2", "<f4", "<f8", "|S5"]),
    ("int_trunc", &["|i1", "<i2", "<i4", "<i8"]),
    ("ndcell", &["|u1", "<i2", "<f4", "<f8", "|S3"]),
    ("ndcell,shuffle", &["<i2", "<f4", "<f8"]),
    ("ndmean", &["<f4", "<f8"]),
    ("ndlz:4", &["|u1", "<i2", "<i4", "<f8"]),
    ("ndlz:8", &["|u1", "<i2", "<i4", "<f8"]),
    ("zfp-accuracy", &["<f4", "<f8"]),
    ("zfp-precision", &["<f4", "<f8"]),
    ("zfp-rate", &["<f4", "<f8"]),
];
/// The longest axis, by their number.
const LONGEST: [u64; 4] = [6000, 130, 26, 12];
const ROUNDS: u64 = 40;
const CASES: u64 = ROUNDS * KINDS.len() as u64;

struct Case {
    kind: &'static str,
    dtype: &'static str,
    params: Params,
    shape: Vec<u64>,
    chunks: Vec<u64>,
    blocks: Vec<u64>,
    items: Vec<u8>,
}

impl Case {
    fn new(number: u64) -> Outcome<Self> {
        let mut rng = Rng::for_part(35, number);
        let round = number / KINDS.len() as u64;
        let (kind, dtypes) = KINDS[(number % KINDS.len() as u64) as usize];
        let dtype = dtypes[round as usize % dtypes.len()];
        let ndim = if kind.starts_with("ndlz") { 2 } else { 1 + (round / 5 + round) as usize % 4 };
        // C-Blosc2 3.3.5 crashes as it writes zfp data that becomes larger, which cells that are cut off do.
        let least = match kind {
            _ if kind.starts_with("ndlz") => 9,
            _ if kind.starts_with("zfp") => 8,
            _ => 4,
        };
        let mut length = |most: u64| least + rng.below(most + 1 - least);
        let shape: Vec<u64> = (0..ndim).map(|_| length(LONGEST[ndim - 1])).collect();
        let chunks: Vec<u64> = shape.iter().map(|&axis| length(axis)).collect();
        let blocks: Vec<u64> = chunks.iter().map(|&axis| length(axis)).collect();
        let params = params(kind, Dtype::parse(dtype)?.itemsize() as u32, &mut rng)?;
        let items = items(kind, dtype, &shape, &mut rng);
        Ok(Case { kind, dtype, params, shape, chunks, blocks, items })
    }

    fn is_lossy(&self) -> bool {
        ["int_trunc", "ndmean", "zfp"].iter().any(|name| self.kind.starts_with(name))
    }

    fn description(&self) -> Value {
        let (params, pipeline) = (&self.params, self.params.pipeline());
        json!({
            "kind": self.kind, "dtype": self.dtype, "shape": self.shape, "chunks": self.chunks, "blocks": self.blocks,
            "codec": params.codec().id(), "codec_meta": params.codec_meta(), "clevel": params.clevel(),
            "filters": pipeline.ids(), "filters_meta": pipeline.meta(), "split": split_number(params.split()),
        })
    }

    fn options(&self, threads: usize) -> Options {
        let options = Options::new().with_params(self.params.clone()).with_exec(Exec::new(threads));
        options.with_chunks(self.chunks.clone()).with_blocks(self.blocks.clone())
    }
}

fn params(kind: &str, typesize: u32, rng: &mut Rng) -> Outcome<Params> {
    let codecs = [Codec::BloscLz, Codec::Lz4, Codec::Lz4Hc, Codec::Zlib, Codec::Zstd];
    let side = 2 + rng.below(3);
    // python-blosc2 4.14.1 cannot open arrays, its own too, where this number is below 0.
    let kept = if typesize == 1 { 3 + rng.below(4) } else { 5 + rng.below(8) };
    let (codec, meta, filters) = match kind {
        "bytedelta" if rng.chance(50) => (*rng.pick(&codecs), 0, format!("shuffle,bytedelta:{typesize}")),
        "bytedelta" => (*rng.pick(&codecs), 0, "shuffle,bytedelta".into()),
        "int_trunc" => (*rng.pick(&codecs), 0, format!("int_trunc:{kept}")),
        "ndcell" | "ndmean" => (*rng.pick(&codecs), 0, format!("{kind}:{side}")),
        "ndcell,shuffle" => (*rng.pick(&codecs), 0, format!("ndcell:{side},shuffle")),
        "ndlz:4" => (Codec::Ndlz, 4, "shuffle".into()),
        "ndlz:8" => (Codec::Ndlz, 8, "shuffle".into()),
        "zfp-accuracy" => (Codec::ZfpAccuracy, 1_u8.wrapping_sub(rng.below(3) as u8), "none".into()),
        "zfp-precision" => (Codec::ZfpPrecision, 2 + rng.below(7) as u8, "none".into()),
        _ => (Codec::ZfpRate, 5 + rng.below(20) as u8, "none".into()),
    };
    let split = if codec == Codec::Ndlz { SplitMode::Always } else { SplitMode::Auto };
    let params = Params::new(typesize).with_codec(codec).with_codec_meta(meta).with_split(split);
    Ok(params.with_clevel(1 + rng.below(9) as u8).with_pipeline(filters.parse::<Pipeline>()?))
}

/// A wave with some noise; for ndlz a picture of few colours whose rows come back.
fn items(kind: &str, dtype: &str, shape: &[u64], rng: &mut Rng) -> Vec<u8> {
    let (period, colours) = (2 + rng.below(7), 2 + rng.below(6));
    let mut at = vec![0; shape.len()];
    let mut out = Vec::new();
    for _ in 0..shape.iter().product() {
        let sum: u64 = at.iter().sum();
        let value = if kind.starts_with("ndlz") {
            let noise = u64::from(rng.chance(2));
            ((at[0] % period * 7 + at[1] / 3 + noise) % colours) as f64
        } else {
            (sum as f64 / 5.0).sin() * 100.0 + rng.below(4) as f64 / 4.0
        };
        match dtype {
            "<f4" => out.extend((value as f32).to_le_bytes()),
            "<f8" => out.extend(value.to_le_bytes()),
            other => {
                let size: usize = other[2..].parse().unwrap_or(1);
                out.extend((value as i64).to_le_bytes().iter().take(size));
            }
        }
        for (index, &length) in at.iter_mut().zip(shape).rev() {
            *index += 1;
            if *index < length {
                break;
            }
            *index = 0;
        }
    }
    out
}

/// Counts of one kind, by direction.
#[derive(Debug, Default)]
struct Tally {
    arrays: usize,
    /// Arrays of ours, and of theirs, that are smaller than their items.
    smaller: [usize; 2],
    /// Lossy ones of which both give the same bytes.
    same: usize,
}

/// Writes a case; whether the array is smaller than its items.
fn write_case(folder: &Path, number: u64) -> Outcome<bool> {
    let case = Case::new(number)?;
    let at = folder.join(number.to_string());
    let options = case.options(1 + number as usize % 2);
    let path = at.with_extension("ours.b2nd");
    let mut array = options.create(&path, Dtype::parse(case.dtype)?, &case.shape)?;
    array.write_bytes(Selection::all(), &case.items)?;
    let read = array.read_bytes(Selection::all())?;
    if !case.is_lossy() && read != case.items {
        return Err("b2nd reads back other items than it wrote".into());
    }
    fs::write(at.with_extension("raw"), &case.items)?;
    fs::write(at.with_extension("ours"), &read)?;
    fs::write(at.with_extension("json"), case.description().to_string())?;
    Ok(array.cbytes() < case.items.len() as u64)
}

/// Reads what python-blosc2 made of a case.
fn read_case(folder: &Path, number: u64, tally: &mut Tally) -> Outcome {
    let case = Case::new(number)?;
    let at = folder.join(number.to_string());
    let array = Array::open(at.with_extension("theirs.b2nd"))?;
    let read = array.read_bytes(Selection::all())?;
    if read != fs::read(at.with_extension("theirs"))? {
        return Err("b2nd and python-blosc2 read other items".into());
    }
    if !case.is_lossy() && read != case.items {
        return Err("items differ".into());
    }
    let damage = array.verify()?.damage;
    if !damage.is_empty() {
        return Err(format!("{damage:?}").into());
    }
    tally.arrays += 1;
    tally.same += usize::from(case.is_lossy() && read == fs::read(at.with_extension("ours"))?);
    tally.smaller[1] += usize::from(array.cbytes() < case.items.len() as u64);
    Ok(())
}

#[test]
fn registered_filters_and_codecs_are_read_by_both() -> Outcome {
    let Some(python) = python::find_for("registered.py", "blosc2")? else { return Ok(()) };
    let folder = tempfile::tempdir()?;
    let mut tallies: BTreeMap<&str, Tally> = BTreeMap::new();
    let kind = |number: u64| KINDS[(number % KINDS.len() as u64) as usize].0;
    for number in 0..CASES {
        let smaller = write_case(folder.path(), number).map_err(|e| format!("{number}: {e}"))?;
        tallies.entry(kind(number)).or_default().smaller[0] += usize::from(smaller);
    }
    let output = python.start([Path::new("check"), folder.path()])?.wait_with_output()?;
    let complaints = String::from_utf8_lossy(&output.stderr);
    let shown: Vec<&str> = complaints.lines().take(20).collect();
    let summary: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    assert_eq!(summary["done"].as_u64(), Some(CASES), "{}: {}", output.status, shown.join("\n"));
    for number in 0..CASES {
        let case = || fs::read_to_string(folder.path().join(format!("{number}.json"))).unwrap_or_default();
        let tally = tallies.entry(kind(number)).or_default();
        read_case(folder.path(), number, tally).map_err(|e| format!("{}: {e}", case()))?;
    }
    println!("{}: {CASES} arrays each way", python.versions);
    let least = ROUNDS as usize;
    tallies.iter().for_each(|(kind, tally)| println!("{kind}: {tally:?}"));
    for (kind, tally) in tallies {
        assert!(tally.arrays == least && tally.smaller.iter().all(|&n| n >= least / 2), "{kind}: {tally:?}");
        let lossy = Case::new(KINDS.iter().position(|known| known.0 == kind).unwrap_or(0) as u64)?.is_lossy();
        assert!(!lossy || tally.same * 4 >= least * 3, "{kind}: {tally:?}");
    }
    Ok(())
}
