//! Time against size, and against threads.

use super::asks::Operation;
use super::reads::Reads;
use super::subject::{SUBJECTS, Subject, open_options};
use crate::bench::Bench;
use crate::groups::name::GROWTH;
use crate::report::{Label, Unit};
use b2nd::Array;
use b2nd_interop::Outcome;

/// Measures reading all of an array of one, two, four … rows of chunks, and on one, two, four threads.
pub(crate) fn run(bench: &mut Bench<'_>) -> Outcome {
    let names = bench.mode.pick(&SUBJECTS[..], &SUBJECTS[1..], &SUBJECTS[1..]);
    for name in names {
        let kind = Subject::bare(name, bench.mode)?;
        let row = i64::from(kind.chunks[0]);
        let rows = bench.mode.pick(&[1, 2, 4, 8, 16][..], &[1, 3, 9], &[1]);
        let rows: Vec<i64> =
            rows.iter().copied().filter(|rows| rows * row <= kind.shape[0].max(row)).collect();
        let largest = rows.last();
        for &rows in &rows {
            let subject = kind.with_length(row * rows);
            let threads: &[usize] = if Some(&rows) == largest { &[1, 2, 4] } else { &[1] };
            let path = bench.path("growth.b2nd");
            drop(bench.rival.create(Some(&path), &subject.plan(1), &subject.items)?);
            for &threads in threads {
                let array = Array::open_with(&path, &open_options(threads))?;
                let other = &mut bench.rival.open(&path, &subject.plan(threads))?;
                let nbytes = subject.nbytes();
                let outs = [vec![0; nbytes], vec![0; nbytes]];
                let asks = Operation::Whole.asks(&subject, usize::MAX);
                let mut duel = Reads { array: &array, other, asks, outs, scratch: vec![], cold: None };
                let name = format!("{}, read all, {:.0} MB", subject.parameters(), nbytes as f64 / 1e6);
                let label = Label::new(GROWTH, name, threads, Unit::Time);
                bench.duel(label, bench.effort(3000, 500), &mut duel)?;
            }
            std::fs::remove_file(path)?;
        }
    }
    Ok(())
}
