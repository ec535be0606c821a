//! The numbers of chunk files in a sparse frame against its compressed bytes: C-Blosc2 takes them for offsets, and opens
//! no frame in which one is above the compressed bytes less 32.

use b2nd::{Array, Dtype, Fill, Layout, OpenOptions, Options, Selection};

#[test]
fn a_small_sparse_array_that_is_often_updated_stays_readable_for_others()
-> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::temp_dir().join(format!("b2nd-sparse-numbers-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    let path = folder.join("a.b2nd");
    std::fs::create_dir_all(&folder)?;
    let options =
        Options::new().with_layout(Layout::Sparse).with_fill(Fill::Zeros).with_chunks([1]).with_blocks([1]);
    options.create(&path, Dtype::parse("|u1")?, [2])?;
    for round in 1..=100u8 {
        let mut array = Array::open_with(&path, &OpenOptions::new().with_write(true))?;
        array.write_bytes(Selection::parse("1")?, &[round])?;
        let frame = std::fs::read(path.join("chunks.b2frame"))?;
        let cbytes = u64::from_be_bytes(frame[39..47].try_into()?);
        let names: Vec<String> = std::fs::read_dir(&path)?
            .map(|e| Ok(e?.file_name().to_string_lossy().into_owned()))
            .collect::<Result<_, std::io::Error>>()?;
        let numbers =
            names.iter().filter_map(|n| n.strip_suffix(".chunk")).map(|n| u64::from_str_radix(n, 16));
        let highest = numbers.collect::<Result<Vec<_>, _>>()?.into_iter().max().ok_or("no chunk file")?;
        assert!(highest + 32 <= cbytes, "chunk file {highest} with {cbytes} compressed bytes");
        assert_eq!(Array::open(&path)?.read_bytes(Selection::all())?, [0, round]);
    }
    std::fs::remove_dir_all(&folder)?;
    Ok(())
}
