//! The register as the consumer sees it: hypotheses, their patterns, and where each stands.
//!
//! Uses `json` and `span`. Built from whatever the document holds: a member of the wrong type is as
//! good as absent here, since `schema` has reported it. Of a repeated member the last value counts.

use std::fmt;

use ahash::AHashSet;

use crate::json::{Array, Document, Kind, Member, Object, Str, Value};
use crate::span::Span;

/// One register.
#[derive(Debug, Default)]
pub struct Register<'d> {
    /// Its `family` member.
    pub family: Option<Str<'d>>,
    /// Its hypotheses, in order.
    pub hypotheses: Vec<Hypothesis<'d>>,
}

/// One hypothesis.
#[derive(Debug)]
pub struct Hypothesis<'d> {
    /// The whole object.
    pub span: Span,
    /// The same, to edit it.
    pub object: Object<'d>,
    /// Its name.
    pub id: Option<Str<'d>>,
    /// The same, decoded: it is asked for again and again.
    decoded_id: Option<&'d str>,
    /// What it says, in prose.
    pub description: Option<Str<'d>>,
    /// The pattern that its cost is read from.
    pub canonical: Option<Slot<'d>>,
    /// The patterns that are read beside it, in order.
    pub subcomponents: Vec<Subcomponent<'d>>,
    /// What it says of other families, in order.
    pub links: Vec<Link<'d>>,
    /// The author's own examples for the canonical pattern.
    pub frames: Frames<'d>,
    /// Which rules it switches off, in order.
    pub allowances: Vec<Allowance<'d>>,
    /// The rules of allowances that a mistake in the JSON makes unreadable, `None` for one whose rule is
    /// not known: nobody can say what they do not allow.
    pub lost_allowances: Vec<Option<&'d str>>,
}

/// A labelled pattern of `subcomponent_regexes`.
#[derive(Debug)]
pub struct Subcomponent<'d> {
    /// Its label.
    pub label: Str<'d>,
    /// Its pattern.
    pub slot: Slot<'d>,
}

/// A statement about another family: a member of `links`.
#[derive(Debug)]
pub struct Link<'d> {
    /// The family, the member's name.
    pub family: Str<'d>,
    /// The member's value.
    pub value: Value<'d>,
    /// The ids there that claim the same frame; none where the value is null, which says that there
    /// is none.
    pub ids: Vec<Str<'d>>,
    /// Whether the value is null.
    pub is_null: bool,
}

/// Example frames: the members of `frames`.
#[derive(Debug, Default)]
pub struct Frames<'d> {
    /// What the canonical pattern has to claim.
    pub claimed: Vec<Str<'d>>,
    /// What it must not claim.
    pub spared: Vec<Str<'d>>,
}

/// Why a rule does not apply to a hypothesis: a member of `_reglint.allow`.
#[derive(Debug)]
pub struct Allowance<'d> {
    /// The rule, the member's name.
    pub rule: Str<'d>,
    /// The member's value.
    pub value: Value<'d>,
    /// The id of the one other hypothesis that it is about.
    pub with: Option<Str<'d>>,
    /// The last day on which it holds, as it is written.
    pub until: Option<Str<'d>>,
}

impl Allowance<'_> {
    /// The whole member.
    pub fn span(&self) -> Span {
        self.rule.span().to(self.value.span())
    }
}

/// A day of the Gregorian calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Date {
    year: u16,
    month: u8,
    day: u8,
}

impl Date {
    /// The day written `YYYY-MM-DD`; `None` for another form, and for a day that no calendar has.
    pub fn parse(text: &str) -> Option<Self> {
        let bytes = text.as_bytes();
        let number = |range: std::ops::Range<usize>| {
            let digits = bytes.get(range)?;
            digits.iter().try_fold(0_u16, |sum, digit| {
                digit.is_ascii_digit().then(|| sum * 10 + u16::from(digit - b'0'))
            })
        };
        if bytes.len() != 10 || bytes[4] != b'-' || bytes[7] != b'-' {
            return None;
        }
        let (year, month, day) = (number(0..4)?, number(5..7)?, number(8..10)?);
        let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        let days = match month {
            2 if is_leap => 29,
            2 => 28,
            4 | 6 | 9 | 11 => 30,
            1..=12 => 31,
            _ => return None,
        };
        (1..=days).contains(&day).then_some(Self { year, month: month as u8, day: day as u8 })
    }

    /// The day in UTC, `seconds` after the start of 1970. By the method of Howard Hinnant's
    /// `civil_from_days`, for years up to 9999.
    pub fn from_unix(seconds: u64) -> Self {
        // Days since 1 March of year 0, so that a leap day is the last of its year.
        let days = (seconds / 86_400).min(2_932_896) + 719_468;
        let (era, of_era) = (days / 146_097, days % 146_097);
        let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let from_march = (5 * of_year + 2) / 153;
        let day = of_year - (153 * from_march + 2) / 5 + 1;
        let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
        let year = year_of_era + era * 400 + u64::from(month <= 2);
        Self { year: year as u16, month: month as u8, day: day as u8 }
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

/// A place in a register that holds a pattern.
#[derive(Debug, Clone, Copy)]
pub struct Slot<'d> {
    /// The JSON string; its map leads from the pattern's offsets to the file's.
    pub text: Str<'d>,
    /// Its value, the pattern's text.
    pub value: &'d str,
    /// The pattern, shared by all slots of the same text.
    pub pattern: PatternId,
}

/// Names one distinct pattern text of a run; an index into the workspace's patterns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct PatternId(pub u32);

impl<'d> Register<'d> {
    /// The register in `document`. Its patterns have no ids yet.
    pub fn read(document: &'d Document<'_>) -> Self {
        let Some(top) = document.root().and_then(Value::as_object) else {
            return Self::default();
        };
        Self {
            family: string(top, "family"),
            hypotheses: array(top, "hypotheses").map_or_else(Vec::new, |hypotheses| {
                let mut list = Vec::with_capacity(hypotheses.len());
                list.extend(hypotheses.elements().filter_map(Hypothesis::read));
                list
            }),
        }
    }

    /// Forgets the ids, descriptions and patterns whose text is not known, so that nothing is said of
    /// it: those at which `is_damaged` says that bytes were lost, those that JSON could not give as they are
    /// spelled, and those with half of a surrogate pair, in whose value another character stands.
    pub fn forget(&mut self, is_damaged: impl Fn(Span) -> bool) {
        let keep = |text: &Str<'_>| {
            !text.is_misspelled() && !text.has_lone_surrogate() && !is_damaged(text.span())
        };
        self.family = self.family.filter(keep);
        for hypothesis in &mut self.hypotheses {
            hypothesis.id = hypothesis.id.filter(keep);
            hypothesis.decoded_id = hypothesis.id.map(Str::value);
            hypothesis.description = hypothesis.description.filter(keep);
            hypothesis.canonical = hypothesis.canonical.filter(|slot| keep(&slot.text));
            hypothesis.subcomponents.retain(|subcomponent| keep(&subcomponent.slot.text));
            hypothesis.links.retain(|link| keep(&link.family) && link.ids.iter().all(&keep));
            hypothesis.frames.claimed.retain(&keep);
            hypothesis.frames.spared.retain(&keep);
            let lost = &mut hypothesis.lost_allowances;
            hypothesis.allowances.retain(|allowance| {
                let limits = [allowance.with, allowance.until];
                let is_named = keep(&allowance.rule);
                let is_kept = is_named && limits.iter().flatten().all(&keep);
                if !is_kept {
                    lost.push(is_named.then(|| allowance.rule.value()));
                }
                is_kept
            });
        }
    }

    /// Every text that the consumer or a rule reads, hypothesis by hypothesis.
    pub fn texts(&self) -> impl Iterator<Item = Str<'d>> {
        self.family.into_iter().chain(self.hypotheses.iter().flat_map(Hypothesis::texts))
    }

    /// All slots, in the order of the file, canonical before subcomponents.
    pub fn slots(&self) -> impl Iterator<Item = &Slot<'d>> {
        self.hypotheses.iter().flat_map(Hypothesis::slots)
    }

    /// All slots, to be given their patterns.
    pub fn slots_mut(&mut self) -> impl Iterator<Item = &mut Slot<'d>> {
        self.hypotheses.iter_mut().flat_map(|hypothesis| {
            let rest =
                hypothesis.subcomponents.iter_mut().map(|subcomponent| &mut subcomponent.slot);
            hypothesis.canonical.iter_mut().chain(rest)
        })
    }
}

impl<'d> Hypothesis<'d> {
    fn read(value: Value<'d>) -> Option<Self> {
        let object = value.as_object()?;
        let slot =
            |text: Str<'d>| Slot { text, value: text.value(), pattern: PatternId::default() };
        let mut hypothesis = Self {
            span: value.span(),
            object,
            id: None,
            decoded_id: None,
            description: None,
            canonical: None,
            subcomponents: Vec::new(),
            links: Vec::new(),
            frames: Frames::default(),
            allowances: Vec::new(),
            lost_allowances: Vec::new(),
        };
        let mut has_allowances = false;
        for Member { name, value } in object.effective_members() {
            match name.value() {
                "id" => {
                    hypothesis.id = value.as_str();
                    hypothesis.decoded_id = hypothesis.id.map(Str::value);
                }
                "description" => hypothesis.description = value.as_str(),
                "canonical_frame_regex" => hypothesis.canonical = value.as_str().map(slot),
                "subcomponent_regexes" => {
                    hypothesis.subcomponents = entries(value)
                        .filter_map(|Member { name: label, value }| {
                            Some(Subcomponent { label, slot: slot(value.as_str()?) })
                        })
                        .collect();
                }
                "links" => hypothesis.links = entries(value).filter_map(Link::read).collect(),
                "frames" => {
                    hypothesis.frames = Frames {
                        claimed: strings(value, "claimed"),
                        spared: strings(value, "spared"),
                    };
                }
                "_reglint" => {
                    has_allowances = true;
                    let allow = value.get("allow");
                    let is_lost = |it: Value<'_>| {
                        let mut members = it.as_object().into_iter().flat_map(Object::members);
                        !is_sound(it) || members.any(|member| member.name.is_misspelled())
                    };
                    if is_lost(value) || allow.is_some_and(is_lost) {
                        hypothesis.lost_allowances.push(None);
                    }
                    for member in allow.into_iter().flat_map(entries) {
                        match Allowance::read(member) {
                            Some(allowance) => hypothesis.allowances.push(allowance),
                            None if !is_read(member.value) => {
                                hypothesis.lost_allowances.push(Some(member.name.value()));
                            }
                            None => {}
                        }
                    }
                }
                _ => {}
            }
        }
        // They may stand in what was lost.
        if !has_allowances && has_lost(object) {
            hypothesis.lost_allowances.push(None);
        }
        Some(hypothesis)
    }

    /// Its id, decoded.
    pub fn id(&self) -> Option<&'d str> {
        self.decoded_id
    }

    fn texts(&self) -> impl Iterator<Item = Str<'d>> {
        let labels = self.subcomponents.iter().map(|subcomponent| subcomponent.label);
        let links =
            self.links.iter().flat_map(|link| link.ids.iter().copied().chain([link.family]));
        let frames = self.frames.claimed.iter().chain(&self.frames.spared).copied();
        let allowances = self.allowances.iter();
        let allowances = allowances.flat_map(|it| [Some(it.rule), it.with, it.until]).flatten();
        let slots = self.slots().map(|slot| slot.text);
        self.id
            .into_iter()
            .chain(self.description)
            .chain(labels)
            .chain(slots)
            .chain(links)
            .chain(frames)
            .chain(allowances)
    }

    /// How many ids its links name.
    pub fn named(&self) -> usize {
        self.links.iter().map(|link| link.ids.len()).sum()
    }

    /// Where it is named: its id, or where it has none its first character.
    pub fn name_span(&self) -> Span {
        self.id.map_or(Span::new(self.span.range().start, self.span.range().start + 1), Str::span)
    }

    /// Its slots, the canonical one first.
    pub fn slots(&self) -> impl Iterator<Item = &Slot<'d>> {
        self.canonical
            .iter()
            .chain(self.subcomponents.iter().map(|subcomponent| &subcomponent.slot))
    }
}

impl<'d> Link<'d> {
    /// A link; `None` where the value is of no type that one has.
    fn read(member: Member<'d>) -> Option<Self> {
        let ids = match member.value.kind() {
            Kind::Null => Vec::new(),
            Kind::String(id) => vec![id],
            Kind::Array(list) if is_sound(member.value) => {
                // One that is named again says nothing more.
                let mut named = AHashSet::new();
                let is_new = |id: &Str<'d>| list.len() < 2 || named.insert(id.value());
                list.elements().filter_map(Value::as_str).filter(is_new).collect()
            }
            _ => return None,
        };
        let is_null = matches!(member.value.kind(), Kind::Null);
        // What stands next to a mistake may stand for something else.
        if !matches!(member.value.kind(), Kind::Array(_)) && member.value.is_beside_error() {
            return None;
        }
        Some(Self { family: member.name, value: member.value, ids, is_null })
    }
}

impl<'d> Allowance<'d> {
    /// An allowance; `None` where it lacks a reason, which the schema reports.
    fn read(member: Member<'d>) -> Option<Self> {
        let (reason, with, until) = match member.value.kind() {
            Kind::String(reason) => (reason, None, None),
            Kind::Object(object) => {
                (string(object, "reason")?, object.get("with"), object.get("until"))
            }
            _ => return None,
        };
        // A limit of the wrong type is no limit that could be honoured.
        let is_text = |limit: Option<Value<'d>>| limit.is_none_or(|it| it.as_str().is_some());
        if reason.value().trim().is_empty() || !is_text(with) || !is_text(until) {
            return None;
        }
        let text = |limit: Option<Value<'d>>| limit.and_then(Value::as_str);
        Some(Self { rule: member.name, value: member.value, with: text(with), until: text(until) })
    }
}

impl Slot<'_> {
    /// The file's characters that spell `span` of the pattern, both in bytes.
    pub fn locate(&self, span: Span) -> Span {
        self.text.source_span(span.range())
    }
}

/// Whether a member of that name is a comment, never checked.
pub fn is_comment(name: &str) -> bool {
    name.starts_with('_')
}

/// Whether a container could be read, with all that stands in it.
fn is_sound(value: Value<'_>) -> bool {
    value.is_complete() && !value.is_guessed() && !value.has_loose_error()
}

/// Whether an object without allowances may have had some that could not be read.
fn has_lost(object: Object<'_>) -> bool {
    let value = object.as_value();
    if value.document().errors().is_empty() {
        return false;
    }
    let text = &value.document().text()[value.span().range()];
    !value.has_sure_end()
        || object.members().any(|it| it.name.is_misspelled() || !it.value.has_sure_end())
        || ["\"_reg", "lint"].iter().any(|part| text.contains(part))
}

/// Whether a value could be read, and if it is an object all its members.
fn is_read(value: Value<'_>) -> bool {
    let mut members = value.as_object().into_iter().flat_map(Object::members);
    value.is_complete() && members.all(|member| member.value.is_complete())
}

/// The members of an object, those that are comments aside; none of any other value.
fn entries(value: Value<'_>) -> impl Iterator<Item = Member<'_>> {
    let members = value.as_object().into_iter().flat_map(Object::effective_members);
    members.filter(|member| !is_comment(member.name.value()))
}

fn string<'d>(object: Object<'d>, name: &str) -> Option<Str<'d>> {
    object.get(name).and_then(Value::as_str)
}

fn array<'d>(object: Object<'d>, name: &str) -> Option<Array<'d>> {
    object.get(name).and_then(Value::as_array)
}

/// The strings of a list that is a member.
fn strings<'d>(value: Value<'d>, name: &str) -> Vec<Str<'d>> {
    let list = value.get(name).filter(|it| is_sound(*it)).and_then(Value::as_array);
    list.into_iter().flat_map(Array::elements).filter_map(Value::as_str).collect()
}

#[cfg(test)]
mod tests {
    use super::Date;

    #[test]
    fn days_are_those_of_the_calendar() {
        for good in ["2024-02-29", "2000-02-29", "0000-02-29", "2027-03-31", "9999-12-31"] {
            assert_eq!(Date::parse(good).map(|date| date.to_string()).as_deref(), Some(good));
        }
        for bad in [
            "2027-02-29",
            "1900-02-29",
            "2027-04-31",
            "2027-13-01",
            "2027-00-01",
            "2027-01-00",
            "2027-1-1",
            "27-01-01",
            "2027/01/01",
            "2027-01-01 ",
            "+027-01-01",
            "2027-01-0µ",
            "",
        ] {
            assert_eq!(Date::parse(bad), None, "{bad}");
        }
        assert!(Date::parse("2027-01-31") < Date::parse("2027-02-01"));
    }

    #[test]
    fn seconds_are_days_in_utc() {
        for (seconds, day) in [
            (0, "1970-01-01"),
            (86_399, "1970-01-01"),
            (86_400, "1970-01-02"),
            (951_782_400, "2000-02-29"),
            (4_107_542_400, "2100-03-01"),
            (253_402_300_799, "9999-12-31"),
            (u64::MAX, "9999-12-31"),
        ] {
            assert_eq!(Date::from_unix(seconds).to_string(), day, "{seconds}");
        }
    }
}
