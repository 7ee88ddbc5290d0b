//! The parser against tables of our own: what it accepts, what it refuses, and where.
#![allow(missing_docs)]

use reglint::pattern::{Versions, parse};

#[test]
fn smoke() {
    for (text, ok) in [("a::b", true), ("(a|b)*c", true), ("(", false), ("a**", false)] {
        assert_eq!(parse(text, Versions::ALL).is_ok(), ok, "{text}");
    }
}
