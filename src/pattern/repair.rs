//! What would repair a refused pattern.
//!
//! Uses `span`, `ast` and `error`.

use super::ast::Look;
use super::error::{PatternError, Repair};
use super::parser::Width;
use crate::span::Span;

/// Says how wide the branches of a lookbehind are and splits it where that keeps its meaning.
pub(super) fn lookbehind(
    text: &str,
    fault: &mut PatternError,
    look: Look,
    width: Width,
    bounds: &[(Span, Width)],
) {
    let slice = |span: Span| text.get(span.range()).unwrap_or_default();
    let characters = |width: Width| match (width.min, width.max) {
        (1, 1) => "1 character".to_owned(),
        (a, b) if a == b => format!("{a} characters"),
        (a, u64::MAX) => format!("{a} or more characters"),
        (a, b) => format!("{a} to {b} characters"),
    };
    if let [_] = bounds {
        fault.notes.push(format!("it is {} wide", characters(width)));
        return;
    }
    for (span, width) in bounds.iter().take(8) {
        fault.notes.push(format!("`{}` is {} wide", slice(*span), characters(*width)));
    }
    let fixed = bounds.iter().all(|(_, width)| width.min == width.max);
    if !fixed || bounds.len() > 16 {
        return;
    }
    let sign = if look.negative { "!" } else { "=" };
    let parts = bounds.iter().map(|(span, _)| format!("(?<{sign}{})", slice(*span)));
    let parts: Vec<String> = parts.collect();
    let joined = parts.join(if look.negative { "" } else { "|" });
    let replacement = format!("(?:{joined})");
    fault.repair = Some(Repair {
        message: "give each width a lookbehind of its own".into(),
        edits: vec![(fault.span, replacement)],
        safe: true,
    });
}
