//! Filters alone, on one buffer: next to the rival's, and next to a memory copy of the same size.

use crate::arguments::Mode;
use crate::bench::Bench;
use crate::groups::name::{COPY, FILTERS};
use crate::measure::Fill;
use crate::report::{Label, Unit};
use crate::rival::Filter;
use b2nd_interop::Outcome;
use b2nd_kernel::cpu::Level;
use b2nd_kernel::{bitshuffle, bytedelta, delta, shuffle};
use b2nd_testkit::rng::Rng;

const ALL: [(&str, Filter); 4] = [
    ("shuffle", Filter::Shuffle),
    ("unshuffle", Filter::Unshuffle),
    ("bitshuffle", Filter::Bitshuffle),
    ("bitunshuffle", Filter::Bitunshuffle),
];

/// Our filter: the kernel of the same name.
fn ours(level: Level, filter: Filter, typesize: u8, src: &[u8], dst: &mut [u8]) {
    let width = usize::from(typesize);
    match filter {
        Filter::Shuffle => shuffle::shuffle(level, width, src, dst),
        Filter::Unshuffle => shuffle::unshuffle(level, width, src, dst),
        Filter::Bitshuffle => bitshuffle::shuffle(level, width, src, dst),
        Filter::Bitunshuffle => bitshuffle::unshuffle(level, width, src, dst),
    }
}

/// Measures the sizes that the mode asks for.
pub(crate) fn run(bench: &mut Bench<'_>) -> Outcome {
    let sizes: &[(&str, usize)] = match bench.mode {
        Mode::Smoke => &[("32 KiB", 32 << 10)],
        _ => &[("32 KiB", 32 << 10), ("4 MiB", 4 << 20), ("1 GiB", 1 << 30)],
    };
    for &(size, nbytes) in sizes {
        let src = Rng::new(31).bytes(nbytes);
        let largest = nbytes == 1 << 30;
        let typesizes: &[u8] = match (bench.mode, largest) {
            (Mode::Quick, true) => &[8],
            (Mode::Quick, false) => &[4, 8, 12],
            _ => &[2, 4, 8, 12, 16, 24],
        };
        for &typesize in typesizes {
            for (name, filter) in ALL {
                let inverse = matches!(filter, Filter::Unshuffle | Filter::Bitunshuffle);
                if bench.mode == Mode::Quick && largest && inverse {
                    continue;
                }
                let copied = bench.mode != Mode::Quick || (typesize == 8 && nbytes >= 4 << 20);
                let what = format!("{name} {typesize}, {size}");
                measure(bench, &what, filter, typesize, &src, copied)?;
            }
        }
        if bench.mode != Mode::Quick {
            alone(bench, size, &src)?;
        }
    }
    Ok(())
}

fn measure(
    bench: &mut Bench<'_>,
    what: &str,
    filter: Filter,
    typesize: u8,
    src: &[u8],
    copied: bool,
) -> Outcome {
    // Whole groups of eight items: what is left over is nobody's work.
    let src = &src[..src.len() / (8 * usize::from(typesize)) * (8 * usize::from(typesize))];
    let (level, rival) = (Level::detect(), bench.rival);
    let effort = bench.effort(500, 120);
    let label = |group| Label::new(group, what, 1, Unit::Bytes(src.len()));
    let mut duel = Fill::new(
        src.len(),
        |_, out| {
            ours(level, filter, typesize, src, out);
            Ok(())
        },
        |_, out| rival.filter(filter, typesize, src, out),
    );
    bench.duel(label(FILTERS), effort, &mut duel)?;
    drop(duel);
    if !copied {
        return Ok(());
    }
    let mut duel = Fill::unequal(
        src.len(),
        |_, out| {
            ours(level, filter, typesize, src, out);
            Ok(())
        },
        copy(src),
    );
    bench.duel(label(COPY).against("memory copy"), effort, &mut duel)
}

fn copy(src: &[u8]) -> impl FnMut(usize, &mut [u8]) -> Outcome {
    |_, out| {
        out.copy_from_slice(src);
        std::hint::black_box(out);
        Ok(())
    }
}

/// What C-Blosc2 does not export, next to a memory copy: delta and byte differences.
fn alone(bench: &mut Bench<'_>, size: &str, src: &[u8]) -> Outcome {
    let level = Level::detect();
    let effort = bench.effort(500, 120);
    let label = |name: &str| {
        Label::new(COPY, format!("{name}, {size}"), 1, Unit::Bytes(src.len())).against("memory copy")
    };
    let mut duel = Fill::unequal(
        src.len(),
        |_, out| {
            bytedelta::encode(level, src, out);
            Ok(())
        },
        copy(src),
    );
    bench.duel(label("byte differences"), effort, &mut duel)?;
    let mut duel = Fill::unequal(
        src.len(),
        |_, out| {
            delta::encode_first(level, 8, src, out);
            Ok(())
        },
        copy(src),
    );
    bench.duel(label("delta 8"), effort, &mut duel)
}
