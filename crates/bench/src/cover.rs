//! Pairwise cover: few rows in which any two values of different factors meet at least once.

use b2nd_testkit::rng::Rng;

/// Whether two values, each of a factor, can stand in one row.
pub(crate) type Allowed<'a> = &'a dyn Fn((usize, usize), (usize, usize)) -> bool;

/// The pairs that are still to be covered.
struct Missing {
    pairs: Vec<((usize, usize), (usize, usize))>,
}

impl Missing {
    fn new(lengths: &[usize], allowed: Allowed<'_>) -> Self {
        let mut pairs = Vec::new();
        for (f, &n) in lengths.iter().enumerate() {
            for (g, &m) in lengths.iter().enumerate().skip(f + 1) {
                let all = (0..n).flat_map(|v| (0..m).map(move |w| ((f, v), (g, w))));
                pairs.extend(all.filter(|(a, b)| allowed(*a, *b)));
            }
        }
        Missing { pairs }
    }
    /// How many missing pairs a value of a factor adds to a row that is begun.
    fn gain(&self, row: &[Option<usize>], factor: usize, value: usize) -> usize {
        let has = |(f, v): (usize, usize)| row.get(f) == Some(&Some(v));
        let adds = |(a, b): &&((usize, usize), (usize, usize))| {
            (*a == (factor, value) && has(*b)) || (*b == (factor, value) && has(*a))
        };
        self.pairs.iter().filter(adds).count()
    }
    fn strike(&mut self, row: &[usize]) {
        self.pairs.retain(|((f, v), (g, w))| row.get(*f) != Some(v) || row.get(*g) != Some(w));
    }
}

/// Rows with a value for each factor, `lengths` of them, so that each allowed pair occurs. The same for the same seed.
pub(crate) fn cover(lengths: &[usize], allowed: Allowed<'_>, seed: u64) -> Vec<Vec<usize>> {
    let mut missing = Missing::new(lengths, allowed);
    let mut rng = Rng::new(seed);
    let mut rows = Vec::new();
    while !missing.pairs.is_empty() {
        let (a, b) = missing.pairs[rng.below(missing.pairs.len() as u64) as usize];
        let mut row = vec![None; lengths.len()];
        (row[a.0], row[b.0]) = (Some(a.1), Some(b.1));
        // The factor with the fewest values that fit is next, so that none is left without one.
        while let Some((factor, fitting)) = next(&row, lengths, allowed) {
            let best = fitting.iter().map(|&v| missing.gain(&row, factor, v)).max().unwrap_or(0);
            let equal: Vec<usize> =
                fitting.into_iter().filter(|&v| missing.gain(&row, factor, v) == best).collect();
            if equal.is_empty() {
                break;
            }
            row[factor] = Some(*rng.pick(&equal));
        }
        match row.into_iter().collect::<Option<Vec<usize>>>() {
            Some(row) => {
                missing.strike(&row);
                rows.push(row);
            }
            // No row holds this pair, whatever the pairs say one by one.
            None => missing.pairs.retain(|pair| *pair != (a, b)),
        }
    }
    rows
}

/// The open factor with the fewest values that fit into the row, and these.
fn next(row: &[Option<usize>], lengths: &[usize], allowed: Allowed<'_>) -> Option<(usize, Vec<usize>)> {
    let fits = |value: (usize, usize)| {
        row.iter()
            .enumerate()
            .all(|(f, v)| v.is_none_or(|v| allowed((f, v), value) && allowed(value, (f, v))))
    };
    let open = (0..row.len()).filter(|&f| row[f].is_none());
    open.map(|f| (f, (0..lengths[f]).filter(|&v| fits((f, v))).collect::<Vec<_>>()))
        .min_by_key(|(_, values)| values.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds(rows: &[Vec<usize>], a: (usize, usize), b: (usize, usize)) -> bool {
        rows.iter().any(|row| row[a.0] == a.1 && row[b.0] == b.1)
    }

    #[test]
    fn any_two_values_meet_where_they_may() {
        let lengths = [5, 3, 5, 6, 8, 3, 2];
        // Value 2 of factor 4 stands with value 1 of factor 3 alone, and not with value 2 of factor 5.
        let allowed = |a: (usize, usize), b: (usize, usize)| {
            let clash =
                |x: (usize, usize), y: (usize, usize)| x == (4, 2) && ((y.0 == 3 && y.1 != 1) || y == (5, 2));
            !clash(a, b) && !clash(b, a)
        };
        for seed in 0..3 {
            let rows = cover(&lengths, &allowed, seed);
            for (f, &n) in lengths.iter().enumerate() {
                for (g, &m) in lengths.iter().enumerate().skip(f + 1) {
                    for (a, b) in (0..n).flat_map(|v| (0..m).map(move |w| ((f, v), (g, w)))) {
                        assert_eq!(holds(&rows, a, b), allowed(a, b), "{a:?} {b:?}");
                    }
                }
            }
            // 48 pairs of the two longest factors are the least.
            assert!(rows.len() < 70, "{} rows", rows.len());
            assert_eq!(rows, cover(&lengths, &allowed, seed));
        }
        assert_ne!(cover(&lengths, &allowed, 1), cover(&lengths, &allowed, 2));
    }

    #[test]
    fn a_pair_that_fits_no_row_does_not_hold_it_up() {
        // Value 0 of the first factor and value 0 of the second may meet, but then nothing is left for the third.
        let allowed = |a: (usize, usize), b: (usize, usize)| {
            let third = |x: (usize, usize), y: (usize, usize)| {
                x.0 == 2 && ((y == (0, 0) && x.1 == 0) || (y == (1, 0) && x.1 == 1))
            };
            !third(a, b) && !third(b, a)
        };
        let rows = cover(&[2, 2, 2], &allowed, 1);
        assert!(
            !holds(&rows, (0, 0), (1, 0)) && holds(&rows, (0, 0), (1, 1)) && holds(&rows, (0, 1), (1, 0))
        );
    }
}
