//! A 4-d array in a file: written and read whole, by hyperplanes, by random boxes and item by item.

use crate::measure::{Effort, pair};
use crate::report::Cell;
use crate::rival::{self, Plan, Rival, Setting};
use b2nd::array::{Array, Dtype, OpenOptions, Options, Selection};
use b2nd::chunk::Params;
use b2nd::{Codec, Exec, Pipeline};
use b2nd_interop::Outcome;
use b2nd_testkit::rng::Rng;
use std::path::Path;

/// One array and its partition.
#[derive(Debug)]
pub(crate) struct Subject {
    /// Shape.
    pub(crate) shape: [i64; 4],
    /// Chunk shape.
    pub(crate) chunks: [i32; 4],
    /// Block shape.
    pub(crate) blocks: [i32; 4],
    /// Items: 4-byte floats.
    pub(crate) items: Vec<u8>,
}

/// Bytes of an item.
pub(crate) const TYPESIZE: usize = 4;
/// The dtype of the items.
pub(crate) const DTYPE: &str = "<f4";

impl Subject {
    /// A smooth field of this shape, with a little noise.
    pub(crate) fn new(shape: [i64; 4], chunks: [i32; 4], blocks: [i32; 4]) -> Self {
        let n = shape.iter().product::<i64>() as usize;
        let mut rng = Rng::new(9);
        let value = |i: usize| ((i as f32) * 0.003).sin() * 50.0 + (i / 4096) as f32 * 0.01;
        let items =
            (0..n).flat_map(|i| (value(i) + (rng.next_u64() % 16) as f32 * 0.0625).to_le_bytes()).collect();
        Subject { shape, chunks, blocks, items }
    }
    pub(crate) fn plan(&self, setting: Setting) -> Plan<'_> {
        Plan { shape: &self.shape, chunks: &self.chunks, blocks: &self.blocks, dtype: DTYPE, setting }
    }
    pub(crate) fn options(&self, codec: Codec, setting: Setting) -> Options {
        let wide = |dims: &[i32; 4]| dims.map(|n| u64::from(n.unsigned_abs())).to_vec();
        let params = Params::new(TYPESIZE as u32)
            .with_codec(codec)
            .with_clevel(setting.clevel)
            .with_pipeline(Pipeline::from_bytes([0, 0, 0, 0, 0, setting.filter], [0; 6]));
        Options::new()
            .with_params(params)
            .with_chunks(wide(&self.chunks))
            .with_blocks(wide(&self.blocks))
            .with_exec(Exec::new(setting.threads))
            .with_overwrite(true)
    }
}

type Box4 = ([i64; 4], [i64; 4]);

/// The parts that are read, by name.
fn parts(shape: &[i64; 4]) -> Vec<(String, Vec<Box4>)> {
    let mut rng = Rng::new(3);
    let mut out = vec![("whole".to_string(), vec![([0; 4], *shape)])];
    for axis in 0..4 {
        let planes = (0..4).map(|_| {
            let (mut start, mut stop) = ([0; 4], *shape);
            start[axis] = rng.between(0, shape[axis] - 1);
            stop[axis] = start[axis] + 1;
            (start, stop)
        });
        out.push((format!("hyperplanes, axis {axis}"), planes.collect()));
    }
    let mut random = |largest: i64| -> Box4 {
        let (mut start, mut stop) = ([0; 4], [0; 4]);
        for d in 0..4 {
            let len = rng.between(1, largest.min(shape[d]));
            start[d] = rng.between(0, shape[d] - len);
            stop[d] = start[d] + len;
        }
        (start, stop)
    };
    out.push(("random boxes".into(), (0..10).map(|_| random(12)).collect()));
    out.push(("single items".into(), (0..20).map(|_| random(1)).collect()));
    out
}

fn bytes_of((start, stop): &Box4) -> usize {
    start.iter().zip(stop).map(|(a, b)| b - a).product::<i64>() as usize * TYPESIZE
}

fn selection((start, stop): &Box4) -> Selection {
    Selection::from_box(&start.map(i64::cast_unsigned), &stop.map(i64::cast_unsigned))
}

/// Measures one codec and number of threads.
pub(crate) fn run(
    rival: &Rival,
    subject: &Subject,
    codec: &str,
    threads: usize,
    effort: Effort,
    cells: &mut Vec<Cell>,
) -> Outcome {
    let folder = tempfile::tempdir()?;
    let (ours, theirs) = (folder.path().join("ours.b2nd"), folder.path().join("theirs.b2nd"));
    let codec_id = Codec::from_name(codec).ok_or("codec")?;
    let setting = Setting { codec: codec_id.id(), clevel: 5, filter: 1, typesize: TYPESIZE as u32, threads };
    let plan = subject.plan(setting);
    let write_ours = || -> Outcome {
        let options = subject.options(codec_id, setting);
        let shape = subject.shape.map(i64::cast_unsigned);
        let mut writer = options.create_uncommitted(Some(&ours), Dtype::parse(DTYPE)?, &shape)?;
        writer.write_bytes(Selection::all(), &subject.items)?;
        writer.commit()?;
        Ok(())
    };
    let write_theirs = || -> Outcome {
        if theirs.exists() {
            std::fs::remove_file(&theirs)?;
        }
        rival.create(&theirs, &plan, &subject.items).map(drop)
    };
    let found = pair(effort, &mut { write_ours }, &mut { write_theirs })?;
    let nbytes = subject.items.len();
    let label = |what: &str| format!("{codec}-5 {what}");
    cells.push(Cell::speed("array write", label("whole"), threads, nbytes, found, "C-Blosc2"));
    if threads == 1 {
        let size = |path: &Path| std::fs::metadata(path).map(|m| m.len() as usize);
        cells.push(Cell::size(label("file of the 4-d array"), size(&ours)?, size(&theirs)?, "C-Blosc2"));
    }
    verify(rival, &plan, &ours, &theirs, &subject.items)?;
    // Both read one file: C-Blosc2's.
    let open = OpenOptions::new().with_exec(Exec::new(threads));
    let array = Array::open_with(&theirs, &open)?;
    let mut other = rival.open(&theirs, &plan)?;
    for (name, boxes) in parts(&subject.shape) {
        let total: usize = boxes.iter().map(bytes_of).sum();
        compare(&array, &mut other, &boxes)?;
        let largest = boxes.iter().map(bytes_of).max().unwrap_or(0);
        let (mut a, mut b) = (vec![0u8; largest], vec![0u8; largest]);
        let found = pair(
            effort,
            &mut || {
                for part in &boxes {
                    array.read_bytes_into(selection(part), &mut a[..bytes_of(part)])?;
                }
                Ok(())
            },
            &mut || boxes.iter().try_for_each(|part| other.read(&part.0, &part.1, &mut b[..bytes_of(part)])),
        )?;
        cells.push(Cell::speed("array read", label(&name), threads, total, found, "C-Blosc2"));
    }
    Ok(())
}

/// Both sides read both files.
fn verify(rival: &Rival, plan: &Plan<'_>, ours: &Path, theirs: &Path, items: &[u8]) -> Outcome {
    for path in [ours, theirs] {
        if Array::open(path)?.read_bytes(Selection::all())? != items {
            return Err(format!("b2nd reads other items from {}", path.display()).into());
        }
        let mut read = vec![0; items.len()];
        rival.open(path, plan)?.read(&[0; 4], plan.shape, &mut read)?;
        if read != items {
            return Err(format!("C-Blosc2 reads other items from {}", path.display()).into());
        }
    }
    Ok(())
}

fn compare(array: &Array, other: &mut rival::Array<'_>, boxes: &[Box4]) -> Outcome {
    for part in boxes {
        let mut theirs = vec![0; bytes_of(part)];
        other.read(&part.0, &part.1, &mut theirs)?;
        if array.read_bytes(selection(part))? != theirs {
            return Err(format!("box {part:?} differs").into());
        }
    }
    Ok(())
}

/// Slices written into an existing array: one commit for each on our side, as on theirs.
pub(crate) fn updates(
    rival: &Rival,
    subject: &Subject,
    threads: usize,
    effort: Effort,
    cells: &mut Vec<Cell>,
) -> Outcome {
    let folder = tempfile::tempdir()?;
    let (ours, theirs) = (folder.path().join("ours.b2nd"), folder.path().join("theirs.b2nd"));
    let setting =
        Setting { codec: Codec::Lz4.id(), clevel: 5, filter: 1, typesize: TYPESIZE as u32, threads };
    let plan = subject.plan(setting);
    let shape = subject.shape.map(i64::cast_unsigned);
    let mut array = subject.options(Codec::Lz4, setting).create(Some(&ours), Dtype::parse(DTYPE)?, &shape)?;
    array.write_bytes(Selection::all(), &subject.items)?;
    let mut other = rival.create(&theirs, &plan, &subject.items)?;
    let Some((_, boxes)) = parts(&subject.shape).into_iter().find(|(name, _)| name == "random boxes") else {
        return Ok(());
    };
    let total: usize = boxes.iter().map(bytes_of).sum();
    let found = pair(
        effort,
        &mut || {
            for part in &boxes {
                array.write_bytes(selection(part), &subject.items[..bytes_of(part)])?;
            }
            Ok(())
        },
        &mut || {
            boxes.iter().try_for_each(|part| other.write(&part.0, &part.1, &subject.items[..bytes_of(part)]))
        },
    )?;
    cells.push(Cell::speed("array write", "lz4-5 random boxes".into(), threads, total, found, "C-Blosc2"));
    compare(&array, &mut other, &[([0; 4], subject.shape)])
}
