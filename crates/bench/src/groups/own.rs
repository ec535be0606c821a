//! What C-Blosc2 has no function for, next to doing without it: streams, reductions, single items with a cache of blocks, reads
//! that check what they read.

use super::arrays::{Operation, SUBJECTS, Subject, TYPESIZE, open_options};
use crate::bench::Bench;
use crate::groups::name::OWN;
use crate::measure::{Duel, Fill};
use crate::report::{Label, Unit};
use b2nd::{Array, Dtype, SaveOptions, Selection, Slabs};
use b2nd_interop::Outcome;
use b2nd_testkit::rng::Rng;
use std::path::{Path, PathBuf};

/// Measures each on the array of three dimensions.
pub(crate) fn run(bench: &mut Bench<'_>) -> Outcome {
    let kind = Subject::bare("3-d i8", bench.mode)?;
    let subject = kind.with_length(i64::from(kind.chunks[0]) * bench.mode.pick(4, 1, 1));
    let threads = bench.threads().len();
    streaming(bench, &subject, threads)?;
    let path = bench.path("own.b2nd");
    super::arrays::create(&subject, Some(&path), threads)?;
    let array = Array::open_with(&path, &open_options(threads))?;
    reductions(bench, &subject, &array, threads)?;
    cached(bench, &path)?;
    overwriting(bench, &subject)?;
    std::fs::remove_file(path)?;
    for name in SUBJECTS {
        checked(bench, name)?;
    }
    Ok(())
}

/// Slabs through a stream, and each slab written into an array of the whole shape.
struct Streaming<'a> {
    subject: &'a Subject,
    threads: usize,
    paths: [PathBuf; 2],
}

impl Duel for Streaming<'_> {
    fn ours(&mut self, _: usize) -> Outcome {
        stream(self.subject, self.threads, &self.paths[0], slabs(self.subject))
    }
    fn theirs(&mut self, _: usize) -> Outcome {
        slab_by_slab(self.subject, self.threads, &self.paths[1], slabs(self.subject))
    }
}

fn slabs(subject: &Subject) -> impl Iterator<Item = &[u8]> {
    subject.items.chunks(subject.slab())
}

/// Writes an array of slabs along axis 0 through a stream.
pub(super) fn stream<'s>(
    subject: &Subject,
    threads: usize,
    path: &Path,
    mut slabs: impl Iterator<Item = &'s [u8]>,
) -> Outcome {
    let along = Slabs::along(0, subject.lengths());
    let mut writer = subject.options(threads).stream(path, Dtype::parse(subject.dtype)?, &along)?;
    slabs.try_for_each(|slab| writer.push_bytes(slab))?;
    writer.finish()?;
    Ok(())
}

/// Writes the same array, each slab by itself.
pub(super) fn slab_by_slab<'s>(
    subject: &Subject,
    threads: usize,
    path: &Path,
    slabs: impl Iterator<Item = &'s [u8]>,
) -> Outcome {
    let (dtype, shape) = (Dtype::parse(subject.dtype)?, subject.lengths());
    let mut writer = subject.options(threads).create_uncommitted(path, dtype, &shape)?;
    let (mut start, mut stop) = (vec![0; shape.len()], shape);
    for (n, slab) in slabs.enumerate() {
        (start[0], stop[0]) = (n as u64, n as u64 + 1);
        writer.write_bytes(Selection::from_box(&start, &stop), slab)?;
    }
    writer.commit()?;
    Ok(())
}

fn streaming(bench: &mut Bench<'_>, subject: &Subject, threads: usize) -> Outcome {
    let paths = [bench.path("stream.b2nd"), bench.path("slabs.b2nd")];
    let name = format!("{}, make of slabs, axis 0", subject.parameters());
    let label = Label::new(OWN, name, threads, Unit::Bytes(subject.nbytes())).against("b2nd, slab by slab");
    // Slab by slab is slow, as each chunk is compressed again for each slab.
    let effort = bench.effort(2000, 400).bounded(3, 1);
    bench.duel(label, effort, &mut Streaming { subject, threads, paths: paths.clone() })?;
    for path in paths {
        if Array::open(&path)?.read_bytes(Selection::all())? != subject.items {
            return Err(format!("{}: other items than were written", path.display()).into());
        }
        std::fs::remove_file(path)?;
    }
    Ok(())
}

/// The sums as bytes.
fn put(sums: &[i64], out: &mut [u8]) -> Outcome {
    for (out, sum) in out.chunks_exact_mut(TYPESIZE).zip(sums) {
        out.copy_from_slice(&sum.to_le_bytes());
    }
    Ok(())
}

/// Sums, next to reading everything and adding up.
fn reductions(bench: &mut Bench<'_>, subject: &Subject, array: &Array, threads: usize) -> Outcome {
    let mut items = vec![0i64; subject.nbytes() / TYPESIZE];
    let columns = subject.slab() / TYPESIZE;
    let label = |what: &str| {
        let name = format!("{}, {what}", subject.parameters());
        Label::new(OWN, name, threads, Unit::Bytes(subject.nbytes())).against("b2nd, read all and add")
    };
    let effort = bench.effort(2000, 400);
    let mut duel = Fill::new(
        TYPESIZE,
        |_, out| put(&[array.sum(())?.item::<i64>()?], out),
        |_, out| {
            array.read_into::<i64>(Selection::all(), &mut items)?;
            put(&[items.iter().sum::<i64>()], out)
        },
    );
    bench.duel(label("sum"), effort, &mut duel)?;
    let mut duel = Fill::new(
        subject.slab(),
        |_, out| put(&array.sum(0)?.items::<i64>()?, out),
        |_, out| {
            array.read_into::<i64>(Selection::all(), &mut items)?;
            let mut sums = vec![0i64; columns];
            for slab in items.chunks_exact(columns) {
                sums.iter_mut().zip(slab).for_each(|(sum, &v)| *sum += v);
            }
            put(&sums, out)
        },
    );
    bench.duel(label("sum over axis 0"), effort, &mut duel)
}

/// Single items close to each other, with a cache of blocks and without.
fn cached(bench: &mut Bench<'_>, path: &Path) -> Outcome {
    let plain = Array::open_with(path, &open_options(1))?;
    let array = Array::open_with(path, &open_options(1).with_block_cache(8 << 20))?;
    let corner: Vec<i64> = plain.shape().iter().map(|&n| n.min(12).cast_signed() - 1).collect();
    let mut rng = Rng::new(8);
    let mut point = || corner.iter().map(|&last| rng.between(0, last)).collect::<Vec<i64>>();
    let points: Vec<Selection> = (0..200).map(|_| Selection::points(point())).collect();
    let read = |array: &Array, step: usize, out: &mut [u8]| -> Outcome {
        Ok(array.read_bytes_into(points[step % points.len()].clone(), out)?)
    };
    let mut duel =
        Fill::new(TYPESIZE, |step, out| read(&array, step, out), |step, out| read(&plain, step, out));
    let label = Label::new(OWN, "3-d i8 lz4-5, items of a corner, cached", 1, Unit::Steps("items/s"));
    bench.duel(label.against("b2nd without a cache"), bench.effort(1000, 200), &mut duel)
}

/// A box in one chunk, overwritten by two threads and by one.
struct OneChunk {
    arrays: [Array; 2],
    selection: Selection,
    items: Vec<u8>,
}

impl Duel for OneChunk {
    fn ours(&mut self, _: usize) -> Outcome {
        Ok(self.arrays[0].write_bytes(self.selection.clone(), &self.items)?)
    }
    fn theirs(&mut self, _: usize) -> Outcome {
        Ok(self.arrays[1].write_bytes(self.selection.clone(), &self.items)?)
    }
}

/// Some blocks of one chunk are replaced, on two threads and on one.
fn overwriting(bench: &mut Bench<'_>, subject: &Subject) -> Outcome {
    let threads = bench.threads().len();
    if threads < 2 {
        bench.skip("parts of one chunk on two threads: there is one processor");
        return Ok(());
    }
    let chunk: Vec<u64> = subject.chunks.iter().map(|&n| u64::from(n.unsigned_abs())).collect();
    let thin = |axis: usize| {
        let mut stop = chunk.clone();
        stop[axis] = 1;
        stop
    };
    for (what, stop) in [("plane, axis 0", thin(0)), ("plane, last axis", thin(chunk.len() - 1))] {
        let len = stop.iter().product::<u64>() as usize * TYPESIZE;
        let arrays =
            [super::arrays::create(subject, None, threads)?, super::arrays::create(subject, None, 1)?];
        let selection = Selection::from_box(&vec![0; stop.len()], &stop);
        let mut duel = OneChunk { arrays, selection, items: Rng::new(9).bytes(len) };
        let name = format!("{}, overwrite in one chunk a {what}", subject.parameters());
        let label = Label::new(OWN, name, threads, Unit::Bytes(len)).against("b2nd, one thread");
        bench.duel(label, bench.effort(1000, 300), &mut duel)?;
        let [one, other] = &duel.arrays;
        if one.read_bytes(Selection::all())? != other.read_bytes(Selection::all())? {
            return Err("two threads wrote other items than one".into());
        }
    }
    Ok(())
}

/// Reads that check what they fetch by its checksums, and the same reads without.
fn checked(bench: &mut Bench<'_>, name: &str) -> Outcome {
    let kind = Subject::bare(name, bench.mode)?;
    let subject = kind.with_length(i64::from(kind.chunks[0]));
    let path = bench.path("checked.b2nd");
    super::arrays::create(&subject, None, 1)?.save(&path, &SaveOptions::new().with_checksums(true))?;
    let with = Array::open_with(&path, &open_options(1))?;
    let without = Array::open_with(&path, &open_options(1).with_checks(false))?;
    for operation in [Operation::Whole, Operation::Hyperplanes(1), Operation::Boxes, Operation::Items] {
        let asks = operation.asks(&subject, 200);
        let len = asks.first().map_or(0, |ask| ask.nbytes);
        let name = format!("{}, {}, checked", subject.parameters(), operation.name());
        let label = Label::new(OWN, name, 1, Unit::Bytes(len)).against("b2nd without checks");
        let mut duel = Fill::new(
            len,
            |step, out| asks[step % asks.len()].ours(&with, out),
            |step, out| asks[step % asks.len()].ours(&without, out),
        );
        bench.duel(label, bench.effort(1000, 200), &mut duel)?;
    }
    Ok(std::fs::remove_file(path)?)
}
