//! Paths: what appears where, what is refused, what an error says.

use super::*;
use crate::Fault;

fn create(path: &std::path::Path, layout: Layout, overwrite: bool) -> crate::Result<SChunk> {
    let mut schunk =
        SChunk::create(FrameTarget::Path { path, overwrite }, spec(layout, 3), &options().common)?;
    let chunk = encoded(&schunk, &data(1));
    schunk.put_chunk(1, &chunk)?;
    Ok(schunk)
}

#[test]
fn a_new_frame_appears_at_its_first_commit_or_leaves_nothing() {
    let temp = TempDir::new("appears");
    for layout in [Layout::Contiguous, Layout::Sparse] {
        let path = temp.path("frame");
        let schunk = create(&path, layout, false).unwrap();
        assert!(!path.exists());
        assert_eq!(
            temp.names(),
            [format!(".frame.tmp-{}-0", std::process::id()), "frame.b2owner".to_owned()]
        );
        drop(schunk);
        assert!(temp.names().is_empty());

        let mut schunk = create(&path, layout, false).unwrap();
        schunk.commit().unwrap();
        assert_eq!(temp.names(), ["frame", "frame.b2owner"]);
        assert_eq!(contents(&schunk).unwrap()[1], data(1), "it goes on under its name");
        assert_eq!(contents(&SChunk::open(&path, &options()).unwrap()).unwrap()[1], data(1));
        std::fs::remove_file(&path).or_else(|_| std::fs::remove_dir_all(&path)).unwrap();
    }
}

#[test]
fn a_new_frame_is_compact() {
    let mut schunk =
        SChunk::create(FrameTarget::Memory, spec(Layout::Contiguous, 1), &options().common).unwrap();
    let chunk = encoded(&schunk, &data(3));
    schunk.put_chunk(0, &chunk).unwrap();
    schunk.commit().unwrap();
    assert_eq!(schunk.cbytes(), chunk.len() as u64);
    assert_eq!(schunk.chunk(0).unwrap(), chunk);
    let Place::Stored { offset, .. } = schunk.place(0).unwrap() else { panic!() };
    assert_eq!(offset, schunk.header.len());
    assert_eq!(schunk.to_bytes().unwrap().len() as u64, schunk.frame_len());
    let mut buffer = Vec::new();
    let place = schunk.place(0).unwrap();
    assert_eq!(schunk.fetch(place, 1, 8, &mut buffer).unwrap(), &chunk[1..9]);
    assert!(buffer.is_empty(), "memory is borrowed");
}

#[test]
fn what_exists_is_replaced_only_when_asked() {
    let temp = TempDir::new("overwrite");
    let path = temp.path("frame");
    for (old, new) in [
        (Layout::Contiguous, Layout::Contiguous),
        (Layout::Contiguous, Layout::Sparse),
        (Layout::Sparse, Layout::Sparse),
        (Layout::Sparse, Layout::Contiguous),
    ] {
        let mut first = create(&path, old, true).unwrap();
        first.commit().unwrap();
        drop(first);
        let error = create(&path, new, false).unwrap_err();
        assert_eq!(error.fault(), Fault::Caller);
        assert!(error.to_string().contains("it exists already"), "{error}");
        let mut second = create(&path, new, true).unwrap();
        assert_eq!(SChunk::open(&path, &options()).unwrap().layout(), old, "until the commit");
        second.commit().unwrap();
        assert_eq!(SChunk::open(&path, &options()).unwrap().layout(), new);
        drop(second);
        assert_eq!(temp.names(), ["frame"]);
    }
}

#[test]
fn what_appears_meanwhile_is_not_replaced() {
    let temp = TempDir::new("meanwhile");
    let path = temp.path("frame");
    let mut schunk = create(&path, Layout::Contiguous, false).unwrap();
    std::fs::write(&path, b"mine").unwrap();
    assert!(schunk.commit().is_err());
    drop(schunk);
    assert_eq!(std::fs::read(&path).unwrap(), b"mine");
    assert_eq!(temp.names(), ["frame"]);
}

#[test]
fn a_directory_that_is_no_frame_is_never_overwritten() {
    let temp = TempDir::new("precious");
    let path = temp.path("home");
    std::fs::create_dir(&path).unwrap();
    std::fs::write(path.join("thesis.tex"), b"years").unwrap();
    for layout in [Layout::Contiguous, Layout::Sparse] {
        let error = create(&path, layout, true).unwrap_err();
        assert!(error.to_string().contains("thesis.tex"), "{error}");
    }
    assert_eq!(std::fs::read(path.join("thesis.tex")).unwrap(), b"years");
    let error = SChunk::open(&path, &options()).unwrap_err();
    assert_eq!(error.fault(), Fault::File);
    assert!(
        error.to_string().contains("not a Blosc2 frame: it is a folder without chunks.b2frame"),
        "{error}"
    );
}

#[test]
#[cfg(unix)]
fn who_reads_a_directory_never_gets_bytes_of_the_one_that_took_its_place() {
    let temp = TempDir::new("swapped");
    let path = temp.path("frame");
    create(&path, Layout::Sparse, false).unwrap().commit().unwrap();
    let reader = SChunk::open(&path, &options()).unwrap();
    let mut writer = SChunk::open(&path, &options().with_write(true).with_owner_lock(false)).unwrap();
    let before = reader.chunk(1).unwrap().to_vec();
    // Others of the same names, while the files of the first are still there under another name.
    std::fs::rename(&path, temp.path("aside")).unwrap();
    let mut other = create(&path, Layout::Sparse, false).unwrap();
    let chunk = encoded(&other, &data(2));
    other.put_chunk(1, &chunk).unwrap();
    other.commit().unwrap();
    drop(other);
    assert_eq!(reader.chunk(1).unwrap().to_vec(), before);
    let error = writer.append(&data(1)).unwrap_err();
    assert!(matches!(error, crate::Error::Changed { what: "replaced it", .. }), "{error}");
    drop(writer);
    // Overwritten as a whole, its files are gone.
    drop(reader);
    let reader = SChunk::open(&path, &options()).unwrap();
    create(&path, Layout::Sparse, true).unwrap().commit().unwrap();
    let error = reader.chunk(1).unwrap_err();
    assert!(matches!(error, crate::Error::Changed { what: "replaced it", .. }), "{error}");
    assert_eq!(error.fault(), Fault::Environment);
}

#[test]
fn a_missing_path_is_named() {
    let error = SChunk::open("no/such/frame.b2nd", &options()).unwrap_err();
    assert_eq!(error.fault(), Fault::Environment);
    assert!(error.to_string().starts_with("no/such/frame.b2nd: cannot open the frame: "), "{error}");
}

#[test]
fn a_file_of_a_sparse_frame_that_is_gone_or_a_link_is_an_error() {
    let temp = TempDir::new("links");
    let path = temp.path("frame");
    create(&path, Layout::Sparse, false).unwrap().commit().unwrap();
    let chunk = path.join("00000000.chunk");
    let kept = std::fs::read(&chunk).unwrap();
    std::fs::remove_file(&chunk).unwrap();
    let schunk = SChunk::open(&path, &options()).unwrap();
    let error = schunk.chunk(1).unwrap_err();
    assert_eq!(error.fault(), Fault::File);
    assert!(
        error.to_string().contains("00000000.chunk: damaged chunk file of chunk 1: the file is missing"),
        "{error}"
    );
    assert!(schunk.chunk(0).is_ok(), "others are not touched");
    #[cfg(unix)]
    {
        std::fs::write(temp.path("outside"), &kept).unwrap();
        std::os::unix::fs::symlink(temp.path("outside"), &chunk).unwrap();
        assert!(schunk.chunk(1).unwrap_err().to_string().contains("not a regular file"));
    }
    std::fs::remove_file(&chunk).ok();
    std::fs::write(&chunk, &kept).unwrap();
    assert_eq!(schunk.chunk(1).unwrap(), kept);
}

#[cfg(unix)]
#[test]
fn what_is_no_regular_file_is_refused() {
    let temp = TempDir::new("socket");
    let path = temp.path("frame");
    let _socket = std::os::unix::net::UnixListener::bind(&path).unwrap();
    let error = SChunk::open(&path, &options()).unwrap_err();
    assert!(error.to_string().contains("not a regular file"), "{error}");
}

#[test]
fn a_second_writer_is_noticed() {
    let temp = TempDir::new("writers");
    for layout in [Layout::Contiguous, Layout::Sparse] {
        let path = temp.path(&format!("{layout:?}"));
        create(&path, layout, false).unwrap().commit().unwrap();
        let writing = options().with_write(true).with_owner_lock(false);
        let mut one = SChunk::open(&path, &writing).unwrap();
        let mut two = SChunk::open(&path, &writing).unwrap();
        let reader = SChunk::open(&path, &options()).unwrap();
        let chunk = encoded(&one, &data(6));
        one.put_chunk(0, &chunk).unwrap();
        one.commit().unwrap();
        let error = two.put_chunk(2, &chunk).unwrap_err();
        assert!(error.to_string().contains("another writer"), "{error}");
        assert_eq!(contents(&reader).unwrap()[0], vec![0; 400], "a reader keeps what it opened");
        assert_eq!(contents(&SChunk::open(&path, &options()).unwrap()).unwrap()[0], data(6));
    }
}

#[test]
fn a_reader_cannot_write() {
    let temp = TempDir::new("reader");
    let path = temp.path("frame");
    create(&path, Layout::Contiguous, false).unwrap().commit().unwrap();
    let mut schunk = SChunk::open(&path, &options()).unwrap();
    let chunk = encoded(&schunk, &data(6));
    assert!(schunk.put_chunk(0, &chunk).is_err());
    assert!(schunk.put_special(1, Special::Uninit).is_err());
    assert!(schunk.stage_vlmetalayer("x", b"y").is_err());
    schunk.commit().unwrap();
    assert_eq!(contents(&schunk).unwrap()[1], data(1));
}
