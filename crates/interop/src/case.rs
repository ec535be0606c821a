//! One array of the matrix as both sides describe it, one JSON object a line, with the table of what was covered.

use crate::Outcome;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

/// A part of the file of expected bytes.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Span {
    /// Where it starts.
    pub offset: usize,
    /// How long it is.
    pub nbytes: usize,
}

impl Span {
    /// The bytes of this span.
    pub fn of<'a>(&self, expected: &'a [u8]) -> Outcome<&'a [u8]> {
        let end = self.offset.checked_add(self.nbytes).ok_or("span out of range")?;
        Ok(expected.get(self.offset..end).ok_or("span out of range")?)
    }
}

/// A selection and what reading it gives.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Selected {
    /// In NumPy's notation.
    pub text: String,
    /// Shape of the result.
    pub shape: Vec<u64>,
    /// Where the items are.
    #[serde(flatten)]
    pub span: Span,
}

/// One array.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Case {
    /// Number in the run: with the seed it makes the case again.
    pub id: u64,
    /// File or directory.
    pub path: String,
    /// `file`, `sparse` or `cframe` (bytes of a frame in memory).
    pub form: String,
    /// Kind of dtype, for the table.
    pub kind: String,
    /// Name of the filters, for the table.
    pub filter: String,
    /// What the items are like.
    pub content: String,
    /// The dtype text as it is stored.
    pub dtype: String,
    /// Bytes of an item.
    pub typesize: u32,
    /// Shape.
    pub shape: Vec<u64>,
    /// Chunk shape.
    pub chunks: Vec<u64>,
    /// Block shape.
    pub blocks: Vec<u64>,
    /// Codec name.
    pub codec: String,
    /// Level.
    pub clevel: u8,
    /// Filter ids of the six slots.
    pub filters: [u8; 6],
    /// Meta bytes of the six slots.
    pub filters_meta: [u8; 6],
    /// Split mode as it is stored, 1 to 4.
    pub split: u8,
    /// User metalayers, contents in hex.
    pub meta: BTreeMap<String, String>,
    /// Vlmetalayers, contents in hex.
    pub vlmeta: BTreeMap<String, String>,
    /// The items.
    pub data: Span,
    /// Parts of the array and their items.
    pub selections: Vec<Selected>,
}

/// The cases of a folder with their expected bytes: one entry for each pair of files.
pub fn load(folder: &Path) -> Outcome<Vec<(Vec<Case>, Vec<u8>)>> {
    let mut files: Vec<_> = std::fs::read_dir(folder)?.collect::<Result<Vec<_>, _>>()?;
    files.sort_by_key(std::fs::DirEntry::file_name);
    let mut out = Vec::new();
    for file in files {
        let name = file.file_name().to_string_lossy().into_owned();
        let Some(number) = name.strip_prefix("cases-").and_then(|n| n.strip_suffix(".jsonl")) else {
            continue;
        };
        let text = std::fs::read_to_string(file.path())?;
        let cases = text.lines().map(serde_json::from_str).collect::<Result<Vec<Case>, _>>()?;
        out.push((cases, std::fs::read(folder.join(format!("expected-{number}.bin")))?));
    }
    Ok(out)
}

/// Lower-case hex.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut out, b| {
        // Writing to a `String` cannot fail.
        let _ = write!(out, "{b:02x}");
        out
    })
}

/// How often each codec met each filter on each kind of dtype.
#[derive(Debug, Default)]
pub struct Coverage {
    cells: BTreeMap<(String, String, String), usize>,
    forms: BTreeMap<String, usize>,
    dims: BTreeMap<usize, usize>,
    contents: BTreeMap<String, usize>,
    levels: BTreeMap<u8, usize>,
    total: usize,
}

impl Coverage {
    /// Fewest cases of every codec × filter × kind.
    pub const LEAST: usize = 20;

    /// Counts a case.
    pub fn add(&mut self, case: &Case) {
        *self.cells.entry((case.codec.clone(), case.filter.clone(), case.kind.clone())).or_default() += 1;
        *self.forms.entry(case.form.clone()).or_default() += 1;
        *self.dims.entry(case.shape.len()).or_default() += 1;
        *self.contents.entry(case.content.clone()).or_default() += 1;
        *self.levels.entry(case.clevel).or_default() += 1;
        self.total += 1;
    }
    /// The cases counted.
    pub fn total(&self) -> usize {
        self.total
    }
    /// What is covered too thinly.
    pub fn gaps(&self) -> Vec<String> {
        let mut gaps = Vec::new();
        for codec in crate::generate::CODECS {
            for (filter, kinds) in crate::generate::filters_and_kinds() {
                for kind in kinds {
                    let key = (codec.to_string(), filter.to_string(), kind.to_string());
                    let found = self.cells.get(&key).copied().unwrap_or(0);
                    if found < Self::LEAST {
                        gaps.push(format!("{codec} × {filter} × {kind}: {found} of {}", Self::LEAST));
                    }
                }
            }
        }
        for (what, found, wanted) in [
            ("forms", self.forms.len(), 3),
            ("numbers of dimensions", self.dims.len(), 7),
            ("contents", self.contents.len(), 6),
            ("levels", self.levels.len(), 10),
        ] {
            if found < wanted {
                gaps.push(format!("{what}: {found} of {wanted}"));
            }
        }
        gaps
    }
    /// A table of the cells (fewest over the kinds of dtype), and the other counts below it.
    pub fn table(&self) -> String {
        let mut out = String::from("| codec |");
        let filters: Vec<_> = crate::generate::filters_and_kinds().into_iter().map(|(f, _)| f).collect();
        for filter in &filters {
            out += &format!(" {filter} |");
        }
        out += &format!("\n|---|{}\n", "---|".repeat(filters.len()));
        for codec in crate::generate::CODECS {
            out += &format!("| {codec} |");
            for filter in &filters {
                let cell: Vec<_> = self
                    .cells
                    .iter()
                    .filter(|(k, _)| k.0 == codec && k.1 == *filter)
                    .map(|(_, n)| *n)
                    .collect();
                let (least, sum) = (cell.iter().min().copied().unwrap_or(0), cell.iter().sum::<usize>());
                out += &format!(" {sum} (≥ {least} × {}) |", cell.len());
            }
            out.push('\n');
        }
        out += &format!("forms {:?}, dimensions {:?}\n", self.forms, self.dims);
        out += &format!("contents {:?}, levels {:?}\n", self.contents, self.levels);
        out
    }
}
