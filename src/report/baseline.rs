//! The findings that are known and not to be reported: a file beside the registers.
//!
//! Uses `json`, `diagnostic`, `rules`, `source` and `workspace`. Reads and writes text, never a file.
//!
//! ```text
//! [{"version":1}
//! ,{"path":"registers/a.json","rule":"duplicate-id","hypotheses":["H1"],"message":"…","text":"\"H1\""}
//! ]
//! ```
//!
//! One finding a line, in order, each line the same whatever stands around it: the comma is at its
//! start. So two branches that each change a few lines merge without a conflict, and with git's `union`
//! driver always; the order of the lines and repeated lines do not matter to the reader.
//!
//! A finding is known again by what it is about: the file, the rule, the other files that it has places
//! in (`with`), the ids of the hypotheses that it has places in, the sentence, and the text that it
//! points at. Not by lines, so edits elsewhere in
//! the file change nothing. `count` says how many findings are alike in all that, where it is not one.
//! Which of two hypotheses stands first changes where their finding is, and what it calls them first; so
//! of a finding about several the order and the text do not matter.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use ahash::{AHashMap, AHashSet};

use super::allowance::hypotheses_of;
use crate::diagnostic::Diagnostic;
use crate::json::{self, Kind, Value};
use crate::rules;
use crate::source::{Role, Sources};
use crate::span::{FileId, Span};
use crate::workspace::Workspace;

/// The version of the format.
const VERSION: &str = "1";

/// The longest text that is written out, in scalar values; of a longer one the beginning and a number
/// made of the whole.
const LONGEST: usize = 80;

/// What a finding is known again by.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Known {
    /// The file, from the folder of the baseline, with `/` between its parts.
    pub path: String,
    /// The rule.
    pub rule: String,
    /// The other files that it has places in, like `path`; each once, in order.
    pub with: Vec<String>,
    /// The ids of the hypotheses.
    pub hypotheses: Vec<String>,
    /// The finding's sentence.
    pub message: String,
    /// The characters that it points at.
    pub text: String,
}

impl Known {
    /// The same for a finding about the same hypotheses whichever of them stands first; none for one about a
    /// single hypothesis.
    fn in_any_order(&self) -> Option<InAnyOrder<'_>> {
        fn sorted<'t>(texts: impl Iterator<Item = &'t str>) -> Vec<&'t str> {
            let mut texts: Vec<&str> = texts.collect();
            texts.sort_unstable();
            texts
        }
        (self.hypotheses.len() > 1).then(|| InAnyOrder {
            rule: &self.rule,
            files: sorted(self.with.iter().chain([&self.path]).map(String::as_str)),
            hypotheses: sorted(self.hypotheses.iter().map(String::as_str)),
            words: sorted(self.message.split_whitespace()),
        })
    }
}

/// See [`Known::in_any_order`].
#[derive(Debug, PartialEq, Eq, Hash)]
struct InAnyOrder<'k> {
    rule: &'k str,
    files: Vec<&'k str>,
    hypotheses: Vec<&'k str>,
    words: Vec<&'k str>,
}

/// An entry of a baseline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Mark {
    /// How many findings it stands for.
    count: usize,
    /// Where it stands in the baseline.
    span: Span,
}

/// A baseline.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Baseline {
    entries: BTreeMap<Known, Mark>,
}

/// What makes a text no baseline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Its characters.
    pub span: Span,
    /// One sentence without a full stop.
    pub message: String,
}

/// An entry that stands for more findings than there are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stale {
    /// Where the entry stands.
    pub span: Span,
    /// What it stands for.
    pub known: Known,
    /// How many of its findings are gone.
    pub gone: usize,
}

/// What a baseline did in a run.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// How many findings it silenced.
    pub silenced: usize,
    /// Entries that no longer occur: of rules that ran and files that were checked.
    pub stale: Vec<Stale>,
    /// The baseline that knows all findings of the run, and what the run did not judge.
    pub renewed: Baseline,
}

/// A baseline in a run.
#[derive(Debug, Clone, Copy)]
pub struct Use<'a> {
    /// What is known.
    pub baseline: &'a Baseline,
    /// By the number of a source: its path from the baseline's folder.
    pub paths: &'a [String],
    /// Paths of the baseline whose files are no longer there: what is known of them does not occur.
    pub gone: &'a [String],
}

impl Baseline {
    /// Reads a baseline.
    ///
    /// # Errors
    ///
    /// What makes the text none, and where.
    pub fn read(text: &str) -> Result<Self, Fault> {
        let document = json::parse(text);
        if let Some(error) = document.errors().first() {
            return Err(Fault { span: error.span, message: error.message.clone() });
        }
        let whole = document.root();
        let list = whole.and_then(Value::as_array).ok_or_else(|| {
            let span = whole.map_or(Span::empty(0), head);
            fault(span, "a baseline is an array, `{\"version\":1}` first")
        })?;
        let mut elements = list.elements();
        let first = elements.next();
        match first.and_then(|first| first.get("version")).map(Value::kind) {
            Some(Kind::Number(VERSION)) => {}
            Some(_) => {
                let span = first.map_or(Span::empty(0), Value::span);
                return Err(fault(span, "this baseline is of another version of reglint"));
            }
            None => {
                let span = first.or(whole).map_or(Span::empty(0), head);
                return Err(fault(span, "a baseline begins with `{\"version\":1}`"));
            }
        }
        let mut baseline = Self::default();
        for element in elements {
            // The first line of another branch, brought in by a merge.
            if element.get("version").is_some() {
                continue;
            }
            let (known, count) = entry(element)?;
            let mark = Mark { count, span: element.span() };
            // Of lines that say the same the largest count holds: a merge repeats them.
            let kept = baseline.entries.entry(known).or_insert(mark);
            kept.count = kept.count.max(count);
        }
        Ok(baseline)
    }

    /// The text of the baseline.
    pub fn write(&self) -> String {
        let mut text = format!("[{{\"version\":{VERSION}}}\n");
        for (known, mark) in &self.entries {
            let quote = |text: &str| serde_json::Value::from(text).to_string();
            let ids: Vec<String> = known.hypotheses.iter().map(|id| quote(id)).collect();
            let with: Vec<String> = known.with.iter().map(|path| quote(path)).collect();
            let with = match with.as_slice() {
                [] => String::new(),
                paths => format!(",\"with\":[{}]", paths.join(",")),
            };
            let _ = write!(
                text,
                ",{{\"path\":{},\"rule\":{}{with},\"hypotheses\":[{}],\"message\":{},\"text\":{}",
                quote(&known.path),
                quote(&known.rule),
                ids.join(","),
                quote(&known.message),
                quote(&known.text)
            );
            if mark.count != 1 {
                let _ = write!(text, ",\"count\":{}", mark.count);
            }
            text.push_str("}\n");
        }
        text.push_str("]\n");
        text
    }

    /// How many findings it stands for.
    pub fn len(&self) -> usize {
        self.entries.values().map(|mark| mark.count).sum()
    }

    /// Whether it stands for none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The files that it speaks of, each once.
    pub fn paths(&self) -> Vec<&str> {
        let mut paths: Vec<&str> = Vec::new();
        for known in self.entries.keys() {
            paths.extend(known.with.iter().chain([&known.path]).map(String::as_str));
        }
        paths.sort_unstable();
        paths.dedup();
        paths
    }
}

fn fault(span: Span, message: impl Into<String>) -> Fault {
    Fault { span, message: message.into() }
}

/// The opening bracket of a container, or the whole of another value.
fn head(value: Value<'_>) -> Span {
    let span = value.span();
    match value.kind() {
        Kind::Object(_) | Kind::Array(_) => Span { end: span.start + 1, ..span },
        _ => span,
    }
}

/// One line of a baseline.
fn entry(value: Value<'_>) -> Result<(Known, usize), Fault> {
    let object = value.as_object().ok_or_else(|| fault(head(value), "an entry is an object"))?;
    let text = |name: &str| {
        let found = object.get(name).and_then(Value::as_str);
        found
            .map(|text| text.value().to_owned())
            .ok_or_else(|| fault(head(value), format!("this entry has no text `{name}`")))
    };
    let texts = |name: &str| {
        let Some(list) = object.get(name) else { return Ok(Vec::new()) };
        let list = list.as_array().and_then(|list| {
            list.elements().map(|text| Some(text.as_str()?.value().to_owned())).collect()
        });
        list.ok_or_else(|| fault(head(value), format!("`{name}` is a list of texts")))
    };
    let count = match object.get("count").map(Value::kind) {
        None => 1,
        Some(Kind::Number(number)) => number
            .parse()
            .ok()
            .filter(|count| (1..=1_000_000).contains(count))
            .ok_or_else(|| fault(head(value), "`count` is a number from 1 to 1000000"))?,
        Some(_) => return Err(fault(head(value), "`count` is a number from 1 to 1000000")),
    };
    let known = Known {
        path: text("path")?,
        rule: text("rule")?,
        with: texts("with")?,
        hypotheses: texts("hypotheses")?,
        message: text("message")?,
        text: text("text")?,
    };
    Ok((known, count))
}

/// A text as an entry has it.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        None => text.to_owned(),
        Some((at, _)) => {
            // FNV-1a with 64 bits: the same on every machine and in every version.
            let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
                (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
            });
            format!("{}… {hash:016x}", &text[..at])
        }
    }
}

/// What a finding is known again by.
fn known(
    workspace: &Workspace<'_>,
    sources: &Sources,
    paths: &[String],
    diagnostic: &Diagnostic,
) -> Known {
    let path = |file: FileId| -> String {
        match paths.get(file.index()) {
            Some(path) => path.clone(),
            None => sources.get(file).path().to_owned(),
        }
    };
    let places = hypotheses_of(workspace, diagnostic);
    let ids = places.into_iter().filter_map(|place| workspace.at(place).1.id());
    let file = diagnostic.primary.file;
    let others = diagnostic.related.iter().map(|label| label.file);
    let mut with: Vec<String> = others.filter(|&other| other != file).map(path).collect();
    with.sort_unstable();
    with.dedup();
    let source = sources.get(file);
    Known {
        with,
        path: path(diagnostic.primary.file),
        rule: diagnostic.rule.to_owned(),
        hypotheses: ids.map(str::to_owned).collect(),
        message: shortened(&diagnostic.message),
        text: shortened(source.slice(diagnostic.primary.span)),
    }
}

impl Use<'_> {
    /// Takes out of `diagnostics`, which are in order, what is known. `ran` says of a rule and of a message of it, if
    /// that is known, whether all such findings of a file were found.
    pub fn apply(
        &self,
        workspace: &Workspace<'_>,
        sources: &Sources,
        diagnostics: &mut Vec<Diagnostic>,
        ran: impl Fn(&'static rules::Rule, Option<&str>, Option<FileId>) -> bool,
    ) -> Outcome {
        let all: Vec<Known> =
            diagnostics.iter().map(|it| known(workspace, sources, self.paths, it)).collect();
        let (is_known, used) = self.match_up(&all);
        let mut outcome = Outcome::default();
        let mut known = is_known.into_iter();
        diagnostics.retain(|_| {
            let is_known = known.next().unwrap_or(false);
            outcome.silenced += usize::from(is_known);
            !is_known
        });
        let mut found: BTreeMap<Known, usize> = BTreeMap::new();
        for known in &all {
            *found.entry(known.clone()).or_default() += 1;
        }
        let gone = || self.gone.iter().map(String::as_str);
        let paths = |is_wanted: fn(Role) -> bool| -> AHashSet<&str> {
            let wanted = sources.iter().filter(|(_, source)| is_wanted(source.role()));
            let paths = wanted.filter_map(|(file, _)| self.paths.get(file.index()));
            paths.map(String::as_str).chain(gone()).collect()
        };
        let files: AHashMap<&str, FileId> = sources
            .iter()
            .filter_map(|(file, _)| Some((self.paths.get(file.index())?.as_str(), file)))
            .collect();
        let file = |path: &str| files.get(path).copied();
        let (read, checked) = (paths(|_| true), paths(|role| role != Role::Context));
        for (known, mark) in &self.baseline.entries {
            let now = used.get(known).copied().unwrap_or(0);
            let ran = |rule, message| ran(rule, message, file(&known.path));
            let is_judged = checked.contains(known.path.as_str())
                && known.with.iter().all(|path| read.contains(path.as_str()))
                && rules::find(&known.rule).is_some_and(|rule| {
                    let subject = rule.subject(&known.message);
                    ran(rule, Some(&known.message)) && subject.is_none_or(|rule| ran(rule, None))
                });
            if !is_judged {
                // What was found in another order is kept as it was found.
                let count = if found.contains_key(known) { mark.count } else { mark.count - now };
                if count > 0 {
                    let mark = Mark { count, ..*mark };
                    outcome.renewed.entries.insert(known.clone(), mark);
                }
            } else if now < mark.count {
                let gone = mark.count - now;
                outcome.stale.push(Stale { span: mark.span, known: known.clone(), gone });
            }
        }
        outcome.stale.sort_by_key(|stale| stale.span);
        for (known, count) in found {
            let span = Span::empty(0);
            let mark = outcome.renewed.entries.entry(known).or_insert(Mark { count, span });
            mark.count = mark.count.max(count);
        }
        outcome
    }

    /// Which findings are known, and how many of them each entry stands for.
    fn match_up<'k>(&'k self, all: &[Known]) -> (Vec<bool>, AHashMap<&'k Known, usize>) {
        let mut used: AHashMap<&Known, usize> = AHashMap::new();
        let mut is_known: Vec<bool> = Vec::with_capacity(all.len());
        for known in all {
            let entry = self.baseline.entries.get_key_value(known);
            is_known.push(entry.is_some_and(|(entry, mark)| {
                let count = used.entry(entry).or_default();
                let is_left = *count < mark.count;
                *count += usize::from(is_left);
                is_left
            }));
        }
        let mut left: AHashMap<InAnyOrder<'_>, Vec<(&Known, usize)>> = AHashMap::new();
        // The last is taken first, so the first comes last.
        for (entry, mark) in self.baseline.entries.iter().rev() {
            let rest = mark.count - used.get(entry).copied().unwrap_or(0);
            if rest > 0
                && let Some(key) = entry.in_any_order()
            {
                left.entry(key).or_default().push((entry, rest));
            }
        }
        for (known, is_known) in all.iter().zip(&mut is_known) {
            if *is_known || left.is_empty() {
                continue;
            }
            let entries = known.in_any_order().and_then(|key| left.get_mut(&key));
            if let Some(list) = entries
                && let Some((entry, rest)) = list.last_mut()
            {
                *used.entry(*entry).or_default() += 1;
                *is_known = true;
                *rest -= 1;
                if *rest == 0 {
                    list.pop();
                }
            }
        }
        (is_known, used)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(path: &str, message: &str) -> Known {
        Known {
            path: path.to_owned(),
            rule: "duplicate-id".to_owned(),
            with: vec!["b".to_owned()],
            hypotheses: vec!["H\"1".to_owned(), "µ".to_owned()],
            message: message.to_owned(),
            text: String::new(),
        }
    }

    fn baseline(list: &[(Known, usize)]) -> Baseline {
        let span = Span::empty(0);
        let entries =
            list.iter().map(|(known, count)| (known.clone(), Mark { count: *count, span }));
        Baseline { entries: entries.collect() }
    }

    #[test]
    fn what_is_written_is_read() {
        let before = baseline(&[(known("b", "m\n"), 1), (known("a", "x"), 3)]);
        let text = before.write();
        assert_eq!(text.lines().count(), 4);
        assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok());
        let after = Baseline::read(&text).unwrap();
        assert_eq!(after.write(), text);
        assert_eq!((after.len(), after.paths()), (4, vec!["a", "b"]));
        assert_eq!(Baseline::default().write(), "[{\"version\":1}\n]\n");
        assert!(Baseline::read("[{\"version\":1}\n]\n").unwrap().is_empty());
    }

    #[test]
    fn lines_of_two_branches_can_stand_together() {
        let (a, b) = (known("a", "x"), known("b", "y"));
        let (ours, theirs) =
            (baseline(&[(a.clone(), 2), (b.clone(), 1)]), baseline(&[(a.clone(), 1)]));
        let lines = |baseline: &Baseline| {
            baseline
                .write()
                .lines()
                .skip(1)
                .take_while(|it| *it != "]")
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        let union = format!(
            "[{{\"version\":1}}\n{}\n{}\n]\n",
            lines(&theirs).join("\n"),
            lines(&ours).join("\n")
        );
        assert_eq!(Baseline::read(&union).unwrap().write(), baseline(&[(a, 2), (b, 1)]).write());
    }

    #[test]
    fn says_what_is_wrong_and_where() {
        for (text, at, words) in [
            ("", 0, "empty"),
            ("{}", 0, "array"),
            ("[]", 0, "begins with"),
            ("[{\"version\":2}]", 1, "another version"),
            ("[{}]", 1, "begins with"),
            ("[{\"version\":1}\n<<<<<<< HEAD\n]", 15, ""),
            ("[{\"version\":1}\n,3\n]", 16, "object"),
            ("[{\"version\":1}\n,{\"path\":\"a\"}\n]", 16, "`rule`"),
            (
                "[{\"version\":1},{\"path\":\"a\",\"rule\":\"b\",\"message\":\"\",\"text\":\"\",\"count\":0}]",
                15,
                "`count`",
            ),
            (
                "[{\"version\":1},{\"path\":\"a\",\"rule\":\"b\",\"message\":\"\",\"text\":\"\",\"hypotheses\":[1]}]",
                15,
                "list of texts",
            ),
        ] {
            let fault = Baseline::read(text).unwrap_err();
            assert!(fault.message.contains(words), "{text}: {}", fault.message);
            assert_eq!(fault.span.range().start, at, "{text}: {}", fault.message);
        }
    }

    #[test]
    fn a_long_text_is_shortened_and_still_tells_apart() {
        let long = "µ".repeat(100);
        let other = format!("{}x", &long[..198]);
        assert_eq!(shortened(&long).chars().count(), LONGEST + 2 + 16);
        assert_ne!(shortened(&long), shortened(&other));
        assert_eq!(shortened("short"), "short");
    }
}
