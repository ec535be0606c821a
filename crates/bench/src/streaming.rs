//! An array that comes slab by slab: the streaming writer, next to writing each slab into an array of the whole shape.
//!
//! Memory is the most that a process of its own ever held, so each way runs in a child: this program, with other arguments.

use crate::arrays::{DTYPE, Subject, TYPESIZE};
use crate::measure::{Effort, pair};
use crate::report::Cell;
use crate::rival::Setting;
use b2nd::Codec;
use b2nd::array::{Array, Dtype, Selection, Slabs};
use b2nd_interop::Outcome;
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

const CHILD: &str = "--write-slabs";
const RIVAL: &str = "b2nd, slab by slab";

/// A way to write.
#[derive(Debug, Clone, Copy)]
enum Way {
    Stream,
    Slabs,
}

impl Way {
    fn name(self) -> &'static str {
        match self {
            Way::Stream => "stream",
            Way::Slabs => "slabs",
        }
    }
    /// Writes an array of `shape` from slabs, which `slab` makes.
    fn write<'a>(
        self,
        subject: &Subject,
        shape: [u64; 4],
        threads: usize,
        path: &Path,
        slab: impl Fn(u64) -> &'a [u8],
    ) -> Outcome {
        let setting =
            Setting { codec: Codec::Lz4.id(), clevel: 5, filter: 1, typesize: TYPESIZE as u32, threads };
        let (options, dtype) = (subject.options(Codec::Lz4, setting), Dtype::parse(DTYPE)?);
        match self {
            Way::Stream => {
                let mut writer = options.stream(Some(path), dtype, &Slabs::along(0, shape))?;
                (0..shape[0]).try_for_each(|n| writer.push_bytes(slab(n)))?;
                writer.finish()?;
            }
            Way::Slabs => {
                let mut writer = options.create_uncommitted(Some(path), dtype, &shape)?;
                let (mut start, mut stop) = ([0; 4], shape);
                for n in 0..shape[0] {
                    (start[0], stop[0]) = (n, n + 1);
                    writer.write_bytes(Selection::from_box(&start, &stop), slab(n))?;
                }
                writer.commit()?;
            }
        }
        Ok(())
    }
}

/// Measures one number of threads.
pub(crate) fn run(subject: &Subject, threads: usize, effort: Effort, cells: &mut Vec<Cell>) -> Outcome {
    let folder = tempfile::tempdir()?;
    let paths = [Way::Stream, Way::Slabs].map(|way| folder.path().join(way.name()));
    let shape = subject.shape.map(i64::cast_unsigned);
    let len = subject.items.len() / usize::try_from(shape[0])?;
    let slab = |n: u64| &subject.items[n as usize * len..][..len];
    let write = |way: Way| way.write(subject, shape, threads, &paths[way as usize], slab);
    let found = pair(effort, &mut || write(Way::Stream), &mut || write(Way::Slabs))?;
    for path in &paths {
        if Array::open(path)?.read_bytes(Selection::all())? != subject.items {
            return Err(format!("{}: other items than were written", path.display()).into());
        }
    }
    let nbytes = subject.items.len();
    cells.push(Cell::speed("streaming", "lz4-5 along axis 0".into(), threads, nbytes, found, RIVAL));
    // Eight times the length: memory must not follow it.
    let long = shape[0] * 8;
    let (ours, rival) = (
        peak(subject, Way::Stream, long, threads, &folder)?,
        peak(subject, Way::Slabs, long, threads, &folder)?,
    );
    if let Some((ours, rival)) = ours.zip(rival) {
        cells.push(Cell::memory(format!("lz4-5 {long} slabs, whole process"), threads, ours, rival, RIVAL));
    }
    Ok(())
}

/// The most memory that a process held which wrote `slabs` slabs; `None` where the system does not tell.
fn peak(
    subject: &Subject,
    way: Way,
    slabs: u64,
    threads: usize,
    folder: &tempfile::TempDir,
) -> Outcome<Option<usize>> {
    let numbers = |numbers: &[String]| numbers.join(",");
    let shape = subject.shape.map(|n| n.to_string());
    let (chunks, blocks) = (subject.chunks.map(|n| n.to_string()), subject.blocks.map(|n| n.to_string()));
    let output = Command::new(std::env::current_exe()?)
        .args([CHILD, way.name(), &slabs.to_string(), &threads.to_string()])
        .args([numbers(&shape), numbers(&chunks), numbers(&blocks)])
        .arg(folder.path().join("child"))
        .output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        return Err(format!("the child failed: {}", String::from_utf8_lossy(&output.stderr)).into());
    }
    Ok(text.trim().parse().ok())
}

/// The work of a child, where the arguments ask for it: writes an array, and prints its own peak of memory in bytes.
pub(crate) fn child(arguments: impl Iterator<Item = OsString>) -> Option<Outcome> {
    let arguments: Vec<String> = arguments.map(|a| a.to_string_lossy().into_owned()).collect();
    let [mark, way, slabs, threads, shape, chunks, blocks, path] = arguments.as_slice() else { return None };
    (mark == CHILD).then(|| write_slabs(way, slabs, threads, [shape, chunks, blocks], path))
}

fn write_slabs(way: &str, slabs: &str, threads: &str, shapes: [&String; 3], path: &str) -> Outcome {
    let way = if way == Way::Stream.name() { Way::Stream } else { Way::Slabs };
    let [shape, chunks, blocks] = shapes.map(|text| text.split(',').map(str::parse).collect::<Vec<_>>());
    let four = |numbers: Vec<Result<i64, _>>| -> Outcome<[i64; 4]> {
        let numbers: Vec<i64> = numbers.into_iter().collect::<Result<_, std::num::ParseIntError>>()?;
        numbers.try_into().map_err(|_| "four numbers are needed".into())
    };
    let narrow = |numbers: [i64; 4]| numbers.map(|n| n as i32);
    let mut shape = four(shape)?;
    shape[0] = 1;
    // The items of one slab, which is written again and again.
    let subject = Subject::new(shape, narrow(four(chunks)?), narrow(four(blocks)?));
    shape[0] = slabs.parse()?;
    way.write(&subject, shape.map(i64::cast_unsigned), threads.parse()?, Path::new(path), |_| {
        &subject.items
    })?;
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    let kilobytes: Option<usize> = peak.trim().trim_end_matches(" kB").parse().ok();
    kilobytes.into_iter().for_each(|n| println!("{}", n * 1024));
    Ok(())
}
