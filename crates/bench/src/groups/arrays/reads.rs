//! Arrays read whole, in parts and by selections. Both sides read the same file, or the same frame in memory: C-Blosc2's.

use super::asks::{Ask, Operation};
use super::subject::{Subject, open_options};
use super::{Place, cold};
use crate::arguments::Mode;
use crate::bench::Bench;
use crate::measure::{Duel, Effort};
use crate::rival;
use b2nd::Array;
use b2nd_interop::Outcome;
use std::path::Path;

/// Both read the same parts, one in each step.
pub(super) struct Reads<'a, 'r> {
    pub(super) array: &'a Array,
    pub(super) other: &'a mut rival::Array<'r>,
    pub(super) asks: Vec<Ask>,
    pub(super) outs: [Vec<u8>; 2],
    pub(super) scratch: Vec<u8>,
    /// A file that is to be forgotten before each turn.
    pub(super) cold: Option<&'a Path>,
}

impl Duel for Reads<'_, '_> {
    fn ours(&mut self, step: usize) -> Outcome {
        self.asks[step % self.asks.len()].ours(self.array, &mut self.outs[0])
    }
    fn theirs(&mut self, step: usize) -> Outcome {
        self.asks[step % self.asks.len()].theirs(self.other, &mut self.outs[1], &mut self.scratch)
    }
    fn before(&mut self) -> Outcome {
        self.cold.map_or(Ok(()), cold::forget)
    }
    fn check(&mut self) -> Outcome {
        if self.outs[0] == self.outs[1] { Ok(()) } else { Err("the two read different items".into()) }
    }
}

/// The whole array into one buffer, which is compared with the items after each turn: two would take too much memory.
struct Whole<'a, 'r> {
    reads: Reads<'a, 'r>,
    subject: &'a Subject,
    out: Vec<u8>,
    filled: bool,
}

impl Duel for Whole<'_, '_> {
    fn ours(&mut self, _: usize) -> Outcome {
        self.filled = true;
        self.reads.asks[0].ours(self.reads.array, &mut self.out)
    }
    fn theirs(&mut self, _: usize) -> Outcome {
        self.filled = true;
        self.reads.asks[0].theirs(self.reads.other, &mut self.out, &mut self.reads.scratch)
    }
    fn before(&mut self) -> Outcome {
        if self.filled && self.out != self.subject.items {
            return Err("other items were read than were stored".into());
        }
        self.reads.before()?;
        // What is not read is seen.
        self.out.iter_mut().step_by(509).for_each(|byte| *byte = !*byte);
        Ok(())
    }
}

/// Measures reading one array, wherever it may lie.
pub(super) fn run(bench: &mut Bench<'_>, subject: &Subject) -> Outcome {
    let path = bench.path("read.b2nd");
    drop(bench.rival.create(Some(&path), &subject.plan(bench.threads().len()), &subject.items)?);
    for place in [Place::Memory, Place::Disk, Place::Cold] {
        for &threads in bench.threads() {
            // Of a quick run: everything in memory by one thread and on disk by two, and something of the rest.
            let all = match (bench.mode, place) {
                (Mode::Quick, Place::Memory) => threads == 1,
                (Mode::Quick, Place::Disk) => threads == 2,
                (Mode::Quick, Place::Cold) if threads == 2 => continue,
                (Mode::Quick, Place::Cold) => false,
                _ => true,
            };
            at(bench, subject, &path, place, threads, all)?;
        }
    }
    Ok(std::fs::remove_file(path)?)
}

fn at(
    bench: &mut Bench<'_>,
    subject: &Subject,
    path: &Path,
    place: Place,
    threads: usize,
    all: bool,
) -> Outcome {
    let (rival, plan, options) = (bench.rival, subject.plan(threads), open_options(threads));
    let (array, mut other) = if place == Place::Memory {
        let frame = std::fs::read(path)?;
        let other = rival.open_frame(&frame, &plan)?;
        (Array::from_bytes(frame, &options)?, other)
    } else {
        (Array::open_with(path, &options)?, rival.open(path, &plan)?)
    };
    let operations = match (all, place) {
        (true, _) => Operation::all(subject.shape.len()),
        (false, Place::Cold) => vec![Operation::Whole, Operation::Boxes],
        _ => vec![Operation::Whole],
    };
    if place == Place::Cold {
        let mut out = vec![0; subject.nbytes()];
        let whole = &Operation::Whole.asks(subject, usize::MAX)[0];
        if !cold::can_forget(path, &mut || whole.ours(&array, &mut out))? {
            bench.skip(format!("{}, {}: the system keeps the file", subject.name, place.name()));
            return Ok(());
        }
    }
    let cold = (place == Place::Cold).then_some(path);
    for operation in operations {
        let asks = operation.asks(subject, usize::MAX);
        let nbytes = asks.first().map_or(0, |ask| ask.nbytes);
        let label = operation.label(subject, place.name(), threads, nbytes);
        let slow = matches!(operation, Operation::Whole | Operation::Hyperplanes(_));
        let effort = bench.effort(2500, if slow { 600 } else { 350 });
        let effort = if cold.is_some() { effort.bounded(100, 1) } else { Effort { most: 2000, ..effort } };
        let (other, scratch) = (&mut other, vec![]);
        if operation == Operation::Whole {
            let reads = Reads { array: &array, other, asks, outs: [vec![], vec![]], scratch, cold };
            let mut duel = Whole { reads, subject, out: vec![0; nbytes], filled: false };
            bench.duel(label, effort, &mut duel)?;
            duel.before()?;
        } else {
            let outs = [vec![0; nbytes], vec![0; nbytes]];
            bench.duel(label, effort, &mut Reads { array: &array, other, asks, outs, scratch, cold })?;
        }
    }
    Ok(())
}
