//! Bytes in pieces that snapshots share: a write replaces pieces and never changes bytes that a clone refers to.

use crate::error::{Error, Result};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// Bytes of a caller, shared.
type PieceOwner = Arc<dyn AsRef<[u8]> + Send + Sync>;

/// A last piece up to this length that a clone still refers to is copied by an append instead of being left as a short piece.
const SHORT: usize = 64 << 10;

#[derive(Clone)]
enum PieceBytes {
    Own(Arc<Vec<u8>>),
    Shared(PieceOwner),
}

impl PieceBytes {
    fn all(&self) -> &[u8] {
        match self {
            PieceBytes::Own(bytes) => bytes,
            PieceBytes::Shared(owner) => (**owner).as_ref(),
        }
    }
}

/// A part of a buffer.
#[derive(Clone)]
struct Piece {
    /// Where it starts among all bytes.
    start: usize,
    source: PieceBytes,
    /// Which bytes of the source it is.
    range: Range<usize>,
}

impl Piece {
    fn bytes(&self) -> &[u8] {
        self.source.all().get(self.range.clone()).unwrap_or_default()
    }
    fn end(&self) -> usize {
        self.start.saturating_add(self.range.len())
    }
    /// The part of it between two places among all bytes.
    fn part(&self, from: usize, to: usize) -> Piece {
        let (from, to) = (from.max(self.start), to.min(self.end()));
        let first = self.range.start.saturating_add(from.saturating_sub(self.start));
        let last = first.saturating_add(to.saturating_sub(from));
        Piece { start: from, source: self.source.clone(), range: first..last }
    }
    /// Its bytes to be changed, where nothing else refers to them.
    fn own(&mut self) -> Option<&mut Vec<u8>> {
        match &mut self.source {
            PieceBytes::Own(bytes) if self.range.start == 0 => {
                Arc::get_mut(bytes).filter(|bytes| bytes.len() == self.range.end)
            }
            _ => None,
        }
    }
}

/// Pieces that follow each other.
type Group = Vec<Piece>;

/// A group that is longer is divided. A write copies the references of one group and of the list of groups.
const GROUP: usize = if cfg!(test) { 3 } else { 128 };

/// Bytes in pieces, in order and without gaps. A clone costs a reference for each group of pieces.
#[derive(Clone, Default)]
pub(super) struct Rope(Vec<Arc<Group>>);

/// Where a piece is: its group, and its number there.
#[derive(Clone, Copy)]
struct PieceIndex {
    group: usize,
    piece: usize,
}

impl Rope {
    /// Bytes that it owns from now on.
    pub(super) fn from_vec(bytes: Vec<u8>) -> Self {
        let range = 0..bytes.len();
        Rope::of(Piece { start: 0, source: PieceBytes::Own(Arc::new(bytes)), range })
    }
    /// Bytes of a caller.
    pub(super) fn from_shared(owner: impl AsRef<[u8]> + Send + Sync + 'static) -> Self {
        let range = 0..owner.as_ref().len();
        Rope::of(Piece { start: 0, source: PieceBytes::Shared(Arc::new(owner)), range })
    }
    fn of(piece: Piece) -> Self {
        Rope(vec![Arc::new(vec![piece])])
    }
    /// The number of bytes.
    pub(super) fn len(&self) -> usize {
        self.0.last().and_then(|group| group.last()).map_or(0, Piece::end)
    }
    /// The piece that has the byte at `at`; past the last one where there is none.
    fn index_of(&self, at: usize) -> PieceIndex {
        let group = self.0.partition_point(|group| group.last().is_none_or(|piece| piece.end() <= at));
        let piece = self.0.get(group).map_or(0, |group| group.partition_point(|piece| piece.end() <= at));
        PieceIndex { group, piece }
    }
    fn piece(&self, index: PieceIndex) -> Option<&Piece> {
        self.0.get(index.group)?.get(index.piece)
    }
    /// The piece, to be changed: its group is copied where a clone refers to it, so that [`Piece::own`] sees that clone.
    fn piece_mut(&mut self, index: PieceIndex) -> Option<&mut Piece> {
        Arc::make_mut(self.0.get_mut(index.group)?).get_mut(index.piece)
    }
    fn last_mut(&mut self) -> Option<&mut Piece> {
        Arc::make_mut(self.0.last_mut()?).last_mut()
    }
    /// The pieces from one on.
    fn pieces_from(&self, index: PieceIndex) -> impl Iterator<Item = &Piece> {
        let first = self.0.get(index.group).and_then(|group| group.get(index.piece..)).unwrap_or_default();
        let later = self.0.get(index.group.saturating_add(1)..).unwrap_or_default();
        first.iter().chain(later.iter().flat_map(|group| group.iter()))
    }
    /// The bytes of a range that lies in one piece.
    pub(super) fn slice(&self, range: Range<usize>) -> Option<&[u8]> {
        if range.is_empty() {
            return (range.end <= self.len()).then_some(&[]);
        }
        let piece = self.piece(self.index_of(range.start))?;
        let from = range.start.checked_sub(piece.start)?;
        piece.bytes().get(from..from.checked_add(range.len())?)
    }
    /// Copies the bytes from `at` on; an error where there are fewer.
    pub(super) fn read(&self, at: usize, mut to: &mut [u8]) -> Result<()> {
        let past_end = || Error::usage("a read past the end of a frame in memory");
        let end = at.checked_add(to.len()).filter(|end| *end <= self.len()).ok_or_else(past_end)?;
        for piece in self.pieces_from(self.index_of(at)).take_while(|piece| piece.start < end) {
            let part = piece.part(at, end);
            let (now, later) = std::mem::take(&mut to).split_at_mut(part.range.len());
            now.copy_from_slice(part.bytes());
            to = later;
        }
        Ok(())
    }
    /// All bytes in one buffer.
    #[cfg(test)]
    pub(super) fn to_vec(&self) -> Vec<u8> {
        self.0.iter().flat_map(|group| group.iter()).flat_map(|piece| piece.bytes().iter().copied()).collect()
    }
    /// Takes the bytes out without a copy where one buffer of its own holds them; it is empty then.
    pub(super) fn take(&mut self) -> Option<Vec<u8>> {
        let [group] = &mut self.0[..] else { return None };
        let [piece] = &mut Arc::make_mut(group)[..] else { return None };
        let taken = piece.own().map(std::mem::take)?;
        self.0.clear();
        Some(taken)
    }
    /// Sets the length; new bytes are zeros.
    pub(super) fn resize(&mut self, len: usize) -> Result<()> {
        if len > self.len() {
            let more = len - self.len();
            let mut zeros = Vec::new();
            reserve(&mut zeros, more)?;
            zeros.resize(more, 0);
            return self.append(&zeros);
        }
        let last = self.index_of(len);
        self.0.truncate(last.group.saturating_add(1));
        if let Some(group) = self.0.get_mut(last.group) {
            let group = Arc::make_mut(group);
            group.truncate(last.piece.saturating_add(1));
            if let Some(last) = group.last_mut() {
                let keep = len.saturating_sub(last.start);
                if let Some(own) = last.own() {
                    own.truncate(keep);
                }
                last.range.end = last.range.start.saturating_add(keep).min(last.range.end);
            }
            group.retain(|piece| !piece.range.is_empty());
        }
        self.0.retain(|group| !group.is_empty());
        Ok(())
    }
    fn append(&mut self, bytes: &[u8]) -> Result<()> {
        let start = self.len();
        if let Some(last) = self.last_mut() {
            if let Some(own) = last.own() {
                reserve(own, bytes.len())?;
                own.extend_from_slice(bytes);
                last.range.end = own.len();
                return Ok(());
            }
            if last.range.len() <= SHORT {
                let mut joined = Vec::new();
                reserve(&mut joined, last.range.len().saturating_add(bytes.len()))?;
                joined.extend_from_slice(last.bytes());
                joined.extend_from_slice(bytes);
                *last = Piece {
                    start: last.start,
                    range: 0..joined.len(),
                    source: PieceBytes::Own(Arc::new(joined)),
                };
                return Ok(());
            }
        }
        let piece = owned(start, bytes)?;
        match self.0.last_mut() {
            Some(group) if group.len() < GROUP => Arc::make_mut(group).push(piece),
            _ => self.0.push(Arc::new(vec![piece])),
        }
        Ok(())
    }
    /// Writes bytes from `at` on, over what is there and behind it.
    pub(super) fn write(&mut self, at: usize, bytes: &[u8]) -> Result<()> {
        if at > self.len() {
            self.resize(at)?;
        }
        let too_long = || Error::out_of_memory("the frame", bytes.len() as u64);
        let end = at.checked_add(bytes.len()).ok_or_else(too_long)?;
        let (over, behind) = bytes.split_at(self.len().saturating_sub(at).min(bytes.len()));
        if !over.is_empty() && !self.write_in_place(at, over) {
            self.replace(at, over)?;
        }
        if behind.is_empty() {
            Ok(())
        } else {
            debug_assert!(end > self.len());
            self.append(behind)
        }
    }
    /// Writes over bytes of one piece that nothing else refers to; whether it could.
    fn write_in_place(&mut self, at: usize, bytes: &[u8]) -> bool {
        let Some(piece) = self.piece_mut(self.index_of(at)) else { return false };
        let from = at.saturating_sub(piece.start);
        let place = piece.own().and_then(|own| own.get_mut(from..)?.get_mut(..bytes.len()));
        place.map(|place| place.copy_from_slice(bytes)).is_some()
    }
    /// Puts a new piece into the place of bytes that are there.
    fn replace(&mut self, at: usize, bytes: &[u8]) -> Result<()> {
        let end = at.saturating_add(bytes.len());
        let new = owned(at, bytes)?;
        let (first, last) = (self.index_of(at), self.index_of(end.saturating_sub(1)));
        let before = self.piece(first).map(|piece| piece.part(piece.start, at));
        let after = self.piece(last).map(|piece| piece.part(end, piece.end()));
        let pieces = |group: usize, range: Range<usize>| {
            self.0.get(group).and_then(|group| group.get(range)).unwrap_or_default().iter().cloned()
        };
        let behind = last.piece.saturating_add(1)..self.0.get(last.group).map_or(0, |group| group.len());
        let mut changed: Group = pieces(first.group, 0..first.piece).collect();
        changed.extend(before.into_iter().chain([new]).chain(after).filter(|piece| !piece.range.is_empty()));
        changed.extend(pieces(last.group, behind));
        let groups: Vec<_> = if changed.len() > GROUP {
            changed.chunks(changed.len().div_ceil(2)).map(|half| Arc::new(half.to_vec())).collect()
        } else {
            vec![Arc::new(changed)]
        };
        self.0.splice(first.group..last.group.saturating_add(1).min(self.0.len()), groups);
        Ok(())
    }
}

fn owned(start: usize, bytes: &[u8]) -> Result<Piece> {
    let mut copy = Vec::new();
    reserve(&mut copy, bytes.len())?;
    copy.extend_from_slice(bytes);
    Ok(Piece { start, range: 0..copy.len(), source: PieceBytes::Own(Arc::new(copy)) })
}

fn reserve(buffer: &mut Vec<u8>, more: usize) -> Result<()> {
    let total = buffer.len().saturating_add(more) as u64;
    buffer.try_reserve(more).map_err(|_| Error::out_of_memory("the frame", total))
}

impl fmt::Debug for Rope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pieces: usize = self.0.iter().map(|group| group.len()).sum();
        write!(f, "{} bytes in {pieces} pieces", self.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[derive(Debug, Clone)]
    enum Step {
        Write(usize, Vec<u8>),
        Resize(usize),
        Clone,
        Forget,
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            4 => (0..300usize, proptest::collection::vec(any::<u8>(), 0..120)).prop_map(|(at, bytes)| Step::Write(at, bytes)),
            1 => (0..300usize).prop_map(Step::Resize),
            2 => Just(Step::Clone),
            1 => Just(Step::Forget),
        ]
    }

    proptest! {
        #[test]
        fn a_rope_is_a_vector_and_its_clones_never_change(
            first in proptest::collection::vec(any::<u8>(), 0..200),
            shared in any::<bool>(),
            steps in proptest::collection::vec(step(), 0..40),
        ) {
            let mut model = first.clone();
            let mut rope = if shared { Rope::from_shared(first) } else { Rope::from_vec(first) };
            let mut clones: Vec<(Rope, Vec<u8>)> = Vec::new();
            for step in steps {
                match step {
                    Step::Write(at, bytes) => {
                        rope.write(at, &bytes).unwrap();
                        let end = at + bytes.len();
                        model.resize(model.len().max(at).max(end), 0);
                        model[at..end].copy_from_slice(&bytes);
                    }
                    Step::Resize(len) => {
                        rope.resize(len).unwrap();
                        model.resize(len, 0);
                    }
                    Step::Clone => clones.push((rope.clone(), model.clone())),
                    Step::Forget => drop(clones.pop()),
                }
                for (rope, model) in clones.iter().chain([&(rope.clone(), model.clone())]) {
                    prop_assert_eq!(rope.len(), model.len());
                    prop_assert_eq!(&rope.to_vec(), model);
                    for start in (0..model.len()).step_by(17) {
                        let end = (start + 23).min(model.len());
                        let mut found = vec![0; end - start];
                        rope.read(start, &mut found).unwrap();
                        prop_assert_eq!(&found[..], &model[start..end]);
                        prop_assert!(rope.slice(start..end).is_none_or(|bytes| bytes == &model[start..end]));
                    }
                    prop_assert!(rope.read(model.len(), &mut [0]).is_err());
                }
            }
        }
    }
}
