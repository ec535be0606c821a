//! The proof that a worker has written a chunk.

use crate::error::{Error, Result};
use std::fmt;
use std::str::FromStr;

/// The proof that a worker has written a chunk: short, and made to be sent to whoever commits, as text if need be.
///
/// ```
/// use b2nd::array::FillReceipt;
/// let text = "b2nd-part 00112233445566778899aabbccddeeff 7 1234 0123456789abcdef0123456789abcdef";
/// let receipt: FillReceipt = text.parse()?;
/// assert_eq!(receipt.chunk(), 7);
/// assert_eq!(receipt.to_string(), text);
/// assert!("b2nd-part 00 7".parse::<FillReceipt>().is_err());
/// # Ok::<(), b2nd::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct FillReceipt {
    /// The job of the part.
    pub(super) job: u128,
    pub(super) chunk: u64,
    /// Compressed bytes.
    pub(super) cbytes: u64,
    /// XXH3 of the compressed bytes.
    pub(super) digest: u128,
}

const MARK: &str = "b2nd-part";

impl FillReceipt {
    pub(super) fn new(job: u128, chunk: u64, bytes: &[u8]) -> Self {
        FillReceipt { job, chunk, cbytes: bytes.len() as u64, digest: digest(bytes) }
    }

    /// The number of the chunk.
    pub fn chunk(&self) -> u64 {
        self.chunk
    }

    /// Whether it is for these bytes.
    pub(super) fn fits(&self, bytes: &[u8]) -> bool {
        self.cbytes == bytes.len() as u64 && self.digest == digest(bytes)
    }

    /// The name of the part: that of its content, so that a part is never replaced by another.
    pub(super) fn name(&self) -> String {
        format!("{:08x}-{:032x}.part", self.chunk, self.digest)
    }
}

fn digest(bytes: &[u8]) -> u128 {
    twox_hash::XxHash3_128::oneshot(bytes)
}

impl fmt::Display for FillReceipt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{MARK} {:032x} {} {} {:032x}", self.job, self.chunk, self.cbytes, self.digest)
    }
}

impl FromStr for FillReceipt {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let parse = || {
            let mut words = text.split_ascii_whitespace();
            let (MARK, job) = (words.next()?, hex(words.next()?)?) else { return None };
            let (chunk, cbytes) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
            let digest = hex(words.next()?)?;
            words.next().is_none().then_some(FillReceipt { job, chunk, cbytes, digest })
        };
        parse().ok_or_else(|| Error::syntax(text, format!("'{text}' is no receipt of a chunk")))
    }
}

/// A number of 32 hexadecimal digits.
pub(super) fn hex(digits: &str) -> Option<u128> {
    let all = digits.len() == 32 && digits.bytes().all(|b| b.is_ascii_hexdigit());
    all.then(|| u128::from_str_radix(digits, 16).ok())?
}
