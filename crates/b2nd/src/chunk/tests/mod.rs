//! Chunks byte for byte, round trips over random parameters, and damaged chunks.

use super::*;
use crate::codec::Codec;
use crate::error::{Error, Fault};
use crate::exec::Exec;
use crate::exec::Scratch;
use crate::filter::Pipeline;
use crate::limits::Limits;
use crate::registry::Context;
use proptest::prelude::*;
use std::ops::Range;

mod damaged;
mod dictionary;
mod golden;
mod round_trip;
mod variable;

fn one() -> Exec {
    Exec::new(1)
}

fn plain(chunk: &[u8]) -> Vec<u8> {
    decode(chunk, &Limits::default(), &one()).unwrap()
}

/// Bytes from hexadecimal digits; blanks are skipped.
fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> =
        text.chars().filter(|c| !c.is_whitespace()).map(|c| c.to_digit(16).unwrap() as u8).collect();
    digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}

/// Items that compress: a slow walk, with a little noise.
fn walk(nbytes: usize, typesize: usize) -> Vec<u8> {
    let mut state = 1_u32;
    let mut value = 1000_u64;
    let mut out = Vec::with_capacity(nbytes + typesize);
    while out.len() < nbytes {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        value += u64::from(state >> 30);
        let mut item = vec![0; typesize];
        for (to, from) in item.iter_mut().zip(value.to_le_bytes()) {
            *to = from;
        }
        out.extend(item);
    }
    out.truncate(nbytes);
    out
}

/// Bytes that do not compress.
fn noise(nbytes: usize) -> Vec<u8> {
    let mut state = 7_u64;
    let step = |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    (0..nbytes).map(step).collect()
}
