//! `b2nd repair`: what can be read of a damaged file, written as a new one, and what is lost said.

use std::path::Path;

use b2nd::chunk::Special;
use b2nd::error::Part;
use b2nd::{Layout, RepairOptions, Repaired, repair, repair_in_place};
use serde_json::{Value as Json, json};

use crate::args::{LostFill, Repair};
use crate::failure::{Outcome, Result};
use crate::output::Talk;
use crate::progress::Progress;
use crate::shown::Shown as _;
use crate::{leftover, open, output, report};

/// Lost places that JSON lists; `lost_places` counts all.
const MOST_PLACES: usize = 1000;

pub(super) fn run(args: &Repair) -> Result<Outcome> {
    let about = |error: b2nd::Error| {
        let failure = open::refused(&args.input, error);
        match failure.outcome() {
            Outcome::Damaged => {
                failure.with_hint("nothing was written: too little of the file is left to repair")
            }
            _ => failure,
        }
    };
    output::check_named(&args.input)?;
    let size = std::fs::metadata(&args.input).map_or(0, |metadata| metadata.len());
    let progress = Progress::new("repair", size);
    let mut options = RepairOptions::new()
        .with_exec(progress.watch(args.threads.exec()))
        .with_overwrite(args.force)
        .with_offset(args.offset)
        .with_renewed_checksums(args.renew_checksums);
    if args.sparse {
        options = options.with_layout(Layout::Sparse);
    }
    options = match args.fill {
        None => options,
        Some(LostFill::Zeros) => options.with_fill(Special::Zeros),
        Some(LostFill::Nan) => options.with_fill(Special::Nan),
        Some(LostFill::Uninit) => options.with_fill(Special::Uninit),
    };
    let (found, name) = match &args.output {
        Some(output) => {
            output::check_named(output)?;
            output::check_apart(&args.input, output)?;
            output::check_free(output, args.force)?;
            (repair(&args.input, output, &options).map_err(about)?, output)
        }
        None => {
            leftover::remove(&args.input);
            (repair_in_place(&args.input, &options).map_err(about)?, &args.input)
        }
    };
    drop(progress);
    if args.json {
        output::print(&format!("{:#}\n", to_json(&args.input, name, &found)))?;
    } else if !found.is_whole() || output::talks(Talk::Normal) {
        output::print(&format!("{found}{}: {}\n", name.shown(), summary(&found)))?;
    }
    Ok(if found.is_whole() { Outcome::Good } else { Outcome::Damaged })
}

fn to_json(input: &Path, output: &Path, found: &Repaired) -> Json {
    let parts = |entries: &[(Part, String)]| -> Vec<Json> {
        entries.iter().map(|(part, what)| json!({ "part": part.name(), "what": what })).collect()
    };
    let guesses = found.guesses.iter();
    let guesses: Vec<Json> =
        guesses.map(|guess| json!({ "part": guess.part.name(), "what": guess.what })).collect();
    json!({
        "input": input.shown(),
        "output": output.shown(),
        "whole": found.is_whole(),
        "was_sound": found.was_sound(),
        "nchunks": found.chunks,
        "matching_chunks": found.matching,
        "restored": parts(&found.restored),
        "guesses": guesses,
        "lost_places": found.lost_places,
        "lost": report::damage(&found.lost, MOST_PLACES),
        "lost_metalayers": parts(&found.lost_metalayers),
        "stale_chunks": found.stale_chunks,
        "left_out": found.left_out,
        "original": found.original.as_ref().map(|path| path.shown()),
    })
}

fn summary(found: &Repaired) -> String {
    let chunks = report::count(found.chunks, "chunk");
    if found.was_sound() {
        return format!("nothing was wrong: {chunks}");
    }
    if found.is_whole() {
        return format!("WHOLE AGAIN: {chunks}, nothing is lost");
    }
    let mut said = Vec::new();
    for (n, thing) in [(found.lost_places, "place"), (found.lost_metalayers.len() as u64, "metalayer")] {
        if n > 0 {
            said.push(format!("{} lost", report::count(n, thing)));
        }
    }
    if !found.guesses.is_empty() {
        said.push(format!(
            "{}: look whether it is right",
            report::count(found.guesses.len() as u64, "guess")
        ));
    }
    format!("REPAIRED: {chunks}; {}", said.join(", "))
}
