//! The other implementation in Rust, `blosc2-pure-rs`: chunks, compressed and decompressed in the same blocks.

use crate::bench::{Bench, Sizes};
use crate::data::{self, Kind};
use crate::groups::name::PURE;
use crate::measure::Fill;
use crate::report::{Label, Unit};
use b2nd::chunk;
use b2nd::{Codec, Exec, Limits, Params, Pipeline};
use b2nd_interop::Outcome;
use b2nd_interop::generate::CODECS;
use blosc2_pure_rs::compress::{
    CContext, CParams, DParams, blosc2_compress_ctx, blosc2_create_cctx, decompress_chunk_into_with_dparams,
};

const NAME: &str = "blosc2-pure-rs";
const CHUNK: usize = 1 << 20;

/// Measures every codec on a smooth field, and more data in a full run.
pub(crate) fn run(bench: &mut Bench<'_>) -> Outcome {
    let sources = [
        (Kind::Smooth, 8),
        (Kind::Real("era_z_i2", 2), 2),
        (Kind::Walk, 4),
        (Kind::Noise, 8),
        (Kind::Text, 1),
    ];
    let some = bench.mode.pick(5, 2, 1);
    for (kind, typesize) in sources.into_iter().take(some) {
        let (source, items) = data::source(kind, typesize, CHUNK)?;
        for codec in CODECS {
            for clevel in bench.mode.pick(&[1u8, 5, 9][..], &[5], &[5]) {
                for (filter, ids) in bench.mode.pick(
                    &[("none", 0u8), ("shuffle", 1), ("bitshuffle", 2)][..],
                    &[("shuffle", 1)],
                    &[("shuffle", 1)],
                ) {
                    let name = format!("{source} t{typesize} {codec}-{clevel} {filter} 1 MiB");
                    let filters = [0, 0, 0, 0, 0, *ids];
                    measure(bench, &name, codec, *clevel, filters, typesize, &items)
                        .map_err(|e| format!("{name}: {e}"))?;
                }
            }
        }
    }
    Ok(())
}

fn compress(context: &CContext, items: &[u8], out: &mut [u8]) -> Outcome<usize> {
    let (from, to) = (i32::try_from(items.len())?, i32::try_from(out.len())?);
    let n = blosc2_compress_ctx(context, items, from, out, to);
    usize::try_from(n).ok().filter(|&n| n > 0).ok_or_else(|| format!("{NAME} error {n}").into())
}

fn measure(
    bench: &mut Bench<'_>,
    name: &str,
    codec: &str,
    clevel: u8,
    filters: [u8; 6],
    typesize: u8,
    items: &[u8],
) -> Outcome {
    let codec = Codec::from_name(codec).ok_or("codec")?;
    let theirs = CParams {
        compcode: codec.id(),
        clevel,
        typesize: i32::from(typesize),
        filters,
        ..CParams::default()
    };
    let context = blosc2_create_cctx(theirs)?;
    let mut chunk = vec![0; items.len() + 32];
    let len = compress(&context, items, &mut chunk)?;
    chunk.truncate(len);
    let blocksize = u32::from_le_bytes(chunk.get(8..12).ok_or("short chunk")?.try_into()?);
    let params = Params::new(u32::from(typesize))
        .with_codec(codec)
        .with_clevel(clevel)
        .with_pipeline(Pipeline::from_bytes(filters, [0; 6]))
        .with_blocksize(Some(blocksize));
    let exec = Exec::new(1);
    let ours = chunk::encode(items, &params, &exec)?;
    let dparams = DParams::default();
    let mut read = vec![0; items.len()];
    decompress_chunk_into_with_dparams(&ours, &mut read, &dparams)?;
    if read != items {
        return Err(format!("{NAME} decodes b2nd's chunk to something else").into());
    }
    let label =
        |what: &str| Label::new(PURE, format!("{what} {name}"), 1, Unit::Bytes(items.len())).against(NAME);
    let effort = bench.effort(400, 100);
    let mut duel = Fill::unequal(
        items.len() + 32,
        |_, _| {
            std::hint::black_box(chunk::encode(items, &params, &exec)?);
            Ok(())
        },
        |_, out| compress(&context, items, out).map(drop),
    );
    bench.duel_sized(
        label("compress"),
        effort,
        &mut duel,
        Sizes { ours: ours.len(), theirs: chunk.len() },
    )?;
    let mut duel = Fill::new(
        items.len(),
        |_, out| Ok(chunk::decode_into(&chunk, out, &Limits::default(), &exec)?),
        |_, out| Ok(decompress_chunk_into_with_dparams(&chunk, out, &dparams).map(drop)?),
    );
    bench.duel(label("decompress"), effort, &mut duel)
}
