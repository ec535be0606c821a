//! Writes generated cases with b2nd: the arrays, what python-blosc2 is to find in them, and b2nd's own reading of parts.

use crate::Outcome;
use crate::case::{Case, Selected, Span};
use crate::generate::{self, Made, Route};
use crate::items;
use b2nd::{Array, Codec, Dtype, Exec, Fill, Layout, Options, Params, Pipeline, Selection, SplitMode};
use b2nd_testkit::rng::Rng;
use b2nd_testkit::slicing::{self, Part};
use std::path::Path;

/// The parameters of a case.
pub fn params(case: &Case) -> Outcome<Params> {
    let split = match case.split {
        1 => SplitMode::Always,
        2 => SplitMode::Never,
        3 => SplitMode::Auto,
        _ => SplitMode::ForwardCompat,
    };
    Ok(Params::new(case.typesize)
        .with_codec(Codec::from_name(&case.codec).ok_or("codec")?)
        .with_clevel(case.clevel)
        .with_pipeline(Pipeline::from_bytes(case.filters, case.filters_meta))
        .with_split(split))
}

/// The number that a split mode is stored as.
pub fn split_number(split: SplitMode) -> u8 {
    match split {
        SplitMode::Always => 1,
        SplitMode::Never => 2,
        SplitMode::Auto => 3,
        SplitMode::ForwardCompat => 4,
    }
}

/// Bytes from lower-case hex.
pub fn unhex(text: &str) -> Outcome<Vec<u8>> {
    (0..text.len() / 2)
        .map(|i| Ok(u8::from_str_radix(text.get(2 * i..2 * i + 2).ok_or("hex")?, 16)?))
        .collect()
}

fn options(made: &Made) -> Outcome<Options> {
    let case = &made.case;
    let mut options = Options::new().with_params(params(case)?).with_exec(Exec::new(made.threads));
    if case.form == "sparse" {
        options = options.with_layout(Layout::Sparse);
    }
    if !made.automatic {
        options = options.with_chunks(case.chunks.clone()).with_blocks(case.blocks.clone());
    }
    for (name, content) in &case.meta {
        options = options.with_metalayer(name, unhex(content)?);
    }
    for (name, content) in &case.vlmeta {
        options = options.with_vlmetalayer(name, unhex(content)?);
    }
    if made.route == Route::Filled && case.content == "constant" {
        let item = made.data.get(..case.typesize as usize).ok_or("a constant without items")?;
        options = options.with_fill(Fill::Value(item.to_vec()));
    }
    Ok(options)
}

/// Boxes that cover the whole array: it is cut in two along random axes.
fn boxes(rng: &mut Rng, shape: &[u64]) -> Vec<Vec<Part>> {
    let mut boxes = vec![shape.iter().map(|&len| (0, len)).collect::<Vec<_>>()];
    for _ in 0..3 {
        let axis = rng.below(shape.len() as u64) as usize;
        let Some(whole) = boxes.pop() else { break };
        let Some(&(start, stop)) = whole.get(axis) else { return vec![vec![Part::Ellipsis]] };
        let middle = start + rng.below(stop - start + 1);
        for (a, b) in [(middle, stop), (start, middle)] {
            let mut half = whole.clone();
            half[axis] = (a, b);
            boxes.push(half);
        }
    }
    let range = |&(a, b): &(u64, u64)| Part::Range(Some(a.cast_signed()), Some(b.cast_signed()), 1);
    boxes.iter().map(|b| b.iter().map(range).collect()).collect()
}

/// Whether b2nd stores the chunks of this case with lossy truncation.
fn expected_items(made: &Made) -> Vec<u8> {
    let case = &made.case;
    if case.filter == "trunc_prec" && case.clevel > 0 {
        items::truncated(&made.data, case.typesize as usize, case.filters_meta[4].cast_signed())
    } else {
        made.data.clone()
    }
}

fn build(made: &Made, path: Option<&Path>, seed: u64) -> Outcome<Array> {
    let case = &made.case;
    let dtype = Dtype::parse(&case.dtype)?;
    let options = options(made)?;
    let whole = Selection::all();
    Ok(match made.route {
        Route::Whole => {
            let mut writer = match path {
                Some(path) => options.create_uncommitted(path, dtype, &case.shape)?,
                None => options.create_uncommitted_in_memory(dtype, &case.shape)?,
            };
            writer.write_bytes(whole, &made.data)?;
            writer.commit()?
        }
        Route::Filled => create(options, path, dtype, &case.shape)?,
        Route::Boxes => {
            let mut array = create(options, path, dtype, &case.shape)?;
            let mut rng = Rng::for_part(seed ^ 0xB0, case.id);
            for part in boxes(&mut rng, &case.shape) {
                let (items, _) = slicing::read(&part, &case.shape, case.typesize as usize, &made.data);
                array.write_bytes(Selection::parse(&slicing::text(&part))?, &items)?;
            }
            array
        }
    })
}

fn create(options: Options, path: Option<&Path>, dtype: Dtype, shape: &[u64]) -> b2nd::Result<Array> {
    match path {
        Some(path) => options.create(path, dtype, shape),
        None => options.create_in_memory(dtype, shape),
    }
}

/// Items that are whole where truncation was asked: chunks that are stored raw or as one value keep them.
fn tolerate_whole(made: &Made, read: &[u8], expected: Vec<u8>) -> Outcome<Vec<u8>> {
    let size = made.case.typesize as usize;
    let items = read.chunks_exact(size).zip(made.data.chunks_exact(size)).zip(expected.chunks_exact(size));
    if made.case.filter != "trunc_prec" {
        return Ok(expected);
    }
    for (at, ((found, whole), cut)) in items.enumerate() {
        if found != whole && found != cut {
            return Err(format!("item {at} is neither whole nor truncated").into());
        }
    }
    Ok(read.to_vec())
}

/// Writes the case into `folder`, reads it back, and appends what is expected to `expected`.
pub fn write(seed: u64, index: u64, folder: &Path, expected: &mut Vec<u8>) -> Outcome<Case> {
    let made = generate::make(seed, index);
    let path = folder.join(&made.case.path);
    let in_memory = made.case.form == "cframe";
    let array = build(&made, (!in_memory).then_some(path.as_path()), seed)?;
    if in_memory {
        std::fs::write(&path, array.to_bytes()?)?;
    }
    let read = array.read_bytes(Selection::all())?;
    let items = tolerate_whole(&made, &read, expected_items(&made))?;
    if read != items {
        return Err("b2nd reads back other items than it wrote".into());
    }
    let mut case = made.case.clone();
    (case.chunks, case.blocks) = (array.chunks().to_vec(), array.blocks().to_vec());
    let mut keep = |bytes: &[u8]| {
        expected.extend_from_slice(bytes);
        Span { offset: expected.len() - bytes.len(), nbytes: bytes.len() }
    };
    case.data = keep(&items);
    for parts in &made.parts {
        let text = slicing::text(parts);
        let (wanted, shape) = slicing::read(parts, &case.shape, case.typesize as usize, &items);
        let selection = Selection::parse(&text)?;
        if array.selection_shape(selection.clone())? != shape {
            return Err(format!("shape of [{text}]").into());
        }
        if array.read_bytes(selection)? != wanted {
            return Err(format!("b2nd's own [{text}]").into());
        }
        case.selections.push(Selected { text, shape, span: keep(&wanted) });
    }
    Ok(case)
}
