//! Delta and runs against their definitions, and the sample of the format notes.

use b2nd_kernel::cpu::Level;
use b2nd_kernel::delta::{decode_first, encode_first, xor_reference};
use b2nd_kernel::runs::uniform;

fn noise(len: usize) -> Vec<u8> {
    let mut state = len as u32 * 2 + 1;
    (0..len)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state.to_le_bytes()[3]
        })
        .collect()
}

fn first_oracle(unit: usize, src: &[u8]) -> Vec<u8> {
    let whole = src.len().checked_div(unit).unwrap_or(0) * unit;
    let item_before = |i: usize| if i < whole && i >= unit { src[i - unit] } else { 0 };
    src.iter().enumerate().map(|(i, byte)| byte ^ item_before(i)).collect()
}

fn lengths() -> impl Iterator<Item = usize> {
    (0..300).chain([1000, 1023, 1024, 4096, 4099, 65536, 65543])
}

#[test]
fn first_block() {
    for level in Level::available() {
        for unit in [0, 1, 2, 3, 4, 8, 16] {
            for len in lengths() {
                let src = noise(len + 3);
                let src = &src[len % 4..][..len];
                let mut dst = vec![0xcc; len];
                encode_first(level, unit, src, &mut dst);
                assert!(dst == first_oracle(unit, src), "encode {level:?} {unit} {len}");
                decode_first(level, unit, &mut dst);
                assert!(dst == src, "decode {level:?} {unit} {len}");
            }
        }
    }
}

#[test]
fn against_a_reference() {
    for level in Level::available() {
        for unit in [0, 1, 2, 4, 8] {
            for len in lengths() {
                let (src, reference) = (noise(len), noise(len + 9));
                let whole = len.checked_div(unit).unwrap_or(0) * unit;
                let want: Vec<u8> =
                    (0..len).map(|i| if i < whole { src[i] ^ reference[i] } else { src[i] }).collect();
                let mut data = src.clone();
                xor_reference(level, unit, &mut data, &reference);
                assert!(data == want, "{level:?} {unit} {len}");
                xor_reference(level, unit, &mut data, &reference);
                assert!(data == src, "{level:?} {unit} {len}");
            }
        }
    }
}

#[test]
fn sample_delta() {
    let bytes = |items: &[u32]| -> Vec<u8> { items.iter().flat_map(|item| item.to_le_bytes()).collect() };
    let first = bytes(&[0x0100_0000, 11, 13, 16, 10]);
    let second = bytes(&[10, 11, 13, 16, 10]);
    for level in Level::available() {
        let mut dst = vec![0; first.len()];
        encode_first(level, 4, &first, &mut dst);
        assert_eq!(dst[..8], [0, 0, 0, 1, 0x0b, 0, 0, 1]);
        assert_eq!(dst[8..], [6, 0, 0, 0, 0x1d, 0, 0, 0, 0x1a, 0, 0, 0]);
        let mut data = second.clone();
        xor_reference(level, 4, &mut data, &first);
        assert_eq!(data[..8], [0x0a, 0, 0, 1, 0, 0, 0, 0]);
    }
}

#[test]
#[should_panic(expected = "out of range")]
fn a_short_reference_is_refused() {
    xor_reference(Level::detect(), 1, &mut [0; 9], &[0; 8]);
}

#[test]
fn uniform_runs() {
    assert_eq!(uniform(&[]), None);
    for len in (1..600).chain([4096, 5000]) {
        let mut bytes = vec![7; len];
        assert_eq!(uniform(&bytes), Some(7), "{len}");
        for at in (0..len).step_by(1 + len / 40).chain([len - 1]).filter(|_| len > 1) {
            bytes[at] = 6;
            assert_eq!(uniform(&bytes), None, "{len} {at}");
            bytes[at] = 7;
        }
    }
}
