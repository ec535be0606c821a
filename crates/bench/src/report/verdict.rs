//! Whether the targets are reached.

use super::cell::Cell;
use super::targets::{TARGETS, Target};
use std::fmt::Write;

/// However noisy a run is, a lower ratio fails.
const LEAST: f64 = 0.97;

/// The geometric mean of the ratios; `None` of no cells.
pub(crate) fn geometric_mean<'c>(cells: impl Iterator<Item = &'c Cell>) -> Option<f64> {
    let logarithms: Vec<f64> = cells.map(|cell| cell.ratio.ln()).collect();
    let sum: f64 = logarithms.iter().sum();
    (!logarithms.is_empty()).then(|| (sum / logarithms.len() as f64).exp())
}

/// How far from 1 the ratios of the rival to itself come.
pub(crate) fn spread(cells: &[Cell]) -> f64 {
    cells.iter().filter(|c| c.is_noise()).map(|c| (c.ratio - 1.0).abs()).fold(0.0, f64::max)
}

/// A row of the table of targets, held against the cells.
#[derive(Debug)]
pub(crate) struct Verdict<'c> {
    /// What the row is called.
    pub(crate) title: String,
    /// Its cells, without those of noise.
    pub(crate) cells: Vec<&'c Cell>,
    /// The least ratio.
    pub(crate) least: f64,
    /// The geometric mean of the ratios.
    pub(crate) mean: f64,
    /// What is to be reached.
    pub(crate) target: Option<&'static Target>,
    /// Cells below what is to be reached, each with that, and whether the noise explains it.
    pub(crate) failing: Vec<(&'c Cell, f64, bool)>,
}

impl Verdict<'_> {
    /// Whether everything is reached.
    pub(crate) fn passes(&self) -> bool {
        let mean = self.target.and_then(|t| t.mean);
        self.failing.is_empty() && mean.is_none_or(|mean| self.mean >= mean)
    }
}

/// The verdicts on all groups that have cells: first those with a target.
pub(crate) fn verdicts(cells: &[Cell]) -> Vec<Verdict<'_>> {
    let noise = (1.0 - spread(cells)).max(LEAST);
    let counted = |groups: &[&str]| -> Vec<&Cell> {
        cells.iter().filter(|c| groups.contains(&c.group) && !c.is_noise()).collect()
    };
    let mut rows: Vec<(String, Vec<&Cell>, Option<&'static Target>)> =
        TARGETS.iter().map(|t| (t.title.to_string(), counted(t.groups), Some(t))).collect();
    for cell in cells {
        let known = |(title, of, _): &(String, Vec<&Cell>, Option<&Target>)| {
            title == cell.group || of.iter().any(|c| c.group == cell.group)
        };
        if !rows.iter().any(known) {
            rows.push((cell.group.to_string(), counted(&[cell.group]), None));
        }
    }
    let judge = |(title, cells, target): (String, Vec<_>, Option<&'static Target>)| {
        let mean = geometric_mean(cells.iter().copied())?;
        let least = cells.iter().map(|c: &&Cell| c.ratio).fold(f64::INFINITY, f64::min);
        let failing = cells.iter().filter_map(|cell| judged(cell, target, noise)).collect();
        Some(Verdict { title, cells, least, mean, target, failing })
    };
    rows.into_iter().filter_map(judge).collect()
}

/// A cell that fails, with what it should have reached, and whether noise explains it. Without a target of its own
/// (numbers of b2nd alone, or other durability than the rival's) a cell cannot fail.
fn judged<'c>(cell: &'c Cell, target: Option<&'static Target>, noise: f64) -> Option<(&'c Cell, f64, bool)> {
    let floor = target?.floor_of(&cell.name);
    // Next to a memory copy only what the table names is judged.
    let threshold = match floor {
        Some(floor) if floor < noise => floor,
        Some(floor) => floor.max(noise),
        None if target?.groups.contains(&crate::groups::name::COPY) => return None,
        None => noise,
    };
    let within = floor.is_none_or(|floor| floor <= 1.0) && cell.ratio >= noise && !cell.is_larger();
    (cell.ratio < threshold || cell.is_larger()).then_some((cell, threshold, within))
}

/// The verdicts as a table in Markdown, with the cells that fail.
pub(crate) fn page(cells: &[Cell]) -> String {
    let verdicts = verdicts(cells);
    let noise = cells.iter().filter(|c| c.is_noise()).count();
    let mut out = format!(
        "\n## Targets\n\nSpread of {noise} A/A cells: {:.1} %.\n\n\
         | | cells | least | floor | geometric mean | target | |\n|---|---|---|---|---|---|---|\n",
        spread(cells) * 100.0
    );
    let number = |n: Option<f64>| n.map(|n| format!("{n}")).unwrap_or_default();
    for v in &verdicts {
        let floors = v.target.map(|t| match t.floor {
            None if !t.special.is_empty() => {
                t.special.iter().map(|(_, _, n)| n.to_string()).collect::<Vec<_>>().join(", ")
            }
            floor => number(floor),
        });
        let word = match (v.target, v.passes()) {
            (None, _) => "no target",
            (_, true) => "PASS",
            _ => "FAIL",
        };
        let (floors, mean) = (floors.unwrap_or_default(), number(v.target.and_then(|t| t.mean)));
        let (title, n, least) = (&v.title, v.cells.len(), v.least);
        let _ = writeln!(out, "| {title} | {n} | {least:.2} | {floors} | {:.3} | {mean} | {word} |", v.mean);
    }
    out += "\n## Cells that fail\n\n| group | cell | threads | ratio | at least | |\n|---|---|---|---|---|---|\n";
    let mut failing: Vec<_> = verdicts.iter().flat_map(|v| &v.failing).collect();
    failing.sort_by(|a, b| a.0.group.cmp(b.0.group).then(a.0.ratio.total_cmp(&b.0.ratio)));
    for (cell, threshold, within) in failing {
        let why = match cell.size_ratio {
            Some(ratio) if cell.is_larger() => format!("larger: rival's size ÷ ours {ratio:.3}"),
            _ if *within => "within the noise".into(),
            _ => String::new(),
        };
        let (group, name, threads, ratio) = (cell.group, &cell.name, cell.threads, cell.ratio);
        let _ = writeln!(out, "| {group} | {name} | {threads} | {ratio:.2} | {threshold:.2} | {why} |");
    }
    out
}
