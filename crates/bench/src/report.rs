//! The table of what was measured, for people and for programs.

use crate::measure::Pair;
use serde_json::{Value, json};

/// One measured number of both sides.
#[derive(Debug, Clone)]
pub(crate) struct Cell {
    /// Group of the table.
    pub(crate) group: &'static str,
    /// What was measured.
    pub(crate) name: String,
    /// Threads.
    pub(crate) threads: usize,
    /// Unit of both numbers.
    pub(crate) unit: &'static str,
    /// b2nd's number.
    pub(crate) ours: f64,
    /// The rival's.
    pub(crate) rival: f64,
    /// Who the rival is.
    pub(crate) rival_name: String,
    /// Above 1, b2nd is better: the median of the rounds' ratios of times, or the quotient of sizes.
    pub(crate) ratio: f64,
}

impl Cell {
    /// A cell of speed for a pair of times in which `nbytes` were worked on.
    pub(crate) fn speed(
        group: &'static str,
        name: String,
        threads: usize,
        nbytes: usize,
        pair: Pair,
        rival: &str,
    ) -> Self {
        let rate = |seconds: f64| nbytes as f64 / seconds / 1e6;
        let (ours, rival_rate) = (rate(pair.ours), rate(pair.rival));
        let rival_name = rival.to_string();
        Cell { group, name, threads, unit: "MB/s", ours, rival: rival_rate, rival_name, ratio: pair.ratio }
    }
    /// A cell of size in bytes.
    pub(crate) fn size(name: String, ours: usize, rival: usize, rival_name: &str) -> Self {
        Cell { group: "size", ..Cell::memory(name, 1, ours, rival, rival_name) }
    }
    /// A cell of memory in bytes.
    pub(crate) fn memory(name: String, threads: usize, ours: usize, rival: usize, rival_name: &str) -> Self {
        let (ours, rival) = (ours as f64, rival as f64);
        let rival_name = rival_name.to_string();
        Cell { group: "memory", name, threads, unit: "bytes", ours, rival, rival_name, ratio: rival / ours }
    }
}

/// The cells as tables in Markdown, one a group, with the geometric mean of each.
pub(crate) fn markdown(cells: &[Cell]) -> String {
    let mut out = String::new();
    let mut groups: Vec<&str> = Vec::new();
    for cell in cells {
        if !groups.contains(&cell.group) {
            groups.push(cell.group);
        }
    }
    for group in groups {
        let of_group: Vec<&Cell> = cells.iter().filter(|c| c.group == group).collect();
        out += &format!(
            "\n### {group}\n\n| | threads | unit | b2nd | rival | ratio |\n|---|---|---|---|---|---|\n"
        );
        for c in &of_group {
            let digits = if c.unit == "bytes" { 0 } else { 1 };
            out += &format!(
                "| {} | {} | {} | {:.digits$} | {:.digits$} | {:.2} |\n",
                c.name, c.threads, c.unit, c.ours, c.rival, c.ratio
            );
        }
        let mean = of_group.iter().map(|c| c.ratio.ln()).sum::<f64>() / of_group.len() as f64;
        let slower = of_group.iter().filter(|c| c.ratio < 1.0).count();
        out += &format!("\n{} cells, geometric mean {:.3}, {slower} below 1\n", of_group.len(), mean.exp());
    }
    out
}

/// The cells as JSON, with the machine and the versions.
pub(crate) fn json(cells: &[Cell], machine: &str, versions: &Value) -> Value {
    let round = |v: f64| (v * 1e4).round() / 1e4;
    let cells: Vec<Value> = cells
        .iter()
        .map(|c| {
            json!({
                "group": c.group, "name": c.name, "threads": c.threads, "unit": c.unit, "ours": round(c.ours),
                "rival": round(c.rival), "rival_name": c.rival_name, "ratio": round(c.ratio),
            })
        })
        .collect();
    json!({"machine": machine, "versions": versions, "cells": cells})
}
