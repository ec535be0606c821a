//! Frames with checksums that a forger changes and seals again, and headers that are torn beside an undo record, real or forged:
//! data or an error, changes as on a list of chunks; and a header that a record belongs to is read as it was before.
//!
//! The input is a list of choices; mutations go to header, offsets, trailer, the root of the checksums and their segments.
#![no_main]

use b2nd::chunk::Special;
use b2nd::schunk::CreateOptions;
use b2nd::{Array, Dtype, Exec, Options, Params, SChunk};
use b2nd_fuzz::chunks;
use libfuzzer_sys::arbitrary::{Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use std::ops::Range;
use std::sync::LazyLock;
use twox_hash::{XxHash3_64, XxHash3_128};

static FRAMES: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| [plain(), mixed(), long()].into());

/// The sector that a medium writes whole.
const SECTOR: usize = 512;
/// Where the copy of the header starts in the root, counted from its first byte.
const HEADER_COPY: usize = 60;

fuzz_target!(|data: &[u8]| {
    let _ = run(&mut Unstructured::new(data));
});

fn run(u: &mut Unstructured<'_>) -> Result<()> {
    let original = &FRAMES[u.int_in_range(0..=2usize)?];
    let mut forged = Forged::new(original.clone());
    if u.arbitrary()? {
        for _ in 0..u.int_in_range(1u8..=4)? {
            forged.change(u)?;
        }
        if u.ratio(7u8, 8u8)? {
            forged.seal();
        }
        if u.ratio(1u8, 4u8)? {
            let len = u.len().min(64);
            let record = forged.record(u.bytes(len / 2)?, u)?;
            forged.bytes.extend(record);
        }
        open(u, forged.bytes)
    } else {
        torn(u, original, forged)
    }
}

/// A header some of whose sectors are old and some new.
fn torn(u: &mut Unstructured<'_>, original: &[u8], mut forged: Forged) -> Result<()> {
    let at = u.int_in_range(0..=forged.header_len - 1)?;
    let n = u.int_in_range(1..=forged.header_len - at)?;
    let key = u.int_in_range(1u8..=255)?;
    let new: Vec<u8> = original[at..at + n].iter().map(|byte| byte ^ key).collect();
    let record = forged.undo_record(original.len() as u64, at, &original[at..at + n], &new, 0);
    let written: u8 = u.arbitrary()?;
    let mut sectors = (at / SECTOR..=(at + n - 1) / SECTOR).map(|sector| written >> (sector % 8) & 1 == 1);
    for (n, &byte) in new.iter().enumerate() {
        if written >> ((at + n) / SECTOR % 8) & 1 == 1 {
            forged.bytes[at + n] = byte;
        }
    }
    forged.bytes.extend(record);
    if !sectors.all(|written| written) {
        let before = SChunk::from_bytes(original.to_vec(), &b2nd_fuzz::options()).expect("our own frame");
        for write in [false, true] {
            let options = b2nd_fuzz::options().with_write(write);
            let after =
                SChunk::from_bytes(forged.bytes.clone(), &options).expect("a record of the old header");
            assert_eq!(chunks::look(&after), chunks::look(&before));
        }
    }
    open(u, forged.bytes)
}

fn open(u: &mut Unstructured<'_>, bytes: Vec<u8>) -> Result<()> {
    let options = b2nd_fuzz::options();
    if let Ok(array) = Array::from_bytes(bytes.clone(), &options) {
        let _ = (array.read_bytes(()), array.verify());
    }
    let unchecked = SChunk::from_bytes(bytes.clone(), &options.clone().with_checks(false));
    let Ok(checked) = SChunk::from_bytes(bytes.clone(), &options) else { return Ok(()) };
    let unchecked = chunks::look(&unchecked.expect("what opens with checks opens without"));
    for (with, without) in chunks::look(&checked).3.into_iter().zip(unchecked.3) {
        assert!(with.is_none() || with == without, "checks never change what is read");
    }
    let _ = checked.verify();
    if !chunks::is_small(&checked) {
        return Ok(());
    }
    drop(checked);
    let options = options.with_write(true);
    let Ok(mut frame) = SChunk::from_bytes(bytes, &options) else { return Ok(()) };
    let model = chunks::follow(u, &mut frame)?;
    let renewed = frame.renew_checksums();
    if let Some(model) = model {
        renewed.expect("a sound frame");
        let again =
            frame.to_bytes().and_then(|bytes| SChunk::from_bytes(bytes, &options)).expect("a sound frame");
        assert_eq!(chunks::read(&again).expect("a sound frame"), model);
    }
    Ok(())
}

/// A frame that is being changed, and where its parts are.
struct Forged {
    bytes: Vec<u8>,
    header_len: usize,
    offsets: usize,
    trailer: usize,
    /// The contents of the vlmetalayers, the checksums last.
    contents: Vec<Range<usize>>,
    root: usize,
    root_len: usize,
}

impl Forged {
    fn new(bytes: Vec<u8>) -> Self {
        let big = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().expect("four bytes")) as usize;
        let header_len = big(11);
        let end = bytes.len();
        let trailer = end - big(end - 22);
        let offsets = header_len + big(43);
        let count = usize::from(u16::from_be_bytes([bytes[trailer + 7], bytes[trailer + 8]]));
        let mut at = trailer + 9;
        let mut contents = Vec::new();
        for _ in 0..count {
            at += 1 + usize::from(bytes[at] & 0x1f);
            let content = trailer + big(at + 1);
            contents.push(content + 5..content + 5 + big(content + 1));
            at += 5;
        }
        let root = contents.last().expect("the checksums").start + 37;
        assert_eq!(&bytes[root..root + 8], b"b2nd\0sum");
        let root_len =
            u32::from_le_bytes(bytes[root + 12..root + 16].try_into().expect("four bytes")) as usize;
        Forged { header_len, offsets, trailer, contents, root, root_len, bytes }
    }

    /// Changes one thing, and what it is held against.
    fn change(&mut self, u: &mut Unstructured<'_>) -> Result<()> {
        let layer = self.contents.last().expect("the checksums").clone();
        match u.int_in_range(0u8..=7)? {
            0 => self.flip(u, self.root..self.root + self.root_len)?,
            1 => {
                let fields = [8, 12, 16, 32, 40, 48, 56, HEADER_COPY + self.header_len];
                let from_end = [32, 24, 16, 8].map(|n| self.root_len - n);
                let at = self.root + *u.choose(&[&fields[..], &from_end[..]].concat())?;
                let value = *u.choose(&[0, 1, 2, 1 << 24, 1 << 31, 1 << 32, u64::MAX / 8, u64::MAX])?;
                let value = value.wrapping_add(u64::from(u.arbitrary::<u8>()?)).wrapping_sub(4).to_le_bytes();
                let n = if u.arbitrary()? { 4 } else { 8 };
                self.bytes[at..at + n].copy_from_slice(&value[..n]);
            }
            2 => {
                let segments = self.root + self.root_len..layer.end;
                self.flip(u, segments.clone())?;
                let sum = XxHash3_64::oneshot(&self.bytes[segments.clone()]).to_le_bytes();
                self.bytes[segments.start - 8..segments.start].copy_from_slice(&sum);
            }
            3 => {
                self.flip(u, 0..self.header_len)?;
                self.bytes.copy_within(..self.header_len, self.root + HEADER_COPY);
            }
            4 => self.flip(u, self.trailer..self.contents[0].start)?,
            5 => {
                self.flip(u, self.offsets..self.trailer)?;
                let sum = XxHash3_64::oneshot(&self.bytes[self.offsets..self.trailer]).to_le_bytes();
                self.bytes[self.root + 48..self.root + 56].copy_from_slice(&sum);
            }
            6 => self.flip(u, self.header_len..self.offsets)?,
            _ => {
                let first = self.contents[0].clone();
                self.flip(u, first.clone())?;
                let sum = XxHash3_64::oneshot(&self.bytes[first]).to_le_bytes();
                let at = self.root + HEADER_COPY + self.header_len + 4;
                self.bytes[at..at + 8].copy_from_slice(&sum);
            }
        }
        Ok(())
    }

    fn flip(&mut self, u: &mut Unstructured<'_>, range: Range<usize>) -> Result<()> {
        let at = u.int_in_range(range.start..=range.end - 1)?;
        self.bytes[at] ^= u.arbitrary::<u8>()?;
        Ok(())
    }

    /// The fingerprint that belongs to what is there now.
    fn seal(&mut self) {
        let end = self.bytes.len() - 16;
        let mut hasher = XxHash3_128::new();
        let mut at = self.trailer;
        for content in &self.contents {
            hasher.write(&self.bytes[at..content.start]);
            at = content.end;
        }
        hasher.write(&self.bytes[at..end]);
        let len =
            u32::from_le_bytes(self.bytes[self.root + 12..self.root + 16].try_into().expect("four bytes"))
                as usize;
        let root = self.bytes.get(self.root - 37..self.root.saturating_add(len)).unwrap_or_default();
        hasher.write(root);
        let sum = hasher.finish_128().max(1).to_le_bytes();
        self.bytes[end..].copy_from_slice(&sum);
    }

    /// A record of old bytes that nobody wrote there, with a checksum that holds.
    fn record(&self, old: &[u8], u: &mut Unstructured<'_>) -> Result<Vec<u8>> {
        let at = u.int_in_range(0..=self.header_len)?;
        let old = &old[..old.len().min(self.header_len - at)];
        let new = &self.bytes[at..at + old.len()];
        let distance = if u.ratio(3u8, 4u8)? { self.bytes.len() as u64 } else { u.arbitrary()? };
        let phase = if u.ratio(3u8, 4u8)? { u.int_in_range(0..=511)? } else { u.arbitrary()? };
        Ok(self.undo_record(distance, at, old, new, phase))
    }

    fn undo_record(&self, distance: u64, at: usize, old: &[u8], new: &[u8], phase: u32) -> Vec<u8> {
        let mut record = distance.to_le_bytes().to_vec();
        for field in [self.header_len as u32, at as u32, old.len() as u32, phase] {
            record.extend(field.to_le_bytes());
        }
        record.extend([old, new].concat());
        let mut header = self.bytes[..self.header_len].to_vec();
        header[at..at + old.len()].copy_from_slice(old);
        let sum = XxHash3_64::oneshot(&[&record[..], &header].concat());
        record.extend(sum.to_le_bytes());
        record.extend((record.len() as u32 + 12).to_le_bytes());
        record.extend(b"b2undo\0\x01");
        record
    }
}

/// Chunks with blocks.
fn plain() -> Vec<u8> {
    let options =
        Options::new().with_chunks([16, 16]).with_blocks([8, 8]).with_vlmetalayer("note", "a short text");
    let options = options.with_checksums(true).with_exec(Exec::new(1));
    let mut array =
        options.create_in_memory(Dtype::parse("<u2").expect("a dtype"), [40, 30]).expect("an array");
    let items: Vec<u8> = (0..2400u32).map(|n| (n * n / 7) as u8).collect();
    array.write_bytes((), &items).expect("memory");
    array.to_bytes().expect("a frame")
}

/// Chunks of all kinds, and metalayers.
fn mixed() -> Vec<u8> {
    let create =
        CreateOptions::new(Params::new(4)).with_chunksize(600).with_checksums(true).with_exec(Exec::new(1));
    let create = create.with_metalayer("fixed", "0123456789").with_vlmetalayer("note", [7; 300]);
    let mut frame = create.create_in_memory().expect("a frame");
    frame.append(&[5; 600]).expect("memory");
    let noise: Vec<u8> = (0..600u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    frame.append(&noise).expect("memory");
    frame.fill(Special::Zeros, &[], 300).expect("memory");
    frame.append(&(0..600).map(|n| (n / 40) as u8).collect::<Vec<u8>>()).expect("memory");
    frame.to_bytes().expect("a frame")
}

/// A header of more than one sector.
fn long() -> Vec<u8> {
    let fields: Vec<String> = (0..30).map(|n| format!("('a field number {n}', '<i4')")).collect();
    let dtype = Dtype::parse(&format!("[{}]", fields.join(", "))).expect("a dtype");
    let options =
        Options::new().with_chunks([4]).with_blocks([2]).with_checksums(true).with_exec(Exec::new(1));
    let mut array = options.with_vlmetalayer("note", "text").create_in_memory(dtype, [10]).expect("an array");
    array.write_bytes((), &(0..1200u32).map(|n| (n / 5) as u8).collect::<Vec<_>>()).expect("memory");
    array.to_bytes().expect("a frame")
}
