//! What b2nd makes of other arrays, of slabs and with dictionaries: opened by python-blosc2, compared with what NumPy makes.

use b2nd::chunk::ChunkHeader;
use b2nd::{Array, Axis, Codec, Dtype, Exec, Layout, OpenOptions, Options, Params, Selection, Slabs};
use b2nd_interop::generate::partition;
use b2nd_interop::{Outcome, python};
use b2nd_testkit::rng::Rng;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

const KINDS: [&str; 9] =
    ["stream", "grow", "dictionary", "concatenate", "stack", "reshape", "astype", "view", "slice"];
const CASES: u64 = 360;
const DTYPE: &str = "<i4";

/// One case: where its files are, and its random numbers.
struct Case<'f> {
    folder: &'f Path,
    number: u64,
    rng: Rng,
    shapes: Vec<Vec<u64>>,
}

impl Case<'_> {
    fn file(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{}.{name}", self.number))
    }

    fn options(&mut self) -> Options {
        let layout = if self.rng.chance(25) { Layout::Sparse } else { Layout::Contiguous };
        Options::new().with_layout(layout).with_exec(Exec::new(1 + self.rng.below(3) as usize))
    }

    fn shape(&mut self, axes: u64, longest: u64) -> Vec<u64> {
        (0..axes).map(|_| 1 + self.rng.below(longest)).collect()
    }

    /// Small numbers in runs of equal ones, and their file for NumPy.
    fn items(&mut self, shape: &[u64]) -> Outcome<Vec<i32>> {
        let mut items = Vec::new();
        let size = shape.iter().product::<u64>() as usize;
        while items.len() < size {
            let run = 1 + self.rng.below(9) as usize;
            items.extend(std::iter::repeat_n(self.rng.between(-90, 40_000) as i32, run));
        }
        items.truncate(size);
        let raw: Vec<u8> = items.iter().flat_map(|item| item.to_le_bytes()).collect();
        fs::write(self.file(&format!("{}.raw", self.shapes.len())), raw)?;
        self.shapes.push(shape.to_vec());
        Ok(items)
    }

    /// An array in memory, in chunks of its own.
    fn source(&mut self, shape: &[u64]) -> Outcome<Array> {
        let items = self.items(shape)?;
        let (chunks, blocks) = partition(&mut self.rng, shape);
        let options = Options::new().with_chunks(chunks).with_blocks(blocks);
        let mut array = options.create_in_memory(Dtype::parse(DTYPE)?, shape)?;
        array.write_items((), &items)?;
        Ok(array)
    }

    fn axes(&mut self, shape: &[u64]) -> usize {
        self.rng.below(shape.len() as u64) as usize
    }
}

/// Slabs of random lengths, with a commit in between now and then.
fn stream(case: &mut Case<'_>, grows: bool) -> Outcome<Value> {
    // What was streamed is compared as slabs of the first axis, so that a slab is a part of the file for NumPy.
    let axes = 1 + case.rng.below(3);
    let shape = case.shape(axes, 20);
    let items = case.items(&shape)?;
    let mut slabs = if grows {
        let mut guess = shape.clone();
        guess[0] = case.rng.below(30);
        Slabs::growing(0, guess)
    } else {
        Slabs::along(0, shape.clone())
    };
    let mut options = case.options();
    if case.rng.chance(70) {
        let (chunks, blocks) = partition(&mut case.rng, &shape);
        options = options.with_chunks(chunks).with_blocks(blocks);
    } else {
        slabs = slabs.with_memory(4 << 20);
    }
    let mut writer = options.stream(case.file("b2nd"), Dtype::parse(DTYPE)?, &slabs)?;
    let across = shape.iter().skip(1).product::<u64>() as usize;
    let mut rest = &items[..];
    while !rest.is_empty() {
        let count = (1 + case.rng.below(6) as usize).min(rest.len() / across);
        let (now, later) = rest.split_at(count * across);
        writer.push_items(now)?;
        if case.rng.chance(10) {
            writer.flush()?;
        }
        rest = later;
    }
    writer.finish()?;
    Ok(json!({}))
}

fn dictionary(case: &mut Case<'_>) -> Outcome<Value> {
    let shape = vec![100 + case.rng.below(60), 40 + case.rng.below(60)];
    let items = case.items(&shape)?;
    let (chunks, blocks) = ([50 + case.rng.below(60), 40], [4 + case.rng.below(4), 40]);
    let (codec, clevel) = (*case.rng.pick(&["zstd", "lz4", "lz4hc"]), 1 + case.rng.below(9) as u8);
    let params = Params::new(4)
        .with_codec(Codec::from_name(codec).ok_or("codec")?)
        .with_clevel(clevel)
        .with_dictionary(true);
    let options = case.options().with_chunks(chunks).with_blocks(blocks).with_params(params);
    let mut array = options.create(case.file("b2nd"), Dtype::parse(DTYPE)?, &shape)?;
    array.write_items((), &items)?;
    assert!(dictionaries(&array)?, "no chunk of case {} has a dictionary", case.number);
    Ok(json!({ "chunks": chunks, "blocks": blocks, "codec": codec, "clevel": clevel }))
}

fn dictionaries(array: &Array) -> Outcome<bool> {
    for n in 0..array.schunk().nchunks() {
        if ChunkHeader::parse(&array.schunk().chunk(n)?)?.has_dictionary() {
            return Ok(true);
        }
    }
    Ok(false)
}

fn join(case: &mut Case<'_>, stacked: bool) -> Outcome<Value> {
    let axes = 1 + case.rng.below(3);
    let mut shape = case.shape(axes, 12);
    let axis = case.axes(&shape) + usize::from(stacked && case.rng.chance(30));
    let mut arrays = Vec::new();
    for _ in 0..1 + case.rng.below(4) {
        if !stacked {
            shape[axis] = 1 + case.rng.below(12);
        }
        arrays.push(case.source(&shape)?);
    }
    let arrays: Vec<&Array> = arrays.iter().collect();
    let (options, path) = (case.options(), case.file("b2nd"));
    if stacked {
        options.stack(&path, &arrays, axis)?;
    } else {
        options.concatenate(&path, &arrays, axis)?;
    }
    Ok(json!({ "axis": axis }))
}

fn reshape(case: &mut Case<'_>) -> Outcome<Value> {
    let shape = case.shape(3, 8);
    let to = match case.rng.below(4) {
        0 => vec![shape.iter().product()],
        1 => vec![shape[0] * shape[1], shape[2]],
        2 => vec![shape[2], shape[0], 1, shape[1]],
        _ => vec![shape[1], shape[0] * shape[2]],
    };
    let array = case.source(&shape)?;
    case.options().reshape(case.file("b2nd"), &array, &to)?;
    Ok(json!({ "to": to }))
}

fn astype(case: &mut Case<'_>) -> Outcome<Value> {
    let shape = case.shape(2, 16);
    let to = *case.rng.pick(&["<f8", "<f4", "|u1", "<i2", ">i4", "<i8", "|b1", "<c16"]);
    let array = case.source(&shape)?;
    case.options().astype(case.file("b2nd"), &array, &Dtype::parse(to)?)?;
    Ok(json!({ "to": to }))
}

fn view(case: &mut Case<'_>) -> Outcome<Value> {
    let shape = case.shape(3, 9);
    let (first, second) = (case.rng.below(3) as usize, case.rng.below(2) as usize);
    let mut rest = vec![0i64, 1, 2];
    let order = [rest.remove(first), rest.remove(second), rest[0]];
    let axis = case.rng.below(4) as i64;
    let array = case.source(&shape)?;
    let view = array.permute(&order)?.expand_dims(&[axis])?;
    case.options().copy(case.file("b2nd"), view)?;
    Ok(json!({ "to": order, "axis": axis }))
}

fn slice(case: &mut Case<'_>) -> Outcome<Value> {
    let axes = 1 + case.rng.below(3);
    let shape = case.shape(axes, 20);
    let array = case.source(&shape)?;
    let (mut parts, mut to) = (Vec::new(), Vec::new());
    for &length in &shape {
        let start = case.rng.below(length) as i64;
        let stop = start + case.rng.below(length) as i64;
        let step = *case.rng.pick(&[1, 1, 1, 2, 3]);
        match case.rng.below(6) {
            0 => {
                parts.push(Axis::Index(start));
                to.push(json!(start));
            }
            1 => {
                parts.push(Axis::Range { start: None, stop: None, step: -step });
                to.push(json!([null, null, -step]));
            }
            _ => {
                parts.push(Axis::Range { start: Some(start), stop: Some(stop), step });
                to.push(json!([start, stop, step]));
            }
        }
    }
    case.options().slice(case.file("b2nd"), &array, Selection::new(parts))?;
    Ok(json!({ "to": to }))
}

fn write_case(case: &mut Case<'_>, kind: &str) -> Outcome {
    let mut value = match kind {
        "stream" => stream(case, false),
        "grow" => stream(case, true),
        "dictionary" => dictionary(case),
        "concatenate" => join(case, false),
        "stack" => join(case, true),
        "reshape" => reshape(case),
        "astype" => astype(case),
        "view" => view(case),
        _ => slice(case),
    }?;
    value["kind"] = kind.into();
    value["shapes"] = json!(case.shapes);
    Ok(fs::write(case.file("json"), value.to_string())?)
}

/// The array with dictionaries that python-blosc2 wrote.
fn read_theirs(case: &Case<'_>) -> Outcome {
    let array = Array::open_with(case.file("theirs.b2nd"), &OpenOptions::new())?;
    if array.read_bytes(())? != fs::read(case.file("0.raw"))? {
        return Err(format!("case {} reads back as other items", case.number).into());
    }
    assert!(dictionaries(&array)?, "no chunk of theirs has a dictionary in case {}", case.number);
    Ok(())
}

#[test]
fn python_blosc2_opens_what_b2nd_makes_of_arrays_and_slabs() -> Outcome {
    let Some(python) = python::find_for("products.py", "blosc2")? else { return Ok(()) };
    let folder = tempfile::tempdir()?;
    let mut cases = Vec::new();
    for number in 0..CASES {
        let rng = Rng::for_part(47, number);
        let mut case = Case { folder: folder.path(), number, rng, shapes: Vec::new() };
        let kind = KINDS[number as usize % KINDS.len()];
        write_case(&mut case, kind).map_err(|e| format!("{kind} {number}: {e}"))?;
        cases.push((kind, case));
    }
    let output = python.start([Path::new("check"), folder.path()])?.wait_with_output()?;
    let complaints = String::from_utf8_lossy(&output.stderr);
    let shown: Vec<&str> = complaints.lines().take(20).collect();
    let summary: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    assert_eq!(summary["done"].as_u64(), Some(CASES), "{}", shown.join("\n"));
    for (_, case) in cases.iter().filter(|(kind, _)| *kind == "dictionary") {
        read_theirs(case)?;
    }
    println!("{}: {CASES} arrays of {} kinds", python.versions, KINDS.len());
    Ok(())
}
