//! The damaged frame as one that opens: another header in front of its bytes, other offsets and another trailer behind them.

use super::options::RepairOptions;
use super::place::Placed;
use super::report::Repaired;
use super::source::DamagedFrame;
use super::survey::Survey;
use crate::array::{Array, Revision};
use crate::error::{Error, Part, Result};
use crate::exec::Exec;
use crate::frame::{Layout, Trailer};
use crate::io::Pieced;
use crate::schunk::{Damage, OpenOptions, SChunk, is_damage};
use std::ops::Range;
use std::sync::Arc;

/// What can be read of a damaged frame.
pub(super) enum ReadableFrame {
    Array(Box<Array>),
    Frame(Box<SChunk>),
}

impl ReadableFrame {
    pub(super) fn schunk(&self) -> &SChunk {
        match self {
            ReadableFrame::Array(array) => array.schunk(),
            ReadableFrame::Frame(schunk) => schunk,
        }
    }

    /// The damage that the loss of some chunks, or of some blocks of the one chunk, is.
    fn damage(&self, chunks: Range<u64>, blocks: Option<Range<u32>>, error: Error) -> Damage {
        match self {
            ReadableFrame::Array(array) => {
                array.damage_at(chunks, blocks, array.revision() != Revision::CatervaPartshape, error)
            }
            ReadableFrame::Frame(schunk) => schunk.damage_at(chunks, blocks, error),
        }
    }
}

/// The header, offsets and trailer of the view.
fn pieces(source: &DamagedFrame, survey: &Survey, placed: &mut Placed) -> Result<Pieced> {
    let mut header = survey.header.clone();
    header.set_nbytes(placed.nbytes)?;
    header.set_layout(source.layout);
    let mut trailer: Trailer = survey.trailer.clone();
    trailer.set_checksums(None);
    let mut back =
        if source.layout == Layout::Contiguous { std::mem::take(&mut placed.made) } else { Vec::new() };
    let middle = if source.layout == Layout::Contiguous { source.len } else { 0 };
    let data = middle.saturating_add(back.len() as u64);
    if placed.nbytes > 0 {
        back.extend_from_slice(&placed.offsets.encode(&Exec::new(1))?);
    }
    back.extend_from_slice(&trailer.encode_with(None)?);
    let frame_len = header.len().saturating_add(middle).saturating_add(back.len() as u64);
    let cbytes = if source.layout == Layout::Contiguous { data } else { header.cbytes() };
    header.set_lengths(frame_len, cbytes, trailer.is_there());
    header.sign(false);
    Ok(Pieced {
        front: header.bytes().to_vec(),
        source: Arc::clone(&source.store),
        middle,
        back: Arc::new(back),
        files: Arc::new(std::mem::take(&mut placed.files)),
    })
}

/// Opens the view, and says in terms of the array what is lost.
pub(super) fn open(
    source: &DamagedFrame,
    survey: &Survey,
    mut placed: Placed,
    options: &RepairOptions,
    report: &mut Repaired,
) -> Result<ReadableFrame> {
    let pieced = pieces(source, survey, &mut placed)?;
    let opening = OpenOptions::new().with_frame_options(options.common.without_handle());
    let identity = survey.layer.as_ref().map(|layer| layer.identity);
    let keep = options.common.checksums.unwrap_or(options.renew || survey.layer.is_some());
    let open = || -> Result<SChunk> {
        let mut schunk = SChunk::open_store(Arc::new(pieced.clone()), source.layout, &opening)?;
        let stale = if options.renew { Default::default() } else { placed.stale.clone() };
        schunk.inherit_checksums(identity, stale, keep)?;
        Ok(schunk)
    };
    let schunk = open()?;
    let is_array = schunk.stored_object().is_none()
        && schunk.metalayers().any(|(name, _)| name == "b2nd" || name == "caterva");
    let view = match is_array.then(|| Array::from_schunk(schunk)) {
        Some(Ok(array)) => ReadableFrame::Array(Box::new(array)),
        Some(Err(error)) if is_damage(&error) => {
            let what = format!("of the array, which opens as a frame only: {error}");
            report.lost_metalayers.push((Part::Metalayer, what));
            ReadableFrame::Frame(Box::new(open()?))
        }
        Some(Err(error)) => return Err(error),
        None => ReadableFrame::Frame(Box::new(open()?)),
    };
    let losses = std::mem::take(&mut placed.losses);
    report.lost_places = placed.lost;
    report.lost.extend(losses.into_iter().map(|loss| view.damage(loss.chunks, loss.blocks, loss.error)));
    Ok(view)
}

/// A frame of the betas, which is read only where nothing is wrong with it.
pub(super) fn as_it_is(source: &DamagedFrame, options: &RepairOptions) -> Result<ReadableFrame> {
    let opening = OpenOptions::new().with_frame_options(options.common.without_handle());
    let (store, files) = (Arc::clone(&source.store), Arc::default());
    let pieced = Pieced { front: Vec::new(), source: store, middle: source.len, back: Arc::default(), files };
    let damaged = || Error::unsupported("repairing a damaged frame of the betas (format version 0 or 1)");
    let schunk =
        SChunk::open_store(Arc::new(pieced), source.layout, &opening).map_err(|error| match error {
            error if is_damage(&error) => damaged(),
            error => error,
        })?;
    if schunk.verify()?.is_sound() { Ok(ReadableFrame::Frame(Box::new(schunk))) } else { Err(damaged()) }
}
