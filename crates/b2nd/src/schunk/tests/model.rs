//! Random operations on a frame and on a model of it.

use super::*;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::path::Path;

#[derive(Debug, Clone)]
enum Op {
    Put(u64, u32),
    Special(u64, Special),
    Zeros(u64),
    SetVlmeta(u8, u32),
    RemoveVlmeta(u8),
    SetMeta(u8),
    Relayout(Vec<Option<u64>>),
    Commit,
    Rollback,
    Reopen,
}

fn op(nchunks: u64) -> impl Strategy<Value = Op> {
    let n = 0..nchunks;
    prop_oneof![
        6 => (n.clone(), 0u32..40).prop_map(|(n, seed)| Op::Put(n, seed)),
        1 => (n.clone(), prop_oneof![Just(Special::Zeros), Just(Special::Nan), Just(Special::Uninit)])
            .prop_map(|(n, kind)| Op::Special(n, kind)),
        1 => n.prop_map(Op::Zeros),
        1 => (0u8..4, 0u32..9).prop_map(|(name, seed)| Op::SetVlmeta(name, seed)),
        1 => (0u8..4).prop_map(Op::RemoveVlmeta),
        1 => any::<u8>().prop_map(Op::SetMeta),
        2 => prop::collection::vec(prop::option::of(0u64..8), 0..8).prop_map(Op::Relayout),
        2 => Just(Op::Commit),
        1 => Just(Op::Rollback),
        1 => Just(Op::Reopen),
    ]
}

#[derive(Debug, Clone, PartialEq)]
struct Model {
    chunks: Vec<Vec<u8>>,
    vlmeta: BTreeMap<String, Vec<u8>>,
    meta: Vec<u8>,
}

fn observe(schunk: &SChunk) -> Model {
    let vlmeta = |name: &str| schunk.vlmetalayer(name).unwrap().unwrap();
    Model {
        chunks: contents(schunk).unwrap(),
        vlmeta: schunk.vlmetalayer_names().unwrap().map(|name| (name.to_owned(), vlmeta(name))).collect(),
        meta: schunk.metalayers().next().unwrap().1.to_vec(),
    }
}

fn special_bytes(kind: Special) -> Vec<u8> {
    match kind {
        Special::Nan => 0x7fc0_0000u32.to_le_bytes().repeat(CHUNKSIZE as usize / 4),
        _ => vec![0; CHUNKSIZE as usize],
    }
}

/// Applies one operation to both; a reopening gives the frame anew.
fn apply(op: &Op, schunk: &mut SChunk, model: &mut Model, committed: &mut Model) {
    match op {
        Op::Put(n, _) | Op::Special(n, _) | Op::Zeros(n) if *n >= schunk.nchunks() => {
            assert!(schunk.put_special(*n, Special::Uninit).is_err());
        }
        Op::Relayout(wanted) => {
            let mut left: Vec<_> = model.chunks.drain(..).map(Some).collect();
            let mut taken = |old: &u64| left.get_mut(*old as usize).and_then(Option::take);
            let list: Vec<_> =
                wanted.iter().map(|old| Some((*old)?).zip(old.as_ref().and_then(&mut taken))).collect();
            let source = |n: u64| list[n as usize].as_ref().map(|(old, _)| *old);
            schunk.relayout(list.len() as u64, Special::Zeros, source).unwrap();
            let chunks = list
                .into_iter()
                .map(|kept| kept.map_or_else(|| special_bytes(Special::Zeros), |kept| kept.1));
            model.chunks = chunks.collect();
            assert_eq!(schunk.nbytes(), model.chunks.len() as u64 * u64::from(CHUNKSIZE));
        }
        Op::Put(n, seed) => {
            let bytes = data(*seed);
            let chunk = encoded(schunk, &bytes);
            schunk.put_chunk(*n, &chunk).unwrap();
            model.chunks[*n as usize] = bytes;
        }
        Op::Special(n, kind) => {
            schunk.put_special(*n, *kind).unwrap();
            model.chunks[*n as usize] = special_bytes(*kind);
        }
        Op::Zeros(n) => {
            let zeros = special_bytes(Special::Zeros);
            let chunk = encoded(schunk, &zeros);
            schunk.put_chunk(*n, &chunk).unwrap();
            assert_eq!(schunk.place(*n).unwrap(), Place::Special(Special::Zeros));
            model.chunks[*n as usize] = zeros;
        }
        Op::SetVlmeta(name, seed) => {
            schunk.stage_vlmetalayer(&format!("v{name}"), &data(*seed)).unwrap();
            model.vlmeta.insert(format!("v{name}"), data(*seed));
        }
        Op::RemoveVlmeta(name) => {
            let name = format!("v{name}");
            assert_eq!(schunk.stage_removal(&name).unwrap(), model.vlmeta.remove(&name).is_some());
        }
        Op::SetMeta(byte) => {
            schunk.stage_metalayer("b2nd", &[*byte; 20]).unwrap();
            model.meta = vec![*byte; 20];
        }
        Op::Commit => {
            schunk.commit().unwrap();
            committed.clone_from(model);
        }
        Op::Rollback => {
            schunk.rollback().unwrap();
            model.clone_from(committed);
        }
        Op::Reopen => {}
    }
}

fn run(layout: Layout, path: Option<&Path>, nchunks: u64, ops: &[Op]) {
    let target = path.map_or(FrameTarget::Memory, |path| FrameTarget::Path { path, overwrite: false });
    let mut schunk = SChunk::create(target, spec(layout, nchunks), &options().common).unwrap();
    let mut model = observe(&schunk);
    let mut committed = model.clone();
    let mut published = false;
    for op in ops {
        if matches!(op, Op::Reopen) {
            let Some(path) = path.filter(|_| published) else { continue };
            drop(schunk);
            schunk = SChunk::open(path, &options().with_write(true)).unwrap();
            model.clone_from(&committed);
        }
        apply(op, &mut schunk, &mut model, &mut committed);
        published |= matches!(op, Op::Commit);
        assert_eq!(observe(&schunk), model);
        if published && let Some(path) = path {
            let other = SChunk::open(path, &options()).unwrap();
            assert_eq!(observe(&other), committed, "what others see");
            if layout == Layout::Sparse {
                assert_eq!(other.cbytes(), stored_bytes(&other));
            }
        }
    }
    let bytes = schunk.to_bytes().unwrap();
    assert_eq!(observe(&SChunk::from_bytes(bytes, &options()).unwrap()), model, "the copy");
}

fn stored_bytes(schunk: &SChunk) -> u64 {
    let len = |n| match schunk.place(n).unwrap() {
        Place::Special(_) => 0,
        Place::Stored { available, .. } => available,
    };
    (0..schunk.nchunks()).map(len).sum()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn memory_follows_the_model(ops in prop::collection::vec(op(5), 0..30)) {
        run(Layout::Contiguous, None, 5, &ops);
        run(Layout::Sparse, None, 5, &ops);
    }

    #[test]
    fn files_follow_the_model(ops in prop::collection::vec(op(5), 0..30)) {
        let temp = TempDir::new("model");
        run(Layout::Contiguous, Some(&temp.path("frame")), 5, &ops);
        run(Layout::Sparse, Some(&temp.path("dir")), 5, &ops);
        drop(temp);
    }

    #[test]
    fn frames_without_chunks_keep_their_metalayers(name in 0u8..4, seeds in prop::collection::vec(0u32..9, 1..4)) {
        let temp = TempDir::new("empty");
        for layout in [Layout::Contiguous, Layout::Sparse] {
            let ops: Vec<Op> = seeds.iter()
                .flat_map(|seed| [Op::SetVlmeta(name, *seed), Op::Commit, Op::Reopen, Op::SetMeta(*seed as u8)]).collect();
            run(layout, None, 0, &ops);
            run(layout, Some(&temp.path(&format!("{layout:?}"))), 0, &ops);
        }
    }
}
