//! Violations of the register's schema and of a user's, each at its very characters.
#![allow(missing_docs, clippy::unwrap_used, clippy::needless_raw_string_hashes)]

use reglint::json;
use reglint::schema::{MAX_VIOLATIONS, REGISTER_SCHEMA, Schema, Violation};

/// The register that the rows below break. `¤` stands for a line end and the indentation.
const WHOLE: &str = r#"{¤"hypotheses": [¤{¤"id": "H1",¤"description": "d",¤"canonical_frame_regex": "a::b"¤},¤{¤"id": "H2",¤"description": "d",¤"canonical_frame_regex": "c::d"¤}¤]¤}"#;

fn violations(schema: &Schema, text: &str) -> Vec<Violation> {
    let document = json::parse(text);
    let found = schema.violations(&document);
    for violation in &found {
        assert!(text.get(violation.span.range()).is_some());
    }
    found
}

/// `text` with `edits` made: each an old and a new text.
#[track_caller]
fn edited(edits: &[(&str, &str)]) -> String {
    edits.iter().fold(WHOLE.to_owned(), |text, (old, new)| {
        assert!(text.contains(old), "{old} is not in {text}");
        text.replacen(old, new, 1)
    })
}

/// Checks that the register with `edits` has exactly these violations, in every layout: `«»` in
/// the edits mark their characters, in order.
#[track_caller]
fn check(edits: &[(&str, &str)], messages: &[&str]) {
    let marked = edited(edits);
    for layout in ["", "\n  ", "\r\n\t", " "] {
        let marked = marked.replace('¤', layout);
        let mut text = String::new();
        let mut spans = Vec::new();
        for part in marked.split('«') {
            match part.split_once('»') {
                Some((inside, behind)) => {
                    spans.push(text.len()..text.len() + inside.len());
                    text.push_str(inside);
                    text.push_str(behind);
                }
                None => text.push_str(part),
            }
        }
        let found = violations(Schema::embedded(), &text);
        let said: Vec<_> = found.iter().map(|it| it.message.as_str()).collect();
        assert_eq!(said, messages, "{text}");
        let at: Vec<_> = found.iter().map(|it| it.span.range()).collect();
        assert_eq!(at, spans, "{text}");
        for repair in found.iter().filter_map(|it| it.repair.as_ref()) {
            let mut mended = text.clone();
            for (span, replacement) in repair.edits.iter().rev() {
                mended.replace_range(span.range(), replacement);
            }
            assert!(violations(Schema::embedded(), &mended).len() < found.len(), "{mended}");
        }
    }
}

#[test]
fn a_whole_register_has_none() {
    check(&[], &[]);
    check(
        &[("{¤\"hyp", r#"{"$schema": "x", "_doc": [1], "family": "gemma", "_note": {}, "hyp"#)],
        &[],
    );
    let full = r#""_x": 1, "subcomponent_regexes": {"a": "b", "_c": 1}, "static_estimate_us_per_token": 1e308,
        "links": {"q": "H6", "r": ["H7", "H8"], "s": null, "_t": 3}, "frames": {"claimed": ["a::b µ→"], "spared": []},
        "_reglint": {"allow": {"rule": "why", "other": {"reason": "why", "with": "H2", "until": "2027-03-31"}}},
        "id": "H1""#;
    check(&[(r#""id": "H1""#, full)], &[]);
    check(&[(r#""id": "H1""#, r#""static_estimate_us_per_token": -0, "id": "H1""#)], &[]);
}

#[test]
fn missing_members_are_shown_at_the_id() {
    check(
        &[(r#""id": "H2""#, r#""id": «"H2"»"#), (r#",¤"canonical_frame_regex": "c::d""#, "")],
        &["hypothesis H2 has no `canonical_frame_regex`"],
    );
    check(&[("¤{¤\"id\": \"H1\",", "¤«{»¤")], &["hypothesis 1 has no `id`"]);
    check(
        &[(r#""id": "H1",¤"description": "d",¤"#, r#""id": «"H1"»,"#)],
        &["hypothesis H1 has no `description`"],
    );
    check(
        &[(r#""id": "H1""#, r#""id": «3»"#)],
        &["`id` of hypothesis 1 is a number, not a string"],
    );
    check(&[(r#""id": "H1""#, r#""id": «""»"#)], &["`id` of hypothesis 1 is empty"]);
    check(
        &[(r#""id": "H1""#, r#""\u0069d": «3»"#)],
        &["`id` of hypothesis 1 is a number, not a string"],
    );
}

#[test]
fn wrong_types_are_shown_at_the_value() {
    check(
        &[(r#""a::b""#, "«42»")],
        &["`canonical_frame_regex` of hypothesis H1 is a number, not a string"],
    );
    check(
        &[(r#""a::b""#, "«[»1]")],
        &["`canonical_frame_regex` of hypothesis H1 is an array, not a string"],
    );
    check(
        &[(
            r#""id": "H1""#,
            r#""id": "H1", "family": 1"#.replace("\"family\"", "«\"family\"»").as_str(),
        )],
        &["unknown member `family` in hypothesis H1"],
    );
    check(&[("{¤\"hyp", "{\"family\": «1», \"hyp")], &["`family` is a number, not a string"]);
    check(
        &[("¤{¤\"id\": \"H1\",", "«7»,«\"x\"», {\"id\": \"H1\",")],
        &["hypothesis 1 is a number, not an object", "hypothesis 2 is a string, not an object"],
    );
    let inner = |member: &str| format!("\"id\": \"H1\", {member}");
    for (member, message) in [
        (
            r#""subcomponent_regexes": {"a.b": «1»}"#,
            "`subcomponent_regexes.a.b` of hypothesis H1 is a number, not a string",
        ),
        (
            r#""subcomponent_regexes": «[»]"#,
            "`subcomponent_regexes` of hypothesis H1 is an array, not an object",
        ),
        (
            r#""static_estimate_us_per_token": «"5"»"#,
            "`static_estimate_us_per_token` of hypothesis H1 is a string, not null or a number",
        ),
        (
            r#""static_estimate_us_per_token": «-5.0»"#,
            "`static_estimate_us_per_token` of hypothesis H1 is `-5.0`, less than 0",
        ),
        (
            r#""static_estimate_us_per_token": «1e999»"#,
            "`static_estimate_us_per_token` of hypothesis H1 is `1e999`, which is infinite for Python",
        ),
        (
            r#""links": {"q": «1»}"#,
            "`links.q` of hypothesis H1 is a number; a link is an id, a list of ids or null",
        ),
        (r#""links": {"q": ["H6", «""»]}"#, "`links.q[1]` of hypothesis H1 is empty"),
        (r#""frames": {"claimed": [«""»]}"#, "`frames.claimed[0]` of hypothesis H1 is empty"),
        (
            r#""frames": {"spared": ["a", "b\\«\u0007»"]}"#,
            "`frames.spared[1]` of hypothesis H1 has the control character U+0007; a frame has none",
        ),
        (
            r#""frames": {"spared": ["«\n»"]}"#,
            "`frames.spared[0]` of hypothesis H1 has the control character U+000A; a frame has none",
        ),
        (
            r#""_reglint": {"allow": {"x": «""»}}"#,
            "`_reglint.allow.x` of hypothesis H1 is empty; an allowance needs a reason",
        ),
        (
            r#""_reglint": {"allow": {"x": «" "»}}"#,
            "`_reglint.allow.x` of hypothesis H1 is blank; an allowance needs a reason",
        ),
        (
            r#""_reglint": {"allow": {"x": «3»}}"#,
            "`_reglint.allow.x` of hypothesis H1 is a number; an allowance is a reason, or an object with one",
        ),
        (
            r#""_reglint": {"allow": {"x": «{»"with": "H2"}}}"#,
            "`_reglint.allow.x` of hypothesis H1 has no `reason`",
        ),
        (
            r#""_reglint": {"allow": {"x": {"reason": "r", "until": «"soon"»}}}"#,
            "`_reglint.allow.x.until` of hypothesis H1 is not a day such as 2027-03-31",
        ),
        (
            r#""_reglint": {"allow": {"x": {"reason": "r", "until": «"2027-02-30"»}}}"#,
            "`_reglint.allow.x.until` of hypothesis H1 is not a day such as 2027-03-31",
        ),
    ] {
        check(&[(r#""id": "H1""#, &inner(member))], &[message]);
    }
}

#[test]
fn the_top_has_words_of_its_own() {
    for (text, message, span) in [
        ("[]", "the register is an array, not an object", 0..1),
        ("7", "the register is a number, not an object", 0..1),
        ("{}", "the register has no `hypotheses`", 0..1),
        (r#"{"hypotheses": []}"#, "the register has no hypothesis: `hypotheses` is empty", 15..17),
        (r#"{"hypotheses": {}}"#, "`hypotheses` is an object, not an array", 15..16),
    ] {
        let found = violations(Schema::embedded(), text);
        assert_eq!(found.len(), 1, "{text}: {found:#?}");
        assert_eq!((found[0].message.as_str(), found[0].span.range()), (message, span));
        assert_eq!(found[0].hypothesis, None);
    }
}

#[test]
fn unknown_members_are_shown_at_the_name() {
    check(
        &[(r#""canonical_frame_regex": "c::d""#, r#"«"canonical_frame_regx"»: "c::d""#)],
        &["unknown member `canonical_frame_regx` in hypothesis H2"],
    );
    check(
        &[(r#""canonical_frame_regex": "c::d""#, r#"«"\u0043anonical-frame-regex"»: "c::d""#)],
        &["unknown member `Canonical-frame-regex` in hypothesis H2"],
    );
    check(
        &[("{¤\"hyp", "{«\"hypothesis\"»: 1, \"hyp")],
        &["unknown member `hypothesis` at the top of the register"],
    );
    check(
        &[(r#""hypotheses""#, r#"«"hypothesis"»"#)],
        &["unknown member `hypothesis` at the top of the register"],
    );
    check(
        &[(r#""id": "H1""#, r#""id": "H1", "frames": {«"claims"»: []}"#)],
        &["unknown member `claims` in `frames` of hypothesis H1"],
    );

    let text = r#"{"hypotheses": [{"id": "H2", "description": "d", "canonical_frame_regx": "x"}]}"#;
    let found = violations(Schema::embedded(), text);
    assert_eq!(found[0].hypothesis.as_deref(), Some("H2"));
    assert_eq!(
        found[0].notes[..2],
        ["did you mean `canonical_frame_regex`?", "hypothesis H2 has no `canonical_frame_regex`"]
    );
    let repair = found[0].repair.as_ref().unwrap();
    assert!(repair.safe);
    assert_eq!(&text[repair.edits[0].0.range()], "canonical_frame_regx");
    assert_eq!(repair.edits[0].1, "canonical_frame_regex");
}

#[test]
fn a_far_name_and_a_missing_one_are_two() {
    check(
        &[
            (r#""id": "H2""#, r#""id": «"H2"»"#),
            (r#""canonical_frame_regex": "c::d""#, r#"«"owner"»: "c::d""#),
        ],
        &[
            "hypothesis H2 has no `canonical_frame_regex`",
            "unknown member `owner` in hypothesis H2",
        ],
    );
    // Two slips of one name: only one of them can be it.
    check(
        &[(
            r#""canonical_frame_regex": "c::d""#,
            r#"«"canonical_frame_rege"»: "c", «"canonical_frame_regx"»: "d""#,
        )],
        &[
            "unknown member `canonical_frame_rege` in hypothesis H2",
            "unknown member `canonical_frame_regx` in hypothesis H2",
        ],
    );
}

#[test]
fn of_a_repeated_member_the_last_counts() {
    check(&[(r#""id": "H1""#, r#""id": 3, "id": "H1""#)], &[]);
    check(
        &[(r#""id": "H1""#, r#""id": "H1", "id": «3»"#)],
        &["`id` of hypothesis 1 is a number, not a string"],
    );
    check(&[("{¤\"hypotheses\"", r#"{"hypotheses": 1, "hypotheses""#)], &[]);
}

#[test]
fn what_a_syntax_error_took_is_not_missed() {
    for text in [
        r#"{"hypotheses": [{"id": "H1", "description": "d", "canonical_frame_regex": }]}"#,
        r#"{"hypotheses": [{"id": "H1", "description": "d", "canonical_frame_regex": oops}]}"#,
        r#"{"hypotheses": [{"id": "H1", "description": "d", @ 3}]}"#,
        r#"{"hypotheses": [{"id": "H1", "description": "d"#,
        r#"{"hypotheses": ["#,
        r"{",
        r#"{"hypotheses": [@]}"#,
    ] {
        assert_ne!(json::parse(text).errors(), [], "{text}");
        assert_eq!(violations(Schema::embedded(), text), [], "{text}");
    }
    // But what was read is judged.
    let found = violations(Schema::embedded(), r#"{"hypotheses": [{"id": 3,}], "x": 1,}"#);
    let said: Vec<_> = found.iter().map(|it| it.message.as_str()).collect();
    assert_eq!(said.len(), 4, "{said:#?}");
}

#[test]
fn the_real_registers_are_valid() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("registers");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        assert_eq!(violations(Schema::embedded(), &text), []);
        count += 1;
    }
    assert_eq!(count, 2);
}

/// The validator on the span tree says what it says on `serde_json` values, for the schema as it
/// is in the file: `$id` and patterns included.
#[test]
fn agrees_with_the_validator_on_plain_values() {
    let value: serde_json::Value = serde_json::from_str(REGISTER_SCHEMA).unwrap();
    let plain =
        jsonschema::options().offline().should_validate_formats(true).build(&value).unwrap();
    let parts = [
        "1",
        "\"x\"",
        "\"\"",
        "null",
        "[]",
        "{}",
        "true",
        "-1",
        "1e300",
        "[\"a\", \"\"]",
        "{\"a\": \"b\"}",
        "\" \"",
        "{\"reason\": \" \"}",
        "{\"reason\": \"x\", \"until\": \"2027-01-01\"}",
        "{\"claimed\": [\"a\\u0085\"]}",
        "{\"allow\": {\"r\": \"\"}}",
        "{\"allow\": {\"r\": {\"reason\": \"x\", \"with\": 1}}}",
        "{\"x\": 1, \"_y\": 2}",
        "{\"claimed\": [\"ok\"], \"spared\": [\"\\n\"]}",
        "[\"a\\nb\"]",
        "{\"allow\": {\"r\": \"\\u00a0\"}}",
    ];
    let names = [
        "id",
        "description",
        "canonical_frame_regex",
        "subcomponent_regexes",
        "static_estimate_us_per_token",
        "links",
        "frames",
        "_reglint",
        "_other",
        "other",
        "",
    ];
    let mut valid = 0;
    for name in names {
        for part in parts {
            let text = format!(
                r#"{{"hypotheses": [{{"id": "a", "description": "b", "canonical_frame_regex": "c", "{name}": {part}}}]}}"#
            );
            let expected = plain.is_valid(&serde_json::from_str(&text).unwrap());
            assert_eq!(violations(Schema::embedded(), &text).is_empty(), expected, "{text}");
            valid += usize::from(expected);
        }
    }
    assert!((40..200).contains(&valid), "{valid}");
}

// A schema of the user's.

const USER: &str = r##"{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "$ref": "#/$defs/top",
  "$defs": {
    "top": {
      "type": "object",
      "properties": {
        "owner": {"$ref": "#/$defs/name"},
        "size": {"oneOf": [{"type": "number", "minimum": 3}, {"type": "string", "enum": ["s", "m"]}]},
        "tags": {"type": "array", "uniqueItems": true, "maxItems": 3, "items": {"pattern": "^[a-z]+$"}},
        "mode": {"const": "fast"},
        "level": {"enum": [1, 2, "x"]},
        "part": {"type": "object", "unevaluatedProperties": false, "properties": {"a": true}},
        "tree": {"$ref": "#/$defs/tree"},
        "none": false,
        "odd": {"not": {"multipleOf": 2}},
        "int": {"type": "integer"},
        "whole": {"type": "integer", "exclusiveMaximum": 10, "multipleOf": 5}
      },
      "propertyNames": {"maxLength": 6},
      "dependentRequired": {"mode": ["level"]},
      "if": {"properties": {"size": {"const": "s"}}, "required": ["size"]},
      "then": {"required": ["owner"]}
    },
    "name": {"type": "string", "pattern": "^[A-Z]", "minLength": 2},
    "tree": {"type": "object", "properties": {"kids": {"type": "array", "items": {"$ref": "#/$defs/tree"}}},
             "additionalProperties": false}
  }
}"##;

#[test]
fn a_users_schema_is_the_judge() {
    let schema = Schema::from_text(USER).unwrap();
    let one = |marked: &str, message: &str| {
        let text = marked.replace(['«', '»'], "");
        let start = marked.find('«').unwrap();
        let end = marked.find('»').unwrap() - '«'.len_utf8();
        let found = violations(&schema, &text);
        let said: Vec<_> = found.iter().map(|it| it.message.as_str()).collect();
        assert_eq!(said, [message], "{text}");
        assert_eq!(found[0].span.range(), start..end, "{text}");
    };
    for text in [
        "{}",
        r#"{"owner": "Ab", "size": "s", "tags": ["a", "b"]}"#,
        r#"{"mode": "fast", "level": 1.0}"#,
    ] {
        assert_eq!(violations(&schema, text), [], "{text}");
    }
    one(r#"{"owner": «3»}"#, "`owner` is a number, not a string");
    one(r#"{"owner": «"ab"»}"#, "`owner` does not match the pattern `^[A-Z]`");
    one(r#"{"owner": «"A"»}"#, "`owner` has 1 character, fewer than 2");
    one(r#"{ "size": «2»}"#, "`size` is `2`, less than 3");
    one(r#"{ "size": «"l"»}"#, "`size` fits none of the 2 alternatives of the schema");
    one(r#"{ "size": «[1, 2]»}"#, "`size` fits none of the 2 alternatives of the schema");
    one(r#"«{»"size": "s"}"#, "the register has no `owner`");
    one(r#"{"tags": ["a", "b", «"a"»]}"#, "`tags` has the same item twice");
    one(r#"{"tags": ["a", «"B"»]}"#, "`tags[1]` does not match the pattern `^[a-z]+$`");
    one(r#"{"tags": ["a", "b", "c", «"d"», "e"]}"#, "`tags` has 5 items, more than 3");
    one(r#"{"level": «3»}"#, "`level` is `3`, not `1`, `2` or `\"x\"`");
    one(r#"{"level": 1, "mode": «"slow"»}"#, "`mode` has to be `\"fast\"`");
    one(r#"«{»"mode": "fast"}"#, "the register has no `level`");
    one(r#"{"part": {"a": 1, «"b"»: 2}}"#, "unknown member `b` in `part`");
    one(
        r#"{"tree": {"kids": [{"kids": [{}, {«"kid"»: 1}]}]}}"#,
        "unknown member `kid` in `tree.kids[0].kids[1]`",
    );
    one(r#"{«"none"»: 1}"#, "`none` is not allowed here");
    one(r#"{"odd": «4»}"#, "`odd` is what the schema excludes");
    one(r#"{"int": «7.5»}"#, "`int` is `7.5`, not a whole number");
    one(r#"{"whole": «7.0»}"#, "`whole` is `7.0`, not a multiple of 5");
    one(r#"{"whole": «15»}"#, "`whole` is `15`, but has to be less than 10");
    one(r#"{«"unheard"»: 1}"#, "the member name `unheard` has 7 characters, more than 6");
}

#[test]
fn a_schema_that_cannot_be_used_is_shown_at_its_place() {
    for (marked, part) in [
        (r#"{"type": «strin»}"#, "not quoted"),
        (r#"{"type": «"strin"»}"#, "not valid"),
        (r#"{"properties": {"a": {"minimum": «"3"»}}}"#, "not valid"),
        (r#"{"properties": {"a": {"$ref": «"https://example.com/other.json"»}}}"#, "not followed"),
        (r#"{"properties": {"a": {"$ref": «"other.json"»}}}"#, "not followed"),
        (r#"{"properties": {"a": {"$ref": «"file:///etc/hostname"»}}}"#, "not followed"),
        (r##"{"properties": {"a": {"$ref": «"#/$defs/none"»}}}"##, "cannot be resolved"),
        ("«»", "empty"),
    ] {
        let text = marked.replace(['«', '»'], "");
        let start = marked.find('«').unwrap();
        let end = marked.find('»').unwrap() - '«'.len_utf8();
        let error = Schema::from_text(&text).unwrap_err();
        assert!(error.message.contains(part), "{text}: {error:?}");
        assert_eq!(error.span.range(), start..end, "{text}: {error:?}");
    }
    assert!(Schema::from_text("\u{feff}{}").is_ok());
    assert!(Schema::from_text("true").is_ok());
    assert!(Schema::from_text(r#"{"pattern": "("}"#).is_err());
    assert!(Schema::from_text(r#"{"minimum": 1e999}"#).is_err());
    assert!(Schema::from_text(&format!("{}{}", "[".repeat(500), "]".repeat(500))).is_err());
}

#[test]
fn hostile_documents_and_schemas_end() {
    let recursive = Schema::from_text(
        r##"{"type": ["array", "object"], "items": {"allOf": [{"$ref": "#"}]},
            "additionalProperties": {"$ref": "#"}}"##,
    )
    .unwrap();
    let depth = json::MAX_DEPTH;
    // On a stack as small as a worker thread's.
    let work = move || {
        let deep = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert_eq!(violations(&recursive, &deep), []);
        let deep = format!("{}1{}", "[{\"a\":".repeat(depth / 2), "}]".repeat(depth / 2));
        assert!(!violations(&recursive, &deep).is_empty());
        assert!(!violations(Schema::embedded(), &deep).is_empty());
    };
    std::thread::Builder::new().stack_size(2 << 20).spawn(work).unwrap().join().unwrap();

    let slow =
        Schema::from_text(r#"{"pattern": "^(a|a)*\\1$", "items": {"pattern": "^(a+)+\\1$"}}"#);
    if let Ok(slow) = slow {
        let text = format!("\"{}!\"", "a".repeat(5000));
        assert_eq!(violations(&slow, &text).len(), 1);
    }
    let unique = Schema::from_text(r#"{"uniqueItems": true}"#).unwrap();
    let many: Vec<_> = (0..100_000).map(|index| format!("[{index}]")).collect();
    assert_eq!(violations(&unique, &format!("[{}]", many.join(","))), []);
    assert_eq!(violations(&unique, &format!("[{},[7]]", many.join(","))).len(), 1);

    let wrong = format!("{{\"hypotheses\": [{}]}}", "1,".repeat(50_000) + "1");
    let found = violations(Schema::embedded(), &wrong);
    assert_eq!(found.len(), MAX_VIOLATIONS);
    let expected = "one more violation and 49000 more hypotheses with violations are not shown";
    assert_eq!(found[MAX_VIOLATIONS - 1].notes.last().unwrap(), expected);
    assert!(found.iter().rev().skip(1).all(|it| it.notes.is_empty()));
    let members: Vec<_> = (0..50_000).map(|index| format!("\"x{index}\": {index}")).collect();
    let wrong = format!("{{\"hypotheses\": [{{{}}}]}}", members.join(","));
    let found = violations(Schema::embedded(), &wrong);
    assert_eq!(found.len(), MAX_VIOLATIONS);
    let note = found[MAX_VIOLATIONS - 1].notes.last().unwrap();
    // The three members that the hypothesis lacks are among them.
    assert_eq!(note, "49003 more violations are not shown");
}

/// A register of more hypotheses than violations are shown is held against the schema in parts; what
/// is said of it is what is said of a small one.
#[test]
fn a_long_register_is_judged_as_a_short_one() {
    let right = r#"{"id": "H1", "description": "d", "canonical_frame_regex": "a"}"#;
    let wrong = [
        r#"{"id": "H2", "descripton": "d", "canonical_frame_regex": "a"}"#,
        r#"{"id": "", "description": 1, "canonical_frame_regex": "a", "links": {"a": 1}}"#,
        r#"7"#,
        r#"{"id": "H3", "description": "d", "canonical_frame_regex": "a",
            "frames": {"claimed": ["a\u0001"]}, "_reglint": {"allow": {"rule": " "}}}"#,
    ];
    let register = |padding: usize| {
        let mut all = vec![right; padding];
        all.extend(wrong);
        format!("{{\"hypotheses\": [{}], \"famly\": \"x\"}}", all.join(","))
    };
    let said = |text: &str| -> Vec<_> {
        let found = violations(Schema::embedded(), text);
        found.into_iter().map(|it| (it.message, it.notes, it.hypothesis)).collect()
    };
    let renumbered = |text: String| {
        let padding = 2 * MAX_VIOLATIONS;
        text.replace(&format!("hypothesis {}", padding + 2), "hypothesis 2")
            .replace(&format!("hypothesis {}", padding + 3), "hypothesis 3")
    };
    let short = said(&register(0));
    let long: Vec<_> = said(&register(2 * MAX_VIOLATIONS))
        .into_iter()
        .map(|(message, notes, id)| (renumbered(message), notes, id))
        .collect();
    assert!(short.len() >= 7, "{short:?}");
    assert_eq!(long, short);
}

/// What a syntax error made of a register is not held against it.
#[test]
fn consequences_of_syntax_errors_are_no_violations() {
    let member = r#""id": "H1", "description": "d", "canonical_frame_regex": "a""#;
    for hypothesis in [
        // A name that is misspelled as JSON may be any name.
        r#"{"id": "H1", "descr"iption": "d", "canonical_frame_regex": "a"}"#,
        r#"{"id": "H1", "description: "d", "canonical_frame_regex": "a"}"#,
        r#"{"id": "H1", "descrip\\ption": "d", "canonical_frame_regex": "a"}"#,
        r#"{"id": "H1", description-: "d", "canonical_frame_regex": "a"}"#,
        // A bracket too many, or too few.
        r#"{"id": "H1"}, "description": "d", "canonical_frame_regex": "a"}"#,
        r#""id": "H1", "description": "d", "canonical_frame_regex": "a"}"#,
        // A value whose end is a guess.
        r#"{"id": "H1, "description": "d", "canonical_frame_regex": "a"}"#,
    ] {
        let hypothesis = hypothesis.replace("\\\\", "\\");
        for layout in ["", "\n", "\r\n"] {
            let text =
                format!("{{\"hypotheses\": [{layout}{{{member}}},{layout}{hypothesis}{layout}]}}");
            let errors = json::parse(&text).errors().len();
            assert_eq!((errors, violations(Schema::embedded(), &text)), (1, vec![]), "{text}");
        }
    }
}
