//! Arrays that are changed: a slice overwritten, slabs appended. On our side each change is a commit.

use super::Place;
use super::subject::{Subject, TYPESIZE, open_options};
use super::whole::create;
use crate::arguments::Mode;
use crate::bench::Bench;
use crate::groups::name::UPDATE;
use crate::measure::Duel;
use crate::report::{Label, Unit};
use crate::rival;
use b2nd::{Array, Selection};
use b2nd_interop::Outcome;
use b2nd_testkit::rng::Rng;

/// Two arrays of the same items, one for each side.
struct Both<'r> {
    ours: Array,
    theirs: rival::Array<'r>,
}

impl<'r> Both<'r> {
    fn new(bench: &Bench<'r>, subject: &Subject, place: Place, threads: usize) -> Outcome<Self> {
        let [one, other] = [bench.path("ours.b2nd"), bench.path("theirs.b2nd")];
        for path in [&one, &other].into_iter().filter(|path| path.exists()) {
            std::fs::remove_file(path)?;
        }
        let plan = subject.plan(threads);
        let (ours, theirs) = match place {
            Place::Memory => {
                (create(subject, None, threads)?, bench.rival.create(None, &plan, &subject.items)?)
            }
            _ => {
                drop(create(subject, Some(&one), threads)?);
                let ours = Array::open_with(&one, &open_options(threads).with_write(true))?;
                (ours, bench.rival.create(Some(&other), &plan, &subject.items)?)
            }
        };
        Ok(Both { ours, theirs })
    }
}

/// Where a box begins, and where it ends.
type Bounds = (Vec<i64>, Vec<i64>);

/// Boxes that are overwritten, one in each step.
struct Overwrite<'r> {
    arrays: Both<'r>,
    boxes: Vec<Bounds>,
    items: Vec<u8>,
}

impl Duel for Overwrite<'_> {
    fn ours(&mut self, step: usize) -> Outcome {
        let (start, stop) = &self.boxes[step % self.boxes.len()];
        let unsigned = |list: &[i64]| list.iter().map(|n| n.unsigned_abs()).collect::<Vec<_>>();
        let selection = Selection::from_box(&unsigned(start), &unsigned(stop));
        Ok(self.arrays.ours.write_bytes(selection, &self.items)?)
    }
    fn theirs(&mut self, step: usize) -> Outcome {
        let (start, stop) = &self.boxes[step % self.boxes.len()];
        self.arrays.theirs.write(start, stop, &self.items)
    }
}

impl Overwrite<'_> {
    /// After all boxes were written in order by both, whatever was timed before, both hold the same.
    fn verify(&mut self, subject: &Subject) -> Outcome {
        for step in 0..self.boxes.len() {
            self.ours(step)?;
            self.theirs(step)?;
        }
        let ours = self.arrays.ours.read_bytes(Selection::all())?;
        let mut theirs = vec![0; ours.len()];
        self.arrays.theirs.read(&vec![0; subject.shape.len()], &subject.shape, &mut theirs)?;
        if ours == theirs && ours != subject.items {
            Ok(())
        } else {
            Err(format!("{}: the two hold other items after they were overwritten", subject.name).into())
        }
    }
}

/// The boxes by name: planes along axis 0, and boxes as large as a chunk that lie across several.
fn boxes(subject: &Subject) -> [(&'static str, Vec<Bounds>); 2] {
    let mut rng = Rng::new(43);
    let planes = (0..2).map(|_| {
        let (mut start, mut stop) = (vec![0; subject.shape.len()], subject.shape.clone());
        start[0] = rng.between(0, subject.shape[0] - 1);
        stop[0] = start[0] + 1;
        (start, stop)
    });
    let planes = planes.collect();
    let lengths: Vec<i64> =
        subject.chunks.iter().zip(&subject.shape).map(|(c, n)| i64::from(*c).min(*n)).collect();
    let across = (0..2).map(|_| {
        let start: Vec<i64> =
            subject.shape.iter().zip(&lengths).map(|(n, len)| rng.between(0, n - len)).collect();
        let stop = start.iter().zip(&lengths).map(|(a, len)| a + len).collect();
        (start, stop)
    });
    [("overwrite a hyperplane, axis 0", planes), ("overwrite a box as large as a chunk", across.collect())]
}

/// Slabs along axis 0, one appended in each step.
struct Append<'r> {
    arrays: Both<'r>,
    slab: Vec<u8>,
    appended: [usize; 2],
}

impl Duel for Append<'_> {
    fn ours(&mut self, _: usize) -> Outcome {
        self.appended[0] += 1;
        Ok(self.arrays.ours.append_bytes(0, &self.slab)?)
    }
    fn theirs(&mut self, _: usize) -> Outcome {
        self.appended[1] += 1;
        self.arrays.theirs.append(0, &self.slab)
    }
}

impl Append<'_> {
    /// Each side holds what it began with, and as many slabs as were appended.
    fn verify(&mut self, subject: &Subject) -> Outcome {
        let read = [self.arrays.ours.read_bytes(Selection::all())?, self.arrays.theirs.read_all()?];
        for (items, appended) in read.iter().zip(self.appended) {
            let (base, rest) = items.split_at(subject.nbytes());
            let whole = rest.len() == appended * self.slab.len();
            if base != subject.items || !whole || rest.chunks(self.slab.len()).any(|slab| slab != self.slab) {
                return Err(format!("{}: other items after slabs were appended", subject.name).into());
            }
        }
        Ok(())
    }
}

/// Measures changes of an array of this kind, of two rows of chunks along axis 0.
pub(super) fn run(bench: &mut Bench<'_>, kind: &Subject) -> Outcome {
    let subject = kind.with_length(i64::from(kind.chunks[0]) * bench.mode.pick(2, 2, 1));
    for place in [Place::Memory, Place::Disk] {
        for &threads in bench.threads() {
            if bench.mode == Mode::Quick && (place == Place::Memory) != (threads == 1) {
                continue;
            }
            let label = |what: &str, nbytes| {
                let name = format!("{}, {what}, {}", subject.parameters(), place.name());
                Label::new(UPDATE, name, threads, Unit::Bytes(nbytes))
            };
            for (what, boxes) in boxes(&subject) {
                let arrays = Both::new(bench, &subject, place, threads)?;
                let (start, stop) = &boxes[0];
                let nbytes = start.iter().zip(stop).map(|(a, b)| b - a).product::<i64>() as usize * TYPESIZE;
                let items = subject.items.iter().rev().take(nbytes).copied().collect();
                let mut duel = Overwrite { arrays, boxes, items };
                bench.duel(label(what, nbytes), bench.effort(3000, 300).bounded(60, 1), &mut duel)?;
                duel.verify(&subject)?;
            }
            let arrays = Both::new(bench, &subject, place, threads)?;
            let slab = subject.items[..subject.slab()].to_vec();
            let (nbytes, steps) = (slab.len(), ((1 << 30) / slab.len()).clamp(5, 40));
            let mut duel = Append { arrays, slab, appended: [0; 2] };
            let effort = bench.effort(3000, 300).bounded(steps, 1);
            bench.duel(label("append a slab, axis 0", nbytes), effort, &mut duel)?;
            duel.verify(&subject)?;
        }
    }
    Ok(())
}
