//! Every crash of a run opened, and held against what the run had acknowledged.

use super::store::NAME;
use super::work::{Handle, Run, Seen, Setup};
use b2nd::schunk::{FrameInfo, frames_in};
use b2nd::{Durability, Error, Exec, Layout, OpenOptions, Result, SChunk};
use b2nd_testkit::disk::{Crash, Cut, Disk, Effort};
use b2nd_testkit::rng::Rng;
use std::sync::{Arc, Mutex};

/// What was found.
#[derive(Debug, Default)]
pub(crate) struct Report {
    /// Crashes that were looked at.
    pub(crate) crashes: usize,
    /// Those that left the state before the change, after it, an earlier one.
    pub(crate) old: usize,
    pub(crate) new: usize,
    pub(crate) earlier: usize,
    /// Writes to where the file had been written before.
    pub(crate) again: usize,
    /// Those that left something else.
    pub(crate) wrong: Vec<String>,
}

/// As many crashes as the gate has time for.
pub(crate) const QUICK: Effort = Effort { random: 1000, sectors: 24, odd: 5 };

/// Opens what every crash of a run left.
pub(crate) fn check(run: &Run, rng: &mut Rng) -> Report {
    let mut report = Report::default();
    let mut follow = rng.clone();
    run.disk.crashes(QUICK, rng, &mut |crash| {
        // A power cut may cost whoever waits for nothing everything.
        if crash.cut == Cut::Power && run.setup.durability == Durability::None {
            return;
        }
        report.crashes += 1;
        let goes_on = report.crashes.is_multiple_of(if run.setup.is_long() { 3 } else { 25 });
        let found = look(run, crash, goes_on.then_some(&mut follow));
        match found {
            Ok(seen) => report.count(run, crash, &seen),
            Err(error) => report.complain(crash, &format!("{error}")),
        }
    });
    report
}

/// Reads what is there; now and then goes on writing to it.
fn look(run: &Run, crash: &Crash, follow: Option<&mut Rng>) -> Result<Seen> {
    let disk = Arc::new(Mutex::new(Disk::new(&crash.files)));
    let seen = Handle::open(&disk, run.setup, false)?.see()?;
    if let Some(rng) = follow {
        if run.setup.layout == Layout::Contiguous && !run.setup.array {
            walk(crash, run.setup, &seen)?;
        }
        let mut writer = Handle::open(&disk, run.setup, true)?;
        let mut expected = writer.see()?;
        if expected != seen {
            return Err(Error::Usage("a writer reads something else".into()));
        }
        if writer.change(rng)? {
            expected = writer.see()?;
        }
        if Handle::open(&disk, run.setup, false)?.see()? != expected {
            return Err(Error::Usage("what was changed after the crash is not there".into()));
        }
    }
    Ok(seen)
}

/// Finds the frame among all that is in its file, and reads it from memory.
fn walk(crash: &Crash, setup: Setup, seen: &Seen) -> Result<()> {
    let (bytes, options) = (&crash.files[NAME], OpenOptions::new().with_exec(Exec::new(1)));
    let found = frames_in(bytes, &options)?;
    let at = found.first().map(FrameInfo::offset);
    let frame = SChunk::from_bytes(bytes.clone(), &options.with_frame(0))?;
    if at != Some(setup.base as u64) || Handle::Frame(Box::new(frame)).see()? != *seen {
        return Err(Error::Usage(format!("among the frames of the file it is at {at:?}, or another")));
    }
    Ok(())
}

impl Report {
    fn count(&mut self, run: &Run, crash: &Crash, seen: &Seen) {
        let (old, new) = (run.states.get(crash.done), run.states.get(crash.done + 1));
        if Some(seen) == old {
            self.old += 1;
        } else if Some(seen) == new {
            self.new += 1;
        } else if crash.cut == Cut::Power
            && run.setup.durability == Durability::Ordered
            && run.states[..crash.done].contains(seen)
        {
            self.earlier += 1;
        } else {
            let at = run.states.iter().position(|state| state == seen);
            self.complain(crash, &at.map_or("a state that never was".into(), |at| format!("state {at}")));
        }
    }
    fn complain(&mut self, crash: &Crash, what: &str) {
        self.wrong.push(format!("{what}: {}", crash.story));
    }
    /// Adds another report to this one.
    pub(crate) fn add(&mut self, other: Report) {
        self.crashes += other.crashes;
        self.old += other.old;
        self.new += other.new;
        self.earlier += other.earlier;
        self.again += other.again;
        self.wrong.extend(other.wrong);
    }
}
