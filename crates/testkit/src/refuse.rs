//! An allocator that refuses one allocation when it is asked to: what a program does when memory runs out.

#![allow(
    unsafe_code,
    reason = "an allocator cannot be written without; it hands everything on to that of the system"
)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The allocator, for `#[global_allocator]` in a test of its own.
#[derive(Debug)]
pub struct Refusing;

/// Allocations below this are never refused.
static AT_LEAST: AtomicUsize = AtomicUsize::new(usize::MAX);
/// How many large allocations there are before the one that is refused.
static BEFORE: AtomicUsize = AtomicUsize::new(0);
/// How many large allocations there were.
static SEEN: AtomicUsize = AtomicUsize::new(0);

/// Refuses the allocation of at least `at_least` bytes that comes after `before` others, until [`stop`].
pub fn refuse(at_least: usize, before: usize) {
    SEEN.store(0, Ordering::SeqCst);
    BEFORE.store(before, Ordering::SeqCst);
    AT_LEAST.store(at_least, Ordering::SeqCst);
}

/// Refuses nothing from now on; whether an allocation was refused.
pub fn stop() -> bool {
    AT_LEAST.store(usize::MAX, Ordering::SeqCst);
    SEEN.load(Ordering::SeqCst) > BEFORE.load(Ordering::SeqCst)
}

fn is_refused(size: usize) -> bool {
    size >= AT_LEAST.load(Ordering::Relaxed)
        && SEEN.fetch_add(1, Ordering::SeqCst) == BEFORE.load(Ordering::Relaxed)
}

// SAFETY: every call is handed on to the allocator of the system as it is, or answered with null, which means that there is
// no memory.
unsafe impl GlobalAlloc for Refusing {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if is_refused(layout.size()) {
            return std::ptr::null_mut();
        }
        // SAFETY: the caller promises what the system's allocator asks for.
        unsafe { System.alloc(layout) }
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if is_refused(layout.size()) {
            return std::ptr::null_mut();
        }
        // SAFETY: the caller promises what the system's allocator asks for.
        unsafe { System.alloc_zeroed(layout) }
    }
    unsafe fn realloc(&self, old: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if is_refused(size) {
            return std::ptr::null_mut();
        }
        // SAFETY: the caller promises what the system's allocator asks for; `old` is from it.
        unsafe { System.realloc(old, layout, size) }
    }
    unsafe fn dealloc(&self, old: *mut u8, layout: Layout) {
        // SAFETY: `old` is from the system's allocator, with this layout.
        unsafe { System.dealloc(old, layout) }
    }
}
