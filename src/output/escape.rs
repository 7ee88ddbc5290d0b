//! Which characters of the input are shown as they are, and how the others are spelled.
//!
//! One rule for all formats. Shown as it is: what a reader can see and a terminal can place, that
//! is letters, marks, numbers, punctuation, symbols and the plain space. Everything else is spelled
//! as JSON escapes it, `\u202e` (two such for a character beyond U+FFFF), or `\n`, `\r`, `\t`:
//! controls, characters that turn the direction of writing, that have no width or no assignment,
//! spaces that look like the plain one, variation selectors and joiners (an emoji joined of several
//! is shown as its parts). A spelling of JSON, because a reader of a register knows it and can paste
//! it there. A backslash stays a single one.
//!
//! The classes are Unicode's general categories; the width is that of the `unicode-width` crate,
//! because codespan-reporting places its carets by it.

use std::borrow::Cow;

use unicode_general_category::{GeneralCategory, get_general_category};
use unicode_width::UnicodeWidthChar;

/// A text longer than this, in characters, loses its middle where people read it: an id or a pattern
/// that a message quotes can be megabytes long.
const MAX_CHARACTERS: usize = 2000;
/// How many characters of such a text stay behind the gap.
const KEPT_AT_THE_END: usize = 400;

/// How many columns of a terminal `ch` takes, 0 to 2; none if it must not be shown as it is.
pub(super) fn columns(ch: char) -> Option<usize> {
    use GeneralCategory as Is;
    if ch.is_ascii() {
        return (!ch.is_ascii_control()).then_some(1);
    }
    if is_blank(ch) {
        return None;
    }
    let width = ch.width()?;
    match get_general_category(ch) {
        Is::Control
        | Is::Format
        | Is::Surrogate
        | Is::PrivateUse
        | Is::Unassigned
        | Is::LineSeparator
        | Is::ParagraphSeparator
        | Is::SpaceSeparator => None,
        // Where a terminal's table may say otherwise, the place of the caret would be a guess.
        Is::NonspacingMark | Is::EnclosingMark => (width == 0).then_some(0),
        // Vowel signs: letters that everyone can see; of their width terminals say 0 or 1.
        Is::SpacingMark => (width <= 1).then_some(width),
        Is::OtherLetter if is_joining_jamo(ch) => (width == 0).then_some(0),
        _ => (width == 1 || width == 2).then_some(width),
    }
}

/// Characters of a visible category that show nothing: Unicode's property
/// `Default_Ignorable_Code_Point`, as far as the categories do not cover it, and the empty Braille
/// pattern.
fn is_blank(ch: char) -> bool {
    matches!(ch,
        '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{ffa0}'
        | '\u{e0100}'..='\u{e01ef}')
}

/// Vowels and final consonants of Hangul, which join the syllable before them.
fn is_joining_jamo(ch: char) -> bool {
    matches!(ch, '\u{1161}'..='\u{11ff}' | '\u{d7b0}'..='\u{d7ff}')
}

/// Writes the JSON spelling of `ch`.
pub(super) fn push_spelled(out: &mut String, ch: char) {
    match ch {
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        _ => push_numbered(out, ch),
    }
}

/// Writes the `\u` spelling of `ch`.
pub(super) fn push_numbered(out: &mut String, ch: char) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    for unit in ch.encode_utf16(&mut [0; 2]) {
        out.push_str("\\u");
        for shift in [12, 8, 4, 0] {
            out.push(char::from(DIGITS[usize::from(*unit >> shift & 15)]));
        }
    }
}

/// How many columns the JSON spelling of `ch` takes.
pub(super) fn spelled_columns(ch: char) -> usize {
    match ch {
        '\n' | '\r' | '\t' => 2,
        _ => 6 * ch.len_utf16(),
    }
}

/// `text` as people get it: on one line, escaped, the middle of a very long one left out.
pub(super) fn escape(text: &str) -> Cow<'_, str> {
    if text.len() <= MAX_CHARACTERS && text.chars().all(|ch| columns(ch).is_some()) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len().min(2 * MAX_CHARACTERS) + 16);
    // Looks no further than it has to: the text may be megabytes long.
    if let Some((cut, _)) = text.char_indices().nth(MAX_CHARACTERS) {
        let kept = MAX_CHARACTERS - KEPT_AT_THE_END;
        let head = text.char_indices().nth(kept).map_or(cut, |(at, _)| at);
        let tail = text.char_indices().rev().nth(KEPT_AT_THE_END - 1).map_or(cut, |(at, _)| at);
        push_escaped(&mut out, &text[..head]);
        out.push_str(" … ");
        push_escaped(&mut out, &text[tail..]);
    } else {
        push_escaped(&mut out, text);
    }
    Cow::Owned(out)
}

/// Writes `text`, escaped.
fn push_escaped(out: &mut String, text: &str) {
    for ch in text.chars() {
        if columns(ch).is_some() { out.push(ch) } else { push_spelled(out, ch) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_what_can_be_seen() {
        for (text, width) in
            [("aZ~ \\", 1), ("µ→é—…�", 1), ("字😀ｆ", 2), ("\u{301}\u{20dd}\u{1161}\u{bbe}", 0)]
        {
            for ch in text.chars() {
                assert_eq!(columns(ch), Some(width), "{ch:?}");
            }
        }
    }

    #[test]
    fn spells_the_rest_as_json_does() {
        let hostile = "\u{1b}[2J\r\n\t\0\u{7f}\u{85}\u{9b}\u{a0}\u{ad}\u{61c}\u{200b}\u{200d}\u{200e}\
            \u{2028}\u{2029}\u{202e}\u{2066}\u{2069}\u{3000}\u{3164}\u{e000}\u{fe0f}\u{feff}\u{ffff}\
            \u{e0041}\u{e0101}\u{10ffff}\u{378}";
        let shown = escape(hostile);
        assert_eq!(
            shown,
            r"\u001b[2J\r\n\t\u0000\u007f\u0085\u009b\u00a0\u00ad\u061c\u200b\u200d\u200e\u2028\u2029\u202e\u2066\u2069\u3000\u3164\ue000\ufe0f\ufeff\uffff\udb40\udc41\udb40\udd01\udbff\udfff\u0378"
        );
        let spelled: String = serde_json::from_str(&format!("\"{shown}\"")).unwrap();
        assert_eq!(spelled, hostile);
        for ch in hostile.chars().filter(|&ch| columns(ch).is_none()) {
            let mut out = String::new();
            push_spelled(&mut out, ch);
            assert_eq!(out.len(), spelled_columns(ch));
        }
    }

    #[test]
    fn keeps_both_ends_of_a_long_text() {
        assert!(matches!(escape("quick"), Cow::Borrowed("quick")));
        let fits = "é".repeat(MAX_CHARACTERS);
        assert_eq!(escape(&fits), fits);
        let long = format!("a{}z", "é".repeat(3_000_000));
        let shown = escape(&long);
        assert_eq!(shown.chars().count(), MAX_CHARACTERS + 3);
        assert!(shown.starts_with("aé") && shown.ends_with("éz") && shown.contains("é … é"));
    }
}
