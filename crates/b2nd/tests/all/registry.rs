//! A codec and a filter of the user, through chunks, frames and arrays; and files that name what nobody has.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, in its helper functions too")]

use b2nd::chunk::{Context, decode, decode_range, encode_with};
use b2nd::registry::{BlockCodec, BlockFilter, BlockInfo, BlockResult};
use b2nd::{
    Array, Codec, Dtype, Error, Exec, Filter, Limits, OpenOptions, Options, Params, Pipeline, Registry, s,
};

/// Runs as (length, byte), each byte XORed with the meta byte.
struct XorRuns;

impl BlockCodec for XorRuns {
    fn compress(&self, info: &BlockInfo<'_>, src: &[u8], dst: &mut [u8]) -> BlockResult<Option<usize>> {
        assert!((1..=9).contains(&info.clevel));
        let mut end = 0;
        for run in src.chunk_by(|a, b| a == b).flat_map(|run| run.chunks(255)) {
            let Some(to) = dst.get_mut(end..end + 2) else { return Ok(None) };
            to.copy_from_slice(&[run.len() as u8, run[0] ^ info.meta]);
            end += 2;
        }
        Ok(Some(end))
    }
    fn decompress(&self, info: &BlockInfo<'_>, src: &[u8], dst: &mut [u8]) -> BlockResult<()> {
        let mut rest = dst;
        for run in src.chunks(2) {
            let &[len, byte] = run else { return Err("half a run".into()) };
            let (part, after) = rest.split_at_mut_checked(usize::from(len)).ok_or("too many runs")?;
            part.fill(byte ^ info.meta);
            rest = after;
        }
        if rest.is_empty() { Ok(()) } else { Err("too few runs".into()) }
    }
}

/// Differences along the last axis of the block: needs the item size, and the shape where there is one.
struct RowDelta;

impl RowDelta {
    fn row(info: &BlockInfo<'_>) -> usize {
        let items = info.block_shape.and_then(|shape| shape.last()).map_or(1, |&n| n as usize);
        (items * info.typesize as usize).max(1)
    }
}

impl BlockFilter for RowDelta {
    fn apply(&self, info: &BlockInfo<'_>, src: &[u8], dst: &mut [u8]) -> BlockResult<()> {
        let row = Self::row(info);
        for (n, to) in dst.iter_mut().enumerate() {
            *to = if n < row { src[n] } else { src[n].wrapping_sub(src[n - row]) };
        }
        Ok(())
    }
    fn undo(&self, info: &BlockInfo<'_>, src: &[u8], dst: &mut [u8]) -> BlockResult<()> {
        let row = Self::row(info);
        for n in 0..src.len() {
            dst[n] = if n < row { src[n] } else { src[n].wrapping_add(dst[n - row]) };
        }
        Ok(())
    }
}

const CODEC: u8 = 200;
const FILTER: u8 = 201;

fn registry() -> Registry {
    let registry = Registry::new().with_codec(CODEC, "xor-runs", XorRuns).unwrap();
    registry.with_filter(FILTER, "row-delta", RowDelta).unwrap()
}

fn params(typesize: u32) -> Params {
    let pipeline = Pipeline::new().push(Filter::from_id(FILTER).unwrap(), 5).unwrap();
    Params::new(typesize)
        .with_codec(Codec::from_id(CODEC))
        .with_codec_meta(0x5A)
        .with_pipeline(pipeline.push(Filter::Shuffle, 0).unwrap())
}

fn ramp(rows: usize, columns: usize) -> Vec<u8> {
    (0..rows * columns).flat_map(|n| ((n / columns * 3 + n % columns * 70) as u16).to_le_bytes()).collect()
}

#[test]
fn chunks_round_trip_whole_and_in_parts() {
    let data = ramp(100, 50);
    let context = Context::new(Limits::default()).with_registry(registry()).with_block_shape(&[10, 50]);
    for filters in [format!("filter-{FILTER}:5,shuffle"), format!("delta,filter-{FILTER}")] {
        let params = params(2).with_blocksize(Some(1000)).with_pipeline(filters.parse().unwrap());
        let exec = Exec::new(2);
        let chunk = encode_with(&data, &params, &context, &exec).unwrap();
        assert!(chunk.len() < data.len(), "{filters}: {} of {}", chunk.len(), data.len());
        assert_eq!((chunk[2] >> 5, chunk[22], chunk[23]), (6, CODEC, 0x5A));
        assert_eq!(decode(&chunk, &context, &exec).unwrap(), data);
        let mut part = [0; 777];
        decode_range(&chunk, 1234, &mut part, &context, &exec).unwrap();
        assert_eq!(part, data[1234..][..777]);
    }
}

#[test]
fn arrays_round_trip_and_name_what_they_miss() {
    let data = ramp(60, 40);
    let mut array = Options::new()
        .with_chunks([30, 40])
        .with_blocks([10, 20])
        .with_params(params(2))
        .with_registry(registry())
        .create_in_memory(Dtype::parse("<u2").unwrap(), [60, 40])
        .unwrap();
    array.write_bytes(s![], &data).unwrap();
    array.write_bytes(s![3, 4..6], &[1, 2, 3, 4]).unwrap();
    let mut expected = data;
    expected[2 * (3 * 40 + 4)..][..4].copy_from_slice(&[1, 2, 3, 4]);
    assert_eq!(array.read_bytes(s![]).unwrap(), expected);
    let bytes = array.to_bytes().unwrap();
    assert!(bytes.len() < expected.len());

    let open = OpenOptions::new().with_registry(registry()).with_write(true);
    let mut again = Array::from_bytes(bytes.clone(), &open).unwrap();
    assert_eq!(again.read_bytes(s![]).unwrap(), expected);
    assert!(again.verify().unwrap().is_sound());
    again.write_bytes(s![59, 39], &[9, 9]).unwrap();
    assert_eq!(again.read_bytes(s![59, 38..]).unwrap()[2..], [9, 9]);

    let without = Array::from_bytes(bytes, &OpenOptions::new().with_write(true)).unwrap();
    let error = without.read_bytes(s![]).unwrap_err();
    assert!(
        matches!(error, Error::Unsupported { .. }) && error.to_string().contains("filter 201"),
        "{error}"
    );
    assert!(!without.verify().unwrap().is_sound());
}

#[test]
fn a_codec_that_nobody_has_is_named() {
    let context = Context::default().with_registry(registry());
    let steps: Vec<u8> = (0..5000).map(|n| (n / 100) as u8).collect();
    let chunk =
        encode_with(&steps, &params(1).with_pipeline(Pipeline::none()), &context, &Exec::new(1)).unwrap();
    let error = decode(&chunk, &Limits::default(), &Exec::new(1)).unwrap_err();
    assert_eq!(error.to_string(), "unsupported codec 200");
    let refused = encode_with(&[0; 99], &params(2), &Context::default(), &Exec::new(1)).unwrap_err();
    assert!(matches!(&refused, Error::Compression(text) if text.contains("codec 200")), "{refused}");
}

#[test]
fn damaged_streams_of_the_users_codec_are_the_files_fault() {
    let context = Context::new(Limits::default().with_max_chunk_bytes(4096)).with_registry(registry());
    let params = params(2).with_blocksize(Some(100));
    let chunk = encode_with(&ramp(10, 20), &params, &context, &Exec::new(1)).unwrap();
    assert!(!b2nd::chunk::ChunkHeader::parse(&chunk).unwrap().is_raw());
    let mut errors = 0;
    for bit in 0..8 * chunk.len() {
        let mut damaged = chunk.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        match decode(&damaged, &context, &Exec::new(1)) {
            Err(Error::Format(_) | Error::Unsupported { .. } | Error::Limit { .. }) => errors += 1,
            Err(other) => panic!("bit {bit}: {other}"),
            Ok(_) => {}
        }
    }
    assert!(errors > 500, "{errors}");
    for len in 0..chunk.len() {
        assert!(matches!(decode(&chunk[..len], &context, &Exec::new(1)), Err(Error::Format(_))), "{len}");
    }
}

#[test]
fn stacked_chunks_are_made_anew_where_a_filter_goes_by_the_shape_of_blocks() {
    let params = Params::new(2).with_pipeline(Pipeline::from_bytes([0, 0, 0, 0, 0, FILTER], [0; 6]));
    let options = || Options::new().with_registry(registry());
    let make = options().with_chunks([6, 4]).with_blocks([3, 4]).with_params(params);
    let mut a = make.create_in_memory(Dtype::raw(2), [6, 8]).unwrap();
    let items: Vec<u8> = (0..96u8).map(|n| n.wrapping_mul(37)).collect();
    a.write_bytes(s![], &items).unwrap();
    for axis in 0..3 {
        let pair = options().stack_in_memory(&[&a, &a], axis).unwrap();
        let second = pair.read_bytes(match axis {
            0 => s![1],
            1 => s![.., 1],
            _ => s![.., .., 1],
        });
        assert_eq!(second.unwrap(), items, "axis {axis}");
    }
}
