//! `schema-violation`: a register that does not have the form of one.

use super::{Check, Findings, FixAvailability, Level, Rule, label};
use crate::fix::{Applicability, Edit, Fix};
use crate::workspace::{Entry, Workspace};

pub(super) const RULE: Rule = Rule {
    name: "schema-violation",
    summary: "a violation of the register's schema",
    default: Level::Deny,
    fix: FixAvailability::Sometimes,
    page: include_str!("../../docs/rules/schema-violation.md"),
    check: Check::Entry(check),
};
