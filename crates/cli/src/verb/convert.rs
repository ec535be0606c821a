//! `b2nd convert`: an array, or a part of it, rewritten with other parameters, in the newest revision.

use std::time::Instant;

use b2nd::array::Revision;
use b2nd::{Array, Dtype, Exec, Layout, Options, Params, Pipeline, SChunk, SaveOptions, Selection};

use crate::args::{Convert, Lengths};
use crate::failure::{Failure, Outcome, Result, STORAGE_HINT};
use crate::open::Opened;
use crate::progress::Progress;
use crate::shown::Shown as _;
use crate::tiling::{Grid, Tiling};
use crate::view::View;
use crate::{open, output, report};

pub(super) fn run(args: &Convert) -> Result<Outcome> {
    let started = Instant::now();
    output::check_named(&args.output)?;
    output::check_apart(&args.input, &args.output)?;
    output::check_free(&args.output, args.force)?;
    let opened = open::any(&args.input, args.place, args.storage.work.exec())?;
    if let Opened::Frame(schunk) = opened {
        return copy(args, &schunk);
    }
    let (source, cast) = source(args, opened)?;
    let dtype = cast.as_ref().unwrap_or(source.dtype()).clone();
    let shape = source.shape().to_vec();
    if let Some(Lengths(wanted)) = &args.shape
        && *wanted != shape
    {
        let message =
            format!("--shape {}: the input has shape {}", report::lengths(wanted), report::lengths(&shape));
        return Err(Failure::usage(message, "`convert` keeps the shape"));
    }
    let view = View::parse(&shape, args.slice.as_deref())?;
    let shape = view.shape();
    let itemsize = source.dtype().itemsize().max(dtype.itemsize());
    let nbytes = shape.iter().fold(dtype.itemsize() as u64, |n, &len| n.saturating_mul(len));
    let progress = Progress::new("convert", nbytes);
    let mut writer = options(args, &source, &dtype, &view, progress.watch(args.storage.work.exec()))?
        .with_overwrite(args.force)
        .create_uncommitted(&args.output, dtype.clone(), &shape)
        .map_err(|error| Failure::from(error).with_usage_hint(STORAGE_HINT))?;

    let chunks = writer.array().chunks().to_vec();
    let axes: Vec<Grid> = shape.iter().zip(&chunks).map(|(&len, &chunk)| Grid::new(len, chunk)).collect();
    let copies = if cast.is_some() { 4 } else { 1 };
    let budget = (args.storage.work.budget() / view.cost(itemsize) / copies).max(1);
    let mut items = Vec::new();
    for region in Tiling::of_cells(&axes, budget).boxes() {
        crate::input::resize(&mut items, region.items(), source.dtype().itemsize())?;
        source
            .read_bytes_into(view.part(&region)?, &mut items)
            .map_err(|error| Failure::from(error).about(&args.input))?;
        if let Some(dtype) = &cast {
            items = converted(source.dtype(), dtype, &region.shape(), &items)?;
        }
        writer.write_bytes(Selection::from_box(&region.start, &region.stop), &items)?;
    }
    drop(items);
    let array = writer.commit()?;
    drop(progress);
    let name = args.output.shown();
    output::summary(&report::stored(&name, &array, started.elapsed()))?;
    Ok(Outcome::Good)
}

/// The array, and the dtype that its items are converted to, if another one is asked for.
fn source(args: &Convert, opened: Opened) -> Result<(Array, Option<Dtype>)> {
    let unknown = |array: &Array| *array.dtype() == Dtype::raw(array.dtype().itemsize());
    let Some(text) = args.dtype.as_deref() else {
        return Ok((open::as_array(&args.input, opened, None)?, None));
    };
    let wanted = open::dtype(text)?;
    match opened {
        Opened::Array(array) if !unknown(&array) => {
            let cast = (wanted != *array.dtype()).then_some(wanted);
            Ok((*array, cast))
        }
        // The file does not say what its items are: the user does.
        opened => Ok((open::as_array(&args.input, opened, Some(text))?, None)),
    }
}

/// Items converted to another dtype, by the library, which converts arrays.
fn converted(from: &Dtype, to: &Dtype, shape: &[u64], items: &[u8]) -> Result<Vec<u8>> {
    let options = || Options::new().with_clevel(0).with_filters(Pipeline::none());
    let mut array = options().create_in_memory(from.clone(), shape)?;
    array.write_bytes(Selection::all(), items)?;
    let cast = options().astype_in_memory(&array, to);
    let cast = cast.map_err(|error| {
        Failure::from(error)
            .with_usage_hint("--dtype converts between numbers, between times of one unit, and between texts")
    })?;
    Ok(cast.read_bytes(Selection::all())?)
}

/// Copies a frame without an array: its chunks stay as they are compressed.
fn copy(args: &Convert, schunk: &SChunk) -> Result<Outcome> {
    let storage = &args.storage;
    let asked = [
        ("--chunks", storage.chunks.is_some()),
        ("--blocks", storage.blocks.is_some()),
        ("--codec", storage.codec.is_some()),
        ("--level", storage.level.is_some()),
        ("--filter", storage.filter.is_some()),
        ("--dict", storage.dict),
        ("--dtype", args.dtype.is_some()),
        ("--shape", args.shape.is_some()),
        ("--slice", args.slice.is_some()),
    ];
    if let Some((option, _)) = asked.into_iter().find(|(_, given)| *given) {
        let message =
            format!("{}: is a frame without an array, and {option} is for arrays", args.input.shown());
        return Err(Failure::usage(
            message,
            "a frame that is not an array is copied unchanged: of the options only --sparse applies",
        ));
    }
    let layout = if storage.sparse { Layout::Sparse } else { Layout::Contiguous };
    let options = SaveOptions::new().with_layout(layout).with_overwrite(args.force);
    schunk.save(&args.output, &options).map_err(|error| Failure::from(error).about(&args.output))?;
    let (name, chunks) = (args.output.shown(), report::count(schunk.nchunks(), "chunk"));
    let (raw, stored) = (report::bytes(schunk.nbytes()), report::bytes(report::compressed(schunk)));
    output::summary(&format!("{name}: a frame of {chunks}, {raw} → {stored}, copied as they are"))?;
    Ok(Outcome::Good)
}

/// What the command line says, and the source where it is silent.
fn options(args: &Convert, source: &Array, dtype: &Dtype, view: &View, exec: Exec) -> Result<Options> {
    let storage = &args.storage;
    // Lossy filters that are not made for the dtype are left out.
    let old = source.params_for(dtype);
    let itemsize = u32::try_from(dtype.itemsize()).unwrap_or(u32::MAX);
    let base = Params::new(itemsize)
        .with_codec(old.codec())
        .with_codec_meta(old.codec_meta())
        .with_clevel(old.clevel())
        .with_pipeline(*old.pipeline())
        .with_split(old.split())
        // Another codec may have no dictionaries.
        .with_dictionary(old.dictionary() && storage.codec.is_none());
    let mut options = storage.options(&view.shape(), base)?.with_exec(exec);
    let kept = storage.chunks.is_none() && view.keeps_chunks(source.shape(), source.chunks())?;
    if kept {
        options = options.with_chunks(source.chunks());
    }
    // Blocks belong to their chunks, and the oldest files have none.
    if kept && storage.blocks.is_none() && source.revision() != Revision::CatervaPartshape {
        options = options.with_blocks(source.blocks());
    }
    for (name, content) in source.schunk().metalayers() {
        // The array's own metalayer is written anew.
        if name != "b2nd" && name != "caterva" {
            options = options.with_metalayer(name, content);
        }
    }
    let names: Vec<String> = source.schunk().vlmetalayer_names()?.map(str::to_owned).collect();
    for name in names {
        if let Some(content) = source.schunk().vlmetalayer(&name)? {
            options = options.with_vlmetalayer(name, content);
        }
    }
    Ok(options)
}
