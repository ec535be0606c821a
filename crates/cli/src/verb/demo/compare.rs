//! The same slices of a `.b2nd` and a `.npy` file: from the page cache, and from the disk.

use std::fs::File;
use std::path::Path;
use std::time::{Duration, Instant};

use b2nd::{Array, OpenOptions};

use crate::args::Threads;
use crate::failure::{Failure, Result};
use crate::input::Input;
use crate::tiling::Region;
use crate::view::View;
use crate::{output, report};

/// The two files, and how the array is opened.
pub(super) struct Files<'a> {
    pub(super) npy: &'a Path,
    pub(super) array: &'a Path,
    pub(super) threads: Threads,
}

/// Of several readings from the page cache the best counts.
const READINGS: usize = 3;
/// Memory for the `.npy` file's reader, as for `import`.
const BUDGET: u64 = 256 << 20;

/// What one reading gave.
struct Reading {
    items: Vec<u8>,
    time: Duration,
    /// The bytes that came from the disk, where the system counts them.
    fetched: Option<u64>,
}

/// A slice of both files, from the page cache and from the disk.
struct Row {
    slice: String,
    warm: [Reading; 2],
    cold: [Reading; 2],
}

impl Row {
    fn is_equal(&self) -> bool {
        let [ours, theirs] = &self.warm;
        let all = [theirs, &self.cold[0], &self.cold[1]];
        all.into_iter().all(|reading| reading.items == ours.items)
    }

    /// Whether the disk was read: where it was not, the file lies in memory only, or the system keeps it there.
    fn is_cold(&self) -> bool {
        self.cold.iter().all(|reading| reading.fetched.is_some_and(|bytes| bytes > 0))
    }
}

/// Reads slices from both files and prints the table; whether all were equal.
pub(super) fn run(files: &Files<'_>, slices: &[String]) -> Result<bool> {
    let rows: Vec<Row> = slices.iter().map(|slice| row(files, slice)).collect::<Result<_>>()?;
    // One that found its bytes in memory says nothing of the disk.
    let cold = rows.iter().all(Row::is_cold);
    let mut text = format!("\n{:<22} {:>10}  {:^21}", "", "", "from memory");
    if cold {
        text.push_str(&format!("  {:^43}", "from the disk"));
    }
    text.push_str(&format!("\n{:<22} {:>10}  {:>10} {:>10}", "slice", "size", ".b2nd", ".npy"));
    if cold {
        text.push_str(&format!("  {:>10} {:>10} {:>10} {:>10}", ".b2nd", "", ".npy", ""));
    }
    text.push('\n');
    for row in &rows {
        text.push_str(&line(row, cold));
    }
    text.push_str(&conclusion(files, &rows, cold)?);
    output::print(&text)?;
    Ok(rows.iter().all(Row::is_equal))
}

fn line(row: &Row, cold: bool) -> String {
    let [ours, theirs] = &row.warm;
    let size = report::bytes(ours.items.len() as u64);
    let (slice, times) =
        (format!("[{}]", row.slice), [ours, theirs].map(|reading| report::seconds(reading.time)));
    let mut text = format!("{slice:<22} {size:>10}  {:>10} {:>10}", times[0], times[1]);
    if cold {
        let of = |reading: &Reading| {
            format!(
                "{:>10} {:>10}",
                report::seconds(reading.time),
                report::bytes(reading.fetched.unwrap_or(0))
            )
        };
        text.push_str(&format!("  {} {}", of(&row.cold[0]), of(&row.cold[1])));
    }
    text.push('\n');
    text
}

/// What the figures say, also where they speak for the other format.
fn conclusion(files: &Files<'_>, rows: &[Row], cold: bool) -> Result<String> {
    let verdict = if rows.iter().all(Row::is_equal) {
        "All slices are equal in both files."
    } else {
        "Slices DIFFER between the files!"
    };
    let len = |path: &Path| {
        let meta = std::fs::metadata(path).map_err(|error| Failure::io("look at", path, &error));
        meta.map(|meta| meta.len())
    };
    let (ours, theirs) = (len(files.array)?, len(files.npy)?);
    let wins = |readings: fn(&Row) -> &[Reading; 2]| {
        rows.iter().filter(|row| readings(row)[0].time < readings(row)[1].time).count()
    };
    let (count, warm) = (rows.len(), wins(|row| &row.warm));
    let mut text = format!(
        "{verdict} On the disk the .b2nd file takes {}, the .npy file {} ({}).\n\
         From memory (the page cache; the best of {READINGS} readings) .b2nd is faster in {warm} of {count} slices: a .npy file\n\
         is copied, a .b2nd file is decompressed.",
        report::bytes(ours),
        report::bytes(theirs),
        report::ratio(theirs, ours),
    );
    if cold {
        let faster = wins(|row| &row.cold);
        let fetched = |n: usize| rows.iter().filter_map(|row| row.cold.get(n)?.fetched).sum::<u64>();
        text.push_str(&format!(
            "\nFrom the disk (one reading, with the bytes that were read there) .b2nd is faster in {faster} of {count}. For all\n\
             slices together {} were read of the .b2nd file, and {} of the .npy file.\n",
            report::bytes(fetched(0)),
            report::bytes(fetched(1)),
        ));
    } else {
        text.push_str("\nReading from the disk could not be measured here: the files stay in memory.\n");
    }
    Ok(text)
}

/// Reads a slice from both files.
fn row(files: &Files<'_>, slice: &str) -> Result<Row> {
    let array = open(files)?;
    let view = View::parse(array.shape(), Some(slice))?;
    let Some(region) = view.as_box(array.ndim())? else {
        return Err(Failure::usage(format!("the slice '{slice}' is not a box"), "the demo cuts boxes"));
    };
    let cold = [
        forgotten(files.array, || Ok(open(files)?.read_bytes(view.whole()?)?))?,
        forgotten(files.npy, || plain(&mut Input::open(files.npy, None)?, &region))?,
    ];
    let mut input = Input::open(files.npy, None)?;
    let warm = [best(|| Ok(array.read_bytes(view.whole()?)?))?, best(|| plain(&mut input, &region))?];
    Ok(Row { slice: slice.to_owned(), warm, cold })
}

fn open(files: &Files<'_>) -> Result<Array> {
    Ok(Array::open_with(files.array, &OpenOptions::new().with_exec(files.threads.exec()))?)
}

fn plain(input: &mut Input, region: &Region) -> Result<Vec<u8>> {
    let mut items = Vec::new();
    input.read(region, &mut items, BUDGET)?;
    Ok(items)
}

/// The best of several readings, after one that fills the page cache.
fn best(mut read: impl FnMut() -> Result<Vec<u8>>) -> Result<Reading> {
    let mut best = Reading { items: read()?, time: Duration::MAX, fetched: None };
    for _ in 0..READINGS {
        let clock = Instant::now();
        best.items = read()?;
        best.time = best.time.min(clock.elapsed());
    }
    Ok(best)
}

/// One reading of a file that the page cache has forgotten, opening included.
fn forgotten(path: &Path, read: impl FnOnce() -> Result<Vec<u8>>) -> Result<Reading> {
    forget(path);
    let before = fetched();
    let clock = Instant::now();
    let items = read()?;
    let time = clock.elapsed();
    let fetched = before.zip(fetched()).map(|(before, after)| after.saturating_sub(before));
    Ok(Reading { items, time, fetched })
}

/// Asks the system to drop what it keeps of a file in memory. Where it does not, [`fetched`] tells.
fn forget(path: &Path) {
    let Ok(file) = File::open(path) else { return };
    // Only what is on the disk can be dropped.
    let _ = file.sync_all();
    #[cfg(target_os = "linux")]
    let _ = rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed);
}

/// The bytes that this process has read from disks so far.
fn fetched() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/io").ok()?;
    text.lines().find_map(|line| line.strip_prefix("read_bytes: "))?.trim().parse().ok()
}
