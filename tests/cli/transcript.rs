//! Transcripts: commands with what they print and how they end, as a terminal would show them.
//!
//! ```text
//! $ reglint r.json
//! what standard output shows
//! [stderr] what standard error shows
//! [exit 1]
//! ```
//!
//! `[exit 0]` is left out. Run with `REGLINT_BLESS=1` to write down what the commands do now; read
//! every line of the difference before committing it. A transcript that is missing is a failure.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The command that was built.
pub const REGLINT: &str = env!("CARGO_BIN_EXE_reglint");

/// The project's folder.
pub fn project() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Whether expectations are written instead of compared.
pub fn blessing() -> bool {
    std::env::var_os("REGLINT_BLESS").is_some()
}

/// The command in `folder`, without anything of the surroundings that changes its output.
pub fn reglint(folder: &Path) -> Command {
    let mut command = Command::new(REGLINT);
    command.current_dir(folder).env_remove("NO_COLOR").env("COLUMNS", "100");
    command
}

/// Runs a line of a transcript, without its `$ `, and gives what it showed.
pub fn run_line(line: &str, folder: &Path) -> String {
    let output = if line.contains(['|', '<', '>', ';', '*', '&']) {
        // A shell line: the tests' own `reglint` in front of any other.
        let shell = format!("reglint() {{ \"{REGLINT}\" \"$@\"; }}\n{line}");
        let mut command = Command::new("sh");
        command.current_dir(folder).env_remove("NO_COLOR").env("COLUMNS", "100");
        command.args(["-c", &shell]).output()
    } else {
        let words = split(line);
        assert_eq!(words[0], "reglint", "a transcript runs reglint: {line}");
        reglint(folder).args(&words[1..]).output()
    };
    show(&output.unwrap_or_else(|error| panic!("{line}: {error}")))
}

/// The words of a line, quotes as in a shell.
fn split(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote, mut open) = (Vec::new(), String::new(), None, false);
    for c in line.chars() {
        match (quote, c) {
            (Some(q), c) if q == c => quote = None,
            (None, '\'' | '"') => (quote, open) = (Some(c), true),
            (None, ' ') if open || !word.is_empty() => {
                words.push(std::mem::take(&mut word));
                open = false;
            }
            (None, ' ') => {}
            _ => word.push(c),
        }
    }
    if open || !word.is_empty() {
        words.push(word);
    }
    words
}

/// What a run showed.
pub fn show(output: &Output) -> String {
    let mut shown = String::from_utf8_lossy(&output.stdout).into_owned();
    if !shown.is_empty() && !shown.ends_with('\n') {
        shown.push_str("[no line end]\n");
    }
    for line in String::from_utf8_lossy(&output.stderr).lines() {
        writeln!(shown, "[stderr] {line}").unwrap();
    }
    match output.status.code() {
        Some(0) => {}
        Some(code) => writeln!(shown, "[exit {code}]").unwrap(),
        None => writeln!(shown, "[killed: {}]", output.status).unwrap(),
    }
    shown
}

/// Runs every command of `text` in `folder`; gives the transcript as it is now.
pub fn replay(text: &str, folder: &Path) -> String {
    let mut now = String::new();
    for line in text.lines().filter_map(|line| line.strip_prefix("$ ")) {
        writeln!(now, "$ {line}\n{}", run_line(line, folder).trim_end_matches('\n')).unwrap();
        if now.ends_with("\n\n") {
            now.pop();
        }
    }
    now
}

/// What differs, line by line, or nothing.
pub fn difference(expected: &str, found: &str) -> Option<String> {
    if expected == found {
        return None;
    }
    let (expected, found): (Vec<_>, Vec<_>) = (expected.lines().collect(), found.lines().collect());
    let same = expected.iter().zip(&found).take_while(|(a, b)| a == b).count();
    let mut text = format!("from line {}:\n", same + 1);
    for line in expected.iter().skip(same) {
        writeln!(text, "  - {line}").unwrap();
    }
    for line in found.iter().skip(same) {
        writeln!(text, "  + {line}").unwrap();
    }
    Some(text)
}

/// A folder of its own for one run, away from the project, so that neither its configuration nor
/// its ignored files play a part.
pub fn scratch() -> tempfile::TempDir {
    tempfile::Builder::new().prefix("reglint-").tempdir().expect("a temporary folder")
}

/// Copies a folder with all that is in it.
pub fn copy(from: &Path, to: &Path) {
    for entry in walk(from) {
        let target = to.join(entry.strip_prefix(from).expect("below it"));
        std::fs::create_dir_all(target.parent().expect("has one")).expect("can be made");
        std::fs::copy(&entry, target).expect("can be copied");
    }
}

/// All files below a folder, by name.
pub fn walk(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut entries: Vec<_> = std::fs::read_dir(folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.expect("can be listed").path())
        .collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            files.extend(walk(&path));
        } else {
            files.push(path);
        }
    }
    files
}
