//! A frame that replaces another keeps its permissions and owner, and a link to it stays a link.
#![cfg(unix)]

use super::*;
use crate::schunk::SaveOptions;
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::Path;

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().mode() & 0o777
}

/// The path and everything in it, where it is a directory.
fn all(path: &Path) -> Vec<PathBuf> {
    let mut all = vec![path.to_path_buf()];
    if path.is_dir() {
        all.extend(fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
    }
    all
}

fn create(layout: Layout) -> CreateOptions {
    CreateOptions::new(Params::new(4)).with_layout(layout).with_exec(Exec::new(1))
}

fn make(path: &Path, layout: Layout, seed: u32) {
    drop(create(layout).with_overwrite(true).create_with(path, |t| t.extend(&data(seed))).unwrap());
}

fn limit(path: &Path, file: u32, directory: u32) {
    let set = |path: &Path, mode| fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    for path in all(path) {
        set(&path, if path.is_dir() { directory } else { file });
    }
}

fn check(path: &Path, layout: Layout, file: u32, directory: u32, seed: u32) {
    let schunk = SChunk::open(path, &options()).unwrap();
    assert_eq!(schunk.layout(), layout);
    assert!(schunk.decompress_chunk(0).unwrap() == data(seed));
    for path in all(path) {
        let want = if path.is_dir() { directory } else { file };
        assert_eq!(mode(&path), want, "{}: {:o} and not {want:o}", path.display(), mode(&path));
    }
}

#[test]
fn a_replaced_frame_keeps_its_permissions_and_links_stay_links() {
    for (old, new) in [
        (Layout::Contiguous, Layout::Contiguous),
        (Layout::Sparse, Layout::Sparse),
        (Layout::Contiguous, Layout::Sparse),
        (Layout::Sparse, Layout::Contiguous),
    ] {
        for (file, directory) in [(0o600, 0o700), (0o640, 0o750)] {
            let temp = TempDir::new("replace-rights");
            fs::create_dir(temp.path("elsewhere")).unwrap();
            let (frame, link) = (temp.path("elsewhere/frame"), temp.path("link"));
            make(&frame, old, 1);
            limit(&frame, file, directory);
            symlink("elsewhere/frame", temp.path("first")).unwrap();
            symlink("first", &link).unwrap();
            // Nobody else may read what is not there yet either.
            let mut writer = create(new).with_overwrite(true);
            writer = writer.with_chunksize(CHUNKSIZE);
            let schunk = writer.create_with(&link, |t| {
                t.extend(&data(2))?;
                for entry in fs::read_dir(temp.path("elsewhere")).unwrap() {
                    let path = entry.unwrap().path();
                    if path.to_string_lossy().contains(".tmp-") {
                        assert_eq!(mode(&path) & 0o007, 0, "{}", path.display());
                    }
                }
                Ok(())
            });
            let mut schunk = schunk.unwrap();
            assert_eq!(fs::read_link(&link).unwrap(), Path::new("first"));
            assert_eq!(fs::read_link(temp.path("first")).unwrap(), Path::new("elsewhere/frame"));
            check(&frame, new, file, directory, 2);
            // So it is with what comes later.
            schunk.append(&data(3)).unwrap();
            check(&frame, new, file, directory, 2);
            schunk.save(temp.path("new"), &SaveOptions::new()).unwrap();
            assert_eq!(
                mode(&temp.path("new")),
                mode_of_new(&temp),
                "what replaces nothing is as the user has it"
            );
        }
    }
}

fn mode_of_new(temp: &TempDir) -> u32 {
    fs::write(temp.path("plain"), b"").unwrap();
    mode(&temp.path("plain"))
}

#[test]
fn a_link_to_nothing_gets_its_file() {
    let temp = TempDir::new("replace-dangling");
    symlink("later", temp.path("link")).unwrap();
    assert!(create(Layout::Contiguous).create(temp.path("link")).is_err());
    make(&temp.path("link"), Layout::Contiguous, 5);
    assert!(temp.path("later").is_file() && temp.path("link").is_symlink());
    symlink("circle", temp.path("circle")).unwrap();
    let error = create(Layout::Contiguous).with_overwrite(true).create(temp.path("circle")).unwrap_err();
    assert!(error.to_string().contains("circle"), "{error}");
    assert_eq!(temp.names(), ["circle", "later", "link"]);
}

#[test]
fn a_replaced_frame_keeps_its_owner_where_that_may_be_given() {
    for layout in [Layout::Contiguous, Layout::Sparse] {
        let temp = TempDir::new("replace-owner");
        let frame = temp.path("frame");
        make(&frame, layout, 1);
        limit(&frame, 0o660, 0o770);
        if all(&frame).iter().any(|path| chown(path, Some(1234), Some(4321)).is_err()) {
            // Only an administrator may.
            return;
        }
        make(&frame, layout, 2);
        check(&frame, layout, 0o660, 0o770, 2);
        for path in all(&frame) {
            let metadata = fs::metadata(&path).unwrap();
            assert_eq!((metadata.uid(), metadata.gid()), (1234, 4321), "{}", path.display());
        }
    }
}
