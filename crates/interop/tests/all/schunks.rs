//! Both writers change the list of chunks of one frame in turns, in files, directories and memory; a list of bytes says
//! what each must then read.

use b2nd::chunk::Special;
use b2nd::schunk::{ChunkPlace, CreateOptions};
use b2nd::{Exec, Layout, OpenOptions, Params, SChunk};
use b2nd_interop::case::hex;
use b2nd_interop::python::{self, Server};
use b2nd_interop::write::unhex;
use b2nd_interop::{Outcome, check};
use b2nd_testkit::rng::Rng;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::PathBuf;

const SEQUENCES: u64 = 600;
const TURNS: usize = 8;
const TYPESIZES: [u32; 3] = [1, 4, 8];

/// Where the frame is.
enum Home {
    Path(PathBuf),
    Memory(Vec<u8>),
}

impl Home {
    fn open(&self, write: bool) -> b2nd::Result<SChunk> {
        let options = OpenOptions::new().with_write(write).with_exec(Exec::new(2));
        match self {
            Home::Path(path) => SChunk::open(path, &options),
            Home::Memory(bytes) => SChunk::from_bytes(bytes.clone(), &options),
        }
    }
    fn keep(&mut self, schunk: &SChunk) -> Outcome {
        if let Home::Memory(bytes) = self {
            *bytes = schunk.to_bytes()?;
        }
        Ok(())
    }
    fn ask(&mut self, server: &mut Server, mut command: Value) -> Outcome<Value> {
        command["op"] = json!("schunk");
        match self {
            Home::Path(path) => command["path"] = json!(path),
            Home::Memory(bytes) if !bytes.is_empty() => command["frame"] = json!(hex(bytes)),
            Home::Memory(_) => {}
        }
        let answer = server.ask(&command)?;
        if let (Home::Memory(bytes), Some(frame)) = (self, answer["frame"].as_str()) {
            *bytes = unhex(frame)?;
        }
        Ok(answer)
    }
}

#[derive(Debug, Clone)]
enum Change {
    Append(Vec<u8>),
    Insert(u64, Vec<u8>),
    Update(u64, Vec<u8>),
    Delete(u64),
    Reorder(Vec<u64>),
    Fill(Special, Vec<u8>, u64),
    Write(u64, Vec<u8>),
}

struct Model {
    chunks: Vec<Vec<u8>>,
    typesize: u32,
    size: u32,
}

impl Model {
    fn items(&self, rng: &mut Rng) -> Vec<u8> {
        let size = self.size as usize;
        let items = size / self.typesize as usize;
        let len = match rng.below(10) {
            0 => (1 + rng.below(items as u64) as usize) * self.typesize as usize,
            1 => size + (1 + rng.below(items as u64) as usize) * self.typesize as usize,
            _ => size,
        };
        match rng.below(5) {
            0 => vec![0; len],
            1 => rng.bytes(len),
            _ => (0..len)
                .map(|n| (n / 9) as u8)
                .zip(rng.bytes(1).into_iter().cycle())
                .map(|(a, b)| a ^ b)
                .collect(),
        }
    }
    fn change(&self, rng: &mut Rng, chunksize: u32) -> Change {
        let len = self.chunks.len() as u64;
        let whole = chunksize > 0 && self.chunks.iter().all(|chunk| chunk.len() == chunksize as usize);
        match rng.below(12) {
            0..=2 => Change::Append(self.items(rng)),
            3 => Change::Insert(rng.below(len + 1), self.items(rng)),
            4 | 5 if len > 0 => Change::Update(rng.below(len), self.items(rng)),
            6 | 7 if len > 0 => Change::Delete(rng.below(len)),
            8 if len > 0 => {
                // C-Blosc2 moves a short last chunk and still takes it for the last.
                let fixed = if whole || chunksize == 0 { len } else { len - 1 };
                let mut order: Vec<u64> = (0..len).collect();
                (0..fixed).for_each(|n| order.swap(n as usize, rng.below(fixed) as usize));
                Change::Reorder(order)
            }
            9 | 10 if len > 0 => {
                let nitems =
                    self.chunks.iter().map(Vec::len).sum::<usize>() as u64 / u64::from(self.typesize);
                let start = rng.below(nitems);
                let count = 1 + rng.below(nitems - start);
                Change::Write(start, rng.bytes((count * u64::from(self.typesize)) as usize))
            }
            _ if whole => {
                // What C-Blosc2 reads of items that were never written is any bytes.
                let mut kinds = vec![Special::Zeros, Special::Value];
                kinds.extend((self.typesize > 1).then_some(Special::Nan));
                let kind = *rng.pick(&kinds);
                let value =
                    if kind == Special::Value { rng.bytes(self.typesize as usize) } else { Vec::new() };
                Change::Fill(kind, value, 1 + rng.below(u64::from(3 * chunksize / self.typesize)))
            }
            _ => Change::Append(self.items(rng)),
        }
    }
    fn apply(&mut self, change: &Change, chunksize: u32) {
        match change.clone() {
            Change::Append(items) => self.chunks.push(items),
            Change::Insert(n, items) => self.chunks.insert(n as usize, items),
            Change::Update(n, items) => self.chunks[n as usize] = items,
            Change::Delete(n) => drop(self.chunks.remove(n as usize)),
            Change::Reorder(order) => {
                self.chunks = order.iter().map(|n| self.chunks[*n as usize].clone()).collect();
            }
            Change::Fill(kind, value, nitems) => {
                let item = match (kind, self.typesize) {
                    (Special::Value, _) => value,
                    (Special::Nan, 4) => f32::NAN.to_le_bytes().to_vec(),
                    (Special::Nan, _) => f64::NAN.to_le_bytes().to_vec(),
                    _ => vec![0; self.typesize as usize],
                };
                let all = item.repeat(nitems as usize);
                self.chunks.extend(all.chunks(chunksize as usize).map(<[u8]>::to_vec));
            }
            Change::Write(start, items) => {
                let mut flat = self.chunks.concat();
                let at = (start * u64::from(self.typesize)) as usize;
                flat[at..at + items.len()].copy_from_slice(&items);
                for chunk in &mut self.chunks {
                    let rest = flat.split_off(chunk.len());
                    *chunk = std::mem::replace(&mut flat, rest);
                }
            }
        }
    }
}

impl Change {
    fn name(&self) -> &'static str {
        match self {
            Change::Append(_) => "append",
            Change::Insert(..) => "insert",
            Change::Update(..) => "update",
            Change::Delete(_) => "delete",
            Change::Reorder(_) => "reorder",
            Change::Fill(..) => "fill",
            Change::Write(..) => "write",
        }
    }
    fn lengths(&self) -> (u64, usize) {
        match self {
            Change::Append(items) => (0, items.len()),
            Change::Insert(n, items) | Change::Update(n, items) | Change::Write(n, items) => {
                (*n, items.len())
            }
            Change::Delete(n) => (*n, 0),
            Change::Reorder(order) => (0, order.len()),
            Change::Fill(_, value, nitems) => (*nitems, value.len()),
        }
    }
    fn command(&self) -> Value {
        let kind = self.name();
        match self {
            Change::Append(items) => json!({"kind": kind, "items": hex(items)}),
            Change::Insert(n, items) | Change::Update(n, items) => {
                json!({"kind": kind, "n": n, "items": hex(items)})
            }
            Change::Delete(n) => json!({"kind": kind, "n": n}),
            Change::Reorder(order) => json!({"kind": kind, "order": order}),
            Change::Fill(special, value, nitems) => {
                let special = format!("{special:?}").to_lowercase();
                json!({"kind": kind, "special": special, "value": hex(value), "nitems": nitems})
            }
            Change::Write(start, items) => json!({"kind": kind, "start": start, "items": hex(items)}),
        }
    }
    fn by_us(&self, schunk: &mut SChunk) -> b2nd::Result<()> {
        match self {
            Change::Append(items) => schunk.append(items),
            Change::Insert(n, items) => schunk.insert(*n, items),
            Change::Update(n, items) => schunk.update(*n, items),
            Change::Delete(n) => schunk.delete(*n),
            Change::Reorder(order) => schunk.reorder(order),
            Change::Fill(kind, value, nitems) => schunk.fill(*kind, value, *nitems),
            Change::Write(start, items) => schunk.write_items(*start, items),
        }
    }
    /// What C-Blosc2 does wrong: it keeps chunks that are only an offset when sizes begin to differ, and then nobody knows
    /// how large they are; it fills empty frames only, writes items only where chunks have one size, and does not
    /// put a larger chunk into a
    /// frame without any, nor one behind a single short one. What it does in other ways, and well, is left to it: a
    /// chunk inserted before a short one makes a
    /// frame of different sizes.
    fn is_safe_for_python(&self, before: &SChunk) -> b2nd::Result<bool> {
        let infos = before.chunk_infos().collect::<b2nd::Result<Vec<_>>>()?;
        let offsets = infos.iter().any(|info| info.place == ChunkPlace::Index);
        let (size, len) = (before.chunksize() as usize, before.nchunks());
        let short = infos.last().is_some_and(|last| (last.nbytes as usize) < size);
        let (items, differs) = match self {
            Change::Append(items) => (&items[..], short || items.len() > size),
            Change::Update(n, items) if n + 1 == len => (&items[..], items.len() > size),
            Change::Insert(_, items) => (&items[..], short || items.len() != size),
            Change::Update(_, items) => (&items[..], items.len() != size),
            _ => (&[][..], false),
        };
        let variable = before.version() == 3 || (size > 0 && differs);
        let zeros = !items.is_empty() && items.iter().all(|byte| *byte == 0);
        Ok(match self {
            Change::Fill(..) => before.nchunks() == 0 && before.cbytes() == 0 && size > 0,
            Change::Write(..) => size > 0,
            Change::Append(items) if len == 0 && size > 0 && items.len() > size => false,
            Change::Append(_) if len == 1 && short => false,
            // Of a frame that was opened in memory, C-Blosc2 3.3.5 frees its own bytes (its own frames as well).
            Change::Reorder(_) => before.path().is_some(),
            // It takes the number of a chunk file for an offset, and cannot open what it has left too small for that.
            Change::Delete(gone) => {
                let left = infos.iter().filter(|info| info.number != *gone && info.cbytes > 0);
                let highest = left.clone().filter_map(|info| match info.place {
                    ChunkPlace::File(number) => Some(u64::from(number)),
                    _ => None,
                });
                let cbytes: u64 = left.map(|info| u64::from(info.cbytes)).sum();
                highest.max().is_none_or(|number| number + 32 <= cbytes)
            }
            _ => !variable || !(offsets || zeros),
        })
    }
}

fn create(rng: &mut Rng, home: &mut Home, layout: Layout, server: &mut Server) -> Outcome<Model> {
    let typesize = *rng.pick(&TYPESIZES);
    let size = typesize * (1 + rng.below(120) as u32);
    let blocksize = if rng.chance(50) { 0 } else { typesize * (1 + rng.below(30) as u32) };
    if rng.chance(40) {
        let contiguous = layout == Layout::Contiguous;
        let how = json!({"typesize": typesize, "chunksize": size, "contiguous": contiguous, "blocksize": blocksize});
        home.ask(server, json!({ "create": how }))?;
    } else {
        let params = Params::new(typesize).with_blocksize(Some(blocksize).filter(|size| *size > 0));
        let options = CreateOptions::new(params).with_layout(layout);
        let options = if rng.chance(60) { options.with_chunksize(size) } else { options };
        let path = if let Home::Path(path) = &*home { Some(path.as_path()) } else { None };
        let schunk = match path {
            Some(path) => options.create(path)?,
            None => options.create_in_memory()?,
        };
        home.keep(&schunk)?;
    }
    Ok(Model { chunks: Vec::new(), typesize, size })
}

fn compare(model: &Model, home: &mut Home, server: &mut Server) -> Outcome {
    let schunk = home.open(false)?;
    let chunks = schunk.decompressed_chunks().collect::<b2nd::Result<Vec<_>>>()?;
    if chunks != model.chunks {
        return Err("b2nd reads other chunks".into());
    }
    check::expect("the items", &schunk.read_items(0..schunk.nitems())?, &model.chunks.concat())?;
    let answer = home.ask(server, json!({}))?;
    let digests: Vec<String> = model.chunks.iter().map(|chunk| hex(&Sha256::digest(chunk))).collect();
    check::expect("python's chunks", &answer["chunks"], &json!(digests))?;
    check::expect("python's size", &answer["nbytes"], &json!(schunk.nbytes()))
}

#[test]
fn both_writers_change_the_chunks_of_one_frame() -> Outcome {
    let Some(python) = python::find()? else { return Ok(()) };
    let folder = tempfile::tempdir()?;
    let mut server = python.serve()?;
    let (mut done, mut failures) = (BTreeMap::new(), Vec::new());
    for sequence in 0..SEQUENCES {
        let mut rng = Rng::for_part(4141, sequence);
        let layout = if sequence % 3 == 1 { Layout::Sparse } else { Layout::Contiguous };
        let path = folder.path().join(format!("{sequence}.b2frame"));
        let mut home = if sequence % 3 == 2 { Home::Memory(Vec::new()) } else { Home::Path(path) };
        let mut run = || -> Outcome {
            let mut model = create(&mut rng, &mut home, layout, &mut server)?;
            compare(&model, &mut home, &mut server)?;
            for at in 0..TURNS {
                let mut schunk = home.open(true)?;
                let change = model.change(&mut rng, schunk.chunksize());
                model.apply(&change, schunk.chunksize());
                let about = format!(
                    "of {} chunks of {}, {:?}",
                    schunk.nchunks(),
                    schunk.chunksize(),
                    change.lengths()
                );
                let by_python = rng.chance(50) && change.is_safe_for_python(&schunk)?;
                let result = if by_python {
                    drop(schunk);
                    home.ask(&mut server, json!({"change": change.command()})).map(drop)
                } else {
                    change.by_us(&mut schunk).map_err(Into::into).and_then(|()| home.keep(&schunk))
                };
                result.and_then(|()| compare(&model, &mut home, &mut server)).map_err(|e| {
                    format!("turn {at} ({}, {about}, python writes: {by_python}): {e}", change.name())
                })?;
                *done.entry((change.name(), by_python)).or_insert(0) += 1;
            }
            Ok(())
        };
        if let Err(error) = run() {
            failures.push(format!("sequence {sequence} ({layout:?}): {error}"));
        }
    }
    println!("{SEQUENCES} sequences, {} failures, changes by (python): {done:?}", failures.len());
    assert!(failures.is_empty(), "{}", failures.into_iter().take(20).collect::<Vec<_>>().join("\n"));
    Ok(())
}
