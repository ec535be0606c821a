//! Prints the page of real data: `cargo run --release -p b2nd-interop > docs/REAL-DATA.md`.

use b2nd_interop::{Outcome, python, real_data};

fn main() -> Outcome {
    let python = python::find()?.ok_or("no Python with blosc2")?;
    let root = real_data::shared().ok_or("no folder of shared files")?;
    print!("{}", real_data::page(&real_data::lines(&root, &python)?, &python));
    Ok(())
}
