//! Words and numbers for the user: shapes, sizes, speeds.

use std::time::Duration;

use b2nd::schunk::{Rewritten, SpaceUse};
use b2nd::{Array, AttrValue, Codec, Damage, Dtype, Filter, Params, Pipeline, SChunk};
use serde_json::{Value as Json, json};

/// A shape as Python writes it: `()`, `(5,)`, `(3, 4)`.
pub(crate) fn lengths(shape: &[u64]) -> String {
    match shape {
        [only] => format!("({only},)"),
        many => format!("({})", many.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")),
    }
}

/// What another program has written since the checksums were made.
pub(crate) fn rewritten(schunk: &SChunk) -> Option<&'static str> {
    match schunk.rewritten().ok().flatten()? {
        Rewritten::Header => Some("another program (C-Blosc2, python-blosc2) has rewritten the header since"),
        _ => Some("another program (C-Blosc2, python-blosc2) has written to the file since"),
    }
}

/// The same as a word for programs.
pub(crate) fn rewritten_key(schunk: &SChunk) -> Option<&'static str> {
    Some(match schunk.rewritten().ok().flatten()? {
        Rewritten::Header => "header",
        _ => "frame",
    })
}

/// Damaged places as JSON, `most` at most.
pub(crate) fn damage(places: &[Damage], most: usize) -> Vec<Json> {
    let each = |place: &Damage| {
        json!({
            "chunk": place.chunk,
            "chunks": place.count,
            "block": place.block,
            "start": place.start,
            "stop": place.stop,
            "error": place.error.to_string(),
        })
    };
    places.iter().take(most).map(each).collect()
}

/// The names of an array's axes, by xarray's convention: the attribute `_ARRAY_DIMENSIONS`, a list of a text for each axis.
pub(crate) fn dimensions(array: &Array) -> Option<Vec<String>> {
    let value = short_attribute(array.schunk(), DIMENSIONS)?;
    let names: Option<Vec<String>> =
        value.as_list()?.iter().map(|name| name.as_str().map(str::to_owned)).collect();
    names.filter(|names| names.len() == array.ndim())
}

/// The attribute that has the names of the axes, as in Zarr.
pub(crate) const DIMENSIONS: &str = "_ARRAY_DIMENSIONS";

/// Longer attributes are read only when they are asked for by name.
pub(crate) const LONG_ATTRIBUTE: u64 = 64 << 10;

/// The value of an attribute that is there, whole, and not long.
pub(crate) fn short_attribute(schunk: &SChunk, name: &str) -> Option<AttrValue> {
    let mut lengths = schunk.vlmetalayer_lengths().ok()?;
    lengths.find(|(found, len)| *found == name && len.is_some_and(|len| len <= LONG_ATTRIBUTE))?;
    AttrValue::from_msgpack(&schunk.vlmetalayer(name).ok()??).ok()
}

/// A number of bytes with a unit: `512 B`, `1.5 KiB`, `3.2 GiB`.
pub(crate) fn bytes(count: u64) -> String {
    let mut value = count as f64;
    for unit in ["B", "KiB", "MiB", "GiB", "TiB"] {
        if value < 1024.0 {
            return if unit == "B" { format!("{count} B") } else { format!("{value:.1} {unit}") };
        }
        value /= 1024.0;
    }
    format!("{value:.1} PiB")
}

/// How many times smaller `stored` bytes are than `raw` bytes: `3.25x`.
pub(crate) fn ratio(raw: u64, stored: u64) -> String {
    if stored == 0 { "-".into() } else { format!("{:.2}x", raw as f64 / stored as f64) }
}

/// A speed: `812 MB/s` (millions of bytes).
pub(crate) fn speed(count: u64, time: Duration) -> String {
    format!("{:.0} MB/s", count as f64 / 1e6 / time.as_secs_f64().max(1e-9))
}

/// A time: `0.52 s`, `3.1 ms`.
pub(crate) fn seconds(time: Duration) -> String {
    let s = time.as_secs_f64();
    if s >= 0.1 { format!("{s:.2} s") } else { format!("{:.2} ms", s * 1e3) }
}

/// A dtype for the eye.
pub(crate) fn dtype(dtype: &Dtype) -> String {
    dtype.to_text()
}

/// The filters that are in use, in pipeline order, with their meta bytes.
pub(crate) fn filters(pipeline: &Pipeline) -> Vec<(Filter, u8)> {
    let slots = pipeline.ids().into_iter().zip(pipeline.meta());
    slots.filter_map(|(id, meta)| Filter::from_id(id).map(|f| (f, meta))).collect()
}

/// The filters as `--filter` takes them.
pub(crate) fn filter_text(pipeline: &Pipeline) -> String {
    pipeline.to_string()
}

/// What the meta byte of a codec says, for those that have a parameter, and wherever it is not 0.
pub(crate) fn codec_parameter(codec: Codec, meta: u8) -> Option<i16> {
    match codec {
        Codec::ZfpAccuracy => Some(i8::from_le_bytes([meta]).into()),
        Codec::Ndlz | Codec::ZfpPrecision | Codec::ZfpRate => Some(meta.into()),
        _ if meta != 0 => Some(meta.into()),
        _ => None,
    }
}

/// A codec as `--codec` takes it.
pub(crate) fn codec_text(codec: Codec, meta: u8) -> String {
    match codec_parameter(codec, meta) {
        Some(parameter) => format!("{}:{parameter}", codec.name()),
        None => codec.name().into_owned(),
    }
}

/// Codec, level and filters in a few words.
pub(crate) fn params(params: &Params) -> String {
    let codec = codec_text(params.codec(), params.codec_meta());
    format!("{codec} {}, {}", params.clevel(), filter_text(params.pipeline()))
}

/// Of more chunks the headers are not read: that takes a while, and a file each in a sparse frame.
pub(crate) const MOST_CHUNKS: u64 = 20_000;

/// What the files of a frame hold, where few headers of chunks say it.
pub(crate) fn space(schunk: &SChunk) -> Option<SpaceUse> {
    if schunk.nchunks() <= MOST_CHUNKS { schunk.space().ok() } else { None }
}

/// The bytes of the compressed chunks, without those that nothing refers to as far as that is known.
pub(crate) fn compressed(schunk: &SChunk) -> u64 {
    space(schunk).map_or_else(|| schunk.cbytes(), |space| space.chunks)
}

/// What `import` and `convert` say at the end.
pub(crate) fn stored(name: &str, array: &Array, time: Duration) -> String {
    format!(
        "{name}: {} {} {} → {} ({}), {} in {}; chunks {}, blocks {}, {}",
        lengths(array.shape()),
        dtype(array.dtype()),
        bytes(array.nbytes()),
        bytes(compressed(array.schunk())),
        ratio(array.nbytes(), compressed(array.schunk())),
        speed(array.nbytes(), time),
        seconds(time),
        lengths(array.chunks()),
        lengths(array.blocks()),
        params(array.schunk().params()),
    )
}

/// What `append` says at the end.
pub(crate) fn appended(name: &str, array: &Array, added: u64, axis: usize, time: Duration) -> String {
    format!(
        "{name}: {} appended along axis {axis}, {} in {}; now {} {} {} → {} ({})",
        bytes(added),
        speed(added, time),
        seconds(time),
        lengths(array.shape()),
        dtype(array.dtype()),
        bytes(array.nbytes()),
        bytes(compressed(array.schunk())),
        ratio(array.nbytes(), compressed(array.schunk())),
    )
}

/// A number of things: `1 chunk`, `2 chunks`, `2 guesses`.
pub(crate) fn count(n: u64, thing: &str) -> String {
    let ending = match (n, thing.ends_with('s')) {
        (1, _) => "",
        (_, true) => "es",
        (_, false) => "s",
    };
    format!("{n} {thing}{ending}")
}

/// A region of an array as a slice: `[10:20, 0:5]`.
pub(crate) fn region(start: &[u64], stop: &[u64]) -> String {
    let parts: Vec<String> = start.iter().zip(stop).map(|(a, b)| format!("{a}:{b}")).collect();
    format!("[{}]", parts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_carry_the_largest_unit_that_fits() {
        assert_eq!(bytes(0), "0 B");
        assert_eq!(bytes(1023), "1023 B");
        assert_eq!(bytes(1536), "1.5 KiB");
        assert_eq!(bytes(3 << 30), "3.0 GiB");
    }

    #[test]
    fn things_are_counted_in_the_plural() {
        assert_eq!(count(1, "guess"), "1 guess");
        assert_eq!(count(2, "guess"), "2 guesses");
        assert_eq!(count(0, "chunk"), "0 chunks");
    }

    #[test]
    fn shapes_read_as_in_python() {
        assert_eq!(lengths(&[]), "()");
        assert_eq!(lengths(&[5]), "(5,)");
        assert_eq!(lengths(&[3, 4]), "(3, 4)");
    }
}
