//! What fancy-regex makes of the constructs that both dialects have and read in two ways.
//!
//! A pattern is read once as fancy-regex 0.20 reads it, and each construct that means something else to it is
//! written down anew, as CPython would have to spell it. What comes out is a pattern in the consumer's
//! dialect with the other engine's meaning, so both meanings can be compared by the same means. Only what can differ on
//! printable ASCII is looked at: `\w`, `\s` and the like differ beyond it.
//!
//! Uses `span`, and of the pattern nothing but its text. regex-syntax reads sets, as it does for fancy-regex.

use std::fmt::Write as _;

use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, HirKind};

use crate::span::Span;

/// More constructs than these are not looked at.
const MAX_CONSTRUCTS: usize = 64;

/// A fix that spells a set out with more ranges than these is not worth reading.
const MAX_RANGES: usize = 8;

/// A construct that the two engines read in two ways.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Construct {
    /// Its characters, in bytes of the pattern.
    pub span: Span,
    /// What it is to CPython.
    pub python: String,
    /// What it is to fancy-regex.
    pub rust: String,
    /// What fancy-regex takes it for, as CPython spells it; none where no frame can tell.
    pub spelled: Option<String>,
    /// A spelling that both read alike, and whether it is CPython's meaning that it keeps.
    pub plain: Option<(String, bool)>,
}

/// The constructs of `text` that fancy-regex reads in another way than CPython, in order. None in most patterns, which
/// takes one look at their bytes. `text` is one that CPython compiles; of one that fancy-regex refuses there may be any.
pub fn constructs(text: &str) -> Vec<Construct> {
    let bytes = text.as_bytes();
    let suspicious = bytes.windows(2).any(|pair| {
        matches!(pair, b"(?" | b"\\<" | b"\\>" | b"\\N" | b"\\Z" | b"\\b") || pair[0] == b'['
    });
    if !suspicious {
        return Vec::new();
    }
    let mut reader =
        Reader { text, bytes, at: 0, flags: Flags::default(), open: Vec::new(), found: Vec::new() };
    // Where fancy-regex refuses the pattern there is nothing to compare.
    if reader.read().is_some() { reader.found } else { Vec::new() }
}

/// `text` with the meaning that fancy-regex gives to `constructs`, in CPython's spelling.
pub fn respelled<'c>(text: &str, constructs: impl IntoIterator<Item = &'c Construct>) -> String {
    let (mut out, mut at) = (String::with_capacity(text.len() + 16), 0);
    for construct in constructs {
        let range = construct.span.range();
        if let (Some(spelled), Some(between)) = (&construct.spelled, text.get(at..range.start)) {
            out.push_str(between);
            out.push_str(spelled);
            at = range.end;
        }
    }
    out.push_str(text.get(at..).unwrap_or_default());
    out
}

#[derive(Debug, Clone, Copy, Default)]
struct Flags {
    fold: bool,
    lines: bool,
    verbose: bool,
}

struct Reader<'t> {
    text: &'t str,
    bytes: &'t [u8],
    at: usize,
    flags: Flags,
    /// The flags outside of each open group.
    open: Vec<Flags>,
    found: Vec<Construct>,
}

impl<'t> Reader<'t> {
    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn byte(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.at + ahead).copied()
    }

    /// Notes that the next `len` bytes are a construct, and passes over them.
    fn found(
        &mut self,
        len: usize,
        python: String,
        rust: &str,
        spelled: &str,
        plain: Option<(String, bool)>,
    ) {
        let span = Span::new(self.at, self.at + len);
        let (rust, spelled) = (rust.to_owned(), Some(spelled.to_owned()));
        self.found.push(Construct { span, python, rust, spelled, plain });
        self.at += len;
    }

    /// Reads to the end; `None` where fancy-regex is known to refuse what stands there.
    fn read(&mut self) -> Option<()> {
        while let Some(byte) = self.byte(0) {
            if self.found.len() >= MAX_CONSTRUCTS {
                break;
            }
            match byte {
                b'\\' => self.escape()?,
                b'[' => self.class()?,
                b'(' => self.group()?,
                b')' => {
                    self.flags = self.open.pop().unwrap_or(self.flags);
                    self.at += 1;
                }
                b'#' if self.flags.verbose => {
                    self.at += self.rest().find('\n').map_or(self.rest().len(), |end| end + 1);
                }
                b'{' if self.flags.verbose => self.spaced_count(),
                _ => {
                    let c = self.rest().chars().next()?;
                    self.folded(c, c.len_utf8());
                }
            }
        }
        Some(())
    }

    /// A literal of `len` bytes. CPython takes i, I, İ and ı for one letter, Unicode's simple folding does not.
    fn folded(&mut self, c: char, len: usize) {
        if self.flags.fold && matches!(c, 'İ' | 'ı') {
            self.found(
                len,
                "the letter `i` too, under `(?i)`".to_owned(),
                "a letter of its own",
                &format!("(?-i:{c})"),
                Some((format!("(?-i:{c})"), false)),
            );
        } else {
            self.at += len;
        }
    }

    fn escape(&mut self) -> Option<()> {
        match self.byte(1)? {
            b'<' => self.found(
                2,
                "a `<`".into(),
                "the start of a word",
                r"(?:\b(?=\w))",
                Some(("<".into(), true)),
            ),
            b'>' => self.found(
                2,
                "a `>`".into(),
                "the end of a word",
                r"(?:\b(?<=\w))",
                Some((">".into(), true)),
            ),
            b'N' if self.byte(2) == Some(b'{') => {
                let len = self.rest().find('}')? + 1;
                let named = self.rest().get(2..len)?.to_owned();
                let name = named.trim_matches(['{', '}']).to_owned();
                let plain = unicode_names2::character(&name)
                    .filter(|c| c.is_alphanumeric() || !c.is_ascii() && !c.is_control())
                    .map(|c| (c.to_string(), true));
                self.found(
                    len,
                    format!("the character named {name}"),
                    &format!("any character, and then the text `{named}`"),
                    &format!(r"[^\n]\{named}"),
                    plain,
                );
            }
            b'Z' if !self.flags.lines => {
                let span = Span::new(self.at, self.at + 2);
                let (python, rust) = (
                    "the very end".to_owned(),
                    "also the place before line feeds at the end".to_owned(),
                );
                // Only a line feed at the end tells `$` from it, in either dialect.
                let plain = Some(("$".to_owned(), true));
                self.found.push(Construct { span, python, rust, spelled: None, plain });
                self.at += 2;
            }
            b'b' if self.byte(2) == Some(b'{') => {
                let len = self.rest().find('}')? + 1;
                let word = self.rest().get(2..len)?.to_owned();
                let (rust, spelled) = match word.as_str() {
                    "{start}" => ("the start of a word", r"(?:\b(?=\w))"),
                    "{end}" => ("the end of a word", r"(?:\b(?<=\w))"),
                    "{start-half}" => ("a place without a word character before it", r"(?<!\w)"),
                    "{end-half}" => ("a place without a word character after it", r"(?!\w)"),
                    _ => {
                        self.at += 2;
                        return Some(());
                    }
                };
                let python = format!("a word boundary and then the text `{word}`");
                self.found(len, python, rust, spelled, Some((spelled.to_owned(), false)));
            }
            b'x' | b'u' | b'U' => {
                let (c, len) = hex(self.rest())?;
                self.folded(c, len);
            }
            _ => self.at += 1 + self.rest().chars().nth(1).map_or(0, char::len_utf8),
        }
        Some(())
    }

    fn group(&mut self) -> Option<()> {
        if self.rest().starts_with("(?#") {
            return self.comment();
        }
        let outside = self.flags;
        let Some(b'?') = self.byte(1) else {
            self.open.push(outside);
            self.at += 1;
            return Some(());
        };
        let header = self.rest();
        if header.starts_with("(?(") {
            return self.conditional();
        }
        let after = header.as_bytes().get(2..).unwrap_or_default();
        let len = match after {
            [b'P', b'=', ..] => {
                // `(?P=name)` has no inside.
                self.at += header.find(')')? + 1;
                return Some(());
            }
            [b'P', ..] => header.find('>')? + 1,
            [b'<', ..] => 4,
            [b'=' | b'!' | b'>' | b':', ..] => 3,
            _ => {
                let end = header.find([')', ':'])?;
                let mut on = true;
                for flag in header.get(2..end)?.bytes() {
                    match flag {
                        b'-' => on = false,
                        b'i' => self.flags.fold = on,
                        b'm' => self.flags.lines = on,
                        b'x' => self.flags.verbose = on,
                        b'a' | b'L' => return None,
                        _ => {}
                    }
                }
                if self.byte(end) == Some(b')') {
                    self.at += end + 1;
                    return Some(());
                }
                end + 1
            }
        };
        self.open.push(outside);
        self.at += len;
        Some(())
    }

    /// `(?#…)`: to fancy-regex a backslash in it escapes the bracket that would end it.
    fn comment(&mut self) -> Option<()> {
        let python = self.rest().find(')')? + 1;
        let (mut len, bytes) = (3, self.rest().as_bytes());
        while *bytes.get(len)? != b')' {
            len += if bytes.get(len) == Some(&b'\\') { 2 } else { 1 };
        }
        len += 1;
        if len == python {
            self.at += len;
        } else {
            let said = "a comment that ends at the first `)`".to_owned();
            self.found(len, said, "a comment that goes on behind an escaped `)`", "(?:)", None);
        }
        Some(())
    }

    /// `(?(name)yes|no)`: to fancy-regex the name is a pattern that is matched here.
    fn conditional(&mut self) -> Option<()> {
        let header = self.rest().find(')')? + 1;
        let name = self.rest().get(3..header - 1)?.to_owned();
        if name.bytes().all(|b| b.is_ascii_digit()) || name == "DEFINE" {
            self.open.push(self.flags);
            self.at += header;
            return Some(());
        }
        let end = self.bracket_end(header)?;
        let body = self.rest().get(header..end - 1)?.to_owned();
        let bar = bar(&body);
        let (yes, no) = (body.get(..bar)?, body.get(bar + 1..).unwrap_or_default());
        let spelled = format!("(?:(?>{name}){yes}|(?!{name})(?:{no}))");
        self.found(
            end,
            format!("a question: did the group `{name}` take part?"),
            &format!("another one: does the text `{name}` stand here?"),
            &spelled,
            None,
        );
        Some(())
    }

    /// The length up to the bracket that closes the group at hand, whose body begins at `from`.
    fn bracket_end(&self, from: usize) -> Option<usize> {
        let (mut depth, mut at) = (1, from);
        let bytes = self.rest().as_bytes();
        loop {
            match *bytes.get(at)? {
                b'\\' => at += 1,
                b'[' => at += class_len(bytes.get(at..)?)? - 1,
                b'(' => depth += 1,
                b')' => depth -= 1,
                _ => {}
            }
            at += 1;
            if depth == 0 {
                return Some(at);
            }
        }
    }

    /// `{2, 3}` in verbose mode: to fancy-regex it is a count.
    fn spaced_count(&mut self) {
        let inside = |c: char| c.is_ascii_digit() || matches!(c, ',' | ' ' | '\t' | '\n' | '\r');
        let len = self.rest().get(1..).and_then(|rest| rest.find(|c| !inside(c))).map(|at| at + 2);
        let Some((len, text)) = len
            .and_then(|len| Some((len, self.rest().get(..len)?)))
            .filter(|(_, text)| text.ends_with('}') && text.contains(|c: char| c.is_ascii_digit()))
        else {
            self.at += 1;
            return;
        };
        let tight: String = text.chars().filter(|c| !c.is_ascii_whitespace()).collect();
        if tight.len() == len {
            self.at += len;
        } else {
            self.found(
                len,
                format!("the text `{tight}`"),
                &format!("the count `{tight}`"),
                &tight,
                None,
            );
        }
    }

    fn class(&mut self) -> Option<()> {
        if let Some(len) = plain_class(self.rest(), self.flags.fold) {
            self.at += len;
            return Some(());
        }
        let len = class_len(self.rest().as_bytes())?;
        let source = self.rest().get(..len)?.to_owned();
        let ranges = set(&source, self.flags.fold)?;
        let spelled = spell(&ranges);
        let (python, rust) = class_words(&source);
        let plain = (ranges.len().min(complement(&ranges).len()) <= MAX_RANGES && !self.flags.fold)
            .then(|| (spelled.clone(), false));
        self.found(len, python.to_owned(), rust, &format!("(?-i:{spelled})"), plain);
        Some(())
    }
}

/// What the two engines make of a set.
fn class_words(source: &str) -> (&'static str, &'static str) {
    if source.contains("[:") {
        ("a set that ends at the first `]`", "the characters of a POSIX class")
    } else if source.contains("&&") {
        ("a set that has `&` in it", "what two sets have in common")
    } else if source.contains("--") {
        ("a set, with a `-` that stands for itself or a range", "one set without another")
    } else if source.contains("~~") {
        ("a set that has `~` in it", "what only one of two sets has")
    } else if source.get(1..).is_some_and(|inside| inside.contains('[')) {
        ("a set that ends at the first `]`", "a set with a set in it")
    } else {
        ("a set in which `(?i)` takes i, İ and ı for one letter", "a set in which they are three")
    }
}

/// The place of the first bar of `body` that stands in no bracket; its length where there is none.
fn bar(body: &str) -> usize {
    let (bytes, mut depth, mut at) = (body.as_bytes(), 0u32, 0);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 1,
            b'[' => at += bytes.get(at..).and_then(class_len).unwrap_or(1) - 1,
            b'(' => depth += 1,
            b')' => depth = depth.saturating_sub(1),
            b'|' if depth == 0 => return at,
            _ => {}
        }
        at += 1;
    }
    body.len()
}

/// The length of the set that `text` begins with, if it is of a shape that both read alike, as far as frames of
/// printable ASCII can tell.
fn plain_class(text: &str, fold: bool) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = if bytes.get(1) == Some(&b'^') { 2 } else { 1 };
    let first = at;
    loop {
        match *bytes.get(at)? {
            b']' if at > first => return Some(at + 1),
            b'\\' if matches!(bytes.get(at + 1)?, b'x' | b'u' | b'U') => {
                at += plain_range(text.get(at..)?, fold)?;
            }
            b'\\' if bytes.get(at + 1)?.is_ascii_alphabetic() => {
                if fold && bytes.get(at + 1) == Some(&b'N') {
                    return None;
                }
                at += 2;
            }
            b'\\' if bytes.get(at + 1)?.is_ascii_punctuation() => at += 2,
            b'-' => {
                // At either end, or next to an escape.
                let edge = at == first || bytes.get(at + 1) == Some(&b']');
                let escape = bytes.get(at + 1) == Some(&b'\\')
                    || bytes.get(at.wrapping_sub(2)) == Some(&b'\\');
                if !edge && !escape {
                    return None;
                }
                at += 1;
            }
            b'[' | b']' | b'\\' => return None,
            b'&' | b'~' if bytes.get(at + 1) == bytes.get(at) => return None,
            _ => at += plain_range(text.get(at..)?, fold)?,
        }
    }
}

/// The length of the range that `text` begins with, or of its first character, if both read it alike.
fn plain_range(text: &str, fold: bool) -> Option<usize> {
    let (start, mut len) = in_set(text)?;
    let rest = text.get(len..)?;
    let is_plain = start.is_ascii_alphanumeric() || !start.is_ascii() || text.starts_with('\\');
    let end = rest.strip_prefix('-').filter(|_| is_plain).and_then(in_set);
    let end = end.filter(|(end, len)| end.is_ascii_alphanumeric() || *len > 1);
    len += end.map_or(0, |(_, len)| 1 + len);
    // Python takes İ and ı for an i where case is ignored, Rust does not; where i is in it too it is all one.
    let range = start..=end.map_or(start, |end| end.0);
    let has_odd_i = range.contains(&'İ') || range.contains(&'ı');
    (!fold || !has_odd_i || range.contains(&'i')).then_some(len)
}

/// The character that `text` begins with in a set, if it is one that is written as it is or by its number, and the
/// bytes that it takes.
fn in_set(text: &str) -> Option<(char, usize)> {
    match *text.as_bytes() {
        [b'\\', b'x' | b'u' | b'U', ..] => hex(text),
        [b'\\', ..] => None,
        _ => text.chars().next().map(|c| (c, c.len_utf8())),
    }
}

/// The length of the set that `bytes` begins with, as fancy-regex finds its end.
fn class_len(bytes: &[u8]) -> Option<usize> {
    let opened = |at: usize| {
        let at = if bytes.get(at) == Some(&b'^') { at + 1 } else { at };
        if bytes.get(at) == Some(&b']') { at + 1 } else { at }
    };
    let (mut depth, mut at) = (1, opened(1));
    loop {
        match *bytes.get(at)? {
            b'\\' => at += 2,
            b'[' => {
                depth += 1;
                at = opened(at + 1);
            }
            b']' => {
                depth -= 1;
                at += 1;
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => at += 1,
        }
    }
}

/// The character that an escape by its number stands for, and the length of the escape.
pub(super) fn hex(text: &str) -> Option<(char, usize)> {
    let digits = match text.as_bytes().get(1)? {
        b'x' => 2,
        b'u' => 4,
        _ => 8,
    };
    let number = u32::from_str_radix(text.get(2..2 + digits)?, 16).ok()?;
    Some((char::from_u32(number)?, 2 + digits))
}

/// The characters of a set of fancy-regex; `None` where it refuses the set.
fn set(source: &str, fold: bool) -> Option<Vec<(char, char)>> {
    let mut translated = String::with_capacity(source.len());
    let mut chars = source.char_indices();
    while let Some((at, c)) = chars.next() {
        if c != '\\' {
            translated.push(c);
            continue;
        }
        let (_, escaped) = chars.next()?;
        let literal = match escaped {
            'd' | 'D' | 's' | 'S' | 'w' | 'W' => {
                translated.push('\\');
                translated.push(escaped);
                continue;
            }
            'a' => '\u{7}',
            'b' => '\u{8}',
            't' => '\t',
            'n' => '\n',
            'v' => '\u{b}',
            'f' => '\u{c}',
            'r' => '\r',
            'x' | 'u' | 'U' => {
                let (c, len) = hex(source.get(at..)?)?;
                for _ in 2..len {
                    chars.next();
                }
                c
            }
            c if c.is_ascii_alphanumeric() => return None,
            c => c,
        };
        translated.push_str(&regex_syntax::escape(literal.encode_utf8(&mut [0; 4])));
    }
    let hir = ParserBuilder::new().case_insensitive(fold).build().parse(&translated).ok()?;
    match hir.kind() {
        HirKind::Class(Class::Unicode(class)) => {
            Some(class.ranges().iter().map(|range| (range.start(), range.end())).collect())
        }
        HirKind::Class(Class::Bytes(class)) => Some(
            class.ranges().iter().map(|range| (range.start().into(), range.end().into())).collect(),
        ),
        HirKind::Literal(literal) => {
            let c = std::str::from_utf8(&literal.0).ok()?.chars().next()?;
            Some(vec![(c, c)])
        }
        _ => None,
    }
}

/// The ranges between those of a set, which are sorted.
fn complement(ranges: &[(char, char)]) -> Vec<(char, char)> {
    let mut out = Vec::new();
    let mut next = Some('\0');
    for &(start, end) in ranges {
        if let Some(from) = next.filter(|from| *from < start)
            && let Some(to) = (from..start).next_back()
        {
            out.push((from, to));
        }
        next = (end..=char::MAX).nth(1);
    }
    out.extend(next.map(|from| (from, char::MAX)));
    out
}

/// A set as CPython spells it.
fn spell(ranges: &[(char, char)]) -> String {
    let others = complement(ranges);
    let (ranges, sign) = match ranges {
        [] => return "(?!)".to_owned(),
        [.., (_, char::MAX)] if !others.is_empty() => (others.as_slice(), "^"),
        ranges => (ranges, ""),
    };
    let mut out = format!("[{sign}");
    for &(start, end) in ranges {
        push_char(&mut out, start);
        if end > start {
            if (start..end).nth(1).is_some() {
                out.push('-');
            }
            push_char(&mut out, end);
        }
    }
    out.push(']');
    out
}

fn push_char(out: &mut String, c: char) {
    // Writing to a string does not fail.
    let _ = match c {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '_' => write!(out, "{c}"),
        ' '..='~' => write!(out, "\\{c}"),
        '\0'..='\u{ff}' => write!(out, "\\x{:02x}", u32::from(c)),
        '\u{100}'..='\u{ffff}' => write!(out, "\\u{:04x}", u32::from(c)),
        _ => write!(out, "\\U{:08x}", u32::from(c)),
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> String {
        respelled(text, &constructs(text))
    }

    #[test]
    fn spells_what_fancy_regex_reads() {
        let cases = [
            ("x[[ab]c]y", "x(?-i:[a-c])y"),
            ("q[a-z&&[^b]]r", "q(?-i:[ac-z])r"),
            ("[[:digit:]]+", "(?-i:[0-9])+"),
            ("[a-z--aeiou]", "(?-i:[b-df-hj-np-tv-z])"),
            ("[a&&b]", "(?-i:(?!))"),
            (r"p\N{BULLET}", r"p[^\n]\{BULLET}"),
            (r"\<foo\>", r"(?:\b(?=\w))foo(?:\b(?<=\w))"),
            (r"\b{start}a\b{2}", r"(?:\b(?=\w))a\b{2}"),
            ("(?P<n>a)?(?(n)b|c)d", "(?P<n>a)?(?:(?>n)b|(?!n)(?:c))d"),
            ("(?i)ı|(?-i:ı)", "(?i)(?-i:ı)|(?-i:ı)"),
            (r"(?i)\u0131", "(?i)(?-i:ı)"),
            ("(?i)[ı]", r"(?i)(?-i:[\u0131])"),
            (r"(?i)[\u0131]", r"(?i)(?-i:[\u0131])"),
            (r"(?i)[\u0130-\u0130]", r"(?i)(?-i:[\u0130])"),
            ("(?i)[İ-ı]", r"(?i)(?-i:[\u0130\u0131])"),
            ("(?i)[^į-ı]", r"(?i)(?-i:[^\u012e-\u0131])"),
            (r"(?#a\)b)c", "(?:)c"),
            ("(?x)a{2, 3}", "(?x)a{2,3}"),
        ];
        for (text, expected) in cases {
            assert_eq!(read(text), expected, "{text}");
        }
    }

    #[test]
    fn leaves_the_rest_alone() {
        for text in [
            r"\w+\b\s*[\w-]",
            "[a-z]|[^a-z_]",
            r"[\[\]]",
            "(?i)ab[c-d]",
            "(?:a)(?=b)(?P<n>c)(?P=n)",
            "(a)(?(1)b|c)",
            "(?#plain)a",
            "(?x) a # [[b]",
            "a{2, 3}",
            r"\\<",
            r"foo\.bar",
            "[-a][a-]",
            // Other characters, and ranges of them, whose case both fold alike as far as ASCII goes.
            "[а-я][à-ÿ_]",
            "(?i)[а-яё][à-ÿ][Å][ſK]",
            r"(?i)[\u0400-\u04ff\xe9-\u0120\U0001F600-\U0001F64F\x41-z]",
            "(?i)[A-ſ][^a-\u{3fff}]",
            "-[AGXG init]",
        ] {
            assert_eq!(read(text), text);
            assert!(constructs(text).is_empty(), "{text}");
        }
        assert_eq!(constructs(r"a\Z").len(), 1);
        assert_eq!(read(r"a\Z"), r"a\Z");
        assert!(constructs(r"(?m)a\Z").is_empty());
    }
}
