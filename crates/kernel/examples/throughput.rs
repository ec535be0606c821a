//! Prints the throughput of the kernels, in GB/s of input, by width and level: the numbers of `NOTES.md`.
//!
//! `cargo run --release -p b2nd-kernel --example throughput [KiB ...]`

use std::hint::black_box;
use std::time::Instant;

use b2nd_kernel::boxes::{BoxGrid, Source, swap_bytes};
use b2nd_kernel::cpu::Level;
use b2nd_kernel::{bitshuffle, bytedelta, delta, runs, shuffle};

/// The best of some rounds: other programs can only slow us down.
fn rate(len: usize, mut work: impl FnMut()) -> f64 {
    let calls = (4 << 20) / len + 1;
    let mut best = f64::INFINITY;
    for _ in 0..9 {
        let start = Instant::now();
        for _ in 0..calls {
            work();
        }
        best = best.min(start.elapsed().as_secs_f64() / calls as f64);
    }
    len as f64 / best / 1e9
}

fn row(name: &str, rates: impl IntoIterator<Item = f64>) {
    print!("| {name:<18} |");
    for rate in rates {
        print!(" {rate:>7.1} |");
    }
    println!();
}

fn main() {
    let sizes: Vec<usize> = std::env::args().skip(1).filter_map(|arg| arg.parse().ok()).collect();
    for kib in if sizes.is_empty() { vec![32, 1024] } else { sizes } {
        table(kib * 1024);
    }
}

fn table(len: usize) {
    let levels = Level::available();
    let src: Vec<u8> = (0..len).map(|i| ((i * i) >> 7) as u8).collect();
    let mut dst = vec![0; len];
    println!("\n{} KiB: {levels:?}", len / 1024);
    row("memcpy", [rate(len, || black_box(&mut dst).copy_from_slice(black_box(&src)))]);
    for width in [2, 3, 4, 6, 8, 12, 16, 24, 32, 100] {
        for (name, kernel) in [
            ("shuffle", shuffle::shuffle as fn(Level, usize, &[u8], &mut [u8])),
            ("unshuffle", shuffle::unshuffle),
            ("bitshuffle", bitshuffle::shuffle),
            ("bitunshuffle", bitshuffle::unshuffle),
        ] {
            let rates = levels
                .iter()
                .map(|&level| rate(len, || kernel(level, width, black_box(&src), black_box(&mut dst))));
            row(&format!("{name} {width}"), rates.collect::<Vec<_>>());
        }
    }
    for unit in [1, 2, 4, 8] {
        let encode = levels.iter().map(|&level| {
            rate(len, || delta::encode_first(level, unit, black_box(&src), black_box(&mut dst)))
        });
        row(&format!("encode_first {unit}"), encode.collect::<Vec<_>>());
        let decode =
            levels.iter().map(|&level| rate(len, || delta::decode_first(level, unit, black_box(&mut dst))));
        row(&format!("decode_first {unit}"), decode.collect::<Vec<_>>());
    }
    let xor = levels
        .iter()
        .map(|&level| rate(len, || delta::xor_reference(level, 8, black_box(&mut dst), black_box(&src))));
    row("xor_reference 8", xor.collect::<Vec<_>>());
    let differences = levels
        .iter()
        .map(|&level| rate(len, || bytedelta::encode(level, black_box(&src), black_box(&mut dst))));
    row("bytedelta encode", differences.collect::<Vec<_>>());
    let sums = levels.iter().map(|&level| rate(len, || bytedelta::decode(level, black_box(&mut dst))));
    row("bytedelta decode", sums.collect::<Vec<_>>());
    let same = vec![7; len];
    row("uniform", [rate(len, || assert!(runs::uniform(black_box(&same)).is_some()))]);
    row("swap_bytes 2 4 8", [2, 4, 8].map(|unit| rate(len, || swap_bytes(unit, black_box(&mut dst)))));
    boxes(&src, &mut dst);
}

/// One box in the middle of a wider output: rows of 64 items, and the same transposed.
fn boxes(src: &[u8], dst: &mut [u8]) {
    for itemsize in [1, 2, 4, 8, 12] {
        let rows = src.len() / 2 / (64 * itemsize);
        let shape = [rows, 128];
        let out = &mut dst[..rows * 128 * itemsize];
        let item = itemsize as isize;
        let mut rates = Vec::new();
        for strides in [[64 * item, item], [item, rows as isize * item]] {
            rates.push(rate(rows * 64 * itemsize, || {
                let cuts = vec![vec![0, rows], vec![0, 64, 128]];
                let grid = BoxGrid::new(out, itemsize, &shape, cuts);
                let taken = grid.as_ref().and_then(|grid| grid.take(&[0, 1]));
                let source = Source { bytes: black_box(src), offset: 0, strides: &strides };
                assert!(taken.is_some_and(|mut taken| taken.copy_from(source)));
            }));
        }
        row(&format!("box, transposed {itemsize}"), rates);
    }
}
