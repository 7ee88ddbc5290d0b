//! The command: arguments in, exit status out.

use std::process::ExitCode;

#[global_allocator]
static GLOBAL: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    reglint::run(std::env::args_os()).into()
}
