//! `unresolved-link`: a link to a family or an id that is not there.

use super::{Check, Findings, FixAvailability, Level, Rule, as_json, label, named, quoted};
use crate::fix::{Applicability, Fix};
use crate::register::{Hypothesis, Link};
use crate::suggest;
use crate::workspace::{Entry, Family, Workspace};

pub(super) const RULE: Rule = Rule {
    name: "unresolved-link",
    summary: "a link to a family or an id that is not there",
    default: Level::Deny,
    fix: FixAvailability::Sometimes,
    page: include_str!("../../docs/rules/unresolved-link.md"),
    check: Check::Entry(check),
};

/// Among how many names a near one is looked for.
const MOST_NAMES: usize = 200;

fn check(workspace: &Workspace<'_>, entry: &Entry<'_>, findings: &mut Findings) {
    for hypothesis in &entry.register.hypotheses {
        for link in &hypothesis.links {
            if entry.family == Some(link.family.value()) {
                own_family_finding(entry, hypothesis, link, findings);
                continue;
            }
            let families = workspace.families();
            match families.find(link.family.value()) {
                None => family_finding(workspace, entry, hypothesis, link, findings),
                Some(family) => {
                    let family = families.get(family);
                    if family.is_whole {
                        id_findings(workspace, entry, hypothesis, link, family, findings);
                    }
                }
            }
        }
    }
}

/// A link names the counterpart in another family, so within its own there is none to be found.
fn own_family_finding(
    entry: &Entry<'_>,
    hypothesis: &Hypothesis<'_>,
    link: &Link<'_>,
    findings: &mut Findings,
) {
    let name = quoted(link.family.value());
    let message = format!("{} links to {name}, its own family", named(hypothesis));
    let finding = findings
        .finding(message, label(entry.file, link.family.span(), "no other family"))
        .with_note("a link says which hypothesis of another family claims the same frames, or that none does")
        .with_hypothesis(hypothesis.id());
    findings.push(finding);
}

fn family_finding(
    workspace: &Workspace<'_>,
    entry: &Entry<'_>,
    hypothesis: &Hypothesis<'_>,
    link: &Link<'_>,
    findings: &mut Findings,
) {
    let name = link.family.value();
    // A register that could not be read may be of the one that is missed.
    let is_hidden = workspace.hidden.unread.iter().any(|unread| unread == name);
    if is_hidden || workspace.hidden.may_have(entry, &[name]) {
        return;
    }
    let message =
        format!("{} links to the family {}, which is not there", named(hypothesis), quoted(name));
    let known: Vec<&str> = workspace.families().iter().map(|(_, family)| family.name).collect();
    let others: Vec<String> = known
        .iter()
        .filter(|&&family| Some(family) != entry.family)
        .map(|family| quoted(family))
        .collect();
    let mut finding = findings
        .finding(message, label(entry.file, link.family.span(), "no register is of this family"))
        .with_hypothesis(hypothesis.id());
    // A family that is linked to already would be a member given twice.
    let is_linked = |name: &str| hypothesis.links.iter().any(|link| link.family.value() == name);
    let others_known =
        known.iter().copied().filter(|&family| Some(family) != entry.family && !is_linked(family));
    if let Some(near) = suggest::nearest(name, others_known.take(MOST_NAMES)) {
        finding = finding.with_note(suggest::did_you_mean(near));
        // Where several links may mean it, which does is not known.
        let is_known = |name: &str| workspace.families().find(name).is_some();
        let unknown = hypothesis.links.iter().take(MOST_NAMES).map(|link| link.family.value());
        let mut rivals = unknown.filter(|other| *other != name && !is_known(other));
        let is_rival = |other: &str| suggest::nearest(other, [near]).is_some();
        if !rivals.any(is_rival) {
            finding = finding.with_fix(Fix::single(
                format!("name the family {}", quoted(near)),
                entry.file,
                link.family.inner_span(),
                as_json(near),
                Applicability::Unsafe,
            ));
        }
    } else if others.is_empty() {
        finding = finding.with_note("no register of another family is checked along with this one");
    } else if others.len() <= 8 {
        finding = finding.with_note(format!("the other families are {}", others.join(", ")));
    }
    findings.push(finding);
}

fn id_findings<'d>(
    workspace: &Workspace<'d>,
    entry: &Entry<'_>,
    hypothesis: &Hypothesis<'_>,
    link: &Link<'_>,
    family: &Family<'d>,
    findings: &mut Findings,
) {
    let is_there = |id: &str| family.find(workspace, id).is_some();
    let is_nowhere = |id: &str| !is_there(id) && workspace.find(id).is_none();
    // Of several that are nowhere, which one is meant to be another is not known.
    let is_one = link.ids.iter().filter(|id| is_nowhere(id.value())).nth(1).is_none();
    for id in &link.ids {
        if is_there(id.value()) || workspace.hidden.may_have(entry, &[family.name, id.value()]) {
            continue;
        }
        let message = format!(
            "{} links to {}, which {} does not have",
            named(hypothesis),
            quoted(id.value()),
            quoted(family.name)
        );
        let mut finding = findings
            .finding(message, label(entry.file, id.span(), "no hypothesis of this id"))
            .with_hypothesis(hypothesis.id());
        let is_listed = |id: &str| link.ids.iter().any(|other| other.value() == id);
        let entries = family.entries.iter().map(|&entry| &workspace.entries[entry]);
        let others = || entries.clone().flat_map(|entry| &entry.register.hypotheses);
        let class = |of: &Hypothesis<'_>| Some(workspace.classes().of(of.canonical?.pattern));
        // The one that claims the same frame is meant, however its id is spelled.
        let same = others()
            .filter(|other| class(hypothesis).is_some() && class(other) == class(hypothesis))
            .find_map(|other| other.id().filter(|id| !is_listed(id)));
        let ids = others().filter_map(Hypothesis::id).filter(|id| !is_listed(id));
        if let Some(elsewhere) = workspace.find(id.value()) {
            let (other, there) = workspace.at(elsewhere);
            let of =
                other.family.map_or_else(String::new, |family| format!(" of {}", quoted(family)));
            finding = finding.with_related(label(
                other.file,
                there.name_span(),
                format!("a hypothesis{of}"),
            ));
        } else if let Some(same) = same {
            finding = finding.with_note(format!("{} claims the same frame", quoted(same)));
            if is_one {
                finding = finding.with_fix(Fix::single(
                    format!("link to {}", quoted(same)),
                    entry.file,
                    id.inner_span(),
                    as_json(same),
                    Applicability::Unsafe,
                ));
            }
        } else if let Some(near) = suggest::nearest(id.value(), ids.take(MOST_NAMES)) {
            // It claims other frames, so a link to it would be wrong as well: a hint and no fix.
            finding = finding.with_note(suggest::did_you_mean(near));
        }
        findings.push(finding);
    }
}
