//! What is left of the frame beside its chunks: header, trailer, checksums, offsets, each from wherever it can be had.

use super::header;
use super::header::FoundHeader;
use super::options::RepairOptions;
use super::report::Repaired;
use super::scan;
use super::source::{CHUNK_HEADER, DamagedFrame};
use super::tails;
use super::tails::Tail;
use crate::chunk;
use crate::error::{Part, Result};
use crate::frame::digests::{Layer, Seal, check_header};
use crate::frame::salvage::{header_for_chunks, offsets_header, read_header, read_offsets, salvage_trailer};
use crate::frame::{FrameHeader, Layout, Offsets, Trailer};
use crate::schunk::check_vlmetalayer;
use std::ops::Range;

/// How far a repair trusts the checksums of a damaged frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ChecksumTrust {
    /// They are intact, and no other program has written since: what does not match is damaged.
    Sealed,
    /// Part of them is damaged. If anything matches them, what does not match is damaged.
    Broken,
    /// Another program has written since: what does not match may be its work.
    Foreign,
}

/// What is left of the frame beside its chunks.
#[derive(Debug)]
pub(super) struct Survey {
    pub(super) base: u64,
    pub(super) header: FrameHeader,
    pub(super) trailer: Trailer,
    pub(super) layer: Option<Layer>,
    pub(super) trust: ChecksumTrust,
    /// The offsets, as they are stored.
    pub(super) offsets: Option<Offsets>,
    /// Offsets that do not match their checksum.
    pub(super) hint: Option<Offsets>,
    /// Where chunks may lie.
    pub(super) data: Range<u64>,
}

/// The offsets of a frame, and where they are stored.
struct Index {
    offsets: Offsets,
    hash: u64,
    place: Range<u64>,
}

/// Looks for all of it.
pub(super) fn survey(
    source: &DamagedFrame,
    options: &RepairOptions,
    report: &mut Repaired,
) -> Result<Survey> {
    let limits = &options.common.limits;
    let own = header::own(source, limits, report)?;
    let mut tail = match &own {
        Some(own) => tails::ending_at(source, own.base.saturating_add(own.header.frame_len()), limits)?,
        None => None,
    };
    let mut found = own;
    if tail.is_none() {
        let at_own = found.as_ref().map(|found| index(source, found, options)).transpose()?.flatten();
        let best = best_tail(source, found.as_ref(), options)?;
        tail = match (&at_own, best) {
            // What its header refers to is there: the trailer follows it, or is lost, and others are of older states.
            (Some(index), best) => best.filter(|best| best.start == index.place.end),
            (None, best) => best,
        };
        if let (Some(own), Some(best)) = (&found, &tail)
            && is_outgrown(source, own, best, options)
        {
            tail = None;
        }
        if found.is_none() && !tail.as_ref().is_some_and(Tail::is_sealed) {
            found = match header::mended(source, report)? {
                Some(mended) => Some(mended),
                None => header::anywhere(source, limits, report)?,
            };
        }
    }
    let layer = tail.as_ref().and_then(|tail| layer_of(&tail.trailer, options));
    let found = settle(source, found, tail.as_ref(), layer.as_ref(), options, report)?;
    gather(source, found, tail.as_ref(), layer, options, report)
}

/// Puts together what was found.
fn gather(
    source: &DamagedFrame,
    found: FoundHeader,
    tail: Option<&Tail>,
    mut layer: Option<Layer>,
    options: &RepairOptions,
    report: &mut Repaired,
) -> Result<Survey> {
    let mut found = found;
    let mut index = index(source, &found, options)?;
    if index.is_none() && layer.is_none() {
        let first = scan::first(source, &found, options)?;
        header::agree(&mut found.header, first.as_ref(), None, report)?;
        index = self::index(source, &found, options)?;
    }
    if let (None, Some(tail)) = (&index, &tail) {
        index = index_before(source, &found, tail.start, options)?;
        if let Some(index) = &index {
            let at = index.place.start;
            report
                .restored(Part::Offsets, format!("found at byte {at} of the file, in front of the trailer"));
        }
    }
    let (trailer, trust) = trailer(source, tail, index.as_ref(), &found, options, report)?;
    if layer.is_none() {
        layer = layer_of(&trailer, options);
    }
    doubt(&found.header, &trailer, layer.as_ref(), trust, report);
    if let (Some(layer), Some(index), ChecksumTrust::Broken) = (&layer, &index, trust)
        && layer.header() == found.header.bytes()
        && layer.offsets == index.hash
    {
        if trailer.is_empty() {
            report.restored(Part::Trailer, "its checksum: all that it speaks of matches");
        } else {
            report.guessed(
                Part::Trailer,
                "it does not match its checksum: the names of vlmetalayers may be wrong",
            );
        }
    }
    let (mut offsets, mut hint) = (index.as_ref().map(|index| index.offsets.clone()), None);
    if let (Some(index), Some(layer)) = (&index, &layer)
        && trust != ChecksumTrust::Foreign
        && layer.offsets != index.hash
    {
        report.restored(Part::Offsets, "they do not match their checksum: chunks are known by theirs");
        hint = offsets.take();
    }
    if found.header.nbytes() == 0 {
        offsets = Some(Offsets::none());
    }
    let end = match (&index, tail) {
        (Some(index), _) => index.place.start,
        (None, Some(tail)) => tail.start,
        (None, None) => source.len,
    };
    outside(source, &found, tail, report);
    let data = found.base.saturating_add(found.header.len()).min(source.len)..end;
    let (base, header) = (found.base, found.header);
    Ok(Survey { base, header, trailer, layer, trust, offsets, hint, data })
}

/// Says what cannot be checked, as the checksums are damaged that would be needed.
fn doubt(
    header: &FrameHeader,
    trailer: &Trailer,
    layer: Option<&Layer>,
    trust: ChecksumTrust,
    report: &mut Repaired,
) {
    for (first, last) in layer.iter().flat_map(|layer| layer.damaged()) {
        let what =
            format!("those of chunks {first} to {last} are damaged: what can be decoded counts as right");
        report.guessed(Part::Checksums, what);
    }
    match layer {
        None if header.is_signed() => {
            report.guessed(Part::Checksums, "they are lost: what can be decoded counts as right");
        }
        Some(layer) if trust == ChecksumTrust::Broken => {
            for (name, stored) in trailer.entries() {
                if !layer.vlmetalayers().contains(&chunk::hash(stored)) {
                    let what =
                        format!("{} does not match its checksum, or that is damaged: kept", name.text());
                    report.guessed(Part::Vlmetalayer, what);
                }
            }
        }
        _ => {}
    }
}

/// The layer of checksums in a trailer.
fn layer_of(trailer: &Trailer, options: &RepairOptions) -> Option<Layer> {
    trailer
        .checksums()
        .0
        .and_then(|stored| Layer::parse(stored, &options.common.limits).ok().map(Layer::loosely))
}

/// Of the trailers in the file the one to go by: sealed, with a copy of the header whose lengths are there, the last.
fn best_tail(
    source: &DamagedFrame,
    own: Option<&FoundHeader>,
    options: &RepairOptions,
) -> Result<Option<Tail>> {
    let mut best: Option<((bool, usize, u64), Tail)> = None;
    tails::each(source, &options.common.limits, |tail| {
        let mut rank = (false, 0, tail.end);
        if tail.is_sealed()
            && let Some(copy) = layer_of(&tail.trailer, options).and_then(|l| read_header(l.header()).ok())
        {
            let base = own.map_or(tail.end.saturating_sub(copy.frame_len()), |own| own.base);
            rank = (true, alike(&source.part(base, LENGTHS_END)?, copy.bytes()), tail.end);
        }
        if best.as_ref().is_none_or(|(most, _)| rank >= *most) {
            best = Some((rank, tail));
        }
        Ok(())
    })?;
    Ok(best.map(|(_, tail)| tail))
}

/// Whether a trailer is of an older state that has less than half of the data that is there: the newer chunks are then worth more,
/// in the order of lying, than the older ones with proof.
fn is_outgrown(source: &DamagedFrame, own: &FoundHeader, tail: &Tail, options: &RepairOptions) -> bool {
    let layer = layer_of(&tail.trailer, options).filter(|_| tail.is_sealed());
    let Some(copy) = layer.and_then(|layer| read_header(layer.header()).ok()) else { return false };
    let start = own.base.saturating_add(own.header.len());
    let there = start.saturating_add(own.header.cbytes()).min(source.len).saturating_sub(start);
    source.layout == Layout::Contiguous
        && alike(own.header.bytes(), copy.bytes()) == 0
        && copy.cbytes().saturating_mul(2) < there
}

/// The fields of a header that tell one state of a frame from another: its length, and that of its data.
const LENGTHS: [Range<usize>; 2] = [16..24, 39..47];
const LENGTHS_END: u64 = 47;

/// How many of these fields two headers have in common.
fn alike(header: &[u8], other: &[u8]) -> usize {
    let same = |range: &&Range<usize>| {
        // Zeros are what damage leaves.
        let field = header.get((*range).clone()).filter(|field| field.iter().any(|byte| *byte != 0));
        field.is_some_and(|field| other.get((*range).clone()) == Some(field))
    };
    LENGTHS.iter().filter(same).count()
}

/// Decides on the header.
fn settle(
    source: &DamagedFrame,
    found: Option<FoundHeader>,
    tail: Option<&Tail>,
    layer: Option<&Layer>,
    options: &RepairOptions,
    report: &mut Repaired,
) -> Result<FoundHeader> {
    let sealed = layer.filter(|_| tail.is_some_and(Tail::is_sealed));
    if let Some(copy) = sealed.and_then(|layer| read_header(layer.header()).ok())
        && copy.layout() == source.layout
    {
        match &found {
            Some(found) if check_header(&found.header, copy.bytes()).is_ok() => return Ok(found.clone()),
            _ => {}
        }
        let base = tail.and_then(|tail| tail.end.checked_sub(copy.frame_len())).unwrap_or(0);
        let there = source.part(base, LENGTHS_END)?;
        let behind = tail.is_some_and(|tail| tail.end < source.len);
        if alike(&there, copy.bytes()) == 0 && (found.is_some() || behind) {
            let what = "an older state of the frame: of the last one neither offsets nor checksums are left, and what was \
                        written since is lost";
            report.guessed(Part::FrameHeader, what);
        } else {
            report.restored(Part::FrameHeader, "from the copy of it that lies with the checksums");
        }
        return Ok(FoundHeader { base, header: copy });
    }
    match found {
        Some(found) => Ok(found),
        None => {
            let (chunk, variable) = scan::any(source, options)?.ok_or_else(header::nothing)?;
            report
                .lost_metalayers
                .push((Part::Metalayer, "all, with the header: what they were is not known".to_owned()));
            report.guessed(Part::FrameHeader, "made for the chunks that were found");
            let header = header_for_chunks(&chunk, source.layout, variable)?;
            Ok(FoundHeader { base: 0, header })
        }
    }
}

/// The offsets of a frame, where its header says they are.
fn index(source: &DamagedFrame, found: &FoundHeader, options: &RepairOptions) -> Result<Option<Index>> {
    let header = &found.header;
    let data = if header.layout() == Layout::Contiguous { header.cbytes() } else { 0 };
    let at = found.base.checked_add(header.len()).and_then(|at| at.checked_add(data));
    match at {
        Some(at) if header.nbytes() > 0 => index_at(source, at, header, options),
        _ => Ok(None),
    }
}

fn index_at(
    source: &DamagedFrame,
    at: u64,
    header: &FrameHeader,
    options: &RepairOptions,
) -> Result<Option<Index>> {
    let nchunks = header::nchunks(header);
    let start = source.part(at, CHUNK_HEADER)?;
    let Ok(chunk) = offsets_header(&start, nchunks, &options.common.limits) else { return Ok(None) };
    if chunk.typesize() != 8 {
        // A chunk of items that happens to have as many bytes.
        return Ok(None);
    }
    let bytes = source.part(at, u64::from(chunk.cbytes()))?;
    let Ok(offsets) = read_offsets(&bytes, nchunks, &options.common.limits) else { return Ok(None) };
    let place = at..at.saturating_add(bytes.len() as u64);
    Ok(Some(Index { offsets, hash: chunk::hash(&bytes), place }))
}

/// How many places in front of a trailer are looked at that may be the start of its offsets.
const MOST_TRIES: usize = 64;

/// The offsets that end where the trailer starts.
fn index_before(
    source: &DamagedFrame,
    found: &FoundHeader,
    trailer: u64,
    options: &RepairOptions,
) -> Result<Option<Index>> {
    let Some(nchunks) = header::nchunks(&found.header) else { return Ok(None) };
    let most =
        nchunks.saturating_mul(8).saturating_add(CHUNK_HEADER).min(options.common.limits.max_index_bytes());
    let start = trailer.saturating_sub(most);
    let bytes = source.part(start, trailer.saturating_sub(start))?;
    let wanted = u32::try_from(nchunks.saturating_mul(8)).unwrap_or(u32::MAX).to_le_bytes();
    let likely = bytes.windows(16).enumerate().rev().filter_map(|(n, window)| {
        let [_, _, _, 8, a, b, c, d, _, _, _, _, e, f, g, h] = *window else { return None };
        let rest = (bytes.len() - n) as u64;
        let fits = [a, b, c, d] == wanted && u64::from(u32::from_le_bytes([e, f, g, h])) == rest;
        fits.then_some(start.saturating_add(n as u64))
    });
    for at in likely.take(MOST_TRIES) {
        if let Some(index) = index_at(source, at, &found.header, options)? {
            return Ok(Some(index));
        }
    }
    Ok(None)
}

/// The vlmetalayers that can be read, and how far the checksums among them are to be believed.
fn trailer(
    source: &DamagedFrame,
    tail: Option<&Tail>,
    index: Option<&Index>,
    found: &FoundHeader,
    options: &RepairOptions,
    report: &mut Repaired,
) -> Result<(Trailer, ChecksumTrust)> {
    let Some(tail) = tail else {
        let start = match index {
            Some(index) => index.place.end,
            None => found.base.saturating_add(found.header.len()),
        };
        let left = source.part(start, options.common.limits.max_meta_bytes())?;
        let (trailer, lost) = salvage_trailer(&left).unwrap_or_default();
        let what = if trailer.is_there() { "what can be read of it is kept" } else { "it was made anew" };
        report.restored(Part::Trailer, what);
        if !trailer.is_there() && lost.is_empty() && found.header.has_vlmetalayers() {
            let unknown = "those that there were, with the trailer: their names are not known".to_owned();
            report.lost_metalayers.push((Part::Vlmetalayer, unknown));
        }
        report.lost_metalayers.extend(lost.into_iter().map(|name| (Part::Vlmetalayer, name)));
        return Ok((checked(trailer, None, options, report), ChecksumTrust::Broken));
    };
    let trust = match tail.trailer.checksums().1 {
        Seal::Intact => ChecksumTrust::Sealed,
        Seal::Broken => ChecksumTrust::Broken,
        Seal::None => ChecksumTrust::Foreign,
    };
    if found.base.saturating_add(found.header.frame_len()) != tail.end {
        report.restored(
            Part::FrameHeader,
            format!("the length of the frame: its trailer ends at byte {}", tail.end),
        );
    }
    let layer = layer_of(&tail.trailer, options).filter(|_| trust == ChecksumTrust::Sealed);
    Ok((checked(tail.trailer.clone(), layer.as_ref(), options, report), trust))
}

/// The trailer without the vlmetalayers that cannot be read, or do not match their checksum.
fn checked(
    mut trailer: Trailer,
    layer: Option<&Layer>,
    options: &RepairOptions,
    report: &mut Repaired,
) -> Trailer {
    let mut lost = Vec::new();
    for (n, (name, stored)) in trailer.entries().enumerate() {
        let matches = layer.is_none_or(|layer| layer.vlmetalayer(n) == Some(chunk::hash(stored)));
        let broken = |error: crate::error::Error| crate::schunk::is_damage(&error);
        if !matches
            || check_vlmetalayer(stored, &options.common.limits, &options.common.exec).is_err_and(broken)
        {
            lost.push(n);
            report.lost_metalayers.push((Part::Vlmetalayer, name.text().to_owned()));
        }
    }
    trailer.remove_places(&lost);
    trailer
}

/// Says what lies before and behind the frame.
fn outside(source: &DamagedFrame, found: &FoundHeader, tail: Option<&Tail>, report: &mut Repaired) {
    if found.base > 0 {
        report.left_out.push(format!("{} bytes before the frame", found.base));
    }
    let end = match tail {
        Some(tail) => tail.end,
        None => found.base.saturating_add(found.header.frame_len()),
    };
    if let Some(behind) = source.len.checked_sub(end).filter(|behind| *behind > 0) {
        report.left_out.push(format!("{behind} bytes behind the frame, which nothing refers to"));
    }
}
