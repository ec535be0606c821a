//! Tests of the kernels, in one program: `cargo test -p b2nd-kernel --test all NAME::`.

mod blosclz;
mod boxes;
mod bytedelta;
mod delta_runs;
mod lz4;
mod memory;
mod noise;
mod share;
mod shuffles;
mod zstd;
mod zstd_encode;
