//! Reads that need only the start of a block: the same items, whatever the codec and filter.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may fail")]

use b2nd::{Array, Codec, Dtype, Exec, OpenOptions, Options, Params, Selection, SplitMode, s};
use b2nd_testkit::nd::NaiveArray;
use b2nd_testkit::rng::Rng;

/// 40 × 30 × 20 items of 4 bytes in blocks of 16 × 10 × 8, whose edges cut blocks.
fn array(params: &Params) -> (Array, Vec<u32>) {
    let mut rng = Rng::new(3);
    let items: Vec<u32> = (0..24_000u32).map(|n| n / 3 + (rng.next_u64() % 9) as u32 * (n % 2)).collect();
    let options = Options::new().with_chunks([32, 30, 16]).with_blocks([16, 10, 8]).with_exec(Exec::new(2));
    let options = options.with_params(params.clone());
    let mut array = options.create_in_memory(Dtype::parse("<u4").unwrap(), [40, 30, 20]).unwrap();
    array.write_items(s![], &items).unwrap();
    (array, items)
}

fn all_params() -> Vec<Params> {
    let mut all = Vec::new();
    for codec in [Codec::Lz4, Codec::Lz4Hc, Codec::BloscLz, Codec::Zstd] {
        for filters in ["shuffle", "bitshuffle", "none", "delta,shuffle"] {
            for split in [SplitMode::Always, SplitMode::Never] {
                let pipeline = filters.parse().unwrap();
                all.push(Params::new(4).with_codec(codec).with_pipeline(pipeline).with_split(split));
            }
        }
    }
    all
}

#[test]
fn planes_boxes_and_items_are_those_that_were_written() {
    for params in all_params() {
        let (array, items) = array(&params);
        let at = |i: usize, j: usize, k: usize| items[(i * 30 + j) * 20 + k];
        for i in 0..40 {
            let plane: Vec<u32> = items[i * 600..(i + 1) * 600].to_vec();
            assert_eq!(array.read_items::<u32>(s![i]).unwrap(), plane, "{params:?} plane {i}");
        }
        let mut rng = Rng::new(8);
        let mut below = |n: usize| rng.between(0, n as i64 - 1) as usize;
        for _ in 0..300 {
            let (i, j, k) = (below(40), below(30), below(20));
            assert_eq!(array.read_items::<u32>(s![i, j, k]).unwrap(), [at(i, j, k)], "{params:?}");
            let (a, b) = (below(35), below(26));
            let found = array.read_items::<u32>(s![a + 4..a;-2, b..b + 3, [k, 0]]).unwrap();
            let mut expected = Vec::new();
            for i in [a + 4, a + 2] {
                (b..b + 3).for_each(|j| expected.extend([at(i, j, k), at(i, j, 0)]));
            }
            assert_eq!(found, expected, "{params:?}");
            let points = array.read_items::<u32>(Selection::flat([i as i64 * 600, 5, 5])).unwrap();
            assert_eq!(points, [at(i, 0, 0), items[5], items[5]], "{params:?}");
        }
    }
}

/// What is taken along an axis: an index, a few in a row, every so many forwards or backwards, or a list; as text and as indices.
fn picked(rng: &mut Rng, len: i64) -> (String, Vec<usize>) {
    let start = rng.between(0, len - 1);
    let (indices, text): (Vec<i64>, _) = match rng.between(0, 5) {
        0 | 1 => (vec![start], format!("{start}:{}", start + 1)),
        2 => {
            let stop = (start + rng.between(2, 12)).min(len);
            ((start..stop).collect(), format!("{start}:{stop}"))
        }
        3 => {
            let step = rng.between(2, 9);
            ((start..len).step_by(step as usize).collect(), format!("{start}::{step}"))
        }
        4 => {
            let step = rng.between(1, 9);
            ((0..=start).rev().step_by(step as usize).collect(), format!("{start}::-{step}"))
        }
        _ => {
            let list: Vec<i64> = (0..rng.between(1, 4)).map(|_| rng.between(0, len - 1)).collect();
            (list.clone(), format!("{list:?}").replace(' ', ""))
        }
    };
    (text, indices.into_iter().map(|i| i as usize).collect())
}

/// The selection of a view whose axes are the last, the first and the second.
fn reordered(text: &str) -> Selection {
    let parts: Vec<&str> = text.split(", ").collect();
    Selection::parse(&[parts[2], parts[0], parts[1]].join(", ")).unwrap()
}

/// Items of that view in the array's own order.
fn naive_permuted(items: &[u8], [c, a, b]: [usize; 3], itemsize: usize) -> Vec<u8> {
    let places = (0..a * b * c).map(|n| (n % c) * a * b + n / c);
    places.flat_map(|at| items[at * itemsize..][..itemsize].iter().copied()).collect()
}

#[test]
fn few_items_of_a_block_are_those_that_were_written() {
    const SHAPE: [usize; 3] = [37, 50, 70];
    let mut rng = Rng::new(12);
    for (n, itemsize) in [2usize, 3, 4, 6, 8, 12, 16, 24, 5, 40, 200].into_iter().cycle().take(44).enumerate()
    {
        let codec = [Codec::Lz4, Codec::Zstd, Codec::BloscLz, Codec::Zlib][n % 4];
        let split = [SplitMode::Always, SplitMode::Never][n / 11 % 2];
        let mut naive = NaiveArray::zeros(&SHAPE, itemsize);
        for (n, item) in naive.data.chunks_exact_mut(itemsize).enumerate() {
            let value = (n as u64 / 5 * 77 + rng.next_u64() % 3).to_le_bytes();
            item.iter_mut().zip(value.into_iter().cycle()).for_each(|(to, from)| *to = from);
        }
        let params = Params::new(itemsize as u32).with_codec(codec).with_split(split);
        let params = params.with_pipeline("shuffle".parse().unwrap());
        let options = Options::new().with_chunks([20, 50, 66]).with_blocks([10, 25, 33]).with_params(params);
        let dtype = Dtype::parse(&format!("[('a', '|V{}'), ('b', '|u1')]", itemsize - 1)).unwrap();
        let mut array = options.create_in_memory(dtype, SHAPE.map(|n| n as u64)).unwrap();
        array.write_bytes(s![], &naive.data).unwrap();
        for _ in 0..25 {
            let picks: Vec<_> = SHAPE.iter().map(|&len| picked(&mut rng, len as i64)).collect();
            let text = picks.iter().map(|(text, _)| &text[..]).collect::<Vec<_>>().join(", ");
            let indices: Vec<_> = picks.into_iter().map(|(_, indices)| indices).collect();
            let (selection, due) = (Selection::parse(&text).unwrap(), naive.get(&indices));
            assert!(
                array.read_bytes(selection.clone()).unwrap() == due,
                "{itemsize} {codec:?} {split:?} [{text}]"
            );
            let last: Vec<u8> = due.chunks_exact(itemsize).map(|item| item[itemsize - 1]).collect();
            // From the other side: the axes in another order.
            let mut turned = array.view().permute(&[2, 0, 1]).unwrap().read_bytes(reordered(&text)).unwrap();
            turned =
                naive_permuted(&turned, [indices[2].len(), indices[0].len(), indices[1].len()], itemsize);
            assert!(turned == due, "{itemsize} {codec:?} {split:?} [{text}], permuted");
            let field = array.field("b").unwrap().read_bytes(selection.clone()).unwrap();
            assert!(field == last, "{itemsize} {codec:?} {split:?} [{text}], a field");
            let points: Vec<usize> = (0..rng.between(1, 80)).map(|_| rng.between(0, 9999) as usize).collect();
            let selection = Selection::flat(points.iter().map(|&n| n as i64).collect::<Vec<_>>());
            let due = naive.get_flat(&points);
            assert!(
                array.read_bytes(selection.clone()).unwrap() == due,
                "{itemsize} {codec:?} {split:?} {points:?}"
            );
        }
    }
}

#[test]
fn damage_behind_what_is_read_is_found_by_who_reads_it() {
    let params = Params::new(4).with_codec(Codec::Lz4);
    let (array, items) = array(&params);
    let chunk = array.schunk().chunk(0).unwrap().into_owned();
    let mut bytes = array.to_bytes().unwrap();
    let place = bytes.windows(chunk.len()).position(|window| window == chunk).unwrap();
    let word = |at: usize| i32::from_le_bytes(chunk[at..at + 4].try_into().unwrap());
    // The second stream of the first block: of the second bytes of its items, which change seldom.
    let second = word(32) as usize + 4 + word(word(32) as usize) as usize;
    let (stream, len) = (place + second + 4, word(second) as usize);
    assert!((20..1280).contains(&len), "compressed: {len} bytes");
    // Literals without end.
    bytes[stream + len / 2..stream + len].fill(0xff);
    let damaged = Array::from_bytes(bytes, &OpenOptions::new()).unwrap();
    assert!(damaged.read_items::<u32>(s![..16, ..10, ..8]).is_err());
    assert!(!damaged.verify().unwrap().is_sound());
    assert_eq!(damaged.read_items::<u32>(s![0, 0, 0]).unwrap(), items[..1]);
}
