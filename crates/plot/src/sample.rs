//! A field brought to the number of cells that will be shown: means where there are more samples than cells,
//! so that nothing aliases; the nearest sample where there are fewer, so that nothing is invented.
//!
//! Only finite samples enter a mean. A cell of which more than half is not finite shows what most of that is.

use crate::colour::Rgb;

/// Which samples one cell covers, and how much of it each one takes; the parts sum to 1.
struct Cover {
    first: usize,
    parts: Vec<f64>,
}

fn covers(samples: usize, cells: usize) -> Vec<Cover> {
    let per_cell = samples as f64 / cells as f64;
    let cover = |cell: usize| {
        if cells >= samples {
            // The middle of the cell, in whole numbers: exact for whole factors.
            let nearest = (2 * cell as u128 + 1) * samples as u128 / (2 * cells as u128);
            return Cover { first: nearest as usize, parts: vec![1.0] };
        }
        let (from, to) = (cell as f64 * per_cell, (cell + 1) as f64 * per_cell);
        let first = from as usize;
        let end = (to.ceil() as usize).min(samples);
        let part = |i: usize| ((i as f64 + 1.0).min(to) - (i as f64).max(from)).max(0.0) / per_cell;
        Cover { first, parts: (first..end).map(part).collect() }
    };
    (0..cells).map(cover).collect()
}

/// `values`, `rows` × `cols` in row-major order, as `high` × `wide` cells. Samples that `values` lacks are NaN.
pub(crate) fn resample(values: &[f64], [rows, cols]: [usize; 2], [high, wide]: [usize; 2]) -> Vec<f64> {
    let down = covers(rows, high);
    let across = covers(cols, wide);
    let mut cells = Vec::with_capacity(high.saturating_mul(wide));
    let mut line = Vec::new();
    for row in &down {
        line.clear();
        line.resize(wide, Mean::default());
        for (i, &height) in (row.first..).zip(&row.parts) {
            let start = i.saturating_mul(cols);
            let samples = values.get(start..).unwrap_or_default();
            for (mean, column) in line.iter_mut().zip(&across) {
                for (j, &width) in (column.first..).zip(&column.parts) {
                    mean.add(samples.get(j).copied().unwrap_or(f64::NAN), height * width);
                }
            }
        }
        cells.extend(line.iter().map(Mean::value));
    }
    cells
}

/// Colours, `rows` × `cols` in row-major order, as `high` × `wide` cells.
pub(crate) fn resample_colours(colours: &[Rgb], shape: [usize; 2], cells: [usize; 2]) -> Vec<Rgb> {
    let channel = |n: usize| {
        let values: Vec<f64> = colours.iter().map(|colour| f64::from(colour[n])).collect();
        resample(&values, shape, cells)
    };
    let [red, green, blue] = [channel(0), channel(1), channel(2)];
    // What lacks at the end is white.
    let level = |v: f64| if v.is_nan() { u8::MAX } else { v.round() as u8 };
    let each = red.into_iter().zip(green).zip(blue);
    each.map(|((red, green), blue)| [level(red), level(green), level(blue)]).collect()
}

#[derive(Clone, Default)]
struct Mean {
    sum: f64,
    finite: f64,
    missing: f64,
    above: f64,
    below: f64,
}

impl Mean {
    fn add(&mut self, v: f64, part: f64) {
        if v.is_finite() {
            self.sum += v * part;
            self.finite += part;
        } else if v.is_nan() {
            self.missing += part;
        } else if v > 0.0 {
            self.above += part;
        } else {
            self.below += part;
        }
    }

    fn value(&self) -> f64 {
        if self.finite >= self.missing + self.above + self.below {
            // Rounding may lift the mean of the greatest doubles above them.
            return (self.sum / self.finite).clamp(f64::MIN, f64::MAX);
        }
        if self.missing >= self.above.max(self.below) {
            f64::NAN
        } else if self.above >= self.below {
            f64::INFINITY
        } else {
            f64::NEG_INFINITY
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_is_kept_when_cells_are_fewer() {
        let values: Vec<f64> = (0..35).map(|i| f64::from(i * i % 17)).collect();
        let mean = values.iter().sum::<f64>() / 35.0;
        for shape in [[1, 1], [2, 3], [3, 5], [5, 7], [4, 6]] {
            let cells = resample(&values, [5, 7], shape);
            assert_eq!(cells.len(), shape[0] * shape[1]);
            let kept = cells.iter().sum::<f64>() / cells.len() as f64;
            assert!((kept - mean).abs() < 1e-12, "{shape:?}");
        }
    }

    #[test]
    fn samples_are_repeated_when_cells_are_more() {
        let cells = resample(&[1.0, 2.0, 3.0, 4.0], [2, 2], [4, 6]);
        assert_eq!(cells[..6], [1.0, 1.0, 1.0, 2.0, 2.0, 2.0]);
        assert_eq!(cells[18..], [3.0, 3.0, 3.0, 4.0, 4.0, 4.0]);
        assert_eq!(resample(&[1.0, 2.0], [1, 2], [2, 1]), [1.5, 1.5]);
    }

    #[test]
    fn the_finest_stripes_become_grey_and_not_other_stripes() {
        let values: Vec<f64> = (0..1000).map(|i| f64::from(i % 2)).collect();
        for v in resample(&values, [1, 1000], [1, 100]) {
            assert!((v - 0.5).abs() < 1e-9);
        }
    }

    #[test]
    fn what_is_not_finite_wins_by_majority() {
        let (nan, inf) = (f64::NAN, f64::INFINITY);
        assert_eq!(resample(&[1.0, 3.0, nan, 5.0], [2, 2], [1, 1]), [3.0]);
        assert!(resample(&[1.0, nan, nan, inf], [2, 2], [1, 1])[0].is_nan());
        assert_eq!(resample(&[1.0, inf, nan, inf], [2, 2], [1, 1]), [inf]);
        assert_eq!(resample(&[-inf; 3], [3, 1], [1, 1]), [-inf]);
        assert!(resample(&[1.0], [2, 1], [2, 1])[1].is_nan());
        assert_eq!(resample(&[f64::MAX; 64], [8, 8], [3, 3]).iter().filter(|v| v.is_finite()).count(), 9);
    }
}
