//! Random changes of a frame or an array on a disk, and what it held after each of them.

use super::store::DiskStore;
use b2nd::chunk::Special;
use b2nd::schunk::{CreateOptions, FrameTransaction};
use b2nd::{Array, Dtype, Durability, Exec, Layout, OpenOptions, Options, Params, Resize, Result, SChunk};
use b2nd_testkit::disk::Disk;
use b2nd_testkit::rng::Rng;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// What is changed, and how.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Setup {
    pub(crate) layout: Layout,
    pub(crate) durability: Durability,
    /// Where a contiguous frame starts in its file.
    pub(crate) base: usize,
    /// An array in place of a frame that is none.
    pub(crate) array: bool,
    /// The bytes of a metalayer that makes the header long.
    pub(crate) extra: usize,
    pub(crate) changes: usize,
}

/// What can be read of a frame.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Seen {
    pub(crate) shape: Vec<u64>,
    pub(crate) chunks: Vec<Vec<u8>>,
    layers: BTreeMap<String, Vec<u8>>,
    variable: BTreeMap<String, Vec<u8>>,
}

/// The changes that were made, and what there was to read at first and after each.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) setup: Setup,
    pub(crate) disk: Disk,
    pub(crate) states: Vec<Seen>,
}

/// An open frame, or array.
pub(crate) enum Handle {
    Frame(Box<SChunk>),
    Array(Box<Array>),
}

const CHUNK: usize = 800;

fn options(setup: Setup) -> OpenOptions {
    OpenOptions::new().with_exec(Exec::new(1)).with_durability(setup.durability)
}

impl Setup {
    /// Whether the header does not lie in one sector.
    pub(crate) fn is_long(&self) -> bool {
        self.layout == Layout::Contiguous && self.base % 512 + self.extra + 170 > 512
    }
}

impl Handle {
    pub(crate) fn open(disk: &Arc<Mutex<Disk>>, setup: Setup, write: bool) -> Result<Self> {
        let store = DiskStore::new(disk, setup.layout, setup.base);
        let frame = SChunk::open_store_mut(Box::new(store), setup.layout, &options(setup).with_write(write))?;
        if setup.array {
            Array::from_schunk(frame).map(|array| Handle::Array(Box::new(array)))
        } else {
            Ok(Handle::Frame(Box::new(frame)))
        }
    }
    fn frame(&self) -> &SChunk {
        match self {
            Handle::Frame(frame) => frame,
            Handle::Array(array) => array.schunk(),
        }
    }
    /// Reads all of it.
    pub(crate) fn see(&self) -> Result<Seen> {
        let frame = self.frame();
        let variable = frame.vlmetalayer_names()?.filter(|name| name.starts_with("note"));
        let variable =
            variable.map(|name| Ok((name.to_owned(), frame.vlmetalayer(name)?.unwrap_or_default())));
        let (shape, chunks) = match self {
            Handle::Frame(frame) => (
                vec![frame.nbytes()],
                (0..frame.nchunks()).map(|n| frame.decompress_chunk(n)).collect::<Result<_>>()?,
            ),
            Handle::Array(array) => (array.shape().to_vec(), vec![array.read_bytes(())?]),
        };
        Ok(Seen {
            shape,
            chunks,
            layers: frame.metalayers().map(|(name, content)| (name.to_owned(), content.to_vec())).collect(),
            variable: variable.collect::<Result<_>>()?,
        })
    }
    /// One change, or a few in one; whether it was kept.
    pub(crate) fn change(&mut self, rng: &mut Rng) -> Result<bool> {
        match self {
            Handle::Frame(frame) => change_frame(frame, rng),
            Handle::Array(array) => change_array(array, rng).map(|()| true),
        }
    }
}

/// A new frame on a disk, all of it on the medium.
fn create(setup: Setup, rng: &mut Rng) -> Result<Disk> {
    let params = Params::new(4).with_blocksize(Some(256)).with_clevel(1);
    let frame = if setup.array {
        let new = Options::new()
            .with_exec(Exec::new(1))
            .with_params(params.with_blocksize(None))
            .with_chunks([5, 8])
            .with_blocks([3, 4]);
        let new = new.with_metalayer("long", rng.bytes(setup.extra)).with_metalayer("own", rng.bytes(12));
        let array = new.create_in_memory(Dtype::parse("<i4")?, [13, 17])?;
        let frame = SChunk::from_bytes(array.to_bytes()?, &OpenOptions::new().with_write(true))?;
        let mut array = Array::from_schunk(frame)?;
        array.write_bytes((), &rng.bytes(13 * 17 * 4))?;
        array.set_vlmetalayer("note", &rng.bytes(30))?;
        SChunk::from_bytes(array.to_bytes()?, &OpenOptions::new())?
    } else {
        let new = CreateOptions::new(params).with_chunksize(CHUNK as u32).with_exec(Exec::new(1));
        let new = new.with_metalayer("long", rng.bytes(setup.extra)).with_metalayer("own", rng.bytes(12));
        new.with_vlmetalayer("note", rng.bytes(30))
            .create_with_in_memory(|t| t.extend(&items(rng, 5 * CHUNK)))?
    };
    let disk = Arc::new(Mutex::new(Disk::default()));
    let mut store = DiskStore::new(&disk, setup.layout, setup.base);
    if setup.layout == Layout::Contiguous {
        let file = disk.lock().unwrap().find(super::store::NAME).unwrap();
        disk.lock().unwrap().write(file, 0, &vec![b'#'; setup.base]);
    }
    frame.save_to_store(&mut store, setup.layout)?;
    drop(store);
    let mut disk = Arc::into_inner(disk).unwrap().into_inner().unwrap();
    disk.settle();
    Ok(disk)
}

/// Items that compress well, badly, or to nothing.
fn items(rng: &mut Rng, len: usize) -> Vec<u8> {
    match rng.below(6) {
        0 => vec![0; len],
        1 | 2 => rng.bytes(len),
        _ => {
            let (seed, step) = (rng.below(200) as u8, 1 + rng.below(60) as usize);
            (0..len).map(|n| seed.wrapping_add((n / step) as u8)).collect()
        }
    }
}

/// Makes random changes, each acknowledged when it has returned.
pub(crate) fn run(setup: Setup, rng: &mut Rng) -> Result<Run> {
    let shared = Arc::new(Mutex::new(create(setup, rng)?));
    let mut handle = Handle::open(&shared, setup, true)?;
    let mut states = vec![handle.see()?];
    for _ in 0..setup.changes {
        if rng.chance(20) {
            drop(handle);
            handle = Handle::open(&shared, setup, true)?;
        }
        if let Handle::Frame(frame) = &mut handle
            && rng.chance(12)
        {
            frame.compact()?;
        }
        if handle.change(rng)? {
            states.push(handle.see()?);
            shared.lock().unwrap().done(states.len() - 1);
        }
        let now = Handle::open(&shared, setup, false)?.see()?;
        assert_eq!(states.last(), Some(&now), "another handle sees something else, without any crash");
    }
    drop(handle);
    let disk = Arc::into_inner(shared).unwrap().into_inner().unwrap();
    Ok(Run { setup, disk, states })
}

fn change_frame(frame: &mut SChunk, rng: &mut Rng) -> Result<bool> {
    let mut transaction = frame.transaction();
    for name in ["long", "own"] {
        let found = transaction.schunk().metalayers().find(|(layer, _)| *layer == name);
        let len = found.map_or(0, |(_, content)| content.len());
        if len > 0 && rng.chance(20) {
            transaction.set_metalayer(name, &rng.bytes(len))?;
        }
    }
    let several = if rng.chance(30) { 2 + rng.below(4) } else { 1 };
    for _ in 0..several {
        one_change(&mut transaction, rng)?;
    }
    if rng.chance(10) {
        return Ok(false);
    }
    transaction.commit().map(|()| true)
}

fn one_change(t: &mut FrameTransaction<'_>, rng: &mut Rng) -> Result<()> {
    let (len, fixed) = (t.schunk().nchunks(), t.schunk().chunksize() > 0);
    let size = if rng.chance(8) { 4 * (1 + rng.below(300) as usize) } else { CHUNK };
    let items = items(rng, if fixed { size.min(CHUNK) } else { size });
    let nitems = t.schunk().nbytes() / 4;
    match rng.below(14) {
        0..=2 => t.append(&items),
        3 if fixed => t.extend(&items[..items.len() / 8 * 4]),
        4..=6 if len > 0 => t.update(rng.below(len), &items),
        7 => t.insert(rng.below(len + 1), &items),
        8 | 9 if len > 0 => t.delete(rng.below(len)),
        10 if len > 0 => {
            let mut order: Vec<u64> = (0..len).collect();
            (1..order.len()).for_each(|n| order.swap(n, rng.below(n as u64 + 1) as usize));
            t.reorder(&order)
        }
        11 if nitems > 0 => {
            let start = rng.below(nitems);
            let count = (1 + rng.below(nitems - start)).min(items.len() as u64 / 4);
            t.write_items(start, &items[..count as usize * 4])
        }
        12 if fixed => t.fill(*rng.pick(&[Special::Zeros, Special::Nan]), &[], 1 + rng.below(400)),
        12 => t.set_metalayer("own", &rng.bytes(12)),
        _ => match rng.below(4) {
            0 => t.set_metalayer("own", &rng.bytes(12)),
            1 => t.remove_vlmetalayer("note 2").map(drop),
            n => {
                let len = rng.below(900) as usize;
                t.set_vlmetalayer(if n == 2 { "note" } else { "note 2" }, &rng.bytes(len))
            }
        },
    }
}

fn change_array(array: &mut Array, rng: &mut Rng) -> Result<()> {
    let shape = array.shape().to_vec();
    let axis = rng.below(2) as usize;
    let across = shape[1 - axis];
    match rng.below(9) {
        0 | 1 => {
            let count = (1 + rng.below(6)) * across * 4;
            array.append_bytes(axis, &items(rng, count as usize))
        }
        2 => {
            let count = (1 + rng.below(4)) * across * 4;
            array.insert_bytes(axis, rng.below(shape[axis] + 1), &items(rng, count as usize))
        }
        3 if shape[axis] > 6 => {
            let start = rng.below(shape[axis] - 3);
            array.delete(axis, start..start + 3)
        }
        4 => array.resize(Resize::to([1 + rng.below(20), 1 + rng.below(20)])),
        5 => array.set_vlmetalayer("note", &rng.bytes(60)),
        6 => array.set_metalayer("own", &rng.bytes(12)),
        _ => {
            let (rows, start) = (shape[0].min(1 + rng.below(7)), rng.below(shape[0]));
            let rows = rows.min(shape[0] - start);
            let items = items(rng, (rows * shape[1] * 4) as usize);
            array.write_bytes(b2nd::s![start as i64..(start + rows) as i64], &items)
        }
    }
}
