//! The demonstration's data, computed: an air temperature over (time, latitude, longitude).
//!
//! It is made to compress as measured data do, neither trivially nor not at all: a warm equator, planetary waves,
//! a front, travelling storms, a rugged land, turbulence down to a few cells, and an instrument that rounds to
//! 1/64 kelvin and is a little noisy. Every value is a pure function of its place, so any part may be computed
//! by itself, on any thread, and is the same on every machine: only sums, products and square roots are used.

use std::ops::Range;

/// The shape of the demonstration: (time, latitude, longitude), 399 MB of `f32`.
pub const SHAPE: [usize; 3] = [96, 721, 1440];
/// The names of its axes.
pub const AXES: [&str; 3] = ["time", "latitude", "longitude"];
/// What it is.
pub const NAME: &str = "air temperature (K)";
/// What the numbers are, as the attribute `long_name`.
pub const LONG_NAME: &str = "air temperature";
/// Their units, as the attribute `units`.
pub const UNITS: &str = "K";

/// Distance between two values that the instrument can tell apart.
const QUANTUM: f32 = 1.0 / 64.0;
/// Noise of the instrument, kelvin to either side.
const NOISE: f32 = 0.04;
const SEED: u64 = 0x5eed_b2fd;

/// Computes the time steps `times` of the field of `shape` into `out`, one after the other in row-major order.
///
/// Values in `out` beyond the steps are left alone; steps for which `out` has no whole plane are not computed.
///
/// ```
/// use b2nd_cli::demo::field::slab;
///
/// let shape = [4, 30, 60];
/// let mut all = vec![0.0; 4 * 30 * 60];
/// slab(shape, 0..4, &mut all);
/// let mut third = vec![0.0; 30 * 60];
/// slab(shape, 2..3, &mut third);
/// assert_eq!(third, all[2 * 1800..3 * 1800]);
/// ```
pub fn slab(shape: [usize; 3], times: Range<usize>, out: &mut [f32]) {
    let [_, rows, cols] = shape;
    let plane = rows.saturating_mul(cols);
    if plane == 0 || plane > out.len() {
        return;
    }
    let ground = Ground::new(rows, cols);
    for (time, plane) in times.zip(out.chunks_exact_mut(plane)) {
        let weather = Weather::at(time, rows, cols);
        for (y, line) in plane.chunks_exact_mut(cols).enumerate() {
            weather.write(y, &ground, line);
            measure(line, hash(SEED, [7, time as u64, y as u64]));
        }
    }
}

/// What the instrument makes of the truth: a little noise, then rounding.
fn measure(line: &mut [f32], key: u64) {
    // Adding this makes the sum lose what is below one: the cheapest rounding there is.
    const ROUNDING: f32 = 12_582_912.0;
    let key = key as u32;
    for (v, x) in line.iter_mut().zip(0u32..) {
        // Two rounds are enough for noise of which but a few bits are left in the end.
        let mut h = (x ^ key).wrapping_mul(0x9e37_79b1);
        h = (h ^ (h >> 15)).wrapping_mul(0x85eb_ca77);
        let noise = ((h >> 8) as i32 - (1 << 23)) as f32 * (NOISE / (1 << 23) as f32);
        *v = ((*v + noise) / QUANTUM + ROUNDING - ROUNDING) * QUANTUM;
    }
}

/// Land and its height, which do not change: kelvin that they take from the air.
struct Ground {
    cooling: Vec<f32>,
    cols: usize,
}

impl Ground {
    fn new(rows: usize, cols: usize) -> Self {
        let shapes = [(5.0, 1.0), (14.0, 0.5), (45.0, 0.28), (150.0, 0.16)];
        let octaves: Vec<Octave> =
            (0u64..).zip(shapes).map(|(i, (n, a))| Octave::new(90 + i, n, a, 0.0, rows, cols)).collect();
        let mut cooling = vec![0.0; rows * cols];
        for (y, line) in cooling.chunks_exact_mut(cols).enumerate() {
            octaves.iter().for_each(|octave| octave.add(y, line));
            // Below the sea level of 0.1 there is water; land rises at once by a little.
            line.iter_mut().for_each(|h| *h = if *h > 0.1 { 1.0 + 14.0 * (*h - 0.1) } else { 0.0 });
        }
        Self { cooling, cols }
    }

    fn line(&self, y: usize) -> &[f32] {
        self.cooling.chunks_exact(self.cols).nth(y).unwrap_or_default()
    }
}

/// The state of the air at one time, as what can be known before a row is chosen.
struct Weather {
    /// Planetary waves: sine and cosine along the columns.
    waves: Vec<[Vec<f32>; 2]>,
    /// Where the front is, as a row, along the columns.
    front: Vec<f32>,
    storms: Vec<Storm>,
    turbulence: Vec<Octave>,
    rows: usize,
}

impl Weather {
    fn at(time: usize, rows: usize, cols: usize) -> Self {
        let t = time as f64;
        let wave = |number: f64, speed: f64| -> [Vec<f32>; 2] {
            let turn = |x: usize| number * x as f64 / cols as f64 - speed * t;
            [0.0, 0.25].map(|quarter| (0..cols).map(|x| sine(turn(x) + quarter) as f32).collect())
        };
        let front = (0..cols).map(|x| {
            let lon = x as f64 / cols as f64;
            let bend = 0.06 * sine(3.0 * lon - 0.011 * t) + 0.025 * sine(7.0 * lon - 0.031 * t + 0.3);
            ((0.27 + bend) * rows as f64) as f32
        });
        let shapes = [(22.0, 2.4), (60.0, 1.0), (180.0, 0.35)];
        let turbulence =
            (0u64..).zip(shapes).map(|(i, (n, a))| Octave::new(i, n, a, t, rows, cols)).collect();
        Self {
            waves: vec![wave(2.0, 0.004), wave(5.0, 0.012), wave(9.0, 0.027)],
            front: front.collect(),
            storms: (0..12).map(|i| Storm::new(i, t, rows, cols)).collect(),
            turbulence,
            rows,
        }
    }

    /// The true temperature of row `y`.
    fn write(&self, y: usize, ground: &Ground, line: &mut [f32]) {
        // From 0 at the first row to 1 at the last.
        let down = (y as f64 + 0.5) / self.rows as f64;
        let towards_equator = sine(down / 2.0);
        let base = 236.0 + 64.0 * towards_equator * towards_equator;
        for (v, cold) in line.iter_mut().zip(ground.line(y)) {
            *v = base as f32 - cold;
        }
        for (i, [sines, cosines]) in self.waves.iter().enumerate() {
            // Waves live in the middle latitudes and lean backwards.
            let strength = (5.0 - i as f64) * sine(down) * sine(down) * 0.8;
            let lean = down * (1.0 + i as f64 * 0.5);
            let (a, b) = ((strength * sine(lean + 0.25)) as f32, (strength * sine(lean)) as f32);
            for ((v, s), c) in line.iter_mut().zip(sines).zip(cosines) {
                *v += a * s + b * c;
            }
        }
        let sharpness = 100.0 / self.rows as f32;
        for (v, front) in line.iter_mut().zip(&self.front) {
            let u = (y as f32 - front) * sharpness;
            *v += 6.5 * u / (1.0 + u * u).sqrt();
        }
        self.storms.iter().for_each(|storm| storm.add(y, line));
        self.turbulence.iter().for_each(|octave| octave.add(y, line));
    }
}

/// A storm that wanders eastwards: cold behind, warm before.
struct Storm {
    /// Strength along the rows, and how much it is turned.
    down: Vec<f32>,
    /// The first column, and the profile from there on, around the globe.
    first: usize,
    across: Vec<f32>,
}

impl Storm {
    fn new(index: u64, t: f64, rows: usize, cols: usize) -> Self {
        let chance = |what: u64| unit(hash(SEED, [50 + what, index, 0]));
        let wanders = 0.25 * sine(chance(5) + 0.007 * t);
        let middle =
            (if index.is_multiple_of(2) { 0.28 } else { 0.72 }) + 0.12 * wanders + 0.1 * (chance(0) - 0.5);
        let high = 0.05 + 0.04 * chance(1);
        let wide = high * rows as f64 / cols as f64 * 1.3;
        let strength = (14.0 + 14.0 * chance(2)) * (0.6 + 0.4 * sine(chance(3) + 0.013 * t));
        // A smooth hump that is nothing beyond -1 and 1.
        let hump = |u: f64| {
            let inside = (1.0 - u * u).max(0.0);
            inside * inside * inside
        };
        let row = |y: usize| (strength * hump(((y as f64 + 0.5) / rows as f64 - middle) / high)) as f32;
        let half = ((wide * cols as f64) as usize).clamp(1, cols.max(2) / 2);
        let centre = (chance(4) + t * (0.002 + 0.002 * chance(6))).fract() * cols as f64;
        let column = |i: usize| {
            let u = (i as f64 - half as f64 - centre.fract()) / half as f64;
            (2.2 * u * hump(u)) as f32
        };
        Self {
            down: (0..rows).map(row).collect(),
            first: (centre as usize + cols - half) % cols,
            across: (0..(2 * half).min(cols)).map(column).collect(),
        }
    }

    fn add(&self, y: usize, line: &mut [f32]) {
        let strength = self.down.get(y).copied().unwrap_or(0.0);
        if strength == 0.0 {
            return;
        }
        let (head, tail) = line.split_at_mut(self.first.min(line.len()));
        for (v, a) in tail.iter_mut().chain(head).zip(&self.across) {
            *v += strength * a;
        }
    }
}

/// Noise of one scale: random values on a coarse grid that goes around the globe, joined smoothly, drifting
/// eastwards and changing with time.
struct Octave {
    /// The grid at this time, row by row.
    grid: Vec<f32>,
    across: usize,
    /// Cells of the grid per row of the field.
    per_row: f64,
    /// For each column, how far it is into its cell, smoothed.
    weights: Vec<f32>,
    /// Columns of each cell: how many.
    widths: Vec<usize>,
    /// The first cell.
    shift: usize,
}

impl Octave {
    /// `cells` around the globe, of `amplitude`; without time (0) it is the same for all.
    fn new(seed: u64, cells: f64, amplitude: f64, t: f64, rows: usize, cols: usize) -> Self {
        let across = (cells as usize).clamp(1, cols);
        let per_row = across as f64 / cols as f64;
        let down = (per_row * rows as f64) as usize + 2;
        // The grid is renewed every 20 steps and drifts by whole columns.
        let (epoch, into) = ((t / 20.0) as u64, smooth((t / 20.0).fract()));
        // Two independent grids mixed have less variance than one: this restores it.
        let gain = amplitude / (into * into + (1.0 - into) * (1.0 - into)).sqrt();
        let at = |epoch: u64, i: usize| 2.0 * unit(hash(SEED, [100 + seed, epoch, i as u64])) - 1.0;
        let mixed = |i: usize| (gain * ((1.0 - into) * at(epoch, i) + into * at(epoch + 1, i))) as f32;
        let drift = (t * cols as f64 * 0.0015) as usize % cols;
        let mut weights = Vec::with_capacity(cols);
        let mut widths = vec![0; across + 1];
        let position = |x: usize| (x + cols - drift) % cols;
        let shift = position(0) * across / cols;
        for x in 0..cols {
            let along = position(x) as f64 * per_row;
            let cell = position(x) * across / cols;
            weights.push(smooth((along - cell as f64).clamp(0.0, 1.0)) as f32);
            // The drift may cut a cell in two: its second half comes last.
            let turned = (cell + across - shift) % across;
            let last = turned == 0 && x > cols / 2;
            if let Some(width) = widths.get_mut(if last { across } else { turned }) {
                *width += 1;
            }
        }
        Self { grid: (0..across * down).map(mixed).collect(), across, per_row, weights, widths, shift }
    }

    fn add(&self, y: usize, line: &mut [f32]) {
        let along = y as f64 * self.per_row;
        let (cell, weight) = (along as usize, smooth(along.fract()) as f32);
        let mut grid_rows = self.grid.chunks_exact(self.across).skip(cell);
        let (Some(above), Some(below)) = (grid_rows.next(), grid_rows.next()) else { return };
        let node = |i: usize| {
            let i = (self.shift + i) % self.across;
            let (a, b) = (above.get(i).copied().unwrap_or(0.0), below.get(i).copied().unwrap_or(0.0));
            a + (b - a) * weight
        };
        let (mut rest, mut weights) = (line, self.weights.as_slice());
        let mut left = node(0);
        for (i, &width) in self.widths.iter().enumerate() {
            let right = node(i + 1);
            let Some((values, later)) = rest.split_at_mut_checked(width) else { return };
            let Some((here, later_weights)) = weights.split_at_checked(width) else { return };
            for (v, w) in values.iter_mut().zip(here) {
                *v += left + (right - left) * w;
            }
            (rest, weights, left) = (later, later_weights, right);
        }
    }
}

/// 0 at 0, 1 at 1, and level at both.
fn smooth(t: f64) -> f64 {
    t * t * (3.0 - 2.0 * t)
}

/// The sine of `turns` whole turns, to 0.002: not the library's, which differs from machine to machine.
fn sine(turns: f64) -> f64 {
    let t = turns - turns.floor();
    // One arch of a parabola for each half of the turn, and a second one to lean it towards the sine.
    let half = if t < 0.5 { 16.0 * t * (0.5 - t) } else { -16.0 * (t - 0.5) * (1.0 - t) };
    half * (0.775 + 0.225 * half.abs())
}

/// A number from 0 up to 1.
fn unit(hash: u64) -> f64 {
    (hash >> 11) as f64 / (1u64 << 53) as f64
}

/// Scatters the parts of a key over 64 bits.
fn hash(seed: u64, parts: [u64; 3]) -> u64 {
    parts.into_iter().fold(seed, |h, part| {
        let mut h = (h ^ part).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        h = (h ^ (h >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
        h ^ (h >> 32)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: [usize; 3] = [6, 91, 180];

    fn whole(shape: [usize; 3]) -> Vec<f32> {
        let mut out = vec![f32::NAN; shape.iter().product()];
        slab(shape, 0..shape[0], &mut out);
        out
    }

    #[test]
    fn any_part_is_the_same_by_itself() {
        let all = whole(SMALL);
        let plane = SMALL[1] * SMALL[2];
        for times in [0..1, 2..5, 5..6] {
            let mut part = vec![0.0; times.len() * plane];
            slab(SMALL, times.clone(), &mut part);
            assert_eq!(part, all[times.start * plane..times.end * plane]);
        }
    }

    #[test]
    fn values_are_temperatures_of_the_instruments_resolution() {
        let all = whole(SMALL);
        assert!(all.iter().all(|v| (200.0..330.0).contains(v) && (v / QUANTUM).fract() == 0.0));
        let mean = all.iter().map(|v| f64::from(*v)).sum::<f64>() / all.len() as f64;
        assert!((255.0..285.0).contains(&mean), "{mean}");
        let spread = all.iter().map(|v| (f64::from(*v) - mean).powi(2)).sum::<f64>() / all.len() as f64;
        assert!((10.0..30.0).contains(&spread.sqrt()), "{spread}");
    }

    #[test]
    fn neighbours_are_alike_but_not_the_same_in_space_and_time() {
        let shape = [3, 181, 360];
        let all = whole(shape);
        let mean_step = |lag: usize| {
            let steps = all.iter().zip(&all[lag..]).map(|(a, b)| f64::from((a - b).abs()));
            steps.sum::<f64>() / (all.len() - lag) as f64
        };
        for lag in [1, shape[2], shape[1] * shape[2]] {
            assert!((0.03..1.5).contains(&mean_step(lag)), "{lag}: {}", mean_step(lag));
        }
        // Around the globe there is no seam.
        let rows = all.chunks_exact(shape[2]);
        let seam = rows.map(|row| f64::from((row[0] - row[shape[2] - 1]).abs())).sum::<f64>();
        assert!(seam / ((3 * shape[1]) as f64) < 2.0 * mean_step(1), "{seam}");
    }

    #[test]
    fn the_field_stays_what_it_was() {
        let digest = |shape| {
            let bytes = whole(shape).into_iter().map(|v| u64::from(v.to_bits()));
            bytes.fold(0, |h, bits| hash(h, [bits, 0, 0]))
        };
        assert_eq!(digest(SMALL), 0x2a51_c294_7733_9ed4);
    }

    #[test]
    fn odd_shapes_and_buffers_are_taken_as_they_are() {
        for shape in [[0, 0, 0], [1, 0, 5], [2, 1, 1], [2, 1, 7], [2, 7, 1], [1, 2, 3]] {
            assert!(whole(shape).iter().all(|v| v.is_finite()), "{shape:?}");
        }
        let mut short = vec![-1.0; 10];
        slab([9, 2, 3], 4..9, &mut short);
        assert!(short[..6].iter().all(|v| *v > 0.0) && short[6..] == [-1.0; 4]);
        slab([1, usize::MAX, 3], 0..1, &mut short);
        slab([9, 2, 3], usize::MAX - 1..usize::MAX, &mut short);
        assert!(short.iter().all(|v| v.is_finite()));
    }

    #[test]
    fn the_sine_is_one() {
        for i in -50..50 {
            let turns = f64::from(i) / 23.0;
            assert!((sine(turns) - (turns * std::f64::consts::TAU).sin()).abs() < 2e-3, "{turns}");
        }
    }
}
