//! Somebody else has what is asked for.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Who has a frame open for writing, as the owner file beside it says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    pub(crate) process: u32,
    pub(crate) host: String,
    pub(crate) program: String,
    pub(crate) since: String,
}

impl Holder {
    /// The number of the process.
    pub fn process(&self) -> u32 {
        self.process
    }
    /// The name of its machine; empty where the system gives none.
    pub fn host(&self) -> &str {
        &self.host
    }
    /// The name of its program.
    pub fn program(&self) -> &str {
        &self.program
    }
    /// Since when it has the frame, as in `2026-11-21T20:40:12Z`.
    pub fn since(&self) -> &str {
        &self.since
    }
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let own = if self.process == std::process::id() { "this process, " } else { "process " };
        write!(f, "{own}{}", self.process)?;
        for (before, text) in [(" (", &self.program), (" on ", &self.host), (", since ", &self.since)] {
            if !text.is_empty() {
                write!(f, "{before}{text}{}", if before == " (" { ")" } else { "" })?;
            }
        }
        Ok(())
    }
}

/// A frame that another handle or process has locked. Nothing was read or written: try again when it is done.
///
/// ```
/// use b2nd::{s, Array, Dtype, Error, OpenOptions, Options};
/// # let path = std::env::temp_dir().join(format!("b2nd-doc-locked-{}", std::process::id()));
/// let first = Options::new().create(&path, Dtype::parse("<i4")?, [9])?;
/// let error = Array::open_with(&path, &OpenOptions::new().with_write(true)).unwrap_err();
/// let Error::Locked(locked) = error else { panic!("{error}") };
/// assert_eq!(locked.holder().unwrap().process(), std::process::id());
/// drop(first);
/// Array::open_with(&path, &OpenOptions::new().with_write(true))?;
/// # std::fs::remove_file(&path).unwrap();
/// # Ok::<(), Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockedError {
    path: PathBuf,
    lock: PathBuf,
    held: LockKeeper,
}

/// By whom.
#[derive(Debug, Clone, PartialEq, Eq)]
enum LockKeeper {
    /// A writer of b2nd. `stuck`: only its own end of the lock, or a person, can say that it is gone.
    Owner { holder: Option<Holder>, stuck: bool },
    /// Somebody who keeps C-Blosc2's lock for longer than this.
    Peers(Duration),
}

impl LockedError {
    pub(crate) fn owner(path: &Path, lock: &Path, holder: Option<Holder>, stuck: bool) -> Self {
        LockedError { path: path.into(), lock: lock.into(), held: LockKeeper::Owner { holder, stuck } }
    }
    pub(crate) fn by_peers(path: &Path, lock: &Path, waited: Duration) -> Self {
        LockedError { path: path.into(), lock: lock.into(), held: LockKeeper::Peers(waited) }
    }
    /// The frame.
    pub fn path(&self) -> &Path {
        &self.path
    }
    /// The lock file.
    pub fn lock(&self) -> &Path {
        &self.lock
    }
    /// Who holds it, where that is known.
    pub fn holder(&self) -> Option<&Holder> {
        match &self.held {
            LockKeeper::Owner { holder, .. } => holder.as_ref(),
            LockKeeper::Peers(_) => None,
        }
    }
}

impl fmt::Display for LockedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.path.display())?;
        match &self.held {
            LockKeeper::Owner { holder, stuck } => {
                write!(f, "open for writing elsewhere")?;
                if let Some(holder) = holder {
                    write!(f, ", by {holder}")?;
                }
                write!(f, "; reading goes on, writing has to wait for it")?;
                if *stuck {
                    write!(f, " (where that process is gone, remove {})", self.lock.display())?;
                }
                Ok(())
            }
            LockKeeper::Peers(waited) => {
                write!(f, "another program has held {} for more than {waited:?}", self.lock.display())?;
                write!(f, "; try again when it has let go of it")
            }
        }
    }
}

impl std::error::Error for LockedError {}
