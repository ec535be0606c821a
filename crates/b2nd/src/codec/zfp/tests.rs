//! Bounds of the error, and streams that are no ZFP.

use super::*;
use crate::error::Error;

const CODECS: [(Codec, u8); 3] =
    [(Codec::ZfpAccuracy, (-3_i8) as u8), (Codec::ZfpPrecision, 20), (Codec::ZfpRate, 40)];

fn wave(items: usize) -> Vec<u8> {
    (0..items).flat_map(|i| ((i as f64 * 0.01).sin() * 10.0).to_le_bytes()).collect()
}

#[test]
fn errors_stay_below_their_bound() {
    for shape in [&[201][..], &[21, 15], &[8, 8, 5], &[4, 8, 4, 8]] {
        let items = shape.iter().product::<u32>() as usize;
        let src = wave(items);
        for (codec, meta) in CODECS {
            let info = BlockInfo::new(8).with_meta(meta).with_block_shape(shape);
            let mut packed = vec![0; src.len()];
            let len = compress(codec, &info, &src, &mut packed).unwrap().unwrap();
            assert!(len < src.len() * 2 / 3, "{codec:?} {len}");
            let mut back = vec![0; src.len()];
            decompress(codec, &info, &packed[..len], &mut back).unwrap();
            let floats = |bytes: &[u8]| -> Vec<f64> {
                bytes.as_chunks::<8>().0.iter().map(|word| f64::from_le_bytes(*word)).collect()
            };
            let error =
                floats(&src).iter().zip(floats(&back)).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(error < 1e-3, "{codec:?} {shape:?} {error}");
        }
    }
}

#[test]
fn damaged_streams_do_no_harm() {
    let (src, shape) = (wave(64), [8, 8]);
    for (codec, meta) in CODECS {
        let info = BlockInfo::new(8).with_meta(meta).with_block_shape(&shape);
        let mut packed = vec![0; src.len()];
        let len = compress(codec, &info, &src, &mut packed).unwrap().unwrap();
        let mut back = vec![0; src.len()];
        for bit in 0..8 * len {
            let mut packed = packed[..len].to_vec();
            packed[bit / 8] ^= 1 << (bit % 8);
            assert!(matches!(decompress(codec, &info, &packed, &mut back), Ok(()) | Err(Error::Format(_))));
        }
        for cut in 0..len {
            let result = decompress(codec, &info, &packed[..cut], &mut back);
            assert!(matches!(result, Ok(()) | Err(Error::Format(_))));
        }
        assert!(matches!(decompress(codec, &info, &packed[..8], &mut back), Err(Error::Format(_))));
        assert!(matches!(decompress(codec, &info, &packed, &mut back[8..]), Err(Error::Format(_))));
    }
}

#[test]
fn what_cannot_be_written_is_the_callers_fault() {
    let good = BlockInfo::new(4).with_meta(10).with_block_shape(&[4, 4]);
    assert!(check(Codec::ZfpRate, &good).is_ok());
    for bad in [
        BlockInfo::new(4).with_meta(10),
        good.with_meta(0),
        good.with_block_shape(&[3, 4]),
        good.with_block_shape(&[4; 5]),
        BlockInfo::new(2).with_meta(10).with_block_shape(&[4, 4]),
    ] {
        assert!(matches!(check(Codec::ZfpRate, &bad), Err(Error::Compression(_))), "{bad:?}");
    }
}
