//! The report as JSON, against its schema.

use insta::assert_snapshot;
use reglint::fix::{Applicability, Edit, Fix};
use serde_json::{Value, json};

use super::*;

fn schema() -> Value {
    serde_json::from_str(include_str!("../../schema/report.schema.json")).unwrap()
}

fn sample() -> (Sources, Report) {
    let sources = sources([
        ("a.json", "{\n  \"id\": \"µ→字😀x\",\n  \"if\": 1\n}\n"),
        ("b.json", "\u{feff}{\"id\": \"H1\"}"),
    ]);
    let x = at(&sources, "a.json", "x", 0, "not this");
    let h1 = at(&sources, "b.json", "H1", 0, "first \u{202e}here");
    let edit = |label: &Label| Edit::new(label.file, label.span, "\t");
    let fix = Fix {
        message: "put a tab there".into(),
        edits: vec![edit(&x), edit(&h1)],
        applicability: Applicability::DisplayOnly,
    };
    let full = error("duplicate-id", "twice: \"\u{1b}[2J\u{9b}\u{e0041}\"", x.clone())
        .with_related(h1)
        .with_note("a note")
        .with_fix(fix)
        .with_hypothesis(Some("H\u{2028}2"));
    let bare =
        warning("invalid-json", "unexpected end", Label::new(FileId(0), Span::empty(40), ""));
    let report = report(vec![full, bare]);
    (sources, report)
}

#[test]
fn the_object_as_it_is_written() {
    let (sources, report) = sample();
    assert_snapshot!(render(Format::Json, &report, &sources, &Options::default()), @r#"
    {"version":1,"diagnostics":[
    {"rule":"duplicate-id","severity":"error","message":"twice: \"\u001b[2J\u009b\udb40\udc41\"","path":"a.json","hypothesis":"H\u20282","span":{"start":{"offset":23,"line":2,"column":14},"end":{"offset":24,"line":2,"column":15}},"related":[{"path":"b.json","span":{"start":{"offset":11,"line":1,"column":9},"end":{"offset":13,"line":1,"column":11}},"message":"first \u202ehere"}],"notes":["a note"],"fix":{"message":"put a tab there","applicability":"display-only","edits":[{"path":"a.json","span":{"start":{"offset":23,"line":2,"column":14},"end":{"offset":24,"line":2,"column":15}},"replacement":"\t"},{"path":"b.json","span":{"start":{"offset":11,"line":1,"column":9},"end":{"offset":13,"line":1,"column":11}},"replacement":"\t"}]}},
    {"rule":"invalid-json","severity":"warning","message":"unexpected end","path":"a.json","hypothesis":null,"span":{"start":{"offset":40,"line":5,"column":1},"end":{"offset":40,"line":5,"column":1}},"related":[],"notes":[],"fix":null}
    ],"summary":{"registers":1,"hypotheses":2,"patterns":5,"errors":1,"warnings":1,"fixable":0,"unsafe_fixable":0,"fixed":0}}
    "#);
}

#[test]
fn escapes_change_nothing_for_a_parser() {
    let (sources, report) = sample();
    let value: Value =
        serde_json::from_str(&render(Format::Json, &report, &sources, &Options::default()))
            .unwrap();
    let found = &value["diagnostics"][0];
    assert_eq!(found["message"], json!(report.diagnostics[0].message));
    assert_eq!(found["hypothesis"], json!("H\u{2028}2"));
    assert_eq!(found["related"][0]["message"], json!("first \u{202e}here"));
    assert_eq!(found["fix"]["edits"][1]["replacement"], json!("\t"));
}

#[test]
fn reports_follow_their_schema() {
    let schema = schema();
    assert!(jsonschema::meta::is_valid(&schema));
    let validator = jsonschema::validator_for(&schema).unwrap();
    let (sources, full) = sample();
    for report in [full, report(vec![]), Report::default()] {
        let value: Value =
            serde_json::from_str(&render(Format::Json, &report, &sources, &Options::default()))
                .unwrap();
        let errors: Vec<_> = validator.iter_errors(&value).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{errors:#?}");
    }
}

/// What the schema says is what it takes: each member is required, none is missing from it, and none
/// takes a value of another kind.
#[test]
fn the_schema_knows_each_member() {
    let validator = jsonschema::validator_for(&schema()).unwrap();
    let (sources, report) = sample();
    let value: Value =
        serde_json::from_str(&render(Format::Json, &report, &sources, &Options::default()))
            .unwrap();
    let mut pointers = Vec::new();
    collect(&value, "", &mut pointers);
    assert!(pointers.len() > 60, "{pointers:?}");
    for pointer in pointers {
        let (parent, name) = pointer.rsplit_once('/').unwrap();
        let mut without = value.clone();
        without.pointer_mut(parent).unwrap().as_object_mut().unwrap().remove(name).unwrap();
        assert!(!validator.is_valid(&without), "{pointer} may be left out");
        let mut renamed = value.clone();
        let members = renamed.pointer_mut(parent).unwrap().as_object_mut().unwrap();
        members.insert(format!("{name}_"), Value::Null);
        assert!(!validator.is_valid(&renamed), "{parent} takes any name");
        let mut wrong = value.clone();
        *wrong.pointer_mut(&pointer).unwrap() = json!(-1.5);
        assert!(!validator.is_valid(&wrong), "{pointer} takes any number");
    }
}

/// Each object of the schema says what it is.
#[test]
fn the_schema_tells_what_each_member_is() {
    fn check(schema: &Value, path: &str) {
        for part in ["properties", "$defs"] {
            for (name, member) in schema[part].as_object().into_iter().flatten() {
                let path = format!("{path}/{part}/{name}");
                for word in ["title", "description"] {
                    assert!(
                        member[word].as_str().is_some_and(|text| text.len() > 2),
                        "{path}: {word}"
                    );
                }
                check(member, &path);
            }
        }
        if schema["properties"].is_object() {
            assert_eq!(schema["additionalProperties"], json!(false), "{path}");
        }
        if schema["items"].is_object() {
            check(&schema["items"], &format!("{path}/items"));
        }
    }
    let schema = schema();
    check(&schema, "");
    assert!(schema["title"].is_string() && schema["description"].is_string());
}

/// The pointers of all members of `value`.
fn collect(value: &Value, at: &str, pointers: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                pointers.push(format!("{at}/{name}"));
                collect(value, &format!("{at}/{name}"), pointers);
            }
        }
        Value::Array(items) => {
            for (index, value) in items.iter().enumerate() {
                collect(value, &format!("{at}/{index}"), pointers);
            }
        }
        _ => {}
    }
}
