//! Arrays of a million chunks and more: opening one, reading one item, reading all chunks one by one, and the memory that takes.

use crate::bench::Bench;
use crate::groups::name::OPEN;
use crate::machine::peak_memory;
use crate::measure::Fill;
use crate::report::{Label, Unit};
use crate::rival::{Plan, Rival, Setting};
use b2nd::{Array, Codec, Dtype, Durability, Exec, OpenOptions, Options, Params, Pipeline, Selection};
use b2nd_interop::Outcome;
use b2nd_testkit::rng::Rng;
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

const CHILD: &str = "--child-open";
const SIDES: [&str; 2] = ["ours", "theirs"];

/// Items of a chunk: little, as the number of chunks is what counts.
const ITEMS: i64 = 16;
const TYPESIZE: usize = 4;

/// Measures a file of a million chunks of noise, and one of a million chunks of zeros.
pub(crate) fn run(bench: &mut Bench<'_>) -> Outcome {
    let chunks = bench.mode.pick(1_000_000, 1_000_000, 1000);
    let path = bench.path("many.b2nd");
    for (what, noise) in [("noise", true), ("zeros", false)] {
        make(&path, chunks, noise)?;
        open(bench, &path, chunks, what)?;
        item(bench, &path, chunks, what)?;
        if noise {
            in_order(bench, &path, chunks)?;
        }
        std::fs::remove_file(&path)?;
    }
    if peak_memory().is_none() {
        bench.skip("peak memory of opening: the system does not tell");
        return Ok(());
    }
    for &chunks in bench.mode.pick(&[100_000, 10_000_000][..], &[100_000], &[1000]) {
        make(&path, chunks, true)?;
        memory(bench, &path, chunks)?;
        std::fs::remove_file(&path)?;
    }
    Ok(())
}

/// Chunks that are made by one write.
const AT_ONCE: i64 = 1_000_000;

/// By b2nd: C-Blosc2 would write the whole index again for each chunk.
fn make(path: &Path, chunks: i64, noise: bool) -> Outcome {
    let shape = [(chunks * ITEMS).unsigned_abs()];
    let params = Params::new(TYPESIZE as u32).with_codec(Codec::Lz4).with_pipeline(Pipeline::none());
    let options = Options::new()
        .with_params(params)
        .with_chunks([ITEMS.unsigned_abs()])
        .with_blocks([ITEMS.unsigned_abs()])
        .with_durability(Durability::None)
        .with_checksums(false);
    let mut writer = options.create_uncommitted(path, Dtype::parse("<i4")?, shape)?;
    if noise {
        let mut rng = Rng::new(51);
        // One write must not plan more than the limits allow.
        for first in (0..chunks).step_by(AT_ONCE as usize) {
            let last = (first + AT_ONCE).min(chunks);
            let [start, stop] = [first, last].map(|n| [(n * ITEMS).unsigned_abs()]);
            let items = rng.bytes(((last - first) * ITEMS) as usize * TYPESIZE);
            writer.write_bytes(Selection::from_box(&start, &stop), &items)?;
        }
    }
    writer.commit()?;
    Ok(())
}

/// Both sides' descriptions of the array.
struct Described {
    shape: [i64; 1],
    chunk: [i32; 1],
    setting: Setting,
    options: OpenOptions,
}

impl Described {
    fn new(chunks: i64) -> Self {
        let setting = Setting {
            codec: Codec::Lz4.id(),
            clevel: 5,
            filters: [0; 6],
            filters_meta: [0; 6],
            typesize: TYPESIZE as u32,
            threads: 1,
        };
        let options = OpenOptions::new().with_exec(Exec::new(1));
        Described { shape: [chunks * ITEMS], chunk: [ITEMS as i32], setting, options }
    }
    fn plan(&self) -> Plan<'_> {
        let Described { shape, chunk, setting, .. } = self;
        Plan { shape, chunks: chunk, blocks: chunk, dtype: "<i4", setting: *setting }
    }
}

fn open(bench: &mut Bench<'_>, path: &Path, chunks: i64, what: &str) -> Outcome {
    let (described, rival) = (Described::new(chunks), bench.rival);
    let mut duel = Fill::new(
        0,
        |_, _| Array::open_with(path, &described.options).map(drop).map_err(Into::into),
        |_, _| rival.open(path, &described.plan()).map(drop),
    );
    let name = format!("open {chunks} chunks of {what}");
    bench.duel(Label::new(OPEN, name, 1, Unit::Time), bench.effort(3000, 1000), &mut duel)
}

fn item(bench: &mut Bench<'_>, path: &Path, chunks: i64, what: &str) -> Outcome {
    let (described, rival) = (Described::new(chunks), bench.rival);
    let mut rng = Rng::new(53);
    let items: Vec<i64> = (0..1000).map(|_| rng.between(0, described.shape[0] - 1)).collect();
    let item = |step: usize| items[step % items.len()];
    let mut duel = Fill::new(
        TYPESIZE,
        |step, out| {
            let array = Array::open_with(path, &described.options)?;
            Ok(array.read_bytes_into(Selection::points([item(step)]), out)?)
        },
        |step, out| rival.open(path, &described.plan())?.read(&[item(step)], &[item(step) + 1], out),
    );
    let name = format!("open {chunks} chunks of {what} and read an item");
    bench.duel(Label::new(OPEN, name, 1, Unit::Time), bench.effort(3000, 1000), &mut duel)
}

/// Each step reads the chunk behind that of the last one, through a handle that stays open.
fn in_order(bench: &mut Bench<'_>, path: &Path, chunks: i64) -> Outcome {
    let described = Described::new(chunks);
    let ours = Array::open_with(path, &described.options)?;
    let mut theirs = bench.rival.open(path, &described.plan())?;
    let start = |step: usize| (step as i64 % chunks) * ITEMS;
    let mut duel = Fill::new(
        ITEMS as usize * TYPESIZE,
        |step, out| {
            let (from, to) = (start(step).unsigned_abs(), (start(step) + ITEMS).unsigned_abs());
            Ok(ours.read_bytes_into(Selection::from_box(&[from], &[to]), out)?)
        },
        |step, out| theirs.read(&[start(step)], &[start(step) + ITEMS], out),
    );
    let name = format!("read {chunks} chunks of noise one by one, in order");
    bench.duel(Label::new(OPEN, name, 1, Unit::Time), bench.effort(3000, 1000), &mut duel)
}

/// The most memory of a child that opens the array and reads an item of it.
fn memory(bench: &mut Bench<'_>, path: &Path, chunks: i64) -> Outcome {
    let peak = |side: usize| -> Outcome<usize> {
        let output = Command::new(std::env::current_exe()?)
            .args([CHILD, SIDES[side], &chunks.to_string()])
            .args([path, &bench.library])
            .output()?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            return Err(
                format!("opening, {}: the child failed ({}): {said}", SIDES[side], output.status).into()
            );
        }
        Ok(String::from_utf8_lossy(&output.stdout).trim().parse()?)
    };
    let [ours, theirs] = [peak(0)?, peak(1)?];
    let name = format!("peak memory: open {chunks} chunks of noise and read an item");
    bench.push(Label::new(OPEN, name, 1, Unit::Bytes(0)).bytes(ours, theirs));
    Ok(())
}

/// The work of a child, where the arguments ask for it: opens, reads an item, and prints its own peak of memory in bytes.
pub(crate) fn child(arguments: impl Iterator<Item = OsString>) -> Option<Outcome> {
    let arguments: Vec<String> = arguments.map(|a| a.to_string_lossy().into_owned()).collect();
    let [mark, side, chunks, path, library] = arguments.as_slice() else { return None };
    (mark == CHILD).then(|| {
        let described = Described::new(chunks.parse()?);
        let (at, path, mut out) = (described.shape[0] / 2, Path::new(path), [0; TYPESIZE]);
        if side == SIDES[0] {
            let array = Array::open_with(path, &described.options)?;
            array.read_bytes_into(Selection::points([at]), &mut out)?;
        } else {
            let rival = Rival::load(library.as_ref())?;
            rival.open(path, &described.plan())?.read(&[at], &[at + 1], &mut out)?;
        }
        println!("{}", peak_memory().ok_or("the system does not tell")?);
        Ok(())
    })
}
