//! Reads that need only the start of a block: the same items, whatever the codec and filter.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may fail")]

use b2nd::{Array, Codec, Dtype, Exec, OpenOptions, Options, Params, SplitMode, s};
use b2nd_testkit::rng::Rng;

/// 40 × 30 × 20 items of 4 bytes in blocks of 16 × 10 × 8, whose edges cut blocks.
fn array(params: &Params) -> (Array, Vec<u32>) {
    let mut rng = Rng::new(3);
    let items: Vec<u32> = (0..24_000u32).map(|n| n / 3 + (rng.next_u64() % 9) as u32 * (n % 2)).collect();
    let options = Options::new().with_chunks([32, 30, 16]).with_blocks([16, 10, 8]).with_exec(Exec::new(2));
    let options = options.with_params(params.clone());
    let mut array = options.create(None, Dtype::parse("<u4").unwrap(), &[40, 30, 20]).unwrap();
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
            let points = array.read_items::<u32>(b2nd::Selection::flat([i as i64 * 600, 5, 5])).unwrap();
            assert_eq!(points, [at(i, 0, 0), items[5], items[5]], "{params:?}");
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
