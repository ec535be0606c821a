//! One measured number of both sides.

use crate::measure::Pair;

/// How the names of cells begin that time the rival against itself.
pub(crate) const NOISE: &str = "A/A ";

/// Who the rival is, mostly.
pub(crate) const C_BLOSC2: &str = "C-Blosc2";

/// What the numbers of a cell count.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Unit {
    /// Bytes that are worked on in a step: MB/s.
    Bytes(usize),
    /// Steps per second, by their name.
    Steps(&'static str),
    /// Time: milliseconds for a step.
    Time,
}

impl Unit {
    fn name(self) -> &'static str {
        match self {
            Unit::Bytes(_) => "MB/s",
            Unit::Steps(name) => name,
            Unit::Time => "ms",
        }
    }
    fn number(self, seconds: f64) -> f64 {
        match self {
            Unit::Bytes(bytes) => bytes as f64 / seconds / 1e6,
            Unit::Steps(_) => 1.0 / seconds,
            Unit::Time => seconds * 1e3,
        }
    }
}

/// What a cell is called, and what its numbers count.
#[derive(Debug, Clone)]
pub(crate) struct Label {
    /// Group of the table.
    pub(crate) group: &'static str,
    /// What is measured.
    pub(crate) name: String,
    /// Threads.
    pub(crate) threads: usize,
    /// What is counted.
    pub(crate) unit: Unit,
    /// Who the rival is.
    pub(crate) rival: &'static str,
}

impl Label {
    /// A label for a rival that is C-Blosc2.
    pub(crate) fn new(group: &'static str, name: impl Into<String>, threads: usize, unit: Unit) -> Self {
        Label { group, name: name.into(), threads, unit, rival: C_BLOSC2 }
    }
    /// Names another rival.
    pub(crate) fn against(self, rival: &'static str) -> Self {
        Label { rival, ..self }
    }
    /// The label of the rival against itself.
    pub(crate) fn noise(&self) -> Self {
        Label { name: format!("{NOISE}{}", self.name), ..self.clone() }
    }
    /// The cell of a pair of times.
    pub(crate) fn timed(self, pair: Pair) -> Cell {
        Cell {
            group: self.group,
            threads: self.threads,
            unit: self.unit.name(),
            ours: self.unit.number(pair.ours),
            rival: self.unit.number(pair.rival),
            rival_name: self.rival.to_string(),
            ratio: pair.ratio,
            size_ratio: None,
            name: self.name,
        }
    }
    /// The cell of two numbers of bytes, of which fewer are better.
    pub(crate) fn bytes(self, ours: usize, rival: usize) -> Cell {
        let (ours, rival) = (ours as f64, rival as f64);
        let none = Pair { ours, rival, ratio: rival / ours };
        Cell { unit: "bytes", ours, rival, ..self.timed(none) }
    }
}

/// A cell of the table.
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
    /// For compression, the rival's size ÷ ours: below 0.99 ours is larger, and its speed does not count.
    pub(crate) size_ratio: Option<f64>,
}

impl Cell {
    /// Whether the rival was timed against itself.
    pub(crate) fn is_noise(&self) -> bool {
        self.name.starts_with(NOISE)
    }
    /// Whether ours takes over 1 % more room.
    pub(crate) fn is_larger(&self) -> bool {
        self.size_ratio.is_some_and(|ratio| ratio < 0.99)
    }
}
