//! Integration tests of the library, in one program: `cargo test -p b2nd --test all NAME::`.
//!
//! Tests that replace the allocator are programs of their own: `peak` and `out_of_memory`.

mod arrays;
mod blocks;
mod cancelling;
mod corners;
mod corpus_chunks;
mod corpus_frames;
mod crash;
mod errors;
mod fill;
mod fixture_blocks;
mod fixture_chunks;
mod fixtures;
mod flips;
mod frame_options;
mod frames;
mod iteration;
mod kill;
mod many_selections;
mod numpy_reductions;
mod owned_transactions;
mod processing;
mod readers;
mod reductions;
mod registry;
mod repair;
mod sans_io;
mod scratch;
mod several;
mod sparse_numbers;
mod starts;
mod states;
mod streams;
mod structures;
mod supply_orders;
mod threads;
mod updates;
mod writers;
