//! The door to C-Blosc2 by itself: what goes in comes out, and what does not fit is refused.

use crate::installed_rival;
use crate::rival::{Plan, Rival, Setting};
use b2nd_interop::Outcome;

const SETTING: Setting = Setting {
    codec: 5,
    clevel: 5,
    filters: [0, 0, 0, 0, 0, 1],
    filters_meta: [0; 6],
    typesize: 4,
    threads: 2,
};

#[test]
fn chunks_and_arrays_go_through_the_door() -> Outcome {
    let Some(path) = installed_rival()? else { return Ok(()) };
    let rival = Rival::load(&path)?;
    let items: Vec<u8> = (0..3 * 5 * 7u32).flat_map(u32::to_le_bytes).collect();
    let mut chunker = rival.chunker(SETTING)?;
    let (mut chunk, mut read) = (vec![0; items.len() + 32], vec![0; items.len()]);
    let len = chunker.compress(&items, &mut chunk)?;
    chunker.decompress(&chunk[..len], &mut read)?;
    assert_eq!(read, items);
    assert!(chunker.decompress(&chunk[..len - 1], &mut read).is_err());

    let folder = tempfile::tempdir()?;
    let path = folder.path().join("a.b2nd");
    let plan =
        Plan { shape: &[3, 5, 7], chunks: &[2, 3, 4], blocks: &[1, 2, 3], dtype: "<i4", setting: SETTING };
    drop(rival.create(Some(&path), &plan, &items)?);
    let mut array = rival.open(&path, &plan)?;
    array.read(&[0, 0, 0], &[3, 5, 7], &mut read)?;
    assert_eq!(read, items);
    assert!(array.read(&[0, 0, 0], &[3, 5, 8], &mut read).is_err());
    assert!(array.read(&[0, 0], &[3, 5], &mut read).is_err());
    array.write(&[2, 4, 6], &[3, 5, 7], &[1, 2, 3, 4])?;
    array.read(&[2, 4, 6], &[3, 5, 7], &mut read[..4])?;
    assert_eq!(read[..4], [1, 2, 3, 4]);

    let item = |at: usize| items[at * 4..][..4].to_vec();
    let lists = [vec![2, 0], vec![4], vec![6, 6, 1]];
    array.read_orthogonal(&lists, &mut read[..24])?;
    assert_eq!(read[4..8], [1, 2, 3, 4]);
    assert_eq!((&read[8..12], &read[20..24]), (&item(2 * 35 + 4 * 7 + 1)[..], &item(4 * 7 + 1)[..]));
    assert!(array.read_orthogonal(&lists[..2], &mut read[..8]).is_err());
    assert!(array.read_orthogonal(&[vec![3], vec![0], vec![0]], &mut read[..4]).is_err());
    array.read_flat(&[9, 0, 9], &mut read[..12])?;
    assert_eq!((&read[..4], &read[4..8], &read[8..12]), (&item(9)[..], &item(0)[..], &item(9)[..]));
    assert!(array.read_flat(&[105], &mut read[..4]).is_err());
    array.append(0, &items[..2 * 35 * 4])?;
    array.read(&[3, 0, 0], &[5, 5, 7], &mut read[..280])?;
    assert_eq!(read[..280], items[..280]);
    assert!(array.append(0, &items[..7]).is_err() && array.append(3, &items).is_err());
    Ok(())
}
