//! Opener and reader against reads of a store: random arrays, selections and orders of answers; how many waves, ranges and bytes
//! a read takes; and forged answers.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, in its helper functions too")]

use b2nd::error::Part;
use b2nd::io::{FileId, FileRange, ReadBudget, ReadStore, Step, WriteStep, WriteStore};
use b2nd::schunk::Opener;
use b2nd::{
    Array, Codec, Dtype, Error, Fault, Filter, Layout, OpenOptions, Options, Params, Pipeline, Result,
    Selection, s,
};
use b2nd_testkit::rng::Rng;
use std::collections::HashMap;
use std::sync::Arc;

/// The files of a frame that is far away, and what was fetched of them.
pub(crate) struct Far {
    layout: Layout,
    files: HashMap<FileId, Vec<u8>>,
    waves: usize,
    ranges: usize,
    bytes: u64,
}

impl Far {
    pub(crate) fn contiguous(bytes: Vec<u8>) -> Self {
        Far::new(Layout::Contiguous, HashMap::from([(FileId::Frame, bytes)]))
    }
    fn new(layout: Layout, files: HashMap<FileId, Vec<u8>>) -> Self {
        Far { layout, files, waves: 0, ranges: 0, bytes: 0 }
    }
    pub(crate) fn sparse(array: &Array) -> Self {
        let mut files = Files::default();
        array.schunk().save_to_store(&mut files, Layout::Sparse).unwrap();
        Far::new(Layout::Sparse, files.0)
    }
    /// Cuts a file off.
    pub(crate) fn cut(&mut self, file: FileId, len: usize) {
        self.files.get_mut(&file).unwrap().truncate(len);
    }
    pub(crate) fn len(&self) -> u64 {
        self.files[&FileId::Frame].len() as u64
    }
    /// The bytes of a range, as many as the file has.
    pub(crate) fn fetch(&self, range: &FileRange) -> Vec<u8> {
        let file = &self.files[&range.file];
        let end = (range.range.end as usize).min(file.len());
        assert!(range.may_be_short || range.range.end <= file.len() as u64, "{range:?} of {}", file.len());
        file.get(range.range.start as usize..end).unwrap_or_default().to_vec()
    }
    /// The bytes of all ranges of a wave, counted.
    pub(crate) fn wave(&mut self, ranges: &[FileRange]) {
        self.waves += 1;
        self.ranges += ranges.len();
        self.bytes += ranges.iter().map(|range| self.fetch(range).len() as u64).sum::<u64>();
    }
    pub(crate) fn counts(&mut self) -> (usize, usize, u64) {
        let counts = (self.waves, self.ranges, self.bytes);
        (self.waves, self.ranges, self.bytes) = (0, 0, 0);
        counts
    }
    pub(crate) fn open(&mut self, options: &OpenOptions) -> Result<b2nd::array::ArraySnapshot> {
        let mut opener = Opener::new(Some(self.len()), self.layout, options);
        while let Step::Need(ranges) = opener.step()? {
            assert!(!ranges.is_empty());
            self.wave(&ranges);
            for range in ranges {
                opener.supply(&range, &self.fetch(&range))?;
            }
        }
        Array::from_snapshot(opener.finish()?)
    }
    /// Reads a selection, answering each wave whole and in order.
    fn read(&mut self, array: &Array, selection: impl Into<Selection>) -> Result<Vec<u8>> {
        let mut reader = array.reader(selection)?;
        while let Step::Need(ranges) = reader.step(&ReadBudget::default())? {
            self.wave(&ranges);
            for range in ranges {
                reader.supply(&range, &self.fetch(&range))?;
            }
        }
        reader.finish()
    }
}

/// Files of a sparse frame in memory.
#[derive(Debug, Clone, Default)]
struct Files(HashMap<FileId, Vec<u8>>);

impl ReadStore for Files {
    fn len(&self, file: FileId) -> Result<u64> {
        Ok(self.0.get(&file).map_or(0, Vec::len) as u64)
    }
    fn read_at(&self, _: FileId, _: u64, _: &mut [u8]) -> Result<()> {
        Err(Error::Usage("written only".to_owned()))
    }
}

impl WriteStore for Files {
    fn reader(&self) -> Arc<dyn ReadStore> {
        Arc::new(self.clone())
    }
    fn apply(&mut self, step: &WriteStep<'_>) -> Result<()> {
        if let WriteStep::Put { file, bytes, .. } = step {
            self.0.insert(*file, bytes.to_vec());
        }
        Ok(())
    }
}

/// Answers in random order: joined with what lies between, divided, or as they were asked for.
fn read_at_random(far: &mut Far, array: &Array, selection: Selection, rng: &mut Rng) -> Result<Vec<u8>> {
    let mut reader = array.reader(selection)?;
    let budget = ReadBudget::new(1 + rng.below(6) as usize, 1 << rng.below(18));
    let mut open: Vec<FileRange> = Vec::new();
    let mut idle = 0;
    loop {
        match reader.step(&budget)? {
            Step::Done => return reader.finish(),
            Step::Need(ranges) => open.extend(ranges),
        }
        assert!(!open.is_empty(), "nothing is asked for and the reader is not done");
        idle += 1;
        assert!(idle < 200_000, "the reader does not end");
        let range = open.swap_remove(rng.below(open.len() as u64) as usize);
        let bytes = far.fetch(&range);
        let after = open.iter().position(|other| {
            other.file == range.file
                && other.range.start >= range.range.end
                && !other.may_be_short
                && !range.may_be_short
        });
        match after.filter(|_| rng.chance(30)) {
            Some(after) => {
                // Two ranges as one, with what lies between them. Others may lie in there too.
                let end = open.swap_remove(after).range.end;
                let joined = FileRange::new(range.file, range.range.start..end);
                open.retain(|other| {
                    other.file != joined.file
                        || other.range.start < joined.range.start
                        || other.range.end > end
                });
                reader.supply(&joined, &far.fetch(&joined))?;
            }
            None if rng.chance(30) && bytes.len() > 2 && !range.may_be_short => {
                let cut = 1 + rng.below(bytes.len() as u64 - 1);
                let middle = range.range.start + cut;
                let (first, last) = bytes.split_at(cut as usize);
                let halves = [(range.range.start..middle, first), (middle..range.range.end, last)];
                let order = if rng.chance(50) { [0, 1] } else { [1, 0] };
                for n in order {
                    let (part, bytes) = &halves[n];
                    reader.supply(&FileRange::new(range.file, part.clone()), bytes)?;
                }
            }
            None => reader.supply(&range, &bytes)?,
        }
    }
}

fn random_array(rng: &mut Rng) -> Array {
    let ndim = 1 + rng.below(3) as usize;
    let shape: Vec<u64> = (0..ndim).map(|_| 1 + rng.below(40)).collect();
    let chunks: Vec<u64> = shape.iter().map(|&len| 1 + rng.below(len)).collect();
    let blocks: Vec<u64> = chunks.iter().map(|&len| 1 + rng.below(len)).collect();
    let itemsize = *rng.pick(&[1usize, 2, 4, 8]);
    let codec = *rng.pick(&[Codec::BloscLz, Codec::Lz4, Codec::Zlib, Codec::Zstd]);
    let filters = *rng.pick(&[
        &[][..],
        &[Filter::Shuffle],
        &[Filter::BitShuffle],
        &[Filter::Delta],
        &[Filter::Delta, Filter::Shuffle],
    ]);
    let mut pipeline = Pipeline::none();
    for filter in filters {
        pipeline = pipeline.push(*filter, 0).unwrap();
    }
    let options = Options::new()
        .with_chunks(chunks)
        .with_blocks(blocks)
        .with_params(
            Params::new(itemsize as u32)
                .with_codec(codec)
                .with_clevel(rng.below(10) as u8)
                .with_pipeline(pipeline),
        )
        .with_checksums(rng.chance(50));
    let mut array = options.create_in_memory(Dtype::raw(itemsize), shape.as_slice()).unwrap();
    for _ in 0..rng.below(4) {
        let selection = random_boxes(rng, &shape);
        let len =
            array.selection_shape(selection.clone()).unwrap().iter().product::<u64>() as usize * itemsize;
        let mut items = rng.bytes(len);
        if rng.chance(50) {
            items.iter_mut().for_each(|byte| *byte &= 3);
        }
        array.write_bytes(selection, &items).unwrap();
    }
    array
}

/// A box as a selection.
fn random_boxes(rng: &mut Rng, shape: &[u64]) -> Selection {
    let sides = shape.iter().map(|&len| {
        let start = rng.below(len);
        (start, start + 1 + rng.below(len - start))
    });
    let (start, stop): (Vec<u64>, Vec<u64>) = sides.unzip();
    Selection::from_box(&start, &stop)
}

fn random_selection(rng: &mut Rng, shape: &[u64]) -> Selection {
    if rng.chance(30) {
        let points = (0..rng.below(20))
            .flat_map(|_| shape.iter().map(|&len| rng.below(len) as i64).collect::<Vec<_>>());
        return Selection::points(points.collect::<Vec<i64>>());
    }
    random_boxes(rng, shape)
}

#[test]
fn a_reader_gives_the_bytes_of_a_direct_read() {
    for seed in 0..150 {
        let mut rng = Rng::new(seed);
        let array = random_array(&mut rng);
        let mut far =
            if rng.chance(50) { Far::contiguous(array.to_bytes().unwrap()) } else { Far::sparse(&array) };
        let opened = far.open(&OpenOptions::new()).unwrap();
        assert_eq!(opened.shape(), array.shape());
        for _ in 0..5 {
            let selection = random_selection(&mut rng, array.shape());
            let expected = array.read_bytes(selection.clone()).unwrap();
            assert!(far.read(&opened, selection.clone()).unwrap() == expected, "seed {seed}");
            let found = read_at_random(&mut far, &opened, selection, &mut rng);
            assert!(found.unwrap() == expected, "seed {seed}, in random order");
        }
    }
}

/// An array of noise with this many chunks of `len` items, in 4 blocks each.
pub(crate) fn noise(chunks: u64, len: u64) -> Array {
    let options = Options::new()
        .with_chunks([1, len])
        .with_blocks([1, len / 4])
        .with_params(Params::new(4).with_codec(Codec::Lz4));
    let options = options.with_checksums(true);
    let mut array = options.create_in_memory(Dtype::parse("<u4").unwrap(), [chunks, len]).unwrap();
    let mut rng = Rng::new(7);
    let items: Vec<u8> = rng.bytes((chunks * len * 4) as usize).into_iter().map(|byte| byte & 0x3f).collect();
    array.write_bytes(s![], &items).unwrap();
    array
}

#[test]
fn opening_takes_one_wave_and_a_point_two_or_three() {
    println!("| frame | what | waves | ranges | bytes |\n|---|---|---|---|---|");
    for (chunks, len) in [(100, 64), (100, 65_536), (100_000, 16)] {
        let array = noise(chunks, len);
        for layout in [Layout::Contiguous, Layout::Sparse] {
            let mut far = match layout {
                Layout::Contiguous => Far::contiguous(array.to_bytes().unwrap()),
                Layout::Sparse => Far::sparse(&array),
            };
            let large = len > 10_000;
            let row = |far: &mut Far, what: &str, most: usize| {
                let (waves, ranges, bytes) = far.counts();
                println!(
                    "| {layout:?}, {chunks} chunks of {} B | {what} | {waves} | {ranges} | {bytes} |",
                    4 * len
                );
                assert!(waves <= most, "{what} of {chunks} chunks of {len} takes {waves} waves");
            };
            let opened = far.open(&OpenOptions::new()).unwrap();
            row(&mut far, "open", 1);
            let item = |far: &mut Far, at: i64| {
                let found = far.read(&opened, s![at, 3]).unwrap();
                assert_eq!(found, array.read_bytes(s![at, 3]).unwrap());
            };
            item(&mut far, 40);
            row(&mut far, "first item", if large { 3 } else { 2 });
            item(&mut far, 60);
            row(&mut far, "another item", if large { 2 } else { 1 });
            let column = far.read(&opened, s![..100, 3]).unwrap();
            assert_eq!(column, array.read_bytes(s![..100, 3]).unwrap());
            // 100 chunks: two budgets of 64 ranges.
            row(&mut far, "column of 100 chunks", if large { 4 } else { 2 });
            let found = far.read(&opened, s![20..30, 2..14]).unwrap();
            assert_eq!(found, array.read_bytes(s![20..30, 2..14]).unwrap());
            row(&mut far, "box in 10 chunks", if large { 2 } else { 1 });
            let found = far.read(&opened, s![[3, 1, 77], 5]).unwrap();
            assert_eq!(found, array.read_bytes(s![[3, 1, 77], 5]).unwrap());
            row(&mut far, "list of 3 chunks", if large { 2 } else { 1 });
            if chunks <= 100 {
                let plane = far.read(&opened, s![.., 2]).unwrap();
                assert_eq!(plane, array.read_bytes(s![.., 2]).unwrap());
                row(&mut far, "plane", if large { 4 } else { 2 });
            }
        }
    }
}

/// Checksums of 20,000 chunks take five segments; a read fetches those of its chunks, with the chunks and not before them.
#[test]
fn segments_of_checksums_are_read_when_their_chunks_are() {
    let array = noise(20_000, 16);
    let bytes = array.to_bytes().unwrap();
    let mut far = Far::contiguous(bytes.clone());
    let opened = far.open(&OpenOptions::new()).unwrap();
    far.counts();
    let mut item = |row: i64| {
        assert_eq!(far.read(&opened, s![row, 3]).unwrap(), array.read_bytes(s![row, 3]).unwrap());
        far.counts()
    };
    let segment = 4096 * 12;
    let (waves, _, first) = item(40);
    assert_eq!(waves, 2);
    let (waves, ranges, other) = item(9000);
    assert!(
        (waves, ranges) == (1, 2) && (segment..segment + 1000).contains(&other),
        "{ranges}, {other} bytes"
    );
    let (waves, ranges, known) = item(9001);
    assert!((waves, ranges) == (1, 1) && known < 1000, "{ranges}, {known} bytes");
    let unchecked = far.open(&OpenOptions::new().with_checks(false)).unwrap();
    far.counts();
    assert_eq!(far.read(&unchecked, s![40, 3]).unwrap(), array.read_bytes(s![40, 3]).unwrap());
    assert!(far.counts().2 + segment <= first + 100);

    // Chunks of several segments at once, in any order.
    for seed in 0..20 {
        let mut rng = Rng::new(seed);
        let opened = far.open(&OpenOptions::new()).unwrap();
        let rows: Vec<i64> = (0..30).flat_map(|_| [rng.below(20_000) as i64, rng.below(16) as i64]).collect();
        let points = Selection::points(rows);
        let expected = array.read_bytes(points.clone()).unwrap();
        assert!(read_at_random(&mut far, &opened, points, &mut rng).unwrap() == expected, "seed {seed}");
    }

    // Damage of one segment is an error for its chunks, and for no others.
    let mut damaged = bytes;
    let at = damaged.len() - 1000;
    damaged[at] ^= 1;
    let mut far = Far::contiguous(damaged.clone());
    let opened = far.open(&OpenOptions::new()).unwrap();
    let local = Array::from_bytes(damaged, &OpenOptions::new()).unwrap();
    for row in [0, 10_000, 16_000] {
        assert_eq!(far.read(&opened, s![row]).unwrap(), array.read_bytes(s![row]).unwrap());
        assert_eq!(local.read_bytes(s![row]).unwrap(), array.read_bytes(s![row]).unwrap());
    }
    for found in [far.read(&opened, s![19_000]), local.read_bytes(s![19_000])] {
        let Err(Error::Format(error)) = found else { panic!("{found:?}") };
        assert_eq!(error.part(), Part::Checksums);
    }
}

#[test]
fn a_frame_whose_length_is_not_known_takes_another_wave_or_a_suffix() {
    let array = noise(100, 64);
    let bytes = array.to_bytes().unwrap();
    for suffix in [false, true] {
        let far = Far::contiguous(bytes.clone());
        let mut opener = Opener::new(None, Layout::Contiguous, &OpenOptions::new());
        let mut waves = 0;
        while let Step::Need(ranges) = opener.step().unwrap() {
            waves += 1;
            for range in &ranges {
                opener.supply(range, &far.fetch(range)).unwrap();
            }
            if suffix && waves == 1 {
                let tail = &bytes[bytes.len().saturating_sub(Opener::TAIL as usize)..];
                opener.supply_suffix(bytes.len() as u64, tail).unwrap();
            }
        }
        assert_eq!(waves, if suffix { 1 } else { 2 });
        assert_eq!(Array::from_snapshot(opener.finish().unwrap()).unwrap().shape(), [100, 64]);
    }
}

#[test]
fn forged_answers_are_errors() {
    let array = noise(100, 64);
    let mut far = Far::contiguous(array.to_bytes().unwrap());
    let opened = far.open(&OpenOptions::new()).unwrap();
    far.read(&opened, s![1, 1]).unwrap();
    let needed = |reader: &mut b2nd::array::Reader| match reader.step(&ReadBudget::default()).unwrap() {
        Step::Need(ranges) => ranges,
        Step::Done => panic!("nothing is needed"),
    };
    let usage = |result: Result<()>| assert_eq!(result.unwrap_err().fault(), Fault::Caller);
    let mut reader = opened.reader(s![5, 5]).unwrap();
    let range = needed(&mut reader).remove(0);
    let bytes = far.fetch(&range);
    usage(reader.supply(&range, &bytes[1..]));
    usage(reader.supply(&range, &[&bytes[..], &[0]].concat()));
    let moved = range.range.start + 1..range.range.end + 1;
    usage(reader.supply(&FileRange::new(range.file, moved), &bytes));
    usage(reader.supply(&FileRange::new(FileId::Chunk(3), range.range.clone()), &bytes));
    usage(reader.supply(&FileRange::new(range.file, 0..4), &[0; 4]));
    reader.supply(&range, &bytes).unwrap();
    usage(reader.supply(&range, &bytes));
    assert_eq!(reader.step(&ReadBudget::default()).unwrap(), Step::Done);
    assert_eq!(reader.finish().unwrap(), array.read_bytes(s![5, 5]).unwrap());
    // Other bytes do not match the checksums.
    for at in (0..bytes.len()).step_by(7) {
        let mut forged = bytes.clone();
        forged[at] ^= 1;
        let mut reader = opened.reader(s![5, 5]).unwrap();
        let range = needed(&mut reader).remove(0);
        let outcome = reader.supply(&range, &forged);
        assert!(outcome.is_err_and(|error| error.fault() == Fault::File), "byte {at}");
    }
    let unfinished = opened.reader(s![5, 5]).unwrap();
    assert_eq!(unfinished.finish().unwrap_err().fault(), Fault::Caller);
    let mut opener = Opener::new(Some(far.len()), Layout::Contiguous, &OpenOptions::new());
    usage(opener.supply(&FileRange::new(FileId::Frame, 0..4), &[0; 4]));
    assert!(opener.finish().is_err());
}

/// The file of an array without items is replaced, and its chunks may lie where those of the old file lay.
#[test]
fn a_handle_finds_no_block_of_a_file_that_was_replaced_in_its_cache() {
    let scratch = crate::scratch::Scratch::new("replaced-cache");
    let items = |seed| Rng::new(seed).bytes(4096).into_iter().map(|byte| byte & 15).collect::<Vec<u8>>();
    let options = Options::new().with_block_cache(1 << 20).with_chunks([4096]).with_blocks([1024]);
    let mut array = options.create(scratch.path(), Dtype::parse("|u1").unwrap(), [0]).unwrap();
    array.resize([4096]).unwrap();
    array.write_bytes(s![], &items(1)).unwrap();
    let before = array.snapshot().unwrap();
    array.resize([0]).unwrap();
    array.resize([4096]).unwrap();
    array.write_bytes(s![], &items(2)).unwrap();
    assert_eq!(before.read_bytes(s![10..20]).unwrap(), items(1)[10..20]);
    assert_eq!(array.read_bytes(s![10..20]).unwrap(), items(2)[10..20]);
}

#[test]
fn borrowed_bytes_have_no_snapshot() {
    let bytes = noise(10, 64).to_bytes().unwrap();
    Array::with_borrowed(&bytes, &OpenOptions::new(), |array| {
        assert_eq!(array.snapshot().err().unwrap().fault(), Fault::Caller);
        assert_eq!(array.reader(s![1]).err().unwrap().fault(), Fault::Caller);
        assert_eq!(array.schunk().snapshot().err().unwrap().fault(), Fault::Caller);
        array.read_bytes(s![1])
    })
    .unwrap();
}

#[test]
fn a_snapshot_keeps_its_state_while_the_array_changes() {
    let mut array = noise(20, 64);
    let before = array.read_bytes(s![]).unwrap();
    let snapshot = array.snapshot().unwrap();
    for round in 0..20u8 {
        array.write_bytes(s![3..9], &vec![round; 6 * 64 * 4]).unwrap();
        assert!(snapshot.read_bytes(s![]).unwrap() == before, "round {round}");
    }
    assert_eq!(array.read_bytes(s![3..9]).unwrap(), [19; 6 * 64 * 4]);
}
