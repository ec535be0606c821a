//! Differences of bytes and their running sums, at every level, against their definition.

use b2nd_kernel::bytedelta::{decode, encode};
use b2nd_kernel::cpu::Level;

fn noise(len: usize) -> Vec<u8> {
    let mut state = len as u32 * 2 + 1;
    (0..len)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state.to_le_bytes()[3]
        })
        .collect()
}

#[test]
fn running_sums_take_differences_back() {
    for level in Level::available() {
        for len in (0..300).chain([1000, 1023, 1024, 4096, 4099, 65536, 65543]) {
            let src = noise(len + 3);
            let src = &src[len % 4..][..len];
            let before = |i: usize| if i == 0 { 0 } else { src[i - 1] };
            let want: Vec<u8> = (0..len).map(|i| src[i].wrapping_sub(before(i))).collect();
            let mut data = vec![0xCC; len];
            encode(level, src, &mut data);
            assert!(data == want, "encode {level:?} {len}");
            decode(level, &mut data);
            assert!(data == src, "decode {level:?} {len}");
        }
    }
}

#[test]
fn sums_are_modulo_256() {
    for level in Level::available() {
        let mut data = vec![0xFF; 100];
        decode(level, &mut data);
        let want: Vec<u8> = (1..=100u8).map(u8::wrapping_neg).collect();
        assert_eq!(data, want, "{level:?}");
    }
}

#[test]
#[should_panic(expected = "keep the length")]
fn lengths_that_differ_are_refused() {
    encode(Level::Scalar, &[1, 2], &mut [0]);
}
