//! Flipped bits of files that b2nd wrote with its defaults: an error, or nothing that is read has changed.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking, in its helper functions too"
)]

use b2nd::chunk::Special;
use b2nd::io::{FileId, ReadStore};
use b2nd::schunk::CreateOptions;
use b2nd::{Array, Codec, Dtype, Error, Exec, Layout, OpenOptions, Options, Params, Result, SChunk, s};
use b2nd_testkit::rng::Rng;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Flips of the larger files that the daily check tries; `B2ND_FLIPS` says another number.
const RANDOM_FLIPS: u64 = 1500;

/// The files of a frame, in memory: a flip is then no write to a medium.
#[derive(Debug, Clone, Default)]
struct Files(BTreeMap<u64, Vec<u8>>);

fn key(file: FileId) -> u64 {
    match file {
        FileId::Frame => u64::MAX,
        FileId::Chunk(n) => u64::from(n),
    }
}

impl Files {
    fn load(path: &Path) -> (Self, Layout) {
        let mut files = BTreeMap::new();
        if path.is_file() {
            files.insert(u64::MAX, std::fs::read(path).unwrap());
            return (Files(files), Layout::Contiguous);
        }
        for entry in std::fs::read_dir(path).unwrap() {
            let entry = entry.unwrap();
            let name = entry.file_name().into_string().unwrap();
            let number = name.strip_suffix(".chunk").map(|n| u64::from_str_radix(n, 16).unwrap());
            files.insert(number.unwrap_or(u64::MAX), std::fs::read(entry.path()).unwrap());
        }
        (Files(files), Layout::Sparse)
    }
    fn bits(&self) -> u64 {
        self.0.values().map(|bytes| 8 * bytes.len() as u64).sum()
    }
    fn flip(&mut self, mut bit: u64) {
        for bytes in self.0.values_mut() {
            match bytes.get_mut((bit / 8) as usize) {
                Some(byte) => {
                    *byte ^= 1 << (bit % 8);
                    return;
                }
                None => bit -= 8 * bytes.len() as u64,
            }
        }
        panic!("there is no such bit");
    }
    fn get(&self, file: FileId) -> Result<&[u8]> {
        let gone = || Error::Usage(format!("there is no {file:?}"));
        self.0.get(&key(file)).map(Vec::as_slice).ok_or_else(gone)
    }
}

impl ReadStore for Files {
    fn len(&self, file: FileId) -> Result<u64> {
        Ok(self.get(file)?.len() as u64)
    }
    fn read_at(&self, file: FileId, offset: u64, buf: &mut [u8]) -> Result<()> {
        let found = self.get(file)?.get(offset as usize..).and_then(|rest| rest.get(..buf.len()));
        buf.copy_from_slice(found.ok_or_else(|| Error::Usage("the file is too short".to_owned()))?);
        Ok(())
    }
}

/// All that can be read of a frame.
type Content = (Vec<u8>, Vec<(String, Vec<u8>)>, Vec<(String, Vec<u8>)>, String);

fn read(files: &Files, layout: Layout, checks: bool) -> Result<Content> {
    let options = OpenOptions::new().with_exec(Exec::new(1)).with_checks(checks);
    let schunk = SChunk::open_store(Arc::new(files.clone()), layout, &options)?;
    let metalayers: Vec<(String, Vec<u8>)> =
        schunk.metalayers().map(|(name, content)| (name.to_owned(), content.to_vec())).collect();
    let mut attributes = Vec::new();
    for name in schunk.vlmetalayer_names()? {
        attributes.push((name.to_owned(), schunk.vlmetalayer(name)?.unwrap_or_default()));
    }
    let mut about = format!("{} {:?} {:?}", schunk.nchunks(), schunk.params(), schunk.chunksize());
    if !metalayers.iter().any(|(name, _)| name == "b2nd") {
        let mut items = Vec::new();
        for n in 0..schunk.nchunks() {
            items.extend(schunk.decompress_chunk(n)?);
        }
        return Ok((items, metalayers, attributes, about));
    }
    let array = Array::from_schunk(schunk)?;
    about += &format!(" {:?} {} {:?}", array.shape(), array.dtype(), array.chunks());
    Ok((array.read_bytes(s![])?, metalayers, attributes, about))
}

struct TempDir(PathBuf);

impl TempDir {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("b2nd-flips-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        TempDir(path)
    }
}

impl Drop for TempDir {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Items that compress, but not to nothing.
fn items(count: u32) -> Vec<u8> {
    (0..count).flat_map(|n| ((n / 3) ^ ((n * 7919) % 61)).to_le_bytes()).collect()
}

fn array(path: &Path, codec: Codec, layout: Layout, shape: &[u64], chunks: &[u64], blocks: &[u64]) {
    let params = Params::new(4).with_codec(codec).with_clevel(if codec == Codec::Zlib { 0 } else { 5 });
    let mut array = Options::new()
        .with_chunks(chunks)
        .with_blocks(blocks)
        .with_params(params)
        .with_layout(layout)
        .with_vlmetalayer("units", *b"\xa1K")
        .create(path, Dtype::parse("<i4").unwrap(), shape)
        .unwrap();
    let count: u64 = shape.iter().product();
    array.write_bytes(s![], &items(count as u32)).unwrap();
    array.set_vlmetalayer("history", b"\xa5twice").unwrap();
}

/// Small files of every kind, each written by several commits.
fn small(dir: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut place = |name: &str| {
        files.push(dir.join(name));
        dir.join(name)
    };
    array(&place("lz4"), Codec::Lz4, Layout::Contiguous, &[40], &[16], &[8]);
    array(&place("zstd"), Codec::Zstd, Layout::Contiguous, &[6, 7], &[4, 4], &[2, 4]);
    array(&place("stored"), Codec::Zlib, Layout::Contiguous, &[40], &[40], &[10]);
    array(&place("sparse"), Codec::BloscLz, Layout::Sparse, &[30], &[16], &[8]);
    // Chunks that are more than one read, with an entry for each block.
    array(&place("blocks"), Codec::Lz4, Layout::Contiguous, &[6000], &[4096], &[1024]);
    let special = CreateOptions::new(Params::new(4)).with_chunksize(400).with_metalayer("user", *b"\xa3abc");
    let mut schunk = special.create(place("special")).unwrap();
    schunk.fill(Special::Zeros, &[], 200).unwrap();
    schunk.fill(Special::Value, &[1, 2, 3, 4], 200).unwrap();
    schunk.append(&items(50)).unwrap();
    schunk.append(&items(10)).unwrap(); // behind a short one: sizes differ from now on
    let fields: Vec<String> = (0..20).map(|n| format!("('a field with a long name {n}', '<i4')")).collect();
    let dtype = Dtype::parse(&format!("[{}]", fields.join(", "))).unwrap();
    let mut long = Options::new().create(place("long"), dtype, [3]).unwrap();
    assert!(std::fs::metadata(dir.join("long")).unwrap().len() > 512);
    long.write_bytes(s![], &items(60)).unwrap();
    files
}

#[test]
fn every_flipped_bit_of_a_small_file_is_an_error_or_changes_nothing() {
    let temp = TempDir::new("small");
    for path in small(&temp.0) {
        let (mut files, layout) = Files::load(&path);
        let whole = read(&files, layout, true).unwrap();
        let (bits, mut unseen, mut without) = (files.bits(), 0, 0);
        for bit in 0..bits {
            files.flip(bit);
            match read(&files, layout, true) {
                Err(_) => {}
                Ok(found) if found == whole => unseen += 1,
                Ok(_) => panic!("{}: bit {bit} of {bits} gives other data", path.display()),
            }
            // So that the test shows what checksums are for.
            if bit % 16 == 5 {
                without += u64::from(read(&files, layout, false).is_ok_and(|found| found != whole));
            }
            files.flip(bit);
        }
        println!("{}: {bits} bits, {unseen} in gaps, {} wrong without checks", path.display(), 16 * without);
        assert!(unseen < bits * 3 / 4, "{}: {unseen} of {bits}", path.display());
        assert!(without > 0, "{}: nothing was wrong", path.display());
    }
}

#[test]
fn flipped_bits_of_larger_files_are_errors() {
    let temp = TempDir::new("larger");
    let flips: u64 = std::env::var("B2ND_FLIPS").map_or(RANDOM_FLIPS, |n| n.parse().unwrap());
    let mut rng = Rng::new(5);
    let codecs = [Codec::Lz4, Codec::Zstd, Codec::BloscLz];
    for (n, codec) in codecs.into_iter().enumerate() {
        let path = temp.0.join(n.to_string());
        array(&path, codec, Layout::Contiguous, &[200, 300], &[64, 128], &[16, 64]);
        let (mut files, layout) = Files::load(&path);
        let whole = read(&files, layout, true).unwrap();
        let mut unseen = 0;
        for _ in 0..flips / codecs.len() as u64 {
            let bit = rng.below(files.bits());
            files.flip(bit);
            match read(&files, layout, true) {
                Err(error) => assert_ne!(error.fault(), b2nd::Fault::Limit, "{error}"),
                Ok(found) if found == whole => unseen += 1,
                Ok(_) => panic!("{codec:?}: bit {bit} gives other data"),
            }
            files.flip(bit);
        }
        println!("{codec:?}: {} bits, {unseen} of the flips in gaps", files.bits());
    }
}
