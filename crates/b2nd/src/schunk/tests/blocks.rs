//! Frames whose chunks have blocks of any length: random changes, on a super-chunk and on lists of blocks.

use super::*;
use crate::codec::Codec;
use crate::filter::{Filter, Pipeline};
use crate::registry::Context;
use crate::schunk::CreateOptions;
use proptest::prelude::*;

#[derive(Debug, Clone)]
enum Op {
    Append(Blocks),
    Insert(usize, Blocks),
    Update(usize, Blocks),
    Delete(usize),
    Reorder(Vec<u32>),
    Compact,
    Reopen,
    /// Into the other layout and back.
    Copy,
    /// A chunk with blocks of one size, and its items: both are refused.
    Regular,
}

/// The lengths of the blocks in items, and how many of them are zeros.
type Blocks = Vec<(usize, bool)>;
type Model = Vec<Vec<Vec<u8>>>;

fn made(blocks: &Blocks) -> Vec<Vec<u8>> {
    let item = |n: usize, zeros: bool| if zeros { 0 } else { n as u32 / 3 * 5 };
    let block = |&(len, zeros)| (0..len).flat_map(|n| item(n, zeros).to_le_bytes()).collect();
    blocks.iter().map(block).collect()
}

fn packed(params: &Params, blocks: &[Vec<u8>]) -> Vec<u8> {
    let parts: Vec<&[u8]> = blocks.iter().map(Vec::as_slice).collect();
    chunk::encode_blocks(&parts, params, &Context::default(), &Exec::new(1)).unwrap()
}

fn op() -> impl Strategy<Value = Op> {
    let blocks = || prop::collection::vec((1usize..60, prop::bool::weighted(0.2)), 1..12);
    prop_oneof![
        4 => blocks().prop_map(Op::Append),
        2 => (0usize..6, blocks()).prop_map(|(n, blocks)| Op::Insert(n, blocks)),
        2 => (0usize..6, blocks()).prop_map(|(n, blocks)| Op::Update(n, blocks)),
        2 => (0usize..6).prop_map(Op::Delete),
        1 => prop::collection::vec(any::<u32>(), 6).prop_map(Op::Reorder),
        1 => Just(Op::Compact),
        1 => Just(Op::Reopen),
        1 => Just(Op::Copy),
        1 => Just(Op::Regular),
    ]
}

fn order(keys: &[u32], len: usize) -> Vec<u64> {
    let mut order: Vec<u64> = (0..len as u64).collect();
    order.sort_by_key(|n| keys.get(*n as usize % keys.len()));
    order
}

/// Every way to read says what the model says.
fn check(schunk: &SChunk, model: &Model) {
    let chunks: Vec<Vec<u8>> = model.iter().map(|blocks| blocks.concat()).collect();
    let flat = chunks.concat();
    assert_eq!((schunk.nchunks(), schunk.nbytes()), (chunks.len() as u64, flat.len() as u64));
    assert_eq!(schunk.decompressed_chunks().collect::<crate::Result<Vec<_>>>().unwrap(), chunks);
    assert_eq!(contents(schunk).unwrap(), chunks);
    let nitems = schunk.nitems();
    assert_eq!(schunk.read_items(0..nitems).unwrap(), flat);
    let (from, to) = (nitems / 3, nitems - nitems / 5);
    assert_eq!(schunk.read_items(from..to).unwrap(), flat[from as usize * 4..to as usize * 4]);
    let some: Vec<u64> = (0..nitems).rev().step_by(17).collect();
    let gathered: Vec<u8> = some.iter().flat_map(|n| flat[*n as usize * 4..][..4].to_vec()).collect();
    assert_eq!(schunk.gather_items(&some).unwrap(), gathered);
    for (n, blocks) in model.iter().enumerate() {
        let info = schunk.chunk_info(n as u64).unwrap();
        assert_eq!((info.nbytes as usize, info.blocksize), (chunks[n].len(), None));
        for (b, block) in blocks.iter().enumerate() {
            assert_eq!(&schunk.decompress_block(n as u64, b).unwrap(), block);
        }
        assert!(schunk.decompress_block(n as u64, blocks.len()).is_err());
    }
    assert!(model.is_empty() || (schunk.header.has_vl_blocks() && schunk.version() == 3));
}

fn change(op: &Op, schunk: &mut SChunk, model: &mut Model) {
    let params = schunk.params().clone();
    let len = model.len();
    match op {
        Op::Append(blocks) => {
            schunk.append_chunk(&packed(&params, &made(blocks))).unwrap();
            model.push(made(blocks));
        }
        Op::Insert(n, blocks) => {
            let done = schunk.insert_chunk(*n as u64, &packed(&params, &made(blocks)));
            assert_eq!(done.is_ok(), *n <= len);
            if *n <= len {
                model.insert(*n, made(blocks));
            }
        }
        Op::Update(n, blocks) => {
            let done = schunk.update_chunk(*n as u64, &packed(&params, &made(blocks)));
            assert_eq!(done.is_ok(), *n < len);
            if *n < len {
                model[*n] = made(blocks);
            }
        }
        Op::Delete(n) => {
            assert_eq!(schunk.delete(*n as u64).is_ok(), *n < len);
            if *n < len {
                model.remove(*n);
            }
        }
        Op::Reorder(keys) => {
            let order = order(keys, len);
            schunk.reorder(&order).unwrap();
            *model = order.iter().map(|n| model[*n as usize].clone()).collect();
        }
        Op::Compact => schunk.compact().unwrap(),
        Op::Regular if len > 0 => {
            assert!(schunk.append(&[1; 40]).is_err() && schunk.extend(&[1; 40]).is_err());
            assert!(schunk.write_items(0, &[9; 4]).is_err());
        }
        Op::Regular | Op::Reopen | Op::Copy => {}
    }
}

fn run(layout: Layout, params: Params, ops: &[Op]) {
    let temp = TempDir::new("vl-blocks");
    let path = temp.path("a");
    let mut schunk = CreateOptions::new(params).with_layout(layout).create(&path).unwrap();
    let mut model = Model::new();
    for op in ops {
        match op {
            Op::Reopen => schunk = super::reopened(schunk, &path),
            Op::Copy => {
                let other = if layout == Layout::Sparse { Layout::Contiguous } else { Layout::Sparse };
                let _ = std::fs::remove_file(temp.path("b"));
                let _ = std::fs::remove_dir_all(temp.path("b"));
                let there = CreateOptions::default().with_layout(other);
                let copy = schunk.copy(temp.path("b"), &there).unwrap();
                check(&copy, &model);
                let back = CreateOptions::default().with_layout(layout).with_overwrite(true);
                drop(schunk);
                schunk = copy.copy(&path, &back).unwrap();
            }
            _ => change(op, &mut schunk, &mut model),
        }
        check(&schunk, &model);
    }
    if !model.is_empty() {
        // Compressed anew, chunks have blocks of one size, and the frame says so.
        let anew = schunk.copy_in_memory(&CreateOptions::default().with_params(Params::new(4))).unwrap();
        assert!(!anew.header.has_vl_blocks());
        assert_eq!(contents(&anew).unwrap(), contents(&schunk).unwrap());
        let size = if schunk.chunksize() == 64 { 60 } else { 64 };
        let recut = schunk.copy_in_memory(&CreateOptions::default().with_chunksize(size)).unwrap();
        assert!(!recut.header.has_vl_blocks() && recut.version() == 2);
        assert_eq!(contents(&recut).unwrap().concat(), contents(&schunk).unwrap().concat());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn every_change_of_chunks_with_blocks_of_any_length_is_what_it_says(
        ops in prop::collection::vec(op(), 1..14),
        sparse in any::<bool>(),
        dictionary in any::<bool>(),
    ) {
        let layout = if sparse { Layout::Sparse } else { Layout::Contiguous };
        let pipeline = Pipeline::new().push(Filter::Shuffle, 0).unwrap();
        let params = Params::new(4).with_codec(Codec::Zstd).with_pipeline(pipeline).with_dictionary(dictionary);
        run(layout, params, &ops);
    }
}
