//! `prose-link`: a description that says of another family what the registers do not bear out.
//!
//! Only what can be read without doubt is read: a phrase of a handful, the name of a family or an id
//! that is there, in a sentence that neither denies, nor doubts, nor asks, and that goes on in no way
//! that could change what it says. Of anything else nothing is said.

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::packed::Searcher;
use memchr::memmem::Finder;

use super::{Check, Findings, FixAvailability, Level, Rule, label, named, quoted};
use crate::register::Hypothesis;
use crate::workspace::{Claim, Entry, Place, Scope, Workspace};

pub(super) const RULE: Rule = Rule {
    name: "prose-link",
    summary: "a description that says of another family what its register does not bear out",
    default: Level::Warn,
    fix: FixAvailability::None,
    page: include_str!("../../docs/rules/prose-link.md"),
    check: Check::Entry(check),
};

/// The longest description that is read, in bytes.
const LONGEST: usize = 1 << 16;

/// How many statements of one description are looked into.
const MOST_STATEMENTS: usize = 16;

/// What a description says of the frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Says<'t> {
    /// A hypothesis of this family claims it too.
    SharedWith(&'t str),
    /// No hypothesis of this family does.
    NotIn(&'t str),
    /// None of any other family than this one, or than this one and of that one.
    OnlyIn(&'t str, Option<&'t str>),
    /// The hypothesis of this id claims it too.
    SameAs(&'t str),
}

/// A statement and the words that make it, in bytes of the description.
#[derive(Debug, PartialEq, Eq)]
struct Statement<'t> {
    says: Says<'t>,
    words: Range<usize>,
}

fn check(workspace: &Workspace<'_>, entry: &Entry<'_>, findings: &mut Findings) {
    for (number, hypothesis) in entry.register.hypotheses.iter().enumerate() {
        let Some(description) = &hypothesis.description else { continue };
        let text = description.value();
        if text.len() > LONGEST || hypothesis.canonical.is_none() {
            continue;
        }
        let mut place = None;
        for statement in statements(text).into_iter().take(MOST_STATEMENTS) {
            let place = *place.get_or_insert_with(|| workspace.place(entry, number));
            let about = About { workspace, entry, hypothesis, place };
            let Some((message, other)) = about.fault(statement.says) else { continue };
            let span = description.source_span(statement.words);
            let mut finding = findings
                .finding(message, label(entry.file, span, ""))
                .with_hypothesis(hypothesis.id());
            if let Some(own) = &hypothesis.canonical {
                finding = finding.with_related(label(entry.file, own.text.span(), "the frame"));
            }
            if let Some((other, words)) = other {
                let (other_entry, there) = workspace.at(other);
                let span =
                    there.canonical.as_ref().map_or_else(|| there.name_span(), |it| it.text.span());
                finding = finding.with_related(label(other_entry.file, span, words));
            }
            findings.push(finding);
        }
    }
}

/// The hypothesis whose description is read.
struct About<'a, 'w, 'd> {
    workspace: &'a Workspace<'w>,
    entry: &'a Entry<'d>,
    hypothesis: &'a Hypothesis<'d>,
    place: Place,
}

impl About<'_, '_, '_> {
    /// What is wrong with a statement, if something is, and who shows it.
    fn fault(&self, says: Says<'_>) -> Option<(String, Option<(Place, String)>)> {
        let families = self.workspace.families();
        match says {
            Says::SharedWith(name) => {
                let family = self.family(name)?;
                let own = self.hypothesis.canonical.as_ref()?.pattern;
                let scope = Scope::Family(family);
                if !families.get(family).is_whole
                    || self.claim(scope) != Claim::Nobody
                    || families.claims_some(self.workspace, own, self.place, scope) != Some(false)
                {
                    return None;
                }
                let name = families.get(family).name;
                Some((
                    format!(
                        "{} is said to be shared with {}, where nothing claims its frame",
                        named(self.hypothesis),
                        quoted(name)
                    ),
                    None,
                ))
            }
            Says::NotIn(name) => self.contradicted(Scope::Family(self.family(name)?)),
            Says::OnlyIn(own, relative_to) => {
                if !own.eq_ignore_ascii_case(self.entry.family?) {
                    return None;
                }
                self.contradicted(match relative_to {
                    Some(name) => Scope::Family(self.family(name)?),
                    None => Scope::AllBut(families.of(self.place)?),
                })
            }
            Says::SameAs(id) => {
                let other = self.workspace.find(id).filter(|&other| other != self.place)?;
                let (_, there) = self.workspace.at(other);
                let (own, theirs) =
                    (self.hypothesis.canonical.as_ref()?, there.canonical.as_ref()?);
                if self.workspace.is_within(own.pattern, theirs.pattern)?
                    || self.workspace.is_within(theirs.pattern, own.pattern)?
                {
                    return None;
                }
                Some((
                    format!(
                        "{} is said to have the same frame as {}, which claims another one",
                        named(self.hypothesis),
                        named(there)
                    ),
                    Some((other, format!("the frame of {}", named(there)))),
                ))
            }
        }
    }

    /// A family other than the hypothesis's own, by its name in any case.
    fn family(&self, name: &str) -> Option<usize> {
        let families = self.workspace.families();
        let family = families.find_ignoring_case(name)?;
        (Some(family) != families.of(self.place)).then_some(family)
    }

    fn claim(&self, scope: Scope) -> Claim {
        let Some(own) = &self.hypothesis.canonical else { return Claim::Unknown };
        self.workspace.families().who_claims(self.workspace, own.pattern, self.place, scope)
    }

    /// That something claims the frame, where it was said that nothing does.
    fn contradicted(&self, scope: Scope) -> Option<(String, Option<(Place, String)>)> {
        let Claim::All(other, _) = self.claim(scope) else { return None };
        let (entry, there) = self.workspace.at(other);
        Some((
            format!(
                "nothing of {} is said to claim the frame of {}, but {} does",
                quoted(entry.family?),
                named(self.hypothesis),
                named(there)
            ),
            Some((other, format!("{} claims it too", named(there)))),
        ))
    }
}

/// The words of which each statement has some. Most descriptions have none of them.
static PHRASES: LazyLock<Phrases> = LazyLock::new(|| {
    // The first letter may be a capital.
    let phrases = ["hared ", "-only", "nlike ", "ot on ", "ame frame as "];
    Phrases { at_once: Searcher::new(phrases), one_by_one: phrases.map(Finder::new) }
});

/// What looks for them.
struct Phrases {
    /// `None` on a processor that cannot look for several at once.
    at_once: Option<Searcher>,
    one_by_one: [Finder<'static>; 5],
}

impl Phrases {
    /// Whether one of them is in the text.
    fn is_in(&self, text: &str) -> bool {
        match &self.at_once {
            Some(searcher) => searcher.find(text).is_some(),
            None => self.one_by_one.iter().any(|phrase| phrase.find(text.as_bytes()).is_some()),
        }
    }
}

/// The statements that a description makes.
fn statements(text: &str) -> Vec<Statement<'_>> {
    if !PHRASES.is_in(text) {
        return Vec::new();
    }
    let sentences = sentences(text);
    let numbered = sentences.iter().enumerate();
    let said = numbered.flat_map(|(at, range)| {
        let next = sentences[at + 1..].iter().find(|it| !text[(*it).clone()].trim().is_empty());
        read(text, range.clone(), next.cloned().unwrap_or_default())
    });
    said.collect()
}

/// The sentences of a text. A full stop ends one where a blank or nothing follows.
fn sentences(text: &str) -> Vec<Range<usize>> {
    let (mut all, mut start) = (Vec::new(), 0);
    for (at, c) in text.char_indices() {
        let end = at + c.len_utf8();
        let ends = match c {
            '\n' | ';' | '!' | '?' => true,
            '.' => text[end..].chars().next().is_none_or(char::is_whitespace),
            _ => false,
        };
        if ends {
            all.push(start..end);
            start = end;
        }
    }
    all.push(start..text.len());
    all
}

/// A word of a sentence: what stands between blanks, brackets and commas, without what closes it.
#[derive(Debug, Clone)]
struct Word<'t> {
    text: &'t str,
    range: Range<usize>,
    /// Whether something stands behind it that ends a clause: a comma, a bracket, a dash, the end.
    closed: bool,
    /// Whether it stands between quotation marks or back ticks.
    quoted: bool,
}

fn words(text: &str, sentence: Range<usize>) -> Vec<Word<'_>> {
    const MARKS: [char; 8] = ['"', '`', '“', '”', '«', '»', '‘', '\u{201a}'];
    let is_break = |c: char| c.is_whitespace() || "()[]{},;:!?—–".contains(c) || MARKS.contains(&c);
    let mut words: Vec<Word<'_>> = Vec::new();
    let (mut at, mut quotes) = (sentence.start, false);
    while at < sentence.end {
        let rest = &text[at..sentence.end];
        let Some(c) = rest.chars().next() else { break };
        if is_break(c) {
            // `::` and `:` before a letter belong to a name, not to the sentence.
            quotes ^= MARKS.contains(&c);
            if !c.is_whitespace()
                && let Some(last) = words.last_mut()
            {
                last.closed = true;
            }
            at += c.len_utf8();
            continue;
        }
        let len = rest.find(is_break).unwrap_or(rest.len());
        let whole = &rest[..len];
        let word = whole.trim_end_matches('.');
        let is_dash = !word.is_empty() && word.chars().all(|c| c == '-');
        if is_dash || word.is_empty() {
            if let Some(last) = words.last_mut() {
                last.closed = true;
            }
        } else {
            words.push(Word {
                text: word,
                range: at..at + word.len(),
                closed: word.len() < whole.len(),
                quoted: quotes,
            });
        }
        at += len;
    }
    if let Some(last) = words.last_mut() {
        last.closed = true;
    }
    words
}

/// Words that deny, doubt, restrict or date what a sentence says.
const DOUBTS: &[&str] = &[
    "not",
    "no",
    "never",
    "nor",
    "neither",
    "none",
    "nothing",
    "without",
    "cannot",
    "longer",
    "formerly",
    "previously",
    "was",
    "were",
    "if",
    "whether",
    "unless",
    "until",
    "maybe",
    "perhaps",
    "might",
    "may",
    "could",
    "would",
    "should",
    "will",
    "possibly",
    "probably",
    "presumably",
    "supposedly",
    "unclear",
    "unknown",
    "todo",
    "tbd",
    "partly",
    "partially",
    "almost",
    "nearly",
    "mostly",
    "except",
    "but",
    "however",
    "although",
    "though",
    "wrong",
    "false",
    "falsified",
    "denied",
    "seems",
    "appears",
    "hardly",
    "barely",
    "instead",
    "contrary",
    "rather",
    "little",
    "anymore",
    "stopped",
    "ceased",
    "removed",
    "avoid",
    "untrue",
    "disproved",
    "disproven",
    "refuted",
    "rejected",
    "retracted",
    "obsolete",
    "outdated",
    "assume",
    "assumed",
    "assuming",
    "allegedly",
    "apparently",
    "reportedly",
    "seemingly",
    "ostensibly",
    "nominally",
    "originally",
    "initially",
    "thought",
    "believed",
    "supposed",
    "expected",
    "hoped",
    "theory",
    "paper",
    "spirit",
    "name",
    "planned",
    "plan",
    "proposed",
    "first",
    "then",
    "soon",
    "later",
    "yet",
];

/// Words that may stand before a statement in its clause: what it is then said of is the frame. Of anything else
/// ("the estimate is gemma-only", "depends not on qwen35") it may say something else.
const LEADS: &[&str] = &[
    "a", "also", "and", "are", "both", "cost", "frame", "function", "hot", "is", "it", "its",
    "kernel", "lever", "same", "that", "the", "this", "time", "which", "µ", "→",
];

/// Words that may follow a family's name without changing what was said of it.
const GOES_ON: &[&str] = &[
    "and", "as", "at", "because", "by", "for", "here", "in", "on", "per", "since", "so", "through",
    "too", "via", "where", "while",
];

/// The statements of a sentence; the next one may take them back.
fn read<'t>(text: &'t str, sentence: Range<usize>, next: Range<usize>) -> Vec<Statement<'t>> {
    if text[sentence.clone()].ends_with('?') || !PHRASES.is_in(&text[sentence.clone()]) {
        return Vec::new();
    }
    let (words, next) = (words(text, sentence), words(text, next));
    let is = |at: usize, word: &str| {
        words.get(at).is_some_and(|it| it.text.eq_ignore_ascii_case(word) && !it.quoted)
    };
    let joined = |at: usize, count: usize| {
        words.get(at..at + count).is_some_and(|it| it[..count - 1].iter().all(|word| !word.closed))
    };
    // The name at `at`, if the sentence goes on from it in a way that is understood.
    let name = |at: usize| -> Option<&'t str> {
        let word = words.get(at)?;
        let goes_on = word.closed
            || words.get(at + 1).is_some_and(|next| {
                GOES_ON.iter().any(|known| next.text.eq_ignore_ascii_case(known))
            });
        goes_on.then_some(word.text)
    };
    let mut found: Vec<(Range<usize>, Statement<'_>)> = Vec::new();
    for at in 0..words.len() {
        let mut push = |says: Option<Says<'t>>, count: usize| {
            let Some(says) = says else { return };
            let range = words[at].range.start..words[at + count - 1].range.end;
            found.push((at..at + count, Statement { says, words: range }));
        };
        if is(at, "shared") && is(at + 1, "with") && joined(at, 3) {
            push(name(at + 2).map(Says::SharedWith), 3);
        } else if is(at, "shared") && is(at + 1, "lever") && is(at + 2, "with") && joined(at, 4) {
            push(name(at + 3).map(Says::SharedWith), 4);
        } else if is(at, "same")
            && is(at + 1, "frame")
            && is(at + 2, "as")
            && words.get(at..at + 3).is_some_and(|it| !it[0].closed && !it[1].closed)
        {
            push(name(at + 3).map(Says::SameAs), 4);
        } else if is(at, "unlike") && joined(at, 2) {
            // "Unlike qwen35's dense path" and "unlike qwen35, it is hot" say something else.
            let ends = words.get(at + 2).is_none();
            push(words.get(at + 1).filter(|_| ends).map(|it| Says::NotIn(it.text)), 2);
        } else if is(at, "not") && is(at + 1, "on") && joined(at, 3) {
            push(words.get(at + 2).filter(|it| it.closed).map(|it| Says::NotIn(it.text)), 3);
        } else if let Some((family, "only")) = words[at].text.rsplit_once('-')
            && !words[at].quoted
        {
            if is(at + 1, "relative") && is(at + 2, "to") && joined(at, 4) {
                push(name(at + 3).map(|other| Says::OnlyIn(family, Some(other))), 4);
            } else if words[at].closed || is(at + 1, "and") {
                push(Some(Says::OnlyIn(family, None)), 1);
            }
        }
    }
    // Any doubt in the sentence, outside of the phrase itself, is too much.
    let is_doubt = |word: &Word<'_>| {
        DOUBTS.iter().any(|doubt| word.text.eq_ignore_ascii_case(doubt))
            || word.text.to_ascii_lowercase().ends_with("n't")
            || word.text.ends_with("n’t")
    };
    let is_lead = |word: &Word<'_>| LEADS.iter().any(|it| word.text.eq_ignore_ascii_case(it));
    found.retain(|(own, statement)| {
        let before = &words[..own.start];
        let mut clause = before.iter().rev().take_while(|word| !word.closed);
        // "Measured on gemma, not on qwen35" is of the measurement.
        let goes_before = before.last().map_or(own.start, |word| word.range.end);
        let gap = before.last().map_or("", |_| &text[goes_before..statement.words.start]);
        let continues = words[own.start].text.eq_ignore_ascii_case("not") && gap.contains(',');
        // "Planned: shared with qwen35", "Cost: gemma-only".
        let is_headed = gap.contains(':');
        !continues
            && !is_headed
            && clause.all(is_lead)
            && words.iter().enumerate().all(|(at, word)| own.contains(&at) || !is_doubt(word))
    });
    // "Shared with qwen35. Not any more."
    let is_taken_back = next.iter().take(4).any(is_doubt);
    if is_taken_back {
        return Vec::new();
    }
    found.into_iter().map(|(_, statement)| statement).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<(Says<'_>, &str)> {
        statements(text).into_iter().map(|it| (it.says, &text[it.words])).collect()
    }

    #[test]
    fn reads_what_is_plain() {
        for (text, says, words) in [
            (
                "Shared lever with qwen35 (rank 1). More.",
                Says::SharedWith("qwen35"),
                "Shared lever with qwen35",
            ),
            ("µ → shared with qwen35.", Says::SharedWith("qwen35"), "shared with qwen35"),
            ("It is shared with qwen35 and hot", Says::SharedWith("qwen35"), "shared with qwen35"),
            (
                "shared with llama-3.1: see P3",
                Says::SharedWith("llama-3.1"),
                "shared with llama-3.1",
            ),
            (
                "hot — gemma-only relative to qwen35.",
                Says::OnlyIn("gemma", Some("qwen35")),
                "gemma-only relative to qwen35",
            ),
            ("Gemma-only, twice a layer", Says::OnlyIn("Gemma", None), "Gemma-only"),
            ("quantised here, unlike qwen35.", Says::NotIn("qwen35"), "unlike qwen35"),
            ("Not on qwen35; hot", Says::NotIn("qwen35"), "Not on qwen35"),
            (
                "the same frame as H6-Wave2b (see P3)",
                Says::SameAs("H6-Wave2b"),
                "same frame as H6-Wave2b",
            ),
            ("Is it hot? Shared with qwen35.", Says::SharedWith("qwen35"), "Shared with qwen35"),
        ] {
            assert_eq!(read(text), [(says, words)], "{text}");
        }
    }

    #[test]
    fn says_nothing_of_what_is_not_plain() {
        for text in [
            "not shared with qwen35",
            "no longer shared with qwen35",
            "isn't shared with qwen35",
            "it isn’t gemma-only",
            "shared with qwen35?",
            "Is this shared with qwen35 (rank 1)?",
            "may be shared with qwen35",
            "used to be shared with qwen35",
            "once shared with qwen35",
            "was shared with qwen35",
            "shared with qwen35 until P3",
            "shared with qwen35's dense path",
            "shared with qwen35-Q only",
            "shared with qwen35 falsified in P3",
            "shared, with qwen35",
            "the note \"shared with qwen35\" is from P1",
            "`gemma-only` is a flag",
            "unlike qwen35 it runs often",
            "not on qwen35 hardware alone",
            "gemma-only kernels of another crate",
            "the same frame as before it",
            "mostly gemma-only",
            "Stopped being shared with qwen35.",
            "Apparently shared with qwen35.",
            "Shared with qwen35, or so we thought.",
            "shared with qwen35 -- disproved",
            "shared with qwen35, on paper",
            "Shared with qwen35. Not any more.",
            "Shared with qwen35.\n\nThis is false.",
            "Refuted: shared with qwen35",
            "Rather than shared with qwen35, it is private.",
            "Little is shared with qwen35.",
            "The trace is shared with qwen35.",
            "Measured on gemma, not on qwen35.",
            "Tested on gemma and not on qwen35.",
            "The fix landed here, not on qwen35.",
            "it depends not on qwen35",
            "The trace is gemma-only.",
            "This estimate is gemma-only.",
            "Planned: shared with qwen35.",
            "Shared with qwen35 (planned).",
            "Shared with qwen35, in name only",
            "shared with qwen35 at first, then split",
            "Cost: gemma-only",
            "Fix: not on qwen35",
            "Unlike qwen35, gemma calls it twice a layer.",
            "Unlike qwen35: 40 us.",
            "shared with",
            "-only",
            "unlike",
            "same frame as",
        ] {
            let found = read(text);
            let is_nobody = |says: &Says<'_>| matches!(says, Says::OnlyIn("", None));
            assert!(found.iter().all(|(says, _)| is_nobody(says)), "{text}: {found:?}");
        }
    }
}
