//! Any bytes as a damaged frame: what a repair makes of them opens and is sound.
#![no_main]

use b2nd::{Array, Error, RepairOptions, SChunk, repair_bytes};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let options = b2nd_fuzz::options();
    let repairing = RepairOptions::new()
        .with_limits(b2nd_fuzz::limits())
        .with_registry(b2nd_fuzz::registry::registry())
        .with_exec(b2nd::Exec::new(1));
    let Ok((bytes, report)) = repair_bytes(data.to_vec(), &repairing) else { return };
    let frame = SChunk::from_bytes(bytes.clone(), &options).expect("what was repaired opens");
    assert_eq!(frame.nchunks(), report.chunks);
    let found = match Array::from_bytes(bytes.clone(), &options) {
        Ok(array) => array.verify(),
        Err(_) => frame.verify(),
    };
    match found {
        Ok(found) => {
            let unknown = |error: &Error| matches!(error, Error::Unsupported { .. });
            assert!(found.damage.iter().all(|place| unknown(&place.error)), "{:?}", found.damage);
        }
        Err(error) => assert!(matches!(error, Error::Limit { .. }), "{error}"),
    }
    let names: Vec<String> = frame.vlmetalayer_names().into_iter().flatten().map(str::to_string).collect();
    for name in names {
        let _ = frame.vlmetalayer(&name);
    }
});
