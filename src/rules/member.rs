//! Edits of an object's members in the object's own layout: its indentation, its line ends, its
//! spaces. Nothing outside of the edits changes.
//!
//! Uses `json`, `fix`, `source` and `span`.

use super::as_json;
use crate::fix::{Addition, Edit};
use crate::json::{Array, Kind, Member, Object, Value};
use crate::span::Span;
use crate::workspace::Entry;

/// How a container lays out what it holds.
struct Layout<'t> {
    /// What stands between two members or elements, the comma aside: a line end and the indentation,
    /// a space, or nothing.
    gap: &'t str,
    /// The line end and the indentation of what holds the container's members, if they stand on lines
    /// of their own.
    line: Option<(&'t str, &'t str)>,
    /// What one more level adds to the indentation.
    unit: &'t str,
    /// What stands between a name and its value.
    colon: &'t str,
    /// What stands between a brace and a member on the same line.
    pad: &'t str,
}

/// The blank characters that `text` ends with.
fn blank_end(text: &str) -> &str {
    &text[text.trim_end_matches([' ', '\t', '\r', '\n']).len()..]
}

impl<'t> Layout<'t> {
    fn of(text: &'t str, object: Object<'_>) -> Self {
        let span = object.as_value().span().range();
        let (mut first, mut last) = (None, None);
        for member in object.members() {
            first.get_or_insert(member);
            last = Some(member);
        }
        let (Some(first), Some(last)) = (first, last) else {
            return Self { gap: " ", line: None, unit: "  ", colon: ": ", pad: " " };
        };
        let colon = &text[first.name.span().range().end..first.value.span().range().start];
        let colon = if colon.contains(['\n', '\r']) { ": " } else { colon };
        let before = blank_end(&text[..last.name.span().range().start]);
        if let Some(at) = before.rfind('\n') {
            let start = if before[..at].ends_with('\r') { at - 1 } else { at };
            let indent = &before[at + 1..];
            // The line of the opening brace shows how much of it is of this level.
            let opening = &text[..span.start];
            let opening = &opening[opening.rfind('\n').map_or(0, |at| at + 1)..];
            let outer = &opening[..opening.len() - opening.trim_start_matches([' ', '\t']).len()];
            let deeper = indent.strip_prefix(outer).filter(|unit| !unit.is_empty());
            let unit = deeper.unwrap_or(if indent.starts_with('\t') { "\t" } else { "  " });
            let line = Some((&before[start..=at], indent));
            return Self { gap: &before[start..], line, unit, colon, pad: " " };
        }
        let pad = &text[span.start + 1..first.name.span().range().start];
        let pad = if pad.contains(['\n', '\r']) { " " } else { pad };
        let is_only = first.name.span() == last.name.span();
        let gap = if is_only { if colon.contains(' ') { " " } else { "" } } else { before };
        Self { gap, line: None, unit: "  ", colon, pad }
    }

    /// What stands between two things on one line.
    fn comma(&self) -> &'static str {
        if self.colon.contains(' ') || self.gap.contains(' ') { ", " } else { "," }
    }

    /// The name of a member as it stands before its value.
    fn name(&self, name: &str) -> String {
        format!("\"{}\"{}", as_json(name), self.colon)
    }
}

/// The edit that makes the hypothesis `object` say that `id` is its counterpart in `family`: a new
/// `links` member, a new family in it, or one more id of that family. Those of several counterparts go
/// together. `None` where what stands there is not what it should be.
pub(super) fn link(entry: &Entry<'_>, object: Object<'_>, family: &str, id: &str) -> Option<Edit> {
    if !entry.is_whole() {
        return None;
    }
    let text = entry.source.text();
    let outer = Layout::of(text, object);
    let value = format!("\"{}\"", as_json(id));
    let add = |span: Span, parts: [String; 3], comma, name, value| {
        let [before, between, after] = parts;
        let addition = Addition { before, between, after, name, comma, value };
        Some(Edit::adding(entry.file, span, addition))
    };
    let Some(links) = object.get("links") else {
        let behind = object.members().last()?.value.span().range().end;
        let (gap, name, pad) = (outer.gap, outer.name("links"), outer.pad);
        // As it lays out its own members.
        let parts = if let Some((end, indent)) = outer.line {
            let line = format!("{end}{indent}{}", outer.unit);
            let open = format!(",{gap}{name}{{{line}");
            [open, format!(",{line}"), format!("{end}{indent}}}")]
        } else {
            let between = outer.comma().to_owned();
            [format!(",{gap}{name}{{{pad}"), between, format!("{pad}}}")]
        };
        return add(Span::empty(behind), parts, outer.comma(), outer.name(family), value);
    };
    let links = links.as_object()?;
    let layout = if links.is_empty() { outer } else { Layout::of(text, links) };
    let comma = layout.comma();
    if let Some(there) = links.get(family) {
        let (span, parts) = match there.kind() {
            Kind::String(one) => {
                let one = entry.source.slice(one.span());
                (there.span(), [format!("[{one}{comma}"), comma.to_owned(), "]".to_owned()])
            }
            Kind::Array(ids) => match ids.elements().last() {
                Some(last) => {
                    let gap = format!(",{}", gap_before(text, ids, last));
                    let behind = Span::empty(last.span().range().end);
                    (behind, [gap.clone(), gap, String::new()])
                }
                None => (there.span(), ["[", comma, "]"].map(str::to_owned)),
            },
            _ => return None,
        };
        return add(span, parts, comma, String::new(), value);
    }
    let (span, parts) = if let Some(last) = links.members().last() {
        let gap = format!(",{}", layout.gap);
        let behind = Span::empty(last.value.span().range().end);
        (behind, [gap.clone(), gap, String::new()])
    } else {
        let pad = layout.pad;
        let parts = [format!("{{{pad}"), comma.to_owned(), format!("{pad}}}")];
        (links.as_value().span(), parts)
    };
    add(span, parts, comma, layout.name(family), value)
}

/// What stands before the last element of a list.
fn gap_before<'t>(text: &'t str, ids: Array<'_>, last: Value<'_>) -> &'t str {
    let before = blank_end(&text[..last.span().range().start]);
    match before.rfind('\n') {
        Some(at) if before[..at].ends_with('\r') => &before[at - 1..],
        Some(at) => &before[at..],
        None if ids.len() > 1 => before,
        None => " ",
    }
}

/// The edit that takes `member` out of `object`, with its comma and its line.
pub(super) fn remove(entry: &Entry<'_>, object: Object<'_>, member: Member<'_>) -> Edit {
    let whole = object.as_value().span();
    let own = member.name.span().to(member.value.span());
    let (mut before, mut next) = (None, None);
    for other in object.members() {
        let at = other.name.span().to(other.value.span());
        if at.end <= own.start {
            before = Some(at);
        } else if at.start >= own.end {
            next = Some(at);
            break;
        }
    }
    let span = match (before, next) {
        (Some(before), _) => Span { start: before.end, end: own.end },
        (None, Some(next)) => Span { start: own.start, end: next.start },
        (None, None) => Span { start: whole.start + 1, end: whole.end - 1 },
    };
    Edit::new(entry.file, span, "")
}
