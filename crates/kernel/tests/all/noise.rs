//! What is taken for noise, and what is not.

use b2nd_kernel::noise::is_noise;

fn noise(len: usize, seed: u64) -> Vec<u8> {
    let mut x = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut step = || {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        (x >> 24) as u8
    };
    (0..len).map(|_| step()).collect()
}

#[test]
fn noise_is_found_at_every_length() {
    let mut table = Vec::new();
    for seed in 1..60 {
        for len in [4096, 4099, 10_000, 65_536, 300_000] {
            assert!(is_noise(&noise(len, seed), &mut table), "{seed} {len}");
        }
    }
    assert!(!is_noise(&noise(4095, 1), &mut table));
    assert!(!is_noise(&[], &mut table));
}

#[test]
fn a_repeat_of_twenty_bytes_is_seen_at_nearly_every_distance() {
    let mut table = Vec::new();
    let mut missed = 0;
    for distance in 20..300 {
        let mut data = noise(20_000, distance as u64);
        let at = 200 + distance % 15;
        data.copy_within(at..at + 20, at + distance);
        missed += usize::from(is_noise(&data, &mut table));
    }
    // Another sequence may have taken the place since.
    assert!(missed <= 5, "{missed} of 280");
}

#[test]
fn whatever_shrinks_is_not_noise() {
    let mut table = Vec::new();
    let noise = noise(65_536, 7);
    let of = |made: &dyn Fn(usize) -> u8| (0..65_536).map(made).collect::<Vec<u8>>();
    let others = [
        ("ramp", of(&|n| n as u8)),
        ("wide ramp", of(&|n| (n as u16 / 2).to_le_bytes()[n % 2])),
        ("seven bits", of(&|n| noise[n] & 127)),
        ("one value in a hundred is doubled", of(&|n| if n % 50 == 0 { 3 } else { noise[n] })),
        ("half", of(&|n| if n < 32_768 { noise[n] } else { 0 })),
        ("late zeros", of(&|n| if n < 63_000 { noise[n] } else { 0 })),
        ("words of a list", of(&|n| noise[usize::from(noise[n / 4]) * 4 + n % 4])),
    ];
    for (name, data) in others {
        assert!(!is_noise(&data, &mut table), "{name}");
    }
}
