//! Tests of b2nd against python-blosc2, in one program: `cargo test -p b2nd-interop --test all NAME::`.

mod alternate;
mod blocks;
mod blosc1;
mod checksums;
mod corpus;
mod crashes;
mod matrix;
mod peer_lock;
mod places;
mod products;
mod real_data;
mod registered;
mod rewritten;
mod schunks;
mod sequences;
mod shapes;
