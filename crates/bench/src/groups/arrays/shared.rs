//! Two threads that read through one handle, each half of the parts, next to one thread that reads all of them.

use super::asks::{Ask, Operation};
use super::subject::{SUBJECTS, Subject, open_options};
use crate::arguments::Mode;
use crate::bench::Bench;
use crate::groups::name::SHARED;
use crate::measure::Duel;
use crate::report::{Label, Unit};
use b2nd::Array;
use b2nd_interop::Outcome;

/// Parts that are read in a step: of an array of 10 MB each thread has some milliseconds of work.
struct Shared<'a> {
    array: &'a Array,
    asks: Vec<Ask>,
    /// Parts of one step.
    batch: usize,
    outs: [Vec<u8>; 2],
}

impl Shared<'_> {
    fn batch(&self, step: usize) -> &[Ask] {
        let batches = self.asks.len() / self.batch;
        &self.asks[step % batches * self.batch..][..self.batch]
    }
}

fn read(array: &Array, asks: &[Ask], out: &mut [u8]) -> Outcome {
    asks.iter().try_for_each(|ask| ask.ours(array, out))
}

impl Duel for Shared<'_> {
    fn ours(&mut self, step: usize) -> Outcome {
        let mut outs = std::mem::take(&mut self.outs);
        let (first, second) = self.batch(step).split_at(self.batch / 2);
        let [one, other] = &mut outs;
        let done = std::thread::scope(|scope| {
            let helper = scope.spawn(|| read(self.array, second, other));
            let done = read(self.array, first, one);
            helper.join().map_err(|_| "a thread panicked")?.and(done)
        });
        self.outs = outs;
        done
    }
    fn theirs(&mut self, step: usize) -> Outcome {
        let mut outs = std::mem::take(&mut self.outs);
        let done = read(self.array, self.batch(step), &mut outs[0]);
        self.outs = outs;
        done
    }
}

/// Measures boxes, items and planes.
pub(crate) fn run(bench: &mut Bench<'_>) -> Outcome {
    if bench.threads().len() < 2 {
        bench.skip("two threads on one handle: there is one processor");
        return Ok(());
    }
    for name in SUBJECTS {
        let kind = Subject::bare(name, bench.mode)?;
        let subject = kind.with_length(i64::from(kind.chunks[0]) * bench.mode.pick(2, 2, 1));
        let path = bench.path("shared.b2nd");
        drop(bench.rival.create(Some(&path), &subject.plan(2), &subject.items)?);
        let frame = std::fs::read(&path)?;
        let in_memory = Array::from_bytes(frame, &open_options(1))?;
        let on_disk = Array::open_with(&path, &open_options(1))?;
        for (array, place) in [(&in_memory, "in memory"), (&on_disk, "on disk")] {
            let operations =
                [(Operation::Boxes, 400), (Operation::Items, 4000), (Operation::Hyperplanes(1), 20)];
            // A quick run has two of them in each place.
            let some = if bench.mode == Mode::Quick { 2 } else { 3 };
            for (operation, batch) in operations.into_iter().take(some) {
                let asks = operation.asks(&subject, usize::MAX);
                let len = asks.first().map_or(0, |ask| ask.nbytes);
                let mut duel = Shared { array, asks, batch, outs: [vec![0; len], vec![0; len]] };
                let name = format!("{}, {}, {place}", subject.parameters(), operation.name());
                let label = Label::new(SHARED, name, 2, Unit::Bytes(batch * len)).against("b2nd, one thread");
                bench.duel(label, bench.effort(3000, 500), &mut duel)?;
            }
        }
        std::fs::remove_file(path)?;
    }
    Ok(())
}
