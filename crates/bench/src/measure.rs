//! Interleaved timing of two contenders: each round runs both, and what counts is the median of the rounds' ratios.

use b2nd_interop::Outcome;
use std::time::{Duration, Instant};

/// The shortest time that is trusted: what is shorter is repeated until both sides take so long.
const SHORTEST: f64 = 0.002;
/// The most repetitions in a round.
const MOST_REPEATS: usize = 20_000;

/// Two ways to do the same work.
pub(crate) trait Duel {
    /// Step `step` by b2nd. Steps count up from 0; what has an end begins anew.
    fn ours(&mut self, step: usize) -> Outcome;
    /// The same by the rival.
    fn theirs(&mut self, step: usize) -> Outcome;
    /// What comes before each turn of a side, untimed.
    fn before(&mut self) -> Outcome {
        Ok(())
    }
    /// What comes after each round, untimed: an error where the two results differ.
    fn check(&mut self) -> Outcome {
        Ok(())
    }
}

/// The rival against itself: its ratio is 1 but for chance.
pub(crate) struct Mirror<'d>(pub(crate) &'d mut dyn Duel);

impl Duel for Mirror<'_> {
    fn ours(&mut self, step: usize) -> Outcome {
        self.0.theirs(step)
    }
    fn theirs(&mut self, step: usize) -> Outcome {
        self.0.theirs(step)
    }
    fn before(&mut self) -> Outcome {
        self.0.before()
    }
}

/// Two closures that fill a buffer each; after each round the buffers are compared.
pub(crate) struct Fill<A, B> {
    ours: A,
    theirs: B,
    outs: [Vec<u8>; 2],
    compare: bool,
}

impl<A, B> Fill<A, B>
where
    A: FnMut(usize, &mut [u8]) -> Outcome,
    B: FnMut(usize, &mut [u8]) -> Outcome,
{
    /// For results of `len` bytes that are the same.
    pub(crate) fn new(len: usize, ours: A, theirs: B) -> Self {
        Fill { ours, theirs, outs: [vec![0; len], vec![0; len]], compare: true }
    }
    /// For results that may differ, and are compared in another way.
    pub(crate) fn unequal(len: usize, ours: A, theirs: B) -> Self {
        Fill { compare: false, ..Self::new(len, ours, theirs) }
    }
}

impl<A, B> Duel for Fill<A, B>
where
    A: FnMut(usize, &mut [u8]) -> Outcome,
    B: FnMut(usize, &mut [u8]) -> Outcome,
{
    fn ours(&mut self, step: usize) -> Outcome {
        (self.ours)(step, &mut self.outs[0])
    }
    fn theirs(&mut self, step: usize) -> Outcome {
        (self.theirs)(step, &mut self.outs[1])
    }
    fn check(&mut self) -> Outcome {
        let same = !self.compare || self.outs[0] == self.outs[1];
        if same { Ok(()) } else { Err("the two results differ".into()) }
    }
}

/// How long to measure.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Effort {
    /// Time for one pair.
    pub(crate) budget: Duration,
    /// Fewest rounds.
    pub(crate) least: usize,
    /// Most rounds.
    pub(crate) most: usize,
    /// Time after which fewer rounds do.
    pub(crate) patience: Duration,
    /// Steps of a turn; as many as fill two milliseconds where no number is set.
    pub(crate) steps: Option<usize>,
}

impl Effort {
    /// Rounds for so many milliseconds, `least` at least; ten times as long for the slow ones.
    pub(crate) fn millis(millis: u64, least: usize) -> Self {
        let budget = Duration::from_millis(millis);
        let patience = budget.max(Duration::from_millis(200)) * 10;
        Effort { budget, least, most: 101, patience, steps: (least <= 1).then_some(1) }
    }
    /// At most so many rounds of so many steps each, for what cannot be repeated for ever.
    pub(crate) fn bounded(self, most: usize, steps: usize) -> Self {
        Effort { most: most.min(self.most), steps: Some(steps), ..self }
    }
}

/// The outcome of one pair.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pair {
    /// Median seconds of a step by the first.
    pub(crate) ours: f64,
    /// Median seconds of a step by the second.
    pub(crate) rival: f64,
    /// Median over the rounds of second ÷ first: above 1, the first is faster.
    pub(crate) ratio: f64,
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let (low, high) = (values.len().saturating_sub(1) / 2, values.len() / 2);
    let at = |n: usize| values.get(n).copied().unwrap_or(f64::NAN);
    (at(low) + at(high)) / 2.0
}

/// One side's turn: steps `from..from + repeat`; seconds for one of them.
fn turn(duel: &mut dyn Duel, first: bool, from: usize, repeat: usize) -> Outcome<f64> {
    duel.before()?;
    let start = Instant::now();
    for step in from..from + repeat {
        if first { duel.ours(step)? } else { duel.theirs(step)? }
    }
    Ok(start.elapsed().as_secs_f64() / repeat as f64)
}

/// Times both, turn and turn about; who begins changes every round. Short steps are repeated to fill two milliseconds.
pub(crate) fn pair(effort: Effort, duel: &mut dyn Duel) -> Outcome<Pair> {
    let start = Instant::now();
    let (mut step, mut repeat) = (0, effort.steps.unwrap_or(1));
    loop {
        let (first, second) = (turn(duel, true, step, repeat)?, turn(duel, false, step, repeat)?);
        duel.check()?;
        step += repeat;
        let shorter = first.min(second).max(1e-9);
        let wanted = ((SHORTEST / shorter).ceil() as usize).clamp(1, (repeat * 20).min(MOST_REPEATS));
        if effort.steps.is_some() || wanted <= repeat {
            break;
        }
        repeat = wanted + wanted / 8;
    }
    let (mut ours, mut rival, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    let enough = |rounds: usize| {
        let spent = start.elapsed();
        rounds >= effort.most
            || (rounds >= effort.least && spent >= effort.budget)
            || (rounds > 0 && spent >= effort.patience)
    };
    while !enough(ratios.len()) {
        let begins = ratios.len().is_multiple_of(2);
        let one = turn(duel, begins, step, repeat)?;
        let other = turn(duel, !begins, step, repeat)?;
        duel.check()?;
        step += repeat;
        let (first, second) = if begins { (one, other) } else { (other, one) };
        ours.push(first);
        rival.push(second);
        ratios.push(second / first);
    }
    Ok(Pair { ours: median(ours), rival: median(rival), ratio: median(ratios) })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sleeps, and notes the steps.
    #[derive(Default)]
    struct Sleeper {
        steps: [Vec<usize>; 2],
        before: usize,
        fails: bool,
    }

    impl Duel for Sleeper {
        fn ours(&mut self, step: usize) -> Outcome {
            self.steps[0].push(step);
            std::thread::sleep(Duration::from_micros(200));
            Ok(())
        }
        fn theirs(&mut self, step: usize) -> Outcome {
            self.steps[1].push(step);
            std::thread::sleep(Duration::from_millis(20));
            Ok(())
        }
        fn before(&mut self) -> Outcome {
            self.before += 1;
            Ok(())
        }
        fn check(&mut self) -> Outcome {
            if self.fails { Err("they differ".into()) } else { Ok(()) }
        }
    }

    #[test]
    fn the_slower_one_is_seen_and_both_take_the_same_steps() -> Outcome {
        let mut duel = Sleeper::default();
        let found = pair(Effort::millis(0, 3), &mut duel)?;
        assert!(found.ratio > 1.5, "{found:?}");
        assert_eq!(duel.steps[0], duel.steps[1]);
        assert!(duel.steps[0].is_sorted() && duel.steps[0].len() >= 4, "{:?}", duel.steps);
        let mirrored = pair(Effort::millis(0, 3), &mut Mirror(&mut duel))?;
        // The slower one on both sides.
        assert!(mirrored.ours >= 0.02 && mirrored.rival >= 0.02, "{mirrored:?}");
        Ok(())
    }

    #[test]
    fn what_cannot_be_repeated_is_not() -> Outcome {
        let mut duel = Sleeper::default();
        pair(Effort::millis(0, 3).bounded(4, 2), &mut duel)?;
        assert_eq!(duel.steps[0], [0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(duel.before, 8);
        Ok(())
    }

    #[test]
    fn different_results_and_failures_are_errors() {
        let effort = Effort::millis(0, 1);
        assert!(pair(effort, &mut Sleeper { fails: true, ..Sleeper::default() }).is_err());
        let fill = |byte: u8| {
            move |_: usize, out: &mut [u8]| -> Outcome {
                out.fill(byte);
                Ok(())
            }
        };
        assert!(pair(effort, &mut Fill::new(4, fill(1), fill(1))).is_ok());
        assert!(pair(effort, &mut Fill::new(4, fill(1), fill(2))).is_err());
        assert!(pair(effort, &mut Fill::unequal(4, fill(1), fill(2))).is_ok());
        let fails = |_: usize, _: &mut [u8]| -> Outcome { Err("no".into()) };
        assert!(pair(effort, &mut Fill::new(4, fill(1), fails)).is_err());
    }

    #[test]
    fn the_median_of_an_even_number_lies_between() {
        assert_eq!(median(vec![3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(vec![4.0, 1.0, 2.0, 3.0]), 2.5);
        assert!(median(vec![]).is_nan());
    }
}
