//! What a disk may look like after a crash.

use super::state::{State, sectors};
use super::{Disk, Event, Files, PAGE};
use crate::rng::Rng;
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Cut {
    /// The process was killed: what it wrote is there, in the order of its writes, up to some moment.
    Kill,
    /// The power went: of what was not waited for anything may be there.
    Power,
}

/// A disk after a crash.
#[derive(Debug)]
pub struct Crash {
    /// What is there.
    pub files: Files,
    /// How it came.
    pub cut: Cut,
    /// The changes that had been acknowledged.
    pub done: usize,
    /// Where in the log, and what was lost, for a person to read.
    pub story: String,
}

/// How many crashes are tried where they are too many to try all.
#[derive(Debug, Clone, Copy)]
pub struct Effort {
    /// Random choices and orders where more than six writes were not waited for.
    pub random: usize,
    /// Random choices of single sectors, at each moment.
    pub sectors: usize,
    /// Cuts of one write inside a sector.
    pub odd: usize,
}

/// All choices and orders are tried of up to this many writes.
const ALL_OF: usize = 6;

impl Disk {
    /// Shows every crash that the log allows (a choice of them where there are too many), no two of them the same.
    pub fn crashes(&self, effort: Effort, rng: &mut Rng, show: &mut dyn FnMut(&Crash)) {
        let running = self.first.clone();
        let mut walk = Walk {
            effort,
            rng,
            show,
            medium: self.first.clone(),
            running,
            pending: Vec::new(),
            done: 0,
            at: 0,
            seen: HashSet::new(),
        };
        for (at, event) in self.log.iter().enumerate() {
            walk.at = at;
            walk.step(event);
        }
        walk.at = self.log.len();
        walk.kill();
        walk.power();
    }
}

struct Walk<'a> {
    effort: Effort,
    rng: &'a mut Rng,
    show: &'a mut dyn FnMut(&Crash),
    /// What is certainly on the medium.
    medium: State,
    /// What the process sees.
    running: State,
    /// What was done and not waited for.
    pending: Vec<&'a Event>,
    done: usize,
    at: usize,
    seen: HashSet<(u64, Cut, usize)>,
}

impl<'a> Walk<'a> {
    fn step(&mut self, event: &'a Event) {
        self.kill();
        match event {
            Event::Sync(_) | Event::SyncNames => {
                self.power();
                self.wait_for(event);
            }
            Event::Done(changes) => {
                self.done = *changes;
                self.power();
            }
            _ => {
                self.kill_inside(event);
                self.pending.push(event);
                self.running.apply(event);
            }
        }
    }

    /// Puts on the medium what a sync waits for.
    fn wait_for(&mut self, sync: &Event) {
        let medium = &mut self.medium;
        self.pending.retain(|event| {
            let waited = match (sync, event) {
                (Event::Sync(synced), Event::Write { file, .. } | Event::SetLen { file, .. }) => {
                    synced == file
                }
                (Event::SyncNames, Event::Name { .. } | Event::Unname(_)) => true,
                _ => false,
            };
            if waited {
                medium.apply(event);
            }
            !waited
        });
    }

    fn show(&mut self, state: &State, cut: Cut, story: impl FnOnce() -> String) {
        let files = state.files();
        let mut hasher = DefaultHasher::new();
        files.hash(&mut hasher);
        if self.seen.insert((hasher.finish(), cut, self.done)) {
            let story = format!("{cut:?} before event {}, {} done: {}", self.at, self.done, story());
            (self.show)(&Crash { files, cut, done: self.done, story });
        }
    }

    fn kill(&mut self) {
        let state = self.running.clone();
        self.show(&state, Cut::Kill, || "all that was written".into());
    }

    /// A process that is killed inside a write has written some whole pages, and any part of what grows the file.
    fn kill_inside(&mut self, event: &Event) {
        let Event::Write { file, at, bytes } = event else { return };
        let old_end = self.running.content(*file).len();
        let pages = (at / PAGE + 1..).map(|page| page * PAGE - at).take_while(|cut| *cut < bytes.len());
        for cut in pages.chain(self.odd_cuts(*at, bytes.len(), old_end)) {
            let mut state = self.running.clone();
            state.write(*file, *at, &bytes[..cut], 0);
            self.show(&state, Cut::Kill, || format!("{cut} bytes of a write of {} at {at}", bytes.len()));
        }
    }

    /// Some places to cut a write inside its sectors, where no byte was before.
    fn odd_cuts(&mut self, at: usize, len: usize, old_end: usize) -> Vec<usize> {
        let first = old_end.saturating_sub(at).max(1);
        let room = len.saturating_sub(first);
        if room <= self.effort.odd {
            return (first..len).collect();
        }
        (0..self.effort.odd).map(|_| first + self.rng.below(room as u64) as usize).collect()
    }

    fn power(&mut self) {
        let medium = self.medium.clone();
        self.show(&medium, Cut::Power, || "nothing that was not waited for".into());
        if self.pending.len() <= ALL_OF {
            self.all_choices();
        } else {
            for _ in 0..self.effort.random {
                self.random_choice(false);
            }
        }
        self.cut_writes();
        if self.pending.iter().any(|event| matches!(event, Event::Write { .. })) {
            for _ in 0..self.effort.sectors {
                self.random_choice(true);
            }
        }
    }

    /// Every choice of what was not waited for, and where the order makes a difference every order of it.
    fn all_choices(&mut self) {
        let pending = self.pending.clone();
        for choice in 1u32..1 << pending.len() {
            let chosen: Vec<(usize, &Event)> =
                pending.iter().copied().enumerate().filter(|(n, _)| choice >> n & 1 == 1).collect();
            let mut orders = vec![chosen.clone()];
            if meet(&chosen) {
                orders.clear();
                permute(&mut chosen.clone(), 0, &mut orders);
            }
            for order in orders {
                let mut state = self.medium.clone();
                order.iter().for_each(|(_, event)| state.apply(event));
                self.show(&state, Cut::Power, || describe(&order));
            }
        }
    }

    /// Some of what was not waited for, in some order; of the writes only some sectors.
    fn random_choice(&mut self, torn: bool) {
        let share = 1 + self.rng.below(99);
        let pending = self.pending.clone();
        let mut chosen: Vec<(usize, &Event)> =
            pending.into_iter().enumerate().filter(|_| self.rng.chance(share)).collect();
        if self.rng.chance(50) {
            for n in (1..chosen.len()).rev() {
                chosen.swap(n, self.rng.below(n as u64 + 1) as usize);
            }
        }
        let mut state = self.medium.clone();
        let (fill, grows) = (*self.rng.pick(&[0, 0xa5]), self.rng.chance(50));
        for (_, event) in &chosen {
            match event {
                Event::Write { file, at, bytes } if torn => {
                    let share = 1 + self.rng.below(99);
                    let rng = &mut *self.rng;
                    state.write_sectors(*file, *at, bytes, fill, grows, || rng.chance(share));
                }
                event => state.apply(event),
            }
        }
        self.show(&state, Cut::Power, || {
            let torn = if torn { "some sectors of " } else { "" };
            format!("{torn}{}", describe(&chosen))
        });
    }

    /// Each write as the last one that reaches the medium, and cut off.
    fn cut_writes(&mut self) {
        let pending = self.pending.clone();
        let mut state = self.medium.clone();
        for (n, event) in pending.into_iter().enumerate() {
            if let Event::Write { file, at, bytes } = event {
                let ends = sectors(*at, bytes.len()).map(|part| part.end);
                let odd = self.odd_cuts(*at, bytes.len(), self.medium.content(*file).len());
                for cut in ends.filter(|end| *end < bytes.len()).chain(odd) {
                    let mut torn = state.clone();
                    torn.write(*file, *at, &bytes[..cut], 0);
                    self.show(&torn, Cut::Power, || {
                        format!("{n} of what was not waited for, then {cut} bytes of {} at {at}", bytes.len())
                    });
                }
            }
            state.apply(event);
        }
    }
}

/// Whether the order of some events makes a difference.
fn meet(events: &[(usize, &Event)]) -> bool {
    let two_meet = |one: &Event, two: &Event| match (one, two) {
        (Event::Write { file, at, bytes }, Event::Write { file: other, at: from, bytes: more }) => {
            file == other && *at < from + more.len() && *from < at + bytes.len()
        }
        (
            Event::SetLen { file, .. },
            Event::Write { file: other, .. } | Event::SetLen { file: other, .. },
        )
        | (Event::Write { file, .. }, Event::SetLen { file: other, .. }) => file == other,
        (Event::Name { name, .. }, Event::Name { name: other, from, .. }) => {
            name == other || from.as_ref() == Some(name)
        }
        (Event::Name { name, .. }, Event::Unname(other)) => name == other,
        _ => false,
    };
    events.iter().enumerate().any(|(n, (_, one))| events[n + 1..].iter().any(|(_, two)| two_meet(one, two)))
}

fn permute<'e>(events: &mut Vec<(usize, &'e Event)>, from: usize, orders: &mut Vec<Vec<(usize, &'e Event)>>) {
    if from == events.len() {
        orders.push(events.clone());
    }
    for n in from..events.len() {
        events.swap(from, n);
        permute(events, from + 1, orders);
        events.swap(from, n);
    }
}

fn describe(events: &[(usize, &Event)]) -> String {
    let short = |(n, event): &(usize, &Event)| match event {
        Event::Write { file, at, bytes } => format!("{n}: {} bytes at {at} of file {file}", bytes.len()),
        Event::Name { name, file, .. } => format!("{n}: file {file} is {name}"),
        other => format!("{n}: {other:?}"),
    };
    events.iter().map(short).collect::<Vec<_>>().join(", ")
}
