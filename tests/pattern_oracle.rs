//! The parser against the CPython on the machine: the same patterns are accepted, for the same
//! reason refused, and read in the same way.
#![allow(missing_docs)]

mod support;

use reglint::pattern::ast::{
    Assertion, Ast, Class, ClassItemKind, Flags, Node, NodeKind, PerlClass, RepeatKind, WarningKind,
};
use reglint::pattern::{ErrorKind, Versions, parse};
use serde_json::{Value, json};
use support::{Rng, ask, cases, pattern, python, seed};

/// Compiles each pattern, and prints its tree without what CPython optimises while parsing: groups
/// that do not capture are gone, flags stand at the leaves, sets are sorted.
const SCRIPT: &str = r#"
import json, sys, warnings, re
from re import _parser as P, _compiler as C
from re._constants import *

def plain_sub(source, state, verbose, nested):
    items = []
    while True:
        items.append(P._parse(source, state, verbose, nested + 1, not nested and not items))
        if not source.match("|"):
            break
        if not nested:
            verbose = state.flags & SRE_FLAG_VERBOSE
    if len(items) == 1:
        return items[0]
    whole = P.SubPattern(state)
    whole.append((BRANCH, (None, items)))
    return whole

real_sub = P._parse_sub
LETTERS = ((SRE_FLAG_IGNORECASE, 'i'), (SRE_FLAG_MULTILINE, 'm'), (SRE_FLAG_DOTALL, 's'),
           (SRE_FLAG_VERBOSE, 'x'), (SRE_FLAG_ASCII, 'a'))
CATEGORIES = {CATEGORY_DIGIT: 'd', CATEGORY_NOT_DIGIT: 'D', CATEGORY_SPACE: 's',
              CATEGORY_NOT_SPACE: 'S', CATEGORY_WORD: 'w', CATEGORY_NOT_WORD: 'W'}
PLACES = {AT_BEGINNING: '^', AT_END: '$', AT_BEGINNING_STRING: 'A', AT_END_STRING: 'Z',
          AT_BOUNDARY: 'b', AT_NON_BOUNDARY: 'B'}

def letters(flags):
    return ''.join(letter for flag, letter in LETTERS if flags & flag)

def charset(items, flags):
    negate = False
    out = set()
    for op, av in items:
        if op is NEGATE:
            negate = True
        elif op is LITERAL:
            if not 0xd800 <= av <= 0xdfff:
                out.add('%x' % av)
        elif op is RANGE:
            lo, hi = av
            if 0xd800 <= lo <= 0xdfff: lo = 0xe000
            if 0xd800 <= hi <= 0xdfff: hi = 0xd7ff
            if lo <= hi:
                out.add('%x-%x' % (lo, hi))
        else:
            out.add(CATEGORIES[av])
    if not out:
        return 'all' if negate else 'none'
    if len(out) == 1 and not negate and '-' not in min(out) and not set('DsSwW') & out and not (
            CATEGORY, CATEGORY_DIGIT) in items:
        return 'L%s/%s' % (min(out), letters(flags))
    return '[%s%s]/%s' % ('^' if negate else '', ' '.join(sorted(out)), letters(flags))

def dump(p, flags):
    return ''.join(item(op, av, flags) for op, av in p)

def item(op, av, flags):
    if op is LITERAL:
        return charset([(LITERAL, av)], flags)
    if op is NOT_LITERAL:
        return charset([(NEGATE, None), (LITERAL, av)], flags)
    if op is IN:
        return charset(av, flags)
    if op is ANY:
        return './' + letters(flags)
    if op is AT:
        return '@%s/%s' % (PLACES[av], letters(flags))
    if op is BRANCH:
        return '<%s>' % '|'.join(dump(p, flags) for p in av[1])
    if op is SUBPATTERN:
        group, add, sub, p = av
        inner = dump(p, C._combine_flags(flags, add, sub))
        return inner if group is None else '(%d %s)' % (group, inner)
    if op is ATOMIC_GROUP:
        return '(> %s)' % dump(av, flags)
    if op is FAILURE:
        return '(fail)'
    if op is ASSERT or op is ASSERT_NOT:
        inner = dump(av[1], flags)
        if op is ASSERT_NOT and not inner:
            return '(fail)'
        return '(%s%s %s)' % ('<' if av[0] < 0 else '', '=' if op is ASSERT else '!', inner)
    if op is GROUPREF:
        return '\\%d/%s' % (av, letters(flags))
    if op is GROUPREF_EXISTS:
        no = '-' if av[2] is None else dump(av[2], flags)
        return '(?%d %s %s)' % (av[0], dump(av[1], flags), no)
    kind = {MAX_REPEAT: '', MIN_REPEAT: '?', POSSESSIVE_REPEAT: '+'}[op]
    most = '' if av[1] == MAXREPEAT else av[1]
    return '{%d,%s%s %s}' % (av[0], most, kind, dump(av[2], flags))

for line in sys.stdin:
    text = json.loads(line)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter('always')
        try:
            C.compile(text)
            error = None
        except re.error as e:
            error = [e.msg, e.pos]
        except (OverflowError, RecursionError, ValueError) as e:
            error = [str(e), None]
    if error:
        print(json.dumps({'error': error}))
        continue
    future = [str(w.message) for w in caught if w.category is FutureWarning]
    P._parse_sub = plain_sub
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        p = P.parse(text)
    P._parse_sub = real_sub
    print(json.dumps({'tree': dump(p, p.state.flags), 'groups': p.state.groups - 1,
                      'names': p.state.groupdict, 'flags': letters(p.state.flags),
                      'warnings': future}))
"#;

fn letters(flags: Flags) -> String {
    let all = [
        (Flags::IGNORE_CASE, 'i'),
        (Flags::MULTI_LINE, 'm'),
        (Flags::DOT_ALL, 's'),
        (Flags::VERBOSE, 'x'),
        (Flags::ASCII, 'a'),
    ];
    all.into_iter().filter(|(flag, _)| flags.has(*flag)).map(|(_, letter)| letter).collect()
}

fn charset(class: &Class, flags: Flags) -> String {
    let perl = |set: PerlClass, not: bool| match (set, not) {
        (PerlClass::Digit, false) => "d",
        (PerlClass::Digit, true) => "D",
        (PerlClass::Space, false) => "s",
        (PerlClass::Space, true) => "S",
        (PerlClass::Word, false) => "w",
        (PerlClass::Word, true) => "W",
    };
    // The parser's spelling of a set that had lone surrogates only.
    if class.items.len() == 2 && class.items[0].span == class.items[1].span {
        return if class.negated { "none" } else { "all" }.into();
    }
    let mut items: Vec<String> = class
        .items
        .iter()
        .map(|item| match item.kind {
            ClassItemKind::Single(c) => format!("{:x}", u32::from(c)),
            ClassItemKind::Range(a, b) => format!("{:x}-{:x}", u32::from(a), u32::from(b)),
            ClassItemKind::Perl(set) => perl(set, false).into(),
            ClassItemKind::NotPerl(set) => perl(set, true).into(),
        })
        .collect();
    items.sort();
    items.dedup();
    let single = matches!(class.items[0].kind, ClassItemKind::Single(_));
    if items.len() == 1 && single && !class.negated {
        return format!("L{}/{}", items[0], letters(flags));
    }
    let not = if class.negated { "^" } else { "" };
    format!("[{not}{}]/{}", items.join(" "), letters(flags))
}

fn dump(node: &Node) -> String {
    match &node.kind {
        NodeKind::Empty => String::new(),
        NodeKind::Literal(c, flags) => format!("L{:x}/{}", u32::from(*c), letters(*flags)),
        NodeKind::Dot(flags) => format!("./{}", letters(*flags)),
        NodeKind::Class(class, flags) => charset(class, *flags),
        NodeKind::Assertion(assertion, flags) => {
            let place = match assertion {
                Assertion::Caret => '^',
                Assertion::Dollar => '$',
                Assertion::TextStart => 'A',
                Assertion::TextEnd => 'Z',
                Assertion::WordBoundary => 'b',
                Assertion::NotWordBoundary => 'B',
            };
            format!("@{place}/{}", letters(*flags))
        }
        NodeKind::Look(look, body) => {
            let inner = dump(body);
            if look.negative && inner.is_empty() {
                return "(fail)".into();
            }
            let behind = if look.behind { "<" } else { "" };
            format!("({behind}{} {inner})", if look.negative { '!' } else { '=' })
        }
        NodeKind::Capture(number, body) => format!("({number} {})", dump(body)),
        NodeKind::Group(body) => dump(body),
        NodeKind::Atomic(body) => format!("(> {})", dump(body)),
        NodeKind::Repeat(repeat, body) => {
            let kind = match repeat.kind {
                RepeatKind::Greedy => "",
                RepeatKind::Lazy => "?",
                RepeatKind::Possessive => "+",
            };
            let most = repeat.max.map(|n| n.to_string()).unwrap_or_default();
            format!("{{{},{most}{kind} {}}}", repeat.min, dump(body))
        }
        NodeKind::Concat(parts) => {
            assert!(parts.len() >= 2);
            parts.iter().map(dump).collect()
        }
        NodeKind::Alternation(parts) => {
            assert!(parts.len() >= 2);
            format!("<{}>", parts.iter().map(dump).collect::<Vec<_>>().join("|"))
        }
        NodeKind::Backreference(number, flags) => format!("\\{number}/{}", letters(*flags)),
        NodeKind::Conditional(number, yes, no) => {
            let no = no.as_deref().map_or("-".into(), dump);
            format!("(?{number} {} {no})", dump(yes))
        }
    }
}

fn warnings(text: &str, ast: &Ast) -> Vec<String> {
    ast.warnings
        .iter()
        .map(|warning| {
            let (kind, shift) = match warning.kind {
                WarningKind::NestedSet => ("nested set", 1),
                WarningKind::SetDifference => ("set difference", 0),
                WarningKind::SetIntersection => ("set intersection", 0),
                WarningKind::SetSymmetricDifference => ("set symmetric difference", 0),
                WarningKind::SetUnion => ("set union", 0),
            };
            let at = text[..warning.span.start as usize].chars().count() + shift;
            format!("Possible {kind} at position {at}")
        })
        .collect()
}

/// Why the parser and CPython disagree on `text`, if they do.
fn disagreement(text: &str, versions: Versions, answer: &Value) -> Option<String> {
    let ours = parse(text, versions);
    match (ours, answer.get("error")) {
        (Ok(ast), None) => {
            let mut names: Vec<(String, usize)> = Vec::new();
            for (at, group) in ast.groups.iter().enumerate() {
                names.extend(group.name.as_deref().map(|name| (name.to_owned(), at + 1)));
            }
            let names: serde_json::Map<String, Value> =
                names.into_iter().map(|(name, number)| (name, number.into())).collect();
            let ours = json!({
                "tree": dump(&ast.root), "groups": ast.groups.len(), "names": names,
                "flags": letters(ast.flags), "warnings": warnings(text, &ast),
            });
            (ours != *answer).then(|| format!("reads\n  {ours}, not\n  {answer}"))
        }
        (Ok(_), Some(error)) => Some(format!("accepts it; CPython: {error}")),
        (Err(fault), None) => Some(format!("refuses it: {}; CPython does not", fault.message)),
        (Err(fault), Some(error)) => {
            let range = fault.span.range();
            if range.end > text.len()
                || (range.is_empty() && !text.is_empty())
                || text.get(range.clone()).is_none()
            {
                return Some(format!("the span {range:?} is no part of it"));
            }
            // Which of two faults its compiler meets first does not matter.
            let internal = error[0].as_str().is_some_and(|words| words.starts_with("internal"));
            if error[0] != fault.python.as_str() && !internal {
                return Some(format!("says {:?}; CPython: {error}", fault.python));
            }
            let Some(at) = error[1].as_u64() else { return None };
            let at = text.char_indices().nth(at as usize).map_or(text.len(), |(at, _)| at);
            // CPython points behind what it read last where something is missing, and there we
            // point at what misses it.
            let behind = matches!(
                fault.kind,
                ErrorKind::BadFlags
                    | ErrorKind::BadGroupName
                    | ErrorKind::IncompleteEscape
                    | ErrorKind::OpenGroup
                    | ErrorKind::LookbehindGroup
                    | ErrorKind::TooManyBranches
            ) || fault.python == "unexpected end of pattern";
            let fits = range.start <= at && at < range.end || behind && range.start <= at;
            (!fits).then(|| format!("points at {range:?}; CPython at {at}: {error}"))
        }
    }
}

fn check(texts: Vec<String>) {
    let Some((python, version)) = python() else { return };
    let answers = ask(&python, SCRIPT, texts.iter().map(|text| json!(text)).collect());
    let (mut wrong, mut accepted) = (Vec::new(), 0);
    for (text, answer) in texts.iter().zip(&answers) {
        accepted += usize::from(answer.get("error").is_none());
        if let Some(why) = disagreement(text, Versions::only(version), answer) {
            wrong.push(format!("{text:?} {why}"));
        }
    }
    wrong.sort_by_key(String::len);
    assert!(
        wrong.is_empty(),
        "{} of {} disagree with CPython {version}:\n{}",
        wrong.len(),
        texts.len(),
        wrong[..wrong.len().min(25)].join("\n")
    );
    eprintln!("{} patterns, {accepted} of them valid, as CPython {version} has them", texts.len());
}

#[test]
fn random_patterns_are_read_as_python_reads_them() {
    let mut rng = Rng::new(seed());
    check((0..cases(5_000)).map(|_| pattern(&mut rng)).collect());
}

/// Names and aliases of characters: exactly as spelled, and from the version on that has them.
#[test]
fn characters_are_named_as_python_names_them() {
    let mut texts: Vec<String> = Vec::new();
    let mut name = |name: &str| texts.push(format!("\\N{{{name}}}"));
    for c in (0..=0x10_FFFF).step_by(7).chain(0..0x500).filter_map(char::from_u32) {
        if let Some(known) = unicode_names2::name(c) {
            let known = known.to_string();
            name(&known);
            if u32::from(c) % 5 == 0 {
                name(&known.replace(' ', ""));
                name(&known.replace('-', " "));
                name(&known.replace(' ', "_"));
                name(&known.to_lowercase());
            }
        }
    }
    for alias in ALIASES {
        for alias in [
            alias.to_string(),
            alias.to_lowercase(),
            alias.replace(' ', ""),
            alias.replace('-', ""),
            alias.replace('-', " "),
            format!("{alias} "),
        ] {
            name(&alias);
        }
    }
    check(texts);
}

const ALIASES: &[&str] = &[
    "ACK",
    "ACKNOWLEDGE",
    "ALERT",
    "ALM",
    "APC",
    "BACKSPACE",
    "BEL",
    "BELL",
    "BOM",
    "BYTE ORDER MARK",
    "CANCEL",
    "CGJ",
    "CR",
    "CSI",
    "DELETE",
    "EM",
    "END OF MEDIUM",
    "ENQUIRY",
    "EOL",
    "ESCAPE",
    "FF",
    "FVS1",
    "FVS4",
    "HANGUL JUNGSEONG O-E",
    "HANGUL JUNGSEONG OE",
    "HORIZONTAL TABULATION",
    "INDEX",
    "LATIN SMALL LETTER GHA",
    "LINE FEED",
    "LF",
    "LOCKING-SHIFT ONE",
    "MARCHEN LETTER -A",
    "MEDEFAIDRIN SMALL LETTER NG",
    "NBSP",
    "NEL",
    "NULL",
    "NUL",
    "PRIVATE USE-1",
    "SHY",
    "SINGLE-SHIFT-2",
    "SP",
    "SPACE",
    "SUBSTITUTE",
    "TAB",
    "SUNDANESE LETTER ARCHAIC I",
    "TIBETAN LETTER -A",
    "TIBETAN MARK BKA- SHOG GI MGO RGYAN",
    "VS1",
    "VS16",
    "VS17",
    "VS256",
    "VS257",
    "WEIERSTRASS ELLIPTIC FUNCTION",
    "ZWJ",
    "ZWNBSP",
    "ZWSP",
    "XYZZY",
];

/// Where nesting ends: at the same depth as for a script that calls `re.compile` itself.
#[test]
fn the_bound_on_nesting_refuses_nothing_that_python_accepts() {
    let Some((python, version)) = python() else { return };
    // Each line is compiled by a script of its own, so that no frame is around `re.compile`.
    let script = "
import re, sys, json
line = sys.stdin.readline()
while line:
    try:
        re.compile(json.loads(line))
        print('true')
    except RecursionError:
        print('false')
    line = sys.stdin.readline()
";
    let shapes: &[(&str, &str, &str, &str)] = &[
        ("", "(", "a", ")"),
        ("", "(", "", ")"),
        ("", "(?:", "a", ")"),
        ("", "(?:", "", ")*"),
        ("", "(?=", "a", ")"),
        ("", "(?<!", "a", ")"),
        ("", "(?>", "a", ")"),
        ("()", "(?(1)", "a", ")"),
        ("()", "(?(1)", "a", ")*"),
        ("", "(b|", "a", ")*"),
        ("", "(?:b|", "a", ")*"),
        ("", "(b|", "a", ")"),
        ("", "(?i:b|c", "[a-z]", ")+?"),
        ("", "(?=b|", "a", "){2}"),
        ("()", "(?(1)b|", "a", ")*"),
        ("", "(?:(", "a", ")b)*"),
        ("", "(a)|(?:b|", "a", ")*"),
    ];
    let (mut texts, mut depths) = (Vec::new(), Vec::new());
    for (at, (before, open, inner, close)) in shapes.iter().enumerate() {
        for depth in [200, 240, 245, 250, 300]
            .into_iter()
            .chain(325..340)
            .chain(480..505)
            .chain([700, 985, 990, 991, 992, 993, 1000, 3000])
        {
            texts.push(format!("{before}{}{inner}{}", open.repeat(depth), close.repeat(depth)));
            depths.push((at, depth));
        }
    }
    let answers = ask(&python, script, texts.iter().map(|text| json!(text)).collect());
    let mut beyond = 0;
    for ((text, answer), (shape, depth)) in texts.iter().zip(&answers).zip(depths) {
        let ours = parse(text, Versions::only(version));
        if let Err(fault) = &ours
            && fault.kind != ErrorKind::TooNested
        {
            continue;
        }
        assert!(ours.is_ok() || answer == &json!(false), "{:?} {depth} deep", shapes[shape]);
        beyond += usize::from(ours.is_ok() && answer == &json!(false));
    }
    eprintln!("{beyond} patterns, at most a few levels each, are accepted beyond CPython's bound");
    assert!(beyond < shapes.len() * 4, "{beyond}");
}
