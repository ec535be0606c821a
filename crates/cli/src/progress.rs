//! A bar on the terminal for work that takes long; silent everywhere else.

use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use b2nd::Exec;

use crate::output::{self, Talk};
use crate::report;

/// Work of a known length, in bytes.
#[derive(Debug, Clone)]
pub(crate) struct Progress(Option<Arc<Bar>>);

#[derive(Debug)]
struct Bar {
    verb: &'static str,
    total: u64,
    done: AtomicU64,
    started: Instant,
    drawn: Mutex<Option<Instant>>,
}

/// How often the bar is drawn anew.
const REST: Duration = Duration::from_millis(100);
const CELLS: u64 = 30;

impl Progress {
    /// A bar for `total` bytes, if standard error is a terminal.
    pub(crate) fn new(verb: &'static str, total: u64) -> Self {
        let bar = || {
            let started = Instant::now();
            // The first drawing waits for a while: short work shows no bar at all.
            Arc::new(Bar { verb, total, done: AtomicU64::new(0), started, drawn: Mutex::new(Some(started)) })
        };
        let shown = total > 0 && output::talks(Talk::Normal) && std::io::stderr().is_terminal();
        Progress(shown.then(bar))
    }

    /// `exec`, with every byte it does added to the bar.
    pub(crate) fn watch(&self, exec: Exec) -> Exec {
        match &self.0 {
            None => exec,
            Some(bar) => {
                let bar = Arc::clone(bar);
                exec.with_progress(move |bytes| bar.add(bytes))
            }
        }
    }

    /// Adds bytes to the bar.
    pub(crate) fn add(&self, bytes: u64) {
        if let Some(bar) = &self.0 {
            bar.add(bytes);
        }
    }
}

impl Bar {
    fn add(&self, bytes: u64) {
        let done = self.done.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
        // Whoever finds the bar being drawn goes on working.
        let Ok(mut drawn) = self.drawn.try_lock() else { return };
        let now = Instant::now();
        if drawn.is_some_and(|last| now.duration_since(last) < REST) {
            return;
        }
        *drawn = Some(now);
        let line = line(self.verb, done, self.total, now.duration_since(self.started));
        // A terminal that is gone costs the bar, not the work.
        let _ = write!(std::io::stderr(), "\r{line}\x1b[K");
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        let _ = write!(std::io::stderr(), "\r\x1b[K");
    }
}

fn line(verb: &str, done: u64, total: u64, time: Duration) -> String {
    let done = done.min(total);
    let part =
        |of: u64| u64::try_from(u128::from(done) * u128::from(of) / u128::from(total.max(1))).unwrap_or(of);
    let full = usize::try_from(part(CELLS)).unwrap_or(0);
    let rest = CELLS as usize - full.min(CELLS as usize);
    format!(
        "{verb} [{}{}] {:3} %  {}/{}  {}",
        "#".repeat(full),
        ".".repeat(rest),
        part(100),
        report::bytes(done),
        report::bytes(total),
        report::speed(done, time)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bar_fills_and_never_overflows() {
        let half = line("import", 50 << 20, 100 << 20, Duration::from_secs(1));
        assert!(half.contains(&format!("[{}{}]", "#".repeat(15), ".".repeat(15))), "{half}");
        assert!(half.contains(" 50 %") && half.contains("52 MB/s"), "{half}");
        assert!(line("import", u64::MAX, 10, Duration::ZERO).contains("100 %"));
    }
}
