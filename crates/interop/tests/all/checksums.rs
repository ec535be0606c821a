//! Checksums beside a foreign writer: what python-blosc2 changes in a file of ours is never called damaged, what it leaves alone
//! still matches, and damage in what b2nd writes after it is found.

use b2nd::schunk::Rewritten;
use b2nd::{Array, Codec, Dtype, Layout, OpenOptions, Options, Selection};
use b2nd_interop::Outcome;
use b2nd_interop::case::hex;
use b2nd_interop::check::expect;
use b2nd_interop::python::{self, Server};
use b2nd_testkit::rng::Rng;
use serde_json::json;
use sha2::{Digest, Sha256};
use std::path::Path;

const SHAPE: [u64; 2] = [200, 100];

/// Some chunks are noise, which is stored.
fn create(path: &Path, layout: Layout, codec: Codec) -> Outcome {
    let mut array = Options::new()
        .with_chunks([64, 64])
        .with_blocks([16, 32])
        .with_codec(codec)
        .with_layout(layout)
        .with_metalayer("owner", *b"\xaab2nd wrote")
        .with_vlmetalayer("units", *b"\xa1K")
        .create(path, Dtype::parse("<i4")?, SHAPE)?;
    let mut rng = Rng::new(3);
    let noise = rng.bytes(64 * 100 * 4);
    let rest = (0..136 * 100u32).flat_map(|n| (n % 1000).to_le_bytes());
    array.write_bytes(Selection::all(), &noise.into_iter().chain(rest).collect::<Vec<u8>>())?;
    array.set_vlmetalayer("history", b"\xa5twice")?;
    Ok(())
}

/// b2nd reads what python reads, with all checks, and finds no damage; returns how many chunks are stale.
fn sound(path: &Path, server: &mut Server) -> Outcome<usize> {
    let array = Array::open(path)?;
    let seen = server.ask(&json!({"op": "see", "path": path}))?;
    expect("items", &seen["sha256"], &json!(hex(&Sha256::digest(array.read_bytes(Selection::all())?))))?;
    let layers = seen["layers"].as_array().ok_or("no layers")?;
    expect("the layer of checksums, unpacked", &layers.contains(&json!("b2nd.digests")), &true)?;
    for name in array.schunk().vlmetalayer_names()? {
        array.schunk().vlmetalayer(name)?;
    }
    let verified = array.verify()?;
    let damage: Vec<String> = verified.damage.iter().map(|damage| damage.error.to_string()).collect();
    expect("damage", &damage, &Vec::new())?;
    expect("has checksums", &array.schunk().has_checksums()?, &true)?;
    if verified.matching == 0 && verified.stale.is_empty() {
        return Err("no chunk is checked".into());
    }
    Ok(verified.stale.len())
}

/// b2nd writes rows 128 to 150 anew; a flipped bit in them is found then.
fn damaged_again(path: &Path) -> Outcome {
    let mut array = Array::open_with(path, &OpenOptions::new().with_write(true))?;
    let items = array.read_bytes(Selection::parse("128:150")?)?;
    let items: Vec<u8> = items.iter().map(|byte| byte.wrapping_add(1)).collect();
    array.write_bytes(Selection::parse("128:150")?, &items)?;
    let info = array.schunk().chunk_info(4)?;
    drop(array);
    let (file, offset) = match info.place {
        b2nd::schunk::ChunkPlace::Offset(offset) => (path.to_path_buf(), offset),
        b2nd::schunk::ChunkPlace::File(number) => (path.join(format!("{number:08X}.chunk")), 0),
        _ => return Err("chunk 4 is not stored".into()),
    };
    let mut bytes = std::fs::read(&file)?;
    let at = usize::try_from(offset)? + info.cbytes as usize * 2 / 3;
    *bytes.get_mut(at).ok_or("past the end")? ^= 4;
    std::fs::write(&file, &bytes)?;
    let array = Array::open(path)?;
    let read = array.read_bytes(Selection::parse("128:150, :64")?);
    let Err(error) = read else { return Err("damage was not seen by a read".into()) };
    expect("names the bytes", &error.to_string().contains("do not match their checksum"), &true)?;
    let damage = array.verify()?.damage;
    expect("damaged chunks", &damage.iter().map(|damage| damage.chunk).collect::<Vec<_>>(), &vec![4])
}

#[test]
fn what_python_blosc2_changes_is_stale_and_not_damaged() -> Outcome {
    let Some(python) = python::find_for("checksums.py", "blosc2")? else { return Ok(()) };
    let folder = tempfile::tempdir()?;
    let mut server = python.serve()?;
    let mut failures = Vec::new();
    // How many chunks a change makes stale.
    let changes = [
        ("update", 1..=1),
        ("same size", 2..=2),
        ("append", 0..=8),
        ("shape", 0..=0),
        ("parameters", 0..=0),
        ("attribute", 0..=0),
        ("metalayer", 0..=0),
    ];
    for layout in [Layout::Contiguous, Layout::Sparse] {
        for codec in [Codec::Zstd, Codec::Lz4] {
            for (how, stale) in &changes {
                let path = folder.path().join(format!("{layout:?}-{codec:?}-{how}.b2nd"));
                let mut run = || -> Outcome {
                    create(&path, layout, codec)?;
                    expect("stale chunks at first", &sound(&path, &mut server)?, &0)?;
                    server.ask(&json!({"op": "change", "how": how, "path": path}))?;
                    let found = sound(&path, &mut server)?;
                    let header = ["shape", "parameters", "metalayer"].contains(how);
                    let wanted = if header { Rewritten::Header } else { Rewritten::Frame };
                    expect("rewritten", &Array::open(&path)?.schunk().rewritten()?, &Some(wanted))?;
                    if !stale.contains(&found) {
                        return Err(format!("{found} stale chunks").into());
                    }
                    damaged_again(&path)
                };
                if let Err(error) = run() {
                    failures.push(format!("{layout:?}, {codec:?}, {how}: {error}"));
                }
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    Ok(())
}

#[test]
fn copies_by_python_blosc2_carry_checksums_along() -> Outcome {
    let Some(python) = python::find_for("checksums.py", "blosc2")? else { return Ok(()) };
    let folder = tempfile::tempdir()?;
    let mut server = python.serve()?;
    for layout in [Layout::Contiguous, Layout::Sparse] {
        let path = folder.path().join(format!("{layout:?}.b2nd"));
        create(&path, layout, Codec::Zstd)?;
        for (how, contiguous) in [("copy", true), ("copy", false), ("to cframe", true)] {
            let to = folder.path().join(format!("{layout:?}-{how}-{contiguous}.b2nd"));
            let ask = json!({"op": "change", "how": how, "path": path, "to": to, "contiguous": contiguous});
            server.ask(&ask)?;
            let context = |error| format!("{layout:?}, {how}, contiguous: {contiguous}: {error}");
            sound(&to, &mut server).map_err(context)?;
            damaged_again(&to).map_err(context)?;
        }
    }
    Ok(())
}
