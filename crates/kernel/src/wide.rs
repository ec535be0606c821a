//! Unchecked loads and stores of several bytes, for loops that have checked their bounds in advance.

/// The `N` bytes from `at` on.
///
/// # Safety
/// `at + N <= src.len()`.
#[inline(always)]
pub(crate) unsafe fn load<const N: usize>(src: &[u8], at: usize) -> [u8; N] {
    debug_assert!(at.checked_add(N).is_some_and(|end| end <= src.len()), "a load behind the end");
    // SAFETY: inside `src`, by this function's contract.
    let from = unsafe { src.as_ptr().add(at) };
    // SAFETY: `src` has these `N` bytes, and an array of bytes needs no alignment.
    unsafe { from.cast::<[u8; N]>().read() }
}

/// Overwrites the `N` bytes from `at` on.
///
/// # Safety
/// `at + N <= dst.len()`.
#[inline(always)]
pub(crate) unsafe fn store<const N: usize>(dst: &mut [u8], at: usize, bytes: [u8; N]) {
    debug_assert!(at.checked_add(N).is_some_and(|end| end <= dst.len()), "a store behind the end");
    // SAFETY: inside `dst`, by this function's contract.
    let to = unsafe { dst.as_mut_ptr().add(at) };
    // SAFETY: `dst` has these `N` bytes, and an array of bytes needs no alignment.
    unsafe { to.cast::<[u8; N]>().write(bytes) };
}

/// The 8 bytes from `at` on as a number whose lowest byte is the first.
///
/// # Safety
/// `at + 8 <= src.len()`.
#[inline(always)]
pub(crate) unsafe fn word(src: &[u8], at: usize) -> u64 {
    // SAFETY: the same contract.
    u64::from_le_bytes(unsafe { load::<8>(src, at) })
}

/// How many bytes from `a` on and from `b` on agree, at most up to `end`.
///
/// # Safety
/// `a <= b`, `b <= end` and `end <= src.len()`.
#[inline(always)]
pub(crate) unsafe fn common(src: &[u8], mut a: usize, mut b: usize, end: usize) -> usize {
    debug_assert!(a <= b && b <= end && end <= src.len(), "not two places before the end");
    let start = b;
    // Compares vectors of long matches until one differs.
    while b + 32 <= end {
        // SAFETY: `b + 32 <= end`, and `a <= b`.
        let early = unsafe { load::<32>(src, a) };
        // SAFETY: as above.
        let late = unsafe { load::<32>(src, b) };
        if early != late {
            break;
        }
        (a, b) = (a + 32, b + 32);
    }
    while b + 8 <= end {
        // SAFETY: `b + 8 <= end`, and `a <= b`.
        let early = unsafe { word(src, a) };
        // SAFETY: as above.
        let late = unsafe { word(src, b) };
        let differ = early ^ late;
        if differ != 0 {
            return b - start + (differ.trailing_zeros() / 8) as usize;
        }
        (a, b) = (a + 8, b + 8);
    }
    while b < end && src[a] == src[b] {
        (a, b) = (a + 1, b + 1);
    }
    b - start
}
