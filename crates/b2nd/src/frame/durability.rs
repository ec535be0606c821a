//! How far a commit waits for the medium.

/// How far a commit is on the medium when it returns, which decides what a power cut or a system crash may lose.
///
/// None of them changes the order in which a commit writes, so a process that is killed loses nothing that was committed and
/// breaks nothing, whichever is set. The default is the safest.
///
/// ```
/// use b2nd::{Durability, OpenOptions, Options};
/// let scratch = Options::new().with_durability(Durability::None);
/// let log = OpenOptions::new().with_write(true).with_durability(Durability::Ordered);
/// assert_eq!(Durability::default(), Durability::Full);
/// # let _ = (scratch, log);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Durability {
    /// Waits for nothing, as C-Blosc2. After a power cut a file that was being written may be broken.
    None,
    /// Waits for the data before it writes what refers to it. After a power cut the file has the state of one of its
    /// commits, perhaps not the last one.
    Ordered,
    /// Waits for that too: a commit that has returned is there after a power cut. Costs a second wait for each commit.
    #[default]
    Full,
}

impl Durability {
    /// Whether data is on the medium before what refers to it.
    pub(crate) fn orders(self) -> bool {
        self >= Durability::Ordered
    }
    /// Whether a commit is on the medium when it returns.
    pub(crate) fn keeps(self) -> bool {
        self >= Durability::Full
    }
}
