//! The frames that an author may have meant by a pattern that claims none.
//!
//! An index of the segments of all functions' paths is built once; a question then looks at few
//! frames. Both go by the frames' texts, so that no answer depends on their order. Uses
//! `evidence::{frames, function}`.

use std::collections::{BTreeMap, HashMap, HashSet};

use rayon::prelude::*;

use super::frames::{FrameId, Frames};
use super::function::{Function, is_v0};

/// How many frames of one segment are looked at for one question: the first by text.
const LOOKED_AT: usize = 512;

/// How many frames are looked at for one question.
const IN_ALL: usize = 2_048;

/// How many names are compared for a slip of the pen.
const COMPARED: usize = 512;

/// How a frame is near to a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kinship {
    /// The same path but for its spelling, in v0 mangling or demangled from it.
    OtherMangling,
    /// The function has the same name, and stands under another path.
    SameName,
    /// The text's last name is that of something that the function stands in.
    Inside,
    /// The function's name begins with the text's last name, or differs from it by a slip.
    SimilarName,
}

/// A frame that is near to a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NearFrame {
    /// The frame: of several copies of one function the first by text.
    pub frame: FrameId,
    /// How it is near.
    pub kinship: Kinship,
    /// How many names of the text's path are in the function's.
    pub shared: usize,
}

impl NearFrame {
    /// How far it is; of two that are as far, neither is the one that was meant.
    pub fn rank(&self) -> impl Ord + use<> {
        let is_own = self.kinship == Kinship::OtherMangling;
        (!is_own, std::cmp::Reverse(self.shared), self.kinship)
    }
}

/// The frames that are near to a text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Nearest {
    /// The nearest first; no two of one function.
    pub frames: Vec<NearFrame>,
    /// Whether not all frames were looked at that have a name of the text: there are too many.
    pub is_cut: bool,
}

/// The index.
#[derive(Debug)]
pub struct Near<'f> {
    frames: &'f Frames,
    /// By a function's own name: the frames in the order of their texts, one more than are looked at.
    own: BTreeMap<String, Vec<FrameId>>,
    /// By the names that it stands in.
    outer: HashMap<String, Vec<FrameId>, ahash::RandomState>,
}

impl<'f> Near<'f> {
    /// Goes over the frames once.
    pub fn new(frames: &'f Frames) -> Self {
        let mut own: BTreeMap<String, Vec<FrameId>> = BTreeMap::new();
        let mut outer: HashMap<String, Vec<FrameId>, ahash::RandomState> = HashMap::default();
        let mut sorted: Vec<(FrameId, &str)> = frames.iter().collect();
        sorted.par_sort_unstable_by_key(|(_, text)| *text);
        for (id, text) in sorted {
            let function = Function::of(text);
            let segments = function.segments();
            let Some((last, path)) = segments.split_last() else { continue };
            put(own.entry((*last).to_owned()).or_default(), id);
            for name in path {
                match outer.get_mut(*name) {
                    Some(known) => put(known, id),
                    None => drop(outer.insert((*name).to_owned(), vec![id])),
                }
            }
        }
        Self { frames, own, outer }
    }

    /// The frames nearest to `text`, a pattern's literal path such as `registry::get_pipeline`, at
    /// most `most`, the nearest first: the other mangling, then by the names that the paths share, then
    /// by kinship, then by text.
    pub fn nearest(&self, text: &str, most: usize) -> Nearest {
        let function = Function::of(text.trim_end_matches("::"));
        let path = function.segments();
        let Some(&last) = path.last() else { return Nearest::default() };
        let mut found: Vec<(NearFrame, String)> = Vec::new();
        let mut seen: HashSet<Function, ahash::RandomState> = HashSet::default();
        let (mut left, mut is_cut) = (IN_ALL, false);
        let mut take = |ids: &[FrameId], kinship: Kinship| {
            let looked_at = ids.len().min(LOOKED_AT).min(left);
            left -= looked_at;
            is_cut |= looked_at < ids.len();
            for &frame in ids.iter().take(looked_at) {
                let text = self.frames.text(frame);
                let near = Function::of(text);
                let segments = near.segments();
                let outer = segments.split_last().map_or(&[][..], |(_, path)| path);
                let asked = path.split_last().map_or(&[][..], |(_, path)| path);
                // A search is not anchored, so the first name may be the end of one.
                let is_end = |name: &str| {
                    outer.iter().any(|outer| {
                        outer.strip_suffix(name).is_some_and(|start| start.ends_with('_'))
                    })
                };
                let is_shared = |(at, name): &(usize, &&str)| {
                    outer.contains(*name) || *at == 0 && !name.is_empty() && is_end(name)
                };
                let shared = asked.iter().enumerate().filter(is_shared).count();
                // No hash, and a path in brackets or mangled: the legacy spelling has neither.
                let is_other = is_v0(text) || text.starts_with('<') && !text.contains(" as ");
                let kinship = match kinship {
                    Kinship::SameName if is_other && ends_with(outer, asked) => {
                        Kinship::OtherMangling
                    }
                    kinship => kinship,
                };
                if seen.insert(near.clone()) {
                    found.push((NearFrame { frame, kinship, shared }, near.as_str().to_owned()));
                }
            }
        };
        take(self.own.get(last).map_or(&[], Vec::as_slice), Kinship::SameName);
        take(self.outer.get(last).map_or(&[], Vec::as_slice), Kinship::Inside);
        for name in self.similar(last) {
            take(self.own.get(name).map_or(&[], Vec::as_slice), Kinship::SimilarName);
        }
        found.sort_by(|(a, a_text), (b, b_text)| {
            a.rank().cmp(&b.rank()).then_with(|| a_text.cmp(b_text))
        });
        found.truncate(most);
        Nearest { frames: found.into_iter().map(|(near, _)| near).collect(), is_cut }
    }

    /// The frames of the function that a frame is of, itself among them; some of them, where there are more than 512.
    pub fn same(&self, frame: FrameId) -> Vec<FrameId> {
        let function = Function::of(self.frames.text(frame));
        let segments = function.segments();
        let all = segments.last().and_then(|name| self.own.get(*name));
        let is_same = |other: &FrameId| Function::of(self.frames.text(*other)) == function;
        let mut same: Vec<FrameId> = all.into_iter().flatten().copied().filter(is_same).collect();
        if !same.contains(&frame) {
            same.push(frame);
        }
        same
    }

    /// The functions' names that begin with `name`, or with the same three characters and differ by
    /// no more than a slip.
    fn similar(&self, name: &str) -> Vec<&str> {
        const SAME: usize = 3;
        const LONG: usize = 100;
        if name.chars().count() <= SAME || name.len() > LONG {
            return Vec::new();
        }
        let longer = self.own.range(name.to_owned()..).map(|(own, _)| own.as_str());
        let mut found: Vec<&str> = longer
            .take_while(|own| own.starts_with(name))
            .filter(|own| *own != name)
            .take(16)
            .collect();
        let start: String = name.chars().take(SAME).collect();
        let akin = self.own.range(start.clone()..).map(|(own, _)| own.as_str());
        let akin = akin.take_while(|own| own.starts_with(&start)).take(COMPARED);
        found.extend(akin.filter(|own| {
            own.len() <= LONG && *own != name && {
                let distance = strsim::damerau_levenshtein(name, own);
                distance <= (name.chars().count() / 6).max(1)
            }
        }));
        found.dedup();
        found
    }
}

fn put(list: &mut Vec<FrameId>, id: FrameId) {
    if list.last() != Some(&id) && list.len() <= LOOKED_AT {
        list.push(id);
    }
}

/// Whether the path ends with what was asked for; its first name may be cut.
fn ends_with(path: &[&str], asked: &[&str]) -> bool {
    let Some(start) = path.len().checked_sub(asked.len()) else { return false };
    path.iter()
        .skip(start)
        .zip(asked)
        .enumerate()
        .all(|(at, (name, asked))| name == asked || at == 0 && name.ends_with(asked))
}

#[cfg(test)]
mod tests {
    use super::Kinship::{Inside, OtherMangling, SameName, SimilarName};
    use super::*;

    #[test]
    fn near_frames() {
        let mut frames = Frames::default();
        for frame in [
            "one::kernel::Registry::get_pipeline::h0123456789abcdef",
            "one::kernel::Registry::get_pipeline::h1123456789abcdef",
            "two::get_pipeline::h0123456789abcdef",
            "alloc::fmt::format::format_inner::h0123456789abcdef",
            "one::get_pipelines::h0123456789abcdef",
            "<one::device::Device>::alloc_buffer",
            "_RNvMNtCsdIwGCHF0bNq_3one6deviceNtB2_3Two5alloc",
            "-[AGX initWith:]",
        ] {
            frames.add(frame).unwrap();
        }
        let near = Near::new(&frames);
        let nearest = |text: &str| -> Vec<(u32, Kinship)> {
            near.nearest(text, 9).frames.iter().map(|near| (near.frame.0, near.kinship)).collect()
        };
        assert_eq!(
            nearest("Registry::get_pipeline"),
            [(0, SameName), (2, SameName), (4, SimilarName)]
        );
        assert_eq!(nearest("core::fmt::format").first(), Some(&(3, Inside)));
        assert_eq!(nearest("Device::alloc_buffer::"), [(5, OtherMangling)]);
        assert_eq!(nearest("Two::alloc::").first(), Some(&(6, OtherMangling)));
        assert_eq!(
            nearest("one::get_pipelnes"),
            [(4, SimilarName), (0, SimilarName), (2, SimilarName)]
        );
        assert_eq!(nearest("-[AGY initWith:]"), [(7, SameName)]);
        assert_eq!(nearest("nothing_like_it"), []);
        assert_eq!(nearest("::"), []);
    }
}
