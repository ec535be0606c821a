//! Makes the cases that b2nd writes and python-blosc2 checks: every codec with every filter on every kind of dtype.

use crate::case::Case;
use crate::case::Span;
use crate::items;
use b2nd_testkit::rng::Rng;
use b2nd_testkit::slicing::Part;
use std::collections::BTreeMap;

/// The codecs, by name.
pub const CODECS: [&str; 5] = ["blosclz", "lz4", "lz4hc", "zlib", "zstd"];
const FILTERS: [&str; 6] = ["none", "shuffle", "bitshuffle", "delta", "delta+shuffle", "combined"];
const DIMS: [u64; 20] = [1, 1, 2, 3, 4, 5, 7, 8, 11, 13, 16, 17, 23, 31, 37, 64, 97, 128, 251, 509];

/// Dtype texts with the size of an item, by kind.
const KINDS: [(&str, &[(&str, usize)]); 8] = [
    ("bool", &[("|b1", 1)]),
    ("int", &[("|i1", 1), ("<i2", 2), (">i2", 2), ("<i4", 4), (">i4", 4), ("<i8", 8), (">i8", 8)]),
    ("uint", &[("|u1", 1), ("<u2", 2), (">u2", 2), ("<u4", 4), (">u4", 4), ("<u8", 8), (">u8", 8)]),
    ("float", &[("<f2", 2), (">f2", 2), ("<f4", 4), (">f4", 4), ("<f8", 8), (">f8", 8)]),
    ("complex", &[("<c8", 8), (">c8", 8), ("<c16", 16), (">c16", 16)]),
    ("text", &[("|S1", 1), ("|S3", 3), ("|S17", 17), ("<U1", 4), (">U4", 16), ("<U70", 280), ("|S300", 300)]),
    ("time", &[("<M8[ns]", 8), (">M8[D]", 8), ("<m8[us]", 8), (">m8[25s]", 8), ("<M8", 8), ("<m8", 8)]),
    (
        "struct",
        &[
            ("[('a', '<i4'), ('b', '<f8')]", 12),
            ("[('x', '>u2'), ('y', '|S5'), ('z', '<c8')]", 15),
            ("[('pos', '<f4', (3,)), ('id', '<u8')]", 20),
            ("[('head', [('t', '<M8[s]'), ('k', '|b1')]), ('grid', '<i2', (2, 3))]", 21),
            ("[('u', '<U2'), ('n', [('m', [('deep', '>f4')])])]", 12),
            ("[('wide', '<f8', (5, 7)), ('tag', '|u1')]", 281),
        ],
    ),
];

/// Every filter with the kinds of dtype that it is combined with.
pub fn filters_and_kinds() -> Vec<(&'static str, Vec<&'static str>)> {
    let all: Vec<&str> = KINDS.iter().map(|(kind, _)| *kind).collect();
    FILTERS.iter().map(|f| (*f, all.clone())).chain([("trunc_prec", vec!["float"])]).collect()
}

/// The cases in one round: each codec × filter × kind once.
pub fn round() -> u64 {
    let cells: usize = filters_and_kinds().iter().map(|(_, kinds)| kinds.len()).sum();
    (CODECS.len() * cells) as u64
}

/// How the array is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Route {
    /// Filled in one go before it is committed.
    Whole,
    /// Made first, then written box by box.
    Boxes,
    /// Nothing but the fill.
    Filled,
}

/// A case with its items, before it is written: chunks and blocks are empty where they are to be automatic.
#[derive(Debug)]
pub struct Made {
    /// The case.
    pub case: Case,
    /// The items to write.
    pub data: Vec<u8>,
    /// How.
    pub route: Route,
    /// Whether chunks and blocks are left to the library.
    pub automatic: bool,
    /// Threads to work on.
    pub threads: usize,
    /// The selections of the case.
    pub parts: Vec<Vec<Part>>,
}

/// Case `index` of the run with this seed.
pub fn make(seed: u64, index: u64) -> Made {
    let mut rng = Rng::for_part(seed, index);
    let (codec, filter, kind) = combination(index % round());
    let dtypes = KINDS.iter().find(|(name, _)| *name == kind).map_or(&[][..], |(_, list)| *list);
    let dtypes = if filter == "trunc_prec" { &dtypes[2..] } else { dtypes };
    let (dtype, itemsize) = match filter {
        "trunc_prec" => *rng.pick(&[("<f4", 4), ("<f8", 8)]),
        _ => *rng.pick(dtypes),
    };
    let (filters, filters_meta) = pipeline(&mut rng, filter);
    let shape = shape(&mut rng, itemsize);
    let automatic = rng.chance(25) || shape.contains(&0);
    let (chunks, blocks) = if automatic { (vec![], vec![]) } else { partition(&mut rng, &shape) };
    let content = *rng.pick(&items::CONTENTS);
    let nbytes = shape.iter().product::<u64>() as usize * itemsize;
    let data = items::make(&mut rng, dtype, itemsize, nbytes, content);
    let uniform = matches!(content, "zeros" | "constant") && nbytes > 0;
    let route = match rng.below(10) {
        0..5 => Route::Whole,
        _ if uniform && rng.chance(50) => Route::Filled,
        _ => Route::Boxes,
    };
    let parts = (0..3).map(|_| selection(&mut rng, &shape)).collect();
    let form = *rng.pick(&["file", "sparse", "cframe"]);
    let case = Case {
        id: index,
        path: format!("{index:06}.b2nd"),
        form: form.into(),
        kind: kind.into(),
        filter: filter.into(),
        content: content.into(),
        dtype: dtype.into(),
        typesize: itemsize as u32,
        shape,
        chunks,
        blocks,
        codec: codec.into(),
        clevel: (index / round() % 10) as u8,
        filters,
        filters_meta,
        split: 1 + rng.below(4) as u8,
        meta: layers(&mut rng, "user"),
        vlmeta: layers(&mut rng, "vl-"),
        data: Span { offset: 0, nbytes },
        selections: vec![],
    };
    Made { case, data, route, automatic, threads: 1 + rng.below(2) as usize, parts }
}

fn combination(at: u64) -> (&'static str, &'static str, &'static str) {
    let cells: Vec<_> = filters_and_kinds()
        .into_iter()
        .flat_map(|(f, kinds)| kinds.into_iter().map(move |k| (f, k)))
        .collect();
    let (filter, kind) = cells[at as usize % cells.len()];
    (CODECS[at as usize / cells.len()], filter, kind)
}

/// Filter ids and meta bytes. Delta comes first with one filter after it at most: the reference cannot decode more.
fn pipeline(rng: &mut Rng, name: &str) -> ([u8; 6], [u8; 6]) {
    let (mut ids, mut meta) = ([0; 6], [0; 6]);
    let last: &[u8] = match name {
        "shuffle" => &[1],
        "bitshuffle" => &[2],
        "delta" => &[3],
        "delta+shuffle" => &[3, 1],
        "combined" => {
            let chains: [&[u8]; 6] = [&[1, 2], &[2, 1], &[1, 1], &[3, 2], &[2, 2], &[1, 2, 1]];
            let chain = *rng.pick(&chains);
            let gap = rng.below(3) as usize;
            ids[gap..gap + chain.len()].copy_from_slice(chain);
            return (ids, meta);
        }
        "trunc_prec" => {
            // Negative numbers of bits are valid, but python-blosc2 cannot open a frame that has one.
            (ids[4], meta[4]) = (4, *rng.pick(&[1u8, 5, 10, 20]));
            ids[5] = rng.below(3) as u8;
            return (ids, meta);
        }
        _ => &[],
    };
    ids[6 - last.len()..].copy_from_slice(last);
    (ids, meta)
}

fn shape(rng: &mut Rng, itemsize: usize) -> Vec<u64> {
    let mut budget = if rng.chance(2) { 1 << 20 } else { 1 << 14 } / itemsize as u64;
    let mut dims: Vec<u64> = (0..rng.below(7))
        .map(|_| {
            let fit: Vec<u64> = DIMS.into_iter().filter(|&d| d <= budget.max(1)).collect();
            let dim = *rng.pick(&fit);
            budget /= dim;
            dim
        })
        .collect();
    for at in (1..dims.len()).rev() {
        dims.swap(at, rng.below(at as u64 + 1) as usize);
    }
    if !dims.is_empty() && rng.chance(4) {
        let at = rng.below(dims.len() as u64) as usize;
        dims[at] = 0;
    }
    dims
}

/// Random chunk and block shapes with not too many chunks and blocks.
pub fn partition(rng: &mut Rng, shape: &[u64]) -> (Vec<u64>, Vec<u64>) {
    let count =
        |whole: &[u64], part: &[u64]| whole.iter().zip(part).map(|(w, p)| w.div_ceil(*p)).product::<u64>();
    loop {
        let mut cut = |whole: &[u64]| -> Vec<u64> {
            whole.iter().map(|&len| if rng.chance(80) { 1 + rng.below(len) } else { len }).collect()
        };
        let chunks = cut(shape);
        let blocks = cut(&chunks);
        if count(shape, &chunks) <= 60 && count(&chunks, &blocks) <= 200 {
            return (chunks, blocks);
        }
    }
}

fn layers(rng: &mut Rng, prefix: &str) -> BTreeMap<String, String> {
    if rng.chance(55) {
        return BTreeMap::new();
    }
    (0..=rng.below(3))
        .map(|n| {
            let len = *rng.pick(&[0usize, 1, 31, 32, 33, 700, 5000]);
            let content = if rng.chance(50) { rng.bytes(len) } else { b"words".repeat(len / 5) };
            (format!("{prefix}{n}"), crate::case::hex(&content))
        })
        .collect()
}

/// A random selection of an array of this shape.
pub fn selection(rng: &mut Rng, shape: &[u64]) -> Vec<Part> {
    let mut parts: Vec<Part> = shape.iter().map(|&len| part(rng, len)).collect();
    if !parts.is_empty() && rng.chance(20) {
        let from = rng.below(parts.len() as u64) as usize;
        let to = from + rng.below((parts.len() - from) as u64 + 1) as usize;
        parts.splice(from..to, [Part::Ellipsis]);
    }
    if rng.chance(10) {
        parts.insert(rng.below(parts.len() as u64 + 1) as usize, Part::NewAxis);
    }
    if parts.is_empty() {
        parts.push(Part::Ellipsis);
    }
    parts
}

fn part(rng: &mut Rng, len: u64) -> Part {
    let n = len.cast_signed();
    if n > 0 && rng.chance(25) {
        return Part::Index(rng.between(-n, n - 1));
    }
    let (a, b) = (rng.between(-n - 2, n + 2), rng.between(-n - 2, n + 2));
    let (a, b) = if rng.chance(60) { (a.min(b).max(0), a.max(b)) } else { (a, b) };
    let step = if rng.chance(70) { 1 } else { *rng.pick(&[1i64, 2, 3, 7, -1, -2, -5]) };
    Part::Range(rng.chance(80).then_some(a), rng.chance(80).then_some(b), step)
}
