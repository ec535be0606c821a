//! Opening an array of a million chunks, and reading one item.

use crate::bench::Bench;
use crate::groups::name::OPEN;
use crate::measure::Fill;
use crate::report::{Label, Unit};
use crate::rival::{Plan, Setting};
use b2nd::array::{Array, Dtype, OpenOptions, Options, Selection};
use b2nd::chunk::Params;
use b2nd::{Codec, Durability, Exec, Pipeline};
use b2nd_interop::Outcome;
use b2nd_testkit::rng::Rng;
use std::path::Path;

/// Items of a chunk: little, as the number of chunks is what counts.
const ITEMS: i64 = 16;
const TYPESIZE: usize = 4;

/// Measures a file of a million chunks of noise, and one of a million chunks of zeros.
pub(crate) fn run(bench: &mut Bench<'_>) -> Outcome {
    let chunks = bench.mode.pick(1_000_000, 1_000_000, 1000);
    let path = bench.path("many.b2nd");
    for (what, noise) in [("noise", true), ("zeros", false)] {
        make(&path, chunks, noise)?;
        one(bench, &path, chunks, what)?;
        std::fs::remove_file(&path)?;
    }
    Ok(())
}

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
        writer.write_bytes(Selection::all(), &Rng::new(51).bytes((chunks * ITEMS) as usize * TYPESIZE))?;
    }
    writer.commit()?;
    Ok(())
}

fn one(bench: &mut Bench<'_>, path: &Path, chunks: i64, what: &str) -> Outcome {
    let setting = Setting {
        codec: Codec::Lz4.id(),
        clevel: 5,
        filters: [0; 6],
        filters_meta: [0; 6],
        typesize: TYPESIZE as u32,
        threads: 1,
    };
    let (shape, chunk) = ([chunks * ITEMS], [ITEMS as i32]);
    let plan = Plan { shape: &shape, chunks: &chunk, blocks: &chunk, dtype: "<i4", setting };
    let options = OpenOptions::new().with_exec(Exec::new(1));
    let mut rng = Rng::new(53);
    let items: Vec<i64> = (0..1000).map(|_| rng.between(0, shape[0] - 1)).collect();
    let item = |step: usize| items[step % items.len()];
    let rival = bench.rival;
    let mut duel = Fill::new(
        TYPESIZE,
        |step, out| {
            let array = Array::open_with(path, &options)?;
            Ok(array.read_bytes_into(Selection::points([item(step)]), out)?)
        },
        |step, out| rival.open(path, &plan)?.read(&[item(step)], &[item(step) + 1], out),
    );
    let name = format!("open {chunks} chunks of {what} and read an item");
    bench.duel(Label::new(OPEN, name, 1, Unit::Time), bench.effort(3000, 1000), &mut duel)
}
