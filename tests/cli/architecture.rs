//! The layers hold: a module uses only what stands lower.

use std::fs;

use crate::transcript::{project, walk};

/// The layers from the top. A module may use those of the lines below its own, and on its own line
/// those to the right of it.
const LAYERS: &[&[&str]] = &[
    &["main"],
    &["lib"],
    &["check", "measure"],
    &["settings", "console"],
    &["cli"],
    &["known", "input", "output", "writer"],
    &["fixer"],
    &["linter", "query"],
    &["report", "config", "exit", "error"],
    &["rules"],
    &["workspace"],
    &["register", "schema", "evidence"],
    &["overlap", "json"],
    &["diagnostic", "fix", "source", "pattern", "suggest", "paths"],
    &["span"],
];

fn rank(module: &str) -> usize {
    LAYERS.iter().flat_map(|layer| layer.iter()).position(|known| *known == module).unwrap_or_else(
        || panic!("the module `{module}` has no layer: give it one here and in ARCHITECTURE.md"),
    )
}

#[test]
fn modules_use_only_what_stands_lower() {
    let src = project().join("src");
    for path in walk(&src) {
        let relative = path.strip_prefix(&src).expect("below it").with_extension("");
        let own = relative.iter().next().expect("has a name").to_string_lossy().into_owned();
        let text = fs::read_to_string(&path).expect("is text");
        // Docs may point upwards; code may not.
        let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        let code = code.collect::<Vec<_>>().join("\n");
        for used in code.split("crate::").skip(1).map(|rest| {
            rest.split(|c: char| !(c.is_alphanumeric() || c == '_')).next().unwrap_or_default()
        }) {
            let is_module = src.join(format!("{used}.rs")).is_file();
            if is_module && used != own {
                assert!(rank(&own) < rank(used), "{} uses `{used}`", relative.display());
            }
        }
    }
}

#[test]
fn every_module_says_what_it_is_for() {
    for path in walk(&project().join("src")) {
        let text = fs::read_to_string(&path).expect("is text");
        assert!(text.starts_with("//! "), "{} has no module docs", path.display());
    }
}

#[test]
fn main_is_small() {
    let main = fs::read_to_string(project().join("src/main.rs")).expect("is text");
    assert!(main.lines().count() < 30);
}

#[test]
fn the_project_speaks_of_itself_alone() {
    // Spelled in pieces, so that this file passes its own test.
    let words = [["crates", ".io"].concat(), ["py", "pi.org"].concat(), ["npm", "js.com"].concat()];
    let tracked = ["src", "docs", "tests", "schema", "registers", "benches", ".github"];
    let files = tracked.iter().flat_map(|folder| walk(&project().join(folder)));
    for path in files {
        let text = String::from_utf8_lossy(&fs::read(&path).expect("is there")).into_owned();
        for word in &words {
            assert!(!text.contains(word.as_str()), "{} names {word}", path.display());
        }
    }
}
