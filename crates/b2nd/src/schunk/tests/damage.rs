//! Damaged frames are refused or read; nothing panics.

use super::*;

fn small_frame() -> Vec<u8> {
    let mut schunk =
        SChunk::create(FrameTarget::Memory, spec(Layout::Contiguous, 3), &options().common).unwrap();
    for n in [0, 2] {
        let chunk = encoded(&schunk, &data(n));
        schunk.put_chunk(u64::from(n), &chunk).unwrap();
    }
    schunk.to_bytes().unwrap()
}

/// Opens and reads everything; whether all of it worked.
fn read_all(bytes: &[u8]) -> bool {
    for write in [false, true] {
        let limits = crate::Limits::default().with_max_chunk_bytes(1 << 20).with_max_index_bytes(1 << 20);
        let limits = limits.with_max_meta_bytes(1 << 20);
        let options = options().with_limits(limits).with_write(write);
        let Ok(mut schunk) = SChunk::from_bytes(bytes.to_vec(), &options) else { continue };
        let chunks = (0..schunk.nchunks().min(10)).map(|n| {
            let chunk = schunk.chunk(n)?;
            chunk::decode(&chunk, schunk.context(), schunk.exec())
        });
        let whole = chunks.collect::<crate::Result<Vec<_>>>().is_ok();
        let names = schunk.vlmetalayer_names().map(|names| names.map(str::to_owned).collect::<Vec<_>>());
        let meta = names.is_ok() && names.iter().flatten().all(|name| schunk.vlmetalayer(name).is_ok());
        let copied = schunk.nchunks() > 10 || schunk.to_bytes().is_ok();
        if write {
            let params = spec(Layout::Contiguous, 0).params;
            let chunk = chunk::encode(&data(9), &params, &Exec::new(1)).unwrap();
            let _ = schunk.put_chunk(1, &chunk);
            let _ = schunk.commit();
            return whole && meta && copied;
        }
    }
    false
}

#[test]
fn every_truncation_is_refused() {
    let frame = small_frame();
    assert!(read_all(&frame));
    for len in 0..frame.len() {
        let error = SChunk::from_bytes(frame[..len].to_vec(), &options()).unwrap_err();
        assert_eq!(error.fault(), crate::Fault::File, "{len}: {error}");
    }
}

#[test]
fn every_flipped_bit_is_an_error_or_not_but_never_a_panic() {
    let frame = small_frame();
    let mut refused = 0;
    for bit in 0..frame.len() * 8 {
        let mut damaged = frame.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        refused += usize::from(!read_all(&damaged));
    }
    assert!(refused > 500, "{refused}");
}

#[test]
fn trailing_bytes_are_ignored() {
    let mut frame = small_frame();
    let before = contents(&SChunk::from_bytes(frame.clone(), &options()).unwrap()).unwrap();
    frame.extend([0xaa; 50]);
    let schunk = SChunk::from_bytes(frame, &options()).unwrap();
    assert_eq!(contents(&schunk).unwrap(), before);
}

#[test]
fn errors_say_which_chunk() {
    let mut frame = small_frame();
    let header = SChunk::from_bytes(frame.clone(), &options()).unwrap().header.len() as usize;
    frame[header + 4] ^= 1;
    let schunk = SChunk::from_bytes(frame, &options()).unwrap();
    let crate::Error::Format(error) = schunk.chunk(0).unwrap_err() else { panic!() };
    assert_eq!(
        (error.part(), error.chunk(), error.offset()),
        (crate::error::Part::ChunkHeader, Some(0), Some(4))
    );
    assert!(schunk.chunk(2).is_ok());
    assert_eq!(schunk.chunk(3).unwrap_err().fault(), crate::Fault::Caller);
}

#[test]
fn chunks_that_do_not_fit_the_frame_are_refused() {
    let mut schunk =
        SChunk::create(FrameTarget::Memory, spec(Layout::Contiguous, 3), &options().common).unwrap();
    let good = encoded(&schunk, &data(1));
    let exec = Exec::new(1);
    let short = chunk::encode(&data(1)[..396], schunk.params(), &exec).unwrap();
    let blosc1 = chunk::encode(&data(1), &schunk.params().clone().with_short_header(true), &exec).unwrap();
    let cut = good[..good.len() - 1].to_vec();
    let long = [good.clone(), vec![0]].concat();
    for chunk in [short, blosc1, cut, long] {
        assert!(schunk.put_chunk(0, &chunk).is_err());
    }
    assert!(schunk.put_chunk(3, &good).is_err());
    schunk.put_chunk(2, &good).unwrap();
    assert!(schunk.put_special(0, Special::Value).is_err());
    assert!(schunk.stage_metalayer("b2nd", &[0; 19]).is_err());
    assert!(schunk.stage_metalayer("nope", &[]).is_err());
    assert!(schunk.stage_vlmetalayer(&"x".repeat(32), b"").is_err());
    assert!(schunk.stage_vlmetalayer("", b"").is_err());
}
