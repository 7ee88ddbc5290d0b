//! Folded stacks, and lists of names: a line each.
//!
//! A folded line is frames from the outermost in, divided by `;`, then a space and a count. Uses
//! the model of `evidence`.

use std::io::{BufRead, BufReader, Read};

use super::bounds::{self, Capped};
use super::error::{EvidenceError, Place};
use super::format::Format;
use super::frames::{FrameId, Frames, is_frame};
use super::trace::{Stacks, Time, Trace, Unit};
use super::{Notes, Read as Reading};

/// The stack and the count of a folded line. A fraction of a count is given apart.
pub(crate) fn split(line: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let at = memchr::memrchr2(b' ', b'\t', line)?;
    let (stack, count) = (line.get(..at)?.trim_ascii_end(), line.get(at + 1..)?);
    let (whole, fraction) = match memchr::memchr(b'.', count) {
        Some(dot) => (count.get(..dot)?, count.get(dot + 1..)?),
        None => (count, &[][..]),
    };
    let is_count = !whole.is_empty() && [whole, fraction].concat().iter().all(u8::is_ascii_digit);
    (is_count && !stack.is_empty()).then_some((stack, whole, fraction))
}

/// Goes over the lines that are not empty and no comment, trimmed.
pub(super) fn lines(
    input: impl Read,
    mut each: impl FnMut(u64, &[u8]) -> Result<(), EvidenceError>,
) -> Result<(), EvidenceError> {
    // A stack may have more than one name.
    const LINE: u64 = 32 << 20;
    let mut input = BufReader::with_capacity(1 << 16, Capped::new(input, bounds::LIST_BYTES));
    let (mut line, mut number) = (Vec::new(), 0);
    loop {
        line.clear();
        number += 1;
        if (&mut input).take(LINE + 1).read_until(b'\n', &mut line)? == 0 {
            return Ok(());
        }
        bounds::check("lines", number as usize, bounds::LINES as usize)?;
        bounds::check("bytes in a line", line.len(), LINE as usize)?;
        let text = line.strip_prefix(b"\xef\xbb\xbf").filter(|_| number == 1).unwrap_or(&line);
        let text = text.trim_ascii();
        if !text.is_empty() && !text.starts_with(b"#") {
            each(number, text)?;
        }
    }
}

/// Reads folded stacks.
pub(super) fn read(input: impl Read) -> Result<Reading, EvidenceError> {
    let (mut frames, mut stacks, mut notes) =
        (Frames::default(), Stacks::default(), Notes::default());
    let mut stack: Vec<FrameId> = Vec::new();
    lines(input, |number, line| {
        let broken = |what: &str| EvidenceError::Broken {
            format: Format::Folded,
            what: what.to_owned(),
            at: Place::Line(number),
        };
        let Some((names, whole, fraction)) = split(line) else {
            return Err(broken("no count at the end"));
        };
        if names.contains(&b';') && split(names).is_some() {
            return Err(broken("two counts at the end, as in the difference of two traces,"));
        }
        let count = std::str::from_utf8(whole).ok().and_then(|whole| whole.parse().ok());
        let count: u64 = count.ok_or_else(|| broken("a count above 2^64"))?;
        notes.fractions += u64::from(fraction.iter().any(|&digit| digit != b'0'));
        stack.clear();
        for name in names.split(|&b| b == b';') {
            let name = String::from_utf8_lossy(name.trim_ascii());
            if is_frame(&name) {
                stack.push(frames.add(&name)?);
            } else {
                notes.unfit_names += 1;
            }
        }
        let id = stacks.add(&stack)?;
        stacks.sample(id, Time::full(count))
    })?;
    let trace = Trace::new(Unit::Samples, stacks, &frames);
    Ok(Reading::trace(frames, trace, notes))
}

/// Whether a line can be a name as profilers print them: one word, or the form of a language whose names have spaces.
/// No prose, no row of a table, no line of a log.
fn looks_like_a_name(line: &[u8]) -> bool {
    let Some(end) = memchr::memchr2(b' ', b'\t', line) else {
        return line.iter().any(|b| b.is_ascii_alphabetic() || *b >= 0x80);
    };
    let first = line.get(..end).unwrap_or_default();
    let is_number = first.iter().all(u8::is_ascii_hexdigit) && first.iter().any(u8::is_ascii_digit);
    let has = |parts: &[&[u8]]| parts.iter().any(|part| memchr::memmem::find(line, part).is_some());
    let is_row = has(&[b" |", b"| ", b"\t", b". ", b": "]) || line.ends_with(b".");
    !is_number && !is_row && has(&[b"(", b"<", b"[", b"::", b"operator", b"{"])
}

/// Reads a list of names; where nobody said that it is one, it has to look like one.
pub(super) fn read_names(input: impl Read, is_said: bool) -> Result<Reading, EvidenceError> {
    let (mut frames, mut notes) = (Frames::default(), Notes::default());
    let (mut names, mut others) = (0_u64, 0_u64);
    lines(input, |number, line| {
        if line.starts_with(b"<<<<<<< ") {
            let what = "a conflict of git".to_owned();
            let at = Place::Line(number);
            return Err(EvidenceError::Broken { format: Format::Names, what, at });
        }
        let is_first_word = |end| line.get(..end).is_some_and(super::nm::is_address);
        if frames.is_empty() && memchr::memchr2(b' ', b'\t', line).is_some_and(is_first_word) {
            let what = "they have addresses before them; name the binary itself, or what `nm` prints of it";
            return Err(EvidenceError::Empty(Format::Names, Some(what.to_owned())));
        }
        if looks_like_a_name(line) {
            names += 1;
        } else {
            others += 1;
        }
        let name = String::from_utf8_lossy(line);
        if is_frame(&name) {
            frames.add(&name)?;
        } else {
            notes.unfit_names += 1;
        }
        Ok(())
    })?;
    if !is_said && others > names {
        return Err(EvidenceError::NotNames);
    }
    Ok(Reading::symbols(frames, notes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_and_tables_are_no_names() {
        for name in [
            "main",
            "mlx::device::MlxDevice::alloc_buffer::h0123456789abcdef",
            "-[AGXG17XFamilyComputeContext initWithCommandBuffer:config:]",
            "_$LT$impl$u20$core..fmt..Display$u20$for$u20$u8$GT$::fmt",
            "<alloc::vec::Vec<T> as core::ops::Drop>::drop",
            "void ns::f<int>(int, char const*)",
            "operator new(unsigned long)",
            "__45-[NSView _layout]_block_invoke",
            "größe",
        ] {
            assert!(looks_like_a_name(name.as_bytes()), "{name}");
        }
        for other in [
            "Traces are large, so a snapshot is what a repository keeps.",
            "hf2q 12 1.0: 25 cycles:",
            "ffff81 mlx::device::MlxDevice::alloc_buffer+0x10 (/usr/bin/hf2q)",
            "| rule | what (it) says |",
            "main                |0000000000001139|   T  |              FUNC|",
            "[[[[",
            "12",
            "U free",
            "Export failed: Unexpected failure (lldb)",
        ] {
            assert!(!looks_like_a_name(other.as_bytes()), "{other}");
        }
        let read = |text: &str, is_said| read_names(text.as_bytes(), is_said);
        assert!(matches!(
            read("this is prose\nmain\nthis too\n", false),
            Err(EvidenceError::NotNames)
        ));
        assert!(read("this is prose\n", true).is_ok() && read("a b\nmain\nf\n", false).is_ok());
    }

    #[test]
    fn a_line_is_split_at_its_count() {
        for (line, parts) in [
            ("a;b 12", Some(("a;b", "12", ""))),
            ("a;b\t12", Some(("a;b", "12", ""))),
            ("-[A b];c d 1.50", Some(("-[A b];c d", "1", "50"))),
            ("a b", None),
            ("a 1x", None),
            (" 1", None),
            ("12", None),
            ("a .5", None),
        ] {
            let as_bytes = parts.map(|(a, b, c)| (a.as_bytes(), b.as_bytes(), c.as_bytes()));
            assert_eq!(split(line.as_bytes()), as_bytes, "{line}");
        }
    }
}
