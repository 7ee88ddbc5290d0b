//! What the patterns of registers claim in the evidence that the registers are held against.
//!
//! Uses `evidence`, `overlap` and `pattern`. All patterns are held against all frames in one pass, before any rule
//! asks; what only a finding needs is made when the first one does.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use ahash::AHashMap;
use memchr::memmem;
use rayon::prelude::*;

use super::Patterns;
use crate::evidence::{
    Content, Covered, Evidence, FrameId, Function, Largest, Near, Trace, claims, without_hash,
};
use crate::overlap::matcher::{Matcher, Outcome};
use crate::pattern;
use crate::pattern::ways::{GAP, Way, ways};
use crate::register::PatternId;

/// One body of evidence, and what patterns claim in it.
#[derive(Debug)]
pub struct Measured<'e> {
    evidence: &'e Evidence,
    /// The frames that each pattern claims, by number.
    claims: AHashMap<PatternId, Vec<FrameId>>,
    /// The patterns of which it is not known what else they claim.
    unfinished: BTreeSet<PatternId>,
    /// By the number of a frame that is claimed: its function's number.
    function_of: AHashMap<FrameId, u32>,
    functions: Vec<Function>,
    /// The symbols of all lists; none where there is no list.
    lists: Option<Covered>,
    near: OnceLock<Near<'e>>,
    looks_v0: OnceLock<bool>,
    /// Bytes that [`Measured::naming`] goes over for one question.
    bytes: usize,
}

/// A function that a pattern claims.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claimed<'m> {
    /// The function.
    pub function: &'m Function,
    /// Those of its frames that the pattern claims, by number; at least one.
    pub frames: Vec<FrameId>,
}

impl<'e> Measured<'e> {
    /// Holds the patterns of those numbers against `evidence`. Of a pattern that has no
    /// [`tree`](Patterns::tree) nothing is known.
    pub(super) fn new(
        evidence: &'e Evidence,
        patterns: &Patterns<'_>,
        ids: impl IntoIterator<Item = PatternId>,
    ) -> Self {
        let known: Vec<(PatternId, _)> = ids
            .into_iter()
            .collect::<BTreeSet<_>>()
            .into_iter()
            .filter_map(|id| Some((id, patterns.tree(id)?)))
            .collect();
        let trees: Vec<_> = known.iter().map(|(_, tree)| *tree).collect();
        let found = claims(evidence.frames(), &trees);
        let at = |&at: &usize| known.get(at).map(|(id, _)| *id);
        let unfinished = found.unfinished.iter().filter_map(at).collect();
        let claims: AHashMap<_, _> = known.iter().map(|(id, _)| *id).zip(found.frames).collect();

        let mut claimed: Vec<FrameId> = claims.values().flatten().copied().collect();
        claimed.par_sort_unstable();
        claimed.dedup();
        let keys: Vec<Function> =
            claimed.par_iter().map(|&frame| Function::of(evidence.frames().text(frame))).collect();
        let mut numbers: AHashMap<Function, u32> = AHashMap::new();
        let mut functions = Vec::new();
        let mut function_of = AHashMap::with_capacity(claimed.len());
        for (frame, key) in claimed.into_iter().zip(keys) {
            let number = *numbers.entry(key).or_insert_with_key(|key| {
                functions.push(key.clone());
                functions.len() as u32 - 1
            });
            function_of.insert(frame, number);
        }
        let symbols = evidence.sources().iter().filter_map(|source| match &source.content {
            Content::Symbols(symbols) => Some(symbols),
            Content::Trace(_) => None,
        });
        let mut symbols = symbols.flatten().copied().peekable();
        let lists = symbols.peek().is_some().then(|| Covered::new(evidence.frames(), symbols));
        let bytes = evidence.frames().iter().map(|(_, text)| text.len()).sum();
        Self {
            evidence,
            claims,
            unfinished,
            function_of,
            functions,
            lists,
            near: OnceLock::new(),
            looks_v0: OnceLock::new(),
            bytes,
        }
    }

    /// The evidence.
    pub fn evidence(&self) -> &'e Evidence {
        self.evidence
    }

    /// The text of a frame.
    pub fn text(&self, frame: FrameId) -> &'e str {
        self.evidence.frames().text(frame)
    }

    /// The frames that a pattern claims, by number. `None` where that is not known: its consumer refuses it or
    /// may read it otherwise than CPython, or the search was given up.
    pub fn frames(&self, id: PatternId) -> Option<&[FrameId]> {
        let frames = self.claims.get(&id)?;
        (!self.is_unfinished(id)).then_some(frames.as_slice())
    }

    /// Whether the search for what a pattern claims was given up.
    pub fn is_unfinished(&self, id: PatternId) -> bool {
        self.unfinished.contains(&id)
    }

    /// The function of a frame that some pattern claims.
    pub fn function(&self, frame: FrameId) -> Option<&Function> {
        self.functions.get(self.function_number(frame)?)
    }

    /// The number of the function of a frame that some pattern claims, from 0.
    pub fn function_number(&self, frame: FrameId) -> Option<usize> {
        self.function_of.get(&frame).map(|&number| number as usize)
    }

    /// The functions that a pattern claims, by name; `None` as [`Measured::frames`] has it.
    pub fn functions(&self, id: PatternId) -> Option<Vec<Claimed<'_>>> {
        let mut by_function: AHashMap<usize, Vec<FrameId>> = AHashMap::new();
        for &frame in self.frames(id)? {
            by_function.entry(self.function_number(frame)?).or_default().push(frame);
        }
        let mut found: Vec<Claimed<'_>> = by_function
            .into_iter()
            .filter_map(|(number, frames)| {
                Some(Claimed { function: self.functions.get(number)?, frames })
            })
            .collect();
        found.sort_unstable_by_key(|claimed| claimed.function);
        Some(found)
    }

    /// The traces with the names of their sources, in their order.
    pub fn traces(&self) -> impl Iterator<Item = (&'e str, &'e Trace)> + use<'e> {
        let sources = self.evidence.sources().iter();
        sources.filter_map(|source| Some((source.name.as_str(), source.trace()?)))
    }

    /// See [`Evidence::largest`].
    pub fn largest(&self, trace: &Trace, frames: &[FrameId]) -> Option<Largest> {
        self.evidence.largest(trace, frames)
    }

    /// Whether a trace has a frame.
    pub fn is_sampled(&self, frame: FrameId) -> bool {
        self.traces().any(|(_, trace)| trace.inclusive(frame).is_some())
    }

    /// Whether there is a list of symbols.
    pub fn has_lists(&self) -> bool {
        self.lists.is_some()
    }

    /// The crate, module or type by which the lists cover a pattern: each way through it names one that they have.
    /// `None` where they do not cover it.
    pub fn covering(&self, patterns: &Patterns<'_>, id: PatternId) -> Option<String> {
        let covered = self.lists.as_ref()?;
        let ways = ways(&patterns.tree(id)?.root)?;
        let name = |way: &Way| way.text().split(GAP).find_map(|part| covered.covering(part));
        let names: Option<Vec<String>> = ways.iter().map(name).collect();
        names?.into_iter().next()
    }

    /// What authors may have meant, over all frames.
    pub fn near(&self) -> &Near<'e> {
        self.near.get_or_init(|| Near::new(self.evidence.frames()))
    }

    /// Whether most frames of Rust are in v0 mangling, or demangled from it: those have no hash at their end.
    pub fn looks_v0(&self) -> bool {
        *self.looks_v0.get_or_init(|| {
            let (mut v0, mut legacy) = (0_usize, 0_usize);
            for (_, text) in self.evidence.frames().iter() {
                let is_mangled = || {
                    text.starts_with("_R")
                        && text.as_bytes().get(2).is_some_and(u8::is_ascii_uppercase)
                };
                if without_hash(text).1 {
                    legacy += 1;
                } else if text.starts_with('<') && text.contains(">::") || is_mangled() {
                    v0 += 1;
                }
            }
            v0 > legacy
        })
    }

    /// How many questions [`Measured::naming`] answers in a second or so, by what there is to go over.
    pub fn namings(&self) -> usize {
        const BYTES: usize = 1 << 29;
        (BYTES / self.bytes.max(1)).min(1_000)
    }

    /// A pattern that claims the frame and no frame of another function: the end of its path, as short as it
    /// can be, but with the name that the function stands in where it has one. `None` where the whole path of the
    /// function still claims others.
    ///
    /// Goes over all frames.
    pub fn naming(&self, frame: FrameId) -> Option<String> {
        // What is said to claim it does.
        self.shortest(frame).filter(|named| {
            let ast = pattern::parse(named, pattern::Versions::ALL);
            ast.is_ok_and(|ast| {
                matches!(Matcher::new(&ast).search(self.text(frame)), Outcome::Match(..))
            })
        })
    }

    fn shortest(&self, frame: FrameId) -> Option<String> {
        let text = self.text(frame);
        let function = Function::of(text);
        let (path, has_hash) = without_hash(text);
        let is_objective_c = path.starts_with("-[") || path.starts_with("+[");
        let path = without_closures(path);
        let mut starts: Vec<usize> = path.match_indices("::").map(|(at, _)| at + 2).collect();
        if is_objective_c {
            starts.clear();
        }
        starts.insert(0, 0);
        let skipped = usize::from(starts.len() > 1);
        let end = if has_hash { "::" } else { "" };
        // Whatever is tried below, a frame that it claims has this in it.
        let last = format!("{}{end}", path.get(*starts.last()?..)?);
        let finder = memmem::Finder::new(last.as_bytes());
        let others: Vec<&str> = self
            .evidence
            .frames()
            .iter()
            .map(|(_, text)| text)
            .filter(|text| finder.find(text.as_bytes()).is_some() && Function::of(text) != function)
            .collect();
        for &start in starts.iter().rev().skip(skipped) {
            let part = path.get(start..)?;
            if let Some(readable) = readable(part, end, &others) {
                return Some(readable);
            }
            // What an author would not write is not offered while there is hope.
            if part.contains('$') && start > 0 {
                continue;
            }
            let literal = format!("{part}{end}");
            if !others.iter().any(|text| text.contains(&literal)) {
                return Some(pattern::escaped(&literal));
            }
            if !has_hash && !others.iter().any(|text| text.ends_with(&literal)) {
                return Some(format!("{}$", pattern::escaped(&literal)));
            }
        }
        let whole = format!("^{}", pattern::escaped(path));
        if has_hash {
            Some(format!("{whole}::h[0-9a-f]{{16}}$"))
        } else {
            Some(format!("{whole}$"))
        }
    }
}

/// A pattern for the end of a path in which escapes stand, `Error$LT$F$GT$::format`, as an author would write it:
/// `Error.*::format::`. `None` where there are no escapes or they stand in its last name, where nothing would be left of
/// its first one, and where it claims one of `others`, which are all frames of other functions with that last name.
fn readable(part: &str, end: &str, others: &[&str]) -> Option<String> {
    if !part.contains('$') || part.rsplit("::").next().is_some_and(|last| last.contains('$')) {
        return None;
    }
    let mut names: Vec<String> = Vec::new();
    for name in part.split("::") {
        let plain = name.split('$').next().unwrap_or_default().trim_end_matches('_');
        names.push(match plain {
            plain if plain.len() == name.len() => pattern::escaped(plain),
            plain => format!("{}.*", pattern::escaped(plain)),
        });
    }
    let text = format!("{}{end}", names.join("::"));
    if text.starts_with(".*") {
        return None;
    }
    let ast = pattern::parse(&text, pattern::Versions::ALL).ok()?;
    let matcher = Matcher::new(&ast);
    let clash = others.iter().any(|text| matcher.search(text) != Outcome::None);
    (!clash).then_some(text)
}

/// The path that closures at the end of another one stand in.
fn without_closures(mut path: &str) -> &str {
    let starts = ["{closure", "{{closure", "_{{closure", "_$u7b$$u7b$closure", "$u7b$$u7b$closure"];
    let is_closure = |name: &str| starts.iter().any(|start| name.starts_with(start));
    while let Some((outer, name)) = path.rsplit_once("::")
        && is_closure(name)
    {
        path = outer;
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern::{Consumer, Pattern};

    const FRAMES: &str = "one::kv::put::h0123456789abcdef\n\
        one::kv::put::h1123456789abcdef\n\
        one::kv::put::{{closure}}::h1123456789abcdef\n\
        one::kv::put_all::h0123456789abcdef\n\
        two::kv::put::h0123456789abcdef\n\
        one::ctx::_$LT$impl$u20$one..Ctx$LT$T$GT$$u20$for$u20$two..R$LT$T$GT$$GT$::with::h0123456789abcdef\n\
        one::E$LT$F$GT$::fmt::h0123456789abcdef\n\
        -[AGX init:]\n\
        mach_msg\n\
        mach_msg_trap\n\
        <three::T>::new\n";

    fn measure<'e>(
        evidence: &'e Evidence,
        texts: &[&'static str],
    ) -> (Measured<'e>, Vec<Vec<String>>) {
        let list = texts.iter().map(|text| Pattern::new(text, Consumer::default()));
        let patterns = Patterns::of(list);
        let ids = (0..texts.len() as u32).map(PatternId);
        let measured = Measured::new(evidence, &patterns, ids.clone());
        let functions = ids
            .map(|id| {
                let found = measured.functions(id).unwrap_or_default();
                found.iter().map(|claimed| claimed.function.to_string()).collect()
            })
            .collect();
        (measured, functions)
    }

    #[test]
    fn patterns_claim_functions() {
        let evidence = Evidence::read("it", FRAMES.as_bytes(), None).unwrap();
        let (measured, functions) = measure(&evidence, &["kv::put::", "mach", "(", "AGX", "none"]);
        assert_eq!(functions[0], ["one::kv::put", "two::kv::put"]);
        assert_eq!(functions[1], ["mach_msg", "mach_msg_trap"]);
        assert_eq!(measured.frames(PatternId(2)), None);
        assert_eq!(functions[3], ["-[AGX init:]"]);
        assert_eq!(measured.frames(PatternId(4)), Some(&[][..]));
        assert!(!measured.looks_v0());
    }

    #[test]
    fn the_shortest_pattern_that_names_one_function() {
        let evidence = Evidence::read("it", FRAMES.as_bytes(), None).unwrap();
        let (measured, _) = measure(&evidence, &[]);
        let names: Vec<Option<String>> =
            evidence.frames().iter().map(|(frame, _)| measured.naming(frame)).collect();
        let names: Vec<&str> = names.iter().flatten().map(String::as_str).collect();
        assert_eq!(
            names,
            [
                "one::kv::put::",
                "one::kv::put::",
                "one::kv::put::",
                "kv::put_all::",
                "two::kv::put::",
                "ctx::.*::with::",
                "E.*::fmt::",
                r"-\[AGX init:\]",
                "mach_msg$",
                "mach_msg_trap",
                "T>::new",
            ]
        );
        for (pattern, (frame, _)) in names.iter().zip(evidence.frames().iter()) {
            let ast = pattern::parse(pattern, pattern::Versions::ALL).unwrap();
            let claimed = claims(evidence.frames(), &[&ast]).frames.remove(0);
            assert!(claimed.contains(&frame) || evidence.frames().text(frame).contains("closure"));
            let of = |id: &FrameId| Function::of(evidence.frames().text(*id));
            assert!(claimed.iter().all(|id| of(id) == of(&frame)), "{pattern}");
        }
    }
}
