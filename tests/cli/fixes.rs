//! Fixes: each one that is offered repairs what it is offered for, and files are written with care.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use reglint::diagnostic::Severity;
use reglint::fix::{Applicability, apply};
use reglint::fixer;
use reglint::json;
use reglint::linter::{Options, lint};

use reglint::register::Register;
use reglint::report::{Levels, Report};
use reglint::rules::{Level, RULES};
use reglint::schema::Schema;
use reglint::source::{Role, Source, Sources};

use crate::cases;
use crate::transcript::{reglint, scratch, show, walk};

/// How many fixes of one case are tried one by one.
const MOST: usize = 100;

/// Every rule on, whatever its level.
fn levels() -> Levels {
    let mut levels = Levels::default();
    for rule in RULES.iter().filter(|rule| rule.default == Level::Allow) {
        levels.set(rule, Level::Warn);
    }
    levels
}

fn options(levels: &Levels) -> Options<'_> {
    Options::new(levels, Schema::embedded())
}

/// The inputs of every case folder, as its commands find them.
fn inputs() -> BTreeMap<String, Vec<(String, Vec<u8>)>> {
    let files = |case: &Path| -> Vec<_> {
        let json = |path: &std::path::PathBuf| path.extension().is_some_and(|end| end == "json");
        walk(case)
            .into_iter()
            .filter(json)
            .map(|path| {
                let name = path.strip_prefix(case).unwrap().to_string_lossy().into_owned();
                (name, fs::read(&path).unwrap())
            })
            .collect()
    };
    cases::all()
        .into_keys()
        .map(|case| (case.display().to_string(), files(&cases::folder().join(case))))
        .collect()
}

fn sources(files: &[(String, Vec<u8>)]) -> Sources {
    Sources::new(files.iter().map(|(path, bytes)| Source::new(path, bytes.clone())).collect())
}

/// How often each thing is found: the rule, the file, the hypothesis, and what is said.
fn tally(report: &Report) -> BTreeMap<(String, u32, Option<String>, String), usize> {
    let mut tally = BTreeMap::new();
    for found in &report.diagnostics {
        let key = (
            found.rule.to_owned(),
            found.primary.file.0,
            found.hypothesis.clone(),
            found.message.clone(),
        );
        *tally.entry(key).or_default() += 1;
    }
    tally
}

/// Each fix alone, as it is offered: its finding goes, nothing outside of its edits changes, and what
/// parsed goes on to do so.
#[test]
fn every_fix_of_every_case_removes_its_finding() {
    let levels = levels();
    let mut offered = 0;
    for (case, files) in inputs() {
        let report = lint(&sources(&files), &options(&levels));
        let before = tally(&report);
        // Of a thousand that are alike some will do.
        let fixable: Vec<_> = report
            .diagnostics
            .iter()
            .filter_map(|found| Some((found, found.fix.as_ref()?)))
            .collect();
        for &(found, fix) in fixable.iter().step_by(fixable.len().div_ceil(MOST).max(1)) {
            offered += 1;
            let mut fixed = sources(&files);
            assert!(!fix.edits.is_empty(), "{case}: {found:?}");
            for edits in fix.edits.chunk_by(|a, b| a.file == b.file) {
                let file = edits[0].file;
                let old = fixed.get(file).text().to_owned();
                let new = apply(&old, edits);
                // By its definition: the edits, and between them the old bytes.
                let mut expected = String::new();
                let mut at = 0;
                for edit in edits {
                    expected += &old[at..edit.span.range().start];
                    expected += &edit.replacement;
                    at = edit.span.range().end;
                }
                assert_eq!(new, expected + &old[at..], "{case}: {found:?}");
                let parses = |text: &str| json::parse(text).errors().is_empty();
                assert!(!parses(&old) || parses(&new), "{case}: {found:?} gives {new}");
                fixed.replace(file, new);
            }
            let after = tally(&lint(&fixed, &options(&levels)));
            let key = (
                found.rule.to_owned(),
                found.primary.file.0,
                found.hypothesis.clone(),
                found.message.clone(),
            );
            let left = after.get(&key).copied().unwrap_or_default();
            assert!(left < before[&key], "{case}: is found again after its fix: {found:?}");
        }
    }
    assert!(offered > 40, "the cases offer {offered} fixes");
}

/// The errors in all files, whoever asked for them: the rule, the file, and the number of the hypothesis.
fn errors(sources: &Sources) -> BTreeMap<(String, String, Option<usize>), usize> {
    // Of every file, as if it had been named.
    let named = sources.iter().map(|(_, it)| Source::new(it.path(), it.text().as_bytes().to_vec()));
    let levels = levels();
    let mut errors = BTreeMap::new();
    for found in lint(&Sources::new(named.collect()), &options(&levels)).diagnostics {
        if found.severity == Severity::Error {
            let source = sources.get(found.primary.file);
            let document = json::parse(source.text());
            let mut hypotheses = Register::read(&document).hypotheses.into_iter();
            let number = hypotheses.position(|it| it.span.contains(found.primary.span));
            let key = (found.rule.to_owned(), source.path().to_owned(), number);
            *errors.entry(key).or_default() += 1;
        }
    }
    errors
}

/// The files of a case, all named or all but one read for context only.
fn with_one_named(files: &[(String, Vec<u8>)], named: Option<usize>) -> Sources {
    let role = |at| if named.is_none_or(|named| named == at) { Role::Named } else { Role::Context };
    let source = |(at, (path, bytes)): (usize, &(String, Vec<u8>))| {
        Source::new(path, bytes.clone()).with_role(role(at))
    };
    Sources::new(files.iter().enumerate().map(source).collect())
}

/// No fix leads to an error that was not there, in no file, whichever of them are named.
#[test]
fn no_error_comes_of_the_fixes_of_any_case() {
    let levels = levels();
    let (mut applied, mut withheld) = (0, 0);
    for (case, files) in inputs() {
        let few = files.len().min(6);
        for named in std::iter::once(None).chain((0..few).map(Some)) {
            for trust in [Applicability::Safe, Applicability::Unsafe] {
                let mut sources = with_one_named(&files, named);
                // A file that does not parse is passed over as a sibling: what it hides is seen by nobody.
                let all_parse =
                    sources.iter().all(|(_, it)| json::parse(it.text()).errors().is_empty());
                if !all_parse && named.is_some() {
                    continue;
                }
                let before = errors(&sources);
                let outcome = fixer::fix(&mut sources, &options(&levels), trust);
                let after = errors(&sources);
                for (error, count) in after {
                    let was = before.get(&error).copied().unwrap_or(0);
                    assert!(count <= was, "{case}, {named:?} named, {trust:?}: {error:?}");
                }
                applied += outcome.report.summary.fixed;
                withheld += outcome.withheld.len();
            }
        }
    }
    assert!(applied > 100 && withheld > 2, "{applied} fixes were applied, {withheld} withheld");
}

/// All of them together come to an end, leave nothing to fix, and a second run changes nothing.
#[test]
fn the_fixes_of_every_case_settle() {
    let levels = levels();
    let mut applied = 0;
    for (case, files) in inputs() {
        for trust in [Applicability::Safe, Applicability::Unsafe] {
            let mut sources = sources(&files);
            let outcome = fixer::fix(&mut sources, &options(&levels), trust);
            assert!(!outcome.unsettled, "{case}: does not settle");
            assert!(outcome.spoiled.is_empty(), "{case}: {:?}", outcome.spoiled);
            assert_eq!(outcome.changed.is_empty(), outcome.report.summary.fixed == 0, "{case}");
            for &file in outcome.changed.keys() {
                let document = json::parse(sources.get(file).text());
                assert!(document.errors().is_empty(), "{case}");
            }
            let left = &outcome.report.summary;
            assert_eq!(left.fixable, 0, "{case}");
            assert!(trust == Applicability::Safe || left.unsafe_fixable == 0, "{case}");
            applied += left.fixed;

            let again = fixer::fix(&mut sources, &options(&levels), trust);
            assert!(again.changed.is_empty() && again.report.summary.fixed == 0, "{case}");
            assert_eq!(tally(&again.report), tally(&outcome.report), "{case}");
        }
    }
    assert!(applied > 40, "the cases apply {applied} fixes");
}

const FIXABLE: &str =
    r#"{"hypotheses": [{"id": "H1", "description": "d", "canonical_frame_regx": "a::b"}]}"#;
const FIXED: &str =
    r#"{"hypotheses": [{"id": "H1", "description": "d", "canonical_frame_regex": "a::b"}]}"#;

/// Runs reglint in `folder` and shows what came of it.
fn run(folder: &Path, arguments: &[&str]) -> String {
    show(&reglint(folder).args(arguments).output().expect("runs"))
}

fn read(path: impl AsRef<Path>) -> String {
    fs::read_to_string(path).expect("is text")
}

/// Nothing but the name changes: line ends, a byte order mark before it, indentation, order, escapes.
#[test]
fn nothing_else_changes_by_a_byte() {
    let folder = scratch();
    let path = folder.path().join("r.json");
    let old = "\r\n{\r\n\t \"hypotheses\" : [ {\"description\":\"\\u00b5 \\/ 😀\",\r\n\"_x\":1e0 ,\
               \"canonical_frame_regx\"\t: \"a\\u005fb\", \"id\":\"H1\" }\r ]}  \r\n\r\n";
    fs::write(&path, old).unwrap();
    assert_eq!(
        run(folder.path(), &["--fix", "r.json"]),
        "no findings in 1 register (1 hypothesis, 1 pattern); 1 fixed\n"
    );
    assert_eq!(read(&path), old.replace("_regx", "_regex"));
    // And a second run leaves the file alone.
    let before = fs::metadata(&path).unwrap().modified().unwrap();
    assert_eq!(
        run(folder.path(), &["--fix", "r.json"]),
        "no findings in 1 register (1 hypothesis, 1 pattern)\n"
    );
    assert_eq!(fs::metadata(&path).unwrap().modified().unwrap(), before);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no other file is left behind");
}

/// A diff is one that `patch` takes, and gives what `--fix` would.
#[test]
fn a_diff_is_a_patch() {
    let folder = scratch();
    for (name, end) in [("a.json", "\n"), ("b.json", ""), ("c.json", "\r\n")] {
        let text = FIXABLE.replace("a::b", name).replace(", ", ",\n");
        fs::write(folder.path().join(name), format!("{text}{end}")).unwrap();
    }
    let output = reglint(folder.path()).args(["--diff", "."]).output().expect("runs");
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "reglint: would fix 3 findings\n");
    fs::write(folder.path().join("all.diff"), &output.stdout).unwrap();
    let patched = std::process::Command::new("patch")
        .args(["--binary", "-p0", "-i", "all.diff"])
        .current_dir(folder.path())
        .output();
    let Ok(patched) = patched else {
        eprintln!("skipped: there is no `patch`");
        return;
    };
    assert!(patched.status.success(), "{patched:?}");
    for (name, end) in [("a.json", "\n"), ("b.json", ""), ("c.json", "\r\n")] {
        let expected = format!("{}{end}", FIXED.replace("a::b", name).replace(", ", ",\n"));
        assert_eq!(read(folder.path().join(name)), expected);
    }
}

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

    use super::*;

    #[test]
    fn permissions_stay_and_the_file_is_replaced_whole() {
        let folder = scratch();
        let path = folder.path().join("r.json");
        fs::write(&path, FIXABLE).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        let old = fs::metadata(&path).unwrap();
        run(folder.path(), &["--fix", "r.json"]);
        let new = fs::metadata(&path).unwrap();
        assert_eq!(read(&path), FIXED);
        assert_eq!(new.permissions().mode() & 0o7777, 0o640);
        assert_eq!((new.uid(), new.gid()), (old.uid(), old.gid()));
        assert_ne!(new.ino(), old.ino(), "it is another file under the old name");
    }

    #[test]
    fn a_read_only_file_stays() {
        let folder = scratch();
        let path = folder.path().join("r.json");
        fs::write(&path, FIXABLE).unwrap();
        let other = |text: &str| text.replace("H1", "H2").replace("a::b", "c::d");
        fs::write(folder.path().join("s.json"), other(FIXABLE)).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
        let shown = run(folder.path(), &["--fix", "r.json", "s.json"]);
        assert!(
            shown.contains("[stderr] reglint: cannot write `r.json`: it is read-only"),
            "{shown}"
        );
        assert!(shown.ends_with("[exit 2]\n"), "{shown}");
        assert_eq!(read(&path), FIXABLE);
        assert_eq!(read(folder.path().join("s.json")), other(FIXED));
    }

    #[test]
    fn a_link_that_leads_out_is_not_followed() {
        let folder = scratch();
        let path = |name: &str| folder.path().join(name);
        fs::create_dir_all(path("in/below")).unwrap();
        fs::write(path("out.json"), FIXABLE).unwrap();
        symlink("../out.json", path("in/a.json")).unwrap();
        for argument in ["in", "in/a.json"] {
            let shown = run(folder.path(), &["--fix", argument]);
            assert!(
                shown.contains("cannot write `in/a.json`: it is a link that leads out"),
                "{shown}"
            );
            assert!(shown.ends_with("[exit 2]\n"), "{shown}");
            assert_eq!(read(path("out.json")), FIXABLE);
        }
        // Where it leads to was named as well, by whatever way.
        symlink("in", path("way")).unwrap();
        fs::write(path("in/below/b.json"), FIXABLE).unwrap();
        symlink("below/b.json", path("in/0.json")).unwrap();
        fs::remove_file(path("in/a.json")).unwrap();
        let shown = run(folder.path(), &["--fix", "way"]);
        assert_eq!(shown, "no findings in 1 register (1 hypothesis, 1 pattern); 1 fixed\n");
        assert_eq!(read(path("in/below/b.json")), FIXED);
        assert!(fs::symlink_metadata(path("in/0.json")).unwrap().is_symlink());
    }
}

/// That a file cannot be written may show only when it is. What went with it is then taken back elsewhere too.
#[test]
#[cfg(unix)]
fn what_could_not_be_written_is_as_it_was_and_reported_so() {
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::process::CommandExt;
    let register = |family: &str, more: &str| {
        let id = format!("{}1", family.to_uppercase());
        let one = format!(
            "{{\"id\": \"{id}\", \"description\": \"x\", \"canonical_frame_regex\": \"aaa\"}}"
        );
        format!("{{\"family\": \"{family}\", \"hypotheses\": [{one}{more}]}}\n")
    };
    let branch = |pattern: &str| {
        format!(
            ", {{\"id\": \"O2\", \"description\": \"x\", \"canonical_frame_regex\": \"{pattern}\"}}"
        )
    };
    let folder = scratch();
    let texts = [
        ("open", "o.json", register("o", &branch("bbb|bbbc"))),
        ("shut", "s.json", register("s", "")),
    ];
    let mode = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode));
    mode(folder.path(), 0o755).unwrap();
    for (below, name, text) in &texts {
        let below = folder.path().join(below);
        fs::create_dir(&below).unwrap();
        fs::write(below.join(name), text).unwrap();
        mode(&below.join(name), 0o666).unwrap();
        mode(&below, if below.ends_with("shut") { 0o555 } else { 0o777 }).unwrap();
    }
    let mut command = reglint(folder.path());
    command.args(["--fix", "--format", "concise", "open", "shut"]);
    if fs::write(folder.path().join("shut/probe"), "").is_ok() {
        fs::remove_file(folder.path().join("shut/probe")).unwrap();
        // A superuser may write everywhere; somebody else may not.
        command.uid(65534);
    }
    let Ok(output) = command.output() else {
        eprintln!("skipped: nobody else can run the command");
        return;
    };
    let shown = show(&output);
    assert!(shown.contains("cannot write `shut/s.json`"), "{shown}");
    assert!(
        shown.contains("shut/s.json:1:") && shown.contains("warning[undeclared-link]"),
        "{shown}"
    );
    assert!(!shown.contains("redundant-branch") && shown.contains("[exit 2]"), "{shown}");
    assert_eq!(read(folder.path().join("open/o.json")), register("o", &branch("bbb")));
    assert_eq!(read(folder.path().join("shut/s.json")), texts[1].2);
    mode(&folder.path().join("shut"), 0o755).unwrap();
}

/// What stands beside a register is read, never written.
#[test]
fn siblings_are_not_touched() {
    let folder = scratch();
    fs::write(folder.path().join("a.json"), FIXABLE).unwrap();
    fs::write(folder.path().join("b.json"), FIXABLE.replace("H1", "H2")).unwrap();
    run(folder.path(), &["--fix", "--unsafe-fixes", "a.json"]);
    assert_eq!(read(folder.path().join("a.json")), FIXED);
    assert_eq!(read(folder.path().join("b.json")), FIXABLE.replace("H1", "H2"));
}

/// Linked registers with patterns of which an unsafe fix claims less: whichever are named, no link breaks, and nothing
/// that a fix may do is left undone without a word.
#[test]
fn links_hold_whatever_is_named() {
    let levels = levels();
    let register = |number: usize, pattern: &str, links: &str| {
        format!(
            "{{\"family\": \"f{number}\", \"hypotheses\": [{{\"id\": \"H{number}\", \"description\": \"d\", \
             \"canonical_frame_regex\": \"{pattern}\"{links}}}]}}\n"
        )
    };
    let link = |to: &[usize]| {
        let links: Vec<_> = to.iter().map(|to| format!("\"f{to}\": \"H{to}\"")).collect();
        if to.is_empty() { String::new() } else { format!(", \"links\": {{{}}}", links.join(", ")) }
    };
    // A chain, a star, none, and two ways to spell one pattern.
    let shapes: [&[&[usize]]; 4] = [
        &[&[1], &[2], &[3], &[]],
        &[&[1, 2, 3], &[0], &[0], &[0]],
        &[&[], &[], &[], &[]],
        &[&[3], &[], &[], &[0]],
    ];
    for (shape, patterns) in shapes.iter().flat_map(|shape| {
        [
            ["exec.begin::x"; 4],
            ["exec.begin::x", "exec.begin::x", "exec.begin::x", "exec[^\\\\n]begin::x"],
        ]
        .map(|patterns| (shape, patterns))
    }) {
        for named in 1..16_usize {
            let role = |at: usize| if named >> at & 1 == 1 { Role::Named } else { Role::Context };
            let mut sources = Sources::new(
                (0..4)
                    .map(|at| {
                        let text = register(at, patterns[at], &link(shape[at]));
                        Source::new(format!("{at}.json"), text.into_bytes()).with_role(role(at))
                    })
                    .collect(),
            );
            let before = errors(&sources);
            assert!(before.is_empty(), "{before:?}");
            let outcome = fixer::fix(&mut sources, &options(&levels), Applicability::Unsafe);
            assert!(errors(&sources).is_empty(), "{shape:?} {patterns:?} {named:b}");
            assert!(!outcome.unsettled);
            let left = &outcome.report.summary;
            assert_eq!((left.fixable, left.unsafe_fixable), (0, 0), "{shape:?} {named:b}");
            // Where all are named, nothing stands in the way of those that are spelled alike.
            assert!(named != 15 || patterns[0] != patterns[3] || outcome.withheld.is_empty());
            let again = fixer::fix(&mut sources, &options(&levels), Applicability::Unsafe);
            assert!(again.changed.is_empty());
        }
    }
}
