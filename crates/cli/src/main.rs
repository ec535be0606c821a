//! The `b2nd` command. Everything is in the library beside it, so that tests and benches can call it.
#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    b2nd_cli::run(std::env::args_os())
}
