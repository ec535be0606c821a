//! The most memory that a process holds which does one thing with an array.
//!
//! It is the most that a process ever held, so each measurement is a child: this program, with other arguments.

use super::asks::Operation;
use super::subject::{Subject, open_options};
use super::whole::create;
use crate::arguments::Mode;
use crate::bench::Bench;
use crate::groups::name::{MEMORY, MEMORY_OF_WRITES};
use crate::groups::own::{slab_by_slab, stream};
use crate::machine::peak_memory;
use crate::report::{Label, Unit};
use crate::rival::Rival;
use b2nd::{Array, Selection};
use b2nd_interop::Outcome;
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

const CHILD: &str = "--child-memory";
const SIDES: [&str; 2] = ["ours", "theirs"];

/// What a child does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Task {
    Read(Operation),
    Create,
    Overwrite,
    Append,
    /// Made of slabs: by a stream, and slab by slab.
    Stream,
}

impl Task {
    fn all(ndim: usize) -> Vec<Task> {
        let reads = Operation::all(ndim).into_iter().map(Task::Read);
        reads.chain([Task::Create, Task::Overwrite, Task::Append, Task::Stream]).collect()
    }
    fn name(self) -> String {
        match self {
            Task::Read(operation) => operation.name(),
            Task::Create => "create".into(),
            Task::Overwrite => "overwrite a hyperplane, axis 0".into(),
            Task::Append => "append a slab, axis 0".into(),
            Task::Stream => "make of slabs, axis 0".into(),
        }
    }
    /// How many parts are read.
    fn count(self) -> usize {
        match self {
            Task::Read(Operation::Boxes | Operation::Items) => 500,
            Task::Read(Operation::Whole) => 1,
            _ => 3,
        }
    }
}

/// Measures each task, with two threads.
pub(crate) fn run(bench: &mut Bench<'_>) -> Outcome {
    if peak_memory().is_none() {
        bench.skip("peak memory: the system does not tell");
        return Ok(());
    }
    let names = bench.mode.pick(&["4-d f8", "3-d i8"][..], &["4-d f8"], &["3-d i8"]);
    for name in names {
        let subject = Subject::new(name, bench.mode)?;
        let path = bench.path("memory.b2nd");
        drop(bench.rival.create(Some(&path), &subject.plan(2), &subject.items)?);
        let subject = Subject::bare(name, bench.mode)?;
        for (n, task) in Task::all(subject.shape.len()).into_iter().enumerate() {
            let group = if matches!(task, Task::Read(_)) { MEMORY } else { MEMORY_OF_WRITES };
            let name = format!("{}, {}", subject.parameters(), task.name());
            let label = Label::new(group, name, 2, Unit::Bytes(0));
            let label = if task == Task::Stream { label.against("b2nd, slab by slab") } else { label };
            let [ours, theirs] = [peak(bench, &subject, 0, n, &path)?, peak(bench, &subject, 1, n, &path)?];
            if n == 0 || task == Task::Create {
                let again = peak(bench, &subject, 1, n, &path)?;
                bench.push(label.noise().bytes(again, theirs));
            }
            bench.push(label.bytes(ours, theirs));
        }
        std::fs::remove_file(path)?;
    }
    Ok(())
}

/// The most memory of a child.
fn peak(bench: &Bench<'_>, subject: &Subject, side: usize, task: usize, path: &Path) -> Outcome<usize> {
    // What changes an array changes a copy.
    let copy = bench.path("changed.b2nd");
    let target = match Task::all(subject.shape.len())[task] {
        Task::Read(_) => path,
        Task::Create | Task::Stream => &copy,
        _ => {
            std::fs::copy(path, &copy)?;
            &copy
        }
    };
    let output = Command::new(std::env::current_exe()?)
        .args([CHILD, SIDES[side], subject.name, bench.mode.name(), &task.to_string()])
        .args([target, &bench.library])
        .output()?;
    if copy.exists() {
        std::fs::remove_file(copy)?;
    }
    if !output.status.success() {
        let (task, side) = (Task::all(subject.shape.len())[task].name(), SIDES[side]);
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{task}, {side}: the child failed ({}): {said}", output.status).into());
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().parse()?)
}

/// The work of a child, where the arguments ask for it: does its task, and prints its own peak of memory in bytes.
pub(crate) fn child(arguments: impl Iterator<Item = OsString>) -> Option<Outcome> {
    let arguments: Vec<String> = arguments.map(|a| a.to_string_lossy().into_owned()).collect();
    let [mark, side, subject, mode, task, path, library] = arguments.as_slice() else { return None };
    (mark == CHILD).then(|| {
        let mode =
            [Mode::Full, Mode::Quick, Mode::Smoke].into_iter().find(|m| m.name() == mode).ok_or("mode")?;
        let mut subject = Subject::bare(subject, mode)?;
        let task = Task::all(subject.shape.len())[task.parse::<usize>()?];
        if task == Task::Create {
            subject = subject.with_length(subject.shape[0]);
        }
        let path = Path::new(path);
        if side == SIDES[0] {
            ours(&subject, task, path)?;
        } else {
            theirs(&subject, task, path, library.as_ref())?;
        }
        println!("{}", peak_memory().ok_or("the system does not tell")?);
        Ok(())
    })
}

/// A slab of zeros, and where it is written.
fn slab(subject: &Subject) -> (Vec<u8>, Vec<i64>, Vec<i64>) {
    let mut stop = subject.shape.clone();
    stop[0] = 1;
    (vec![0; subject.slab()], vec![0; subject.shape.len()], stop)
}

/// The slabs of an array, each the same.
fn slabs<'s>(subject: &Subject, slab: &'s Subject) -> impl Iterator<Item = &'s [u8]> {
    (0..subject.shape[0]).map(|_| slab.items.as_slice())
}

fn ours(subject: &Subject, task: Task, path: &Path) -> Outcome {
    let options = open_options(2);
    match task {
        Task::Create => drop(create(subject, Some(path), 2)?),
        Task::Read(operation) => {
            let array = Array::open_with(path, &options)?;
            let asks = operation.asks(subject, task.count());
            let mut out = vec![0; asks[0].nbytes];
            asks.iter().try_for_each(|ask| ask.ours(&array, &mut out))?;
        }
        Task::Overwrite => {
            let (items, ..) = slab(subject);
            let mut array = Array::open_with(path, &options.with_write(true))?;
            array.write_bytes(Selection::new([b2nd::Axis::Index(0)]), &items)?;
        }
        Task::Append => {
            let (items, ..) = slab(subject);
            Array::open_with(path, &options.with_write(true))?.append_bytes(0, &items)?;
        }
        Task::Stream => stream(subject, 2, path, slabs(subject, &subject.with_length(1)))?,
    }
    Ok(())
}

fn theirs(subject: &Subject, task: Task, path: &Path, library: &Path) -> Outcome {
    let rival = Rival::load(library)?;
    let plan = subject.plan(2);
    match task {
        Task::Create => drop(rival.create(Some(path), &plan, &subject.items)?),
        Task::Read(operation) => {
            let mut array = rival.open(path, &plan)?;
            let asks = operation.asks(subject, task.count());
            let (mut out, mut scratch) = (vec![0; asks[0].nbytes], vec![]);
            asks.iter().try_for_each(|ask| ask.theirs(&mut array, &mut out, &mut scratch))?;
        }
        Task::Overwrite => {
            let (items, start, stop) = slab(subject);
            rival.open(path, &plan)?.write(&start, &stop, &items)?;
        }
        Task::Append => {
            let (items, ..) = slab(subject);
            rival.open(path, &plan)?.append(0, &items)?;
        }
        Task::Stream => slab_by_slab(subject, 2, path, slabs(subject, &subject.with_length(1)))?,
    }
    Ok(())
}
