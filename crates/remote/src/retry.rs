//! Which failures are tried again, and after what pause.

use crate::error::Cause;
use crate::options::RemoteOptions;
use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

/// The pause before the first retry is at most this long; each further one at most twice as long.
const FIRST: Duration = Duration::from_millis(100);
/// No pause is longer, unless the server asks for it.
const LONGEST: Duration = Duration::from_secs(10);

/// How often a request was tried.
#[derive(Debug)]
pub(crate) struct Tries {
    count: u32,
    retries: u32,
    longest_pause: Duration,
}

impl Tries {
    pub(crate) fn new(options: &RemoteOptions) -> Self {
        Tries { count: 0, retries: options.retries, longest_pause: options.longest_pause }
    }
    /// How often it was tried so far.
    pub(crate) fn count(&self) -> u32 {
        self.count
    }
    /// A try failed: the pause before the next one, or none when there is none. `asked` is the pause that the server asks for.
    pub(crate) fn failed(&mut self, cause: &Cause, asked: Option<Duration>) -> Option<Duration> {
        self.count = self.count.saturating_add(1);
        if !cause.may_pass() || self.count > self.retries {
            return None;
        }
        let most = FIRST.saturating_mul(1 << (self.count - 1).min(16)).min(LONGEST);
        let random = most.mul_f64(fraction());
        match asked {
            Some(asked) if asked > self.longest_pause => None,
            Some(asked) => Some(asked.saturating_add(random)),
            None => Some(random),
        }
    }
}

/// A random number from 0 to 1.
fn fraction() -> f64 {
    // Each of these has random keys.
    let bits = RandomState::new().hash_one(0u8);
    f64::from(u32::try_from(bits >> 32).unwrap_or(u32::MAX)) / f64::from(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_and_end() {
        let busy = Cause::Busy(503);
        let mut tries = Tries::new(&RemoteOptions::new().with_retries(10));
        for n in 0..10u32 {
            let pause = tries.failed(&busy, None).unwrap();
            assert!(pause <= LONGEST.min(FIRST * (1 << n)), "{pause:?} before try {n}");
        }
        assert_eq!(tries.failed(&busy, None), None);
        assert_eq!(tries.count(), 11);
        assert_eq!(Tries::new(&RemoteOptions::new()).failed(&Cause::NotFound, None), None);
        // Not all are equally long.
        let first = || Tries::new(&RemoteOptions::new()).failed(&busy, None).unwrap();
        assert!((0..20).map(|_| first()).collect::<std::collections::HashSet<_>>().len() > 10);
    }

    #[test]
    fn a_server_is_given_the_pause_that_it_asks_for_within_bounds() {
        let options = RemoteOptions::new().with_longest_pause(Duration::from_secs(5));
        let pause = |asked| Tries::new(&options).failed(&Cause::Busy(429), Some(Duration::from_secs(asked)));
        assert!(pause(4).unwrap() >= Duration::from_secs(4));
        assert_eq!(pause(6), None);
    }
}
