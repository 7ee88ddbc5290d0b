//! `invalid-encoding`: bytes that the consumer cannot read as text.

use super::{Check, Findings, FixAvailability, Level, Rule, label};
use crate::fix::{Applicability, Fix};
use crate::json::{Kind, Member, Str, Value};
use crate::register::{Register, is_comment};
use crate::source::{EncodingFault, Wide};
use crate::workspace::{Entry, Workspace};

pub(super) const RULE: Rule = Rule {
    name: "invalid-encoding",
    summary: "bytes that are not UTF-8, a byte order mark, or half of a surrogate pair",
    default: Level::Deny,
    fix: FixAvailability::Sometimes,
    page: include_str!("../../docs/rules/invalid-encoding.md"),
    check: Check::Entry(check),
};

/// A file of another encoding has a fault in every line; so many are worth showing.
const MOST: usize = 20;

fn check(_: &Workspace<'_>, entry: &Entry<'_>, findings: &mut Findings) {
    let faults = entry.source.encoding_faults();
    for (number, fault) in faults.iter().take(MOST).enumerate() {
        let (message, words, note) = match fault {
            EncodingFault::ByteOrderMark(_) => (
                "the file begins with a UTF-8 byte order mark".to_owned(),
                "these three bytes",
                "Python's `json` refuses text that begins with U+FEFF, and most editors hide it",
            ),
            EncodingFault::NotUtf8(_) => (
                "the file is not UTF-8 here".to_owned(),
                "not UTF-8",
                "JSON text is UTF-8 (RFC 8259, section 8.1); Python stops at the first such byte",
            ),
            EncodingFault::Wide(_, wide) if wide.is_marked => (
                format!("the file is {}, not UTF-8", wide.name),
                "the byte order mark of that encoding",
                "JSON text is UTF-8 (RFC 8259, section 8.1); nothing else in this file was checked",
            ),
            EncodingFault::Wide(_, wide) => (
                format!("the file looks like {} without a byte order mark, not UTF-8", wide.name),
                "one character of that encoding",
                "JSON text is UTF-8 (RFC 8259, section 8.1); nothing else in this file was checked",
            ),
        };
        let mut finding =
            findings.finding(message, label(entry.file, fault.span(), words)).with_note(note);
        if let EncodingFault::Wide(_, Wide { is_marked: false, .. }) = fault {
            finding = finding.with_note(
                "`json.loads` guesses the encoding of bytes, but what is opened as text is read as UTF-8, and Python refuses it then",
            );
        }
        if let EncodingFault::ByteOrderMark(span) = *fault {
            let remove = "remove the byte order mark";
            finding =
                finding.with_fix(Fix::single(remove, entry.file, span, "", Applicability::Safe));
        }
        if number + 1 == MOST && faults.len() > MOST {
            let rest = faults.len() - MOST;
            finding = finding.with_note(format!("{rest} more places are not shown"));
        }
        findings.push(finding);
    }
    lone_surrogates(entry, findings);
}

/// One finding for each text of the register that has half of a surrogate pair, and for each such name.
fn lone_surrogates(entry: &Entry<'_>, findings: &mut Findings) {
    if !entry.document.has_lone_surrogate() {
        return;
    }
    // The register of the entry has forgotten these texts.
    let register = Register::read(entry.document);
    let mut texts: Vec<Str<'_>> = register.texts().collect();
    // Names at every depth, those that nobody knows too.
    let mut todo: Vec<Value<'_>> = entry.document.root().into_iter().collect();
    while let Some(value) = todo.pop() {
        match value.kind() {
            Kind::Array(list) => todo.extend(list.elements()),
            Kind::Object(object) => {
                let is_read =
                    |it: &Member<'_>| !is_comment(it.name.value()) || it.name.is("_reglint");
                for member in object.members().filter(is_read) {
                    texts.push(member.name);
                    todo.push(member.value);
                }
            }
            _ => {}
        }
    }
    texts.sort_by_key(|text| text.span());
    texts.dedup_by_key(|text| text.span());
    for text in texts {
        let Some((at, unit)) = text.lone_surrogates().next() else { continue };
        let message = format!("`\\u{unit:04x}` is half of a surrogate pair, and no character");
        let span = text.source_span(at..at + char::REPLACEMENT_CHARACTER.len_utf8());
        let note = "Python reads it, and raises UnicodeEncodeError where the text is written as UTF-8; \
                    the text of this string is not checked";
        let words = "the other half is missing";
        findings.push(findings.finding(message, label(entry.file, span, words)).with_note(note));
    }
}
