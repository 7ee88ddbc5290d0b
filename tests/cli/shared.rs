//! Public cases and suites that stand beside the checkout on some machines. Where they are not,
//! these tests say so and pass: what they check is checked by the project's own cases too.

use std::fs;
use std::path::PathBuf;

use crate::transcript::{project, reglint, show};

/// The folder of shared data, if it is there.
fn shared() -> Option<PathBuf> {
    let folder = std::env::var_os("REGLINT_SHARED")
        .map_or_else(|| project().join("../shared"), PathBuf::from);
    let there = folder.join("cases").is_dir();
    if !there {
        eprintln!("skipped: no shared data at {}", folder.display());
    }
    there.then_some(folder)
}

/// The findings of a case as `rule@line:column`, and how the run ended.
fn findings(case: &str, arguments: &[&str]) -> Option<(Vec<String>, i32)> {
    let folder = shared()?;
    let case = fs::read_dir(folder.join("cases"))
        .expect("is there")
        .map(|entry| entry.expect("can be listed").path())
        .find(|path| path.file_name().is_some_and(|n| n.to_string_lossy().starts_with(case)))
        .expect("the case is there");
    let output = reglint(&case)
        .args(["--isolated", "--format", "concise", "--quiet"])
        .args(arguments)
        .output()
        .expect("runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let found = text
        .lines()
        .map(|line| {
            let mut parts = line.splitn(4, ':');
            let (_, line_number, column) = (parts.next(), parts.next(), parts.next());
            let rest = parts.next().unwrap_or_default();
            let rule = rest.split('[').nth(1).and_then(|rest| rest.split(']').next());
            format!("{}@{}:{}", rule.unwrap_or(rest), line_number.unwrap(), column.unwrap())
        })
        .collect();
    Some((found, output.status.code().unwrap_or_else(|| panic!("{}", show(&output)))))
}

fn expect(case: &str, arguments: &[&str], expected: &[&str], exit: i32) {
    if let Some((found, code)) = findings(case, arguments) {
        assert_eq!(
            (found, code),
            (expected.iter().map(ToString::to_string).collect(), exit),
            "{case}"
        );
    }
}

#[test]
fn public_complaints_are_answered() {
    expect("01", &["r.json"], &["duplicate-key@8:7"], 1);
    expect("03", &["r.json"], &["duplicate-key@12:3", "schema-violation@12:17"], 1);
    expect("04", &["r.json"], &["schema-violation@7:32", "schema-violation@16:7"], 1);
    expect("07", &["r.json"], &["invalid-pattern@7:44"], 1);
    expect("08", &["r.json"], &["invalid-pattern@7:33"], 1);
    expect("14", &["registers/a.json", "registers/b.json"], &["duplicate-id@5:13"], 1);
    expect("14", &["registers/b.json", "registers/a.json"], &["duplicate-id@5:13"], 1);
    expect("23", &["r.json"], &["invalid-encoding@1:1"], 1);
    expect("25", &["r.json"], &["invalid-pattern@1:85"], 1);
    expect("30", &["r.json"], &["duplicate-id@19:13", "duplicate-id@26:13"], 1);
}

#[test]
fn evidence_answers_public_complaints() {
    expect("16", &["--evidence", "frames.txt", "r.json"], &["claims-several-functions@7:32"], 0);
    let nested = [
        "claims-several-functions@7:32",
        "overlapping-canonical-frames@14:32",
        "frame-claimed-twice@14:32",
        "nested-in-stack@14:32",
    ];
    expect("17", &["--evidence", "stacks.folded", "r.json"], &nested, 1);
    expect("18", &["--evidence", "frames.txt", "r.json"], &["claims-no-frame@7:32"], 1);
    let spelled = ["claims-no-frame@7:32", "possible-overlap@14:32"];
    expect("19", &["--evidence", "frames.txt", "r.json"], &spelled, 1);
    for export in ["a.xml", "b.xml"] {
        expect("21", &["--evidence", export, "r.json"], &[], 0);
    }
    expect("21", &["--evidence", "none.xml", "r.json"], &[], 2);
}

/// What `reglint evidence` or a check says of the two real registers, with these frames.
fn real(arguments: &[&str], lists: &[&str]) -> Option<String> {
    let folder = shared()?;
    let mut command = reglint(&folder);
    command.args(arguments).args(["--isolated", "registers"]);
    for list in lists {
        command.arg("--evidence").arg(format!("frames/{list}.txt"));
    }
    Some(String::from_utf8(command.output().expect("runs").stdout).expect("is text"))
}

const SYMBOLS: [&str; 3] =
    ["hf2q.legacy-xctrace", "mlx-native.legacy-xctrace", "anyhow.legacy-xctrace"];

#[test]
fn the_real_registers_against_the_real_symbols() {
    let Some(found) = real(&["--format", "concise", "--quiet"], &SYMBOLS) else { return };
    let of = |rule: &str| -> Vec<&str> {
        let lines = found.lines().filter(|line| line.contains(&format!("[{rule}]")));
        lines.map(|line| line.split("]: ").nth(1).unwrap_or(line)).collect()
    };
    let dead = [
        "the subcomponent `pipeline_lookup` of `G1` claims no frame",
        "the canonical pattern of `G7-FormatString` claims no frame",
        "the subcomponent `fmt_format` of `G7-FormatString` claims no frame",
        "the canonical pattern of `H5` claims no frame",
        "the subcomponent `fmt_format` of `H5` claims no frame",
    ];
    assert_eq!(of("claims-no-frame"), dead);
    let several = ["`G2` claims 3 functions", "`G6-CommandBuffer` claims 30 functions"];
    assert_eq!(of("claims-several-functions"), several);
    assert!(of("frame-claimed-twice").is_empty());

    let Some(table) = real(&["evidence", "--format", "json"], &SYMBOLS) else { return };
    let table: serde_json::Value = serde_json::from_str(&table).expect("is JSON");
    let registers = table["registers"].as_array().expect("is a list");
    let rows: Vec<(String, &str, usize)> = registers
        .iter()
        .flat_map(|register| register["patterns"].as_array().expect("is a list"))
        .map(|row| {
            let text = |name: &str| row[name].as_str().unwrap_or_default();
            let name = format!("{}/{}", text("hypothesis"), text("subcomponent"));
            (name, row["state"].as_str().unwrap(), row["functions"].as_array().unwrap().len())
        })
        .collect();
    let of = |name: &str| {
        let row = rows.iter().find(|(row, ..)| row == name).expect("is there");
        (row.1, row.2)
    };
    assert_eq!(of("G4/rms_norm_final"), ("claims", 5));
    assert_eq!(of("H1/"), ("claims", 1));
    assert_eq!(of("H2/"), ("claims", 1));
    for name in [
        "G5-Shared-AllocBuffer/IOGPUResourceCreate",
        "G5-Shared-AllocBuffer/mach_msg2_trap",
        "G6-CommandBuffer/command_buffer_init",
        "H3/ComputeContext_init",
        "H6-Wave2b-AllocBuffer/IOConnectCallMethod",
    ] {
        assert_eq!(of(name), ("not-covered", 0), "{name}");
    }
}

#[test]
fn no_pattern_is_called_dead_by_v0_symbols_without_a_word_of_it() {
    let list = ["mlx-native.v0-mangled"];
    let Some(found) = real(&["--format", "json", "--select", "claims-no-frame"], &list) else {
        return;
    };
    let found: serde_json::Value = serde_json::from_str(&found).expect("is JSON");
    let found = found["diagnostics"].as_array().expect("is a list");
    assert!(!found.is_empty());
    for finding in found {
        let notes = finding["notes"].as_array().expect("is a list");
        let says = |note: &serde_json::Value| note.as_str().unwrap().contains("v0 mangling");
        assert!(notes.iter().any(says), "{finding}");
    }
}
