//! The command: arguments in, exit status out.

use std::process::ExitCode;

fn main() -> ExitCode {
    reglint::run(std::env::args_os()).into()
}
