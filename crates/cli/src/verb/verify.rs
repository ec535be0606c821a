//! `b2nd verify`: everything decoded, and what is damaged said.

use std::fmt::Write;

use b2nd::schunk::SChunk;
use b2nd::{Damage, Error, Exec, Verified};

use crate::args::{Verify, Work};
use crate::failure::{Outcome, Result};
use crate::open::{self, Opened};
use crate::progress::Progress;
use crate::{leftover, output, report};

/// Lines of damage that are printed: more tell nobody more.
const MOST_LINES: usize = 1000;

pub(super) fn run(args: &Verify) -> Result<Outcome> {
    let exec = Work::default().exec();
    let mut opened = described(args, exec.clone()).map_err(|failure| match failure.outcome() {
        Outcome::Damaged => failure.with_hint(
            "nothing can be read without this part: `b2nd repair FILE NEW.b2nd` saves what can be saved",
        ),
        _ => failure,
    })?;
    let progress = Progress::new("verify", opened.schunk().nbytes());
    let exec = progress.watch(exec);
    let mut damage = attributes(opened.schunk())?;
    let attributes_damaged = damage.len() as u64;
    let verified = match &mut opened {
        Opened::Array(array) => {
            array.set_exec(exec);
            let verified = array.verify()?;
            damage.extend(verified.damage.iter().map(of_array));
            verified
        }
        Opened::Frame(schunk) => {
            schunk.set_exec(exec);
            let verified = schunk.verify()?;
            damage.extend(verified.damage.iter().map(of_frame));
            verified
        }
    };
    drop(progress);
    let unsupported = |place: &Damage| matches!(place.error, Error::Unsupported { .. });
    let unreadable = attributes_damaged == 0 && verified.damage.iter().all(unsupported);
    let schunk = opened.schunk();
    let nbytes = match &opened {
        Opened::Array(array) => array.nbytes(),
        Opened::Frame(schunk) => schunk.nbytes(),
    };
    let what = match &opened {
        Opened::Array(array) => format!("{} {}, ", report::lengths(array.shape()), array.dtype()),
        Opened::Frame(schunk) => schunk
            .stored_object()
            .map(|object| format!("{object} of python-blosc2, without data of its own; "))
            .unwrap_or_default(),
    };
    let name = args.file.display();
    let attributes = report::count(schunk.vlmetalayer_names()?.count() as u64, "attribute");
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
    // A line can stand for many chunks.
    let shown = verified.damage.iter().take(MOST_LINES.saturating_sub(attributes_damaged as usize));
    let shown: u64 = shown.map(|place| place.count).sum();
    let damaged = attributes_damaged.saturating_add(verified.damaged);
    let more = [
        (verified.damaged.saturating_sub(shown), "damaged place"),
        (verified.stale_chunks.saturating_sub(verified.stale.len().min(MOST_LINES) as u64), "stale chunk"),
    ];
    for (count, thing) in more.into_iter().filter(|(count, _)| *count > 0) {
        let _ = writeln!(text, "… and {} more", report::count(count, thing));
    }
    if damage.is_empty() {
        let _ = writeln!(text, "{name}: OK: {counts}, {}", checksums(schunk, &verified));
    } else if unreadable {
        let _ = writeln!(text, "{name}: NOT CHECKED, it uses what this program cannot read: {counts}");
    } else {
        let _ = writeln!(text, "{name}: DAMAGED in {}: {counts}", report::count(damaged, "place"));
    }
    text.push_str(&leftover::lines(&args.file));
    output::print(&text)?;
    Ok(if damage.is_empty() { Outcome::Good } else { Outcome::Damaged })
}

/// Opens the file, with its index, trailer and checksums.
fn described(args: &Verify, exec: Exec) -> Result<Opened> {
    let opened = open::described(&args.file, args.place, exec)?;
    opened.schunk().has_checksums()?;
    Ok(opened)
}

/// A line about damage of an array.
fn of_array(place: &Damage) -> String {
    let lost = place.start.iter().zip(&place.stop).all(|(start, stop)| start < stop);
    let region = || report::region(&place.start, &place.stop);
    let items = match (lost, place.count) {
        (false, _) => "padding, no items".into(),
        (true, 1) => format!("items {}", region()),
        (true, _) => format!("in items {}", region()),
    };
    format!("{}: {items}: {}", place.place(), place.error)
}

/// A line about damage of a frame without an array.
fn of_frame(place: &Damage) -> String {
    format!("{}: {}", place.place(), place.error)
}

fn attributes(schunk: &SChunk) -> Result<Vec<String>> {
    let damaged = schunk.damaged_vlmetalayers()?.into_iter();
    Ok(damaged.map(|(name, error)| format!("attribute {name:?}: {error}")).collect())
}

/// What checksums say of the chunks.
fn checksums(schunk: &SChunk, verified: &Verified) -> String {
    let chunks = |n: u64| report::count(n, "chunk");
    let said = [(verified.stale_chunks, "stale"), (verified.unchecked, "without checksums")];
    let said: Vec<String> =
        said.into_iter().filter(|(n, _)| *n > 0).map(|(n, how)| format!("{} {how}", chunks(n))).collect();
    let text = match (schunk.has_checksums().unwrap_or(false), said.is_empty()) {
        (false, _) => "no checksums".into(),
        (true, true) => "checksums match".into(),
        (true, false) => format!("checksums match, but for {}", said.join(" and ")),
    };
    match report::rewritten(schunk) {
        Some(what) => format!("{text}; {what}"),
        None => text,
    }
}
