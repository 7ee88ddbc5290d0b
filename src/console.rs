//! The process's own streams: how output is to look, and what standard error is told.
//!
//! Uses `cli`, `output` and `error`.

use std::io::{self, Write};

use crate::cli::{ColorChoice, Options};
use crate::error::Error;
use crate::output;

/// The result of writing output. Where nobody reads on (`reglint … | head -1`), nothing is wrong.
pub(crate) fn written(result: io::Result<()>) -> Result<(), Error> {
    match result {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Error::Write(error)),
        _ => Ok(()),
    }
}

/// How the output is to look.
pub(crate) fn view(options: &Options, is_terminal: bool) -> output::Options {
    output::Options {
        color: is_coloured(options.color, is_terminal),
        width: terminal_width(is_terminal),
        quiet: options.quiet,
        unsafe_fixes: options.unsafe_fixes,
    }
}

/// Whether the text is coloured: as asked, else at a terminal that wants it (<https://no-color.org>).
fn is_coloured(choice: ColorChoice, is_terminal: bool) -> bool {
    let refused = || {
        std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
            || std::env::var_os("TERM").is_some_and(|value| value == "dumb")
    };
    match choice {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto => is_terminal && !refused(),
    }
}

/// How many columns the output has. Where it is no terminal, as many as lines are usually read at.
fn terminal_width(is_terminal: bool) -> usize {
    let measured = || terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    let width = if is_terminal { measured() } else { None };
    width.unwrap_or(output::Options::default().width)
}

/// Tells standard error why something could not be done.
pub(crate) fn complain(error: &Error) {
    tell(&error.to_string());
}

/// Tells standard error `text`, one line.
pub(crate) fn tell(text: &str) {
    let text = output::escape_line(text);
    // Nobody is left to be told where even this cannot be printed.
    let _ = writeln!(io::stderr().lock(), "reglint: {text}");
}
