//! Any bytes as a frame that is changed: a change is done as on a list of chunks, or leaves everything as it was.
//!
//! The last 32 bytes of the input choose the changes.
#![no_main]

use b2nd::SChunk;
use b2nd_fuzz::chunks;
use libfuzzer_sys::arbitrary::{Result, Unstructured};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let (frame, choices) = data.split_at(data.len().saturating_sub(32));
    let Ok(frame) = SChunk::from_bytes(frame.to_vec(), &b2nd_fuzz::options().with_write(true)) else {
        return;
    };
    if chunks::is_small(&frame) {
        let _ = run(&mut Unstructured::new(choices), frame);
    }
});

fn run(u: &mut Unstructured<'_>, mut frame: SChunk) -> Result<()> {
    let model = chunks::follow(u, &mut frame)?;
    let bytes = frame.to_bytes();
    if let Some(model) = model {
        let again = SChunk::from_bytes(bytes.expect("a sound frame"), &b2nd_fuzz::options());
        assert_eq!(chunks::read(&again.expect("a copy of what was open")).expect("a sound frame"), model);
    }
    Ok(())
}
