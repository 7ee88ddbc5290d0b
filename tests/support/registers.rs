//! What the tests of broken registers share: layouts of one register, and what is found in a text.
#![allow(dead_code, unreachable_pub)]

use reglint::diagnostic::Diagnostic;
use reglint::linter::{self, Options};
use reglint::report::Levels;
use reglint::schema::Schema;
use reglint::source::{Source, Sources};

/// A text without line ends and without spaces behind its separators.
pub fn minified(pretty: &str) -> String {
    let text: String = pretty.lines().map(str::trim_start).collect();
    text.replace("\": ", "\":").replace(", \"", ",\"")
}

/// Every finding that all rules have in `sources`, each a path and a text.
pub fn diagnostics(sources: &[(&str, &str)]) -> Vec<Diagnostic> {
    thread_local! {
        static LEVELS: Levels = Levels::default();
    }
    LEVELS.with(|levels| {
        let sources =
            sources.iter().map(|(path, text)| Source::new(*path, text.as_bytes().to_vec()));
        let sources = Sources::new(sources.collect());
        linter::lint(&sources, &Options::new(levels, Schema::embedded())).diagnostics
    })
}
