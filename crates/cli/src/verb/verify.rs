//! `b2nd verify`: everything decoded, and what is damaged said.

use std::fmt::Write;

use b2nd::Error;
use b2nd::Verified;
use b2nd::schunk::SChunk;

use crate::args::{Verify, Work};
use crate::failure::{Outcome, Result};
use crate::open::{self, Opened};
use crate::progress::Progress;
use crate::{output, report};

/// Lines of damage that are printed: more tell nobody more.
const MOST_LINES: usize = 1000;

pub(super) fn run(args: &Verify) -> Result<Outcome> {
    let exec = Work::default().exec();
    let mut opened =
        open::any(&args.file, args.place, exec.clone()).map_err(|failure| match failure.outcome() {
            Outcome::Damaged => failure.with_hint(
                "nothing can be read without this part: `b2nd repair FILE NEW.b2nd` saves what can be saved",
            ),
            _ => failure,
        })?;
    let progress = Progress::new("verify", opened.schunk().nbytes());
    let exec = progress.watch(exec);
    let mut damage = attributes(opened.schunk());
    let mut unreadable = damage.is_empty();
    let verified = match &mut opened {
        Opened::Array(array) => {
            array.set_exec(exec);
            let mut verified = array.verify()?;
            for place in verified.damage.drain(..) {
                unreadable &= matches!(place.error, Error::Unsupported { .. });
                let block = place.block.map(|n| format!(", block {n}")).unwrap_or_default();
                let lost = place.start.iter().zip(&place.stop).all(|(start, stop)| start < stop);
                let items = if lost {
                    format!("items {}", report::region(&place.start, &place.stop))
                } else {
                    "padding, no items".into()
                };
                damage.push(format!("chunk {}{block}: {items}: {}", place.chunk, place.error));
            }
            verified
        }
        Opened::Frame(schunk) => {
            schunk.set_exec(exec);
            let mut verified = schunk.verify()?;
            for place in verified.damage.drain(..) {
                unreadable &= matches!(place.error, Error::Unsupported { .. });
                damage.push(format!("chunk {}: {}", place.chunk, place.error));
            }
            verified
        }
    };
    drop(progress);
    let schunk = opened.schunk();
    let nbytes = match &opened {
        Opened::Array(array) => array.nbytes(),
        Opened::Frame(schunk) => schunk.nbytes(),
    };
    let what = match &opened {
        Opened::Array(array) => format!("{} {}, ", report::lengths(array.shape()), array.dtype()),
        Opened::Frame(_) => String::new(),
    };
    let name = args.file.display();
    let attributes = report::count(schunk.vlmetalayer_names().count() as u64, "attribute");
    let chunks = report::count(schunk.nchunks(), "chunk");
    let counts = format!("{what}{chunks}, {}, {attributes}", report::count(nbytes, "byte"));
    let mut text = String::new();
    for line in damage.iter().take(MOST_LINES) {
        let _ = writeln!(text, "{line}");
    }
    for n in verified.stale.iter().take(MOST_LINES) {
        let _ = writeln!(
            text,
            "chunk {n}: stale: another program wrote to the file, and it does not match its old checksum"
        );
    }
    if damage.len() > MOST_LINES {
        let _ = writeln!(text, "… and {} more", damage.len() - MOST_LINES);
    }
    if damage.is_empty() {
        let _ = writeln!(text, "{name}: OK: {counts}, {}", checksums(schunk, &verified));
    } else if unreadable {
        let _ = writeln!(text, "{name}: NOT CHECKED, it uses what this program cannot read: {counts}");
    } else {
        let _ =
            writeln!(text, "{name}: DAMAGED in {}: {counts}", report::count(damage.len() as u64, "place"));
    }
    output::print(&text)?;
    Ok(if damage.is_empty() { Outcome::Good } else { Outcome::Damaged })
}

fn attributes(schunk: &SChunk) -> Vec<String> {
    let broken =
        |name: &str| schunk.vlmetalayer(name).err().map(|error| format!("attribute {name:?}: {error}"));
    schunk.vlmetalayer_names().filter_map(broken).collect()
}

/// What checksums say of the chunks.
fn checksums(schunk: &SChunk, verified: &Verified) -> String {
    let chunks = |n: u64| report::count(n, "chunk");
    let stale = verified.stale.len() as u64;
    let said = [(stale, "stale"), (verified.unchecked, "without checksums")];
    let said: Vec<String> =
        said.into_iter().filter(|(n, _)| *n > 0).map(|(n, how)| format!("{} {how}", chunks(n))).collect();
    match (schunk.has_checksums(), said.is_empty()) {
        (false, _) => "no checksums".into(),
        (true, true) => "checksums match".into(),
        (true, false) => format!("checksums match, but for {}", said.join(" and ")),
    }
}
