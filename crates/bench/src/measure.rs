//! Interleaved timing of two contenders: each round runs both, and what counts is the median of the rounds' ratios.

use b2nd_interop::Outcome;
use std::time::{Duration, Instant};

/// How long to measure.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Effort {
    /// Time for one pair.
    pub(crate) budget: Duration,
    /// Fewest rounds.
    pub(crate) least: usize,
}

/// The outcome of one pair.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pair {
    /// Median seconds of the first.
    pub(crate) ours: f64,
    /// Median seconds of the second.
    pub(crate) rival: f64,
    /// Median over the rounds of second ÷ first: above 1, the first is faster.
    pub(crate) ratio: f64,
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

fn timed(run: &mut dyn FnMut() -> Outcome, repeat: u32) -> Outcome<f64> {
    let start = Instant::now();
    for _ in 0..repeat {
        run()?;
    }
    Ok(start.elapsed().as_secs_f64() / f64::from(repeat))
}

/// Times both, turn and turn about; who begins changes every round. Short runs are repeated to fill two milliseconds.
pub(crate) fn pair(
    effort: Effort,
    ours: &mut dyn FnMut() -> Outcome,
    rival: &mut dyn FnMut() -> Outcome,
) -> Outcome<Pair> {
    let warm = timed(ours, 1)?.max(timed(rival, 1)?);
    let repeat = if effort.least > 1 { (0.002 / warm.max(1e-7)).clamp(1.0, 1000.0) as u32 } else { 1 };
    let (mut a, mut b, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    let start = Instant::now();
    while ratios.len() < effort.least || (start.elapsed() < effort.budget && ratios.len() < 101) {
        let (first, second);
        if ratios.len().is_multiple_of(2) {
            first = timed(ours, repeat)?;
            second = timed(rival, repeat)?;
        } else {
            second = timed(rival, repeat)?;
            first = timed(ours, repeat)?;
        }
        a.push(first);
        b.push(second);
        ratios.push(second / first);
    }
    Ok(Pair { ours: median(a), rival: median(b), ratio: median(ratios) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slower_one_is_seen() {
        let effort = Effort { budget: Duration::ZERO, least: 3 };
        let wait = |micros| {
            move || {
                std::thread::sleep(Duration::from_micros(micros));
                Ok(())
            }
        };
        let found = pair(effort, &mut wait(200), &mut wait(20_000)).unwrap();
        assert!(found.ratio > 2.0, "{found:?}");
        assert_eq!(median(vec![3.0, 1.0, 2.0]), 2.0);
    }

    #[test]
    fn a_failure_is_passed_on() {
        let effort = Effort { budget: Duration::ZERO, least: 1 };
        assert!(pair(effort, &mut || Ok(()), &mut || Err("no".into())).is_err());
    }
}
