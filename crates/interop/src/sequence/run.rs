//! Runs sequences and counts what was done.

use super::draw;
use super::draw::State;
use super::ours;
use super::step::Step;
use crate::Outcome;
use crate::case::hex;
use crate::python::Python;
use crate::python::Server;
use b2nd::Array;
use b2nd_testkit::rng::Rng;
use serde_json::Value;
use serde_json::json;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

/// How often each operation was done: by b2nd, and by C-Blosc2.
pub type Tally = BTreeMap<&'static str, [u64; 2]>;

/// The steps of a sequence after the first.
const STEPS: u64 = 9;

/// Runs the sequences `range` of the run with this seed; gives the tally and what went wrong.
pub fn run(python: &Python, folder: &Path, seed: u64, range: Range<u64>) -> Outcome<(Tally, Vec<String>)> {
    let mut server = python.serve()?;
    let (mut tally, mut failures) = (Tally::new(), Vec::new());
    for number in range {
        let path = folder.join(format!("{number}.b2nd"));
        let mut sequence = Sequence {
            rng: Rng::for_part(seed, number),
            path: &path,
            server: &mut server,
            tally: &mut tally,
            told: Vec::new(),
            array: None,
        };
        if let Err(error) = sequence.run() {
            failures.push(format!("sequence {number}: {error}\n  {}", sequence.told.join("\n  ")));
        }
        let removed =
            if path.is_dir() { std::fs::remove_dir_all(&path) } else { std::fs::remove_file(&path) };
        // A sequence that failed early may have left nothing.
        drop(removed);
    }
    Ok((tally, failures))
}

struct Sequence<'a> {
    rng: Rng,
    path: &'a Path,
    server: &'a mut Server,
    tally: &'a mut Tally,
    /// The steps so far, for who reads of a failure.
    told: Vec<String>,
    /// What b2nd has open.
    array: Option<Array>,
}

impl Sequence<'_> {
    fn run(&mut self) -> Outcome {
        let new = draw::create(&mut self.rng);
        let mut state = State::new(&new);
        self.step(&Step::Create(Box::new(new)), &state)?;
        for _ in 0..STEPS {
            let theirs = self.rng.chance(40);
            let step = state.step(&mut self.rng, theirs);
            let by_theirs = theirs && step.writes();
            state.follow(&step, by_theirs);
            self.step_by(&step, by_theirs, &state)?;
        }
        Ok(())
    }

    fn step(&mut self, step: &Step, state: &State) -> Outcome {
        let theirs = self.rng.chance(40);
        self.step_by(step, theirs, state)
    }

    fn step_by(&mut self, step: &Step, theirs: bool, state: &State) -> Outcome {
        let by = if theirs { "theirs" } else { "ours" };
        self.told.push(format!("{by}: {}", step.summary()));
        self.tally.entry(step.name()).or_default()[usize::from(theirs)] += 1;
        if *step == Step::Reopen {
            self.array = None;
            return self.compare(&Step::Reopen, &json!(null));
        }
        if !theirs && step.writes() {
            self.change(step)?;
        }
        let command = json!({"step": step.to_json(), "path": self.path, "by": by});
        let answer = self.server.ask(&command)?;
        if answer["same"] != json!(true) {
            return Err(format!("C-Blosc2 reads other items: {answer}").into());
        }
        if step.writes() {
            crate::check::expect("NumPy's shape", &answer["shape"], &json!(state.shape))?;
        }
        self.compare(step, &answer)
    }

    fn change(&mut self, step: &Step) -> Outcome {
        if let Step::Create(new) = step {
            return ours::create(new, self.path);
        }
        let array = self.open()?;
        ours::change(array, step)
    }

    /// The open array, as the file is now.
    fn open(&mut self) -> Outcome<&mut Array> {
        if let Some(array) = &mut self.array {
            array.refresh()?;
        } else {
            self.array = Some(ours::open(self.path, 1 + self.rng.below(2) as usize)?);
        }
        self.array.as_mut().ok_or_else(|| "not open".into())
    }

    /// What b2nd reads must be what NumPy has.
    fn compare(&mut self, step: &Step, answer: &Value) -> Outcome {
        let array = self.open()?;
        let found = ours::read(array, step)?;
        let digest = hex(&Sha256::digest(&found));
        if answer.is_null() || answer["sha256"] == json!(digest) {
            return Ok(());
        }
        Err(format!("b2nd reads other items: {}", hex(&found).chars().take(400).collect::<String>()).into())
    }
}
