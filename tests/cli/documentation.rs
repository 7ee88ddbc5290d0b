//! What the pages and the README show is what the command does.
//!
//! A block ```` ```json registers/a.json ```` writes a file, a block ```` ```console ```` is a
//! transcript that runs over the files written since the one before. In a file that holds
//! `\xEF` and the like outside of its JSON, a first line `bytes:` asks for them to be decoded.

use std::fs;
use std::path::{Path, PathBuf};

use reglint::rules::RULES;

use crate::transcript::{blessing, copy, difference, project, replay, scratch};

/// A fenced block: its info string, its text, and where the text stands in the page.
struct Block<'t> {
    info: &'t str,
    text: &'t str,
    start: usize,
}

fn blocks(page: &str) -> Vec<Block<'_>> {
    let mut blocks = Vec::new();
    let mut rest = 0;
    while let Some(open) = page[rest..].find("\n```").map(|at| rest + at + 4) {
        let start = open + page[open..].find('\n').expect("ends its line") + 1;
        let end = start + page[start..].find("\n```").map_or(0, |at| at + 1);
        let end = if page[start..].starts_with("```") { start } else { end };
        blocks.push(Block { info: page[open..start].trim(), text: &page[start..end], start });
        rest = end + 3;
    }
    blocks
}

/// Runs the transcripts of a page; gives the page as it should be, and each transcript as it is.
fn check(page: &str, prepare: impl Fn(&Path)) -> (String, Vec<String>) {
    let (mut now, mut at, mut transcripts) = (String::new(), 0, Vec::new());
    let mut folder = scratch();
    prepare(folder.path());
    let mut ran = false;
    for block in blocks(page) {
        let kinds = ["json ", "toml ", "text "];
        if let Some(name) = kinds.iter().find_map(|kind| block.info.strip_prefix(kind)) {
            if ran {
                folder = scratch();
                prepare(folder.path());
                ran = false;
            }
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().expect("has one")).expect("can be made");
            fs::write(path, decode(block.text)).expect("can be written");
        } else if block.info == "console" {
            let transcript = replay(block.text, folder.path());
            ran = true;
            now.push_str(&page[at..block.start]);
            now.push_str(&transcript);
            at = block.start + block.text.len();
            transcripts.push(transcript);
        }
    }
    now.push_str(&page[at..]);
    (now, transcripts)
}

fn decode(text: &str) -> Vec<u8> {
    let Some(text) = text.strip_prefix("bytes:\n") else { return text.as_bytes().to_vec() };
    let mut bytes = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find("\\x") {
        bytes.extend_from_slice(&rest.as_bytes()[..at]);
        bytes.push(u8::from_str_radix(&rest[at + 2..at + 4], 16).expect("two digits"));
        rest = &rest[at + 4..];
    }
    bytes.extend_from_slice(rest.as_bytes());
    bytes
}

fn settle(path: &PathBuf, page: &str, now: &str) {
    if blessing() {
        fs::write(path, now).expect("can be written");
    } else if let Some(difference) = difference(page, now) {
        panic!("{}: {difference}", path.display());
    }
}

#[test]
fn rule_pages_show_what_happens() {
    for rule in RULES {
        let path = project().join("docs/rules").join(format!("{}.md", rule.name));
        let page = fs::read_to_string(&path).expect("is there");
        let (now, transcripts) = check(&page, |_| {});
        let tag = format!("[{}]", rule.name);
        let (fires, quiet) =
            transcripts.iter().partition::<Vec<_>, _>(|transcript| transcript.contains(&tag));
        assert!(!fires.is_empty(), "no example of {} fires", rule.name);
        assert!(!quiet.is_empty(), "no example of {} stays quiet", rule.name);
        for transcript in quiet {
            assert!(!transcript.contains("[exit"), "{}: {transcript}", rule.name);
        }
        settle(&path, &page, &now);
    }
}

#[test]
fn the_readme_shows_what_happens() {
    let path = project().join("README.md");
    let page = fs::read_to_string(&path).expect("is there");
    let registers = |folder: &Path| {
        copy(&project().join("registers"), &folder.join("registers"));
    };
    let (now, transcripts) = check(&page, registers);
    assert!(transcripts.len() > 1, "the README shows no output");
    settle(&path, &page, &now);
}

#[test]
fn pages_are_linked_by_names_that_exist() {
    for rule in RULES {
        for link in rule.page.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            if let Some(name) = link.strip_suffix(".md") {
                assert!(reglint::rules::find(name).is_some(), "{}: {link}", rule.name);
            }
        }
    }
}
