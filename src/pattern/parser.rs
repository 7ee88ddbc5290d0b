//! The parser: one pass over the bytes, with a stack of open groups of its own, so that a deep
//! pattern needs no deep recursion.
//!
//! Follows the order in which CPython's `Lib/re/_parser.py` reads a pattern, token by token, where
//! a token is a character or a backslash with the character after it; what `_compiler.py` refuses
//! (the width of lookbehinds, its recursion) is worked out on the way.
//!
//! Uses `span` and the other parts of `pattern`.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::mem;

use super::ast::{
    Assertion, Ast, Class, ClassItem, ClassItemKind, Flags, Group, Look, Node, NodeKind, PerlClass,
    Repeat, RepeatKind, Warning, WarningKind,
};
use super::error::{ErrorKind, PatternError, Repair};
use super::names;
use super::versions::{Python, Versions};
use crate::span::Span;

/// How deep groups may nest: CPython parses a group by two calls and a conditional by one, and
/// gives up with `RecursionError` at a thousand of them. Measured with `re.compile` called from the
/// top of a script: 496 groups (495 with something in the innermost) or 991 conditionals in
/// CPython 3.11 to 3.13. Called from anywhere else it gives up earlier.
const MAX_PARSE_DEPTH: u32 = 992;

/// The same for its compiler, which takes a call for each repeat, branch, lookaround, conditional,
/// and capturing, atomic or flagged group. Measured in the same way: 331 of `(a|…)*`.
const MAX_COMPILE_DEPTH: u32 = 993;

/// A count from which on CPython calls a repeat too large.
const MAX_REPEAT: u64 = u32::MAX as u64;

/// More digits than these are no number to CPython (`sys.int_info.default_max_str_digits`).
const MAX_DIGITS: usize = 4300;

/// Group numbers from here on are refused at once (`MAXGROUPS`).
const MAX_GROUPS: u64 = 1 << 30;

type Fault = Box<PatternError>;

/// How many characters a part matches at least and at most. Saturates far above every bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Width {
    pub(super) min: u64,
    pub(super) max: u64,
}

impl Width {
    const ONE: Self = Self { min: 1, max: 1 };

    fn then(self, next: Self) -> Self {
        Self { min: self.min.saturating_add(next.min), max: self.max.saturating_add(next.max) }
    }

    fn or(self, other: Self) -> Self {
        Self { min: self.min.min(other.min), max: self.max.max(other.max) }
    }

    fn repeated(self, min: u32, max: Option<u32>) -> Self {
        let min = self.min.saturating_mul(min.into());
        let max = match max {
            Some(max) => self.max.saturating_mul(max.into()),
            None if self.max == 0 => 0,
            None => u64::MAX,
        };
        Self { min, max }
    }
}

/// What an open bracket will become.
#[derive(Debug, Clone, Copy)]
enum Opened {
    /// Nothing: the whole pattern.
    Pattern,
    Capture(u32),
    Group {
        flagged: bool,
    },
    Atomic,
    Look {
        look: Look,
        /// Not within another lookbehind.
        outermost: bool,
    },
    Conditional(u32),
}

/// The state of an open group, or of the pattern itself.
#[derive(Debug)]
struct Frame {
    opened: Opened,
    /// Offset of its `(`.
    start: usize,
    /// Offset of its current branch.
    branch_start: usize,
    /// Index in `Parser::nodes` of the current branch's first part.
    first_node: usize,
    /// Index in `Parser::branches` of its first finished branch.
    first_branch: usize,
    /// In force at this place in it.
    flags: Flags,
    /// Of the current branch without its last part.
    before: Width,
    /// Of the current branch's last part.
    last: Width,
    /// Of its finished branches, if any.
    branches: Option<Width>,
    /// The calls that CPython's compiler nests for the deepest part so far, and for the last one.
    depth: u32,
    last_depth: u32,
    /// Where its finished branches stand and how wide they are; of lookbehinds only.
    bounds: Vec<(Span, Width)>,
}

impl Frame {
    fn new(opened: Opened, start: usize, body: usize, flags: Flags) -> Self {
        Self {
            opened,
            start,
            branch_start: body,
            first_node: 0,
            first_branch: 0,
            flags,
            before: Width::default(),
            last: Width::default(),
            branches: None,
            depth: 0,
            last_depth: 0,
            bounds: Vec::new(),
        }
    }

    fn verbose(&self) -> bool {
        self.flags.has(Flags::VERBOSE)
    }
}

/// A capturing group while parsing.
struct Capture<'t> {
    span: Span,
    name: Option<&'t str>,
    /// `None` while it is open.
    width: Option<Width>,
}

/// One character or set, as an escape or in brackets.
#[derive(Clone, Copy)]
enum Code {
    /// A code point, which may be a lone surrogate.
    Char(u32),
    Perl(PerlClass),
    NotPerl(PerlClass),
}

struct Parser<'t> {
    text: &'t str,
    bytes: &'t [u8],
    pos: usize,
    versions: Versions,
    /// The parts of the current branches of all open groups, outermost first.
    nodes: Vec<Node>,
    /// The finished branches of all open groups, outermost first.
    branches: Vec<Node>,
    /// The groups around the current one, outermost first.
    outer: Vec<Frame>,
    now: Frame,
    captures: Vec<Capture<'t>>,
    names: HashMap<&'t str, u32>,
    /// How many groups were open or closed before the outermost lookbehind around here.
    lookbehind_groups: Option<u32>,
    /// The conditionals' group numbers that were not there yet.
    forward: Vec<(u64, Span)>,
    /// The outermost first fault that only CPython's compiler finds.
    late: Option<Fault>,
    warnings: Vec<Warning>,
    global: Flags,
    /// `(?u)` stands at the start.
    unicode: bool,
    /// The flags at the start that contradict earlier ones there.
    contradiction: Option<Span>,
    /// `(?t)` stands at the start; see [`Parser::repeat`].
    template: bool,
    parse_depth: u32,
    /// Within `[…]`.
    in_set: bool,
}

/// See [`super::parse`].
pub(super) fn parse(text: &str, versions: Versions) -> Result<Ast, Fault> {
    let mut parser = Parser {
        text,
        bytes: text.as_bytes(),
        pos: 0,
        versions,
        nodes: Vec::with_capacity(text.len().min(1 << 16)),
        branches: Vec::new(),
        outer: Vec::new(),
        now: Frame::new(Opened::Pattern, 0, 0, Flags::NONE),
        captures: Vec::new(),
        names: HashMap::new(),
        lookbehind_groups: None,
        forward: Vec::new(),
        late: None,
        warnings: Vec::new(),
        global: Flags::NONE,
        unicode: false,
        contradiction: None,
        template: false,
        parse_depth: 0,
        in_set: false,
    };
    match parser.run() {
        Ok(()) => parser.finish(),
        // CPython's tokenizer is one token ahead, so it meets a last backslash before anything else.
        Err(_) if parser.at_last_backslash() => Err(parser.trailing_backslash()),
        Err(fault) => Err(fault),
    }
}

impl<'t> Parser<'t> {
    // ---- tokens

    fn byte(&self, at: usize) -> Option<u8> {
        self.bytes.get(at).copied()
    }

    /// The character at `at`, a character boundary.
    fn char_at(&self, at: usize) -> Option<char> {
        self.text.get(at..)?.chars().next()
    }

    fn slice(&self, start: usize, end: usize) -> &'t str {
        self.text.get(start..end).unwrap_or_default()
    }

    fn eat(&mut self, byte: u8) -> bool {
        let found = self.byte(self.pos) == Some(byte);
        self.pos += usize::from(found);
        found
    }

    fn at_last_backslash(&self) -> bool {
        self.pos + 1 == self.bytes.len() && self.byte(self.pos) == Some(b'\\')
    }

    fn trailing_backslash(&self) -> Fault {
        let end = self.bytes.len();
        self.fault(
            ErrorKind::TrailingBackslash,
            end.saturating_sub(1),
            end,
            "a backslash at the end escapes nothing".into(),
            "bad escape (end of pattern)".into(),
        )
    }

    /// Takes the next token and returns its first byte: a character, or a backslash with the
    /// character after it.
    fn token(&mut self) -> Result<Option<u8>, Fault> {
        let Some(first) = self.byte(self.pos) else { return Ok(None) };
        let mut at = self.pos;
        if first == b'\\' {
            at += 1;
            if at == self.bytes.len() {
                return Err(self.trailing_backslash());
            }
        }
        self.pos = at + self.char_at(at).map_or(1, char::len_utf8);
        Ok(Some(first))
    }

    /// Takes at most `most` bytes that `accept` accepts.
    fn run_of(&mut self, most: usize, accept: fn(u8) -> bool) -> &'t str {
        let start = self.pos;
        while self.pos - start < most && self.byte(self.pos).is_some_and(accept) {
            self.pos += 1;
        }
        self.slice(start, self.pos)
    }

    // ---- faults

    fn fault(
        &self,
        kind: ErrorKind,
        start: usize,
        end: usize,
        message: String,
        python: String,
    ) -> Fault {
        self.fault_in(self.versions, kind, start, end, message, python)
    }

    fn fault_in(
        &self,
        refused_by: Versions,
        kind: ErrorKind,
        start: usize,
        end: usize,
        message: String,
        python: String,
    ) -> Fault {
        let end = end.min(self.bytes.len());
        Box::new(PatternError {
            span: Span::new(start.min(end), end),
            kind,
            message,
            python,
            notes: Vec::new(),
            refused_by,
            related: None,
            repair: None,
            in_set: self.in_set,
            verbose: self.now.verbose(),
            lines: self.now.flags.has(Flags::MULTI_LINE),
        })
    }

    // ---- the tree

    fn push(&mut self, node: Node, width: Width) {
        self.now.before = self.now.before.then(self.now.last);
        self.now.last = width;
        self.now.last_depth = 0;
        self.nodes.push(node);
    }

    fn push_deep(&mut self, node: Node, width: Width, depth: u32) {
        self.push(node, width);
        self.now.last_depth = depth;
        self.now.depth = self.now.depth.max(depth);
    }

    fn leaf(&mut self, start: usize, kind: NodeKind, width: Width) {
        self.push(Node { span: Span::new(start, self.pos), kind }, width);
    }

    fn literal(&mut self, start: usize, code: u32) {
        let flags = self.now.flags;
        // A lone surrogate: a character to CPython, but in no text that is UTF-8.
        let kind = char::from_u32(code).map_or_else(
            || NodeKind::Class(Box::new(nothing(Span::new(start, self.pos), true)), flags),
            |c| NodeKind::Literal(c, flags),
        );
        self.leaf(start, kind, Width::ONE);
    }

    /// Takes letters, digits, `_` and `:`, at least one: all that most patterns are made of.
    fn word(&mut self) {
        let (start, flags) = (self.pos, self.now.flags);
        let rest = self.bytes.get(start..).unwrap_or_default();
        let plain = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b':');
        let len = rest.iter().position(|b| !plain(b)).unwrap_or(rest.len()).max(1);
        let word = rest.get(..len).unwrap_or_default();
        self.nodes.extend(word.iter().enumerate().map(|(at, byte)| Node {
            span: Span::new(start + at, start + at + 1),
            kind: NodeKind::Literal(char::from(*byte), flags),
        }));
        let end = start + word.len();
        let before = Width { min: len as u64 - 1, max: len as u64 - 1 };
        self.now.before = self.now.before.then(self.now.last).then(before);
        self.now.last = Width::ONE;
        self.now.last_depth = 0;
        self.pos = end;
    }

    /// Ends the current branch here and returns it.
    fn branch(&mut self) -> (Node, Width) {
        let width = self.now.before.then(self.now.last);
        (self.now.before, self.now.last) = (Width::default(), Width::default());
        let first = self.now.first_node;
        let node = match self.nodes.len() - first {
            1 => self.nodes.pop(),
            0 => None,
            _ => {
                let at_end = first == 0 && self.pos == self.bytes.len();
                let parts: Vec<Node> = if at_end {
                    mem::take(&mut self.nodes)
                } else {
                    self.nodes.drain(first..).collect()
                };
                match (parts.first(), parts.last()) {
                    (Some(a), Some(b)) => {
                        Some(Node { span: a.span.to(b.span), kind: NodeKind::Concat(parts) })
                    }
                    _ => None,
                }
            }
        };
        let empty =
            || Node { span: Span::new(self.now.branch_start, self.pos), kind: NodeKind::Empty };
        (node.unwrap_or_else(empty), width)
    }

    /// Ends the current branch here and starts the next one after the `|`.
    fn next_branch(&mut self) -> Result<(), Fault> {
        let (node, width) = self.branch();
        if let Opened::Conditional(_) = self.now.opened
            && self.now.branches.is_some()
        {
            return Err(self.fault(
                ErrorKind::TooManyBranches,
                self.pos,
                self.pos + 1,
                "a conditional has two branches at most".into(),
                "conditional backref with more than two branches".into(),
            ));
        }
        if let Opened::Look { look: Look { behind: true, .. }, .. } = self.now.opened {
            self.now.bounds.push((Span::new(self.now.branch_start, self.pos), width));
        }
        self.branches.push(node);
        self.now.branches = Some(self.now.branches.map_or(width, |w| w.or(width)));
        self.pos += 1;
        self.now.branch_start = self.pos;
        self.now.first_node = self.nodes.len();
        Ok(())
    }

    /// Ends the current group's last branch here and returns its body.
    fn body(&mut self) -> (Node, Width) {
        let (last, width) = self.branch();
        let Some(before) = self.now.branches else { return (last, width) };
        self.branches.push(last);
        let parts: Vec<Node> = self.branches.drain(self.now.first_branch..).collect();
        let (start, end) = (parts.first().map(|n| n.span), parts.last().map(|n| n.span));
        let span = start.unwrap_or_default().to(end.unwrap_or_default());
        self.now.depth += 1;
        (Node { span, kind: NodeKind::Alternation(parts) }, before.or(width))
    }

    fn open(&mut self, opened: Opened, start: usize, flags: Flags) -> Result<(), Fault> {
        self.parse_depth += if let Opened::Conditional(_) = opened { 1 } else { 2 };
        if self.parse_depth > MAX_PARSE_DEPTH {
            return Err(self.too_nested(start, start + 1));
        }
        let mut frame = Frame::new(opened, start, self.pos, flags);
        frame.first_node = self.nodes.len();
        frame.first_branch = self.branches.len();
        self.outer.push(mem::replace(&mut self.now, frame));
        Ok(())
    }

    fn too_nested(&self, start: usize, end: usize) -> Fault {
        self.fault(
            ErrorKind::TooNested,
            start,
            end,
            "groups are nested deeper than Python's recursion limit allows".into(),
            "maximum recursion depth exceeded".into(),
        )
    }

    /// Ends the current group at its `)`.
    fn close(&mut self) -> Result<(), Fault> {
        let Some(outer) = self.outer.pop() else {
            self.check_global_flags()?;
            return Err(self.fault(
                ErrorKind::UnopenedGroup,
                self.pos,
                self.pos + 1,
                "this `)` closes no group".into(),
                "unbalanced parenthesis".into(),
            ));
        };
        let last_bound = Span::new(self.now.branch_start, self.pos);
        let last_width = self.now.before.then(self.now.last);
        let conditional = matches!(self.now.opened, Opened::Conditional(_));
        let (body, width, other) = if conditional {
            let (last, width) = self.branch();
            match self.now.branches {
                Some(before) => {
                    (self.branches.pop().unwrap_or(last.clone()), before.or(width), Some(last))
                }
                None => (last, Width { min: 0, max: width.max }, None),
            }
        } else {
            let (body, width) = self.body();
            (body, width, None)
        };
        self.pos += 1;
        self.parse_depth -= if conditional { 1 } else { 2 };
        let mut closed = mem::replace(&mut self.now, outer);
        let span = Span::new(closed.start, self.pos);
        let body = Box::new(body);
        let mut depth = closed.depth + 1;
        let mut outside = width;
        let kind = match closed.opened {
            Opened::Capture(number) => {
                if let Some(capture) = self.captures.get_mut(number as usize - 1) {
                    capture.span = span;
                    capture.width = Some(width);
                }
                NodeKind::Capture(number, body)
            }
            Opened::Group { flagged } => {
                depth -= u32::from(!flagged);
                NodeKind::Group(body)
            }
            Opened::Atomic => NodeKind::Atomic(body),
            Opened::Conditional(group) => NodeKind::Conditional(group, body, other.map(Box::new)),
            Opened::Look { look, outermost } => {
                if outermost && look.behind {
                    self.lookbehind_groups = None;
                }
                if look.behind {
                    closed.bounds.push((last_bound, last_width));
                    self.check_lookbehind(look, span, width, &closed.bounds);
                }
                outside = Width::default();
                NodeKind::Look(look, body)
            }
            Opened::Pattern => return Ok(()),
        };
        if depth > MAX_COMPILE_DEPTH && self.late.is_none() {
            self.late = Some(self.too_nested(span.start as usize, span.start as usize + 1));
        }
        self.push_deep(Node { span, kind }, outside, depth);
        Ok(())
    }

    fn check_lookbehind(&mut self, look: Look, span: Span, width: Width, bounds: &[(Span, Width)]) {
        let (start, end) = (span.start as usize, span.end as usize);
        let fault = if width.min > MAX_REPEAT {
            self.fault(
                ErrorKind::LookbehindTooWide,
                start,
                end,
                "this lookbehind looks more than 4,294,967,295 characters back".into(),
                "looks too much behind".into(),
            )
        } else if width.min != width.max {
            let mut fault = self.fault(
                ErrorKind::VariableLookbehind,
                start,
                end,
                "Python needs a lookbehind of fixed width, and this one varies".into(),
                "look-behind requires fixed-width pattern".into(),
            );
            super::repair::lookbehind(self.text, &mut fault, look, width, bounds);
            fault
        } else {
            return;
        };
        // CPython's compiler meets the outer one first.
        if self.late.as_ref().is_none_or(|late| late.span.start > span.start) {
            self.late = Some(fault);
        }
    }

    // ---- the main loop

    fn run(&mut self) -> Result<(), Fault> {
        while let Some(byte) = self.byte(self.pos) {
            let start = self.pos;
            match byte {
                b'\\' => self.escape()?,
                b'[' => self.class()?,
                b'(' => self.group()?,
                b')' => self.close()?,
                b'|' => self.next_branch()?,
                b'*' | b'+' | b'?' | b'{' => self.repeat(byte)?,
                b'.' => {
                    self.pos += 1;
                    self.leaf(start, NodeKind::Dot(self.now.flags), Width::ONE);
                }
                b'^' => {
                    self.pos += 1;
                    self.assertion(start, Assertion::Caret);
                }
                b'$' => {
                    self.pos += 1;
                    self.assertion(start, Assertion::Dollar);
                }
                b' ' | b'\t'..=b'\r' if self.now.verbose() => self.pos += 1,
                b'#' if self.now.verbose() => self.line_comment()?,
                b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'_' | b':' => self.word(),
                0..=0x7F => {
                    self.pos += 1;
                    self.literal(start, byte.into());
                }
                _ => {
                    let Some(c) = self.char_at(start) else { break };
                    self.pos += c.len_utf8();
                    self.literal(start, c.into());
                }
            }
        }
        if self.outer.is_empty() {
            return Ok(());
        }
        let start = self.now.start;
        Err(self.fault(
            ErrorKind::UnclosedGroup,
            start,
            start + 1,
            "this group is never closed".into(),
            "missing ), unterminated subpattern".into(),
        ))
    }

    /// `(?a)` and `(?u)` at the start, each in its own brackets.
    fn check_global_flags(&self) -> Result<(), Fault> {
        let Some(second) = self.contradiction else { return Ok(()) };
        Err(self.fault(
            ErrorKind::BadFlags,
            second.start as usize,
            second.end as usize,
            "the flags `a` and `u` contradict each other".into(),
            "ASCII and UNICODE flags are incompatible".into(),
        ))
    }

    fn finish(mut self) -> Result<Ast, Fault> {
        let end = self.bytes.len();
        self.check_global_flags()?;
        let groups = self.captures.len() as u64;
        if let Some(&(group, span)) = self.forward.iter().find(|(group, _)| *group > groups) {
            let mut fault = self.unknown_group(group, span.start as usize, span.end as usize);
            fault.message = match groups {
                0 => format!("there is no group {group}: the pattern has none"),
                1 => format!("there is no group {group}: the pattern has only one"),
                n => format!("there is no group {group}: the pattern has only {n}"),
            };
            return Err(fault);
        }
        let (root, _) = self.body();
        if self.now.depth > MAX_COMPILE_DEPTH && self.late.is_none() {
            self.late = Some(self.too_nested(0, end));
        }
        if let Some(fault) = self.late {
            return Err(fault);
        }
        let groups = self
            .captures
            .iter()
            .map(|capture| Group { span: capture.span, name: capture.name.map(Box::from) })
            .collect();
        Ok(Ast { root, flags: self.global, groups, warnings: self.warnings })
    }

    fn assertion(&mut self, start: usize, assertion: Assertion) {
        let kind = NodeKind::Assertion(assertion, self.now.flags);
        self.leaf(start, kind, Width::default());
    }

    /// `# …` in verbose mode, to the end of the line.
    fn line_comment(&mut self) -> Result<(), Fault> {
        while let Some(byte) = self.token()? {
            // An escaped line feed is another token, and does not end it.
            if byte == b'\n' {
                break;
            }
        }
        Ok(())
    }

    // ---- repeats

    fn repeat(&mut self, byte: u8) -> Result<(), Fault> {
        let start = self.pos;
        self.pos += 1;
        let (min, max) = match byte {
            b'?' => (0, Some(1)),
            b'*' => (0, None),
            b'+' => (1, None),
            _ => {
                let Some(counts) = self.counts(start)? else {
                    self.literal(start, byte.into());
                    return Ok(());
                };
                counts
            }
        };
        let end = self.pos;
        let operator = self.slice(start, end);
        let target = if self.nodes.len() > self.now.first_node { self.nodes.last() } else { None };
        let nothing = |after: &str| {
            self.fault(
                ErrorKind::NothingToRepeat,
                start,
                end,
                format!("`{operator}` has nothing to repeat{after}"),
                "nothing to repeat".into(),
            )
        };
        match target.map(|node| &node.kind) {
            None => return Err(nothing("")),
            Some(NodeKind::Assertion(..)) => {
                let place = target.map(|n| self.slice(n.span.start as usize, n.span.end as usize));
                let place = place.unwrap_or_default();
                return Err(nothing(&format!(": `{place}` is a place, not a text")));
            }
            Some(NodeKind::Repeat(first, _)) => {
                let first = first.operator;
                let mut fault = self.fault(
                    ErrorKind::MultipleRepeat,
                    start,
                    end,
                    format!("`{operator}` repeats what is already repeated"),
                    "multiple repeat".into(),
                );
                fault.related = Some((first, "the first repeat".into()));
                let part = target.map_or(first.start, |node| node.span.start);
                fault.repair = Some(Repair {
                    message: "repeat the repeated part as a group".into(),
                    edits: vec![
                        (Span::empty(part as usize), "(?:".into()),
                        (Span::empty(first.end as usize), ")".into()),
                    ],
                    safe: false,
                });
                return Err(fault);
            }
            Some(_) => {}
        }
        let kind = if self.eat(b'?') {
            RepeatKind::Lazy
        } else if self.eat(b'+') {
            RepeatKind::Possessive
        } else {
            RepeatKind::Greedy
        };
        if self.template && self.late.is_none() {
            let operator = match kind {
                RepeatKind::Greedy => "MAX_REPEAT",
                RepeatKind::Lazy => "MIN_REPEAT",
                RepeatKind::Possessive => "POSSESSIVE_REPEAT",
            };
            self.late = Some(self.fault(
                ErrorKind::BadFlags,
                start,
                self.pos,
                "a pattern with the flag `t` cannot repeat".into(),
                format!("internal: unsupported template operator {operator}"),
            ));
        }
        let Some(node) = self.nodes.pop() else { return Ok(()) };
        let span = Span::new(node.span.start as usize, self.pos);
        let repeat = Repeat { min, max, kind, operator: Span::new(start, self.pos) };
        self.now.last = self.now.last.repeated(min, max);
        self.now.last_depth += 1;
        self.now.depth = self.now.depth.max(self.now.last_depth);
        self.nodes.push(Node { span, kind: NodeKind::Repeat(repeat, Box::new(node)) });
        Ok(())
    }

    /// The counts of `{…}` after its `{`; `None`, back behind the `{`, where it is no repeat.
    fn counts(&mut self, start: usize) -> Result<Option<(u32, Option<u32>)>, Fault> {
        if self.byte(self.pos) == Some(b'}') {
            return Ok(None);
        }
        let low = self.run_of(usize::MAX, |b| b.is_ascii_digit());
        let high =
            if self.eat(b',') { self.run_of(usize::MAX, |b| b.is_ascii_digit()) } else { low };
        if !self.eat(b'}') {
            self.pos = start + 1;
            return Ok(None);
        }
        let (from, end) = (start, self.pos);
        let count = |digits: &str| {
            if digits.is_empty() {
                return Ok(None);
            }
            match digits.parse::<u64>() {
                Ok(n) if n < MAX_REPEAT && digits.len() <= MAX_DIGITS => Ok(Some(n as u32)),
                _ => {
                    let python = if digits.len() > MAX_DIGITS {
                        "Exceeds the limit (4300 digits) for integer string conversion"
                    } else {
                        "the repetition number is too large"
                    };
                    Err(self.fault(
                        ErrorKind::RepeatTooLarge,
                        from,
                        end,
                        "the count of this repeat is too large: 4,294,967,294 is the most".into(),
                        python.into(),
                    ))
                }
            }
        };
        let min = count(low)?.unwrap_or(0);
        let max = count(high)?;
        if max.is_some_and(|max| max < min) {
            return Err(self.fault(
                ErrorKind::RepeatOutOfOrder,
                from,
                end,
                format!("`{}` asks for at least {low} and at most {high}", self.slice(from, end)),
                "min repeat greater than max repeat".into(),
            ));
        }
        Ok(Some((min, max)))
    }

    // ---- escapes

    fn escape(&mut self) -> Result<(), Fault> {
        let start = self.pos;
        let Some(c) = self.char_at(start + 1) else { return Err(self.trailing_backslash()) };
        self.pos += 1 + c.len_utf8();
        let assertion = match c {
            'A' => Some(Assertion::TextStart),
            'Z' => Some(Assertion::TextEnd),
            'b' => Some(Assertion::WordBoundary),
            'B' => Some(Assertion::NotWordBoundary),
            'z' => {
                if let Some(older) = self.versions.before(Python::V3_14) {
                    let mut fault = self.unknown_escape(start);
                    fault.refused_by = older;
                    if older != self.versions {
                        fault.message =
                            "`\\z` means the end of the text from Python 3.14 on, and nothing before".into();
                    }
                    return Err(fault);
                }
                Some(Assertion::TextEnd)
            }
            _ => None,
        };
        if let Some(assertion) = assertion {
            self.assertion(start, assertion);
            return Ok(());
        }
        if matches!(c, '1'..='9') {
            return self.number_escape(start, c);
        }
        match self.common_escape(start, c)? {
            Code::Char(code) => self.literal(start, code),
            Code::Perl(set) => self.perl(start, ClassItemKind::Perl(set)),
            Code::NotPerl(set) => self.perl(start, ClassItemKind::NotPerl(set)),
        }
        Ok(())
    }

    fn perl(&mut self, start: usize, kind: ClassItemKind) {
        let item = ClassItem { span: Span::new(start, self.pos), kind };
        let class = Class { negated: false, bracketed: false, items: vec![item] };
        self.leaf(start, NodeKind::Class(Box::new(class), self.now.flags), Width::ONE);
    }

    /// `\1` to `\99`, or three octal digits.
    fn number_escape(&mut self, start: usize, first: char) -> Result<(), Fault> {
        let octal = |b: Option<u8>| matches!(b, Some(b'0'..=b'7'));
        if self.byte(self.pos).is_some_and(|b| b.is_ascii_digit()) {
            let second = self.byte(self.pos);
            self.pos += 1;
            if first < '8' && octal(second) && octal(self.byte(self.pos)) {
                self.pos += 1;
                let code = self.octal(start)?;
                self.literal(start, code);
                return Ok(());
            }
        }
        let number: u64 = self.slice(start + 1, self.pos).parse().unwrap_or(0);
        if number > self.captures.len() as u64 {
            return Err(self.unknown_group(number, start, self.pos));
        }
        self.back_reference(start, number as u32, start)
    }

    /// The value of the octal escape from `start` to here.
    fn octal(&self, start: usize) -> Result<u32, Fault> {
        let digits = self.slice(start + 1, self.pos);
        let code = u32::from_str_radix(digits, 8).unwrap_or(0);
        if code <= 0o377 {
            return Ok(code);
        }
        Err(self.fault(
            ErrorKind::EscapeOutOfRange,
            start,
            self.pos,
            format!("the octal escape `\\{digits}` is beyond `\\377`"),
            format!("octal escape value \\{digits} outside of range 0-0o377"),
        ))
    }

    fn unknown_escape(&self, start: usize) -> Fault {
        let escape = self.slice(start, self.pos);
        self.fault(
            ErrorKind::UnknownEscape,
            start,
            self.pos,
            format!("`{escape}` means nothing in Python"),
            format!("bad escape {escape}"),
        )
    }

    /// The escapes that are the same outside of brackets and in them; here is behind `\c`.
    fn common_escape(&mut self, start: usize, c: char) -> Result<Code, Fault> {
        let code = match c {
            'a' => 0x07,
            'f' => 0x0C,
            'n' => 0x0A,
            'r' => 0x0D,
            't' => 0x09,
            'v' => 0x0B,
            'd' => return Ok(Code::Perl(PerlClass::Digit)),
            's' => return Ok(Code::Perl(PerlClass::Space)),
            'w' => return Ok(Code::Perl(PerlClass::Word)),
            'D' => return Ok(Code::NotPerl(PerlClass::Digit)),
            'S' => return Ok(Code::NotPerl(PerlClass::Space)),
            'W' => return Ok(Code::NotPerl(PerlClass::Word)),
            'x' => self.hex(start, 2)?,
            'u' => self.hex(start, 4)?,
            'U' => self.hex(start, 8)?,
            'N' => self.named(start)?,
            '0' => {
                self.run_of(2, |b| matches!(b, b'0'..=b'7'));
                self.octal(start)?
            }
            c if c.is_ascii_alphanumeric() => return Err(self.unknown_escape(start)),
            c => c.into(),
        };
        Ok(Code::Char(code))
    }

    fn hex(&mut self, start: usize, digits: usize) -> Result<u32, Fault> {
        let found = self.run_of(digits, |b| b.is_ascii_hexdigit());
        let escape = self.slice(start, self.pos);
        if found.len() < digits {
            let letter = self.slice(start, start + 2);
            return Err(self.fault(
                ErrorKind::IncompleteEscape,
                start,
                self.pos,
                format!("`{letter}` wants {digits} hexadecimal digits after it"),
                format!("incomplete escape {escape}"),
            ));
        }
        let code = u32::from_str_radix(found, 16).unwrap_or(u32::MAX);
        if code > 0x10_FFFF {
            return Err(self.fault(
                ErrorKind::EscapeOutOfRange,
                start,
                self.pos,
                format!("`{escape}` is beyond the last character, U+10FFFF"),
                format!("bad escape {escape}"),
            ));
        }
        Ok(code)
    }

    /// `\N{…}`; here is behind the `N`.
    fn named(&mut self, start: usize) -> Result<u32, Fault> {
        if !self.eat(b'{') {
            return Err(self.fault(
                ErrorKind::IncompleteEscape,
                start,
                self.pos,
                "`\\N` wants a character's name in braces after it".into(),
                "missing {".into(),
            ));
        }
        let name = self.until(b'}', start, "character name", ErrorKind::IncompleteEscape)?;
        let Some(found) = names::lookup(name) else {
            return Err(self.fault(
                ErrorKind::UnknownCharacterName,
                start,
                self.pos,
                format!("no character is named `{name}`"),
                format!("undefined character name {}", repr(name)),
            ));
        };
        if let Some(older) = names::refused_by(found.since, self.versions) {
            return Err(self.fault_in(
                older,
                ErrorKind::UnknownCharacterName,
                start,
                self.pos,
                format!("`{name}` is not yet known to Python {older}"),
                format!("undefined character name {}", repr(name)),
            ));
        }
        Ok(found.char.into())
    }

    /// Takes the tokens up to `terminator` and it, and returns what stands before it.
    /// `opener` is where the construct starts.
    fn until(
        &mut self,
        terminator: u8,
        opener: usize,
        what: &str,
        kind: ErrorKind,
    ) -> Result<&'t str, Fault> {
        let start = self.pos;
        loop {
            let end = self.pos;
            match self.token()? {
                Some(byte) if byte == terminator => {
                    if end > start {
                        return Ok(self.slice(start, end));
                    }
                    let article = format!("the {what} is missing");
                    return Err(self.fault(
                        kind,
                        opener,
                        self.pos,
                        article,
                        format!("missing {what}"),
                    ));
                }
                Some(_) => {}
                None => {
                    let terminator = char::from(terminator);
                    let (message, python) = if end == start {
                        (format!("the {what} is missing"), format!("missing {what}"))
                    } else {
                        (
                            format!("the {what} has no `{terminator}` after it"),
                            format!("missing {terminator}, unterminated name"),
                        )
                    };
                    return Err(self.fault(kind, opener, start, message, python));
                }
            }
        }
    }

    // ---- references

    fn unknown_group(&self, number: u64, start: usize, end: usize) -> Fault {
        let message = match self.captures.len() {
            0 => format!("there is no group {number}: none is opened before it"),
            1 => format!("there is no group {number}: only one is opened before it"),
            n => format!("there is no group {number}: only {n} are opened before it"),
        };
        let python = format!("invalid group reference {number}");
        self.fault(ErrorKind::UnknownGroup, start, end, message, python)
    }

    /// Group 0, which is the whole match, is never closed.
    fn is_closed(&self, number: u32) -> bool {
        let capture = (number as usize).checked_sub(1).and_then(|i| self.captures.get(i));
        capture.is_some_and(|capture| capture.width.is_some())
    }

    fn open_group(&self, number: u32, start: usize, end: usize) -> Fault {
        let mut fault = self.fault(
            ErrorKind::OpenGroup,
            start,
            end,
            format!("group {number} is still open here, so there is nothing to refer to"),
            "cannot refer to an open group".into(),
        );
        let capture = (number as usize).checked_sub(1).and_then(|i| self.captures.get(i));
        fault.related = capture.map(|c| (c.span, format!("group {number} opens here")));
        fault
    }

    fn check_in_lookbehind(&self, number: u32, start: usize, end: usize) -> Result<(), Fault> {
        let Some(before) = self.lookbehind_groups else { return Ok(()) };
        if !self.is_closed(number) {
            return Err(self.open_group(number, start, end));
        }
        if number <= before {
            return Ok(());
        }
        Err(self.fault(
            ErrorKind::LookbehindGroup,
            start,
            end,
            format!("group {number} is in the same lookbehind, which reads backwards"),
            "cannot refer to group defined in the same lookbehind subpattern".into(),
        ))
    }

    /// A reference from `start` to here; `shown` is where the part that names the group starts.
    fn back_reference(&mut self, start: usize, number: u32, shown: usize) -> Result<(), Fault> {
        let end = self.pos;
        if !self.is_closed(number) {
            return Err(self.open_group(number, shown, end));
        }
        self.check_in_lookbehind(number, shown, end)?;
        let capture = (number as usize).checked_sub(1).and_then(|i| self.captures.get(i));
        let width = capture.and_then(|c| c.width).unwrap_or_default();
        self.leaf(start, NodeKind::Backreference(number, self.now.flags), width);
        Ok(())
    }

    // ---- sets

    fn class(&mut self) -> Result<(), Fault> {
        let start = self.pos;
        self.pos += 1;
        if self.byte(self.pos) == Some(b'[') {
            self.warn(start, start + 2, WarningKind::NestedSet);
        }
        self.in_set = true;
        let negated = self.eat(b'^');
        let mut items = Vec::new();
        let mut first = true;
        loop {
            let from = self.pos;
            let Some(byte) = self.token()? else { return Err(self.unclosed_class(start)) };
            if byte == b']' && !first {
                break;
            }
            let low = if byte == b'\\' {
                self.class_escape(from)?
            } else {
                if !first && self.byte(self.pos) == Some(byte) {
                    let kind = match byte {
                        b'-' => Some(WarningKind::SetDifference),
                        b'&' => Some(WarningKind::SetIntersection),
                        b'~' => Some(WarningKind::SetSymmetricDifference),
                        b'|' => Some(WarningKind::SetUnion),
                        _ => None,
                    };
                    if let Some(kind) = kind {
                        self.warn(from, from + 2, kind);
                    }
                }
                Code::Char(self.char_at(from).map_or(0, u32::from))
            };
            first = false;
            let middle = self.pos;
            if !self.eat(b'-') {
                push_item(&mut items, Span::new(from, middle), low);
                continue;
            }
            let Some(byte) = self.token()? else { return Err(self.unclosed_class(start)) };
            if byte == b']' {
                push_item(&mut items, Span::new(from, middle), low);
                push_item(&mut items, Span::new(middle, middle + 1), Code::Char(u32::from(b'-')));
                break;
            }
            let high = if byte == b'\\' {
                self.class_escape(middle + 1)?
            } else {
                if byte == b'-' {
                    self.warn(middle, middle + 2, WarningKind::SetDifference);
                }
                Code::Char(self.char_at(middle + 1).map_or(0, u32::from))
            };
            let (Code::Char(low), Code::Char(high)) = (low, high) else {
                return Err(self.bad_range(ErrorKind::RangeOfClass, from, middle));
            };
            if high < low {
                return Err(self.bad_range(ErrorKind::RangeOutOfOrder, from, middle));
            }
            push_range(&mut items, Span::new(from, self.pos), low, high);
        }
        self.in_set = false;
        let class = if items.is_empty() {
            nothing(Span::new(start, self.pos), !negated)
        } else {
            Class { negated, bracketed: true, items }
        };
        self.leaf(start, NodeKind::Class(Box::new(class), self.now.flags), Width::ONE);
        Ok(())
    }

    fn bad_range(&self, kind: ErrorKind, from: usize, middle: usize) -> Fault {
        let range = self.slice(from, self.pos);
        let message = if kind == ErrorKind::RangeOfClass {
            let end = self.slice(from, middle);
            let set = |end: &str| matches!(end, "\\d" | "\\D" | "\\s" | "\\S" | "\\w" | "\\W");
            let end = if set(end) { end } else { self.slice(middle + 1, self.pos) };
            format!("`{range}` is no range: `{end}` is a set, not a character")
        } else {
            format!("the range `{range}` ends before it starts")
        };
        // CPython names the tokens at the ends, without the digits of an escape.
        let token = |at: usize| {
            let escaped = usize::from(self.byte(at) == Some(b'\\'));
            let end = at + escaped + self.char_at(at + escaped).map_or(0, char::len_utf8);
            self.slice(at, end)
        };
        let python = format!("bad character range {}-{}", token(from), token(middle + 1));
        self.fault(kind, from, self.pos, message, python)
    }

    fn unclosed_class(&self, start: usize) -> Fault {
        self.fault(
            ErrorKind::UnclosedClass,
            start,
            start + 1,
            "this `[` is never closed".into(),
            "unterminated character set".into(),
        )
    }

    fn warn(&mut self, start: usize, end: usize, kind: WarningKind) {
        self.warnings.push(Warning { span: Span::new(start, end), kind });
    }

    /// An escape in brackets, whose token was taken.
    fn class_escape(&mut self, start: usize) -> Result<Code, Fault> {
        let Some(c) = self.char_at(start + 1) else { return Err(self.trailing_backslash()) };
        match c {
            'b' => Ok(Code::Char(0x08)),
            '1'..='7' => {
                self.run_of(2, |b| matches!(b, b'0'..=b'7'));
                self.octal(start).map(Code::Char)
            }
            'A' | 'B' | 'Z' | 'z' => {
                let mut fault = self.unknown_escape(start);
                let escape = self.slice(start, self.pos);
                fault.message = format!("`{escape}` means nothing within `[…]`");
                Err(fault)
            }
            _ => self.common_escape(start, c),
        }
    }

    // ---- groups

    fn group(&mut self) -> Result<(), Fault> {
        let start = self.pos;
        self.pos += 1;
        let flags = self.now.flags;
        if !self.eat(b'?') {
            return self.open_capture(start, None);
        }
        let from = self.pos;
        let Some(byte) = self.token()? else { return Err(self.unexpected_end(start)) };
        match byte {
            b'P' => self.python_group(start),
            b':' => self.open(Opened::Group { flagged: false }, start, flags),
            b'>' => self.open(Opened::Atomic, start, flags),
            b'#' => loop {
                match self.token()? {
                    Some(b')') => return Ok(()),
                    Some(_) => {}
                    None => {
                        return Err(self.fault(
                            ErrorKind::UnclosedComment,
                            start,
                            start + 3,
                            "this comment is never closed".into(),
                            "missing ), unterminated comment".into(),
                        ));
                    }
                }
            },
            b'=' | b'!' => {
                let look = Look { behind: false, negative: byte == b'!' };
                self.open(Opened::Look { look, outermost: false }, start, flags)
            }
            b'<' => {
                let at = self.pos;
                match self.token()? {
                    None => Err(self.unexpected_end(start)),
                    Some(b @ (b'=' | b'!')) => {
                        let outermost = self.lookbehind_groups.is_none();
                        if outermost {
                            self.lookbehind_groups = Some(self.captures.len() as u32);
                        }
                        let look = Look { behind: true, negative: b == b'!' };
                        self.open(Opened::Look { look, outermost }, start, flags)
                    }
                    Some(_) => {
                        let python = format!("unknown extension ?<{}", self.slice(at, self.pos));
                        Err(self.unknown_extension(start, python))
                    }
                }
            }
            b'(' => self.conditional(start),
            b'-' | b'i' | b'L' | b'm' | b's' | b'x' | b'a' | b'u' => self.flags(start, byte),
            b't' if self.versions.since(Python::V3_13).is_none() => self.flags(start, byte),
            _ => {
                let python = format!("unknown extension ?{}", self.slice(from, self.pos));
                let mut fault = self.unknown_extension(start, python);
                if byte == b't'
                    && let Some(newer) = self.versions.since(Python::V3_13)
                {
                    fault.refused_by = newer;
                }
                Err(fault)
            }
        }
    }

    fn unexpected_end(&self, start: usize) -> Fault {
        self.fault(
            ErrorKind::UnclosedGroup,
            start,
            self.pos,
            "the pattern ends in the middle of a group's opening".into(),
            "unexpected end of pattern".into(),
        )
    }

    fn unknown_extension(&self, start: usize, python: String) -> Fault {
        let shown = self.slice(start, self.pos);
        let message = format!("`{shown}` opens no kind of group that Python knows");
        self.fault(ErrorKind::UnknownExtension, start, self.pos, message, python)
    }

    fn open_capture(&mut self, start: usize, name: Option<(&'t str, usize)>) -> Result<(), Fault> {
        let number = self.captures.len() as u32 + 1;
        let opener = Span::new(start, self.pos);
        if let Some((name, at)) = name {
            if let Some(&first) = self.names.get(name) {
                let mut fault = self.fault(
                    ErrorKind::DuplicateGroupName,
                    at,
                    at + name.len(),
                    format!("group {first} is already named `{name}`"),
                    format!(
                        "redefinition of group name {} as group {number}; was group {first}",
                        repr(name)
                    ),
                );
                let first = self.captures.get(first as usize - 1);
                fault.related = first.map(|c| (c.span, format!("the first group named `{name}`")));
                return Err(fault);
            }
            self.names.insert(name, number);
        }
        let name = name.map(|(name, _)| name);
        self.captures.push(Capture { span: opener, name, width: None });
        self.open(Opened::Capture(number), start, self.now.flags)
    }

    /// `(?P…`; here is behind the `P`.
    fn python_group(&mut self, start: usize) -> Result<(), Fault> {
        let at = self.pos + 1;
        if self.eat(b'<') {
            let name = self.until(b'>', start, "group name", ErrorKind::BadGroupName)?;
            self.check_name(name, at)?;
            self.open_capture(start, Some((name, at)))
        } else if self.eat(b'=') {
            let name = self.until(b')', start, "group name", ErrorKind::BadGroupName)?;
            self.check_name(name, at)?;
            let number = self.group_named(name, at)?;
            self.back_reference(start, number, start)
        } else {
            let at = self.pos;
            if self.token()?.is_none() {
                return Err(self.unexpected_end(start));
            }
            let python = format!("unknown extension ?P{}", self.slice(at, self.pos));
            Err(self.unknown_extension(start, python))
        }
    }

    fn check_name(&self, name: &str, at: usize) -> Result<(), Fault> {
        let refused_by = match names::identifier(name) {
            names::Identifier::Since(since) => names::refused_by(since, self.versions),
            names::Identifier::No => Some(self.versions),
        };
        let Some(refused_by) = refused_by else { return Ok(()) };
        let message = if refused_by == self.versions {
            format!("`{name}` is no name for a group: Python wants an identifier")
        } else {
            format!("`{name}` has a character that Python {refused_by} does not know yet")
        };
        let python = format!("bad character in group name {}", repr(name));
        let (end, kind) = (at + name.len(), ErrorKind::BadGroupName);
        Err(self.fault_in(refused_by, kind, at, end, message, python))
    }

    fn group_named(&self, name: &str, at: usize) -> Result<u32, Fault> {
        self.names.get(name).copied().ok_or_else(|| {
            self.fault(
                ErrorKind::UnknownGroup,
                at,
                at + name.len(),
                format!("no group before it is named `{name}`"),
                format!("unknown group name {}", repr(name)),
            )
        })
    }

    /// `(?(…)`; here is behind its second bracket.
    fn conditional(&mut self, start: usize) -> Result<(), Fault> {
        let at = self.pos;
        let name = self.until(b')', start, "group name", ErrorKind::BadGroupName)?;
        let end = at + name.len();
        let plain = name.bytes().all(|b| b.is_ascii_digit());
        let number = if plain {
            if name.len() > MAX_DIGITS {
                return Err(self.fault(
                    ErrorKind::UnknownGroup,
                    at,
                    end,
                    "the group's number is too long".into(),
                    "Exceeds the limit (4300 digits) for integer string conversion".into(),
                ));
            }
            Some(name.parse::<u64>().unwrap_or(u64::MAX))
        } else if let (Some(number), names::Identifier::No) =
            (names::python_int(name), names::identifier(name))
        {
            // CPython 3.11 reads ` 1 `, `+1` and `1_0` as numbers, with a warning.
            if let Some(newer) = self.versions.since(Python::V3_12) {
                return Err(self.fault_in(
                    newer,
                    ErrorKind::BadGroupName,
                    at,
                    end,
                    format!("`{name}` is no way to write a group's number since Python 3.12"),
                    format!("bad character in group name {}", repr(name)),
                ));
            }
            Some(number)
        } else {
            None
        };
        let number = match number {
            None => {
                self.check_name(name, at)?;
                self.group_named(name, at)?
            }
            Some(0) => {
                return Err(self.fault(
                    ErrorKind::UnknownGroup,
                    at,
                    end,
                    "there is no group 0 to ask for: groups count from 1".into(),
                    "bad group number".into(),
                ));
            }
            Some(number) => {
                if number >= MAX_GROUPS {
                    return Err(self.unknown_group(number, at, end));
                }
                if number > self.captures.len() as u64 {
                    self.forward.push((number, Span::new(at, end)));
                }
                number as u32
            }
        };
        self.check_in_lookbehind(number, at, end)?;
        self.open(Opened::Conditional(number), start, self.now.flags)
    }

    // ---- flags

    fn bad_flags(&self, start: usize, message: &str, python: &str) -> Fault {
        self.fault(ErrorKind::BadFlags, start, self.pos, message.into(), python.into())
    }

    /// Whether `byte` is a flag in every version, in some, or in none of those asked for.
    fn is_flag(&self, byte: u8) -> bool {
        matches!(byte, b'i' | b'L' | b'm' | b's' | b'x' | b'a' | b'u')
            || byte == b't' && self.versions.since(Python::V3_13).is_none()
    }

    /// The token from `at` to here is no flag; CPython says so for letters, else what it misses.
    fn not_a_flag(&self, at: usize, start: usize, missing: &str) -> Fault {
        let token = self.slice(at, self.pos);
        let letter = token.chars().all(char::is_alphabetic);
        if !letter {
            let message = format!("`{}` is no way to set flags", self.slice(start, self.pos));
            return self.bad_flags(start, &message, missing);
        }
        let mut fault = self.fault(
            ErrorKind::BadFlags,
            at,
            self.pos,
            format!("Python has no flag `{token}`"),
            "unknown flag".into(),
        );
        if token == "t"
            && let Some(newer) = self.versions.since(Python::V3_13)
        {
            fault.refused_by = newer;
        }
        fault
    }

    /// `(?i)`, `(?i-s:`; here is behind the first flag or the `-`.
    fn flags(&mut self, start: usize, first: u8) -> Result<(), Fault> {
        let (mut on, mut off) = (Letters::default(), Letters::default());
        let mut byte = first;
        if byte != b'-' {
            loop {
                if byte == b'L' {
                    return Err(self.bad_flags(
                        self.pos - 1,
                        "the flag `L` is for patterns of bytes, not of text",
                        "bad inline flags: cannot use 'L' flag with a str pattern",
                    ));
                }
                on.add(byte);
                if on.ascii && on.unicode {
                    return Err(self.bad_flags(
                        start,
                        "the flags `a` and `u` contradict each other",
                        "bad inline flags: flags 'a', 'u' and 'L' are incompatible",
                    ));
                }
                let at = self.pos;
                byte = match self.token()? {
                    None => return Err(self.flags_cut(start, "missing -, : or )")),
                    Some(b @ (b')' | b'-' | b':')) => {
                        byte = b;
                        break;
                    }
                    Some(b) if self.is_flag(b) => b,
                    Some(_) => return Err(self.not_a_flag(at, start, "missing -, : or )")),
                }
            }
        }
        if byte == b')' {
            return self.global_flags(start, on);
        }
        if on.template {
            return Err(self.bad_flags(
                start,
                "the flag `t` can only be set for the whole pattern",
                "bad inline flags: cannot turn on global flag",
            ));
        }
        if byte == b'-' {
            let at = self.pos;
            byte = match self.token()? {
                None => return Err(self.flags_cut(start, "missing flag")),
                Some(b) if self.is_flag(b) => b,
                Some(_) => return Err(self.not_a_flag(at, start, "missing flag")),
            };
            loop {
                if matches!(byte, b'a' | b'u' | b'L') {
                    let letter = char::from(byte);
                    return Err(self.bad_flags(
                        self.pos - 1,
                        &format!("the flag `{letter}` cannot be turned off"),
                        "bad inline flags: cannot turn off flags 'a', 'u' and 'L'",
                    ));
                }
                off.add(byte);
                let at = self.pos;
                byte = match self.token()? {
                    None => return Err(self.flags_cut(start, "missing :")),
                    Some(b':') => break,
                    Some(b) if self.is_flag(b) => b,
                    Some(_) => return Err(self.not_a_flag(at, start, "missing :")),
                }
            }
        }
        if off.template {
            return Err(self.bad_flags(
                start,
                "the flag `t` can only be set for the whole pattern",
                "bad inline flags: cannot turn off global flag",
            ));
        }
        if on.set.without(off.set) != on.set {
            return Err(self.bad_flags(
                start,
                "a flag is turned on and off at once",
                "bad inline flags: flag turned on and off",
            ));
        }
        let mut flags = self.now.flags;
        if on.unicode {
            flags = flags.without(Flags::ASCII);
        }
        let flags = flags.with(on.set).without(off.set);
        let flagged = on.unicode || on.set != Flags::NONE || off.set != Flags::NONE;
        self.open(Opened::Group { flagged }, start, flags)
    }

    fn flags_cut(&self, start: usize, python: &str) -> Fault {
        self.fault(
            ErrorKind::BadFlags,
            start,
            self.pos,
            "the pattern ends in the middle of a group's flags".into(),
            python.into(),
        )
    }

    /// `(?i)`, for the whole pattern; here is behind it.
    fn global_flags(&mut self, start: usize, on: Letters) -> Result<(), Fault> {
        let at_start =
            self.outer.is_empty() && self.now.branches.is_none() && self.nodes.is_empty();
        if !at_start {
            return Err(self.fault(
                ErrorKind::FlagsNotAtStart,
                start,
                self.pos,
                format!(
                    "`{}` is for the whole pattern, so it must stand at its start",
                    self.slice(start, self.pos)
                ),
                "global flags not at the start of the expression".into(),
            ));
        }
        let ascii = self.global.has(Flags::ASCII);
        if ascii && on.unicode || self.unicode && on.ascii {
            self.contradiction.get_or_insert(Span::new(start, self.pos));
        }
        self.unicode |= on.unicode;
        self.template |= on.template;
        self.global = self.global.with(on.set);
        self.now.flags = self.global;
        Ok(())
    }
}

/// The flags of one group while they are read.
#[derive(Debug, Clone, Copy, Default)]
struct Letters {
    set: Flags,
    ascii: bool,
    unicode: bool,
    template: bool,
}

impl Letters {
    fn add(&mut self, letter: u8) {
        let flag = match letter {
            b'i' => Flags::IGNORE_CASE,
            b'm' => Flags::MULTI_LINE,
            b's' => Flags::DOT_ALL,
            b'x' => Flags::VERBOSE,
            b'a' => {
                self.ascii = true;
                Flags::ASCII
            }
            b'u' => {
                self.unicode = true;
                Flags::NONE
            }
            _ => {
                self.template = true;
                Flags::NONE
            }
        };
        self.set = self.set.with(flag);
    }
}

/// The set of no character, or of all: what is left of one that had lone surrogates only.
fn nothing(span: Span, negated: bool) -> Class {
    let item = |kind| ClassItem { span, kind };
    let all = [ClassItemKind::Perl(PerlClass::Space), ClassItemKind::NotPerl(PerlClass::Space)];
    Class { negated, bracketed: true, items: all.map(item).to_vec() }
}

/// Adds one part of a set; lone surrogates are in no text, so they are left out.
fn push_item(items: &mut Vec<ClassItem>, span: Span, code: Code) {
    let kind = match code {
        Code::Char(code) => match char::from_u32(code) {
            Some(c) => ClassItemKind::Single(c),
            None => return,
        },
        Code::Perl(set) => ClassItemKind::Perl(set),
        Code::NotPerl(set) => ClassItemKind::NotPerl(set),
    };
    items.push(ClassItem { span, kind });
}

/// Adds a range, `low <= high`, without the surrogates at its ends.
fn push_range(items: &mut Vec<ClassItem>, span: Span, low: u32, high: u32) {
    let low = if (0xD800..=0xDFFF).contains(&low) { 0xE000 } else { low };
    let high = if (0xD800..=0xDFFF).contains(&high) { 0xD7FF } else { high };
    if let (true, Some(low), Some(high)) = (low <= high, char::from_u32(low), char::from_u32(high))
    {
        items.push(ClassItem { span, kind: ClassItemKind::Range(low, high) });
    }
}

/// `text` roughly as Python's `repr` spells it.
fn repr(text: &str) -> String {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    let mut out = String::with_capacity(text.len() + 2);
    out.push(quote);
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c == quote || c == '\\' => out.extend(['\\', c]),
            c if c.is_ascii_control() => {
                let _ = write!(out, "\\x{:02x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push(quote);
    out
}
