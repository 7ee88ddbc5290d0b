//! The parser against tables of our own: what it accepts and refuses, how it reads, where it points.
#![allow(missing_docs, clippy::print_stderr)]
#![allow(clippy::format_collect)]

mod support;

use ErrorKind::{
    BadFlags, BadGroupName, DuplicateGroupName, EscapeOutOfRange, FlagsNotAtStart,
    IncompleteEscape, LookbehindGroup, LookbehindTooWide, MultipleRepeat, NothingToRepeat,
    OpenGroup, RangeOfClass, RangeOutOfOrder, RepeatOutOfOrder, RepeatTooLarge, TooManyBranches,
    TrailingBackslash, UnclosedClass, UnclosedComment, UnclosedGroup, UnknownCharacterName,
    UnknownEscape, UnknownExtension, UnknownGroup, UnopenedGroup, VariableLookbehind,
};
use proptest::prelude::*;
use reglint::pattern::ast::{Ast, Node, NodeKind};
use reglint::pattern::{ErrorKind, Python, Versions, parse};
use serde_json::{Value, json};
use support::{Rng, ask, cases, python, seed};

/// Patterns that every version refuses, or some: the characters at fault are in `«»`. Then what the
/// repair makes of it, or nothing if there is none.
#[rustfmt::skip]
const REFUSED: &[(&str, ErrorKind, &str)] = &[
    (r"a«\»", TrailingBackslash, r"a\\"),
    (r"«\»", TrailingBackslash, r"\\"),
    ("a«(»b", UnclosedGroup, "a(b)"),
    ("a«(»", UnclosedGroup, r"a\("),
    ("«(»a(b)", UnclosedGroup, "(a(b))"),
    ("a«(»?:b", UnclosedGroup, "a(?:b)"),
    ("a«(»?P<n>b", UnclosedGroup, "a(?P<n>b)"),
    ("«(»?=a", UnclosedGroup, "(?=a)"),
    ("a«)»b", UnopenedGroup, r"a\)b"),
    ("«)»", UnopenedGroup, r"\)"),
    ("«[»a", UnclosedClass, r"\[a"),
    ("«[»^a", UnclosedClass, r"\[^a"),
    ("«[»]", UnclosedClass, r"\[]"),
    ("«[»^]", UnclosedClass, r"\[^]"),
    ("«[»]a", UnclosedClass, r"\[]a"),
    ("x«[»a-", UnclosedClass, r"x\[a-"),
    ("«(?#»a", UnclosedComment, "(?#a)"),
    (r"a«(?#»b\)", UnclosedComment, r"a(?#b\))"),
    ("«*»a", NothingToRepeat, r"\*a"),
    ("«+»a", NothingToRepeat, r"\+a"),
    ("«?»a", NothingToRepeat, r"\?a"),
    ("«{2}»a", NothingToRepeat, r"\{2}a"),
    ("a|«*»b", NothingToRepeat, r"a|\*b"),
    ("(«*»a)", NothingToRepeat, r"(\*a)"),
    ("(«*»ACCEPT)", NothingToRepeat, ""),
    ("^«*»", NothingToRepeat, ""),
    ("^«+»", NothingToRepeat, "^"),
    (r"\b«+»a", NothingToRepeat, r"\ba"),
    (r"\b«{0,2}»", NothingToRepeat, ""),
    ("$«?»", NothingToRepeat, ""),
    ("a*«*»", MultipleRepeat, "a*"),
    ("a+«*»", MultipleRepeat, "a*"),
    ("a??«+»", MultipleRepeat, "(?:a??)+"),
    ("a*«{2}»", MultipleRepeat, "(?:a*){2}"),
    ("a{2}«{3}»", MultipleRepeat, "(?:a{2}){3}"),
    ("a«{3,1}»", RepeatOutOfOrder, "a{1,3}"),
    ("a«{4294967295}»", RepeatTooLarge, ""),
    ("a«{1,99999999999}»", RepeatTooLarge, ""),
    (r"[«\w-a»]", RangeOfClass, r"[\w\-a]"),
    (r"[«a-\w»]", RangeOfClass, r"[a\-\w]"),
    (r"[«\w-.»]", RangeOfClass, r"[\w\-.]"),
    (r"[«.-\d»]", RangeOfClass, r"[.\-\d]"),
    ("[«z-a»]", RangeOutOfOrder, "[a-z]"),
    ("[«a--»b]", RangeOutOfOrder, r"[a\--b]"),
    (r"«\q»", UnknownEscape, "q"),
    (r"«\i»h", UnknownEscape, "ih"),
    (r"[«\q»]", UnknownEscape, "[q]"),
    (r"[«\B»]", UnknownEscape, ""),
    (r"[«\8»]", UnknownEscape, "[8]"),
    (r"«\z»", UnknownEscape, r"$"),
    (r"foo«\z»", UnknownEscape, r"foo$"),
    (r"(?m:foo«\z»)", UnknownEscape, r"(?m:foo\Z)"),
    (r"[«\z»]", UnknownEscape, ""),
    (r"«\h»+", UnknownEscape, r"[ \t]+"),
    (r"[«\h»x]", UnknownEscape, r"[ \tx]"),
    (r"«\H»", UnknownEscape, r"[^ \t]"),
    (r"«\R»", UnknownEscape, r"(?>\r\n|[\n-\r\x85\u2028\u2029])"),
    (r"«\K»", UnknownEscape, ""),
    (r"a«\K»b", UnknownEscape, ""),
    (r"«\G»", UnknownEscape, ""),
    (r"«\Q»a.b\Ec", UnknownEscape, r"a\.bc"),
    (r"«\Q»a.b", UnknownEscape, r"a\.b"),
    (r"a«\E»", UnknownEscape, "a"),
    (r"«\X»", UnknownEscape, ""),
    (r"«\C»", UnknownEscape, ""),
    (r"«\e»", UnknownEscape, r"\x1B"),
    (r"«\cA»", UnknownEscape, r"\x01"),
    (r"«\c[»", UnknownEscape, r"\x1B"),
    (r"«\o{101}»", UnknownEscape, r"\x41"),
    (r"«\O»", UnknownEscape, r"[\s\S]"),
    (r"«\V»", UnknownEscape, r"[^\n-\r\x85\u2028\u2029]"),
    (r"«\N»", IncompleteEscape, r"[^\n]"),
    (r"«\N{»bullet", IncompleteEscape, ""),
    (r"«\N{}»", IncompleteEscape, ""),
    (r"«\N{NO SUCH}»", UnknownCharacterName, ""),
    (r"«\N{FACE WITH BAGS UNDER EYES}»", UnknownCharacterName, ""),
    (r"«\p{L}»", UnknownEscape, r"[^\W\d_]"),
    (r"«\pL»", UnknownEscape, r"[^\W\d_]"),
    (r"«\P{L}»", UnknownEscape, r"[\W\d_]"),
    (r"«\p{^L}»", UnknownEscape, r"[\W\d_]"),
    (r"«\p{Lu}»", UnknownEscape, "[A-Z]"),
    (r"«\p{Nd}»+", UnknownEscape, r"\d+"),
    (r"«\P{Nd}»", UnknownEscape, r"\D"),
    (r"[«\p{L}»_]", UnknownEscape, "[a-zA-Z_]"),
    (r"[«\P{L}»]", UnknownEscape, r"[\W\d_]"),
    (r"[«\p{Nd}».]", UnknownEscape, r"[\d.]"),
    (r"«\p{Greek}»", UnknownEscape, ""),
    (r"«\p{Any}»", UnknownEscape, r"[\s\S]"),
    (r"«\p»{L", UnknownEscape, ""),
    (r"«\x4»", IncompleteEscape, r"\x04"),
    (r"«\x»", IncompleteEscape, ""),
    (r"«\x{41}»", IncompleteEscape, r"\x41"),
    (r"[«\x{41}»]", IncompleteEscape, r"[\x41]"),
    (r"«\x{1F600}»", IncompleteEscape, r"\U0001F600"),
    (r"«\u41»", IncompleteEscape, r"\u0041"),
    (r"«\u{41}»", IncompleteEscape, r"\u0041"),
    (r"«\u{1F600}»", IncompleteEscape, r"\U0001F600"),
    (r"«\u»{110000}", IncompleteEscape, ""),
    (r"«\U0000»", IncompleteEscape, r"\U00000000"),
    (r"«\U00110000»", EscapeOutOfRange, ""),
    (r"«\400»", EscapeOutOfRange, ""),
    (r"«\777»", EscapeOutOfRange, ""),
    (r"«\8»", UnknownGroup, ""),
    (r"«\1»", UnknownGroup, ""),
    (r"«\1»(a)", UnknownGroup, ""),
    (r"(a)«\2»", UnknownGroup, ""),
    (r"(a«\1»)", OpenGroup, ""),
    ("(?P<n>a«(?P=n)»)", OpenGroup, ""),
    ("(?P=«n»)", UnknownGroup, ""),
    (r"(?<=(a)«\1»)", LookbehindGroup, ""),
    ("(?<=(?P<n>a)«(?P=n)»)", LookbehindGroup, ""),
    ("«(?<n>»a)", UnknownExtension, "(?P<n>a)"),
    (r"«(?<n>»a)\k<n>", UnknownExtension, "(?P<n>a)(?P=n)"),
    (r"«(?'n'»a)\k'n'", UnknownExtension, "(?P<n>a)(?P=n)"),
    (r"(?P<n>a)«\k<n>»", UnknownEscape, "(?P<n>a)(?P=n)"),
    (r"(?P<n>a)«\k{n}»", UnknownEscape, "(?P<n>a)(?P=n)"),
    (r"(?P<n>a)«\g{n}»", UnknownEscape, "(?P<n>a)(?P=n)"),
    (r"(a)«\g{1}»0", UnknownEscape, r"(a)(?:\1)0"),
    (r"(a)«\g»<1>", UnknownEscape, ""),
    ("(?P<«1a»>a)", BadGroupName, "(?P<_1a>a)"),
    ("(?P<«my-name»>a)", BadGroupName, "(?P<my_name>a)"),
    ("«(?P<>»a)", BadGroupName, ""),
    ("«(?P<»n", BadGroupName, ""),
    ("«(?P<»", BadGroupName, ""),
    ("«(?P»", UnclosedGroup, ""),
    ("«(?»", UnclosedGroup, ""),
    ("«(?P>n)»", UnknownExtension, ""),
    ("«(?Pn»)", UnknownExtension, ""),
    ("(?P<n>a)(?P<«n»>b)", DuplicateGroupName, ""),
    ("«(?R)»", UnknownExtension, ""),
    ("«(?R)»a", UnknownExtension, ""),
    ("«(?1)»(a)", UnknownExtension, ""),
    ("«(?&n)»", UnknownExtension, ""),
    ("«(?|»a|b)", UnknownExtension, ""),
    ("«(?~»a)", UnknownExtension, ""),
    ("«(?U)»a+", UnknownExtension, ""),
    ("«(?J)»", UnknownExtension, ""),
    ("«(?n»:a)", UnknownExtension, ""),
    ("«(?C1)»", UnknownExtension, ""),
    ("«(?^»i:a)", UnknownExtension, ""),
    ("«(?{»x})", UnknownExtension, ""),
    ("(?i:a«(?i)»b)", FlagsNotAtStart, "(?i:a(?i:b))"),
    ("a«(?i)»", FlagsNotAtStart, "a"),
    ("a«(?i)»b", FlagsNotAtStart, "a(?i:b)"),
    ("a«(?i)»b|c", FlagsNotAtStart, "a(?i:b)|(?i:c)"),
    ("(a«(?i)»b|c)d", FlagsNotAtStart, "(a(?i:b)|(?i:c))d"),
    ("a«(?i)»[)]b(?#)|)(c)", FlagsNotAtStart, "a(?i:[)]b(?#))|(?i:))(c)"),
    (" «(?i)»a", FlagsNotAtStart, " (?i:a)"),
    ("a|«(?i)»b", FlagsNotAtStart, "a|(?i:b)"),
    ("x«(?x)» a b # c", FlagsNotAtStart, ""),
    ("(?«L»)a", BadFlags, ""),
    ("«(?au»)a", BadFlags, ""),
    ("(?a)«(?u)»a", BadFlags, ""),
    ("«(?i-i:»a)", BadFlags, ""),
    ("(?-«a»:a)", BadFlags, ""),
    ("«(?-)»a", BadFlags, ""),
    ("«(?-i)»a", BadFlags, ""),
    ("«(?i»", BadFlags, ""),
    ("(?i«z»)", BadFlags, ""),
    ("«(?i!»)", BadFlags, ""),
    ("«(?t»)a", UnknownExtension, ""),
    ("(?i«t»:a)", BadFlags, ""),
    ("(?(1)a|b«|»c)", TooManyBranches, ""),
    ("()(?(1)a|b«|»c)", TooManyBranches, ""),
    ("(?(«2»)a)(b)", UnknownGroup, ""),
    ("(?(«0»)a)", UnknownGroup, ""),
    ("(?(«n»)a)", UnknownGroup, ""),
    ("(?(«1a»)b)", BadGroupName, ""),
    ("()(?(« 1 »)a)", BadGroupName, "()(?(1)a)"),
    ("()(?(«+1»)a)", BadGroupName, "()(?(1)a)"),
    ("(?(«?=a»)b|c)", BadGroupName, ""),
    ("«(?(»1", BadGroupName, ""),
    ("«(?(»", BadGroupName, ""),
    ("«(?<=a|bc)»d", VariableLookbehind, "(?:(?<=a)|(?<=bc))d"),
    ("«(?<!a|bc)»d", VariableLookbehind, "(?<!a)(?<!bc)d"),
    ("«(?<!a|bc)»*d", VariableLookbehind, "(?:(?<!a)(?<!bc))*d"),
    ("«(?<!dispatch_|enqueue_)»kv", VariableLookbehind, "(?<!dispatch_)(?<!enqueue_)kv"),
    ("«(?<=a*)»b", VariableLookbehind, ""),
    ("«(?<=a?)»b", VariableLookbehind, ""),
    ("«(?<!a{2,3})»b", VariableLookbehind, ""),
    ("«(?<=(?:a|bc)d)»e", VariableLookbehind, ""),
    ("«(?<=a|b*)»c", VariableLookbehind, ""),
    (r"«(?<=(a)|bc)»\1", VariableLookbehind, r"(?:(?<=(a))|(?<=bc))\1"),
    ("(?<=a{4294967294}«{0}»aa)", MultipleRepeat, "(?<=(?:a{4294967294}){0}aa)"),
    ("«(?<=(?:a{65536}){65536})»b", LookbehindTooWide, ""),
    ("«(?<a»)", UnknownExtension, ""),
    ("«(?<»", UnclosedGroup, ""),
    ("«(»?<=", UnclosedGroup, "(?<=)"),
    ("«(»?<!a", UnclosedGroup, "(?<!a)"),
    ("(«*»a", NothingToRepeat, ""),
    (r"«(?<n>»a)(?<m>b)\k<m>[\k<n>](?#(?<n>)", UnknownExtension, r"(?P<n>a)(?P<m>b)(?P=m)[\k<n>](?#(?<n>)"),
    (r"[a]«\p{L}»*x{,3}(", UnknownEscape, r"[a][^\W\d_]*x{,3}("),
    ("a]b«)»c", UnopenedGroup, r"a]b\)c"),
    ("(?x) a «(» b # )", UnclosedGroup, ""),
    ("(?x)[#)]«(?i)»b # ) |", FlagsNotAtStart, ""),
    (r"é\d«{3,1}»", RepeatOutOfOrder, r"é\d{1,3}"),
    ("µ→«(?i)»x", FlagsNotAtStart, "µ→(?i:x)"),
    ("日本*+«*»", MultipleRepeat, "日(?:本*+)*"),
    ("𝒳[«z-a»]", RangeOutOfOrder, "𝒳[a-z]"),
];

/// Patterns that every version accepts.
#[rustfmt::skip]
const ACCEPTED: &[&str] = &[
    "", "a", "|", "a||b", "(|)", "()", "(?:)", "(?:|)", "()*", "(?:)*", "(|a)+", "((((((((((a))))))))))",
    "a(?#c)*", "(?#c)a", "(?#[(*)", r"(?#\)c)", "(?i)a", "(?i)(?m)a", "(?im)", "(?i)", "(?#c)(?i)a",
    "(?x) a b ", "(?x)#c\na", "(?x)(?i)a", "(?x) (?i) a", "(?x)a #c", "(?x)a #c\n*", "(?x)a (?#c) *",
    "(?x)[ #]a", r"(?x)\ \#", "(?x)(?-x: a#)", "(?x: a b # c\n)", "(?-x:a)", "(?x)a{2 }", "(?x)a {2}",
    "(?x) | a", "a(?x: b )c", "(?i:a)", "(?-i:a)", "(?im-sx:a)", r"(?a:\w)", r"(?u:\w)", r"(?a:(?u:\w)\w)",
    "(?a)a(?u:b)", "x{", "x{}", "x{a}", "x{1", "x{1,", "x{1,2", "x{,", "x{,}", "x{,2}", "x{2,}", "x{2}",
    "x{0}", "x{0,0}", "x{02}", "x{1,2}?", "x{1,2}+", "x{ 1}", "x{1 }", "x{1, 2}", "x{-1}", "{", "{}", "{a}",
    "{,a", "}", "]", "]a", "a]", "a-b", "x*?", "x+?", "x??", "x*+", "x++", "x?+", "x{4294967294}",
    "x{0,4294967294}", "x{1}{a}", "(?:x*)*", "(x*)*", "(?:x+)+", "(?=a)*", "(?!a)+", "(?<=a)?", "(?<!a){2}",
    "(?=)", "(?!)", "(?<=)", "(?<!)", "(?!)*", "(?>a|b)c", "(?>a*)+", "(?>)", "[a]", "[]]", "[^]]", "[]a]",
    "[^^]", "[^]a-]", "[-a]", "[a-]", "[a-c-e]", "[--a]", "[+--]", r"[a\-z]", r"[\]\[]", r"[\\]", r"[\^]",
    r"[\b]", r"[\d\D\s\S\w\W]", r"[\d-]", r"[-\d]", r"[^\w]", r"[\n\t\x41\u0041\U00000041\101\0]",
    r"[\N{BULLET}]", r"[\N{BULLET}-\u2030]", "[[]", "[[:alpha:]]", "[a&&b]", "[a||b]", "[a~~b]",
    "[a-z--aeiou]", "[.*+?(){}|$]", "[#]", "[é-ü]", "[→]", "[𝒳-𝒵]", r"\d\D\s\S\w\W", r"\A\Z\b\B",
    r"\a\f\n\r\t\v\\", r"\.\*\+\?\(\)\[\]\{\}\|\^\$", r#"\/\-\ \#\!\<\>\_\:\'\""#, r"\é\→", r"\0", r"\00",
    r"\000", r"\0000", r"\01", r"\08", r"\09", r"\012", r"\101", r"\377", r"\x41\xfF", r"\u0041\u00e9",
    r"\ud800", r"[\ud800]", r"[^\ud800]", r"[\ud800-\udfff]", r"[a-\ud900]", r"\U0001F600", r"\U0010FFFF",
    r"\N{BULLET}", r"\N{bullet}", r"\N{Latin Small Letter E With Acute}", r"\N{LINE FEED}", r"\N{LF}",
    r"\N{HANGUL SYLLABLE GA}", r"\N{CJK UNIFIED IDEOGRAPH-4E00}", r"(a)\1", r"(a)(b)\2\1", r"(a)\1*",
    r"(a)(b)(c)(d)(e)(f)(g)(h)(i)(j)\10", r"(a)\100", "(?P<n>a)(?P=n)", "(?P<n>a)(?P=n){2}", "(?P<_>a)",
    "(?P<n1_>a)", "(?P<é>a)(?P=é)", "(?P<日本>a)", "(?P<n>a)(?P<m>b)", "(?P<n>a)(?(n)b|c)", "(a)?(?(1)b|c)",
    "(a)?(?(1)b)", "(a)?(?(1))", "(a)?(?(1)|c)", "(a)?(?(1)b|)", "(a)?(?(01)b)", "(a)?(?(1)b|c)*",
    "(?(1)a|b)(c)", "(a(?(1)b|c))", "(?(2)a)(b)(c)", "((a)|(?(2)b))", "(?<=a)b", "(?<=ab|cd)e",
    "(?<=a{2})b", "(?<=(?:a|b)c)d", r"(?<=[ab]\d.)e", "(?<=^a)b", r"(?<=\ba)b", "(?<=(?=abc)a)b",
    "(?<=(?<=a)b)c", "(?<=(?!a*)b)c", "(?<!a)(?<!bc)d", r"(a)(?<=\1)b", r"(a|b)(?<=\1)c",
    "(a)(?<=a(?(1)b|c))", "(?<=(a))b", r"(?<=(a)b)\1", "(?<=a{0})b", "(?<=(?:){3})b", "(?<=(?:a{0,0})*)b",
    "(?<=(?>ab))c", "(?<=a{2}+)b", "(?<=a|b|[c])d", "(?<=(?i:a)|b)c", "MlxDevice::alloc_buffer::",
    "hadamard_quantize_kv::dispatch_hadamard_quantize_kv", r"GraphSession|exec\.begin|s\.finish",
    "rope::dispatch_rope(?!_cached)", r"-\[AGXG17XFamilyComputeContext initWithCommandBuffer:config:\]",
    r"_\$LT\$impl\$u20\$anyhow\.\.Context", "AGXG.*FamilyCommandBuffer", "h[0-9a-f]{16}$",
    "^(?:a|b)::[^:]+::c$", "a$b^c", "^^^", "$$", ".", ".*", "(?s).", "(?m)^a$",
];

/// The pattern without the marks, and what is between them.
fn unmarked(marked: &str) -> (String, std::ops::Range<usize>) {
    let start = marked.find('«').expect("a mark opens");
    let end = marked.find('»').expect("a mark closes") - '«'.len_utf8();
    (marked.replace(['«', '»'], ""), start..end)
}

#[test]
fn accepts_what_is_valid() {
    for text in ACCEPTED {
        let fault = parse(text, Versions::ALL).err();
        assert!(fault.is_none(), "{text:?}: {fault:?}");
    }
}

#[test]
fn refuses_what_is_not_at_the_very_characters() {
    for (marked, kind, repaired) in REFUSED {
        let (text, at) = unmarked(marked);
        let fault = parse(&text, Versions::ALL).expect_err(&text);
        assert_eq!((fault.kind, fault.span.range()), (*kind, at), "{text:?}: {}", fault.message);
        let repair = fault.repair.as_ref().map(|repair| repair.apply(&text));
        assert_eq!(repair.as_deref().unwrap_or(""), *repaired, "{text:?}");
        assert!(!fault.message.is_empty() && !fault.message.ends_with('.'), "{}", fault.message);
        assert!(!fault.python.is_empty());
        let Some(repair) = fault.repair else { continue };
        assert!(!repair.message.is_empty() && !repair.edits.is_empty());
        for pair in repair.edits.windows(2) {
            assert!(pair[0].0.end < pair[1].0.start, "the edits of {text:?} touch");
        }
    }
}

/// The same faults behind another branch, and the same characters there.
#[test]
fn points_at_the_same_characters_in_another_place() {
    for (marked, kind, _) in REFUSED {
        let (text, at) = unmarked(marked);
        // Flags at the start would not be there any more.
        if text.starts_with("(?a)") || text.starts_with("(?x)") {
            continue;
        }
        for before in ["é→|", "[(]𝒳|", r"(?:µ\||\\)*|", "(?#[)|"] {
            let whole = format!("{before}{text}");
            let Err(fault) = parse(&whole, Versions::ALL) else { panic!("{whole:?} is accepted") };
            let moved = at.start + before.len()..at.end + before.len();
            assert_eq!((fault.kind, fault.span.range()), (*kind, moved), "{whole:?}: {fault:?}");
        }
    }
}

#[test]
fn says_which_versions_refuse() {
    let by = |text: &str, versions| parse(text, versions).err().map(|f| f.refused_by.to_string());
    let only = Versions::only;
    assert_eq!(by(r"a\z", Versions::ALL).as_deref(), Some("3.11 to 3.13"));
    assert_eq!(by(r"a\z", only(Python::V3_14)), None);
    assert_eq!(by(r"a\z", only(Python::V3_13)).as_deref(), Some("3.13"));
    assert_eq!(by(r"[\z]", Versions::ALL).as_deref(), Some("3.11 to 3.14"));
    assert_eq!(by("()(?( 1)a)", Versions::ALL).as_deref(), Some("3.12 to 3.14"));
    assert_eq!(by("()(?( 1)a)", only(Python::V3_11)), None);
    assert_eq!(by("(?t)a", Versions::ALL).as_deref(), Some("3.13 and 3.14"));
    assert_eq!(by("(?t)a", Versions::range(Python::V3_11, Python::V3_12)), None);
    assert_eq!(by("(?t)a*", only(Python::V3_11)).as_deref(), Some("3.11"));
    // U+1FAE8 came with Unicode 15.0, U+2FFC with 15.1 and U+1FAE9 with 16.0.
    assert_eq!(by(r"\N{SHAKING FACE}", Versions::ALL).as_deref(), Some("3.11"));
    assert_eq!(by(r"\N{SHAKING FACE}", only(Python::V3_12)), None);
    assert_eq!(
        by(r"\N{FACE WITH BAGS UNDER EYES}", Versions::ALL).as_deref(),
        Some("3.11 to 3.13")
    );
    assert_eq!(by(r"\N{FACE WITH BAGS UNDER EYES}", only(Python::V3_14)), None);
    // A letter of Unicode 16.0 in a name, and one of 15.0.
    assert_eq!(by("(?P<\u{16D43}>a)", Versions::ALL).as_deref(), Some("3.11 to 3.13"));
    assert_eq!(by("(?P<\u{1E4D0}>a)", Versions::ALL).as_deref(), Some("3.11"));
    assert_eq!(by("(?P<\u{1E4D0}>a)", only(Python::V3_13)), None);
}

#[test]
fn shows_related_places() {
    let related = |text: &str| {
        let fault = parse(text, Versions::ALL).expect_err(text);
        fault.related.map(|(span, _)| text[span.range()].to_owned())
    };
    assert_eq!(related("(?P<n>a)(?P<n>b)").as_deref(), Some("(?P<n>a)"));
    assert_eq!(related("a{2,3}{4}").as_deref(), Some("{2,3}"));
    assert_eq!(related("(a(b)\\1)").as_deref(), Some("("));
}

/// A tree as text: each part with its characters, parts of parts in braces.
fn shape(text: &str, node: &Node) -> String {
    let name = match &node.kind {
        NodeKind::Empty => "empty".into(),
        NodeKind::Literal(c, _) => format!("{c:?}"),
        NodeKind::Dot(_) => "dot".into(),
        NodeKind::Class(class, _) => format!("set{}", class.items.len()),
        NodeKind::Assertion(place, _) => format!("{place:?}"),
        NodeKind::Look(look, _) => {
            format!(
                "look{}{}",
                if look.behind { "<" } else { "" },
                if look.negative { "!" } else { "=" }
            )
        }
        NodeKind::Capture(number, _) => format!("capture{number}"),
        NodeKind::Group(_) => "group".into(),
        NodeKind::Atomic(_) => "atomic".into(),
        NodeKind::Repeat(repeat, _) => format!("repeat{}", &text[repeat.operator.range()]),
        NodeKind::Concat(_) => "concat".into(),
        NodeKind::Alternation(_) => "either".into(),
        NodeKind::Backreference(number, _) => format!("back{number}"),
        NodeKind::Conditional(number, ..) => format!("if{number}"),
    };
    let inner: Vec<String> = children(node).into_iter().map(|child| shape(text, child)).collect();
    let inner = if inner.is_empty() { String::new() } else { format!("{{{}}}", inner.join(" ")) };
    format!("{name}`{}`{inner}", &text[node.span.range()])
}

fn children(node: &Node) -> Vec<&Node> {
    match &node.kind {
        NodeKind::Look(_, body)
        | NodeKind::Capture(_, body)
        | NodeKind::Group(body)
        | NodeKind::Atomic(body)
        | NodeKind::Repeat(_, body) => vec![body],
        NodeKind::Concat(parts) | NodeKind::Alternation(parts) => parts.iter().collect(),
        NodeKind::Conditional(_, yes, no) => std::iter::once(&**yes).chain(no.as_deref()).collect(),
        _ => Vec::new(),
    }
}

#[rustfmt::skip]
const SHAPES: &[(&str, &str)] = &[
    ("", "empty``"),
    ("(?i)", "empty`(?i)`"),
    ("a", "'a'`a`"),
    (r"\.", r"'.'`\.`"),
    (r"a\x41", r"concat`a\x41`{'a'`a` 'A'`\x41`}"),
    (r"\N{BULLET}", r"'•'`\N{BULLET}`"),
    ("(?i)ab", "concat`ab`{'a'`a` 'b'`b`}"),
    ("a|", "either`a|`{'a'`a` empty``}"),
    ("|a", "either`|a`{empty`` 'a'`a`}"),
    ("()", "capture1`()`{empty``}"),
    ("(?:)", "group`(?:)`{empty``}"),
    ("((a)|b)*?", "repeat*?`((a)|b)*?`{capture1`((a)|b)`{either`(a)|b`{capture2`(a)`{'a'`a`} 'b'`b`}}}"),
    ("a{2,3}+b", "concat`a{2,3}+b`{repeat{2,3}+`a{2,3}+`{'a'`a`} 'b'`b`}"),
    ("a(?#c)*", "repeat*`a(?#c)*`{'a'`a`}"),
    ("(?x) a # c\n b", "concat`a # c\n b`{'a'`a` 'b'`b`}"),
    ("(?x) ( a | b )", "capture1`( a | b )`{either`a | b`{'a'`a` 'b'`b`}}"),
    ("(?x) ( ) | ", "either`( ) | `{capture1`( )`{empty` `} empty` `}"),
    ("(?<!a)(?=b)", "concat`(?<!a)(?=b)`{look<!`(?<!a)`{'a'`a`} look=`(?=b)`{'b'`b`}}"),
    ("(?>a|b)", "atomic`(?>a|b)`{either`a|b`{'a'`a` 'b'`b`}}"),
    ("(?i-s:a.)", "group`(?i-s:a.)`{concat`a.`{'a'`a` dot`.`}}"),
    (r"(a)\1(?P<n>b)(?P=n)", r"concat`(a)\1(?P<n>b)(?P=n)`{capture1`(a)`{'a'`a`} back1`\1` capture2`(?P<n>b)`{'b'`b`} back2`(?P=n)`}"),
    ("(?(1)a|bc)(d)", "concat`(?(1)a|bc)(d)`{if1`(?(1)a|bc)`{'a'`a` concat`bc`{'b'`b` 'c'`c`}} capture1`(d)`{'d'`d`}}"),
    ("(d)(?(1)a)", "concat`(d)(?(1)a)`{capture1`(d)`{'d'`d`} if1`(?(1)a)`{'a'`a`}}"),
    (r"[a-c\d_]\w", r"concat`[a-c\d_]\w`{set3`[a-c\d_]` set1`\w`}"),
    ("^é$", "concat`^é$`{Caret`^` 'é'`é` Dollar`$`}"),
    (r"\A\b\B\Z", r"concat`\A\b\B\Z`{TextStart`\A` WordBoundary`\b` NotWordBoundary`\B` TextEnd`\Z`}"),
    ("x{,a{}", "concat`x{,a{}`{'x'`x` '{'`{` ','`,` 'a'`a` '{'`{` '}'`}`}"),
    (r"\08", r"concat`\08`{'\0'`\0` '8'`8`}"),
    ("(|a)", "capture1`(|a)`{either`|a`{empty`` 'a'`a`}}"),
];

#[test]
fn reads_into_trees() {
    for (text, tree) in SHAPES {
        let ast = parse(text, Versions::ALL).expect(text);
        assert_eq!(shape(text, &ast.root), *tree, "{text:?}");
    }
}

/// What holds of every tree: spans nest and follow each other, containers have enough parts, and a
/// literal's characters are that literal.
fn check_tree(text: &str, ast: &Ast) {
    let mut stack = vec![&ast.root];
    let mut captures = 0;
    while let Some(node) = stack.pop() {
        assert!(text.get(node.span.range()).is_some(), "{text:?}: {node:?} is cut");
        let parts = children(node);
        let mut at = node.span.start;
        for part in &parts {
            assert!(node.span.contains(part.span) && at <= part.span.start, "{text:?}: {node:?}");
            at = part.span.end;
        }
        match &node.kind {
            NodeKind::Literal(c, _) => {
                let own = &text[node.span.range()];
                let own = parse(
                    &format!(
                        "{}{own}",
                        if own == "#" || own.trim().is_empty() { "(?-x:)" } else { "" }
                    ),
                    Versions::only(Python::V3_14),
                )
                .expect(own);
                let literal = match own.root.kind {
                    NodeKind::Concat(mut parts) => parts.pop().expect("a part").kind,
                    kind => kind,
                };
                assert!(matches!(literal, NodeKind::Literal(d, _) if d == *c), "{text:?}: {c:?}");
            }
            NodeKind::Concat(_) | NodeKind::Alternation(_) => assert!(parts.len() >= 2),
            NodeKind::Class(class, _) => assert!(
                !class.items.is_empty()
                    && class.items.iter().all(|item| node.span.contains(item.span))
            ),
            NodeKind::Capture(number, _) => {
                captures += 1;
                assert_eq!(ast.groups[*number as usize - 1].span, node.span);
            }
            NodeKind::Repeat(repeat, _) => {
                assert!(
                    node.span.end == repeat.operator.end
                        && repeat.max.is_none_or(|max| repeat.min <= max)
                );
            }
            _ => {}
        }
        stack.extend(parts);
    }
    assert_eq!(captures, ast.groups.len(), "{text:?}");
}

#[test]
fn trees_of_random_patterns_hold_together() {
    let mut rng = Rng::new(seed());
    let mut valid = 0;
    for _ in 0..cases(20_000) {
        let text = support::pattern(&mut rng);
        match parse(&text, Versions::ALL) {
            Ok(ast) => {
                valid += 1;
                check_tree(&text, &ast);
            }
            Err(fault) => check_fault(&text, &fault),
        }
    }
    assert!(valid > 1_000);
}

fn check_fault(text: &str, fault: &reglint::pattern::PatternError) {
    let range = fault.span.range();
    assert!(text.get(range.clone()).is_some(), "{text:?}: {fault:?} is cut");
    assert!(!range.is_empty() || text.is_empty(), "{text:?}: {fault:?} points at nothing");
    let mut at = 0;
    for (span, _) in fault.repair.iter().flat_map(|repair| &repair.edits) {
        assert!(at <= span.start && text.get(span.range()).is_some(), "{text:?}: {fault:?}");
        at = span.end;
    }
    if let Some((span, _)) = &fault.related {
        assert!(text.get(span.range()).is_some(), "{text:?}: {fault:?}");
    }
}

proptest! {
    #[test]
    fn no_text_is_too_much(text in any::<String>()) {
        match parse(&text, Versions::ALL) {
            Ok(ast) => check_tree(&text, &ast),
            Err(fault) => check_fault(&text, &fault),
        }
    }

    #[test]
    fn no_heap_of_punctuation_is_too_much(text in r"[\\()\[\]{}?*+|^$<>:=!PN#xiéa0-3, \n-]{0,24}") {
        match parse(&text, Versions::ALL) {
            Ok(ast) => check_tree(&text, &ast),
            Err(fault) => check_fault(&text, &fault),
        }
    }
}

/// Every repair that leaves nothing wrong is one that CPython compiles.
#[test]
fn python_compiles_what_was_repaired() {
    let Some((python, version)) = python() else { return };
    let script = "
import json, sys, re, warnings
warnings.simplefilter('ignore')
for line in sys.stdin:
    try:
        re.compile(json.loads(line))
        print('null')
    except Exception as e:
        print(json.dumps(str(e)))
";
    let mut rng = Rng::new(seed() ^ 0x5EED);
    let mut texts: Vec<String> = REFUSED.iter().map(|row| unmarked(row.0).0).collect();
    texts.extend((0..cases(10_000)).map(|_| support::pattern(&mut rng)));
    let (mut repaired, mut offered) = (Vec::new(), 0);
    for text in &texts {
        let Err(fault) = parse(text, Versions::only(version)) else { continue };
        let Some(repair) = &fault.repair else { continue };
        offered += 1;
        let new = repair.apply(text);
        assert_ne!(&new, text);
        if parse(&new, Versions::only(version)).is_ok() {
            repaired.push((text, new));
        }
    }
    let answers = ask(&python, script, repaired.iter().map(|(_, new)| json!(new)).collect());
    for ((text, new), answer) in repaired.iter().zip(&answers) {
        assert_eq!(answer, &Value::Null, "{text:?} was repaired to {new:?}");
    }
    eprintln!("{} of {offered} repairs leave nothing wrong", repaired.len());
    assert!(repaired.len() > 100);
}

/// Every step is linear, and none recurses by the depth of the pattern.
#[test]
fn long_and_deep_patterns_are_read_in_time_and_on_a_small_stack() {
    let run = || {
        let long = [
            "a".repeat(2_000_000),
            "a|".repeat(1_000_000),
            "(a)".repeat(300_000),
            "[a-z]*".repeat(300_000),
            "(?P<n>".repeat(300_000),
            "(?".repeat(300_000),
            "(".repeat(1_000_000),
            "[".repeat(1_000_000),
            "a{".repeat(500_000),
            "a{1".repeat(500_000),
            "\\Q".repeat(300_000),
            "a**".repeat(300_000),
            "\\p{L}".repeat(200_000),
            "(?<n>a)".repeat(100_000),
            "(?i)".repeat(300_000) + "a(?i)" + &"b|".repeat(300_000),
            "(?<=a|bc)".repeat(100_000),
            format!("(?<={}b)", "a|".repeat(300_000)),
            "(?#".repeat(300_000),
            format!("(?x){}", "#".repeat(1_000_000)),
            (0..100_000).map(|n| format!("(?P<n{n}>a)")).collect(),
            "(?(1)".repeat(300_000),
            "(?(9)a)".repeat(300_000),
            "(b|".repeat(300) + "a" + &")*".repeat(300),
            "(?:b|".repeat(490) + "a" + &")*".repeat(490),
        ];
        for text in &long {
            let shown: String = text.chars().take(9).collect();
            let start = std::time::Instant::now();
            let result = parse(text, Versions::ALL);
            let took = start.elapsed();
            // Generous: a debug build on a busy machine takes a tenth of it.
            assert!(took.as_secs() < 5, "{shown}… took {took:?}");
            if let Ok(ast) = result {
                assert_eq!(ast, ast.clone());
            }
        }
    };
    // The stack of a thread of a pool, and a build without optimisation.
    std::thread::Builder::new()
        .stack_size(2 << 20)
        .spawn(run)
        .expect("a thread")
        .join()
        .expect("no overflow");
}

/// The collection of constructs with what CPython makes of each, where it is at hand.
#[test]
fn dialects_are_judged_as_python_judges_them() {
    let shared = std::env::var_os("REGLINT_SHARED").map_or_else(
        || std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared"),
        std::path::PathBuf::from,
    );
    let Ok(bytes) = std::fs::read(shared.join("patterns/dialects.json")) else {
        eprintln!("skipped: no {}", shared.join("patterns/dialects.json").display());
        return;
    };
    let rows: Vec<Value> = serde_json::from_slice(&bytes).expect("the file is JSON");
    assert_eq!(rows.len(), 230);
    for row in &rows {
        let text = row["pattern"].as_str().expect("a pattern");
        let python = row["python"].as_str().expect("a verdict");
        let ours = parse(text, Versions::ALL);
        assert_eq!(ours.is_ok(), python == "ok", "{text:?}: {python}, not {ours:?}");
        if let Ok(ast) = &ours {
            let warned = row["python_warnings"].as_array().is_some_and(|all| !all.is_empty());
            assert_eq!(!ast.warnings.is_empty(), warned, "{text:?}");
        }
        let Err(fault) = ours else { continue };
        let words = python.split(" at position ").next().expect("some words");
        assert_eq!(fault.python, words.trim_start_matches("OverflowError: "), "{text:?}");
        let Some(at) = python.split(" at position ").nth(1) else { continue };
        let at: usize = at.parse().expect("a position");
        let at = text.char_indices().nth(at).map_or(text.len(), |(at, _)| at);
        // CPython points behind what it read last where something is missing or open.
        let behind = matches!(fault.kind, BadFlags | BadGroupName | IncompleteEscape | OpenGroup);
        let range = fault.span.range();
        assert!(range.start <= at && (at < range.end || behind), "{text:?}: {range:?}, not {at}");
    }
}

/// Rust's engine accepts what is called plain without compiling it, and no pattern makes it panic.
#[test]
fn plain_patterns_compile_in_rust() {
    let mut rng = Rng::new(seed() ^ 0xF00D);
    let parts = [
        "foo", "bar_1", "::", r"\.", r"\[", "a b", ",", "-", "(", "(?:", ")", ")", "|", "*", "+?",
        "??", r"\$", "é", "<", "{", "]",
    ];
    let mut plain = 0;
    for _ in 0..cases(5_000) {
        let text: String = (0..rng.below(9)).map(|_| rng.pick(&parts)).collect();
        let Ok(ast) = parse(&text, Versions::ALL) else { continue };
        let compiled = reglint::pattern::compile_rust(&text);
        if reglint::pattern::plain_in_rust(&text, &ast) {
            plain += 1;
            assert!(compiled.is_ok(), "{text:?}: {compiled:?}");
        }
        assert_eq!(reglint::pattern::check_rust(&text, Some(&ast)).is_some(), compiled.is_err());
    }
    assert!(plain > 100);
    for text in ACCEPTED
        .iter()
        .map(|text| (*text).to_owned())
        .chain((0..cases(5_000)).map(|_| support::pattern(&mut rng)))
    {
        if let Err(error) = reglint::pattern::compile_rust(&text) {
            let range = error.span.range();
            assert!(
                text.get(range.clone()).is_some() && (!range.is_empty() || text.is_empty()),
                "{text:?}: {error:?}"
            );
        }
    }
}
