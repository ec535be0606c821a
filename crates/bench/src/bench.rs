//! One run: what the groups share, and where their cells are collected.

use crate::arguments::Mode;
use crate::machine::processors;
use crate::measure::{Duel, Effort, Mirror, pair};
use crate::report::{Cell, Label};
use crate::rival::Rival;
use b2nd_interop::Outcome;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Of so many cells of a group one is timed with the rival on both sides as well.
const NOISE_EVERY: usize = 24;

/// When a quick run is late: it may take 8 minutes.
const QUICK_LATE: Duration = Duration::from_secs(5 * 60);
/// When a full one is: it may take 80.
const FULL_LATE: Duration = Duration::from_secs(36 * 60);

/// A run.
#[derive(Debug)]
pub(crate) struct Bench<'r> {
    /// The library that is compared with.
    pub(crate) rival: &'r Rival,
    /// Its file.
    pub(crate) library: PathBuf,
    /// How much is measured.
    pub(crate) mode: Mode,
    folder: TempDir,
    cells: Vec<Cell>,
    skipped: Vec<String>,
    timed: BTreeMap<&'static str, usize>,
    started: Instant,
}

/// Compressed bytes on both sides.
#[derive(Clone, Copy)]
pub(crate) struct Sizes {
    pub(crate) ours: usize,
    pub(crate) theirs: usize,
}

impl<'r> Bench<'r> {
    /// A run that keeps its files in a folder of its own, gone at its end.
    pub(crate) fn new(rival: &'r Rival, library: PathBuf, mode: Mode) -> Outcome<Self> {
        let folder = tempfile::Builder::new().prefix("b2nd-bench-").tempdir()?;
        let (cells, skipped, timed) = (Vec::new(), Vec::new(), BTreeMap::new());
        Ok(Bench { rival, library, mode, folder, cells, skipped, timed, started: Instant::now() })
    }
    /// A path in the folder of the run.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
    /// The folder of the run.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }
    /// Time for a cell: `quick` milliseconds in a quick run, `full` in a full one, and little in a run that is late.
    pub(crate) fn effort(&self, full: u64, quick: u64) -> Effort {
        let effort = |millis: u64, least, patience| Effort {
            patience: Duration::from_millis(millis * patience),
            ..Effort::millis(millis, least)
        };
        match self.mode {
            Mode::Smoke => Effort { most: 1, ..Effort::millis(0, 1) },
            _ if self.started.elapsed() > self.mode.pick(FULL_LATE, QUICK_LATE, QUICK_LATE) => {
                effort(quick / 4, 3, 4)
            }
            Mode::Full => effort(full, 5, 6),
            Mode::Quick => effort(quick, 5, 5),
        }
    }
    /// The numbers of threads that are measured: one and two, where there are two processors.
    pub(crate) fn threads(&self) -> &'static [usize] {
        if processors() > 1 { &[1, 2] } else { &[1] }
    }
    /// Times a duel, and now and then the rival against itself in its place.
    pub(crate) fn duel(&mut self, label: Label, effort: Effort, duel: &mut dyn Duel) -> Outcome {
        let told = |e| format!("{}, {}, {} threads: {e}", label.group, label.name, label.threads);
        let found = pair(effort, duel).map_err(told)?;
        let timed = self.timed.entry(label.group).or_default();
        *timed += 1;
        if self.mode != Mode::Smoke && *timed % NOISE_EVERY == 1 {
            let noise = pair(effort, &mut Mirror(duel)).map_err(told)?;
            self.push(label.noise().timed(noise));
        }
        self.push(label.timed(found));
        Ok(())
    }
    /// As [`Bench::duel`], of a compression, with the size that came of it on both sides.
    pub(crate) fn duel_sized(
        &mut self,
        label: Label,
        effort: Effort,
        duel: &mut dyn Duel,
        sizes: Sizes,
    ) -> Outcome {
        self.duel(label, effort, duel)?;
        if let Some(cell) = self.cells.last_mut() {
            cell.size_ratio = Some(sizes.theirs as f64 / sizes.ours as f64);
        }
        Ok(())
    }
    /// Adds a cell.
    pub(crate) fn push(&mut self, cell: Cell) {
        if self.mode != Mode::Smoke {
            let seconds = self.started.elapsed().as_secs_f64();
            eprintln!(
                "{seconds:6.1} s  {}: {}, {} threads: {:.3}",
                cell.group, cell.name, cell.threads, cell.ratio
            );
        }
        self.cells.push(cell);
    }
    /// Notes what is left out, and why.
    pub(crate) fn skip(&mut self, why: impl Into<String>) {
        let why = why.into();
        eprintln!("left out: {why}");
        self.skipped.push(why);
    }
    /// Seconds since the run began.
    pub(crate) fn seconds(&self) -> f64 {
        self.started.elapsed().as_secs_f64()
    }
    /// The cells, and what was left out.
    pub(crate) fn finish(self) -> (Vec<Cell>, Vec<String>) {
        (self.cells, self.skipped)
    }
}
