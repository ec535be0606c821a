//! Changes of a frame, each made to a list of chunks as well.

use b2nd::SChunk;
use libfuzzer_sys::arbitrary::{Result, Unstructured};

/// Whether a frame is small enough to be changed and read many times.
pub fn is_small(frame: &SChunk) -> bool {
    let little = frame.nchunks() <= 32 && frame.params().typesize() <= 64 && frame.nbytes() <= 1 << 15;
    little && u64::from(frame.chunksize()) <= 1 << 16
}

/// The decompressed chunks, where all can be read.
pub fn read(frame: &SChunk) -> Option<Vec<Vec<u8>>> {
    let chunks: Option<Vec<Vec<u8>>> = (0..frame.nchunks()).map(|n| frame.decompress_chunk(n).ok()).collect();
    // Where the header says another size than the chunks, items are not found by their number.
    chunks.filter(|chunks| chunks.iter().map(|chunk| chunk.len() as u64).sum::<u64>() == frame.nbytes())
}

/// Changes the frame up to six times: a change is done as on a list of chunks, or leaves everything as it was. Returns the
/// chunks, where they can be known.
pub fn follow(u: &mut Unstructured<'_>, frame: &mut SChunk) -> Result<Option<Vec<Vec<u8>>>> {
    let mut model = read(frame).filter(|_| !crate::is_lossy(frame.params()));
    for _ in 0..6 {
        if u.is_empty() || frame.nbytes() > 1 << 16 {
            break;
        }
        let count = frame.nchunks();
        let mut next = model.clone().unwrap_or_else(|| vec![Vec::new(); count as usize]);
        let done = change(u, frame, &mut next)?;
        if done.is_err() {
            assert_eq!(frame.nchunks(), count, "{done:?}");
        }
        if let Some(model) = &mut model {
            if done.is_ok() {
                *model = next;
            }
            let found = read(frame).expect("every chunk could be read before");
            assert_eq!(found.concat(), model.concat(), "{done:?}");
            // Appended items may fill up the last chunk.
            *model = found;
        }
    }
    Ok(model)
}

fn change(u: &mut Unstructured<'_>, frame: &mut SChunk, next: &mut Vec<Vec<u8>>) -> Result<b2nd::Result<()>> {
    let count = frame.nchunks();
    let place = u.int_in_range(0..=count)?;
    let typesize = frame.params().typesize() as usize;
    let nitems = match u.arbitrary::<bool>()? {
        true => (frame.chunksize() as usize / typesize).max(1),
        false => u.int_in_range(1usize..=64)?,
    };
    let items = vec![u.arbitrary()?; nitems * typesize];
    let at = place as usize;
    Ok(match u.int_in_range(0u8..=9)? {
        0 => frame.append(&items).map(|()| next.push(items)),
        1 => frame.extend(&items).map(|()| next.push(items)),
        2 => frame.insert(place, &items).map(|()| next.insert(at, items)),
        3 => frame.update(place, &items).map(|()| next[at] = items),
        4 => frame.delete(place).map(|()| drop(next.remove(at))),
        5 => {
            let order: Vec<u64> = (0..count).map(|n| (n + place) % count.max(1)).collect();
            let places = at % next.len().max(1);
            frame.reorder(&order).map(|()| next.rotate_left(places))
        }
        6 => {
            let start = u.int_in_range(0..=frame.nitems())?;
            frame.write_items(start, &items).map(|()| overwrite(next, start as usize * typesize, &items))
        }
        7 => match frame.chunk(place).map(|chunk| chunk.into_owned()) {
            Ok(chunk) => frame.append_chunk(&chunk).map(|()| next.push(next[at].clone())),
            Err(error) => Err(error),
        },
        8 => frame.set_vlmetalayer("note", &items),
        _ => frame.compact(),
    })
}

/// Items in the place of others, wherever chunks begin.
fn overwrite(chunks: &mut [Vec<u8>], start: usize, items: &[u8]) {
    let places = chunks.iter_mut().flatten().skip(start);
    places.zip(items).for_each(|(place, &item)| *place = item);
}

/// What a frame says of itself, and its first chunks.
pub type Looked = (u64, u64, u64, Vec<Option<Vec<u8>>>);

/// Looks at a frame, so that it can be compared with another.
pub fn look(frame: &SChunk) -> Looked {
    let chunks = (0..frame.nchunks().min(8)).map(|n| frame.decompress_chunk(n).ok());
    (frame.nchunks(), frame.nbytes(), frame.nitems(), chunks.collect())
}

/// What was opened, if it was.
pub fn outcome(frame: &b2nd::Result<SChunk>) -> Option<Looked> {
    frame.as_ref().ok().map(look)
}
