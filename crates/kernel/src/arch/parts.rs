//! Parts of a slice at even distances, such as the rows or items of a tile. Bounds are checked once for all of
//! them, because a check for each part costs more than the loads.

use super::outside;
use std::marker::PhantomData;

/// `N` parts of `SIZE` bytes, `step` bytes apart, with bounds checked once.
pub(crate) struct Parts<'a, const N: usize, const SIZE: usize> {
    start: *const u8,
    step: usize,
    bytes: PhantomData<&'a [u8]>,
}

impl<'a, const N: usize, const SIZE: usize> Parts<'a, N, SIZE> {
    /// The parts of `bytes` from `at` on.
    ///
    /// # Panics
    /// When `bytes` is too short.
    #[inline(always)]
    pub(crate) fn new(bytes: &'a [u8], at: usize, step: usize) -> Self {
        let all = &bytes[at..][..span::<N, SIZE>(step)];
        Parts { start: all.as_ptr(), step, bytes: PhantomData }
    }

    /// Part `r`.
    #[inline(always)]
    pub(crate) fn get(&self, r: usize) -> &'a [u8; SIZE] {
        assert!(r < N, "a part that was not looked at");
        // SAFETY: `new` has checked that the slice contains the end of the last part, so the sum stays inside it.
        let part = unsafe { self.start.add(r * self.step) };
        // SAFETY: the `SIZE` bytes from there on lie in the slice, which is borrowed for `'a`; bytes need no alignment.
        unsafe { &*part.cast() }
    }
}

/// Mutable [`Parts`]. They may overlap, because only one is borrowed at a time.
pub(crate) struct PartsMut<'a, const N: usize, const SIZE: usize> {
    start: *mut u8,
    step: usize,
    bytes: PhantomData<&'a mut [u8]>,
}

impl<'a, const N: usize, const SIZE: usize> PartsMut<'a, N, SIZE> {
    /// The parts of `bytes` from `at` on.
    ///
    /// # Panics
    /// When `bytes` is too short.
    #[inline(always)]
    pub(crate) fn new(bytes: &'a mut [u8], at: usize, step: usize) -> Self {
        let all = &mut bytes[at..][..span::<N, SIZE>(step)];
        PartsMut { start: all.as_mut_ptr(), step, bytes: PhantomData }
    }

    /// Part `r`.
    #[inline(always)]
    pub(crate) fn get(&mut self, r: usize) -> &mut [u8; SIZE] {
        assert!(r < N, "a part that was not looked at");
        // SAFETY: `new` has checked that the slice contains the end of the last part, so the sum stays inside it.
        let part = unsafe { self.start.add(r * self.step) };
        // SAFETY: the `SIZE` bytes from there on lie in the slice, which is borrowed mutably for `'a`; this borrow of `self`
        // keeps any other part from being lent.
        unsafe { &mut *part.cast() }
    }
}

/// The bytes from the start of the first part to the end of the last.
///
/// # Panics
/// When the number overflows.
#[inline(always)]
fn span<const N: usize, const SIZE: usize>(step: usize) -> usize {
    match step.checked_mul(N - 1).and_then(|far| far.checked_add(SIZE)) {
        Some(span) => span,
        None => outside(),
    }
}
