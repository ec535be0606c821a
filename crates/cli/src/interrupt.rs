//! Ctrl-C, SIGTERM and SIGHUP: work stops at its next block, half-made files go, and the exit code says so.
//!
//! Signals reach the whole process, so this switch is the one thing of the command that is not passed by value.

use std::io::{self, Read};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

use b2nd::Cancel;

/// What shells expect of a program that a signal has stopped: this and the number of the signal.
const SIGNALLED: u8 = 128;
/// The number of the signal that Ctrl-C sends.
const INTERRUPT: u8 = 2;
/// How long a read that gets nothing goes on before it looks at the switch.
const PATIENCE: Duration = Duration::from_millis(50);
/// As much as a pipe gives at a time.
const BLOCK: usize = 1 << 16;

static SWITCH: OnceLock<Cancel> = OnceLock::new();
/// The first signal that came.
static SIGNAL: AtomicU8 = AtomicU8::new(INTERRUPT);

/// The exit code of a command that was told to stop.
pub(crate) fn exit_code() -> u8 {
    SIGNALLED.saturating_add(SIGNAL.load(Ordering::Relaxed))
}

/// The switch that Ctrl-C and the other signals throw.
pub(crate) fn switch() -> Cancel {
    SWITCH.get_or_init(Cancel::new).clone()
}

/// Whether the user wants us to stop.
pub(crate) fn is_wanted() -> bool {
    SWITCH.get().is_some_and(Cancel::is_cancelled)
}

/// Listens to signals from now on: the first stops the work in good order, the second at once.
///
/// A signal that is ignored already stays ignored: Ctrl-C in a job in the background of a script, SIGHUP under `nohup`.
pub(crate) fn listen() {
    switch();
    let _ = ctrlc::try_set_handler(|| stop(INTERRUPT));
    #[cfg(unix)]
    terminations::listen();
}

/// What a signal does.
fn stop(signal: u8) {
    let switch = switch();
    if switch.is_cancelled() {
        #[expect(clippy::exit, reason = "the user does not want to wait for the end of the work")]
        std::process::exit(i32::from(exit_code()));
    }
    SIGNAL.store(signal, Ordering::Relaxed);
    switch.cancel();
}

#[cfg(unix)]
mod terminations {
    use signal_hook::consts::{SIGHUP, SIGTERM, SIGXFSZ};
    use signal_hook::iterator::Signals;
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;
    use std::thread;

    /// Listens to the signals that end a process and are not ignored.
    pub(super) fn listen() {
        let ignored = ignored();
        let wanted = [SIGTERM, SIGHUP].into_iter().filter(|signal| match ignored {
            Some(mask) => mask >> (signal - 1) & 1 == 0,
            // Where it is not known what is ignored, `nohup` has to go on working.
            None => *signal != SIGHUP,
        });
        if let Ok(mut signals) = Signals::new(wanted) {
            let wait = move || {
                for signal in signals.forever() {
                    super::stop(u8::try_from(signal).unwrap_or(super::INTERRUPT));
                }
            };
            let _ = thread::Builder::new().name("signals".into()).spawn(wait);
        }
        // A file that passes the limit of its size is then an error of the write, which cleans up.
        let _ = signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)));
    }

    /// The signals that are ignored, a bit for each; `None` where the system does not say.
    fn ignored() -> Option<u64> {
        let status = std::fs::read_to_string("/proc/self/status").ok()?;
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"))?;
        u64::from_str_radix(mask.trim(), 16).ok()
    }
}

/// A stream whose reading Ctrl-C ends, even while it waits for bytes that do not come.
pub(crate) struct Stream {
    blocks: Receiver<io::Result<Vec<u8>>>,
    block: Vec<u8>,
    at: usize,
}

impl Stream {
    /// Reads `from` on a thread of its own, a few blocks ahead.
    pub(crate) fn new(mut from: impl Read + Send + 'static) -> io::Result<Self> {
        let (sender, blocks) = sync_channel(2);
        thread::Builder::new().name("input".into()).spawn(move || {
            loop {
                let mut block = vec![0; BLOCK];
                let read = match from.read(&mut block) {
                    Ok(0) => return,
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                    read => read,
                };
                let failed = read.is_err();
                let sent = sender.send(read.map(|len| {
                    block.truncate(len);
                    block
                }));
                if failed || sent.is_err() {
                    return;
                }
            }
        })?;
        Ok(Stream { blocks, block: Vec::new(), at: 0 })
    }
}

impl Read for Stream {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while self.at == self.block.len() {
            if is_wanted() {
                return Err(io::Error::other("interrupted"));
            }
            match self.blocks.recv_timeout(PATIENCE) {
                Ok(block) => (self.block, self.at) = (block?, 0),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(0),
            }
        }
        let len = self.block.get(self.at..).unwrap_or_default().read(into)?;
        self.at += len;
        Ok(len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_gives_the_bytes_it_is_made_from() {
        let bytes: Vec<u8> = (0..3 * BLOCK + 17).map(|n| (n % 251) as u8).collect();
        let mut got = Vec::new();
        Stream::new(io::Cursor::new(bytes.clone())).unwrap().read_to_end(&mut got).unwrap();
        assert!(got == bytes);
    }

    #[test]
    fn a_stream_passes_errors_on() {
        struct Broken;
        impl Read for Broken {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::ErrorKind::ConnectionReset.into())
            }
        }
        let error = Stream::new(Broken).unwrap().read(&mut [0; 8]).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::ConnectionReset);
    }
}
