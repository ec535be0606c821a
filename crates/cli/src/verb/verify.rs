//! `b2nd verify`: everything decoded, and what is damaged said.

use std::fmt::Write;
use std::path::Path;

use b2nd::{Damage, Error, Exec, SChunk, Verified};
use serde_json::{Value as Json, json};

use crate::args::{Place, Verify};
use crate::failure::{Failure, Outcome, Result};
use crate::open::{self, Opened};
use crate::output::Talk;
use crate::progress::Progress;
use crate::shown::Shown as _;
use crate::{leftover, output, report};

/// Lines of damage that are printed: more tell nobody more.
const MOST_LINES: usize = 1000;

pub(super) fn run(args: &Verify) -> Result<Outcome> {
    super::each_file(&args.files, |file| {
        let result = one(args, file);
        if let (true, Err(failure @ Failure::Shown { message, .. })) = (args.json, &result) {
            let code = failure.outcome().code();
            let failed = json!({ "file": file.shown(), "ok": false, "error": message, "exit_code": code });
            output::print(&format!("{failed}\n"))?;
        }
        result
    })
}

/// What was found in a file.
struct VerifiedFile {
    opened: Opened,
    verified: Verified,
    /// Damaged attributes, with what is wrong.
    attributes: Vec<(String, Error)>,
}

/// Verifies one file and prints what was found.
fn one(args: &Verify, file: &Path) -> Result<Outcome> {
    let exec = args.threads.exec();
    let mut opened =
        described(file, args.place, exec.clone()).map_err(|failure| match failure.outcome() {
            Outcome::Damaged => failure.with_hint(
                "nothing can be read without this part: `b2nd repair FILE NEW.b2nd` saves what is left",
            ),
            _ => failure,
        })?;
    let progress = Progress::new("verify", opened.schunk().nbytes());
    let exec = progress.watch(exec);
    let attributes = opened.schunk().damaged_vlmetalayers()?;
    let verified = match &mut opened {
        Opened::Array(array) => {
            array.set_exec(exec);
            array.verify()?
        }
        Opened::Frame(schunk) => {
            schunk.set_exec(exec);
            schunk.verify()?
        }
    };
    drop(progress);
    let found = VerifiedFile { opened, verified, attributes };
    if args.json {
        output::print(&format!("{}\n", found.to_json(file)?))?;
    } else if !found.is_sound() || output::talks(Talk::Normal) {
        output::print(&found.to_text(file)?)?;
    }
    Ok(if found.is_sound() { Outcome::Good } else { Outcome::Damaged })
}

impl VerifiedFile {
    fn is_sound(&self) -> bool {
        self.attributes.is_empty() && self.verified.is_sound()
    }

    /// The number of damaged places.
    fn damaged(&self) -> u64 {
        (self.attributes.len() as u64).saturating_add(self.verified.damaged)
    }

    /// Whether nothing is known to be damaged, but something cannot be read by this program.
    fn is_unreadable(&self) -> bool {
        let unsupported = |place: &Damage| matches!(place.error, Error::Unsupported { .. });
        self.attributes.is_empty() && self.verified.damage.iter().all(unsupported)
    }

    fn nbytes(&self) -> u64 {
        match &self.opened {
            Opened::Array(array) => array.nbytes(),
            Opened::Frame(schunk) => schunk.nbytes(),
        }
    }

    /// A line for each damaged place and each stale chunk, and one about the whole file.
    fn to_text(&self, file: &Path) -> Result<String> {
        let (schunk, verified) = (self.opened.schunk(), &self.verified);
        let is_array = matches!(self.opened, Opened::Array(_));
        let mut text = String::new();
        let attributes = self.attributes.iter().map(|(name, error)| format!("attribute {name:?}: {error}"));
        let places =
            verified.damage.iter().map(|place| if is_array { of_array(place) } else { of_frame(place) });
        for line in attributes.chain(places).take(MOST_LINES) {
            let _ = writeln!(text, "{line}");
        }
        for n in verified.stale.iter().take(MOST_LINES) {
            let _ = writeln!(
                text,
                "chunk {n}: stale: another program wrote to the file, and it does not match its old checksum"
            );
        }
        // A line can stand for many chunks.
        let shown = verified.damage.iter().take(MOST_LINES.saturating_sub(self.attributes.len()));
        let shown: u64 = shown.map(|place| place.count).sum();
        let stale = verified.stale.len().min(MOST_LINES) as u64;
        let more = [
            (verified.damaged.saturating_sub(shown), "damaged place"),
            (verified.stale_chunks.saturating_sub(stale), "stale chunk"),
        ];
        for (count, thing) in more.into_iter().filter(|(count, _)| *count > 0) {
            let _ = writeln!(text, "… and {} more", report::count(count, thing));
        }
        let what = match &self.opened {
            Opened::Array(array) => format!("{} {}, ", report::lengths(array.shape()), array.dtype()),
            Opened::Frame(schunk) => schunk
                .stored_object()
                .map(|object| format!("{object} of python-blosc2, without data of its own; "))
                .unwrap_or_default(),
        };
        let attributes = report::count(schunk.vlmetalayer_names()?.count() as u64, "attribute");
        let chunks = report::count(schunk.nchunks(), "chunk");
        let counts = format!("{what}{chunks}, {}, {attributes}", report::count(self.nbytes(), "byte"));
        let name = file.shown();
        let _ = if self.is_sound() {
            writeln!(text, "{name}: OK: {counts}, {}", checksums(schunk, verified))
        } else if self.is_unreadable() {
            writeln!(text, "{name}: NOT CHECKED, it uses what this program cannot read: {counts}")
        } else {
            writeln!(text, "{name}: DAMAGED in {}: {counts}", report::count(self.damaged(), "place"))
        };
        text.push_str(&leftover::lines(file));
        Ok(text)
    }

    /// The same as an object, with as many places.
    fn to_json(&self, file: &Path) -> Result<Json> {
        let (schunk, verified) = (self.opened.schunk(), &self.verified);
        let array = match &self.opened {
            Opened::Array(array) => Some(array),
            Opened::Frame(_) => None,
        };
        let attributes = self.attributes.iter();
        let attributes: Vec<Json> =
            attributes.map(|(name, error)| json!({ "name": name, "error": error.to_string() })).collect();
        Ok(json!({
            "file": file.shown(),
            "ok": self.is_sound(),
            "readable": !verified.damage.iter().any(|place| matches!(place.error, Error::Unsupported { .. })),
            "shape": array.map(|array| array.shape()),
            "dtype": array.map(|array| array.dtype().to_text()),
            "nchunks": schunk.nchunks(),
            "nbytes": self.nbytes(),
            "attributes": schunk.vlmetalayer_names()?.count(),
            "checksums": schunk.has_checksums()?,
            "rewritten": report::rewritten_key(schunk),
            "matching_chunks": verified.matching,
            "unchecked_chunks": verified.unchecked,
            "stale_chunks": verified.stale_chunks,
            "stale": verified.stale.iter().take(MOST_LINES).collect::<Vec<_>>(),
            "damaged": self.damaged(),
            "damage": report::damage(&verified.damage, MOST_LINES),
            "damaged_attributes": attributes,
        }))
    }
}

/// Opens the file, with its index, trailer and checksums.
fn described(file: &Path, place: Place, exec: Exec) -> Result<Opened> {
    let opened = open::described(file, place, exec)?;
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
