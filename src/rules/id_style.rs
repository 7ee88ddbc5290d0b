//! `id-style`: an id that breaks the scheme of its own register.

use std::collections::HashMap;

use super::{Check, Findings, FixAvailability, Level, Rule, label, quoted};
use crate::workspace::{Entry, Workspace};

pub(super) const RULE: Rule = Rule {
    name: "id-style",
    summary: "an id that breaks its register's scheme: letters, number, optional words",
    default: Level::Allow,
    fix: FixAvailability::None,
    page: include_str!("../../docs/rules/id-style.md"),
    check: Check::Entry(check),
};

/// The letters that an id of the scheme `letters number [suffix] [-words…]` begins with: `G` of
/// `G2`, `G2b` and `G5-Shared-AllocBuffer`. `None` for an id of another form.
fn letters(id: &str) -> Option<&str> {
    let number = id.find(|c: char| !c.is_ascii_alphabetic())?;
    let (letters, rest) = id.split_at(number);
    let after = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    let has_number = after.len() < rest.len();
    let mut parts = after.split(['-', '_']);
    let is_suffix = parts
        .next()
        .is_some_and(|suffix| suffix.len() <= 1 && suffix.chars().all(|c| c.is_ascii_lowercase()));
    let are_words =
        parts.all(|word| !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric()));
    (!letters.is_empty() && has_number && is_suffix && are_words).then_some(letters)
}

fn check(_: &Workspace<'_>, entry: &Entry<'_>, findings: &mut Findings) {
    let hypotheses = &entry.register.hypotheses;
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for letters in hypotheses.iter().filter_map(|hypothesis| letters(hypothesis.id()?)) {
        *counts.entry(letters).or_default() += 1;
    }
    // A scheme is what more than half of the ids have in common; without one nothing breaks it.
    let ids = hypotheses.iter().filter(|hypothesis| hypothesis.id.is_some()).count();
    let Some((&scheme, _)) = counts.iter().find(|&(_, &count)| count * 2 > ids && count > 1) else {
        return;
    };
    for hypothesis in hypotheses {
        let Some(id) = hypothesis.id() else { continue };
        let (message, words) = match letters(id) {
            Some(own) if own == scheme => continue,
            Some(own) => (
                format!("{} begins with `{own}`, the other ids with `{scheme}`", quoted(id)),
                format!("not `{scheme}`"),
            ),
            None => (
                format!("{} is not of the form `{scheme}1` or `{scheme}1-Words`", quoted(id)),
                "another form".to_owned(),
            ),
        };
        let here = label(entry.file, hypothesis.name_span(), words);
        findings.push(findings.finding(message, here).with_hypothesis(Some(id)));
    }
}

#[cfg(test)]
mod tests {
    use super::letters;

    #[test]
    fn knows_the_scheme() {
        for (id, expected) in [
            ("G2", Some("G")),
            ("G2b", Some("G")),
            ("HYP12", Some("HYP")),
            ("G5-Shared-AllocBuffer", Some("G")),
            ("H6_wave", Some("H")),
            ("G", None),
            ("12", None),
            ("G-2", None),
            ("G2-", None),
            ("G2 b", None),
            ("G2bc", None),
            ("", None),
            ("µ2", None),
        ] {
            assert_eq!(letters(id), expected, "{id}");
        }
    }
}
