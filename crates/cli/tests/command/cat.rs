//! `cat`, and what `info` and `convert` make of files that are no single array: chunks, plain frames, several frames.

use serde_json::Value;

use crate::support::{Folder, items, npy};
use b2nd::chunk::encode;
use b2nd::{Array, Exec, OpenOptions, Params, SChunk};
use std::path::{Path, PathBuf};

const SHAPE: [usize; 2] = [40, 30];

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../b2nd/tests/fixtures").join(name)
}

/// What the command writes to standard output.
fn bytes(folder: &Folder, args: &[&str]) -> Vec<u8> {
    let output = folder.command(args).output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

fn json(folder: &Folder, args: &[&str]) -> Value {
    serde_json::from_str(&folder.good(args)).unwrap()
}

#[test]
fn an_array_comes_out_in_c_order_with_any_memory() {
    let folder = Folder::new();
    folder.write("in.npy", &npy("<u4", &SHAPE, false, &items(&SHAPE)));
    for layout in [&[][..], &["--sparse"]] {
        folder.good(
            &[&["import", "in.npy", "a.b2nd", "--force", "--chunks", "7,9", "--blocks", "3,4"], layout]
                .concat(),
        );
        for memory in ["1", "900", "1M"] {
            assert!(bytes(&folder, &["cat", "a.b2nd", "--memory", memory]) == items(&SHAPE));
            let out = folder.good(&["cat", "a.b2nd", "-o", "a.raw", "--memory", memory, "--force"]);
            assert_eq!(out, "a.raw: 4800 bytes\n");
            assert!(folder.read("a.raw") == items(&SHAPE));
        }
    }
    folder.fails(2, "exists", &["cat", "a.b2nd", "-o", "a.raw"]);
    folder.fails(2, "input itself", &["cat", "a.raw", "-o", "a.raw", "--force"]);
    folder.fails(2, "a.raw", &["cat", "a.raw"]);
    assert_eq!(folder.names(), ["a.b2nd", "a.raw", "in.npy"]);
}

#[test]
fn bare_chunks_are_known_by_their_header_and_written_out() {
    let folder = Folder::new();
    let plain = items(&SHAPE);
    let base = Params::new(4).with_blocksize(Some(1000));
    for (name, params, kind) in
        [("two.chunk", base.clone(), "blosc2"), ("one.chunk", base.with_short_header(true), "blosc1")]
    {
        let chunk = encode(&plain, &params, &Exec::new(1)).unwrap();
        folder.write(name, &chunk);
        for memory in ["1", "2000", "1M"] {
            assert!(bytes(&folder, &["cat", name, "--memory", memory]) == plain, "{name} {memory}");
        }
        let info = json(&folder, &["info", name, "--json"]);
        assert_eq!(info["chunk"], kind);
        assert_eq!(info["nbytes"], plain.len());
        assert_eq!(info["cbytes"], chunk.len());
        assert_eq!((&info["typesize"], &info["nblocks"]), (&4.into(), &5.into()));
        let table = folder.good(&["info", name]);
        assert!(table.contains("a bare Blosc") && table.contains("shuffle"), "{table}");
        // One byte more or less, and it is no chunk; damage inside is damage.
        folder.write("long", &[&chunk[..], &[0]].concat());
        folder.write("short", &chunk[..chunk.len() - 1]);
        for other in ["long", "short"] {
            folder.fails(2, other, &["cat", other]);
            folder.fails(2, other, &["info", other]);
        }
        let mut damaged = chunk.clone();
        let at = damaged.len() - 40;
        damaged[at..].fill(0xff);
        let header = if kind == "blosc2" { 32 } else { 16 };
        damaged[header..header + 4].copy_from_slice(&[0xff; 4]);
        folder.write("bad", &damaged);
        folder.fails(1, "bad", &["cat", "bad", "-o", "bad.raw"]);
        assert!(!folder.path("bad.raw").exists());
    }
    let zeros =
        b2nd::chunk::encode_special(b2nd::chunk::Special::Zeros, 100_000, &[], &Params::new(4)).unwrap();
    folder.write("zeros", &zeros);
    assert!(bytes(&folder, &["cat", "zeros", "--memory", "64K"]) == vec![0; 100_000]);
    assert!(folder.good(&["info", "zeros"]).contains("zeros"));
}

#[test]
fn frames_without_an_array_are_written_out_described_and_copied() {
    let folder = Folder::new();
    let manifest = std::fs::read_to_string(fixture("frame/MANIFEST.tsv")).unwrap();
    let mut seen = 0;
    for line in manifest.lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let path = fixture("frame").join(fields[0]);
        let schunk = SChunk::open(&path, &OpenOptions::new()).unwrap();
        if schunk.metalayers().any(|(name, _)| name == "b2nd") {
            continue;
        }
        let decode =
            |n| b2nd::chunk::decode(&schunk.chunk(n).unwrap(), schunk.context(), schunk.exec()).unwrap();
        let want: Vec<u8> = (0..schunk.nchunks()).flat_map(decode).collect();
        let name = path.to_str().unwrap();
        for memory in ["1", "1M"] {
            assert!(bytes(&folder, &["cat", name, "--memory", memory]) == want, "{line}");
        }
        for layout in [&["--force"][..], &["--force", "--sparse"]] {
            let out = folder.good(&[&["convert", name, "copy"], layout].concat());
            assert!(out.contains("copied as they are"), "{out}");
            assert!(bytes(&folder, &["cat", "copy"]) == want, "{line}");
            let copy = SChunk::open(folder.path("copy"), &OpenOptions::new()).unwrap();
            assert!(copy.vlmetalayer_names().unwrap().eq(schunk.vlmetalayer_names().unwrap()));
        }
        seen += 1;
    }
    assert!(seen > 10, "{seen}");
    let name = fixture("frame/contiguous.b2frame");
    folder.fails(2, "--codec", &["convert", name.to_str().unwrap(), "other", "--codec", "lz4"]);
    assert!(folder.good(&["info", name.to_str().unwrap()]).contains("a frame without an array"));
}

#[test]
fn a_file_of_several_frames_is_listed_and_each_can_be_taken_out() {
    let folder = Folder::new();
    let path = fixture("several/behind.bin");
    let name = path.to_str().unwrap();
    let listed = json(&folder, &["info", name, "--json"]);
    let frames = listed["frames"].as_array().unwrap();
    assert_eq!(frames.len(), 4);
    assert_eq!(frames[0]["shape"], serde_json::json!([5, 7]));
    assert!(frames[1]["shape"].is_null());
    let table = folder.good(&["info", name]);
    for word in ["array (5, 7) <i4", "a frame without an array", "array (40, 30) <i4", "at 105"] {
        assert!(table.contains(word), "{word}: {table}");
    }
    for (index, frame) in frames.iter().enumerate() {
        let (index, offset) = (index.to_string(), frame["offset"].to_string());
        let by_index = bytes(&folder, &["cat", name, "--index", &index]);
        assert_eq!(by_index.len() as u64, frame["nbytes"].as_u64().unwrap());
        assert!(by_index == bytes(&folder, &["cat", name, "--offset", &offset]));
        let info = json(&folder, &["info", name, "--json", "--index", &index]);
        assert_eq!(info["shape"], frame["shape"]);
        folder.good(&["convert", name, "out", "--force", "--index", &index]);
        assert!(by_index == bytes(&folder, &["cat", "out"]));
        assert!(folder.good(&["verify", name, "--index", &index]).contains("OK"));
        let attributes = folder.good(&["attrs", name, "--index", &index]);
        assert_eq!(attributes, folder.good(&["attrs", "out"]));
        if !frame["shape"].is_null() {
            let out = folder.good(&["diff", name, "out", "--index", &index]);
            assert!(out.contains("are equal"), "{out}");
            folder.good(&["diff", name, name, "--index", &index, "--offset-b", &offset]);
            let slice = folder.good(&["slice", name, "--offset", &offset, "..."]);
            assert_eq!(slice, folder.good(&["slice", "out", "..."]));
            if index == "2" || !cfg!(feature = "plot") {
                // There is nothing in frame 2 to draw.
                continue;
            }
            let drawn = bytes(&folder, &["plot", name, "--index", &index, "-o", "-"]);
            assert!(drawn.starts_with(b"\x89PNG"));
        }
    }
    let array = Array::open_with(&path, &OpenOptions::new().with_frame(3)).unwrap();
    folder.good(&["export", name, "a.npy", "--index", "3"]);
    let want = npy("<i4", &[40, 30], false, &array.read_bytes(b2nd::Selection::all()).unwrap());
    assert!(folder.read("a.npy") == want);
    folder.fails(2, "lists the frames", &["cat", name, "--index", "4"]);
    let (code, out, _) = folder.run(&["diff", name, name, "--index", "0", "--index-b", "3"]);
    assert!(code == 1 && out.contains("shape: (5, 7) and (40, 30)"), "{out}");
    folder.fails(2, "past the end", &["cat", name, "--offset", "99999"]);
    folder.fails(1, "behind.bin", &["cat", name, "--offset", "3"]);
}

#[test]
fn dictionaries_are_made_on_demand_and_kept() {
    let folder = Folder::new();
    let words: Vec<u8> = (0..60_000u32).flat_map(|n| (n % 977 * 31 % 251).to_le_bytes()).collect();
    folder.write("in.npy", &npy("<u4", &[60_000], false, &words));
    let sizes = ["--chunks", "60000", "--blocks", "500", "--codec", "zstd"];
    folder.good(&[&["import", "in.npy", "d.b2nd", "--dict"][..], &sizes].concat());
    folder.good(&["convert", "d.b2nd", "kept.b2nd", "--level", "3"]);
    folder.good(&["convert", "d.b2nd", "other.b2nd", "--codec", "zlib"]);
    for (name, dictionary) in [("d.b2nd", true), ("kept.b2nd", true), ("other.b2nd", false)] {
        assert!(bytes(&folder, &["cat", name]) == words, "{name}");
        let schunk = SChunk::open(folder.path(name), &OpenOptions::new()).unwrap();
        assert_eq!(schunk.params().dictionary(), dictionary, "{name}");
        let chunk = schunk.chunk(0).unwrap();
        assert_eq!(b2nd::chunk::ChunkHeader::parse(&chunk).unwrap().has_dictionary(), dictionary, "{name}");
    }
    folder.fails(2, "dictionar", &["import", "in.npy", "z.b2nd", "--dict", "--codec", "zlib"]);
}

#[cfg(unix)]
#[test]
fn a_reader_that_goes_away_is_no_error() {
    let folder = Folder::new();
    let chunk = encode(&vec![7; 8 << 20], &Params::new(4), &Exec::new(1)).unwrap();
    folder.write("a.chunk", &chunk);
    let mut command = folder.command(&["cat", "a.chunk", "--memory", "64K"]);
    let mut child =
        command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(output.stderr, b"");
}
