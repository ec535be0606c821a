//! The table as Markdown and as JSON.

use super::cell::Cell;
use super::verdict::{geometric_mean, page};
use serde_json::{Value, json};
use std::fmt::Write;

/// A run: where, with what, and what came of it.
#[derive(Debug)]
pub(crate) struct Run {
    /// How much was measured.
    pub(crate) mode: &'static str,
    /// The machine.
    pub(crate) machine: String,
    /// Names and versions of what was measured.
    pub(crate) versions: Vec<(&'static str, String)>,
    /// The numbers.
    pub(crate) cells: Vec<Cell>,
    /// What could not be measured, and why.
    pub(crate) skipped: Vec<String>,
    /// Seconds.
    pub(crate) seconds: f64,
}

/// The run as a page: what was used, the targets, then one table for each group.
pub(crate) fn markdown(run: &Run) -> String {
    let versions: Vec<String> =
        run.versions.iter().map(|(name, version)| format!("{name} {version}")).collect();
    let mut out = format!(
        "# b2nd and C-Blosc2\n\n{}\n\n{}\n\n{} cells ({}) in {:.0} s. Ratios above 1: b2nd is better. Both sides use the same data, \
         threads, parameters and blocks; A/A is the rival against itself.\n",
        run.machine,
        versions.join(", "),
        run.cells.len(),
        run.mode,
        run.seconds
    );
    out += &page(&run.cells);
    if !run.skipped.is_empty() {
        out += "\n## Left out\n\n";
        run.skipped.iter().for_each(|why| out += &format!("- {why}\n"));
    }
    let mut groups: Vec<&str> = Vec::new();
    for cell in &run.cells {
        if !groups.contains(&cell.group) {
            groups.push(cell.group);
        }
    }
    for group in groups {
        out += &table(group, &run.cells);
    }
    out
}

/// The table of one group.
fn table(group: &str, cells: &[Cell]) -> String {
    let of_group: Vec<&Cell> = cells.iter().filter(|c| c.group == group).collect();
    let sized = of_group.iter().any(|c| c.size_ratio.is_some());
    let (head, line) = if sized { (" rival's size ÷ ours |", "---|") } else { ("", "") };
    let mut out = format!(
        "\n### {group}\n\n| | threads | unit | b2nd | rival | rival is | ratio |{head}\n|---|---|---|---|---|---|---|{line}\n"
    );
    for c in &of_group {
        let digits = if c.unit == "bytes" || c.ours.min(c.rival) >= 1000.0 { 0 } else { 2 };
        let _ = write!(
            out,
            "| {} | {} | {} | {:.digits$} | {:.digits$} | {} | {:.3} |",
            c.name, c.threads, c.unit, c.ours, c.rival, c.rival_name, c.ratio
        );
        if sized {
            out += &c.size_ratio.map_or(" |".into(), |ratio| format!(" {ratio:.3} |"));
        }
        out.push('\n');
    }
    let counted: Vec<&Cell> = of_group.into_iter().filter(|c| !c.is_noise()).collect();
    let slower = counted.iter().filter(|c| c.ratio < 1.0).count();
    if let Some(mean) = geometric_mean(counted.iter().copied()) {
        let _ = writeln!(out, "\n{} cells, geometric mean {mean:.3}, {slower} below 1", counted.len());
    }
    out
}

/// The run as JSON.
pub(crate) fn json(run: &Run) -> Value {
    let round = |v: f64| (v * 1e4).round() / 1e4;
    let cell = |c: &Cell| {
        let mut value = json!({
            "group": c.group, "name": c.name, "threads": c.threads, "unit": c.unit, "ours": round(c.ours),
            "rival": round(c.rival), "rival_name": c.rival_name, "ratio": round(c.ratio),
        });
        if let Some(ratio) = c.size_ratio {
            value["size_ratio"] = round(ratio).into();
        }
        value
    };
    let versions: serde_json::Map<String, Value> =
        run.versions.iter().map(|(name, version)| (name.to_string(), version.clone().into())).collect();
    json!({"machine": run.machine, "versions": versions, "cells": run.cells.iter().map(cell).collect::<Vec<_>>()})
}
