//! Stacks and times.
//!
//! Times are integers, added and never divided, so no order of adding changes a sum. Uses
//! `evidence::{frames, bounds, error}`.

use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, HashMap};

use super::bounds;
use super::error::EvidenceError;
use super::frames::{FrameId, Frames};

/// What times are counted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Unit {
    /// Nanoseconds.
    Nanoseconds,
    /// Samples, or whatever the tool that folded the stacks counted.
    Samples,
}

/// A time in its trace's [`Unit`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time {
    /// What was sampled.
    pub sampled: u64,
    /// What the consumer credits of it: its script reads backtraces only where they are written
    /// out, not where `ref` points to an earlier one. Never more than `sampled`; the same in every
    /// format but Instruments' XML.
    pub credited: u64,
}

impl Time {
    /// A time that the consumer credits in full.
    pub(crate) fn full(time: u64) -> Self {
        Self { sampled: time, credited: time }
    }

    pub(crate) fn add(&mut self, other: Self) {
        // No sum is more than the total, which is checked.
        self.sampled = self.sampled.saturating_add(other.sampled);
        self.credited = self.credited.saturating_add(other.credited);
    }
}

/// The number of a distinct stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StackId(pub(crate) u32);

/// Distinct stacks, each from the outermost frame to the innermost, with their times.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stacks {
    frames: Vec<FrameId>,
    /// One past the last frame of each stack.
    ends: Vec<u32>,
    times: Vec<Time>,
    /// The last stack of each hash, and for each stack the one before of the same hash.
    last: HashMap<u64, u32, ahash::RandomState>,
    before: Vec<u32>,
    hasher: ahash::RandomState,
    total: Time,
}

impl Stacks {
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn get(&self, id: StackId) -> &[FrameId] {
        let at = id.0 as usize;
        let start = at.checked_sub(1).and_then(|before| self.ends.get(before)).map_or(0, |&n| n);
        let end = self.ends.get(at).copied().unwrap_or(start);
        self.frames.get(start as usize..end as usize).unwrap_or_default()
    }

    pub(crate) fn time(&self, id: StackId) -> Time {
        self.times.get(id.0 as usize).copied().unwrap_or_default()
    }

    pub(crate) fn total(&self) -> Time {
        self.total
    }

    pub(crate) fn ids(&self) -> impl Iterator<Item = StackId> + use<> {
        (0..self.len() as u32).map(StackId)
    }

    /// The number of a stack, a new one if it is not there yet.
    pub(crate) fn add(&mut self, stack: &[FrameId]) -> Result<StackId, EvidenceError> {
        const NONE: u32 = u32::MAX;
        let hash = self.hasher.hash_one(stack);
        let mut at = self.last.get(&hash).copied().unwrap_or(NONE);
        let newest = at;
        while at != NONE {
            if self.get(StackId(at)) == stack {
                return Ok(StackId(at));
            }
            at = self.before.get(at as usize).copied().unwrap_or(NONE);
        }
        bounds::check("frames in one stack", stack.len(), bounds::DEPTH)?;
        bounds::check("distinct stacks", self.len() + 1, bounds::STACKS)?;
        let frames = self.frames.len() + stack.len();
        bounds::check("frames in distinct stacks", frames, bounds::STACK_FRAMES)?;
        let id = self.len() as u32;
        self.frames.extend_from_slice(stack);
        self.ends.push(self.frames.len() as u32);
        self.times.push(Time::default());
        self.before.push(newest);
        self.last.insert(hash, id);
        Ok(StackId(id))
    }

    /// Adds a sample's time to a stack.
    pub(crate) fn sample(&mut self, id: StackId, time: Time) -> Result<(), EvidenceError> {
        self.add_total(time)?;
        if let Some(sum) = self.times.get_mut(id.0 as usize) {
            sum.add(time);
        }
        Ok(())
    }

    /// Adds the time of a sample to the total: all there is to do for one without a stack.
    pub(crate) fn add_total(&mut self, time: Time) -> Result<(), EvidenceError> {
        let sum = self.total.sampled.checked_add(time.sampled);
        match sum.zip(self.total.credited.checked_add(time.credited)) {
            Some((sampled, credited)) => self.total = Time { sampled, credited },
            None => return Err(EvidenceError::Bound { what: "units of time", most: u64::MAX }),
        }
        Ok(())
    }

    /// Replaces all times.
    pub(crate) fn retime(
        &mut self,
        new: impl Fn(Time) -> Option<Time>,
    ) -> Result<(), EvidenceError> {
        let overflow = EvidenceError::Bound { what: "units of time", most: u64::MAX };
        match new(self.total) {
            Some(total) => self.total = total,
            None => return Err(overflow),
        }
        for time in &mut self.times {
            *time = new(*time).unwrap_or_default();
        }
        Ok(())
    }
}

/// What a trace says.
#[derive(Debug, Clone)]
pub struct Trace {
    unit: Unit,
    total: Time,
    /// By frame.
    inclusive: Vec<(FrameId, Time)>,
    stacks: Stacks,
    /// The frames that the stacks have, by number; all of them where there is no list.
    kept: Option<Vec<FrameId>>,
}

/// The groups of frames that are in one stack, and what it costs a sum.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Together {
    /// The time of each group: of the stacks with at least one of its frames.
    pub each: Vec<Time>,
    /// Their plain sum; saturating.
    pub sum: Time,
    /// The time of the stacks with a frame of any group. The sum less this was counted twice.
    pub union: Time,
    /// By the groups' places.
    pub pairs: Vec<Pair>,
    /// Whether not all pairs are listed, or not with all their time: there are more than
    /// [`Trace::MAX_PAIRS`], or too many in the same stacks.
    pub is_cut: bool,
}

/// Two groups that have stacks in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pair {
    /// The places of the groups; the first is the lower.
    pub groups: (usize, usize),
    /// The time of the stacks that both are in.
    pub time: Time,
    /// Whether the second group is inside of the first: in the stacks with most of `time` its outermost
    /// frame is inside of the first's. Of a tie it is. Where those are the same frame, neither is.
    pub second_is_inner: bool,
    /// The part of `time` whose stacks have them the other way round.
    pub reversed: Time,
    /// A stack in which they lie so: the one with the most time, of several the one with the fewest frames.
    pub stack: StackId,
    /// In this stack: the outermost frame of each group, in the order of `groups`.
    pub frames: (FrameId, FrameId),
}

/// Two groups, while the stacks are gone over. By how they lie: the second inside of the first, the first
/// inside of the second, both with the same frame.
#[derive(Default)]
struct Meeting {
    times: [Time; 3],
    examples: [Option<Example>; 3],
}

/// A stack that two groups are in.
struct Example {
    /// The higher one is shown. Nothing in it depends on the order of the stacks: their time, their depth, and a
    /// number made of their names.
    rank: (Time, Reverse<usize>, u64),
    stack: StackId,
    frames: (FrameId, FrameId),
}

impl Meeting {
    fn add(&mut self, lie: Ordering, time: Time, example: Example) {
        let at = match lie {
            Ordering::Less => 0,
            Ordering::Greater => 1,
            Ordering::Equal => 2,
        };
        let (Some(sum), Some(best)) = (self.times.get_mut(at), self.examples.get_mut(at)) else {
            return;
        };
        sum.add(time);
        if best.as_ref().is_none_or(|best| best.rank < example.rank) {
            *best = Some(example);
        }
    }

    fn pair(self, groups: (usize, usize)) -> Option<Pair> {
        let [second, first, same] = self.times;
        let mut time = second;
        time.add(first);
        time.add(same);
        let found = self.examples.into_iter().zip(self.times).enumerate();
        let found = found.filter_map(|(at, (example, time))| Some((at, example?, time.sampled)));
        // Of a tie the first.
        let (at, example, _) = found.max_by_key(|(at, _, time)| (*time, Reverse(*at)))?;
        let reversed = [first, second, Time::default()].get(at).copied().unwrap_or_default();
        let Example { stack, frames, .. } = example;
        Some(Pair { groups, time, second_is_inner: at == 0, reversed, stack, frames })
    }
}

impl Trace {
    /// The most pairs that [`Trace::together`] lists.
    pub const MAX_PAIRS: usize = 1 << 16;

    /// The most looks at two groups in one stack.
    const MAX_LOOKS: usize = 1 << 26;

    pub(crate) fn new(unit: Unit, stacks: Stacks, frames: &Frames) -> Self {
        let inclusive = inclusive(&stacks, frames.len());
        Self { unit, total: stacks.total(), inclusive, stacks, kept: None }
    }

    /// A trace of which only some stacks' projections are known. `kept` has the frames that they
    /// were projected onto.
    pub(crate) fn partial(
        unit: Unit,
        total: Time,
        mut inclusive: Vec<(FrameId, Time)>,
        stacks: Stacks,
        mut kept: Vec<FrameId>,
    ) -> Self {
        inclusive.sort_unstable_by_key(|(frame, _)| *frame);
        kept.sort_unstable();
        kept.dedup();
        Self { unit, total, inclusive, stacks, kept: Some(kept) }
    }

    /// What its times are counted in.
    pub fn unit(&self) -> Unit {
        self.unit
    }

    /// The time of all samples, those without a stack included.
    pub fn total(&self) -> Time {
        self.total
    }

    /// The inclusive time of each frame that was sampled: a sample counts once for each distinct
    /// frame in its stack. By frame number.
    pub fn frames(&self) -> &[(FrameId, Time)] {
        &self.inclusive
    }

    /// The inclusive time of a frame; none if it was not sampled.
    pub fn inclusive(&self, frame: FrameId) -> Option<Time> {
        let at = self.inclusive.binary_search_by_key(&frame, |(frame, _)| *frame).ok()?;
        self.inclusive.get(at).map(|(_, time)| *time)
    }

    /// A stack from its outermost frame to its innermost.
    pub fn stack(&self, id: StackId) -> &[FrameId] {
        self.stacks.get(id)
    }

    /// The distinct stacks with their times. Where [`Trace::has_all_stacks`] is false, these are
    /// projections onto the frames that a snapshot kept.
    pub fn stacks(&self) -> impl Iterator<Item = (StackId, &[FrameId], Time)> {
        self.stacks.ids().map(|id| (id, self.stacks.get(id), self.stacks.time(id)))
    }

    /// Whether each sample's whole stack is known.
    pub fn has_all_stacks(&self) -> bool {
        self.kept.is_none()
    }

    /// Whether the stacks tell where this frame is: all traces but snapshots' do.
    pub fn places(&self, frame: FrameId) -> bool {
        self.kept.as_ref().is_none_or(|kept| kept.binary_search(&frame).is_ok())
            || self.inclusive(frame).is_none()
    }

    /// How the stacks of groups of frames lie to each other, in one pass over the stacks; `names` has the frames'
    /// names. None where the stacks do not tell, as in a snapshot that did not keep one of the frames.
    ///
    /// The answer is the same for any order of the stacks.
    pub fn together(&self, groups: &[&[FrameId]], names: &Frames) -> Option<Together> {
        if !groups.iter().all(|group| group.iter().all(|&frame| self.places(frame))) {
            return None;
        }
        self.together_among(groups, names, usize::MAX).or_else(|| {
            // Too much work: only so many groups of each stack, those with the lowest places.
            let each = Self::MAX_LOOKS / self.stacks.len().max(1);
            let mut together = self.together_among(groups, names, (2 * each).isqrt())?;
            together.is_cut = true;
            Some(together)
        })
    }

    /// [`Trace::together`], with the pairs among `most` groups of each stack. None after [`Trace::MAX_LOOKS`].
    fn together_among(
        &self,
        groups: &[&[FrameId]],
        names: &Frames,
        most: usize,
    ) -> Option<Together> {
        let mut of: HashMap<FrameId, Vec<usize>, ahash::RandomState> = HashMap::default();
        for (at, group) in groups.iter().enumerate() {
            for &frame in *group {
                of.entry(frame).or_default().push(at);
            }
        }
        let mut together =
            Together { each: vec![Time::default(); groups.len()], ..Together::default() };
        let mut meetings: BTreeMap<(usize, usize), Meeting> = BTreeMap::new();
        let mut looks = Self::MAX_LOOKS;
        let mut marks = Marks::new(names);
        let mut seen_in = vec![u32::MAX; groups.len()];
        let mut here: Vec<(usize, usize, FrameId)> = Vec::new();
        for (id, stack, time) in self.stacks() {
            here.clear();
            for (depth, frame) in stack.iter().enumerate() {
                for &group in of.get(frame).map_or(&[][..], Vec::as_slice) {
                    let seen = seen_in.get_mut(group)?;
                    if *seen != id.0 {
                        *seen = id.0;
                        here.push((group, depth, *frame));
                    }
                }
            }
            if here.is_empty() {
                continue;
            }
            together.union.add(time);
            for &(group, ..) in &here {
                together.each.get_mut(group)?.add(time);
                together.sum.add(time);
            }
            if here.len() < 2 {
                continue;
            }
            here.sort_unstable();
            here.truncate(most);
            looks = looks.checked_sub(here.len() * (here.len() - 1) / 2)?;
            let rank = (time, Reverse(stack.len()), marks.of_stack(stack));
            for (at, &(a, a_depth, a_frame)) in here.iter().enumerate() {
                for &(b, b_depth, b_frame) in here.iter().skip(at + 1) {
                    if meetings.len() >= Self::MAX_PAIRS
                        && meetings.last_key_value().is_some_and(|(last, _)| *last < (a, b))
                    {
                        together.is_cut = true;
                        // Those after it are higher still.
                        break;
                    }
                    let example = Example { rank, stack: id, frames: (a_frame, b_frame) };
                    let meeting = meetings.entry((a, b)).or_default();
                    meeting.add(a_depth.cmp(&b_depth), time, example);
                    if meetings.len() > Self::MAX_PAIRS {
                        // The lowest ones stay, so that each that stays was met from the start.
                        together.is_cut = true;
                        meetings.pop_last();
                    }
                }
            }
        }
        let pairs = meetings.into_iter().filter_map(|(groups, meeting)| meeting.pair(groups));
        together.pairs = pairs.collect();
        Some(together)
    }

    /// The part of the trace whose stacks have one of `frames`. None where the stacks do not tell.
    pub fn only_under(&self, frames: &[FrameId]) -> Option<Self> {
        if !self.has_all_stacks() {
            return None;
        }
        let wanted: std::collections::HashSet<FrameId, ahash::RandomState> =
            frames.iter().copied().collect();
        let mut stacks = Stacks::default();
        let mut frames = 0;
        for (_, stack, time) in self.stacks() {
            if stack.iter().any(|frame| wanted.contains(frame)) {
                frames = stack.iter().map(|frame| frame.index() + 1).max().unwrap_or(0).max(frames);
                let id = stacks.add(stack).ok()?;
                stacks.sample(id, time).ok()?;
            }
        }
        let inclusive = inclusive(&stacks, frames);
        Some(Self { unit: self.unit, total: stacks.total(), inclusive, stacks, kept: None })
    }

    /// Numbers its frames anew.
    pub(crate) fn renumber(&mut self, new: &[FrameId]) {
        let of = |frame: FrameId| new.get(frame.index()).copied().unwrap_or(frame);
        self.inclusive.iter_mut().for_each(|(frame, _)| *frame = of(*frame));
        self.inclusive.sort_unstable_by_key(|(frame, _)| *frame);
        // Nothing is looked up by its frames from here on.
        self.stacks.frames.iter_mut().for_each(|frame| *frame = of(*frame));
        self.stacks.last = HashMap::default();
        self.stacks.before = Vec::new();
        if let Some(kept) = &mut self.kept {
            for frame in kept.iter_mut() {
                *frame = of(*frame);
            }
            kept.sort_unstable();
        }
    }
}

/// A number for each name and each stack, the same on every machine and for any numbering of the frames.
struct Marks<'f> {
    names: &'f Frames,
    /// By frame; 0 where it is not known yet.
    of_frame: Vec<u64>,
}

impl<'f> Marks<'f> {
    fn new(names: &'f Frames) -> Self {
        Self { names, of_frame: vec![0; names.len()] }
    }

    fn of_stack(&mut self, stack: &[FrameId]) -> u64 {
        // FNV-1a with 64 bits, over the bytes of a name, and over the numbers of a stack.
        const START: u64 = 0xcbf2_9ce4_8422_2325;
        let mix = |hash: u64, next: u64| (hash ^ next).wrapping_mul(0x0100_0000_01b3);
        stack.iter().fold(START, |hash, frame| {
            let Some(mark) = self.of_frame.get_mut(frame.index()) else { return hash };
            if *mark == 0 {
                let bytes = self.names.text(*frame).bytes();
                *mark = bytes.fold(START, |hash, byte| mix(hash, u64::from(byte)));
            }
            mix(hash.rotate_left(23), *mark)
        })
    }
}

/// The frame with the most time, in both readings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Largest {
    /// By what was sampled.
    pub sampled: (FrameId, Time),
    /// By what the consumer credits.
    pub credited: (FrameId, Time),
}

/// The inclusive times, by frame.
fn inclusive(stacks: &Stacks, frames: usize) -> Vec<(FrameId, Time)> {
    let mut sums = vec![Time::default(); frames];
    let mut seen_in = vec![u32::MAX; frames];
    for id in stacks.ids() {
        let time = stacks.time(id);
        for frame in stacks.get(id) {
            if let (Some(seen), Some(sum)) =
                (seen_in.get_mut(frame.index()), sums.get_mut(frame.index()))
                && *seen != id.0
            {
                *seen = id.0;
                sum.add(time);
            }
        }
    }
    let sampled = sums.into_iter().zip(seen_in).enumerate();
    sampled
        .filter(|(_, (_, seen))| *seen != u32::MAX)
        .map(|(at, (time, _))| (FrameId(at as u32), time))
        .collect()
}
