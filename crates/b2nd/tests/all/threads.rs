//! Many threads read through one handle, each on threads of its own: every read gives what is there. Run under ThreadSanitizer, it
//! shows that they do so without races.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use b2nd::{Array, Codec, Dtype, Exec, OpenOptions, Options, Params, s};
use b2nd_testkit::rng::Rng;
use std::path::{Path, PathBuf};
use std::thread;

const SHAPE: [u64; 3] = [30, 41, 52];
const THREADS: u64 = 4;

fn item(index: [u64; 3]) -> i32 {
    let [a, b, c] = index.map(|i| i as i32);
    a * 1_000 + b * b + c / 3
}

fn make(path: &Path, codec: Codec) {
    let all = (0..SHAPE[0]).flat_map(|a| (0..SHAPE[1]).map(move |b| (a, b)));
    let items: Vec<i32> = all.flat_map(|(a, b)| (0..SHAPE[2]).map(move |c| item([a, b, c]))).collect();
    let params = Params::new(4).with_codec(codec);
    let options = Options::new().with_chunks([11, 20, 52]).with_blocks([4, 7, 13]).with_params(params);
    let mut array = options.create(path, Dtype::parse("<i4").unwrap(), SHAPE).unwrap();
    array.write_items((), &items).unwrap();
}

/// Reads boxes, items, points and sums at random places, and all of it.
fn read(array: &Array, seed: u64, rounds: usize) {
    let mut rng = Rng::new(seed);
    for round in 0..rounds {
        let bounds = SHAPE.map(|len| {
            let start = rng.below(len);
            start..start + 1 + rng.below(len - start)
        });
        let [a, b, c] = bounds.clone().map(|range| range.start as i64..range.end as i64);
        let found = array.read_items::<i32>(s![a.clone(), b.clone(), c.clone()]).unwrap();
        let [wide, high, deep] = bounds.clone();
        let places = wide.flat_map(|a| high.clone().map(move |b| (a, b)));
        let want: Vec<i32> = places.flat_map(|(a, b)| deep.clone().map(move |c| item([a, b, c]))).collect();
        assert_eq!(found, want);
        let one = bounds.map(|range| range.start);
        assert_eq!(array.read_items::<i32>(s![a.start, b.start, c.start]).unwrap(), [item(one)]);
        if round % 16 == 0 {
            assert_eq!(array.max(()).unwrap().item::<i32>().unwrap(), item(SHAPE.map(|len| len - 1)));
            assert!(array.verify().unwrap().is_sound());
        }
    }
}

struct Temp(PathBuf);

impl Drop for Temp {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn threads_share_a_handle() {
    let folder = std::env::temp_dir().join(format!("b2nd-threads-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let temp = Temp(folder);
    for codec in [Codec::Lz4, Codec::Zstd] {
        let path = temp.0.join(format!("{codec:?}.b2nd"));
        make(&path, codec);
        let plain = OpenOptions::new().with_exec(Exec::new(2));
        for options in [
            plain.clone(),
            plain.clone().with_block_cache(64 << 10),
            plain.clone().with_checks(false),
            plain.clone().with_mmap(cfg!(feature = "mmap")),
        ] {
            let shared = Array::open_with(&path, &options).unwrap();
            thread::scope(|scope| {
                for seed in 0..THREADS {
                    let (shared, path, options) = (&shared, &path, &options);
                    scope.spawn(move || {
                        read(shared, seed, 40);
                        // And a handle of its own beside it, on the same threads.
                        read(&Array::open_with(path, options).unwrap(), seed + THREADS, 10);
                    });
                }
            });
        }
    }
}
