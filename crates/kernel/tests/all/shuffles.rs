//! Every level of this machine against bit-by-bit and byte-by-byte oracles, and against samples of the reference.

use b2nd_kernel::cpu::Level;
use b2nd_kernel::{bitshuffle, shuffle};

type Kernel = fn(Level, usize, &[u8], &mut [u8]);

/// Bytes without a pattern (xorshift).
fn noise(len: usize, seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    (0..len)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state.to_le_bytes()[4]
        })
        .collect()
}

fn byte_oracle(width: usize, src: &[u8]) -> Vec<u8> {
    let items = src.len() / width;
    let mut dst = src.to_vec();
    for i in 0..items {
        for j in 0..width {
            dst[j * items + i] = src[i * width + j];
        }
    }
    dst
}

fn bit_oracle(width: usize, src: &[u8]) -> Vec<u8> {
    let items = src.len() / width / 8 * 8;
    let mut dst = src.to_vec();
    dst[..items * width].fill(0);
    for i in 0..items {
        for j in 0..width {
            for b in 0..8 {
                let bit = src[i * width + j] >> b & 1;
                dst[(8 * j + b) * (items / 8) + i / 8] |= bit << (i % 8);
            }
        }
    }
    dst
}

/// Runs a kernel with both sides at odd places of bigger buffers, and sees that it stays inside.
fn run(kernel: Kernel, level: Level, width: usize, src: &[u8], skew: usize) -> Vec<u8> {
    let mut from = vec![0x5a; skew];
    from.extend_from_slice(src);
    let mut to = vec![0xa5; skew * 3 + src.len() + 70];
    kernel(level, width, &from[skew..], &mut to[skew * 3..][..src.len()]);
    assert!(to[..skew * 3].iter().chain(&to[skew * 3 + src.len()..]).all(|&b| b == 0xa5), "wrote outside");
    to[skew * 3..][..src.len()].to_vec()
}

fn check(width: usize, len: usize) {
    let src = noise(len, (width * 31 + len) as u64);
    let (bytes, bits) = (byte_oracle(width, &src), bit_oracle(width, &src));
    let skew = (len + width) % 17;
    for level in Level::available() {
        // Not assert_eq: nobody wants to read a megabyte of numbers.
        assert!(run(shuffle::shuffle, level, width, &src, skew) == bytes, "shuffle {level:?} {width} {len}");
        assert!(
            run(shuffle::unshuffle, level, width, &bytes, skew) == src,
            "unshuffle {level:?} {width} {len}"
        );
        assert!(
            run(bitshuffle::shuffle, level, width, &src, skew) == bits,
            "bitshuffle {level:?} {width} {len}"
        );
        assert!(
            run(bitshuffle::unshuffle, level, width, &bits, skew) == src,
            "bitunshuffle {level:?} {width} {len}"
        );
    }
}

#[test]
fn every_short_length_of_common_widths() {
    for width in [1, 2, 3, 4, 5, 8, 12, 16, 17, 24, 32] {
        for len in 0..300 {
            check(width, len);
        }
    }
}

#[test]
fn every_number_of_items_around_the_vectors() {
    for width in [2, 3, 4, 6, 7, 8, 9, 12, 15, 16, 17, 31, 32, 33] {
        for items in
            (0..200).chain([255, 256, 257, 383, 384, 505, 512, 519, 520, 521, 1023, 1024, 1031, 1032])
        {
            check(width, items * width);
            check(width, items * width + width - 1);
        }
    }
}

#[test]
fn all_widths_at_block_sizes() {
    for width in (1..=40).chain([48, 64, 100, 127, 128, 255, 256, 257, 1000]) {
        for len in [width, 4096, 16 * 1024, 16 * 1024 + 13, 32 * 1024 - 1] {
            check(width, len);
        }
    }
    for width in [2, 4, 7, 8, 16, 24, 255] {
        check(width, 1 << 20);
        check(width, (1 << 20) + 77);
    }
}

/// Stores are aligned by doing some items again, wherever the result begins.
#[test]
fn results_that_begin_anywhere() {
    for width in [2, 3, 4, 6, 8, 12, 16, 24] {
        let src = noise(64 * width * 20 + 7, width as u64);
        for kernel in [shuffle::shuffle as Kernel, shuffle::unshuffle, bitshuffle::unshuffle] {
            let expected = run(kernel, Level::Scalar, width, &src, 0);
            for level in Level::available().into_iter().skip(1) {
                for skew in 0..64 {
                    assert!(run(kernel, level, width, &src, skew) == expected, "{skew} {level:?} {width}");
                }
            }
        }
    }
}

/// Against plain Rust, which the tests of shorter data hold against the oracles: those take a minute here.
#[test]
fn results_that_go_past_the_caches() {
    let widths = [2, 3, 4, 6, 8, 12, 16, 17, 24];
    for (width, len) in widths.map(|width| (width, (32 << 20) + 3 * width)) {
        let src = noise(len, width as u64);
        for (skew, kernel) in
            [shuffle::shuffle as Kernel, shuffle::unshuffle, bitshuffle::shuffle, bitshuffle::unshuffle]
                .into_iter()
                .enumerate()
        {
            let expected = run(kernel, Level::Scalar, width, &src, 0);
            for level in Level::available().into_iter().skip(1) {
                assert!(run(kernel, level, width, &src, 8 * skew) == expected, "{skew} {level:?} {width}");
            }
        }
    }
}

#[test]
fn levels_that_are_not_there_are_harmless() {
    let src = noise(5000, 1);
    for level in [Level::Scalar, Level::Sse2, Level::Avx2, Level::Avx512, Level::Neon] {
        assert_eq!(run(shuffle::shuffle, level, 4, &src, 1), byte_oracle(4, &src));
        assert_eq!(run(bitshuffle::shuffle, level, 4, &src, 1), bit_oracle(4, &src));
    }
    assert!(Level::detect().is_available());
    assert_eq!(Level::available().first(), Some(&Level::Scalar));
    assert_eq!(Level::available().last(), Some(&Level::detect()));
}

#[test]
fn the_vectors_every_machine_has_are_tested() {
    if cfg!(target_arch = "x86_64") {
        assert!(Level::available().contains(&Level::Sse2));
    }
    if cfg!(target_arch = "aarch64") {
        assert!(Level::available().contains(&Level::Neon));
    }
}

#[test]
fn sample_shuffle() {
    let src = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9];
    for level in Level::available() {
        assert_eq!(run(shuffle::shuffle, level, 4, &src, 0), [0, 4, 1, 5, 2, 6, 3, 7, 8, 9]);
    }
}

#[test]
fn sample_bitshuffle() {
    let src: Vec<u8> = (1..=10_u16).flat_map(u16::to_le_bytes).collect();
    let mut want = vec![0x55, 0x66, 0x78, 0x80];
    want.extend([0; 12]);
    want.extend([0x09, 0x00, 0x0a, 0x00]);
    for level in Level::available() {
        assert_eq!(run(bitshuffle::shuffle, level, 2, &src, 0), want);
    }
    // Eight items and one byte: the byte is copied.
    let odd: Vec<u8> = src[..16].iter().copied().chain([0xee]).collect();
    for level in Level::available() {
        assert_eq!(run(bitshuffle::shuffle, level, 2, &odd, 0)[..5], [0x55, 0x66, 0x78, 0x80, 0]);
        assert_eq!(run(bitshuffle::shuffle, level, 2, &odd, 0)[16], 0xee);
    }
}

#[test]
#[should_panic(expected = "keeps the length")]
fn unequal_lengths_are_refused() {
    shuffle::shuffle(Level::detect(), 4, &[0; 64], &mut [0; 63]);
}

#[test]
#[should_panic(expected = "at least one byte")]
fn width_zero_is_refused() {
    bitshuffle::unshuffle(Level::detect(), 0, &[0; 64], &mut [0; 64]);
}

/// Runs of items of about `each` with gaps of about `gap`, a few of them out of turn, twice, or empty.
fn some_runs(items: usize, each: usize, gap: usize, seed: u64) -> Vec<std::ops::Range<u32>> {
    let picks = noise(1 + 2 * items / (1 + each.min(gap)), seed);
    let (mut runs, mut at) = (Vec::new(), 0);
    for pick in picks.chunks_exact(2) {
        let start = at + usize::from(pick[0]) % (2 * gap + 1);
        let end = start + usize::from(pick[1]) % (2 * each + 1);
        if end > items {
            break;
        }
        runs.push(start as u32..end as u32);
        at = end;
    }
    if let (Some(first), true) = (runs.first().cloned(), seed.is_multiple_of(3)) {
        runs.push(first);
        // Once more, and the last of all first: runs out of turn.
        runs.rotate_right(1);
        runs.reverse();
    }
    runs
}

#[test]
fn items_are_taken_run_after_run() {
    for width in [1, 2, 3, 4, 5, 6, 8, 12, 16, 24, 40] {
        for items in [1, 15, 16, 33, 64, 65, 100, 321, 1000] {
            let kinds = [(1, 1), (1, 30), (3, 5), (20, 40), (200, 100), (400, 0)];
            for (n, (each, gap)) in kinds.into_iter().enumerate() {
                let src = noise(items * width + n, (width * 7 + items) as u64);
                let bytes = byte_oracle(width, &src);
                let wanted = some_runs(items, each, gap, (items + width * n) as u64);
                let due =
                    wanted.iter().flat_map(|run| &src[run.start as usize * width..run.end as usize * width]);
                let due: Vec<u8> = due.copied().collect();
                for level in Level::available() {
                    let mut dst = vec![0xa5; due.len() + 7];
                    shuffle::take(level, width, &bytes, &mut dst[3..due.len() + 3], &wanted);
                    assert!(dst[3..due.len() + 3] == due, "{level:?} {width} {items} {each} {gap}");
                    assert_eq!((&dst[..3], &dst[due.len() + 3..]), (&[0xa5; 3][..], &[0xa5; 4][..]));
                }
            }
        }
    }
}

#[test]
fn runs_out_of_turn_do_not_take_what_is_held_for_them() {
    let src = noise(300 * 8, 4);
    let bytes = byte_oracle(8, &src);
    let wanted = [100..120, 90..110, 0..10, 5..25, 280..300, 230..300, 64..128];
    let due: Vec<u8> =
        wanted.iter().flat_map(|run| &src[run.start as usize * 8..run.end as usize * 8]).copied().collect();
    for level in Level::available() {
        let mut dst = vec![0; due.len()];
        shuffle::take(level, 8, &bytes, &mut dst, &wanted);
        assert_eq!(dst, due, "{level:?}");
    }
}

fn runs_of(run: std::ops::Range<u32>) -> Vec<std::ops::Range<u32>> {
    std::iter::once(run).collect()
}

#[test]
#[should_panic(expected = "what is wanted is there")]
fn items_behind_the_end_are_refused() {
    shuffle::take(Level::detect(), 4, &[0; 64], &mut [0; 56], &runs_of(3..17));
}

#[test]
#[should_panic(expected = "there is room")]
fn items_without_room_are_refused() {
    shuffle::take(Level::detect(), 4, &[0; 64], &mut [0; 52], &runs_of(3..15));
}
