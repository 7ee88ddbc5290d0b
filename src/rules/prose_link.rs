//! `prose-link`: a description that says of another family what the registers do not bear out.
//!
//! Only what can be read without doubt is read: a phrase of a handful, the name of a family or an id
//! that is there, said of the frame. So nothing is read
//! - in a sentence that denies, doubts or asks, or that goes on in a way that could change what it says;
//! - in one that tells of a state, a plan or a repair ("pooled, unlike qwen35"), and in one that lacks a subject
//!   of its own where one before it does ("Fixed in P3b. Not on qwen35."): that may be what is meant;
//! - where what follows tells of a change, or speaks of that family or id again ("Since Wave 2 each has its own.").

use std::cell::OnceCell;
use std::ops::Range;
use std::sync::LazyLock;

use ahash::{AHashMap, AHashSet};
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

/// A description with more statements than this is not read.
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
#[derive(Debug, Clone, PartialEq, Eq)]
struct Statement<'t> {
    says: Says<'t>,
    words: Range<usize>,
}

fn check(workspace: &Workspace<'_>, entry: &Entry<'_>, findings: &mut Findings) {
    let others = OnceCell::new();
    for (number, hypothesis) in entry.register.hypotheses.iter().enumerate() {
        let Some(description) = &hypothesis.description else { continue };
        let text = description.value();
        if text.len() > LONGEST || hypothesis.canonical.is_none() {
            continue;
        }
        let mut place = None;
        for statement in statements(text) {
            let place = *place.get_or_insert_with(|| workspace.place(entry, number));
            let about = About { workspace, entry, hypothesis, place };
            let Some((message, other)) = about.fault(statement.says) else { continue };
            let is_other =
                |name: &str| others.get_or_init(|| other_families(workspace, entry)).contains(name);
            if statement.speaks_of_others(text, is_other) {
                continue;
            }
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

/// The names of the families other than that of `entry`, in lower case.
fn other_families(workspace: &Workspace<'_>, entry: &Entry<'_>) -> AHashSet<String> {
    let families = workspace.families().iter();
    let names = families.map(|(_, family)| family.name.to_ascii_lowercase());
    names.filter(|name| !entry.family.is_some_and(|own| own.eq_ignore_ascii_case(name))).collect()
}

impl Statement<'_> {
    /// Whether the description speaks of a family elsewhere that a statement of all families is about too:
    /// "Gemma-only. Qwen35 has one too."
    fn speaks_of_others(&self, text: &str, is_other: impl Fn(&str) -> bool) -> bool {
        matches!(self.says, Says::OnlyIn(_, None))
            && words(text, 0..text.len()).iter().any(|word| {
                !self.words.contains(&word.range.start)
                    && is_other(&without_possessive(word.text).to_ascii_lowercase())
            })
    }
}

/// `qwen35` of `qwen35's`.
fn without_possessive(word: &str) -> &str {
    word.strip_suffix("'s").or_else(|| word.strip_suffix("’s")).unwrap_or(word)
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
                let is_hidden =
                    self.workspace.hidden.may_have(self.entry, &[families.get(family).name]);
                if !families.get(family).is_whole
                    || is_hidden
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
    let sentences = sentences(text).into_iter();
    let filled = sentences.filter(|range| !text[range.clone()].trim().is_empty());
    let sentences: Vec<Sentence<'_>> = filled.map(|range| Sentence::of(text, range)).collect();
    let count: usize = sentences.iter().map(|sentence| sentence.candidates.len()).sum();
    if !(1..=MOST_STATEMENTS).contains(&count) {
        return Vec::new();
    }
    // Up to which sentence all before are about the frame, and from which on nothing is taken back.
    let is_topic = |sentence: &Sentence<'_>| !sentence.others().any(tells_of_something_else);
    let topic = sentences.iter().position(|it| !is_topic(it)).unwrap_or(sentences.len());
    let last_change = sentences.iter().rposition(Sentence::tells_of_a_change).unwrap_or(0);
    let mut said = Vec::new();
    for (at, sentence) in sentences.iter().enumerate() {
        // "Shared with qwen35. Not any more."
        let next = sentences.get(at + 1);
        if last_change > at || next.is_some_and(Sentence::begins_with_doubt) {
            continue;
        }
        let is_named_again = |statement: &Statement<'_>| {
            let is = |word: &Word<'_>, name: &str| {
                without_possessive(word.text).eq_ignore_ascii_case(name)
            };
            let mut others = sentences.iter().flat_map(Sentence::others);
            statement.says.name().is_some_and(|name| others.any(|word| is(word, name)))
        };
        // "Costs 35 us. Not on qwen35." is of the cost: what is denied of another family is of what was named.
        let before = at.checked_sub(1).and_then(|at| sentences.get(at));
        let names_code = before.is_none_or(|it| !it.candidates.is_empty() || it.names_code(text));
        for (own, statement) in &sentence.candidates {
            let is_open = sentence.denies_without_subject(own, statement) && !names_code;
            if sentence.is_plain(text, own, statement, at <= topic)
                && !is_open
                && !is_named_again(statement)
            {
                said.push(statement.clone());
            }
        }
    }
    said
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
    /// Which lists of words have it.
    kinds: u8,
}

impl Word<'_> {
    /// Whether one of these lists has it.
    fn is(&self, kinds: u8) -> bool {
        self.kinds & kinds != 0
    }
}

const DOUBT: u8 = 1;
const STATE: u8 = 1 << 1;
const CHANGE: u8 = 1 << 2;
const IRREGULAR: u8 = 1 << 3;
const DESCRIBES: u8 = 1 << 4;
const LEAD: u8 = 1 << 5;
const IS_THERE: u8 = 1 << 6;
const GOES_ON: u8 = 1 << 7;

/// The words of all lists, in lower case.
static KINDS: LazyLock<AHashMap<&str, u8>> = LazyLock::new(|| {
    let lists = [
        (DOUBT, DOUBTS),
        (STATE, STATES),
        (CHANGE, CHANGES),
        (IRREGULAR, IRREGULAR_PARTICIPLES),
        (DESCRIBES, DESCRIBING),
        (LEAD, LEADS),
        (IS_THERE, BEING_THERE),
        (GOES_ON, GOING_ON),
    ];
    let mut kinds = AHashMap::new();
    for (kind, list) in lists {
        for &word in list {
            *kinds.entry(word).or_default() |= kind;
        }
    }
    kinds
});

/// Which lists have a word, whatever its case.
fn kinds(word: &str) -> u8 {
    /// No listed word is longer.
    const LONGEST: usize = 16;
    let mut lower = [0; LONGEST];
    let Some(lower) = lower.get_mut(..word.len()) else { return 0 };
    lower.copy_from_slice(word.as_bytes());
    lower.make_ascii_lowercase();
    let lower = std::str::from_utf8(lower).ok();
    lower.and_then(|lower| KINDS.get(lower).copied()).unwrap_or(0)
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
                kinds: kinds(word),
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
    "nope",
    "never",
    "think",
    "guess",
    "guessing",
    "hope",
    "hopes",
    "says",
    "said",
    "following",
    "best",
    "otherwise",
    "reckon",
    "suspect",
    "believe",
    "went",
    "gone",
    "level",
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

/// Words that tell of a state, a plan, a repair, an opinion or a measurement, to which a statement beside them may
/// belong; and all other participles, see [`is_participle`].
const STATES: &[&str] = &[
    "ask",
    "better",
    "bug",
    "bugs",
    "claim",
    "claims",
    "close",
    "commit",
    "dead",
    "decision",
    "do",
    "done",
    "estimate",
    "fix",
    "fixes",
    "gain",
    "gains",
    "goal",
    "gone",
    "hack",
    "hypothesis",
    "idea",
    "issue",
    "lands",
    "landing",
    "leak",
    "live",
    "measurement",
    "merge",
    "need",
    "needs",
    "new",
    "news",
    "next",
    "note",
    "old",
    "open",
    "option",
    "patch",
    "pending",
    "pr",
    "problem",
    "progress",
    "proposal",
    "question",
    "ready",
    "regression",
    "regresses",
    "result",
    "revert",
    "review",
    "saving",
    "savings",
    "ships",
    "shipping",
    "speedup",
    "stale",
    "state",
    "status",
    "target",
    "task",
    "ticket",
    "trial",
    "verdict",
    "want",
    "win",
    "wins",
    "wip",
    "wish",
    "work",
    "workaround",
    "worse",
    "measured",
    "then",
];

/// Words that tell of a change, of a time or of another one: what was said before them may hold no more.
const CHANGES: &[&str] = &[
    "added",
    "after",
    "also",
    "another",
    "before",
    "came",
    "copy",
    "copies",
    "corrected",
    "correction",
    "different",
    "differs",
    "diverge",
    "diverged",
    "diverges",
    "each",
    "edit",
    "erratum",
    "ever",
    "fork",
    "forked",
    "forks",
    "former",
    "forth",
    "from",
    "had",
    "has",
    "historic",
    "historical",
    "historically",
    "history",
    "later",
    "left",
    "move",
    "moves",
    "moving",
    "new",
    "nowadays",
    "now",
    "old",
    "once",
    "own",
    "port",
    "ports",
    "recent",
    "recently",
    "respective",
    "separate",
    "separately",
    "since",
    "split",
    "splits",
    "stale",
    "still",
    "superseded",
    "then",
    "today",
    "too",
    "two",
    "undone",
    "update",
    "used",
    "wave",
    "well",
    "while",
];

/// Participles without an ending of their own.
const IRREGULAR_PARTICIPLES: &[&str] = &[
    "broken",
    "brought",
    "built",
    "cut",
    "done",
    "driven",
    "found",
    "frozen",
    "given",
    "gone",
    "got",
    "gotten",
    "hidden",
    "hit",
    "kept",
    "known",
    "left",
    "lost",
    "made",
    "paid",
    "put",
    "rebuilt",
    "rewritten",
    "seen",
    "sent",
    "shown",
    "split",
    "sunk",
    "taken",
    "took",
    "undone",
    "won",
    "written",
];

/// Words like participles that describe what code does, and words that only end so.
const DESCRIBING: &[&str] = &[
    "allocated",
    "based",
    "bed",
    "called",
    "coded",
    "dispatched",
    "embed",
    "embedded",
    "emitted",
    "encoded",
    "executed",
    "feed",
    "fixed-size",
    "fused",
    "indeed",
    "interleaved",
    "invoked",
    "linked",
    "loaded",
    "mapped",
    "masked",
    "measured",
    "named",
    "need",
    "nested",
    "packed",
    "padded",
    "quantised",
    "quantized",
    "read",
    "red",
    "seed",
    "shared",
    "signed",
    "speed",
    "strided",
    "threaded",
    "tiled",
    "typed",
    "unsigned",
    "weighted",
];

/// Whether a word says what has become of something.
fn is_participle(word: &Word<'_>) -> bool {
    let ends_so = word.text.len() > 3
        && word.text.get(word.text.len() - 2..).is_some_and(|end| end.eq_ignore_ascii_case("ed"));
    // A name in a path is no word of the sentence.
    let is_word = word.text.chars().all(|c| c.is_alphabetic() || c == '-');
    word.is(IRREGULAR) || ends_so && is_word && !word.is(DESCRIBES)
}

/// Whether a word names a phase of a plan: `P3`, `P3b`.
fn is_phase(word: &Word<'_>) -> bool {
    let rest = word.text.strip_prefix(['P', 'p']).unwrap_or_default();
    rest.len() <= 4
        && rest.starts_with(|c: char| c.is_ascii_digit())
        && rest.chars().all(|c| c.is_ascii_alphanumeric())
}

/// Any doubt in a sentence is too much.
fn is_doubt(word: &Word<'_>) -> bool {
    word.is(DOUBT)
        || word.text.ends_with("n't")
        || word.text.ends_with("N'T")
        || word.text.ends_with("n’t")
}

/// Whether a word shows that a sentence is about something other than what code does.
fn tells_of_something_else(word: &Word<'_>) -> bool {
    // "Measured with the old build. Shared with qwen35."
    is_doubt(word) || word.is(STATE) || is_participle(word) || is_phase(word)
}

/// Words that may stand before a statement in its clause: what it is then said of is the frame. Of anything else
/// ("the estimate is gemma-only", "depends not on qwen35") it may say something else.
const LEADS: &[&str] = &[
    "a", "also", "and", "are", "both", "cost", "frame", "function", "hot", "is", "it", "its",
    "kernel", "lever", "same", "that", "the", "this", "time", "which", "µ", "→",
];

/// Words that may stand before "unlike FAMILY" besides these: they say that the frame is there, and no more. "Twice a
/// layer, unlike qwen35" is of how often, and "pooled, unlike qwen35" of something else.
const BEING_THERE: &[&str] = &[
    "called",
    "dispatched",
    "executed",
    "exists",
    "here",
    "invoked",
    "on",
    "only",
    "present",
    "quantised",
    "quantized",
    "runs",
];

/// Words that may follow a family's name without changing what was said of it.
const GOING_ON: &[&str] = &[
    "and", "as", "at", "because", "by", "for", "here", "in", "on", "per", "since", "so", "through",
    "too", "via", "where", "while",
];

/// Whether something in these words of the text is spelled as code is.
fn names_code(text: &str, words: &[Word<'_>]) -> bool {
    let (Some(first), Some(last)) = (words.first(), words.last()) else { return false };
    let part = text.get(first.range.start..last.range.end).unwrap_or_default();
    part.contains("::") || part.contains('_')
}

/// Whether words may take back what was said before them.
fn tell_of_a_change<'w, 't: 'w>(words: impl IntoIterator<Item = &'w Word<'t>>) -> bool {
    let mut before: Option<&Word<'_>> = None;
    words.into_iter().any(|word| {
        // "see P3" is a reference.
        let is_reference = before.is_some_and(|it| it.text.eq_ignore_ascii_case("see"));
        before = Some(word);
        word.is(CHANGE) || is_participle(word) || is_phase(word) && !is_reference
    })
}

/// A sentence with what looks like a statement in it.
struct Sentence<'t> {
    words: Vec<Word<'t>>,
    /// By the words that make it up.
    candidates: Vec<(Range<usize>, Statement<'t>)>,
}

impl<'t> Sentence<'t> {
    fn of(text: &'t str, range: Range<usize>) -> Self {
        let is_question = text[range.clone()].ends_with('?');
        let has_phrase = !is_question && PHRASES.is_in(&text[range.clone()]);
        let words = words(text, range);
        let candidates = if has_phrase { candidates(&words) } else { Vec::new() };
        Self { words, candidates }
    }

    /// Its words that are of no candidate.
    fn others(&self) -> impl Iterator<Item = &Word<'t>> {
        let numbered = self.words.iter().enumerate();
        let is_other = |at: usize| !self.candidates.iter().any(|(own, _)| own.contains(&at));
        numbered.filter(move |(at, _)| is_other(*at)).map(|(_, word)| word)
    }

    fn begins_with_doubt(&self) -> bool {
        self.others().take(4).any(is_doubt)
    }

    /// Whether one of its words is spelled as code is.
    fn names_code(&self, text: &str) -> bool {
        names_code(text, &self.words)
    }

    /// Whether a candidate says that nothing of another family is like this, and the sentence does not say what.
    fn denies_without_subject(&self, own: &Range<usize>, statement: &Statement<'_>) -> bool {
        matches!(statement.says, Says::NotIn(_) | Says::OnlyIn(_, None))
            && self.words[..own.start].iter().all(|word| word.is(LEAD))
    }

    /// Whether it may take back what was said before it.
    fn tells_of_a_change(&self) -> bool {
        tell_of_a_change(self.others())
    }

    /// Whether a candidate is said of the frame, without a doubt. `is_topic`: what stands before this sentence is
    /// about what the code does.
    fn is_plain(
        &self,
        text: &str,
        own: &Range<usize>,
        statement: &Statement<'_>,
        is_topic: bool,
    ) -> bool {
        let before = &self.words[..own.start];
        let behind = &self.words[own.end..];
        let is_lead = |word: &Word<'_>| word.is(LEAD);
        let mut clause = before.iter().rev().take_while(|word| !word.closed);
        // "Measured on gemma, not on qwen35" is of the measurement.
        let goes_before = before.last().map_or(statement.words.start, |word| word.range.end);
        let gap = text.get(goes_before..statement.words.start).unwrap_or_default();
        let begins_with = |word: &str| {
            self.words.get(own.start).is_some_and(|it| it.text.eq_ignore_ascii_case(word))
        };
        let continues = begins_with("not") && gap.contains(',');
        // "Planned: shared with qwen35", "Cost: gemma-only".
        let is_headed = gap.contains(':');
        // Without a subject of its own it is said of what the sentences before are about.
        if before.iter().all(is_lead) && !is_topic {
            return false;
        }
        // "Flag on, gemma-only": of the flag.
        let is_denial = matches!(statement.says, Says::NotIn(_) | Says::OnlyIn(_, None));
        if is_denial
            && !begins_with("unlike")
            && !before.iter().all(is_lead)
            && !names_code(text, before)
        {
            return false;
        }
        // "Shared with qwen35 as of iter3", "at the time of iter3", "in prefill only".
        let is = |word: &Word<'_>, text: &str| word.text.eq_ignore_ascii_case(text);
        let dates =
            |two: &[Word<'_>]| (is(&two[0], "as") || is(&two[0], "time")) && is(&two[1], "of");
        if self.words.windows(2).any(dates) || behind.iter().any(|word| is(word, "only")) {
            return false;
        }
        let is_there = |word: &Word<'_>| is_lead(word) || word.is(IS_THERE);
        if begins_with("unlike") && !before.iter().all(is_there) {
            return false;
        }
        // The word behind the name was looked at already.
        let behind =
            if behind.first().is_some_and(|it| it.is(GOES_ON)) { &behind[1..] } else { behind };
        !continues
            && !is_headed
            && !tell_of_a_change(behind)
            && clause.all(is_lead)
            && !before.iter().any(tells_of_something_else)
            && !self.others().any(is_doubt)
    }
}

impl<'t> Says<'t> {
    /// The family or the id that it is about, if it is about one.
    fn name(self) -> Option<&'t str> {
        match self {
            Self::SharedWith(name) | Self::NotIn(name) | Self::SameAs(name) => Some(name),
            Self::OnlyIn(_, relative_to) => relative_to,
        }
    }
}

/// What looks like statements in the words of a sentence.
fn candidates<'t>(words: &[Word<'t>]) -> Vec<(Range<usize>, Statement<'t>)> {
    let is = |at: usize, word: &str| {
        words.get(at).is_some_and(|it| it.text.eq_ignore_ascii_case(word) && !it.quoted)
    };
    let joined = |at: usize, count: usize| {
        words.get(at..at + count).is_some_and(|it| it[..count - 1].iter().all(|word| !word.closed))
    };
    // The name at `at`, if the sentence goes on from it in a way that is understood.
    let name = |at: usize| -> Option<&'t str> {
        let word = words.get(at)?;
        let goes_on = word.closed || words.get(at + 1).is_some_and(|next| next.is(GOES_ON));
        goes_on.then_some(word.text)
    };
    let mut found: Vec<(Range<usize>, Statement<'t>)> = Vec::new();
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
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<(Says<'_>, &str)> {
        let is_other = |name: &str| ["qwen35", "llama"].contains(&name);
        let statements = statements(text).into_iter();
        let plain = statements.filter(|it| !it.speaks_of_others(text, is_other));
        plain.map(|it| (it.says, &text[it.words])).collect()
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
            ("pool::take. Not on qwen35.", Says::NotIn("qwen35"), "Not on qwen35"),
            ("The kv_append kernel. Gemma-only.", Says::OnlyIn("Gemma", None), "Gemma-only"),
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
            // A noun, or what is said of it: that is not told apart.
            "Sliding window mask. Gemma-only.",
            "Expensive. Not on qwen35.",
            "Costs 35 us. Not on qwen35.",
            "It waits for the GPU. Not on qwen35.",
            "Blocks the decode thread. Not on qwen35.",
            "Called 30 times per token. Not on qwen35.",
            "Rank 1 of the decode loop. Not on qwen35.",
            "Dominates the trace. Gemma-only.",
            "Saves 35 us/token; gemma-only.",
            "Flag on, gemma-only.",
            "Shared with qwen35, I think.",
            "Shared with qwen35 at best.",
            "Shared with qwen35, one hopes.",
            "Shared with qwen35 as of iter3.",
            "Shared with qwen35 at the time of iter3.",
            "Shared with qwen35, says iter3.",
            "Iter3 said the following. Shared with qwen35.",
            "Gemma-only, I think.",
            "Shared with qwen35. Nope.",
            "Shared with qwen35. The trace says otherwise.",
            "Shared with qwen35. Its row there went away.",
            "Shared with qwen35 at source level.",
            "Shared with qwen35 in prefill only.",
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

    /// Sentences as engineers write them, that are plain about the frame.
    const PLAIN: &[(&str, Says<'_>)] = &[
        ("Shared with qwen35.", Says::SharedWith("qwen35")),
        ("shared with qwen35", Says::SharedWith("qwen35")),
        ("Shared with qwen35, layer by layer.", Says::SharedWith("qwen35")),
        ("Shared with qwen35 (rank 2).", Says::SharedWith("qwen35")),
        ("Shared lever with qwen35.", Says::SharedWith("qwen35")),
        ("Shared lever with Qwen35 through the pool.", Says::SharedWith("Qwen35")),
        ("This frame is shared with qwen35.", Says::SharedWith("qwen35")),
        ("The kernel is shared with qwen35 via mlx-native.", Says::SharedWith("qwen35")),
        ("Both: shared with qwen35", Says::SharedWith("")),
        ("Hadamard transform of the KV cache. Shared with qwen35.", Says::SharedWith("qwen35")),
        ("Allocations in the decode loop; shared with qwen35.", Says::SharedWith("qwen35")),
        ("Called once per layer. Shared with qwen35.", Says::SharedWith("qwen35")),
        ("Fused norm and add. It is shared with qwen35.", Says::SharedWith("qwen35")),
        ("Is it hot? Shared with qwen35.", Says::SharedWith("qwen35")),
        ("Shared with qwen35. About 40 us per token.", Says::SharedWith("qwen35")),
        ("Shared with qwen35.\n\nCost of the command buffer.", Says::SharedWith("qwen35")),
        ("Gemma-only.", Says::OnlyIn("Gemma", None)),
        ("gemma-only, twice a layer", Says::OnlyIn("gemma", None)),
        ("The sliding_window mask. Gemma-only.", Says::OnlyIn("Gemma", None)),
        ("hot — gemma-only", Says::OnlyIn("gemma", None)),
        ("A gemma-only, per-layer dispatch.", Says::OnlyIn("gemma", None)),
        ("Gemma-only relative to qwen35.", Says::OnlyIn("Gemma", Some("qwen35"))),
        ("gemma-only relative to qwen35 (no expert routing)", Says::OnlyIn("", None)),
        (
            "KV quantise kernel, gemma-only relative to qwen35.",
            Says::OnlyIn("gemma", Some("qwen35")),
        ),
        ("Not on qwen35.", Says::NotIn("qwen35")),
        ("Not on qwen35; hot", Says::NotIn("qwen35")),
        ("Not on qwen35 (dense).", Says::NotIn("qwen35")),
        ("The frame is not on qwen35.", Says::NotIn("qwen35")),
        ("Not on qwen35. Not on llama.", Says::NotIn("qwen35")),
        ("Called here, unlike qwen35.", Says::NotIn("qwen35")),
        ("The kernel runs here, unlike qwen35.", Says::NotIn("qwen35")),
        ("Unlike qwen35.", Says::NotIn("qwen35")),
        ("Same frame as H6.", Says::SameAs("H6")),
        ("the same frame as H6-Wave2b-AllocBuffer", Says::SameAs("H6-Wave2b-AllocBuffer")),
        ("Same frame as H6 (rank 1).", Says::SameAs("H6")),
        ("Sampler cost; same frame as H6.", Says::SameAs("H6")),
        (
            "Rotates the KV cache. The old path is gated off in P2, and reads fire. Two dispatches \
             per layer of the gemma buffer — gemma-only relative to qwen35.",
            Says::OnlyIn("gemma", Some("qwen35")),
        ),
        (
            "Shared lever with qwen35 (§P3a' rank-1). Buffers per token through decode.rs. \
             Hypothesis: gemma hits this less than dense qwen35-Q (gemma's fused kernels reuse \
             more), but we expect some ms.",
            Says::SharedWith("qwen35"),
        ),
    ];

    /// Sentences that say something else, take it back, or may.
    const NOT_PLAIN: &[&str] = &[
        // Of a state or a repair, not of the frame.
        "Fixed in P3b. Not on qwen35.",
        "Fixed in P3b; not on qwen35.",
        "Fixed in P3b. Gemma-only.",
        "Pooled; not on qwen35.",
        "Pooled. Gemma-only.",
        "Pooled, unlike qwen35.",
        "Closed in P3b, unlike qwen35.",
        "Cached since P2. Not on qwen35.",
        "Hoisted out of the loop. Not on qwen35.",
        "Batched here, unlike qwen35.",
        "Done. Not on qwen35.",
        "Landed; gemma-only.",
        "Merged last week: gemma-only.",
        "Lazy init, unlike qwen35.",
        "One call per layer, unlike qwen35.",
        "Twice a token, unlike qwen35.",
        "Cheap here, unlike qwen35.",
        "Quantised to 4 bits, unlike qwen35.",
        "Runs on the CPU, unlike qwen35.",
        "Called twice, unlike qwen35.",
        "The win is gemma-only.",
        "Regression. Not on qwen35.",
        "Regressed in P4. Gemma-only.",
        "Measured with the old build. Shared with qwen35.",
        "Verified. Not on qwen35.",
        "Tuned for M3. Not on qwen35.",
        "WIP, shared with qwen35.",
        "Workaround in place. Not on qwen35.",
        "Optimised away in P5; gemma-only.",
        "Blocked on the driver. Shared with qwen35.",
        "Deferred to P4. Shared with qwen35.",
        "Next lever: pool. Shared with qwen35.",
        "Solved by pooling. Not on qwen35.",
        "Needs a patch. Not on qwen35.",
        "Patch is in review. Gemma-only.",
        "Enabled by a flag; gemma-only.",
        "Rolled out. Not on qwen35.",
        "Bug: gemma-only.",
        "Confirmed on M3 Max. Not on qwen35.",
        "Reproduced here, not on qwen35.",
        // Taken back later.
        "Shared with qwen35. Since Wave 2 each has its own.",
        "Gemma-only. qwen35 got it in P3b.",
        "Shared with qwen35. Split in P3b.",
        "Shared with qwen35. They diverge after P3.",
        "Shared with qwen35. P3b forks it.",
        "Shared with qwen35. Now two kernels.",
        "Shared with qwen35. Each family now has a copy.",
        "Shared with qwen35, each with a copy of it now.",
        "Shared with qwen35. qwen35 moved on in Wave 3.",
        "Shared with qwen35. As of P4, separate paths.",
        "Shared with qwen35. Update: forked.",
        "Shared with qwen35. Superseded by P4.",
        "Shared with qwen35. (Stale, see P4.)",
        "Gemma-only. Qwen35 has one too.",
        "Gemma-only. After Wave 2 also on qwen35.",
        "Gemma-only. Ported to qwen35 in P4.",
        "Gemma-only. llama calls it as well.",
        "Not on qwen35. Added there in Wave 2.",
        "Not on qwen35. Hot. Then P3 came.",
        "Not on qwen35. Edit: qwen35 calls it in prefill.",
        "Unlike qwen35. That one came in P5.",
        "Same frame as H6. Renamed in P3b.",
        "Same frame as H6. H6 has another since.",
        "Same frame as H6; from P4 its own.",
        "Shared with qwen35. Hot path. Different kernels today.",
        "Shared with qwen35. Replaced in Wave 2.",
        // Ahead of it.
        "Before P3: shared with qwen35.",
        "Until P3b. Shared with qwen35.",
        "Old note. Shared with qwen35.",
        "Historically shared with qwen35.",
        "In P2, shared with qwen35.",
        "From the ADR: shared with qwen35.",
        "Goal is one kernel. Shared with qwen35.",
        "To do. Shared with qwen35.",
        "Hypothesis. Shared with qwen35, to be checked.",
        "Claim in P1. Shared with qwen35.",
        "We want this shared with qwen35.",
        "Could go. Shared with qwen35.",
        "Make it shared with qwen35.",
        "Allocator is shared with qwen35.",
    ];

    #[test]
    fn sentences_as_they_are_written() {
        let mut wrong = Vec::new();
        for (text, says) in PLAIN {
            let found = read(text);
            let is_right = match says {
                // Nothing is to be read of these.
                Says::SharedWith("") | Says::OnlyIn("", None) => found.is_empty(),
                says => found.first().is_some_and(|(found, _)| found == says),
            };
            if !is_right {
                wrong.push(format!("{text:?} gives {found:?}"));
            }
        }
        for text in NOT_PLAIN {
            let found = read(text);
            if !found.is_empty() {
                wrong.push(format!("{text:?} gives {found:?}"));
            }
        }
        let all = PLAIN.len() + NOT_PLAIN.len();
        assert!(wrong.is_empty(), "{} of {all} are wrong:\n{}", wrong.len(), wrong.join("\n"));
    }
}
