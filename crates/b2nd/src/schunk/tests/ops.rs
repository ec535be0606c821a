//! Random changes of the list of chunks, on a super-chunk and on a list of bytes.

use super::*;
use crate::schunk::CreateOptions;
use proptest::prelude::*;
use std::path::Path;

#[derive(Debug, Clone)]
enum Op {
    Append(Items),
    Insert(u64, Items),
    Update(u64, Items),
    UpdateSpecial(u64, Special),
    Delete(u64),
    Reorder(Vec<u32>),
    Fill(Special, u64),
    Extend(usize, u32),
    Write(u64, usize, u32),
    Compact,
    Reopen,
    /// Several at once; whether they are committed.
    Together(Vec<Op>, bool),
}

/// So many items, made of a seed; 0 is for zeros.
type Items = (usize, u32);

const SIZE: usize = 12;

fn items((count, seed): Items) -> Vec<u8> {
    if seed == 0 { vec![0; count * 4] } else { data(seed).into_iter().cycle().take(count * 4).collect() }
}

fn some_items() -> impl Strategy<Value = Items> {
    (prop_oneof![6 => Just(SIZE), 1 => 1..SIZE, 1 => SIZE..3 * SIZE], 0u32..8)
}

fn special() -> impl Strategy<Value = Special> {
    prop_oneof![Just(Special::Zeros), Just(Special::Nan), Just(Special::Uninit), Just(Special::Value)]
}

fn op() -> impl Strategy<Value = Op> {
    let n = 0u64..9;
    let one = prop_oneof![
        3 => some_items().prop_map(Op::Append),
        2 => (n.clone(), some_items()).prop_map(|(n, items)| Op::Insert(n, items)),
        2 => (n.clone(), some_items()).prop_map(|(n, items)| Op::Update(n, items)),
        1 => (n.clone(), special()).prop_map(|(n, kind)| Op::UpdateSpecial(n, kind)),
        2 => n.prop_map(Op::Delete),
        1 => prop::collection::vec(any::<u32>(), 9).prop_map(Op::Reorder),
        1 => (special(), 1u64..40).prop_map(|(kind, count)| Op::Fill(kind, count)),
        1 => (1usize..40, 0u32..8).prop_map(|(count, seed)| Op::Extend(count, seed)),
        2 => (0u64..60, 1usize..30, 0u32..8).prop_map(|(start, count, seed)| Op::Write(start, count, seed)),
        1 => Just(Op::Compact),
        1 => Just(Op::Reopen),
    ];
    let several = (prop::collection::vec(one.clone(), 1..5), any::<bool>());
    prop_oneof![8 => one, 1 => several.prop_map(|(ops, commit)| Op::Together(ops, commit))]
}

fn repeated(kind: Special) -> [u8; 4] {
    match kind {
        Special::Nan => 0x7fc0_0000u32.to_le_bytes(),
        Special::Value => [1, 2, 3, 4],
        _ => [0; 4],
    }
}

fn value(kind: Special) -> Vec<u8> {
    if kind == Special::Value { repeated(kind).to_vec() } else { Vec::new() }
}

/// What an operation makes of a list of chunks; `None` where it is to be refused.
fn expected(op: &Op, mut chunks: Vec<Vec<u8>>, sizes: ChunkSizes) -> Option<Vec<Vec<u8>>> {
    let there = |n: u64| usize::try_from(n).ok().filter(|n| *n < chunks.len());
    match op {
        Op::Append(new) => chunks.push(items(*new)),
        Op::Insert(n, new) if *n <= chunks.len() as u64 => chunks.insert(*n as usize, items(*new)),
        Op::Insert(..) => return None,
        Op::Update(n, new) => {
            let n = there(*n)?;
            chunks[n] = items(*new);
        }
        Op::UpdateSpecial(n, kind) => {
            let n = there(*n)?;
            chunks[n] = repeated(*kind).into_iter().cycle().take(chunks[n].len()).collect();
        }
        Op::Delete(n) => drop(chunks.remove(there(*n)?)),
        Op::Reorder(_) => {
            chunks = order(op, chunks.len()).into_iter().map(|n| chunks[n as usize].clone()).collect();
        }
        Op::Fill(kind, count) => {
            let ChunkSizes::Fixed(size) = sizes else { return None };
            let all: Vec<u8> = repeated(*kind).into_iter().cycle().take(*count as usize * 4).collect();
            let room = chunks.last().map_or(0, |last| size as usize - last.len()).min(all.len());
            if let Some(last) = chunks.last_mut() {
                last.extend_from_slice(&all[..room]);
            }
            chunks.extend(all[room..].chunks(size as usize).map(<[u8]>::to_vec));
        }
        Op::Extend(count, seed) => {
            let new = items((*count, *seed));
            let ChunkSizes::Fixed(size) = sizes else {
                chunks.push(new);
                return Some(chunks);
            };
            let room = chunks.last().map_or(0, |last| size as usize - last.len()).min(new.len());
            if let Some(last) = chunks.last_mut() {
                last.extend_from_slice(&new[..room]);
            }
            chunks.extend(new[room..].chunks(size as usize).map(<[u8]>::to_vec));
        }
        Op::Write(start, count, seed) => {
            let (start, new) = (*start as usize * 4, items((*count, *seed)));
            let mut flat = chunks.concat();
            flat.get_mut(start..start + new.len())?.copy_from_slice(&new);
            for chunk in &mut chunks {
                let rest = flat.split_off(chunk.len());
                *chunk = std::mem::replace(&mut flat, rest);
            }
        }
        Op::Compact | Op::Reopen | Op::Together(..) => {}
    }
    Some(chunks)
}

fn order(op: &Op, len: usize) -> Vec<u64> {
    let Op::Reorder(keys) = op else { return Vec::new() };
    let mut order: Vec<u64> = (0..len as u64).collect();
    order.sort_by_key(|n| keys.get(*n as usize % keys.len()));
    order
}

fn apply(op: &Op, t: &mut FrameTransaction<'_>) -> crate::Result<()> {
    match op {
        Op::Append(new) => t.append(&items(*new)),
        Op::Insert(n, new) => t.insert(*n, &items(*new)),
        Op::Update(n, new) => t.update(*n, &items(*new)),
        Op::UpdateSpecial(n, kind) => t.update_special(*n, *kind, &value(*kind)),
        Op::Delete(n) => t.delete(*n),
        Op::Reorder(_) => t.reorder(&order(op, t.schunk().nchunks() as usize)),
        Op::Fill(kind, count) => t.fill(*kind, &value(*kind), *count),
        Op::Extend(count, seed) => t.extend(&items((*count, *seed))),
        Op::Write(start, count, seed) => t.write_items(*start, &items((*count, *seed))),
        Op::Compact | Op::Reopen | Op::Together(..) => Ok(()),
    }
}

/// All the ways to read must say the same.
fn observe(schunk: &SChunk) -> Vec<Vec<u8>> {
    let chunks = schunk.decompressed_chunks().collect::<crate::Result<Vec<_>>>().unwrap();
    assert_eq!(chunks, contents(schunk).unwrap());
    let flat = chunks.concat();
    assert_eq!(schunk.nbytes(), flat.len() as u64);
    assert_eq!(schunk.read_items(0..schunk.nitems()).unwrap(), flat);
    let (from, to) = (schunk.nitems() / 3, schunk.nitems() * 2 / 3);
    assert_eq!(schunk.read_items(from..to).unwrap(), flat[from as usize * 4..to as usize * 4]);
    let some: Vec<u64> = (0..schunk.nitems()).rev().step_by(5).chain(0..schunk.nitems().min(2)).collect();
    let gathered: Vec<u8> = some.iter().flat_map(|n| flat[*n as usize * 4..][..4].to_vec()).collect();
    assert_eq!(schunk.gather_items(&some).unwrap(), gathered);
    for (info, chunk) in schunk.chunk_infos().zip(&chunks) {
        let info = info.unwrap();
        assert_eq!(info.nbytes as usize, chunk.len());
        let block = info.blocksize.map_or(200, |size| size as usize);
        let last = (chunk.len() - 1) / block;
        let found = schunk.decompress_block(info.number, last).unwrap();
        assert!(chunk.ends_with(&found), "{found:?}");
        assert!(schunk.decompress_block(info.number, 1000).is_err());
    }
    chunks
}

fn run(layout: Layout, path: Option<&Path>, chunksize: Option<u32>, ops: &[Op]) {
    let options = CreateOptions::new(Params::new(4).with_blocksize(Some(16)))
        .with_layout(layout)
        .with_exec(Exec::new(2))
        .with_metalayer("m", *b"fixed")
        .with_vlmetalayer("v", *b"free");
    let options = chunksize.into_iter().fold(options, CreateOptions::with_chunksize);
    let schunk = match path {
        Some(path) => options.create(path),
        None => options.create_in_memory(),
    };
    let mut schunk = schunk.unwrap();
    let mut model: Vec<Vec<u8>> = Vec::new();
    for op in ops {
        match op {
            Op::Compact => schunk.compact().unwrap(),
            Op::Reopen => {
                let Some(path) = path else { continue };
                schunk = super::reopened(schunk, path);
            }
            Op::Together(ops, commit) => {
                let mut t = schunk.transaction();
                let mut wanted = Some(model.clone());
                for op in ops {
                    let sizes = t.schunk().header.chunk_sizes();
                    wanted = wanted.and_then(|chunks| expected(op, chunks, sizes));
                    assert_eq!(apply(op, &mut t).is_ok(), wanted.is_some(), "{op:?}");
                    let Some(wanted) = &wanted else { break };
                    assert_eq!(&observe(t.schunk()), wanted);
                }
                if *commit {
                    assert_eq!(t.commit().is_ok(), wanted.is_some());
                    model = wanted.unwrap_or(model);
                }
            }
            op => {
                let wanted = expected(op, model.clone(), schunk.header.chunk_sizes());
                assert_eq!(schunk.at_once(|t| apply(op, t)).is_ok(), wanted.is_some(), "{op:?}");
                model = wanted.unwrap_or(model);
            }
        }
        assert_eq!(observe(&schunk), model, "{op:?}");
        if let Some(path) = path {
            assert_eq!(observe(&SChunk::open(path, &OpenOptions::new()).unwrap()), model, "what others see");
        }
    }
    check_copies(&schunk, &model);
}

fn check_copies(schunk: &SChunk, model: &[Vec<u8>]) {
    let bytes = schunk.to_bytes().unwrap();
    assert_eq!(observe(&SChunk::from_bytes(bytes, &options()).unwrap()), model);
    for layout in [Layout::Contiguous, Layout::Sparse] {
        let options = CreateOptions::default().with_layout(layout).with_metalayer("m2", *b"more");
        let fast = Params::new(4).with_codec(crate::Codec::Lz4);
        for options in [options.clone(), options.with_params(fast)] {
            let copy = schunk.copy_in_memory(&options).unwrap();
            assert_eq!(observe(&copy), model);
            assert_eq!(copy.layout(), layout);
            assert_eq!(copy.metalayers().map(|(name, _)| name).collect::<Vec<_>>(), ["m", "m2"]);
            assert_eq!(copy.vlmetalayer("v").unwrap().unwrap(), b"free");
            let cut = schunk.copy_in_memory(&options.with_chunksize(20)).unwrap();
            assert_eq!(observe(&cut), model.concat().chunks(20).map(<[u8]>::to_vec).collect::<Vec<_>>());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn memory_follows_the_list(size in prop::option::of(Just(4 * SIZE as u32)), ops in prop::collection::vec(op(), 0..16)) {
        run(Layout::Contiguous, None, size, &ops);
        run(Layout::Sparse, None, size, &ops);
    }

    #[test]
    fn files_follow_the_list(size in prop::option::of(Just(4 * SIZE as u32)), ops in prop::collection::vec(op(), 0..12)) {
        let temp = TempDir::new("ops");
        run(Layout::Contiguous, Some(&temp.path("frame")), size, &ops);
        run(Layout::Sparse, Some(&temp.path("dir")), size, &ops);
    }
}
