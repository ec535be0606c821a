//! The checksums of an open frame: which chunk has which, by its number at the last commit or by where it was written since;
//! and the layer that the next commit writes.

use super::frame_options::FrameOptions;
use super::handle::SChunk;
use super::identity::identity;
use super::snapshot::{FrameState, Place};
use crate::chunk;
use crate::chunk::Sums;
use crate::error::{Error, Part, Result};
use crate::frame::digests::{Draft, Drafting, EntryTrust, Layer, SEGMENT, Seal, check_header};
use crate::frame::{FrameIndex, Offsets, Trailer};
use std::collections::{BTreeMap, HashMap};
use std::ops::{Range, RangeInclusive};
use std::sync::Arc;
use std::sync::OnceLock;

/// What another program has written since the checksums of a frame were made; see [`SChunk::rewritten`](crate::schunk::FrameState::rewritten).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Rewritten {
    /// The header, and with it perhaps metalayers such as the shape of an array. Chunks match their checksums as before.
    Header,
    /// The whole state: what does not match a checksum may be its work.
    Frame,
}

/// Checksums of a handle.
#[derive(Debug, Clone, Default)]
pub(super) struct Digests {
    /// Whether to write checksums, if the caller has set it.
    pub(super) asked: Option<bool>,
    /// Whether commits write them.
    pub(super) keep: bool,
    /// Whether reads check.
    pub(super) check: bool,
    /// What entries are bound to besides their places; made of the content by the commit that writes the first checksums.
    identity: Option<[u64; 2]>,
    /// The checksums of the last commit.
    layer: Option<Arc<Layer>>,
    /// Whether another program has written to the frame since they were.
    foreign: bool,
    rewritten: Option<Rewritten>,
    fresh: FreshEntries,
    /// The chunks of the last commit, while there are changes.
    before: Option<Arc<Before>>,
    /// The vlmetalayers of the last commit, where a change of them is staged.
    trailer_before: Option<Arc<Trailer>>,
    /// Entries of chunks that do not match them and that a copy takes over as doubtful, by number.
    stale: BTreeMap<u64, Sums>,
}

impl Digests {
    /// For a new frame.
    pub(super) fn new(options: &FrameOptions, keep: bool) -> Self {
        Digests {
            asked: Some(keep),
            keep,
            check: options.checks(),
            identity: None,
            layer: None,
            foreign: false,
            rewritten: None,
            fresh: FreshEntries::default(),
            before: None,
            trailer_before: None,
            stale: BTreeMap::new(),
        }
    }

    /// For a frame that has been parsed.
    ///
    /// # Errors
    /// [`Error::Format`] when header, offsets or trailer do not match their checksums, unless the options leave
    /// checks out.
    pub(super) fn open(index: &FrameIndex, options: &FrameOptions) -> Result<Self> {
        let check = options.checks();
        let (stored, seal) = index.trailer.checksums();
        if check && seal == Seal::Broken {
            return Err(Error::format(
                Part::Trailer,
                None,
                "it does not match its checksum: the file is damaged",
            ));
        }
        let layer = match stored.map(|stored| Layer::parse(stored, &options.limits)) {
            Some(Err(error @ Error::Format(_))) if check && seal == Seal::Intact => return Err(error),
            found => found.and_then(Result::ok),
        };
        let mut foreign = seal != Seal::Intact;
        let mut rewritten = layer.as_ref().filter(|_| seal == Seal::None).map(|_| Rewritten::Frame);
        if let Some(layer) = layer.as_ref().filter(|_| !foreign) {
            match check_sealed(index, layer) {
                Err(error) if check => return Err(error),
                Ok(true) => rewritten = Some(Rewritten::Header),
                checked => foreign = checked.is_err(),
            }
        }
        Ok(Digests {
            asked: options.checksums,
            keep: options.checksums.unwrap_or(stored.is_some()),
            check,
            identity: layer.as_ref().map(|layer| layer.identity),
            layer: layer.map(Arc::new),
            foreign,
            rewritten,
            fresh: FreshEntries::default(),
            before: None,
            trailer_before: None,
            stale: BTreeMap::new(),
        })
    }

    /// Before the first change since the last commit.
    pub(super) fn begin(&mut self, offsets: &Arc<Offsets>) {
        if self.layer.is_some() {
            self.before = Some(Arc::new(Before { offsets: Arc::clone(offsets), places: OnceLock::new() }));
        }
    }

    /// The bytes of a chunk that was written, at the place that `raw` says.
    pub(super) fn note(&mut self, raw: i64, chunk: &[u8]) -> Result<()> {
        if self.keep { self.fresh.note(raw, chunk) } else { Ok(()) }
    }

    /// Before the first change of a vlmetalayer since the last commit.
    pub(super) fn keep_trailer(&mut self, trailer: &Arc<Trailer>) {
        self.trailer_before = Some(Arc::clone(trailer));
    }

    /// What was changed since the last commit never was.
    pub(super) fn forget(&mut self) {
        self.fresh = FreshEntries::default();
        self.before = None;
        self.trailer_before = None;
    }

    /// A frame that is put into the place of another is the same array.
    pub(super) fn succeed(&mut self, other: &Digests) {
        self.asked = other.asked;
        self.keep = other.keep;
        self.check = other.check;
        self.identity = other.identity;
    }

    /// Makes this the repaired frame of another: copies of it keep the identity of that one, if it had one, and
    /// checksums if `keep` is set.
    pub(super) fn inherit(&mut self, identity: Option<[u64; 2]>, stale: BTreeMap<u64, Sums>, keep: bool) {
        self.identity = identity.or(self.identity);
        self.stale = stale;
        self.keep = keep;
    }

    /// The layer of a commit is the one that reads go by now.
    pub(super) fn settle(&mut self, stored: Option<&Arc<[u8]>>, options: &crate::limits::Limits) {
        self.forget();
        self.foreign = false;
        self.rewritten = None;
        self.layer =
            stored.and_then(|stored| Layer::parse(&Arc::clone(stored).into(), options).ok()).map(Arc::new);
        self.identity = self.layer.as_ref().map(|layer| layer.identity).or(self.identity);
    }

    /// The number that a chunk had at the last commit; `None` when it is new.
    fn number(&self, n: u64, raw: i64) -> Option<u64> {
        if self.fresh.0.contains_key(&raw) {
            return None;
        }
        self.before.as_ref().map_or(Some(n), |before| before.number(n, raw))
    }

    /// The segment with the stored entries of chunk `n` and its place in the stored layer, unless it is at hand.
    pub(super) fn missing_segment(&self, n: u64, raw: i64) -> Option<(usize, Range<usize>)> {
        self.layer.as_ref()?.missing_segment(self.number(n, raw)?)
    }

    /// Takes the bytes of a segment, as [`Layer::supply_segment`]; the error where they are damaged.
    pub(super) fn supply_segment(&self, at: usize, bytes: &[u8]) -> Result<()> {
        match &self.layer {
            Some(layer) if !layer.supply_segment(at, bytes) => Err(layer.damaged_segment(at)),
            _ => Ok(()),
        }
    }

    /// The stored entries of chunk `n`, whose offset is `raw` and which starts at `start` of its file.
    fn entries(&self, n: u64, raw: i64, start: u64) -> Result<Option<(EntryTrust, Sums)>> {
        let Some(layer) = &self.layer else { return Ok(None) };
        let Some(old) = self.number(n, raw) else { return Ok(None) };
        match layer.sums(old, start) {
            Ok(Some((_, sums))) if self.foreign => Ok(Some((EntryTrust::Doubtful, sums))),
            // Without a seal the entries themselves may be damaged.
            Err(_) if self.foreign => Ok(None),
            found => found,
        }
    }
}

impl Digests {
    /// Puts the entries of all chunks into a layer, segment by segment. A segment whose chunks are all unchanged,
    /// with the same numbers, is copied as it is.
    fn draft_segments(&self, drafting: &mut Drafting, offsets: &[i64]) -> Result<()> {
        let fresh = self.fresh.span();
        for (number, part) in (0..).zip(offsets.chunks(SEGMENT as usize)) {
            let first = SEGMENT.saturating_mul(number);
            let kept = self.layer.as_ref().filter(|_| self.is_untouched(first, part, &fresh));
            if let Some(layer) = kept
                && drafting.carry_segment(number, layer)?
            {
                continue;
            }
            let mut stored = (first..).zip(part).filter(|(_, raw)| **raw >= 0);
            stored.try_for_each(|(n, raw)| self.draft_chunk(drafting, n, *raw))?;
        }
        Ok(())
    }

    fn draft_chunk(&self, drafting: &mut Drafting, n: u64, raw: i64) -> Result<()> {
        match self.fresh.0.get(&raw) {
            Some(entries) => drafting.put(n, entries),
            None => match self.entries(n, raw, 0)? {
                Some((state, sums)) => drafting.carry(n, state, &sums),
                None => Ok(()),
            },
        }
    }

    /// Whether the chunks from number `first` on are where they were at the last commit, and are not in `fresh`.
    fn is_untouched(&self, first: u64, offsets: &[i64], fresh: &RangeInclusive<i64>) -> bool {
        let Some(Offsets::Each(before)) = self.before.as_ref().map(|before| &*before.offsets) else {
            return false;
        };
        let before = usize::try_from(first).ok().and_then(|first| before.get(first..)?.get(..offsets.len()));
        let is_fresh = |raw: &i64| fresh.contains(raw) && self.fresh.0.contains_key(raw);
        !self.foreign && before == Some(offsets) && !offsets.iter().any(is_fresh)
    }
}

/// Checks header and offsets against what was written with the checksums; whether another program has rewritten the header.
fn check_sealed(index: &FrameIndex, layer: &Layer) -> Result<bool> {
    let rewritten = check_header(&index.header, layer.header())?;
    if layer.offsets != index.offsets_hash {
        let reason = "they do not match their checksum: the file is damaged";
        return Err(Error::format(Part::Offsets, None, reason));
    }
    Ok(rewritten)
}

/// Maps offsets to chunk numbers of an earlier list.
#[derive(Debug)]
struct Before {
    offsets: Arc<Offsets>,
    /// Offsets with the numbers of their chunks, in order; made when chunks have other numbers than they had.
    places: OnceLock<Vec<(i64, u64)>>,
}

impl Before {
    fn number(&self, n: u64, raw: i64) -> Option<u64> {
        if self.offsets.raw(n).is_ok_and(|old| old == raw) {
            return Some(n);
        }
        let places = self.places.get_or_init(|| {
            let mut places = match &*self.offsets {
                Offsets::Uniform { raw, len } if *len > 0 => vec![(*raw, 0)],
                Offsets::Each(all) => all.iter().copied().zip(0..).collect(),
                // A writer has unpacked them before its first change.
                Offsets::Uniform { .. } | Offsets::Packed(_) => Vec::new(),
            };
            places.sort_unstable();
            places
        });
        let found = places.partition_point(|(place, _)| *place < raw);
        places.get(found).filter(|(place, _)| *place == raw).map(|(_, n)| *n)
    }
}

/// The entries of chunks that are not committed yet, by their offsets.
#[derive(Debug, Default, Clone)]
pub(super) struct FreshEntries(HashMap<i64, Vec<u64>>);

impl FreshEntries {
    /// The least and the greatest offset.
    fn span(&self) -> RangeInclusive<i64> {
        let (least, greatest) =
            self.0.keys().fold((i64::MAX, i64::MIN), |(a, b), raw| (a.min(*raw), b.max(*raw)));
        least..=greatest
    }

    /// The hashes of the chunk that was written at `raw`.
    pub(super) fn entries(&self, raw: i64) -> Option<&[u64]> {
        self.0.get(&raw).map(Vec::as_slice)
    }

    /// Hashes a chunk that was written.
    pub(super) fn note(&mut self, raw: i64, chunk: &[u8]) -> Result<()> {
        let entries = chunk::hashes(chunk)?;
        self.0.try_reserve(1).map_err(|_| Error::out_of_memory("checksums", self.0.len() as u64))?;
        self.0.insert(raw, entries);
        Ok(())
    }
}

impl FrameState {
    /// Whether the frame has checksums: those of the last commit.
    ///
    /// # Errors
    /// [`Error::Format`] when the trailer is damaged, [`Error::Io`] when it cannot be read.
    pub fn has_checksums(&self) -> Result<bool> {
        Ok(self.digests()?.layer.is_some())
    }

    /// What another program has written to the frame since its checksums were made; `None` if nothing, or without
    /// checksums. The next commit of b2nd accepts it.
    ///
    /// C-Blosc2 and python-blosc2 write only the header when the shape changes within the same chunks: then the shape
    /// is what they wrote, and no checksum covers it.
    ///
    /// # Errors
    /// [`Error::Format`] when the trailer is damaged, [`Error::Io`] when it cannot be read.
    pub fn rewritten(&self) -> Result<Option<Rewritten>> {
        Ok(self.digests()?.rewritten)
    }

    /// The expected checksums of chunk `n`, if reads check them.
    pub(crate) fn sums(&self, n: u64, place: Place) -> Result<Option<Sums>> {
        if !self.digests()?.check {
            return Ok(None);
        }
        let known = self.known_sums(n, place)?;
        Ok(known.filter(|(state, _)| *state == EntryTrust::Sure).map(|(_, sums)| sums))
    }

    /// The checksums of chunk `n`, whether reads check them or not.
    pub(crate) fn known_sums(&self, n: u64, place: Place) -> Result<Option<(EntryTrust, Sums)>> {
        let digests = self.digests()?;
        let (Place::Stored { offset, .. }, Some(_)) = (place, &digests.layer) else { return Ok(None) };
        let raw = self.offsets()?.raw(n)?;
        let known = self.fetch_segment(n, raw).and_then(|()| digests.entries(n, raw, offset));
        known.map_err(|error| self.located(error.in_chunk(n)))
    }

    /// Checks all bytes of chunk `n`, where reads check.
    pub(crate) fn check_bytes(&self, n: u64, place: Place, chunk: &[u8]) -> Result<()> {
        match self.sums(n, place)? {
            Some(sums) => sums.check_chunk(chunk).map_err(|error| self.located(error.in_chunk(n))),
            None => Ok(()),
        }
    }

    /// Checks the stored bytes of a vlmetalayer as it was at the last commit, where reads check.
    pub(super) fn check_vlmetalayer(&self, name: &str, stored: &[u8]) -> Result<()> {
        let digests = self.digests()?;
        let Some(layer) = digests.layer.as_ref().filter(|_| digests.check) else { return Ok(()) };
        let mut committed = self.committed_trailer()?.entries();
        let known = committed.position(|(other, old)| other.text() == name && old == stored);
        let known = known.filter(|_| !digests.foreign).and_then(|n| layer.vlmetalayer(n));
        if known.is_some_and(|known| known != chunk::hash(stored)) {
            let reason = format!("`{name}` does not match its checksum: the file is damaged");
            return Err(self.located(Error::format(Part::Vlmetalayer, None, reason)));
        }
        Ok(())
    }

    /// Checks the stored bytes of vlmetalayer `n`, where reads check.
    pub(super) fn check_digest(&self, n: usize, name: &str, stored: &[u8]) -> Result<()> {
        let digests = self.digests()?;
        let known = digests.layer.as_ref().filter(|_| digests.check && !digests.foreign);
        let committed = digests.trailer_before.is_none();
        match known.and_then(|layer| layer.vlmetalayer(n)).filter(|_| committed) {
            Some(known) if known == chunk::hash(stored) => Ok(()),
            _ => self.check_vlmetalayer(name, stored),
        }
    }

    /// The trailer of the last commit.
    pub(super) fn committed_trailer(&self) -> Result<&Trailer> {
        let catalog = self.catalog()?;
        Ok(catalog.digests.trailer_before.as_ref().unwrap_or(&catalog.trailer))
    }

    /// Whether the bytes of a chunk are those that its checksums, if there are any, were made of.
    pub(super) fn is_as_hashed(&self, n: u64, raw: i64, chunk: &[u8]) -> bool {
        let entries = |digests: &Arc<Digests>| {
            self.fetch_segment(n, raw)?;
            digests.entries(n, raw, 0)
        };
        match self.digests().and_then(entries) {
            Ok(Some((_, sums))) => sums.check_chunk(chunk).is_ok(),
            Ok(None) => true,
            Err(_) => false,
        }
    }
}

impl SChunk {
    /// Notes that a chunk was moved; a chunk without checksums stays without.
    pub(super) fn note_moved(&mut self, n: u64, old: i64, new: i64, chunk: &[u8]) -> Result<()> {
        let digests = &self.work().digests;
        let has = digests.fresh.0.contains_key(&old) || digests.entries(n, old, 0)?.is_some();
        if has { self.digests_mut().note(new, chunk) } else { Ok(()) }
    }

    /// The layer that the next commit writes; `None` if it writes no checksums.
    pub(super) fn draft(&self) -> Result<Option<Draft>> {
        let digests = &self.work().digests;
        if !digests.keep {
            return Ok(None);
        }
        let identity = self.identity(&digests.fresh, &self.work().offsets)?;
        let mut drafting = Drafting::new(identity, self.nchunks());
        match &*self.work().offsets {
            Offsets::Each(all) => digests.draft_segments(&mut drafting, all)?,
            other => other.each_stored(|n, raw| digests.draft_chunk(&mut drafting, n, raw))?,
        }
        drafting.finish(self.vlmetalayer_digests()?)
    }
}

impl FrameState {
    /// The identity of the frame, or, without one, a hash of its content.
    fn identity(&self, fresh: &FreshEntries, offsets: &Offsets) -> Result<[u64; 2]> {
        match self.digests()?.identity {
            Some(known) => Ok(known),
            None => identity(&self.header, self.trailer()?, offsets, fresh),
        }
    }

    /// The layer of a copy of the frame, all of whose chunks are noted in `fresh`.
    pub(super) fn draft_of_copy(&self, fresh: &FreshEntries, offsets: &Offsets) -> Result<Option<Draft>> {
        let digests = self.digests()?;
        let mut drafting = Drafting::new(self.identity(fresh, offsets)?, offsets.len());
        offsets.each_stored(|n, raw| match (digests.stale.get(&n), fresh.0.get(&raw)) {
            (Some(sums), _) => drafting.carry(n, EntryTrust::Doubtful, sums),
            (None, Some(entries)) => drafting.put(n, entries),
            (None, None) => Ok(()),
        })?;
        drafting.finish(self.vlmetalayer_digests()?)
    }

    /// The digests of all vlmetalayers. An unchanged one keeps its digest, so that damage stays detectable.
    fn vlmetalayer_digests(&self) -> Result<Vec<u64>> {
        let mut old = HashMap::new();
        let digests = self.digests()?;
        if let Some(layer) = digests.layer.as_ref().filter(|_| !digests.foreign) {
            let entries = self.committed_trailer()?.entries().enumerate();
            old.extend(entries.map(|(n, (name, stored))| (name.bytes(), (stored, layer.vlmetalayer(n)))));
        }
        let digest = |name: &[u8], stored: &[u8]| match old.get(name) {
            Some((before, Some(digest))) if *before == stored => *digest,
            _ => chunk::hash(stored),
        };
        Ok(self.trailer()?.entries().map(|(name, stored)| digest(name.bytes(), stored)).collect())
    }
}

impl SChunk {
    /// See [`Digests::inherit`].
    pub(crate) fn inherit_checksums(
        &mut self,
        identity: Option<[u64; 2]>,
        stale: BTreeMap<u64, Sums>,
        keep: bool,
    ) -> Result<()> {
        self.load_catalog()?;
        self.digests_mut().inherit(identity, stale, keep);
        Ok(())
    }

    /// Recomputes all checksums, accepting the current data as correct: stale and doubtful entries become
    /// valid. A frame without checksums gets them. Commits.
    ///
    /// What does not match can be read only where the frame was opened with
    /// [`FrameOptions::with_checks`]`(false)`.
    ///
    /// ```
    /// use b2nd::Params;
    /// use b2nd::schunk::CreateOptions;
    /// let mut schunk = CreateOptions::new(Params::new(1)).create_in_memory()?;
    /// schunk.append(b"some items")?;
    /// assert!(!schunk.has_checksums()?); // in memory there are none by default
    /// schunk.renew_checksums()?;
    /// assert!(schunk.has_checksums()?);
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::ReadOnly`] when it was not opened for writing; [`Error::Io`] and [`Error::Format`] when a chunk
    /// cannot be read, or the commit fails. Then nothing has changed.
    pub fn renew_checksums(&mut self) -> Result<()> {
        drop(self.transaction());
        self.begin()?;
        let result = self.all_hashed();
        let kept = match result {
            Ok(fresh) => fresh,
            Err(error) => {
                self.rollback()?;
                return Err(error);
            }
        };
        let digests = self.digests_mut();
        let asked = (digests.asked, digests.keep);
        let layer = digests.layer.take();
        (digests.asked, digests.keep, digests.fresh) = (Some(true), true, kept);
        let done = self.commit();
        if done.is_err() {
            let digests = self.digests_mut();
            (digests.asked, digests.keep) = asked;
            digests.layer = layer;
            self.rollback()?;
        }
        done
    }

    /// The entries of all stored chunks.
    fn all_hashed(&self) -> Result<FreshEntries> {
        let mut fresh = FreshEntries::default();
        let mut buffer = Vec::new();
        self.offsets()?.each_stored(|n, raw| {
            if fresh.0.contains_key(&raw) {
                return Ok(());
            }
            self.exec.check_cancelled()?;
            let place = self.place(n)?;
            let len = usize::try_from(self.chunk_header(n, place)?.cbytes()).unwrap_or(usize::MAX);
            let bytes = self.fetch(place, 0, len, &mut buffer).map_err(|e| self.located(e.in_chunk(n)))?;
            self.check_bytes(n, place, bytes)?;
            fresh.note(raw, bytes).map_err(|error| self.located(error.in_chunk(n)))
        })?;
        Ok(fresh)
    }
}
