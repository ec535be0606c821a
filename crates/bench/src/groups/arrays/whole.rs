//! Arrays made of items in memory, in one go.

use super::Place;
use super::subject::{Subject, open_options};
use crate::arguments::Mode;
use crate::bench::Bench;
use crate::groups::name::{SIZE, WHOLE};
use crate::measure::Duel;
use crate::report::{Label, Unit};
use crate::rival::{self, Rival};
use b2nd::{Array, Dtype, Selection};
use b2nd_interop::Outcome;
use std::path::{Path, PathBuf};

/// Both make the array, in memory or at paths.
struct Create<'a> {
    rival: &'a Rival,
    subject: &'a Subject,
    threads: usize,
    paths: Option<[PathBuf; 2]>,
    made: (Option<Array>, Option<rival::Array<'a>>),
}

impl Duel for Create<'_> {
    fn ours(&mut self, _: usize) -> Outcome {
        let path = self.paths.as_ref().map(|paths| paths[0].as_path());
        self.made.0 = Some(create(self.subject, path, self.threads)?);
        Ok(())
    }
    fn theirs(&mut self, _: usize) -> Outcome {
        let path = self.paths.as_ref().map(|paths| paths[1].as_path());
        self.made.1 = Some(self.rival.create(path, &self.subject.plan(self.threads), &self.subject.items)?);
        Ok(())
    }
    fn before(&mut self) -> Outcome {
        self.made = (None, None);
        // Neither is to replace a file: C-Blosc2 does not.
        for path in self.paths.iter().flatten().filter(|path| path.exists()) {
            std::fs::remove_file(path)?;
        }
        Ok(())
    }
}

/// Makes the array by b2nd.
pub(crate) fn create(subject: &Subject, path: Option<&Path>, threads: usize) -> Outcome<Array> {
    let dtype = Dtype::parse(subject.dtype)?;
    let (options, shape) = (subject.options(threads), subject.lengths());
    let mut writer = match path {
        Some(path) => options.create_uncommitted(path, dtype, &shape)?,
        None => options.create_uncommitted_in_memory(dtype, &shape)?,
    };
    writer.write_bytes(Selection::all(), &subject.items)?;
    Ok(writer.commit()?)
}

/// Measures making one array.
pub(super) fn run(bench: &mut Bench<'_>, subject: &Subject) -> Outcome {
    for place in [Place::Memory, Place::Disk] {
        for &threads in bench.threads() {
            // A quick run has each place and each number of threads once.
            if bench.mode == Mode::Quick && (place == Place::Memory) != (threads == 1) {
                continue;
            }
            let paths = [bench.path("ours.b2nd"), bench.path("theirs.b2nd")];
            let paths = (place == Place::Disk).then_some(paths);
            let made = (None, None);
            let mut duel = Create { rival: bench.rival, subject, threads, paths, made };
            let name = format!("{}, create, {}", subject.parameters(), place.name());
            let label = Label::new(WHOLE, name, threads, Unit::Bytes(subject.nbytes()));
            bench.duel(label, bench.effort(2500, 600), &mut duel)?;
            duel.before()?;
        }
    }
    verify(bench, subject)
}

/// Both read both files; their sizes are a cell.
fn verify(bench: &mut Bench<'_>, subject: &Subject) -> Outcome {
    let (ours, theirs) = (bench.path("ours.b2nd"), bench.path("theirs.b2nd"));
    let threads = bench.threads().len();
    let plan = subject.plan(threads);
    drop(create(subject, Some(&ours), threads)?);
    drop(bench.rival.create(Some(&theirs), &plan, &subject.items)?);
    let mut read = vec![0; subject.nbytes()];
    for path in [&ours, &theirs] {
        Array::open_with(path, &open_options(threads))?.read_bytes_into(Selection::all(), &mut read)?;
        if read != subject.items {
            return Err(format!("b2nd reads other items from {}", path.display()).into());
        }
        read.fill(0);
        bench.rival.open(path, &plan)?.read(&vec![0; subject.shape.len()], &subject.shape, &mut read)?;
        if read != subject.items {
            return Err(format!("C-Blosc2 reads other items from {}", path.display()).into());
        }
    }
    let size = |path: &Path| std::fs::metadata(path).map(|m| m.len() as usize);
    let label = Label::new(SIZE, format!("{}, file", subject.parameters()), 1, Unit::Bytes(0));
    bench.push(label.bytes(size(&ours)?, size(&theirs)?));
    for path in [ours, theirs] {
        std::fs::remove_file(path)?;
    }
    Ok(())
}
