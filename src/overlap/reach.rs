//! From which places of the product of two patterns a landmark or a piece can still come, and after
//! how many characters both matches can then end.
//!
//! Before anything is shared the product in `shared` may stand in any state of one pattern with any
//! state of the other, while most of these pairs lead to nothing: where both patterns count
//! characters, they have to count in step to spell out the same text at the end. So the pairs are
//! walked backwards, from those at which a landmark or a piece can begin, the ones nearest to the
//! end first. Conditions and guards are left out, which only adds pairs and shortens ways: the
//! number never overrates. Uses `program`, `alphabet`, `fuel`, `hash`.

use std::collections::VecDeque;

use super::alphabet::{Alphabet, Mask};
use super::fuel::Fuel;
use super::hash::Map;
use super::program::{MATCH, Program};
use super::{LANDMARK, PIECE};

/// The match has not begun.
pub(crate) const BEFORE: u32 = u32::MAX;

/// The character before a place may be none of an identifier, or there is none.
const OTHER: u8 = 1;
/// It may be one of an identifier.
const WORD: u8 = 2;
/// It may be one of an identifier that the match does not spell out.
const GAP: u8 = 4;
/// It may be `_`.
const UNDERSCORE: u8 = 8;
/// How many sets of these there are.
const KINDS: usize = 16;

/// Up to how many pairs of states have a place of their own in a table, 4 bytes each.
const DENSE: usize = 1 << 20;

/// The pairs of states, each a state or [`BEFORE`], with how many characters are still to come at
/// least.
#[derive(Debug)]
pub(crate) struct Reach(Table);

/// A number for each pair of states: one more than it, and 0 for none.
#[derive(Debug)]
enum Table {
    /// Where there are few pairs; how many there are for a state of the first pattern.
    Dense(Vec<u32>, usize),
    Sparse(Map<(u32, u32), u32>),
}

impl Table {
    fn new(a: &Program, b: &Program) -> Self {
        let width = b.len() + 1;
        match (a.len() + 1).checked_mul(width) {
            Some(all) if all <= DENSE => Self::Dense(vec![0; all], width),
            _ => Self::Sparse(Map::default()),
        }
    }

    /// Where a pair stands; [`BEFORE`] is the first of the states.
    fn place(width: usize, (a, b): (u32, u32)) -> usize {
        a.wrapping_add(1) as usize * width + b.wrapping_add(1) as usize
    }

    /// Sets the number of a pair that has none or a larger one; whether that is so.
    fn lower(&mut self, pair: (u32, u32), number: u32) -> bool {
        let known = match self {
            Self::Dense(all, width) => all.get_mut(Self::place(*width, pair)),
            Self::Sparse(all) => Some(all.entry(pair).or_insert(0)),
        };
        // 0 wraps round to the largest.
        let lower = known.filter(|known| number < known.wrapping_sub(1));
        lower.map(|known| *known = number + 1).is_some()
    }

    fn get(&self, pair: (u32, u32)) -> Option<u32> {
        let number = match self {
            Self::Dense(all, width) => all.get(Self::place(*width, pair)),
            Self::Sparse(all) => all.get(&pair),
        };
        number?.checked_sub(1)
    }
}

impl Reach {
    /// Finds them; `None` where that takes more than `most` units.
    pub(crate) fn new(
        a: &Program,
        b: &Program,
        alphabet: &Alphabet,
        fuel: &Fuel,
        most: usize,
    ) -> Option<Self> {
        let until = fuel.used().saturating_add(most);
        fuel.spend((a.size() + b.size()) as usize);
        if (a.len().saturating_mul(b.len()) / 16) > most || fuel.used() > until {
            return None;
        }
        let sides = [Side::new(a, alphabet, 0), Side::new(b, alphabet, 1)];
        let search = Search { sides, alphabet, fuel, until };
        let mut seeds = search.seeds()?;
        seeds.sort_unstable();
        let mut seeds = seeds.into_iter().peekable();
        // Each step is one character, so what waits is in order, and so are the seeds: of the two
        // the nearer one is next.
        let mut waiting: VecDeque<(u32, (u32, u32))> = VecDeque::new();
        let mut least = Table::new(a, b);
        let [a, b] = &search.sides;
        loop {
            let seed = seeds.next_if(|seed| waiting.front().is_none_or(|next| seed.0 <= next.0));
            let is_seed = seed.is_some();
            let Some((rest, pair)) = seed.or_else(|| waiting.pop_front()) else { break };
            // A seed may have been met by then; what waited may have turned out to be nearer.
            let is_met = if is_seed {
                !least.lower(pair, rest)
            } else {
                least.get(pair).is_some_and(|known| known < rest)
            };
            if is_met {
                continue;
            }
            let (from_a, from_b) = (a.before(pair.0), b.before(pair.1));
            fuel.spend(1 + from_a.len() * from_b.len() / 16);
            if search.is_over() {
                return None;
            }
            for &(x, reads) in from_a {
                for &(y, other) in from_b {
                    if reads.and(other).is_empty() {
                        continue;
                    }
                    let rest = rest.saturating_add(1);
                    if least.lower((x, y), rest) {
                        waiting.push_back((rest, (x, y)));
                    }
                }
            }
        }
        Some(Self(least))
    }

    /// How many characters a frame with a landmark or a piece goes on for at least from there; `None`
    /// where there is no such frame.
    pub(crate) fn least(&self, a: u32, b: u32) -> Option<u32> {
        self.0.get((a, b))
    }
}

/// One pattern.
struct Side<'a> {
    program: &'a Program,
    masks: Vec<Mask>,
    /// The word characters that can be spelled out next, by state.
    spelled: Vec<Mask>,
    /// What the character before may be, by state.
    kinds: Vec<u8>,
    /// For each state where the places before it are.
    ranges: Vec<u32>,
    sources: Vec<(u32, Mask)>,
    /// The place before one whose match has not begun.
    outside: [(u32, Mask); 1],
}

impl<'a> Side<'a> {
    fn new(program: &'a Program, alphabet: &Alphabet, side: usize) -> Self {
        let masks: Vec<Mask> =
            (0..program.sets.len()).map(|set| alphabet.mask(side, set)).collect();
        let live = alphabet.live;
        let mask = |set: u32| masks.get(set as usize).copied().unwrap_or_default().and(live);
        let words = alphabet.words();
        let count = program.len();
        let (mut spelled, mut kinds) = (vec![Mask::default(); count], vec![0u8; count]);
        let mut ranges = vec![0u32; count + 2];
        let steps = || {
            (0..count as u32).flat_map(|state| {
                let edges = program.edges(state).iter().filter(|edge| edge.target != MATCH);
                edges.map(move |edge| (state, edge))
            })
        };
        for (state, edge) in steps() {
            let reads = mask(edge.set);
            if edge.spelled
                && let Some(spelled) = spelled.get_mut(state as usize)
            {
                *spelled = spelled.or(reads.and(words));
            }
            let mut kind = 0;
            if !reads.without(words).is_empty() {
                kind |= OTHER;
            }
            if !reads.and(words).is_empty() {
                kind |= if edge.spelled { WORD } else { WORD | GAP };
            }
            if edge.spelled && reads.has(super::alphabet::UNDERSCORE) {
                kind |= UNDERSCORE;
            }
            if let Some(kinds) = kinds.get_mut(edge.target as usize) {
                *kinds |= kind;
            }
            if let Some(range) = ranges.get_mut(edge.target as usize + 2) {
                *range += if state == program.start { 2 } else { 1 };
            }
        }
        for at in 1..ranges.len() {
            ranges[at] += ranges[at - 1];
        }
        let total = ranges.last().copied().unwrap_or_default() as usize;
        let mut sources = vec![(0, Mask::default()); total];
        for (state, edge) in steps() {
            let from = [state, BEFORE];
            for &from in from.iter().take(if state == program.start { 2 } else { 1 }) {
                if let Some(next) = ranges.get_mut(edge.target as usize + 1)
                    && let Some(source) = sources.get_mut(*next as usize)
                {
                    *source = (from, mask(edge.set));
                    *next += 1;
                }
            }
        }
        Self { program, masks, spelled, kinds, ranges, sources, outside: [(BEFORE, live)] }
    }

    /// The places before one, with what is read in between.
    fn before(&self, state: u32) -> &[(u32, Mask)] {
        if state == BEFORE {
            return &self.outside;
        }
        let at = |at: usize| self.ranges.get(at).copied().unwrap_or_default() as usize;
        self.sources.get(at(state as usize)..at(state as usize + 1)).unwrap_or_default()
    }

    fn edges_state(&self, state: u32) -> u32 {
        if state == BEFORE { self.program.start } else { state }
    }

    /// The states, [`BEFORE`] too, that can spell out a word character next.
    fn spelling_states(&self) -> impl Iterator<Item = u32> {
        let states = (0..self.program.len() as u32).chain([BEFORE]);
        states.filter(|&state| !self.spelled(state).is_empty())
    }

    /// The least that its match still needs.
    fn rest(&self, state: u32) -> u32 {
        self.program.distance(self.edges_state(state))
    }

    fn spelled(&self, state: u32) -> Mask {
        self.spelled.get(self.edges_state(state) as usize).copied().unwrap_or_default()
    }

    fn kinds(&self, state: u32) -> u8 {
        match state {
            BEFORE => OTHER | WORD | UNDERSCORE,
            state => self.kinds.get(state as usize).copied().unwrap_or_default(),
        }
    }

    /// The steps that spell out one of `letters`.
    fn spelling(&self, state: u32, letters: Mask) -> impl Iterator<Item = (u32, Mask)> {
        let edges = self.program.edges(self.edges_state(state)).iter();
        edges.filter(|edge| edge.target != MATCH && edge.spelled).filter_map(move |edge| {
            let reads = self.masks.get(edge.set as usize).copied().unwrap_or_default();
            let reads = reads.and(letters);
            (!reads.is_empty()).then_some((edge.target, reads))
        })
    }

    /// Whether an identifier may end at a state.
    fn may_end(&self, state: u32, words: Mask) -> bool {
        self.program.edges(state).iter().any(|edge| {
            let reads = self.masks.get(edge.set as usize).copied().unwrap_or_default();
            edge.target == MATCH || !reads.without(words).is_empty()
        })
    }
}

struct Search<'a> {
    sides: [Side<'a>; 2],
    alphabet: &'a Alphabet,
    fuel: &'a Fuel,
    until: usize,
}

impl Search<'_> {
    /// The pairs at which a landmark or a piece can begin, with what their matches still need.
    fn seeds(&self) -> Option<Vec<(u32, (u32, u32))>> {
        let mut seeds = Vec::new();
        let words = self.alphabet.words();
        let letters = words.without(super::alphabet::underscore());
        let [a, b] = &self.sides;
        // What can stand before them decides for most, so those that are alike in that go together.
        let mut others: [Vec<u32>; KINDS] = Default::default();
        for y in b.spelling_states() {
            if let Some(alike) = others.get_mut(usize::from(b.kinds(y))) {
                alike.push(y);
            }
        }
        for x in a.spelling_states() {
            self.fuel.spend(1);
            for (kinds, others) in others.iter().enumerate() {
                let (either, both) = (a.kinds(x) | kinds as u8, a.kinds(x) & kinds as u8);
                let start = both & OTHER != 0;
                let resumed = both & WORD != 0 && either & GAP != 0;
                let piece = both & UNDERSCORE != 0;
                if !(start || resumed || piece) {
                    continue;
                }
                self.fuel.spend(others.len() / 4);
                for &y in others {
                    if a.spelled(x).and(b.spelled(y)).is_empty() {
                        continue;
                    }
                    let rest = a.rest(x).max(b.rest(y));
                    // Without an end there is no match.
                    if rest != u32::MAX
                        && (((start || resumed) && self.spell((x, y), LANDMARK, words, start))
                            || (piece && self.spell((x, y), PIECE, letters, false)))
                    {
                        seeds.push((rest, (x, y)));
                    }
                    if self.is_over() {
                        return None;
                    }
                }
            }
        }
        Some(seeds)
    }

    fn is_over(&self) -> bool {
        self.fuel.is_empty() || self.fuel.used() > self.until
    }

    /// Whether both can spell out `count` of the same letters, or fewer if the identifier may end
    /// there.
    fn spell(&self, (x, y): (u32, u32), count: u8, letters: Mask, short: bool) -> bool {
        let [a, b] = &self.sides;
        let words = self.alphabet.words();
        for (next, reads) in a.spelling(x, letters) {
            for (other, common) in b.spelling(y, letters) {
                self.fuel.spend(1);
                if self.is_over() {
                    return true;
                }
                if reads.and(common).and(self.alphabet.live).is_empty() {
                    continue;
                }
                let ends = short && a.may_end(next, words) && b.may_end(other, words);
                if count == 1 || ends || self.spell((next, other), count - 1, letters, short) {
                    return true;
                }
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::super::landmark::Identifiers;
    use super::super::matcher::Match;
    use super::super::program::{MAX_SIZE, Side as Err};
    use super::*;
    use crate::pattern::{Versions, parse};

    /// The letters of the frames that are tried, one more than all patterns below need.
    const LETTERS: [char; 5] = ['a', 'b', 'c', '_', ':'];

    fn program(pattern: &str) -> Program {
        let ast = parse(pattern, Versions::ALL).unwrap_or_else(|e| panic!("{pattern}: {e:?}"));
        Program::new(&ast, Err::Over, MAX_SIZE).unwrap_or_else(|e| panic!("{pattern}: {e:?}"))
    }

    #[test]
    fn both_tables_keep_the_least() {
        let (a, b) = (program("abc"), program("[ab]+c"));
        let width = b.len() + 1;
        let mut dense = Table::new(&a, &b);
        assert!(matches!(&dense, Table::Dense(all, _) if all.len() == (a.len() + 1) * width));
        let mut sparse = Table::Sparse(Map::default());
        let states = |of: &Program| (0..of.len() as u32).chain([BEFORE]).collect::<Vec<_>>();
        let pairs: Vec<(u32, u32)> =
            states(&a).iter().flat_map(|&x| states(&b).into_iter().map(move |y| (x, y))).collect();
        for (at, number) in [7, 3, 9, 0, u32::MAX - 1, u32::MAX, 3, 5, 2, 0].iter().enumerate() {
            for &pair in pairs.iter().skip(at % 3).step_by(1 + at) {
                let is_less =
                    dense.get(pair).is_none_or(|known| *number < known) && *number != u32::MAX;
                assert_eq!(dense.lower(pair, *number), is_less);
                assert_eq!(sparse.lower(pair, *number), is_less);
            }
            assert!(pairs.iter().all(|&pair| dense.get(pair) == sparse.get(pair)));
        }
        let large = program(&"a".repeat(1_100));
        assert!(matches!(Table::new(&large, &large), Table::Sparse(_)));
    }

    fn reach(a: &Program, b: &Program) -> Reach {
        let alphabet = Alphabet::new(&a.sets, &b.sets, &Fuel::new(100)).expect("few characters");
        Reach::new(a, b, &alphabet, &Fuel::new(10_000_000), 10_000_000).expect("small patterns")
    }

    /// All matches of a text that go on from a state, at its start; from [`BEFORE`], from any place
    /// on. Conditions are left out.
    fn runs(program: &Program, state: u32, text: &[char]) -> Vec<Match> {
        let mut found = Vec::new();
        let starts = if state == BEFORE { 0..text.len() } else { 0..1 };
        let state = if state == BEFORE { program.start } else { state };
        for start in starts {
            let mut stack = vec![(state, Vec::new())];
            while let Some((state, spelled)) = stack.pop() {
                for edge in program.edges(state) {
                    let at: usize = start + spelled.len();
                    if edge.target == MATCH {
                        let spelled = spelled.clone();
                        found.push(Match { start, end: at, spelled });
                    } else if let Some(&c) = text.get(at)
                        && program.sets.get(edge.set).is_some_and(|set| set.has(c))
                    {
                        let mut spelled = spelled.clone();
                        spelled.push(edge.spelled);
                        stack.push((edge.target, spelled));
                    }
                }
            }
        }
        found
    }

    /// All texts of up to `length` letters, the shorter ones first.
    fn texts(length: usize) -> Vec<Vec<char>> {
        let mut all: Vec<Vec<char>> = vec![Vec::new()];
        let mut from = 0;
        for _ in 0..length {
            let to = all.len();
            for at in from..to {
                for letter in LETTERS {
                    let mut longer = all[at].clone();
                    longer.push(letter);
                    all.push(longer);
                }
            }
            from = to;
        }
        all
    }

    const PATTERNS: [&str; 17] = [
        "a",
        "abc",
        "ab_c",
        "a::b",
        "b::c",
        "b_abca",
        "_abcb",
        "a.*b",
        r"\w*_c",
        "ab.c",
        "[ab]{1,3}c",
        "(?:ab|ba)+",
        r"\bab(?!c)",
        ".{2}abc",
        "(?:a|b_)?cab",
        "[^:]*abcb",
        "abc(?:b|a(?!))",
    ];

    /// From no pair of states a landmark or a piece comes sooner than is said, and none where it is said
    /// that none comes.
    #[test]
    fn nothing_comes_sooner() {
        let texts = texts(5);
        let (mut shown, mut exact) = (0, 0);
        for (at, a) in PATTERNS.iter().enumerate() {
            for b in &PATTERNS[at..] {
                let (a_program, b_program) = (program(a), program(b));
                let reach = reach(&a_program, &b_program);
                let states = |program: &Program| (0..program.len() as u32).chain([BEFORE]);
                for x in states(&a_program) {
                    for y in states(&b_program) {
                        let Some(length) = shortest((&a_program, x), (&b_program, y), &texts)
                        else {
                            continue;
                        };
                        let least = reach.least(x, y);
                        assert!(
                            least.is_some_and(|least| least as usize <= length),
                            "{a} {x}, {b} {y}: {length} characters will do, not {least:?}"
                        );
                        shown += 1;
                        exact += usize::from(least == Some(length as u32));
                    }
                }
            }
        }
        assert!(shown >= 80 && 2 * exact > shown, "{exact} of {shown}");
    }

    /// The length of the first of `texts` that shows an overlap in part of what goes on from two
    /// states.
    fn shortest(
        (a, x): (&Program, u32),
        (b, y): (&Program, u32),
        texts: &[Vec<char>],
    ) -> Option<usize> {
        // What was read before is not known, so it is taken for a word character outside of both:
        // with it nothing begins that would not begin after any other one.
        let from_start = x == BEFORE && y == BEFORE;
        let shown = |text: &Vec<char>| {
            let mut frame = text.clone();
            let moved = usize::from(!from_start);
            if !from_start {
                frame.insert(0, 'x');
            }
            let words = Identifiers::new(&frame);
            let moved = |m: Match| Match { start: m.start + moved, end: m.end + moved, ..m };
            let of_a: Vec<Match> = runs(a, x, text).into_iter().map(moved).collect();
            let of_b: Vec<Match> = runs(b, y, text).into_iter().map(moved).collect();
            of_a.iter().any(|a| of_b.iter().any(|b| words.overlap(a, b)))
        };
        texts.iter().find(|text| shown(text)).map(Vec::len)
    }

    #[test]
    fn the_length_of_a_witness() {
        for (a, b, length) in [
            ("abc", "abc", Some(3)),
            ("alloc_buffer::", "MlxDevice::alloc_", Some(25)),
            ("a::b::foo", "foo::bar", Some(14)),
            ("mlx_native.*count", "free_count", Some(20)),
            ("(a|b)*a(a|b){9}x", "(a|b)*a(a|b){20}x", Some(22)),
            (r".*n.{4}k_f.*$", r".*n.{9}k_f.*$", Some(13)),
            ("rope_multi::dispatch", "build_run::x", None),
            ("MlxDevice", "alloc_buffer::", None),
            ("proj", "j_foo", None),
        ] {
            let (a_program, b_program) = (program(a), program(b));
            let least = reach(&a_program, &b_program).least(BEFORE, BEFORE);
            assert_eq!(least, length, "{a} {b}");
        }
    }

    #[test]
    fn it_gives_up_at_its_bound() {
        let (a, b) = (program("(?:ab?){1,40}c"), program("(?:a?b){1,40}c"));
        let fuel = Fuel::new(1_000_000);
        let alphabet = Alphabet::new(&a.sets, &b.sets, &fuel).expect("few characters");
        assert!(Reach::new(&a, &b, &alphabet, &fuel, 500).is_none());
        assert!(fuel.used() < 2_000, "{}", fuel.used());
        assert!(Reach::new(&a, &b, &alphabet, &Fuel::new(300), 100_000).is_none());
    }
}
