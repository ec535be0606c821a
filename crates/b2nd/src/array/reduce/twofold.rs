//! Numbers of two `f64`: sums and products that carry their own rounding errors along.
//!
//! A sum of `n` numbers is off by about `n² · 2⁻¹⁰⁶` of the sum of their magnitudes before it is rounded once to the result:
//! unless nearly everything cancels, the result is the nearest float to the exact sum. Once a part is infinite or NaN the
//! errors mean nothing, so whoever reads a number looks at `high` first.

/// A number `high + low`, where `low` is the rounding error of `high`.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Twofold {
    pub(super) high: f64,
    pub(super) low: f64,
}

/// The sum as a float, and what it lost.
#[inline(always)]
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let part = sum - a;
    (sum, (a - (sum - part)) + (b - part))
}

/// The product as a float, and what it lost (Dekker's: machines without a fused multiply-add do it too).
#[inline(always)]
fn two_product(a: f64, b: f64) -> (f64, f64) {
    const HALVES: f64 = 134_217_729.0; // 2^27 + 1
    let halves = |x: f64| {
        let t = HALVES * x;
        let high = t - (t - x);
        (high, x - high)
    };
    let ((ah, al), (bh, bl)) = (halves(a), halves(b));
    let product = a * b;
    (product, ((ah * bh - product) + ah * bl + al * bh) + al * bl)
}

impl Twofold {
    pub(super) const ZERO: Twofold = Twofold { high: 0.0, low: 0.0 };

    #[inline(always)]
    pub(super) fn new(high: f64) -> Self {
        Twofold { high, low: 0.0 }
    }
    #[inline(always)]
    pub(super) fn add(&mut self, x: f64) {
        let (high, lost) = two_sum(self.high, x);
        *self = Twofold { high, low: self.low + lost };
    }
    #[inline(always)]
    pub(super) fn plus(self, other: Twofold) -> Twofold {
        let (high, lost) = two_sum(self.high, other.high);
        Twofold { high, low: (self.low + other.low) + lost }
    }
    #[inline(always)]
    pub(super) fn minus(self, other: Twofold) -> Twofold {
        self.plus(Twofold { high: -other.high, low: -other.low })
    }
    /// The same number with all that fits in `high`.
    #[inline(always)]
    pub(super) fn tidy(self) -> Twofold {
        let (high, low) = two_sum(self.high, self.low);
        if high.is_finite() { Twofold { high, low } } else { Twofold::new(self.high) }
    }
    #[inline(always)]
    pub(super) fn times(self, other: Twofold) -> Twofold {
        let (high, lost) = two_product(self.high, other.high);
        let low = lost + (self.high * other.low + self.low * other.high);
        Twofold { high, low }.tidy()
    }
    pub(super) fn over(self, divisor: Twofold) -> Twofold {
        let first = self.high / divisor.high;
        let rest = self.minus(Twofold::new(first).times(divisor)).tidy();
        Twofold { high: first, low: rest.high / divisor.high }.tidy()
    }
    pub(super) fn sqrt(self) -> Twofold {
        let this = self.tidy();
        let root = this.high.sqrt();
        let rest = this.minus(Twofold::new(root).times(Twofold::new(root))).tidy();
        let low = rest.high / (2.0 * root);
        if root > 0.0 && low.is_finite() { Twofold { high: root, low }.tidy() } else { Twofold::new(root) }
    }
    /// A whole number, exactly as far as 106 bits go.
    pub(super) fn from_int(n: i128) -> Twofold {
        let high = n as f64;
        // What does not come back is the saturated end of the range, far from any sum of 64-bit numbers.
        Twofold { high, low: n.wrapping_sub(high as i128) as f64 }
    }

    /// The nearest `f64`.
    pub(super) fn to_f64(self) -> f64 {
        self.tidy().high
    }
    /// An `f64` that rounds to any shorter float as the exact number does: rounded to odd where something is lost.
    pub(super) fn to_odd(self) -> f64 {
        let Twofold { high, low } = self.tidy();
        if low == 0.0 || !low.is_finite() || high.to_bits() & 1 == 1 {
            return high;
        }
        if low > 0.0 { high.next_up() } else { high.next_down() }
    }
}

/// Lanes that are summed side by side, so that the additions of one need not wait for those of another.
pub(super) const LANES: usize = 8;

/// Sums of lanes.
#[derive(Clone, Copy)]
pub(super) struct Lanes {
    high: [f64; LANES],
    low: [f64; LANES],
}

impl Lanes {
    pub(super) const ZERO: Lanes = Lanes { high: [0.0; LANES], low: [0.0; LANES] };

    #[inline(always)]
    pub(super) fn add(&mut self, lane: usize, x: f64) {
        let (high, lost) = two_sum(self.high[lane], x);
        self.high[lane] = high;
        self.low[lane] += lost;
    }
    /// Adds the square of the distance of `x` from `c`, all of it when `EXACT`. The `rest` of `x` counts when `LONG`.
    #[inline(always)]
    pub(super) fn add_square<const EXACT: bool, const LONG: bool>(
        &mut self,
        lane: usize,
        x: f64,
        rest: f64,
        c: f64,
    ) {
        if EXACT {
            let (mut difference, mut lost) = two_sum(x, -c);
            if LONG {
                let (closer, more) = two_sum(difference, rest);
                (difference, lost) = two_sum(closer, lost + more);
            }
            let (square, more) = two_product(difference, difference);
            self.add(lane, square);
            self.low[lane] += more + 2.0 * difference * lost;
        } else {
            let difference = x - c;
            self.high[lane] += difference * difference;
        }
    }
    pub(super) fn get(&self, lane: usize) -> Twofold {
        Twofold { high: self.high[lane], low: self.low[lane] }
    }
    pub(super) fn total(&self) -> Twofold {
        (1..LANES).fold(self.get(0), |sum, lane| sum.plus(self.get(lane)))
    }
}

/// The sum of one number from each item.
#[inline(always)]
pub(super) fn sum<T: Copy>(items: &[T], number: impl Fn(T) -> f64) -> Twofold {
    let (whole, rest) = items.as_chunks::<LANES>();
    let mut lanes = Lanes::ZERO;
    for items in whole {
        for (lane, &item) in items.iter().enumerate() {
            lanes.add(lane, number(item));
        }
    }
    let mut total = if whole.is_empty() { Twofold::ZERO } else { lanes.total() };
    rest.iter().for_each(|&item| total.add(number(item)));
    total
}

/// The sum of the squares of the distances from `c`.
#[inline(always)]
pub(super) fn squares<T: Copy, const EXACT: bool, const LONG: bool>(
    items: &[T],
    number: impl Fn(T) -> (f64, f64),
    c: f64,
) -> Twofold {
    let (whole, rest) = items.as_chunks::<LANES>();
    let mut lanes = Lanes::ZERO;
    for items in whole {
        for (lane, &item) in items.iter().enumerate() {
            let (x, rest) = number(item);
            lanes.add_square::<EXACT, LONG>(lane, x, rest, c);
        }
    }
    for (lane, &item) in rest.iter().enumerate() {
        let (x, rest) = number(item);
        lanes.add_square::<EXACT, LONG>(lane, x, rest, c);
    }
    lanes.total()
}
