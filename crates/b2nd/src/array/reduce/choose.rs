//! The reductions of an array: which kernel for which dtype, and which dtype its result has.

use crate::array::Array;
use crate::array::Dtype;
use crate::array::Kind;
use crate::array::Over;
use crate::array::Reduced;
use crate::array::dtype::ByteOrder;
use crate::array::reduce::arg::ExtremeSearch;
use crate::array::reduce::count::CountNan;
use crate::array::reduce::count::Truth;
use crate::array::reduce::extremes::Extreme;
use crate::array::reduce::extremes::Latest;
use crate::array::reduce::moments::Spread;
use crate::array::reduce::product::ComplexProduct;
use crate::array::reduce::product::FloatProduct;
use crate::array::reduce::product::WholeProduct;
use crate::array::reduce::run::ReductionJob;
use crate::array::reduce::sum::ComplexSum;
use crate::array::reduce::sum::FloatSum;
use crate::array::reduce::sum::SpanSum;
use crate::array::reduce::sum::Take;
use crate::array::reduce::sum::WholeMean;
use crate::array::reduce::sum::WholeSum;
use crate::error::Error;
use crate::error::Result;
use half::f16;
use num_complex::Complex;
use std::marker::PhantomData;

/// Runs `$kernel`, in which `$t` stands for the Rust type of integers (bools count as bytes) of kind and size `$key`.
macro_rules! with_whole {
    ($job:expr, $key:expr, $t:ident => $kernel:expr) => {
        with_whole!(@each $job, $key, $t, $kernel;
            (Kind::Bool | Kind::Uint, 1) u8, (Kind::Uint, 2) u16, (Kind::Uint, 4) u32, (Kind::Uint, 8) u64,
            (Kind::Int, 1) i8, (Kind::Int, 2) i16, (Kind::Int, 4) i32, (Kind::Int, 8) i64)
    };
    (@each $job:expr, $key:expr, $t:ident, $kernel:expr; $(($kind:pat, $size:literal) $type:ty),*) => {
        match $key {
            $(($kind, $size) => { type $t = $type; $job.run(&$kernel) })*
            _ => Err(not_a_number()),
        }
    };
}

/// As `with_whole`, for floats; `$c` is for complex numbers, in which `$t` stands for a part.
macro_rules! with_float {
    ($job:expr, $key:expr, $t:ident => $float:expr, $complex:expr) => {
        match $key {
            (Kind::Float, 2) => {
                type $t = f16;
                $job.run(&$float)
            }
            (Kind::Float, 4) => {
                type $t = f32;
                $job.run(&$float)
            }
            (Kind::Float, 8) => {
                type $t = f64;
                $job.run(&$float)
            }
            (Kind::Complex, 8) => {
                type $t = f32;
                $job.run(&$complex)
            }
            (Kind::Complex, 16) => {
                type $t = f64;
                $job.run(&$complex)
            }
            _ => Err(not_a_number()),
        }
    };
}

fn not_a_number() -> Error {
    Error::usage("no number has items of this size")
}

/// The kinds whose items are whole numbers.
fn is_whole(kind: Kind) -> bool {
    matches!(kind, Kind::Bool | Kind::Int | Kind::Uint)
}
fn is_time(kind: Kind) -> bool {
    matches!(kind, Kind::Datetime | Kind::Timedelta)
}

impl Array {
    /// The sum of the items over some axes.
    ///
    /// Integers and bools are summed in 64 bits and wrap, as in NumPy; floats keep their dtype, and so do complex numbers
    /// and `timedelta64`. NaN and NaT spread. The sum of nothing is 0.
    ///
    /// Floats are summed in twice the precision of `f64` and rounded once: the result is the float nearest to the exact sum,
    /// unless the sum is more than about 10¹⁵ times smaller than its parts. The same array gives the same bits on any
    /// number of threads.
    ///
    /// **Memory**, here and for the other reductions: the result; for each thread one block, the compressed bytes of one
    /// chunk, and the states (of 1 to 56 bytes an item of the result) of those items that one chunk adds to; and up to 64 MiB
    /// of states that wait for others. Variances take twice the states of one block on top. Chunks of one value (zeros,
    /// NaN, never written, repeated) are not decoded, and an array of nothing else costs nothing.
    ///
    /// ```
    /// use b2nd::{s, Dtype, Options, Over};
    /// let mut a = Options::new().create_in_memory(Dtype::of::<f32>(), [2, 3])?;
    /// a.write_items(s![], &[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0])?;
    /// assert_eq!(a.sum(())?.item::<f32>()?, 21.0);
    /// assert_eq!(a.sum(-1)?.items::<f32>()?, [6.0, 15.0]);
    /// assert_eq!(a.sum(Over::all().within(s![1.., ..;-2]))?.item::<f32>()?, 10.0);
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::OutOfBounds`] for axes that do not exist; [`Error::Usage`] for dtypes without a sum: `datetime64`,
    /// strings, raw bytes and structures; [`Error::Limit`] when the result is larger than
    /// [`Limits::max_read_bytes`](crate::Limits::max_read_bytes); and as [`Array::read_bytes`].
    pub fn sum(&self, over: impl Into<Over>) -> Result<Reduced> {
        self.total(&over.into(), Take::Sum)
    }

    /// The mean of the items over some axes.
    ///
    /// Integers and bools give `f64`, from their exact sum; floats, complex numbers and `timedelta64` keep their dtype. The
    /// mean of nothing is NaN, or NaT.
    ///
    /// ```
    /// use b2nd::{s, Dtype, Options};
    /// let mut a = Options::new().create_in_memory(Dtype::of::<u8>(), [2, 2])?;
    /// a.write_items(s![], &[255u8, 254, 253, 252])?;
    /// assert_eq!(a.mean(0)?.items::<f64>()?, [254.0, 253.0]);
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Array::sum`].
    pub fn mean(&self, over: impl Into<Over>) -> Result<Reduced> {
        self.total(&over.into(), Take::Mean)
    }

    fn total(&self, over: &Over, take: Take) -> Result<Reduced> {
        let name = if take == Take::Sum { "sum" } else { "mean" };
        let key = self.numbers(name, |kind| kind != Kind::Datetime)?;
        if is_whole(key.0) && take == Take::Sum {
            let unsigned = key.0 == Kind::Uint;
            let job = self.job(over, native(if unsigned { Kind::Uint } else { Kind::Int }, 8))?;
            return with_whole!(job, key, T => WholeSum::<T>(PhantomData));
        }
        if is_whole(key.0) {
            let job = self.job(over, native(Kind::Float, 8))?;
            return with_whole!(job, key, T => WholeMean::<T>(PhantomData));
        }
        let job = self.job(over, self.dtype().to_native())?;
        if key.0 == Kind::Timedelta {
            return job.run(&SpanSum(take));
        }
        with_float!(job, key, T => FloatSum::<T>(take, PhantomData), ComplexSum::<T>(take, PhantomData))
    }

    /// The product of the items over some axes.
    ///
    /// Dtypes as for [`Array::sum`]. Integers wrap; floats are multiplied in `f64` and rounded to the dtype at the end. The
    /// product of nothing is 1.
    ///
    /// ```
    /// use b2nd::{s, Dtype, Options};
    /// let mut a = Options::new().create_in_memory(Dtype::of::<i16>(), [4])?;
    /// a.write_items(s![], &[1i16, 2, 300, 400])?;
    /// assert_eq!(a.prod(())?.item::<i64>()?, 240_000);
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Array::sum`]; `timedelta64` has no product.
    pub fn prod(&self, over: impl Into<Over>) -> Result<Reduced> {
        let key = self.numbers("prod", |kind| !is_time(kind))?;
        let over = over.into();
        if is_whole(key.0) {
            let unsigned = key.0 == Kind::Uint;
            let job = self.job(&over, native(if unsigned { Kind::Uint } else { Kind::Int }, 8))?;
            return with_whole!(job, key, T => WholeProduct::<T>(PhantomData));
        }
        let job = self.job(&over, self.dtype().to_native())?;
        with_float!(job, key, T => FloatProduct::<T>(PhantomData), ComplexProduct::<T>(PhantomData))
    }

    /// The least item over some axes; NaN or NaT if any item is.
    ///
    /// Complex numbers are ordered by their real part, then by the imaginary one.
    ///
    /// ```
    /// use b2nd::{s, Dtype, Options};
    /// let mut a = Options::new().create_in_memory(Dtype::of::<f64>(), [2, 2])?;
    /// a.write_items(s![], &[3.0, -1.0, 2.0, f64::NAN])?;
    /// assert_eq!(a.min(1)?.items::<f64>()?[0], -1.0);
    /// assert!(a.min(1)?.items::<f64>()?[1].is_nan());
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Array::sum`] (`datetime64` has one), and [`Error::Usage`] when an item of the result would stand for none
    /// of the array.
    pub fn min(&self, over: impl Into<Over>) -> Result<Reduced> {
        self.extreme::<false>(&over.into(), "min")
    }

    /// The greatest item over some axes; NaN or NaT if any item is.
    ///
    /// ```
    /// use b2nd::{s, Dtype, Options};
    /// let mut a = Options::new().create_in_memory(Dtype::of::<u16>(), [2, 2])?;
    /// a.write_items(s![], &[3u16, 1, 2, 7])?;
    /// assert_eq!(a.max(0)?.items::<u16>()?, [3, 7]);
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Array::min`].
    pub fn max(&self, over: impl Into<Over>) -> Result<Reduced> {
        self.extreme::<true>(&over.into(), "max")
    }

    /// Where the least item is: its index along an axis, or over all axes its position in C order, as `i64`. The first of
    /// equals, and the first NaN (or NaT) where there is one.
    ///
    /// **Memory**: the result and for each of its items the least one; for each thread one chunk.
    ///
    /// ```
    /// use b2nd::{s, Dtype, Options};
    /// let mut a = Options::new().create_in_memory(Dtype::of::<f64>(), [2, 3])?;
    /// a.write_items(s![], &[3.0, -1.0, 2.0, 4.0, 7.0, -1.0])?;
    /// assert_eq!(a.argmin(())?.item::<i64>()?, 1);
    /// assert_eq!(a.argmin(1)?.items::<i64>()?, [1, 2]);
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Array::min`], and [`Error::Usage`] for several axes of more and for a part of the array ([`Over::within`]).
    pub fn argmin(&self, over: impl Into<Over>) -> Result<Reduced> {
        self.search::<false>(&over.into(), "argmin")
    }

    /// The index of the greatest item: see [`Array::argmin`].
    ///
    /// ```
    /// use b2nd::{s, Dtype, Options, Over};
    /// let mut a = Options::new().create_in_memory(Dtype::of::<u8>(), [2, 3])?;
    /// a.write_items(s![], &[3u8, 9, 2, 9, 7, 1])?;
    /// assert_eq!(a.argmax(())?.item::<i64>()?, 1);
    /// assert_eq!(a.argmax(Over::axes([0]).keeping_axes())?.shape(), [1, 3]);
    /// assert_eq!(a.argmax(0)?.items::<i64>()?, [1, 0, 0]);
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Array::argmin`].
    pub fn argmax(&self, over: impl Into<Over>) -> Result<Reduced> {
        self.search::<true>(&over.into(), "argmax")
    }

    fn search<const MOST: bool>(&self, over: &Over, name: &str) -> Result<Reduced> {
        let key = self.numbers(name, |_| true)?;
        let job = ExtremeSearch::new(self, over, name, MOST && is_time(key.0))?;
        match key.0 {
            kind if is_time(kind) => job.run(&Extreme::<i64, MOST>(PhantomData)),
            kind if is_whole(kind) => with_whole!(job, key, T => Extreme::<T, MOST>(PhantomData)),
            _ => {
                with_float!(job, key, T => Extreme::<T, MOST>(PhantomData), Extreme::<Complex<T>, MOST>(PhantomData))
            }
        }
    }

    fn extreme<const MOST: bool>(&self, over: &Over, name: &str) -> Result<Reduced> {
        let key = self.numbers(name, |_| true)?;
        let job = self.job(over, self.dtype().to_native())?;
        if job.count() == 0 && !job.is_empty() {
            return Err(Error::usage(format!("{name} of an empty array: it needs at least one item")));
        }
        match key.0 {
            // Of false and true the least is false unless all are true.
            Kind::Bool if MOST => job.run(&Truth::<u8, false>(PhantomData)),
            Kind::Bool => job.run(&Truth::<u8, true>(PhantomData)),
            Kind::Datetime | Kind::Timedelta if MOST => job.run(&Latest),
            Kind::Datetime | Kind::Timedelta => job.run(&Extreme::<i64, false>(PhantomData)),
            Kind::Int | Kind::Uint => with_whole!(job, key, T => Extreme::<T, MOST>(PhantomData)),
            _ => {
                with_float!(job, key, T => Extreme::<T, MOST>(PhantomData), Extreme::<Complex<T>, MOST>(PhantomData))
            }
        }
    }

    /// The variance of the items over some axes: the mean of the squared distances from the mean, where `ddof` is taken
    /// from their number (0 for all there is, 1 for a sample).
    ///
    /// Integers and bools give `f64`; floats keep their dtype; complex numbers give that of their parts. It is NaN where
    /// there is nothing, or a NaN or an infinity.
    ///
    /// The file is read once. Distances from the mean are taken in each block and blocks joined without cancellation, so
    /// that a mean far from zero costs no digits.
    ///
    /// ```
    /// use b2nd::{s, Dtype, Options};
    /// let mut a = Options::new().create_in_memory(Dtype::of::<f64>(), [4])?;
    /// a.write_items(s![], &[1e9 + 1.0, 1e9 + 2.0, 1e9 + 3.0, 1e9 + 4.0])?;
    /// assert_eq!(a.var((), 0.0)?.item::<f64>()?, 1.25);
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Array::sum`]; times have no variance. [`Error::Usage`] when `ddof` is not finite.
    pub fn var(&self, over: impl Into<Over>, ddof: f64) -> Result<Reduced> {
        self.spread(&over.into(), ddof, false)
    }

    /// The standard deviation of the items over some axes: the root of [`Array::var`].
    ///
    /// ```
    /// use b2nd::{s, Dtype, Options};
    /// let mut a = Options::new().create_in_memory(Dtype::of::<i32>(), [2, 4])?;
    /// a.write_items(s![], &[1, 1, 5, 5, 7, 7, 7, 7])?;
    /// assert_eq!(a.std(1, 0.0)?.items::<f64>()?, [2.0, 0.0]);
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Array::var`].
    pub fn std(&self, over: impl Into<Over>, ddof: f64) -> Result<Reduced> {
        self.spread(&over.into(), ddof, true)
    }

    fn spread(&self, over: &Over, ddof: f64, root: bool) -> Result<Reduced> {
        if !ddof.is_finite() {
            return Err(Error::usage(format!("the degrees of freedom cannot be reduced by {ddof}")));
        }
        let (kind, size) = self.numbers(if root { "std" } else { "var" }, |kind| !is_time(kind))?;
        if is_whole(kind) {
            let job = self.job(over, native(Kind::Float, 8))?;
            return with_whole!(job, (kind, size), T => Spread::<T, f64, 1>::new(ddof, root));
        }
        let part = if kind == Kind::Complex { size / 2 } else { size };
        let job = self.job(over, native(Kind::Float, part))?;
        with_float!(job, (kind, size), T => Spread::<T, T, 1>::new(ddof, root), Spread::<Complex<T>, T, 2>::new(ddof, root))
    }

    /// The number of items over some axes that are NaN (or NaT), as `i64`. A complex number is NaN when a part is.
    ///
    /// ```
    /// use b2nd::{Dtype, Fill, Options};
    /// let a = Options::new().with_fill(Fill::Nan).create_in_memory(Dtype::of::<f32>(), [1_000_000, 10])?;
    /// assert_eq!(a.count_nan(())?.item::<i64>()?, 10_000_000);
    /// assert_eq!(a.count_nan(0)?.items::<i64>()?, [1_000_000; 10]);
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Array::sum`] (times are counted).
    pub fn count_nan(&self, over: impl Into<Over>) -> Result<Reduced> {
        let key = self.numbers("count_nan", |_| true)?;
        let job = self.job(&over.into(), native(Kind::Int, 8))?;
        match key.0 {
            kind if is_whole(kind) => job.zeros(),
            kind if is_time(kind) => job.run(&CountNan::<i64>(PhantomData)),
            _ => with_float!(job, key, T => CountNan::<T>(PhantomData), CountNan::<Complex<T>>(PhantomData)),
        }
    }

    /// Whether any item over some axes is not zero, as bools. NaN and NaT are not zero; of nothing none is.
    ///
    /// ```
    /// use b2nd::{s, Dtype, Options};
    /// let mut a = Options::new().create_in_memory(Dtype::of::<i8>(), [2, 2])?;
    /// a.write_items(s![1, 0], &[-3i8])?;
    /// assert_eq!(a.any(0)?.items::<bool>()?, [true, false]);
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Array::sum`] (times are judged).
    pub fn any(&self, over: impl Into<Over>) -> Result<Reduced> {
        self.truth::<false>(&over.into(), "any")
    }

    /// Whether all items over some axes are not zero, as bools. NaN and NaT are not zero; of nothing all are.
    ///
    /// ```
    /// let a = b2nd::Options::new().create_in_memory(b2nd::Dtype::of::<f32>(), [2, 0])?;
    /// assert_eq!(a.all(1)?.items::<bool>()?, [true, true]);
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Array::any`].
    pub fn all(&self, over: impl Into<Over>) -> Result<Reduced> {
        self.truth::<true>(&over.into(), "all")
    }

    fn truth<const ALL: bool>(&self, over: &Over, name: &str) -> Result<Reduced> {
        let key = self.numbers(name, |_| true)?;
        let job = self.job(over, native(Kind::Bool, 1))?;
        match key {
            // Whether a number is zero is the same with a sign and without.
            (kind, size) if is_whole(kind) || is_time(kind) => {
                with_whole!(job, (Kind::Uint, size), T => Truth::<T, ALL>(PhantomData))
            }
            _ => {
                with_float!(job, key, T => Truth::<T, ALL>(PhantomData), Truth::<Complex<T>, ALL>(PhantomData))
            }
        }
    }

    /// Kind and size of the items, when they are numbers or times that have this reduction.
    fn numbers(&self, name: &str, has: impl Fn(Kind) -> bool) -> Result<(Kind, usize)> {
        let dtype = self.dtype();
        let kind = dtype.kind();
        let known = matches!(kind, Kind::Bool | Kind::Int | Kind::Uint | Kind::Float | Kind::Complex)
            || is_time(kind);
        if known && has(kind) {
            return Ok((kind, dtype.itemsize()));
        }
        let possible = match kind {
            Kind::Datetime => "min, max, any, all and count_nan",
            Kind::Timedelta => "sum, mean, min, max, any, all and count_nan",
            _ => "none: only bools, numbers and times have them",
        };
        Err(Error::usage(format!("items of {dtype} have no {name}; their reductions are {possible}")))
    }

    fn job(&self, over: &Over, result: Dtype) -> Result<ReductionJob<'_>> {
        let dtype = self.dtype();
        let number = if dtype.kind() == Kind::Complex { dtype.itemsize() / 2 } else { dtype.itemsize() };
        ReductionJob::new(self, over, result, if dtype.is_native() { 1 } else { number })
    }
}

fn native(kind: Kind, size: usize) -> Dtype {
    Dtype::scalar(kind, size, ByteOrder::NATIVE)
}
