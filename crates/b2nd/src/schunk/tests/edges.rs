//! Corners in which a change could be silently wrong.

use super::*;
use crate::error::Error;
use crate::limits::Limits;
use crate::schunk::CreateOptions;

#[test]
fn nan_of_items_of_another_size_stays_what_it_is() {
    let nan = chunk::encode_special(Special::Nan, 16, &[], &Params::new(4)).unwrap();
    let bytes = f32::NAN.to_le_bytes().repeat(4);
    for typesize in [1, 8] {
        let mut schunk = CreateOptions::new(Params::new(typesize)).create_in_memory().unwrap();
        schunk.append_chunk(&nan).unwrap();
        assert_eq!(schunk.decompress_chunk(0).unwrap(), bytes);
        let copy = schunk.copy_in_memory(&CreateOptions::default()).unwrap();
        assert_eq!(contents(&copy).unwrap().concat(), bytes);
    }
}

/// The width of the repeated value of each chunk that says so.
fn widths(schunk: &SChunk) -> Vec<usize> {
    let values = schunk.chunk_infos().map(Result::unwrap).filter(|info| info.special == Some(Special::Value));
    values.map(|info| info.cbytes as usize - 32).collect()
}

/// Such a chunk has to be written out, as a frame's repeated values have the size of its items.
#[test]
fn a_repeated_value_of_another_size_is_written_out_within_the_limit() {
    let (few, many) = (3 << 10, 600 << 20);
    let chunk = |nbytes| chunk::encode_special(Special::Value, nbytes, &[1, 2, 3], &Params::new(3)).unwrap();
    let limits = Limits::default().with_max_chunk_bytes(few.into());
    let mut schunk = CreateOptions::new(Params::new(4)).with_limits(limits).create_in_memory().unwrap();
    schunk.append_chunk(&chunk(few)).unwrap();
    assert_eq!(schunk.decompress_chunk(0).unwrap(), [1, 2, 3].repeat(few as usize / 3));
    let refused = schunk.append_chunk(&chunk(many));
    let Err(Error::Limit { found, allowed, .. }) = refused else { panic!("{refused:?}") };
    assert_eq!((found, allowed, schunk.nchunks()), (many.into(), few.into(), 1));
}

#[test]
fn repeated_values_have_the_size_of_an_item() {
    // C-Blosc2 opens no frame in which they have another.
    for typesize in [1u32, 2, 3, 4, 8, 16, 200, 300] {
        let size = typesize * 10;
        let bytes: Vec<u8> = (0..size * 2).map(|n| (n % 251) as u8).collect();
        let options = CreateOptions::new(Params::new(typesize)).with_chunksize(size);
        let mut schunk = options.create_in_memory().unwrap();
        schunk.fill(Special::Zeros, &[], 20).unwrap();
        schunk.append(&bytes[..size as usize]).unwrap();
        schunk.append(&bytes).unwrap();
        schunk.update_special(2, Special::Uninit, &[]).unwrap();
        schunk.update_special(3, Special::Value, &[7]).unwrap();
        assert_eq!((schunk.version(), widths(&schunk)), (3, vec![typesize as usize; 4]));
        let odd =
            chunk::encode_special(Special::Value, 7 * 11, &[1, 2, 3, 4, 5, 6, 7], &Params::new(7)).unwrap();
        let zeros = chunk::encode_special(Special::Zeros, 7 * 11, &[], &Params::new(7)).unwrap();
        schunk.append_chunk(&odd).unwrap();
        schunk.append_chunk(&zeros).unwrap();
        let wanted =
            [vec![0; size as usize * 3], vec![7; size as usize * 2], [1, 2, 3, 4, 5, 6, 7].repeat(11)];
        assert_eq!(contents(&schunk).unwrap().concat(), [wanted.concat(), vec![0; 77]].concat());
        assert!(widths(&schunk).iter().all(|width| *width == typesize as usize));
        for info in schunk.chunk_infos().map(Result::unwrap) {
            assert!(matches!(info.special, None | Some(Special::Value)), "{info:?}");
        }
    }
}

#[test]
fn a_chunk_that_is_nowhere_has_the_blocks_of_the_others() {
    let options = CreateOptions::new(Params::new(4).with_blocksize(Some(12))).with_chunksize(40);
    let mut schunk = options.create_in_memory().unwrap();
    schunk.fill(Special::Nan, &[], 10).unwrap();
    schunk.fill(Special::Value, &[1, 2, 3, 4], 10).unwrap();
    for n in 0..2 {
        let blocks: Vec<Vec<u8>> = (0..4).map(|block| schunk.decompress_block(n, block).unwrap()).collect();
        assert_eq!(blocks.iter().map(Vec::len).collect::<Vec<_>>(), [12, 12, 12, 4]);
        assert_eq!(blocks.concat(), schunk.decompress_chunk(n).unwrap());
        assert!(schunk.decompress_block(n, 4).is_err());
    }
}

#[test]
fn fills_of_every_kind_go_on_behind_a_short_chunk() {
    let temp = TempDir::new("fills");
    let nan = f32::NAN.to_le_bytes();
    let kinds: [(Special, &[u8], [u8; 4]); 4] = [
        (Special::Zeros, &[], [0; 4]),
        (Special::Uninit, &[], [0; 4]),
        (Special::Nan, &[], nan),
        (Special::Value, &[5, 6, 7, 8], [5, 6, 7, 8]),
    ];
    for (layout, path) in [(Layout::Contiguous, None), (Layout::Sparse, Some(temp.path("s")))] {
        for (kind, value, item) in kinds {
            for count in [1, 4, 5, 35] {
                let options = CreateOptions::new(Params::new(4)).with_chunksize(40).with_overwrite(true);
                let options = options.with_layout(layout);
                let schunk = match &path {
                    Some(path) => options.create(path),
                    None => options.create_in_memory(),
                };
                let mut schunk = schunk.unwrap();
                schunk.fill(kind, value, 10).unwrap();
                schunk.extend(&data(1)[..20]).unwrap();
                schunk.fill(kind, value, count).unwrap();
                let wanted = [item.repeat(10), data(1)[..20].to_vec(), item.repeat(count as usize)].concat();
                assert_eq!(schunk.read_items(0..schunk.nitems()).unwrap(), wanted);
                assert_eq!((schunk.version(), schunk.nchunks()), (2, (15 + count).div_ceil(10)));
                assert!(schunk.fill(kind, &[1, 2], 1).is_err());
                assert_eq!(schunk.nitems(), 15 + count);
            }
        }
    }
    let mut bytes = CreateOptions::new(Params::new(1)).with_chunksize(4).create_in_memory().unwrap();
    bytes.append(b"ab").unwrap();
    assert!(bytes.fill(Special::Nan, &[], 1).is_err());
    assert_eq!(bytes.read_items(0..2).unwrap(), b"ab");
}

#[test]
fn a_copy_refuses_what_would_not_fit_together() {
    let temp = TempDir::new("copies");
    let path = temp.path("s");
    let options =
        CreateOptions::new(Params::new(1)).with_metalayer("b2nd", *b"x").with_layout(Layout::Sparse);
    let mut schunk = options.create(&path).unwrap();
    schunk.append(b"first").unwrap();
    let refused = |path: Option<&std::path::Path>, options: CreateOptions| {
        let copy = match path {
            Some(path) => schunk.copy(path, &options),
            None => schunk.copy_in_memory(&options),
        };
        matches!(copy, Err(crate::Error::Usage(_)))
    };
    // The old frame would read the files of the new one.
    assert!(refused(Some(&path), CreateOptions::default().with_layout(Layout::Sparse).with_overwrite(true)));
    let inside = path.join("chunks.b2frame");
    assert!(refused(Some(&inside), CreateOptions::default().with_overwrite(true)));
    assert!(schunk.save(&inside, &crate::schunk::SaveOptions::new().with_overwrite(true)).is_err());
    let two = CreateOptions::default().with_metalayer("m", *b"y").with_metalayer("m", *b"z");
    assert!(refused(None, two));
    assert!(refused(None, CreateOptions::default().with_chunksize(2)), "chunks of an array");
    assert_eq!(schunk.read_items(0..5).unwrap(), b"first");
    assert_eq!(temp.names(), ["s", "s.b2owner"]);
}

#[test]
fn a_reader_of_an_old_state_keeps_the_files_of_its_chunks_and_no_number_comes_again() {
    let temp = TempDir::new("numbers");
    let path = temp.path("s");
    let options = CreateOptions::new(Params::new(1)).with_layout(Layout::Sparse);
    let mut schunk = options.create(&path).unwrap();
    schunk.append(b"first").unwrap();
    schunk.append(b"other").unwrap();
    drop(schunk);
    let reader = SChunk::open(&path, &super::options()).unwrap();
    let write = || SChunk::open(&path, &super::options().with_write(true)).unwrap();
    for round in 0..3u8 {
        write().delete(1).unwrap();
        assert_eq!(reader.decompress_chunk(1).unwrap(), b"other");
        write().append(&[round; 5]).unwrap();
        assert_eq!(reader.decompress_chunk(1).unwrap(), b"other");
        assert_eq!(reader.decompress_chunk(0).unwrap(), b"first");
        let now = SChunk::open(&path, &super::options()).unwrap();
        assert_eq!(now.read_items(0..10).unwrap(), [*b"first", [round; 5]].concat());
    }
    assert!(reader.space().unwrap().dead() > 40);
    // Nobody reads an older state any more.
    drop(reader);
    write().delete(1).unwrap();
    let files = || std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().metadata().unwrap().len());
    assert_eq!(files().filter(|len| *len == 0).count(), 1, "one file, without bytes, keeps the number");
    write().append(b"again").unwrap();
    assert_eq!(files().count(), 3, "the frame and two chunks");
    let now = SChunk::open(&path, &super::options()).unwrap();
    assert_eq!(now.read_items(0..10).unwrap(), b"firstagain");
    assert_eq!(now.space().unwrap().dead(), 0);
}

#[test]
fn more_chunks_than_are_read_at_a_time_are_read_in_turn() {
    let all: Vec<u8> = (0..80_000u32).map(|n| (n / 3) as u8).collect();
    let mut schunk = CreateOptions::new(Params::new(2)).with_chunksize(2).create_in_memory().unwrap();
    schunk.fill(Special::Value, &[1, 1], 3).unwrap();
    schunk.fill(Special::Zeros, &[], 100_000).unwrap();
    schunk.write_items(3, &all).unwrap();
    for layout in [ChunkSizes::Fixed(2), ChunkSizes::Variable] {
        assert_eq!(schunk.read_items(3..40_003).unwrap(), all);
        assert_eq!(schunk.read_items(40_003..100_003).unwrap(), vec![0; 120_000]);
        if layout != ChunkSizes::Variable {
            schunk.append(&all[..6]).unwrap();
        }
    }
    assert_eq!(schunk.read_items(100_002..100_006).unwrap(), [&[0, 0], &all[..6]].concat());
}

#[test]
fn a_rewrite_keeps_what_the_handle_was_opened_with() {
    let mut schunk = CreateOptions::new(Params::new(1)).create_in_memory().unwrap();
    schunk.append(b"bytes").unwrap();
    let options = super::options().with_write(true).with_block_cache(1 << 20);
    let mut schunk = SChunk::from_bytes(schunk.to_bytes().unwrap(), &options).unwrap();
    schunk.compact().unwrap();
    assert_eq!(schunk.block_cache().capacity, 1 << 20);
}

#[test]
fn chunks_that_hold_no_data_are_not_taken() {
    let mut schunk = CreateOptions::new(Params::new(2)).create_in_memory().unwrap();
    schunk.append(b"good").unwrap();
    for flag in [0x08, 0x80] {
        for mut chunk in [
            chunk::encode_special(Special::Value, 4, &[1, 2], &Params::new(2)).unwrap(),
            chunk::encode(b"data", &Params::new(2), &Exec::new(1)).unwrap(),
        ] {
            chunk[31] |= flag;
            assert!(matches!(schunk.append_chunk(&chunk), Err(Error::Unsupported { .. })));
            assert!(matches!(schunk.update_chunk(0, &chunk), Err(Error::Unsupported { .. })));
        }
    }
    assert_eq!((schunk.nchunks(), schunk.read_items(0..2).unwrap()), (1, b"good".to_vec()));
}
