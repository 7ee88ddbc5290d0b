//! What `nm` prints of a binary, an object or an archive.
//!
//! ```text
//! 0000000000001139 T one::main            as GNU, LLVM and macOS print it; 8 or 16 digits
//! 0000000000001139 0000000000000026 T f   with sizes, `-S`
//!                  U printf               lives elsewhere
//! a.o:0000000000001139 T f                with file names, `-A`
//! f T 1139 26                             the portable form, `-P`
//! printf U
//! a.o:                                    a member of an archive
//! ```
//! Functions that are defined there, spelled as a profiler prints them, like those that are read from the
//! binary itself. Uses the model of `evidence`.

use std::io::Read;

use super::error::{EvidenceError, Place};
use super::folded::lines;
use super::format::Format;
use super::frames::{Frames, is_frame};
use super::function::{is_v0, printed};
use super::symbols::spelled;
use super::{Notes, Read as Reading};

/// What a line says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Line<'l> {
    /// A symbol that is defined here: its kind and its name.
    Defined(u8, &'l [u8]),
    /// A symbol that is not.
    Undefined,
    /// A member's name, or that it has no symbols.
    Heading,
}

impl<'l> Line<'l> {
    /// None for a line that `nm` does not print; `line` is trimmed.
    fn of(line: &'l [u8]) -> Option<Self> {
        let is_heading =
            line.ends_with(b":") && !line.ends_with(b"::") || line.ends_with(b": no symbols");
        Self::usual(line)
            .or_else(|| Self::portable(line))
            .or_else(|| Self::behind_a_file(line))
            .or(is_heading.then_some(Self::Heading))
    }

    /// `0000000000001139 T name` or `U name`.
    fn usual(line: &'l [u8]) -> Option<Self> {
        let (first, rest) = word(line)?;
        if let [kind] = first {
            return (is_undefined(*kind) && !rest.is_empty()).then_some(Self::Undefined);
        }
        if !is_address(first) {
            return None;
        }
        let (second, after) = word(rest)?;
        let (kind, name) = if is_address(second) { word(after)? } else { (second, after) };
        let [kind] = kind else { return None };
        (is_kind(*kind) && is_name(name)).then_some(Self::Defined(*kind, name))
    }

    /// `name T 1139 26`, `name T 1139` or `name U`.
    fn portable(line: &'l [u8]) -> Option<Self> {
        if line.contains(&b';') {
            return None;
        }
        let (rest, last) = last_word(line)?;
        if matches!(last, [kind] if is_undefined(*kind)) {
            return Some(Self::Undefined);
        }
        let is_number = |word: &[u8]| !word.is_empty() && word.iter().all(u8::is_ascii_hexdigit);
        let (rest, kind) = last_word(rest).filter(|_| is_number(last))?;
        let (rest, kind) = match kind {
            [kind] if is_kind(*kind) => (rest, *kind),
            address if is_number(address) => match last_word(rest)? {
                (rest, [kind]) => (rest, *kind),
                _ => return None,
            },
            _ => return None,
        };
        (is_kind(kind) && is_name(rest)).then_some(Self::Defined(kind, rest))
    }

    /// The usual line behind the name of a file and a colon.
    fn behind_a_file(line: &'l [u8]) -> Option<Self> {
        let colons = memchr::memchr_iter(b':', line);
        let mut rests = colons.filter_map(|at| line.get(at + 1..)).map(<[u8]>::trim_ascii_start);
        // Not of a name that has colons.
        rests.find_map(|rest| Self::usual(rest).filter(|_| !rest.starts_with(b":")))
    }
}

/// The first word, and what stands behind it.
fn word(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = memchr::memchr2(b' ', b'\t', text)?;
    Some((text.get(..end)?, text.get(end..)?.trim_ascii_start()))
}

/// What stands before the last word, and that.
fn last_word(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = memchr::memrchr2(b' ', b'\t', text)?;
    Some((text.get(..at)?.trim_ascii_end(), text.get(at + 1..)?))
}

/// Whether this is an address as it is written in full. Of bitcode there are dashes instead.
pub(super) fn is_address(word: &[u8]) -> bool {
    let is_digit = |b: &u8| b.is_ascii_digit() || (b'a'..=b'f').contains(b);
    matches!(word.len(), 8 | 16) && (word.iter().all(is_digit) || word.iter().all(|b| *b == b'-'))
}

/// Whether `nm` has a kind of this letter.
fn is_kind(kind: u8) -> bool {
    b"AaBbCcDdGgIiNnPpRrSsTtUuVvWw?-".contains(&kind)
}

/// Whether this can be a name: tables of other tools have tabs and more columns.
fn is_name(name: &[u8]) -> bool {
    !name.is_empty() && !name.contains(&b'\t')
}

fn is_undefined(kind: u8) -> bool {
    matches!(kind, b'U' | b'w' | b'v')
}

/// Whether a symbol of this kind is code: in a text section, weak, or chosen when the program starts.
fn is_function(kind: u8) -> bool {
    matches!(kind, b'T' | b't' | b'W' | b'w' | b'i')
}

/// Whether a text that begins with `head`, its first 64 KiB or all of it, is what `nm` prints: each of its lines is
/// one, and at least one has an address.
pub(super) fn is_printed_by_nm(head: &[u8]) -> bool {
    let whole = match memchr::memrchr(b'\n', head) {
        // The last line may be cut.
        Some(end) if head.len() >= super::format::HEAD => head.get(..end).unwrap_or(head),
        _ => head,
    };
    // One short number at the end may be the count of a folded stack.
    let may_be_stack = |line: &[u8]| {
        let kind = |rest| last_word(rest).is_some_and(|(_, kind)| kind.len() == 1);
        Line::usual(line).is_none()
            && last_word(line).is_some_and(|(rest, last)| kind(rest) && !is_address(last))
    };
    let mut is_defined = false;
    for line in whole.split(|&b| b == b'\n').map(<[u8]>::trim_ascii) {
        match Line::of(line) {
            Some(Line::Defined(..)) => is_defined |= !may_be_stack(line),
            Some(_) => {}
            None if line.is_empty() => {}
            None => return false,
        }
    }
    is_defined
}

/// Reads what `nm` printed.
pub(super) fn read(input: impl Read) -> Result<Reading, EvidenceError> {
    let (mut raw, mut notes) = (Frames::default(), Notes::default());
    lines(input, |number, line| {
        match Line::of(line) {
            Some(Line::Defined(kind, name)) if is_function(kind) => {
                let name = String::from_utf8_lossy(name);
                if is_frame(&name) {
                    raw.add(&name)?;
                } else {
                    notes.unfit_names += 1;
                }
            }
            Some(_) => {}
            None => {
                let what = "no symbol as `nm` prints it".to_owned();
                let at = Place::Line(number);
                return Err(EvidenceError::Broken { format: Format::Nm, what, at });
            }
        }
        Ok(())
    })?;
    if raw.is_empty() {
        let what = "no function is defined there".to_owned();
        return Err(EvidenceError::Empty(Format::Nm, Some(what)));
    }
    let is_underscored = is_mach_o(&raw);
    let mut frames = Frames::default();
    for (_, name) in raw.iter() {
        let name = name.strip_prefix('_').filter(|_| is_underscored).unwrap_or(name);
        let name = spelled(name);
        if is_frame(&name) {
            frames.add(&name)?;
        }
    }
    Ok(Reading::symbols(frames, notes))
}

/// Whether the names are those of Mach-O, which has an underscore before each of C's: a program has its own header
/// among them, and else all of them have it and none can be read with it.
fn is_mach_o(names: &Frames) -> bool {
    let is_objective_c = |name: &str| name.starts_with("-[") || name.starts_with("+[");
    let is_mangled = |name: &str| is_v0(name) || printed(name) != name;
    names.find("__mh_execute_header").is_some()
        || names
            .iter()
            .all(|(_, name)| is_objective_c(name) || name.starts_with('_') && !is_mangled(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_every_form() {
        for (line, wanted) in [
            ("0000000000001139 T main", Some(Line::Defined(b'T', b"main"))),
            ("00001139 t -[AGX init:with:]", Some(Line::Defined(b't', b"-[AGX init:with:]"))),
            (
                "0000000000001139 0000000000000026 W ns::f(int, char)",
                Some(Line::Defined(b'W', b"ns::f(int, char)")),
            ),
            ("---------------- T f", Some(Line::Defined(b'T', b"f"))),
            ("U printf", Some(Line::Undefined)),
            ("w __gmon_start__", Some(Line::Undefined)),
            ("main T 0000000000001139 0000000000000026", Some(Line::Defined(b'T', b"main"))),
            ("main T 0000000000001139", Some(Line::Defined(b'T', b"main"))),
            ("_main T 100003f50 0", Some(Line::Defined(b'T', b"_main"))),
            ("ns::f(int, char) T 1139 26", Some(Line::Defined(b'T', b"ns::f(int, char)"))),
            ("printf U", Some(Line::Undefined)),
            ("a.o:0000000000001139 T main", Some(Line::Defined(b'T', b"main"))),
            ("x/lib.a(a.o): 0000000000001139 T a::b", Some(Line::Defined(b'T', b"a::b"))),
            ("a.o:                 U printf", Some(Line::Undefined)),
            ("lib.a[a.o]:", Some(Line::Heading)),
            ("a.o: no symbols", Some(Line::Heading)),
            // Folded stacks and plain names.
            ("GCC_except_table0 r 725c", Some(Line::Defined(b'r', b"GCC_except_table0"))),
            ("main 12", None),
            ("main;f T 1139 26", None),
            ("one::two::three", None),
            ("one::two::", None),
            ("-[AGX init]", None),
            ("deadbeef", None),
            ("0000000000001139 main", None),
            ("0000000000001139 (__TEXT,__text) external _main", None),
            ("0000000000001139 g     F .text\t000000000000001a main", None),
            ("0000000000001139 l     O .bss\t0000000000000001 x", None),
            ("", None),
        ] {
            assert_eq!(Line::of(line.as_bytes()), wanted, "{line}");
        }
    }

    #[test]
    fn all_lines_have_to_be_of_it() {
        assert!(is_printed_by_nm(b"\na.o:\n0000000000001139 T main\n                 U printf\n"));
        assert!(!is_printed_by_nm(b"0000000000001139 T main\nmain\n"));
        assert!(!is_printed_by_nm(b"U printf\n"));
        assert!(is_printed_by_nm(b"main T 10 5\nGCC_except_table0 r 725c \n"));
        assert!(!is_printed_by_nm(b"main T 10\nmain x 12\n"));
        assert!(!is_printed_by_nm(b""));
        let mut long = b"\nlib.o:\n".to_vec();
        long.extend(b"0000000000001139 T a_long_name\n".repeat(3_000));
        long.truncate(super::super::format::HEAD);
        assert!(!long.ends_with(b"\n") && is_printed_by_nm(&long));
        assert_eq!(Format::of(&long), Some(Format::Nm));
    }
}
