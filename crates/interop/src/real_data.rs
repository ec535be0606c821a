//! The real arrays: stored with every codec by b2nd and by python-blosc2 with the same parameters, read by both, compared.

use crate::Outcome;
use crate::case::hex;
use crate::check::expect;
use crate::generate::CODECS;
use crate::python::{Python, Server, workspace};
use b2nd::{Array, Codec, Dtype, Exec, Options, Params, Selection};
use serde_json::json;
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};

/// An array as an `.npy` file holds it.
#[derive(Debug)]
pub struct Npy {
    /// dtype text.
    pub dtype: String,
    /// Shape.
    pub shape: Vec<u64>,
    /// Items, C order.
    pub items: Vec<u8>,
}

/// Reads an `.npy` file of format 1, C order.
pub fn read_npy(path: &Path) -> Outcome<Npy> {
    let bytes = std::fs::read(path)?;
    let (head, rest) = bytes.split_at_checked(10).ok_or("short file")?;
    if head.get(..8) != Some(b"\x93NUMPY\x01\x00") {
        return Err("not an .npy file of format 1".into());
    }
    let len = usize::from(u16::from_le_bytes([head[8], head[9]]));
    let (header, items) = rest.split_at_checked(len).ok_or("short header")?;
    let header = std::str::from_utf8(header)?;
    if !header.contains("'fortran_order': False") {
        return Err("Fortran order".into());
    }
    let after = |key: &str| header.split_once(key).map(|(_, rest)| rest).ok_or("a key is missing");
    let dtype = after("'descr': '")?.split('\'').next().ok_or("dtype")?.to_string();
    let shape = after("'shape': (")?.split(')').next().ok_or("shape")?;
    let shape = shape
        .split(',')
        .map(str::trim)
        .filter(|s| !s.is_empty())
        .map(str::parse)
        .collect::<Result<_, _>>()?;
    Ok(Npy { dtype, shape, items: items.to_vec() })
}

/// The folder of files of other makers: `B2ND_SHARED`, or `shared` next to the checkout; says so where there is none.
pub fn shared() -> Option<PathBuf> {
    let asked = std::env::var_os("B2ND_SHARED").map(PathBuf::from);
    let beside = workspace().join("../shared");
    let found = asked.into_iter().chain([beside]).find(|p| p.is_dir());
    if found.is_none() {
        eprintln!("SKIPPED: no folder of shared files (B2ND_SHARED)");
    }
    found
}

/// One line of the table.
#[derive(Debug)]
pub struct Line {
    /// The file.
    pub name: String,
    /// The array.
    pub shape: Vec<u64>,
    /// Its dtype.
    pub dtype: String,
    /// Bytes of the items.
    pub nbytes: u64,
    /// Codec.
    pub codec: &'static str,
    /// Compressed bytes as b2nd stores it.
    pub ours: u64,
    /// Compressed bytes as python-blosc2 stores it.
    pub theirs: u64,
}

/// The level of the comparison.
pub const CLEVEL: u8 = 5;

/// The real arrays, by name.
pub fn arrays(root: &Path) -> Outcome<Vec<PathBuf>> {
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(root.join("data"))?.map(|e| Ok(e?.path())).collect::<Outcome<Vec<_>>>()?;
    files.retain(|p| p.extension().is_some_and(|e| e == "npy"));
    files.sort();
    Ok(files)
}

fn compare(file: &Path, npy: &Npy, codec: &'static str, folder: &Path, server: &mut Server) -> Outcome<Line> {
    let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let (path, rival) = (folder.join("ours.b2nd"), folder.join("theirs.b2nd"));
    let dtype = Dtype::parse(&npy.dtype)?;
    let params = Params::new(u32::try_from(dtype.itemsize())?)
        .with_codec(Codec::from_name(codec).ok_or("codec")?)
        .with_clevel(CLEVEL);
    let options = Options::new().with_params(params).with_overwrite(true).with_exec(Exec::new(2));
    let mut writer = options.create_uncommitted(&path, dtype, &npy.shape)?;
    writer.write_bytes(Selection::all(), &npy.items)?;
    drop(writer.commit()?);
    let array = Array::open(&path)?;
    expect("b2nd's export", &(array.read_bytes(Selection::all())? == npy.items), &true)?;
    let digest = json!(hex(&Sha256::digest(&npy.items)));
    let read = server.ask(&json!({"op": "digest", "path": path}))?;
    expect("python-blosc2's reading of b2nd's file", &read["sha256"], &digest)?;
    let stored = server.ask(&json!({
        "op": "rewrite", "npy": file, "path": rival, "codec": codec, "clevel": CLEVEL,
        "chunks": array.chunks(), "blocks": array.blocks(),
    }))?;
    expect("python-blosc2's reading of its file", &stored["sha256"], &digest)?;
    let theirs = Array::open(&rival)?;
    expect(
        "b2nd's reading of python-blosc2's file",
        &(theirs.read_bytes(Selection::all())? == npy.items),
        &true,
    )?;
    Ok(Line {
        name,
        shape: npy.shape.clone(),
        dtype: npy.dtype.clone(),
        nbytes: npy.items.len() as u64,
        codec,
        ours: array.cbytes(),
        theirs: stored["cbytes"].as_u64().ok_or("cbytes")?,
    })
}

/// Every real array with every codec.
pub fn lines(root: &Path, python: &Python) -> Outcome<Vec<Line>> {
    let folder = tempfile::tempdir()?;
    let mut server = python.serve()?;
    let mut lines = Vec::new();
    for file in arrays(root)? {
        let npy = read_npy(&file)?;
        for codec in CODECS {
            let line = compare(&file, &npy, codec, folder.path(), &mut server);
            lines.push(line.map_err(|e| format!("{} with {codec}: {e}", file.display()))?);
        }
    }
    Ok(lines)
}

/// The lines as a page in Markdown.
pub fn page(lines: &[Line], python: &Python) -> String {
    let mut out = format!(
        "# Real arrays\n\nSizes in bytes after compression at level {CLEVEL} with shuffle, in the same chunks and blocks, by b2nd and by \
         python-blosc2. Each file was read by both, and the items were identical.\n\n\
         Made by `cargo run --release -p b2nd-interop > docs/REAL-DATA.md` with {}.\n\n\
         | array | shape | dtype | items | codec | b2nd | python-blosc2 | b2nd ÷ python-blosc2 |\n|---|---|---|---|---|---|---|---|\n",
        python.versions
    );
    for line in lines {
        out += &format!(
            "| {} | {} | `{}` | {} | {} | {} | {} | {:.3} |\n",
            line.name,
            line.shape.iter().map(ToString::to_string).collect::<Vec<_>>().join(" × "),
            line.dtype.replace('|', "\\|"),
            line.nbytes,
            line.codec,
            line.ours,
            line.theirs,
            line.ours as f64 / line.theirs as f64
        );
    }
    out
}
