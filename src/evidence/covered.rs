//! What a list of symbols can tell of.
//!
//! Uses `evidence::{frames, function}`.

use std::collections::BTreeSet;

use super::frames::{FrameId, Frames};
use super::function::Function;

/// The crates, modules and types that the functions of a list stand in: the segments of their paths
/// but the last. Of a trait's method the path of the type counts, the trait's does not: the trait
/// may live elsewhere.
///
/// A list *covers* a pattern whose path names one of them. Of any other pattern it cannot tell:
/// what that names, `IOGPUResourceCreate` or `mach_msg2_trap`, may be in another binary.
#[derive(Debug, Clone, Default)]
pub struct Covered {
    names: BTreeSet<String>,
    /// Each name backwards, so that one can be looked up by its end.
    backwards: BTreeSet<String>,
}

impl Covered {
    /// Of the symbols of a list.
    pub fn new(frames: &Frames, symbols: impl IntoIterator<Item = FrameId>) -> Self {
        let mut names = BTreeSet::new();
        for symbol in symbols {
            let text = frames.text(symbol);
            // Objective-C's classes are no modules.
            if text.starts_with("-[") || text.starts_with("+[") {
                continue;
            }
            let function = Function::of(text);
            let segments = function.segments();
            for name in segments.split_last().map_or(&[][..], |(_, path)| path) {
                if is_name(name) && !names.contains(*name) {
                    names.insert((*name).to_owned());
                }
            }
        }
        let backwards = names.iter().map(|name| name.chars().rev().collect()).collect();
        Self { names, backwards }
    }

    /// Whether it has a crate, module or type of exactly this name.
    pub fn has(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    /// The name by which it covers a pattern that asks for `text`, such as `registry::get_pipeline`; `None` where it
    /// does not.
    ///
    /// The path in `text` is what stands before each `::`. Its first name may be the end of a
    /// longer one, after a `_`, since a search is not anchored: `registry::` is found in
    /// `kernel_registry::`. A text without a `::` has no path and is not covered.
    pub fn covering(&self, text: &str) -> Option<String> {
        let text = text.trim_start_matches("_$LT$").trim_start_matches(['<', '&', '_']);
        let mut path = text.split("::").flat_map(|part| part.split(".."));
        if !text.contains("::") && !text.contains("..") {
            return None;
        }
        let first = path.next()?;
        let mut rest: Vec<&str> = path.collect();
        rest.pop();
        let own = |name: &&str| is_name(name) && self.has(name);
        let whole = std::iter::once(first).chain(rest).find(own);
        whole.map(str::to_owned).or_else(|| self.ending_in(first))
    }

    /// A name that ends in `_` and `end`.
    fn ending_in(&self, end: &str) -> Option<String> {
        if !is_name(end) {
            return None;
        }
        let after: String = end.chars().rev().chain(['_']).collect();
        let name = self.backwards.range(after.clone()..).next()?;
        name.starts_with(&after).then(|| name.chars().rev().collect())
    }
}

fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_list_covers() {
        let mut frames = Frames::default();
        for symbol in [
            "one::kernel_registry::Registry::pipeline::h0123456789abcdef",
            "_$LT$two..T$u20$as$u20$three..Tr$GT$::f::h0123456789abcdef",
            "_RNvMNtCsdIwGCHF0bNq_4four6deviceNtB2_3Two5alloc",
            "-[AGX init]",
            "mach_trap",
        ] {
            frames.add(symbol).unwrap();
        }
        let all: Vec<_> = frames.iter().map(|(id, _)| id).collect();
        let covered = Covered::new(&frames, all);
        for (text, is) in [
            ("registry::get", true),
            ("istry::get", false),
            ("kernel_registry::get", true),
            ("nowhere::Registry::get", true),
            ("Registry::", true),
            ("pipeline::x", false),
            ("two::g", true),
            ("three::Tr::g", false),
            ("four::device", true),
            ("Two::alloc::", true),
            ("AGX init", false),
            ("mach_trap", false),
            ("one", false),
            ("", false),
            ("::", false),
        ] {
            assert_eq!(covered.covering(text).is_some(), is, "{text}");
        }
        assert_eq!(covered.covering("registry::get").as_deref(), Some("kernel_registry"));
        assert_eq!(covered.covering("nowhere::Registry::get").as_deref(), Some("Registry"));
    }
}
