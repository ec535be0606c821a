//! `b2nd convert`: an array, or a part of it, rewritten with other parameters, in the newest revision.

use std::time::Instant;

use b2nd::Exec;
use b2nd::array::{Array, Options, Revision, Selection};
use b2nd::chunk::Params;
use b2nd::schunk::{Layout, SChunk, SaveOptions};

use crate::args::{Convert, Lengths};
use crate::failure::{Failure, Outcome, Result, STORAGE_HINT};
use crate::open::Opened;
use crate::progress::Progress;
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
    let source = open::as_array(&args.input, opened, args.dtype.as_deref())?;
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
    let itemsize = source.dtype().itemsize();
    let nbytes = shape.iter().fold(itemsize as u64, |n, &len| n.saturating_mul(len));
    let progress = Progress::new("convert", nbytes);
    let mut writer = options(args, &source, &view, progress.watch(args.storage.work.exec()))?
        .with_overwrite(args.force)
        .create_uncommitted(&args.output, source.dtype().clone(), &shape)
        .map_err(|error| Failure::from(error).with_usage_hint(STORAGE_HINT))?;

    let chunks = writer.array().chunks().to_vec();
    let axes: Vec<Grid> = shape.iter().zip(&chunks).map(|(&len, &chunk)| Grid::new(len, chunk)).collect();
    let budget = (args.storage.work.budget() / view.cost(itemsize)).max(1);
    let mut items = Vec::new();
    for region in Tiling::of_cells(&axes, budget).boxes() {
        crate::input::resize(&mut items, region.items(), itemsize)?;
        source
            .read_bytes_into(view.part(&region)?, &mut items)
            .map_err(|error| Failure::from(error).about(&args.input))?;
        writer.write_bytes(Selection::from_box(&region.start, &region.stop), &items)?;
    }
    drop(items);
    let array = writer.commit()?;
    drop(progress);
    let name = args.output.display().to_string();
    output::print(&format!("{}\n", report::stored(&name, &array, started.elapsed())))?;
    Ok(Outcome::Good)
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
            format!("{}: is a frame without an array, and {option} is for arrays", args.input.display());
        return Err(Failure::usage(message, "such a frame is copied as it is: only --sparse is for it"));
    }
    let layout = if storage.sparse { Layout::Sparse } else { Layout::Contiguous };
    let options = SaveOptions::new().with_layout(layout).with_overwrite(args.force);
    schunk.save(&args.output, &options).map_err(|error| Failure::from(error).about(&args.output))?;
    let (name, chunks) = (args.output.display(), report::count(schunk.nchunks(), "chunk"));
    let (raw, stored) = (report::bytes(schunk.nbytes()), report::bytes(report::compressed(schunk)));
    output::print(&format!("{name}: a frame of {chunks}, {raw} → {stored}, copied as they are\n"))?;
    Ok(Outcome::Good)
}

/// What the command line says, and the source where it is silent.
fn options(args: &Convert, source: &Array, view: &View, exec: Exec) -> Result<Options> {
    let storage = &args.storage;
    let old = source.params_for(source.dtype());
    let itemsize = u32::try_from(source.dtype().itemsize()).unwrap_or(u32::MAX);
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
