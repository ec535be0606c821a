//! Both writers take turns on one file: each must see what the other wrote, and keep its metalayers.

use b2nd::{Array, Codec, Dtype, Exec, Layout, OpenOptions, Options, Pipeline, Selection};
use b2nd_interop::case::hex;
use b2nd_interop::check::layers;
use b2nd_interop::generate::{CODECS, partition};
use b2nd_interop::python::{self, Server};
use b2nd_interop::{Outcome, check};
use b2nd_testkit::rng::Rng;
use b2nd_testkit::slicing::{self, Part};
use serde_json::json;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::Path;

const SEQUENCES: u64 = 300;
const TURNS: usize = 6;

/// What the file is to hold.
struct Model {
    shape: Vec<u64>,
    itemsize: usize,
    data: Vec<u8>,
    meta: BTreeMap<String, String>,
    vlmeta: BTreeMap<String, String>,
}

fn random_box(rng: &mut Rng, shape: &[u64]) -> Vec<(u64, u64)> {
    let side = |rng: &mut Rng, len: u64| {
        let start = rng.below(len);
        (start, start + 1 + rng.below(len - start))
    };
    shape.iter().map(|&len| if rng.chance(30) { (0, len) } else { side(rng, len) }).collect()
}

fn create(rng: &mut Rng, path: &Path) -> Outcome<Model> {
    let shape: Vec<u64> = (0..1 + rng.below(4)).map(|_| *rng.pick(&[1, 2, 5, 7, 9, 12])).collect();
    let (chunks, blocks) = partition(rng, &shape);
    let (dtype, itemsize) =
        *rng.pick(&[("<i4", 4usize), (">f8", 8), ("|u1", 1), ("<c16", 16), ("|S300", 300)]);
    let filters = *rng.pick(&[[0u8; 6], [0, 0, 0, 0, 0, 1], [0, 0, 0, 0, 0, 2]]);
    let content = rng.bytes(40);
    let params = b2nd::Params::new(itemsize as u32)
        .with_codec(Codec::from_name(CODECS[rng.below(5) as usize]).ok_or("codec")?)
        .with_clevel(rng.below(10) as u8)
        .with_pipeline(Pipeline::from_bytes(filters, [0; 6]));
    let sparse = rng.chance(40);
    Options::new()
        .with_params(params)
        .with_chunks(chunks)
        .with_blocks(blocks)
        .with_layout(if sparse { Layout::Sparse } else { Layout::Contiguous })
        .with_metalayer("owner", content.clone())
        .create(path, Dtype::parse(dtype)?, &shape)?;
    let meta = BTreeMap::from([("owner".to_string(), hex(&content))]);
    let data = vec![0; shape.iter().product::<u64>() as usize * itemsize];
    Ok(Model { shape, itemsize, data, meta, vlmeta: BTreeMap::new() })
}

fn turn(rng: &mut Rng, model: &mut Model, path: &Path, by_python: bool, server: &mut Server) -> Outcome {
    let sides = random_box(rng, &model.shape);
    let range = |&(a, b): &(u64, u64)| Part::Range(Some(a.cast_signed()), Some(b.cast_signed()), 1);
    let parts: Vec<Part> = sides.iter().map(range).collect();
    let nbytes = sides.iter().map(|(a, b)| b - a).product::<u64>() as usize * model.itemsize;
    let items = if rng.chance(25) { vec![0; nbytes] } else { rng.bytes(nbytes) };
    slicing::write(&parts, &model.shape, model.itemsize, &mut model.data, &items);
    let mut layer = BTreeMap::new();
    if rng.chance(40) {
        let name = format!("note-{}", rng.below(3));
        let len = rng.below(200) as usize + 1;
        layer.insert(name, hex(&rng.bytes(len)));
    }
    model.vlmeta.extend(layer.clone());
    if by_python {
        let (start, stop): (Vec<u64>, Vec<u64>) = sides.into_iter().unzip();
        server.ask(&json!({"op": "write", "path": path, "start": start, "stop": stop, "items": hex(&items), "vlmeta": layer}))?;
        return Ok(());
    }
    let mut array = Array::open_with(path, &OpenOptions::new().with_write(true).with_exec(Exec::new(2)))?;
    array.write_bytes(Selection::parse(&slicing::text(&parts))?, &items)?;
    for (name, content) in &layer {
        array.set_vlmetalayer(name, &b2nd_interop::write::unhex(content)?)?;
    }
    Ok(())
}

fn compare(model: &Model, path: &Path, server: &mut Server) -> Outcome {
    let array = Array::open(path)?;
    if array.read_bytes(Selection::all())? != model.data {
        return Err("b2nd reads other items".into());
    }
    let wanted = (model.meta.clone(), model.vlmeta.clone());
    check::expect("layers", &layers(&array)?, &wanted)?;
    let answer = server.ask(&json!({"op": "digest", "path": path}))?;
    check::expect("python's items", &answer["sha256"], &json!(hex(&Sha256::digest(&model.data))))?;
    check::expect("python's layers", &answer["layers"], &json!([model.meta, model.vlmeta]))
}

#[test]
fn both_writers_alternate_on_one_file() -> Outcome {
    let Some(python) = python::find()? else { return Ok(()) };
    let folder = tempfile::tempdir()?;
    let mut server = python.serve()?;
    let (mut turns, mut failures) = (0, Vec::new());
    for sequence in 0..SEQUENCES {
        let mut rng = Rng::for_part(77, sequence);
        let path = folder.path().join(format!("{sequence}.b2nd"));
        let mut run = || -> Outcome {
            let mut model = create(&mut rng, &path)?;
            for at in 0..TURNS {
                let by_python = (at as u64 + sequence).is_multiple_of(2);
                turn(&mut rng, &mut model, &path, by_python, &mut server)
                    .and_then(|()| compare(&model, &path, &mut server))
                    .map_err(|e| format!("turn {at} (python writes: {by_python}): {e}"))?;
                turns += 1;
            }
            Ok(())
        };
        if let Err(error) = run() {
            failures.push(format!("sequence {sequence}: {error}"));
        }
    }
    println!("{SEQUENCES} sequences, {turns} turns, {} failures", failures.len());
    assert!(failures.is_empty(), "{}", failures.into_iter().take(20).collect::<Vec<_>>().join("\n"));
    Ok(())
}

/// Whether dead bytes were written again: the file is much smaller than all that was written into it.
fn was_reused(path: &Path, written: u64) -> Outcome<bool> {
    let space = Array::open(path)?.schunk().space()?;
    Ok(path.is_dir() || space.stored < written / 4)
}

#[test]
fn python_blosc2_reads_what_lies_where_dead_bytes_were() -> Outcome {
    let Some(python) = python::find()? else { return Ok(()) };
    let folder = tempfile::tempdir()?;
    let mut server = python.serve()?;
    let (mut rng, mut reused) = (Rng::for_part(78, 0), 0);
    for sequence in 0..30 {
        let path = folder.path().join(format!("{sequence}.b2nd"));
        let shape: Vec<u64> = vec![40 + rng.below(40), 60];
        let chunks = [1 + rng.below(20), 1 + rng.below(60)];
        let model = || -> Outcome<Model> {
            let options = Options::new().with_chunks(chunks).with_blocks(chunks);
            let sparse = if sequence % 5 == 4 { Layout::Sparse } else { Layout::Contiguous };
            options.with_layout(sparse).create(&path, Dtype::parse("<i4")?, &shape)?;
            let data = vec![0; (shape[0] * shape[1] * 4) as usize];
            Ok(Model { shape, itemsize: 4, data, meta: BTreeMap::new(), vlmeta: BTreeMap::new() })
        };
        let (mut model, mut written) = (model()?, 0);
        for _ in 0..3 {
            // A handle that stays open, then some that come and go, then the other side.
            let mut array = Array::open_with(&path, &OpenOptions::new().with_write(true))?;
            for _ in 0..30 {
                let rows = rng.below(model.shape[0]);
                let part = [Part::Range(Some(rows.cast_signed()), Some(rows.cast_signed() + 1), 1)];
                let items = rng.bytes(60 * 4);
                slicing::write(&part, &model.shape, 4, &mut model.data, &items);
                array.write_bytes(Selection::parse(&slicing::text(&part))?, &items)?;
                written += array.schunk().frame_len() / 4;
            }
            compare(&model, &path, &mut server)?;
            drop(array);
            for turns in 0..8 {
                turn(&mut rng, &mut model, &path, turns == 7, &mut server)?;
                compare(&model, &path, &mut server).map_err(|e| format!("sequence {sequence}: {e}"))?;
            }
        }
        reused += u32::from(was_reused(&path, written)?);
    }
    assert!(reused > 20, "{reused}");
    Ok(())
}
