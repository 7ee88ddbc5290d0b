//! From a frame to the function that it is of.
//!
//! Uses nothing of the crate.

use std::borrow::Cow;
use std::fmt;

/// Longer names are taken as they are.
const LONGEST: usize = 1 << 16;

/// A function: what frames of its copies, its closures and its generic instances have in common.
///
/// The key of a frame, in this order:
/// 1. a v0 name (`_R…`) and a mangled legacy or C++ name (`_ZN…`) are demangled;
/// 2. the hash (`::h` and 16 hexadecimal digits) goes, and what compilers add to a copy after it:
///    `.llvm.…`, `.cold`, `.part.0` and the like;
/// 3. the escapes of legacy Rust names are undone (`_$LT$` is `<`, `..` is `::`), so both
///    spellings are one;
/// 4. trailing segments in braces go: `{{closure}}`, `{closure#0}`, `{shim:vtable#0}`;
/// 5. generic arguments go, of a path's segments and turbofish: `Vec<T>::push`, `max::<u8>`. Those
///    between `<… as …>` and `<impl … for …>` stay, since there they tell one function from another;
/// 6. an inherent method is written as a path: `<a::T>::f` is `a::T::f`.
///
/// Objective-C names and C's are taken as they are; C++ keeps its parameters, since overloads are
/// different functions.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Function(String);

impl Function {
    /// The function that a frame is of.
    pub fn of(frame: &str) -> Self {
        let is_objective_c = frame.starts_with("-[") || frame.starts_with("+[");
        if is_objective_c || frame.len() > LONGEST {
            return Self(frame.to_owned());
        }
        let text = demangled(frame);
        let text = without_closures(&text);
        Self(without_arguments(text))
    }

    /// Its key, which reads as a path.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The segments of its path, from the crate to its own name. A method of a trait has the path
    /// of its type: `<a::T as b::Trait>::f` has `a`, `T`, `f`; one of an `<impl … for …>` that of
    /// where it stands. An Objective-C method has its class and its selector.
    pub fn segments(&self) -> Vec<&str> {
        if let Some(method) = self.0.strip_prefix(['-', '+']).and_then(|m| m.strip_prefix('[')) {
            let method = method.strip_suffix(']').unwrap_or(method);
            let (class, selector) = method.split_once(' ').unwrap_or(("", method));
            return [class, selector].into_iter().filter(|part| !part.is_empty()).collect();
        }
        let mut found = Vec::new();
        for (at, part) in segments(&self.0).enumerate() {
            match part.strip_prefix('<') {
                Some(inner) if at == 0 => {
                    let inner = inner.strip_suffix('>').unwrap_or(inner);
                    let own = inner.find(" as ").and_then(|end| inner.get(..end)).unwrap_or(inner);
                    // The arguments, references and pointers of the type are no path.
                    let own = own.trim_start_matches(['&', '*', '(', '[']);
                    let own = own.trim_start_matches("mut ").trim_start_matches("const ");
                    let own = own.trim_start_matches("dyn ");
                    found.extend(segments(own).map(name_of).filter(|name| !name.is_empty()));
                }
                // `<impl Trait for Type>`.
                Some(_) => {}
                None => found.push(name_of(part)),
            }
        }
        found.retain(|name| !name.is_empty());
        found
    }
}

impl fmt::Display for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The identifier that a segment begins with; all of it where it begins with something else.
fn name_of(segment: &str) -> &str {
    let end = segment.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '$'));
    match end {
        Some(end) if end > 0 => segment.get(..end).unwrap_or(segment),
        _ => segment,
    }
}

/// The parts between the `::` that are not inside of brackets.
fn segments(path: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(path);
    std::iter::from_fn(move || {
        let text = rest?;
        let bytes = text.as_bytes();
        let (mut depth, mut at) = (0_usize, 0);
        while let Some(&b) = bytes.get(at) {
            match b {
                b'<' | b'(' | b'[' | b'{' => depth += 1,
                // Not of `->` or `operator>`.
                b'>' if at > 0 && bytes.get(at - 1) == Some(&b'-') => {}
                b'>' | b')' | b']' | b'}' => depth = depth.saturating_sub(1),
                b':' if depth == 0 && bytes.get(at + 1) == Some(&b':') => {
                    rest = text.get(at + 2..);
                    return text.get(..at);
                }
                _ => {}
            }
            at += 1;
        }
        rest = None;
        Some(text)
    })
}

/// A frame without its hash, and whether it had one.
pub fn without_hash(frame: &str) -> (&str, bool) {
    let split = frame.len().checked_sub(19).and_then(|at| frame.split_at_checked(at));
    match split {
        Some((path, hash)) if is_hash(hash) && !path.is_empty() => (path, true),
        _ => (frame, false),
    }
}

fn is_hash(text: &str) -> bool {
    let digits = text.strip_prefix("::h").unwrap_or_default();
    let is_digit = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
    digits.len() == 16 && digits.bytes().all(is_digit)
}

/// Whether a name is in Rust's v0 mangling. Hints only: the check is that it demangles.
pub fn is_v0(frame: &str) -> bool {
    frame.starts_with("_R") && frame.len() <= LONGEST && rustc_demangle::try_demangle(frame).is_ok()
}

/// A frame as its author would write it, for hints: demangled, without hash and escapes.
pub fn demangled(frame: &str) -> Cow<'_, str> {
    if frame.len() > LONGEST {
        return Cow::Borrowed(frame);
    }
    if frame.starts_with("_R")
        && let Ok(name) = rustc_demangle::try_demangle(frame)
        && let Some(name) = shown(&format_args!("{name:#}"))
    {
        return Cow::Owned(name);
    }
    match printed(frame) {
        Cow::Borrowed(name) => unescaped(without_hash(without_suffix(name)).0),
        Cow::Owned(name) => {
            Cow::Owned(unescaped(without_hash(without_suffix(&name)).0).into_owned())
        }
    }
}

/// A symbol as a profiler prints it: legacy Rust names with their segments joined, C++ demangled,
/// all else as it is.
pub(crate) fn printed(symbol: &str) -> Cow<'_, str> {
    if let Some(name) = legacy(symbol) {
        return Cow::Owned(name);
    }
    if symbol.starts_with("_Z") {
        // The crate's recursion limit keeps it off the end of the stack.
        let options = cpp_demangle::ParseOptions::default().recursion_limit(64);
        if let Ok(name) = cpp_demangle::Symbol::new_with_options(symbol.as_bytes(), &options) {
            let mut out = Limited(String::new());
            let options = cpp_demangle::DemangleOptions::default().recursion_limit(64);
            if name.structured_demangle(&mut out, &options).is_ok() {
                return Cow::Owned(out.0);
            }
        }
    }
    Cow::Borrowed(symbol)
}

/// A writer that ends with [`LONGEST`] bytes: substitutions can blow up a small name.
struct Limited(String);

impl fmt::Write for Limited {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.0.len() + text.len() > LONGEST {
            return Err(fmt::Error);
        }
        self.0.push_str(text);
        Ok(())
    }
}

fn shown(name: &fmt::Arguments<'_>) -> Option<String> {
    let mut out = Limited(String::new());
    fmt::write(&mut out, *name).ok()?;
    Some(out.0)
}

/// `_ZN4core3fmt17h0123456789abcdefE` is `core::fmt::h0123456789abcdef`. None where it is no legacy
/// name of Rust: those end in a hash.
fn legacy(symbol: &str) -> Option<String> {
    let mut rest = symbol.strip_prefix("_ZN")?;
    let mut parts = Vec::new();
    while !rest.starts_with('E') {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let length: usize = rest.get(..digits)?.parse().ok()?;
        parts.push(rest.get(digits..)?.get(..length)?);
        rest = rest.get(digits + length..)?;
    }
    let last = parts.last()?;
    let name = parts.join("::");
    (last.len() == 17 && without_hash(&name).1).then_some(name)
}

/// Without what compilers add to the symbol of a copy.
fn without_suffix(name: &str) -> &str {
    const ADDED: [&str; 6] = [".llvm.", ".cold", ".part.", ".isra.", ".constprop.", ".lto_priv."];
    // Few names have either.
    if !name.bytes().any(|b| b == b'.' || b == b'[') {
        return name.trim_end_matches(" (");
    }
    let cut = ADDED.iter().filter_map(|added| name.find(added)).filter(|&at| at > 0).min();
    let name = cut.and_then(|at| name.get(..at)).unwrap_or(name);
    name.find(" [clone ").and_then(|at| name.get(..at)).unwrap_or(name).trim_end_matches(" (")
}

/// Undoes the escapes of legacy Rust names.
fn unescaped(name: &str) -> Cow<'_, str> {
    const ESCAPES: [(&str, char); 8] = [
        ("SP", '@'),
        ("BP", '*'),
        ("RF", '&'),
        ("LT", '<'),
        ("GT", '>'),
        ("LP", '('),
        ("RP", ')'),
        ("C", ','),
    ];
    let has_escapes = name.contains('$');
    if !has_escapes && !name.contains("_<") && !name.contains("_{") {
        return Cow::Borrowed(name);
    }
    let mut out = String::with_capacity(name.len());
    let mut rest = name;
    let mut starts_segment = true;
    while let Some(c) = rest.chars().next() {
        // An underscore keeps a symbol's segment from beginning with a `$`.
        if starts_segment
            && c == '_'
            && rest.get(1..).is_some_and(|r| r.starts_with(['$', '<', '{']))
        {
            rest = rest.get(1..).unwrap_or_default();
            continue;
        }
        starts_segment = false;
        if c == '$'
            && let Some((code, after)) = rest.get(1..).and_then(|rest| rest.split_once('$'))
            && let Some(meant) =
                ESCAPES.iter().find(|(name, _)| *name == code).map(|(_, c)| *c).or_else(|| {
                    let digits = code.strip_prefix('u').filter(|digits| digits.len() <= 6)?;
                    char::from_u32(u32::from_str_radix(digits, 16).ok()?)
                        .filter(|c| !c.is_control())
                })
        {
            out.push(meant);
            rest = after;
        } else if has_escapes && rest.starts_with("..") {
            out.push_str("::");
            rest = rest.get(2..).unwrap_or_default();
        } else if rest.starts_with("::") {
            out.push_str("::");
            rest = rest.get(2..).unwrap_or_default();
            starts_segment = true;
        } else {
            out.push(c);
            rest = rest.get(c.len_utf8()..).unwrap_or_default();
        }
    }
    Cow::Owned(out)
}

/// Without trailing segments in braces.
fn without_closures(path: &str) -> &str {
    let mut path = path;
    while path.ends_with('}') {
        let Some(at) = path.rfind("::{") else { break };
        // `::{{closure}}` has two braces, and what is inside of them no `::{`.
        let Some(outer) = path.get(..at).filter(|outer| !outer.is_empty()) else { break };
        path = outer;
    }
    path
}

/// Rules 5 and 6 of [`Function`].
fn without_arguments(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for (at, part) in segments(path).enumerate() {
        let inner = part.strip_prefix('<').and_then(|part| part.strip_suffix('>'));
        match inner {
            Some(inner) if inner.contains(" as ") || inner.starts_with("impl ") => {
                push(&mut out, part);
            }
            // `<a::T<u8>>::f`; but `<&T>::f` has no path.
            Some(inner)
                if at == 0 && inner.starts_with(|c: char| c.is_alphabetic() || c == '_') =>
            {
                push(&mut out, &without_arguments(inner));
            }
            // A turbofish.
            Some(_) if at > 0 => {}
            _ => push(&mut out, &without_own_arguments(part)),
        }
    }
    if out.is_empty() { path.to_owned() } else { out }
}

fn push(out: &mut String, part: &str) {
    if !out.is_empty() && !part.is_empty() {
        out.push_str("::");
    }
    out.push_str(part);
}

/// `Vec<T>` is `Vec`; what follows the arguments stays. `operator<` is a name.
fn without_own_arguments(part: &str) -> Cow<'_, str> {
    let Some(start) = part.find('<') else { return Cow::Borrowed(part) };
    let (name, rest) = part.split_at(start);
    let is_name = name.ends_with(|c: char| c.is_alphanumeric() || c == '_');
    if !is_name || name.ends_with("operator") || name.contains('(') {
        return Cow::Borrowed(part);
    }
    let mut depth = 0_usize;
    for (at, b) in rest.bytes().enumerate() {
        match b {
            b'<' => depth += 1,
            b'>' if at > 0 && rest.as_bytes().get(at - 1) == Some(&b'-') => {}
            b'>' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return Cow::Owned(format!("{name}{}", rest.get(at + 1..).unwrap_or_default()));
                }
            }
            _ => {}
        }
    }
    Cow::Borrowed(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions() {
        for (frame, function) in [
            ("a::T::alloc::he10f952fea8b1eef", "a::T::alloc"),
            ("a::T::alloc", "a::T::alloc"),
            ("a::alloc::he10f952fea8b1ee", "a::alloc::he10f952fea8b1ee"),
            ("::he10f952fea8b1eef", "he10f952fea8b1eef"),
            ("a::f::_$u7b$$u7b$closure$u7d$$u7d$::h0123456789abcdef", "a::f"),
            (
                "a::f::_$u7b$$u7b$closure$u7d$$u7d$::_$u7b$$u7b$closure$u7d$$u7d$::h0123456789abcdef",
                "a::f",
            ),
            ("a::f::{{closure}}", "a::f"),
            ("a::f::_{{closure}}", "a::f"),
            ("a::f::{closure#0}::{closure#1}", "a::f"),
            ("a::f::{{closure}}::g", "a::f::{{closure}}::g"),
            ("{{closure}}", "{{closure}}"),
            ("_$LT$a..T$u20$as$u20$b..Tr$GT$::f::h0123456789abcdef", "<a::T as b::Tr>::f"),
            ("<a::T as b::Tr>::f", "<a::T as b::Tr>::f"),
            ("a::_<impl b::Tr for i32>::lt", "a::<impl b::Tr for i32>::lt"),
            (
                "a::_$LT$impl$u20$b..Tr$LT$T$C$E$GT$$u20$for$u20$T$GT$::f::h0123456789abcdef",
                "a::<impl b::Tr<T,E> for T>::f",
            ),
            ("a::Vec$LT$T$GT$::push::h0123456789abcdef", "a::Vec::push"),
            ("a::Vec<T>::push", "a::Vec::push"),
            ("<a::Vec<u8>>::push", "a::Vec::push"),
            ("a::max::<u8, fn(u8) -> b::C>", "a::max"),
            ("<&T as b::Tr<a::U>>::f", "<&T as b::Tr<a::U>>::f"),
            ("_RNvMNtCsdIwGCHF0bNq_3one6deviceNtB2_3Two5alloc", "one::device::Two::alloc"),
            ("_ZN3one3two5alloc17h0123456789abcdefE", "one::two::alloc"),
            ("_ZN3one3two5alloc17h0123456789abcdefE.llvm.123", "one::two::alloc"),
            ("_ZN3one5allocEv", "one::alloc()"),
            ("one::put<int>(int)", "one::put(int)"),
            ("operator<<(S&, int)", "operator<<(S&, int)"),
            ("one::f(std::vector<int>)", "one::f(std::vector<int>)"),
            ("-[AGX init:with:]", "-[AGX init:with:]"),
            ("mach_msg2_trap", "mach_msg2_trap"),
            ("memcpy.cold", "memcpy"),
            ("é::ü::h0123456789abcdef", "é::ü"),
            ("$u7b", "$u7b"),
            ("_R", "_R"),
            ("a::", "a"),
            ("", ""),
        ] {
            assert_eq!(Function::of(frame).as_str(), function, "{frame}");
        }
    }

    #[test]
    fn paths() {
        for (frame, path) in [
            ("a::b::T::f::h0123456789abcdef", &["a", "b", "T", "f"][..]),
            ("<a::T<x::U> as b::Tr>::f", &["a", "T", "f"]),
            ("<&mut a::T as b::Tr>::f", &["a", "T", "f"]),
            ("a::<impl b::Tr for c::T>::f", &["a", "f"]),
            ("-[AGX init:with:]", &["AGX", "init:with:"]),
            ("ns::f(int)", &["ns", "f"]),
            ("mach_msg2_trap", &["mach_msg2_trap"]),
            ("", &[]),
        ] {
            assert_eq!(Function::of(frame).segments(), path, "{frame}");
        }
    }

    #[test]
    fn names_that_blow_up_are_left_alone() {
        let deep = format!("_Z1f{}i", "P".repeat(60_000));
        assert_eq!(printed(&deep), deep);
        assert!(!Function::of(&"_R".repeat(30_000)).as_str().is_empty());
        let nested = format!("{}x{}", "<".repeat(30_000), ">".repeat(30_000));
        let _ = Function::of(&nested).segments();
    }
}
