//! One of the two sides of a comparison: an array, or a `.npy` file.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use b2nd::{Array, Dtype, Exec, Selection};

use crate::args::Place;
use crate::failure::Result;
use crate::input::Input;
use crate::tiling::Region;
use crate::{open, output};

/// An array or a `.npy` file, and the items that were read last.
pub(crate) struct Side {
    source: SideSource,
    items: Vec<u8>,
}

enum SideSource {
    Array(Box<Array>),
    Npy(Box<Input>),
}

impl Side {
    /// Opens an array, or a file that begins as `.npy` files do.
    pub(crate) fn open(path: &Path, place: Place, exec: Exec) -> Result<Self> {
        output::check_named(path)?;
        let source = if is_npy(path) {
            SideSource::Npy(Box::new(Input::open(path, None)?))
        } else {
            SideSource::Array(Box::new(open::array(path, place, None, exec)?))
        };
        Ok(Side { source, items: Vec::new() })
    }

    pub(crate) fn dtype(&self) -> &Dtype {
        match &self.source {
            SideSource::Array(array) => array.dtype(),
            SideSource::Npy(input) => &input.kind().dtype,
        }
    }

    pub(crate) fn shape(&self) -> &[u64] {
        match &self.source {
            SideSource::Array(array) => array.shape(),
            SideSource::Npy(input) => &input.kind().shape,
        }
    }

    /// The number of items.
    pub(crate) fn items(&self) -> u64 {
        self.shape().iter().fold(1, |n, &len| n.saturating_mul(len))
    }

    /// The bytes of all items.
    pub(crate) fn nbytes(&self) -> u64 {
        self.items().saturating_mul(self.dtype().itemsize() as u64)
    }

    /// The shape of the chunks, where there are any.
    pub(crate) fn chunks(&self) -> Option<&[u64]> {
        match &self.source {
            SideSource::Array(array) => Some(array.chunks()),
            SideSource::Npy(_) => None,
        }
    }

    /// Reads a box, in C order.
    pub(crate) fn read(&mut self, region: &Region, budget: u64) -> Result<&[u8]> {
        match &mut self.source {
            SideSource::Array(array) => {
                let part = Selection::from_box(&region.start, &region.stop);
                crate::input::resize(&mut self.items, region.items(), array.dtype().itemsize())?;
                array.read_bytes_into(part, &mut self.items)?;
            }
            SideSource::Npy(input) => {
                let stored = if input.kind().fortran { region.reversed() } else { region.clone() };
                input.read(&stored, &mut self.items, budget)?;
            }
        }
        Ok(&self.items)
    }
}

fn is_npy(path: &Path) -> bool {
    let mut head = [0; 6];
    path.is_file()
        && File::open(path).and_then(|mut file| file.read_exact(&mut head)).is_ok()
        && head == *b"\x93NUMPY"
}

/// Metalayers and attributes that differ between two arrays: said, but not counted as a difference.
pub(super) fn notes(a: &Side, b: &Side) -> Result<Vec<String>> {
    let (SideSource::Array(a), SideSource::Array(b)) = (&a.source, &b.source) else { return Ok(Vec::new()) };
    let fixed = |array: &Array| -> Vec<(String, Vec<u8>)> {
        let own = |name: &str| name == "b2nd" || name == "caterva";
        array
            .schunk()
            .metalayers()
            .filter(|(n, _)| !own(n))
            .map(|(n, c)| (n.to_owned(), c.to_vec()))
            .collect()
    };
    let mut notes = Vec::new();
    note("metalayer", &fixed(a), &fixed(b), &mut notes);
    let variable = |array: &Array| -> Result<Vec<(String, Vec<u8>)>> {
        let names: Vec<String> = array.schunk().vlmetalayer_names()?.map(str::to_owned).collect();
        let content = |name: String| Ok(array.schunk().vlmetalayer(&name)?.map(|content| (name, content)));
        names.into_iter().filter_map(|name| content(name).transpose()).collect()
    };
    note("attribute", &variable(a)?, &variable(b)?, &mut notes);
    Ok(notes)
}

fn note(what: &str, a: &[(String, Vec<u8>)], b: &[(String, Vec<u8>)], notes: &mut Vec<String>) {
    for (name, content) in a {
        match b.iter().find(|(other, _)| other == name) {
            None => notes.push(format!("{what} {name:?} is only in the first")),
            Some((_, other)) if other != content => notes.push(format!("{what} {name:?} differs")),
            Some(_) => {}
        }
    }
    for (name, _) in b.iter().filter(|(name, _)| !a.iter().any(|(other, _)| other == name)) {
        notes.push(format!("{what} {name:?} is only in the second"));
    }
}
