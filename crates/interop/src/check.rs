//! Reads an array that python-blosc2 wrote, with b2nd, and compares everything that its case says.

use crate::Outcome;
use crate::case::{Case, hex};
use crate::write::split_number;
use b2nd::{Array, Dtype, Exec, Layout, OpenOptions, Selection};
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::path::Path;

/// An error that names what differs.
pub fn expect<T: PartialEq + Debug>(what: &str, found: &T, wanted: &T) -> Outcome {
    if found == wanted {
        return Ok(());
    }
    let short = |v: &T| format!("{v:?}").chars().take(160).collect::<String>();
    Err(format!("{what}: found {}, expected {}", short(found), short(wanted)).into())
}

/// Opens the array of a case.
pub fn open(case: &Case, folder: &Path, threads: usize) -> Outcome<Array> {
    let path = folder.join(&case.path);
    let options = OpenOptions::new().with_exec(Exec::new(threads));
    Ok(match case.form.as_str() {
        "cframe" => Array::from_bytes(std::fs::read(path)?, &options)?,
        _ => Array::open_with(path, &options)?,
    })
}

/// The metalayers of users and the vlmetalayers, contents in hex.
pub fn layers(array: &Array) -> Outcome<(BTreeMap<String, String>, BTreeMap<String, String>)> {
    let schunk = array.schunk();
    let meta = schunk
        .metalayers()
        .filter(|(name, _)| *name != "b2nd")
        .map(|(n, c)| (n.to_string(), hex(c)))
        .collect();
    let mut vlmeta = BTreeMap::new();
    for name in schunk.vlmetalayer_names()? {
        vlmeta.insert(
            name.to_string(),
            hex(&schunk.vlmetalayer(name)?.ok_or("a vlmetalayer without content")?),
        );
    }
    Ok((meta, vlmeta))
}

/// Compares everything.
pub fn check(case: &Case, folder: &Path, expected: &[u8]) -> Outcome {
    let array = open(case, folder, 1 + case.id as usize % 2)?;
    expect("shape", &array.shape(), &case.shape.as_slice())?;
    expect("chunks", &array.chunks(), &case.chunks.as_slice())?;
    expect("blocks", &array.blocks(), &case.blocks.as_slice())?;
    expect("revision", &array.revision().name(), &"b2nd-7")?;
    expect("stored dtype", &array.stored_dtype(), &Some(case.dtype.as_str()))?;
    expect("dtype", array.dtype(), &Dtype::parse(&case.dtype)?)?;
    expect("size of an item", &(array.dtype().itemsize() as u64), &u64::from(case.typesize))?;
    expect("layout", &(array.schunk().layout() == Layout::Sparse), &(case.form == "sparse"))?;
    let params = array.schunk().params();
    expect("codec", &params.codec().name().into_owned(), &case.codec)?;
    expect("level", &params.clevel(), &case.clevel)?;
    expect("filters", &params.pipeline().ids(), &case.filters)?;
    expect("meta bytes of filters", &params.pipeline().meta(), &case.filters_meta)?;
    expect("split mode", &split_number(params.split()), &case.split)?;
    expect("metalayers", &layers(&array)?, &(case.meta.clone(), case.vlmeta.clone()))?;
    if array.read_bytes(Selection::all())? != case.data.of(expected)? {
        return Err("items differ".into());
    }
    for part in &case.selections {
        let selection = Selection::parse(&part.text)?;
        expect(
            &format!("shape of [{}]", part.text),
            &array.selection_shape(selection.clone())?,
            &part.shape,
        )?;
        if array.read_bytes(selection)? != part.span.of(expected)? {
            return Err(format!("items of [{}] differ", part.text).into());
        }
    }
    let damage = array.verify()?.damage;
    expect("damaged places", &damage.len(), &0)
}
