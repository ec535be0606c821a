//! The LZ4 decoder at every level against a plain reading of the format, in memory of exactly the right size.

use b2nd_kernel::cpu::Level;
use b2nd_kernel::lz4::{decode, decode_start};

/// A plain reading: byte after byte. `None` for a block that is broken or too long.
fn oracle(dictionary: &[u8], src: &[u8], room: usize) -> Option<Vec<u8>> {
    let mut src = src.iter().copied();
    let mut out = dictionary.to_vec();
    let room = room + dictionary.len();
    loop {
        let token = usize::from(src.next()?);
        for _ in 0..length(token >> 4, &mut src)? {
            out.push(src.next()?);
            if out.len() > room {
                return None;
            }
        }
        let Some(low) = src.next() else { return Some(out.split_off(dictionary.len())) };
        let offset = usize::from(u16::from_le_bytes([low, src.next()?]));
        for _ in 0..length(token & 15, &mut src)? + 4 {
            out.push(*out.get(out.len().checked_sub(offset)?)?);
            if out.len() > room {
                return None;
            }
        }
    }
}

fn length(token: usize, src: &mut impl Iterator<Item = u8>) -> Option<usize> {
    let mut len = token;
    if token == 15 {
        loop {
            let byte = src.next()?;
            len += usize::from(byte);
            if byte != 255 {
                break;
            }
        }
    }
    Some(len)
}

/// All levels, and no byte outside what is lent: the allocations have no room to spare, and a sanitizer watches them.
fn check(dictionary: &[u8], src: &[u8], room: usize) -> bool {
    let expected = oracle(dictionary, src, room);
    let (dictionary, src): (Box<[u8]>, Box<[u8]>) = (dictionary.into(), src.into());
    for level in Level::available() {
        let mut dst = vec![0xa5; room].into_boxed_slice();
        let found = decode(level, &dictionary, &src, &mut dst);
        match &expected {
            Some(bytes) => {
                assert_eq!(found, Ok(bytes.len()), "{level:?} {src:?} {room}");
                assert!(dst[..bytes.len()] == bytes[..], "{level:?} {src:?} {room}");
            }
            None => assert!(found.is_err_and(|it| it.offset <= src.len()), "{level:?} {src:?} {room}"),
        }
        check_starts(level, (&dictionary, &src), room, expected.as_deref());
    }
    expected.is_some()
}

/// The starts of what a block stands for; of a broken one whatever comes before the break, at every level the same.
fn check_starts(level: Level, (dictionary, src): (&[u8], &[u8]), room: usize, whole: Option<&[u8]>) {
    let len = whole.map_or(room, <[u8]>::len);
    for part in [0, 1, len / 3, len / 2, len.saturating_sub(1), len] {
        let part = part.min(len);
        let mut dst = vec![0x5a; part].into_boxed_slice();
        let found = decode_start(level, dictionary, src, &mut dst);
        if let Some(whole) = whole {
            assert_eq!(found, Ok(part), "{level:?} {src:?} {part}");
            assert!(dst[..] == whole[..part], "{level:?} {src:?} {part}");
        } else {
            let mut other = vec![0x5a; part].into_boxed_slice();
            let same = decode_start(Level::Scalar, dictionary, src, &mut other);
            assert_eq!(found, same, "{level:?} {src:?} {part}");
            assert!(found.is_err() || dst == other, "{level:?} {src:?} {part}");
        }
    }
}

struct Noise(u64);

impl Noise {
    fn next(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % below
    }

    /// Mostly few, sometimes many.
    fn long_or_short(&mut self) -> usize {
        let most = [2, 8, 20, 70, 300, 3000][self.next(6)];
        self.next(most)
    }
}

/// Appends a sequence; without an offset it is the last one.
fn push(block: &mut Vec<u8>, literals: &[u8], matched: Option<(usize, usize)>) {
    let len = matched.map_or(0, |(_, len)| len - 4);
    block.push((literals.len().min(15) << 4 | len.min(15)) as u8);
    push_length(block, literals.len());
    block.extend_from_slice(literals);
    if let Some((offset, _)) = matched {
        block.extend_from_slice(&(offset as u16).to_le_bytes());
        push_length(block, len);
    }
}

fn push_length(block: &mut Vec<u8>, len: usize) {
    if let Some(mut rest) = len.checked_sub(15) {
        while rest >= 255 {
            block.push(255);
            rest -= 255;
        }
        block.push(rest as u8);
    }
}

/// A sound block and the length of what it stands for.
fn random_block(noise: &mut Noise, dictionary: usize) -> (Vec<u8>, usize) {
    let (mut block, mut len) = (Vec::new(), 0);
    for _ in 0..noise.next(40) {
        let literals: Vec<u8> = (0..noise.long_or_short()).map(|_| noise.next(256) as u8).collect();
        len += literals.len();
        let back = (len + dictionary).min(65535);
        if back == 0 {
            continue;
        }
        let most = [4, 20, 70, back][noise.next(4)].min(back);
        let matched = (1 + noise.next(most), 4 + noise.long_or_short());
        push(&mut block, &literals, Some(matched));
        len += matched.1;
    }
    let literals: Vec<u8> = (0..noise.long_or_short()).map(|_| noise.next(256) as u8).collect();
    push(&mut block, &literals, None);
    (block, len + literals.len())
}

#[test]
fn every_short_string_over_a_small_alphabet() {
    let alphabet = [0x00, 0x10, 0x1f, 0xf0, 0x01, 0x04, 0xff];
    let mut sound = 0;
    for len in 0..=5 {
        for number in 0..alphabet.len().pow(len) {
            let src: Vec<u8> =
                (0..len).map(|i| alphabet[number / alphabet.len().pow(i) % alphabet.len()]).collect();
            for room in [0, 1, 20, 300] {
                sound += usize::from(check(&[], &src, room));
            }
            sound += usize::from(check(b"abc", &src, 100));
        }
    }
    assert!(sound > 100, "{sound}");
}

#[test]
fn every_period_and_length() {
    for offset in (1..70).chain([127, 128, 129, 255, 256, 300]) {
        let period: Vec<u8> = (0..offset).map(|i| (i * 7 + 1) as u8).collect();
        for len in (4..300).chain([1000, 5003]) {
            for last in [0, 5, 12, 80] {
                let mut block = Vec::new();
                push(&mut block, &period, Some((offset, len)));
                push(&mut block, &vec![9; last], None);
                assert!(check(&[], &block, offset + len + last));
            }
        }
    }
}

#[test]
fn random_blocks_with_and_without_a_dictionary() {
    let mut noise = Noise(0x2545_f491_4f6c_dd1d);
    for round in 0..6000 {
        let dictionary: Vec<u8> =
            (0..if round % 2 == 0 { 0 } else { noise.next(600) }).map(|i| i as u8).collect();
        let (block, len) = random_block(&mut noise, dictionary.len());
        assert!(check(&dictionary, &block, len));
        assert!(check(&dictionary, &block, len + noise.next(100)));
        if len > 0 {
            assert!(!check(&dictionary, &block, noise.next(len)));
        }
    }
}

#[test]
fn damaged_blocks() {
    let mut noise = Noise(0x9e37_79b9_7f4a_7c15);
    let (mut sound, mut broken) = (0, 0);
    for round in 0..3000 {
        let (mut block, len) = random_block(&mut noise, 40);
        for _ in 0..4 {
            let at = noise.next(block.len());
            match noise.next(3) {
                0 => block[at] ^= 1 << noise.next(8),
                1 => block[at] = [0, 255, 15, 240][noise.next(4)],
                _ => block.truncate(at.max(1)),
            }
            let dictionary = vec![7; if round % 2 == 0 { 40 } else { 0 }];
            if check(&dictionary, &block, len) { sound += 1 } else { broken += 1 }
        }
    }
    assert!(sound > 100 && broken > 100, "{sound} {broken}");
}

#[test]
fn what_is_wrong_is_said() {
    let decoded = |src: &[u8]| decode(Level::detect(), &[], src, &mut [0; 8]).unwrap_err();
    assert_eq!(decoded(&[]).reason, "the block is cut off");
    assert_eq!(decoded(&[0x10, 1, 0, 0, 0]).reason, "a match has the offset 0");
    assert_eq!(decoded(&[0x10, 1, 2, 0, 0]).reason, "a match begins before the start of the data");
    assert_eq!(decoded(&[0x90; 12]).reason, "the block stands for more bytes than there is room for");
    assert_eq!(decoded(&[0x10, 1, 1, 0, 0xf0]).offset, 4);
}
