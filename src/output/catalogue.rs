//! The list of rules.

use std::io;

use crate::rules::{FixAvailability, Level, Rule};

/// What a rule does where the user says nothing.
fn default_level(rule: &Rule) -> &'static str {
    match rule.default {
        Level::Deny => "error",
        Level::Warn => "warning",
        Level::Allow => "off",
    }
}

/// One line a rule.
pub(super) fn write_text(rules: &[Rule], out: &mut dyn io::Write) -> io::Result<()> {
    let width = rules.iter().map(|rule| rule.name.len()).max().unwrap_or_default();
    for rule in rules {
        let fix = if rule.fix == FixAvailability::Sometimes { "fix" } else { "" };
        let (name, level, summary) = (rule.name, default_level(rule), rule.summary);
        writeln!(out, "{name:width$}  {level:7}  {fix:3}  {summary}")?;
    }
    writeln!(out, "\n`reglint explain RULE` shows what a rule's finding means, and what to do")
}

/// An array of objects.
pub(super) fn write_json(rules: &[Rule], out: &mut dyn io::Write) -> io::Result<()> {
    let list: Vec<_> = rules
        .iter()
        .map(|rule| {
            serde_json::json!({
                "name": rule.name,
                "summary": rule.summary,
                "default": default_level(rule),
                "fix": rule.fix == FixAvailability::Sometimes,
            })
        })
        .collect();
    serde_json::to_writer_pretty(&mut *out, &list)?;
    writeln!(out)
}
