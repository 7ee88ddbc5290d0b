//! The letters that a pair of patterns can tell apart.
//!
//! Whatever sets of characters two patterns use, most characters behave alike under all of them.
//! The product automata walk over **symbols**: one for each printable ASCII character and one for
//! each class of the others, and of these only the *live* ones, one for each class of characters
//! that are in the same sets of both patterns, and alike in being word characters (`\w`, and `\w`
//! under `(?a)`) and `_`. (Those classes are the minterms of D'Antoni and Veanes, *Minimization of
//! symbolic automata*, 2014.)
//!
//! Invariants: control characters (Unicode category `Cc`) have no symbol, since no frame has them.
//! Symbols are numbered from the most to the least readable, so that the first witness found among
//! the shortest ones is the most readable. Uses `charset`, `fuel`.

use std::sync::OnceLock;

use super::charset::{CharSet, is_word, perl};
use super::fuel::Fuel;
use crate::pattern::ast::PerlClass;

/// How many symbols an alphabet can have.
const MAX_SYMBOLS: usize = 256;

/// How many places in how many sets are compared at most to find the classes.
const MAX_COMPARED: usize = 20_000_000;

/// The printable ASCII characters, from the most to the least readable in a name.
const ASCII: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_:.-<>$ ()[]{},;&*=+@#!?/|'\"%^~`\\";

/// The symbol of `_`.
pub(crate) const UNDERSCORE: u8 = 62;

/// The number of symbols that stand for one ASCII character each.
const ASCII_COUNT: usize = 95;

/// How many classes of the characters beyond ASCII are usual.
const USUAL: usize = 8;

/// The letters beyond ASCII that are one with an ASCII letter where case is ignored.
const FOLDED: [char; 4] = ['\u{130}', '\u{131}', '\u{17F}', '\u{212A}'];

/// A number of a symbol.
pub(crate) type Symbol = u8;

/// A set of symbols.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) struct Mask([u64; 4]);

impl Mask {
    /// Adds a symbol.
    pub(crate) fn add(&mut self, symbol: usize) {
        self.0[symbol >> 6 & 3] |= 1 << (symbol & 63);
    }

    /// Whether the symbol is in it.
    pub(crate) fn has(&self, symbol: Symbol) -> bool {
        self.0[usize::from(symbol >> 6)] >> (symbol & 63) & 1 == 1
    }

    /// The symbols of both.
    pub(crate) fn or(self, other: Self) -> Self {
        let (a, b) = (self.0, other.0);
        Self([a[0] | b[0], a[1] | b[1], a[2] | b[2], a[3] | b[3]])
    }

    /// The symbols that both have.
    pub(crate) fn and(self, other: Self) -> Self {
        let (a, b) = (self.0, other.0);
        Self([a[0] & b[0], a[1] & b[1], a[2] & b[2], a[3] & b[3]])
    }

    /// The symbols that the other lacks.
    pub(crate) fn without(self, other: Self) -> Self {
        let (a, b) = (self.0, other.0);
        Self([a[0] & !b[0], a[1] & !b[1], a[2] & !b[2], a[3] & !b[3]])
    }

    /// Whether it has none.
    pub(crate) fn is_empty(self) -> bool {
        self.0 == [0; 4]
    }

    /// Whether it has just one.
    fn is_single(self) -> bool {
        self.0.iter().map(|word| word.count_ones()).sum::<u32>() == 1
    }

    /// Its most readable symbol alone.
    pub(crate) fn first(self) -> Self {
        let mut first = Self::default();
        if let Some(symbol) = self.iter().next() {
            first.add(usize::from(symbol));
        }
        first
    }

    /// Its symbols, the most readable first.
    pub(crate) fn iter(self) -> impl Iterator<Item = Symbol> {
        self.0.into_iter().enumerate().flat_map(|(i, mut word)| {
            std::iter::from_fn(move || {
                if word == 0 {
                    return None;
                }
                let bit = word.trailing_zeros();
                word &= word - 1;
                Some((i * 64) as u8 + bit as u8)
            })
        })
    }
}

/// `_` alone.
pub(crate) fn underscore() -> Mask {
    let mut underscore = Mask::default();
    underscore.add(usize::from(UNDERSCORE));
    underscore
}

/// Symbols divided into classes that are alike in all that was asked of them so far.
#[derive(Debug, Clone, Default)]
pub(crate) struct Division(Vec<Mask>);

impl Division {
    /// How many classes are worth telling apart.
    const MOST: usize = 32;

    /// All in one class.
    pub(crate) fn start(&mut self, all: Mask) {
        self.0.clear();
        self.0.push(all);
    }

    /// The classes of another division, as far as they lie in `all`.
    pub(crate) fn copy(&mut self, other: &Self, all: Mask) {
        self.0.clear();
        self.0.extend(other.0.iter().map(|class| class.and(all)).filter(|class| !class.is_empty()));
    }

    /// Tells those in `mask` from the others; false if there are too many classes.
    pub(crate) fn split(&mut self, mask: Mask) -> bool {
        for at in 0..self.0.len() {
            let Some(class) = self.0.get_mut(at) else { break };
            let (inside, outside) = (class.and(mask), class.without(mask));
            if !inside.is_empty() && !outside.is_empty() {
                *class = inside;
                self.0.push(outside);
            }
        }
        self.0.len() <= Self::MOST
    }

    /// The most readable symbol of each class.
    pub(crate) fn firsts(&self) -> Mask {
        self.0.iter().fold(Mask::default(), |all, class| all.or(class.first()))
    }
}

/// The classes of the characters beyond ASCII that the usual sets (`\w`, `\d`, `\s`, `.`, negated
/// ASCII sets) tell apart: letters, digits, spaces, and the rest; and one by one the four letters
/// that are ASCII letters too where case is ignored.
fn usual() -> &'static [(CharSet, char); USUAL] {
    static CLASSES: OnceLock<[(CharSet, char); USUAL]> = OnceLock::new();
    CLASSES.get_or_init(|| {
        let folded = |c: char| CharSet::new(vec![(c as u32, c as u32)]);
        let all_folded = CharSet::new(FOLDED.iter().map(|&c| (c as u32, c as u32)).collect());
        let beyond = CharSet::new(vec![(0xA0, 0xD7FF), (0xE000, 0x10_FFFF)])
            .intersection(&all_folded.complement());
        let [k, s, dotted, dotless] = FOLDED.map(|c| (folded(c), c));
        let (word, digit, space) = (
            perl(PerlClass::Word, false),
            perl(PerlClass::Digit, false),
            perl(PerlClass::Space, false),
        );
        [
            (word.intersection(&digit.complement()).intersection(&beyond), 'é'),
            (digit.intersection(&beyond), '\u{663}'),
            (space.intersection(&beyond), '\u{2003}'),
            (word.union(space).complement().intersection(&beyond), '→'),
            k,
            s,
            dotted,
            dotless,
        ]
    })
}

/// The sets that one pattern uses, and how they divide the usual symbols.
#[derive(Debug, Clone)]
pub(crate) struct Sets {
    /// The sets, each once.
    all: Vec<CharSet>,
    /// For each set its usual symbols; right only if `usual`.
    masks: Vec<Mask>,
    /// Whether the usual symbols are enough for all of the sets.
    usual: bool,
    /// For each usual symbol the class of symbols that are in the same sets.
    classes: [u16; ASCII_COUNT + USUAL],
    /// How the sets divide the characters beyond ASCII; asked for only where the usual symbols are not
    /// enough.
    beyond: OnceLock<Option<Beyond>>,
}

/// A character from which on another class holds.
#[derive(Debug, Clone, Copy)]
struct Cut {
    first: u32,
    class: u16,
    /// Whether it is a lower-case letter: those are read the most easily.
    is_lowercase: bool,
}

/// How the sets of one pattern, and the usual ones, divide the characters beyond ASCII.
#[derive(Debug, Clone)]
struct Beyond {
    /// The characters from which on another class holds, in order. None of them is a surrogate.
    cuts: Vec<Cut>,
    /// How many classes there are.
    count: usize,
    /// For each set of the pattern its classes, as symbols of their own.
    members: Vec<Mask>,
}

impl Beyond {
    /// `None` if there are more classes than symbols for them, or too much to compare.
    fn new(own: &[CharSet]) -> Option<Self> {
        let reaches = |set: &CharSet| set.ranges().last().is_some_and(|&(_, end)| end > 0x9F);
        let sets =
            || own.iter().filter(|set| reaches(set)).chain(usual().iter().map(|(set, _)| set));
        let mut cuts = vec![0xA0, 0xE000];
        for set in sets() {
            for &(start, end) in set.ranges() {
                let both = [start, end + 1].into_iter();
                cuts.extend(both.filter(|&cut| cut > 0xA0 && cut <= 0x10_FFFF));
            }
        }
        cuts.sort_unstable();
        cuts.dedup();
        cuts.retain(|&cut| !(0xD800..0xE000).contains(&cut));
        if sets().count().saturating_mul(cuts.len()) > MAX_COMPARED {
            return None;
        }
        let inside = |set: &CharSet, cut: u32, at: &mut usize| {
            let ranges = set.ranges();
            while ranges.get(*at).is_some_and(|range| range.1 < cut) {
                *at += 1;
            }
            ranges.get(*at).is_some_and(|range| range.0 <= cut)
        };
        let mut class_of = vec![0u16; cuts.len()];
        let mut count = 1;
        // By the class so far, outside of the set and in it: the class from now on.
        let mut next: Vec<[u16; 2]> = Vec::new();
        for set in sets() {
            next.clear();
            next.resize(count, [NEW; 2]);
            count = 0;
            let mut at = 0;
            for (&cut, class) in cuts.iter().zip(&mut class_of) {
                let inside = usize::from(inside(set, cut, &mut at));
                let id = &mut next.get_mut(usize::from(*class))?[inside];
                if *id == NEW {
                    *id = count as u16;
                    count += 1;
                }
                *class = *id;
            }
            // Another set divides the classes further, and puts none of them together.
            if count > MAX_SYMBOLS - ASCII_COUNT {
                return None;
            }
        }
        let mut firsts = vec![0; count];
        for (&cut, &class) in cuts.iter().zip(&class_of).rev() {
            *firsts.get_mut(usize::from(class))? = cut;
        }
        let members = own.iter().map(|set| {
            let mut mask = Mask::default();
            if reaches(set) {
                for (class, &first) in firsts.iter().enumerate() {
                    if char::from_u32(first).is_some_and(|c| set.has(c)) {
                        mask.add(class);
                    }
                }
            }
            mask
        });
        let members = members.collect();
        let cut = |(first, class)| {
            let is_lowercase = char::from_u32(first).is_some_and(char::is_lowercase);
            Cut { first, class, is_lowercase }
        };
        let mut cuts: Vec<Cut> = cuts.into_iter().zip(class_of).map(cut).collect();
        cuts.dedup_by_key(|cut| cut.class);
        Some(Self { cuts, count, members })
    }

    /// The classes of two patterns together: for each the class of either side, and a character of it.
    /// `None` if there are more than symbols for them.
    fn both(a: &Self, b: &Self) -> Option<Vec<(u16, u16, char)>> {
        let mut classes: Vec<(u16, u16, char)> = Vec::with_capacity(a.count + b.count);
        // By the class of `a` and that of `b`: the number of both together, and whether its character is a letter
        // that is readable.
        let mut numbers = vec![(NEW, false); a.count * b.count];
        let (mut a_at, mut b_at) = (0, 0);
        let (mut a_class, mut b_class) = (0, 0);
        let end = Cut { first: u32::MAX, class: 0, is_lowercase: false };
        loop {
            let a_cut = a.cuts.get(a_at).unwrap_or(&end);
            let b_cut = b.cuts.get(b_at).unwrap_or(&end);
            let cut = if a_cut.first <= b_cut.first { a_cut } else { b_cut };
            let first = cut.first;
            if first == u32::MAX {
                return Some(classes);
            }
            if a_cut.first == first {
                (a_at, a_class) = (a_at + 1, a_cut.class);
            }
            if b_cut.first == first {
                (b_at, b_class) = (b_at + 1, b_cut.class);
            }
            let place = usize::from(a_class) * b.count + usize::from(b_class);
            let (number, is_lowercase) = numbers.get_mut(place)?;
            if *number == NEW {
                if classes.len() == MAX_SYMBOLS - ASCII_COUNT {
                    return None;
                }
                (*number, *is_lowercase) = (classes.len() as u16, cut.is_lowercase);
                classes.push((a_class, b_class, char::from_u32(first)?));
            } else if cut.is_lowercase && !*is_lowercase {
                *is_lowercase = true;
                classes.get_mut(usize::from(*number))?.2 = char::from_u32(first)?;
            }
        }
    }
}

/// What is known of the usual symbols whatever the sets are.
struct Kinds {
    /// The characters that they stand for.
    chars: [char; ASCII_COUNT + USUAL],
    /// Those that stand for word characters.
    word: Mask,
}

fn usual_kinds() -> &'static Kinds {
    static KINDS: OnceLock<Kinds> = OnceLock::new();
    KINDS.get_or_init(|| {
        let mut kinds = Kinds { chars: [' '; ASCII_COUNT + USUAL], word: Mask::default() };
        let all = ASCII.chars().chain(usual().iter().map(|&(_, c)| c));
        for (symbol, (c, place)) in all.zip(&mut kinds.chars).enumerate() {
            *place = c;
            if is_word(c, false) {
                kinds.word.add(symbol);
            }
        }
        kinds
    })
}

/// The symbols that stand for one ASCII character each.
fn ascii() -> Mask {
    Mask([u64::MAX, (1 << (ASCII_COUNT - 64)) - 1, 0, 0])
}

/// For each usual symbol a number of its kind: a word character, an ASCII one, `_`, or none of these.
fn kinds() -> [u16; ASCII_COUNT + USUAL] {
    let word = usual_kinds().word;
    let mut kinds = [0; ASCII_COUNT + USUAL];
    for (symbol, kind) in kinds.iter_mut().enumerate() {
        *kind = match symbol as u8 {
            UNDERSCORE => 3,
            at if !word.has(at) => 0,
            _ if symbol < ASCII_COUNT => 1,
            _ => 2,
        };
    }
    kinds
}

/// No class yet.
const NEW: u16 = u16::MAX;

impl Sets {
    /// Prepares the sets of a pattern.
    pub(crate) fn new(sets: Vec<CharSet>) -> Self {
        let mut all_usual = true;
        let masks: Vec<Mask> = sets
            .iter()
            .map(|set| {
                let mut mask = ascii_mask(set);
                let last = set.ranges().last().copied().unwrap_or_default();
                if last.0 <= 0xA0 && last.1 == 0x10_FFFF {
                    (0..USUAL).for_each(|i| mask.add(ASCII_COUNT + i));
                } else if last.1 > 0x9F {
                    for (i, (class, _)) in usual().iter().enumerate() {
                        let shared = class.intersection(set);
                        if shared == *class {
                            mask.add(ASCII_COUNT + i);
                        } else if !shared.ranges().is_empty() {
                            all_usual = false;
                        }
                    }
                }
                mask
            })
            .collect();
        let mut classes = kinds();
        // By the class so far, outside of the set and in it: the class from now on.
        let mut next = [[NEW; 2]; ASCII_COUNT + USUAL];
        let mut alone = Mask::default();
        for mask in &masks {
            // Most sets are one character, which from then on is like no other.
            if mask.is_single() {
                alone = alone.or(*mask);
                continue;
            }
            next.fill([NEW; 2]);
            let mut count = 0;
            for (symbol, class) in classes.iter_mut().enumerate() {
                let id = &mut next[usize::from(*class)][usize::from(mask.has(symbol as u8))];
                if *id == NEW {
                    *id = count;
                    count += 1;
                }
                *class = *id;
            }
        }
        for symbol in alone.iter() {
            if let Some(class) = classes.get_mut(usize::from(symbol)) {
                // Behind all that were given out, of which there are at most as many as symbols.
                *class = (ASCII_COUNT + USUAL) as u16 + u16::from(symbol);
            }
        }
        Self { all: sets, masks, usual: all_usual, classes, beyond: OnceLock::new() }
    }

    fn beyond(&self) -> Option<&Beyond> {
        self.beyond.get_or_init(|| Beyond::new(&self.all)).as_ref()
    }

    /// How many sets there are.
    pub(crate) fn len(&self) -> u32 {
        self.all.len() as u32
    }

    /// A set by its number.
    pub(crate) fn get(&self, number: u32) -> Option<&CharSet> {
        self.all.get(number as usize)
    }
}

/// The ASCII symbols of a set.
fn ascii_mask(set: &CharSet) -> Mask {
    let mut mask = Mask::default();
    if let [(start, end)] = set.ranges()
        && start == end
    {
        if let Some(symbol) = char::from_u32(*start).and_then(|c| ASCII.find(c)) {
            mask.add(symbol);
        }
        return mask;
    }
    for (symbol, c) in ASCII.chars().enumerate() {
        if set.has(c) {
            mask.add(symbol);
        }
    }
    mask
}

/// The alphabet of a pair of patterns.
#[derive(Debug)]
pub(crate) struct Alphabet {
    /// For each symbol a character that it stands for.
    chars: Vec<char>,
    /// The symbols that are enough to try.
    pub(crate) live: Mask,
    /// Those that stand for word characters.
    word: Mask,
    /// Those that stand for word characters under `(?a)`.
    ascii_word: Mask,
    /// For each side, for each of its sets the symbols in it.
    masks: [Vec<Mask>; 2],
}

impl Alphabet {
    /// The alphabet of two patterns, paid from `fuel`; `None` if they use more characters beyond ASCII,
    /// each in its own way, than there are symbols.
    pub(crate) fn new(a: &Sets, b: &Sets, fuel: &Fuel) -> Option<Self> {
        let usual_kinds = usual_kinds();
        fuel.spend((a.all.len() + b.all.len()) / 16);
        let mut masks = [a.masks.clone(), b.masks.clone()];
        let mut live = Mask::default();
        // Equal classes on both sides.
        let mut seen: Vec<u32> = Vec::with_capacity(64);
        let both = |symbol: usize| Some((*a.classes.get(symbol)?, *b.classes.get(symbol)?));
        let symbols = if a.usual && b.usual { ASCII_COUNT + USUAL } else { ASCII_COUNT };
        for (symbol, (a_class, b_class)) in (0..symbols).filter_map(|at| Some((at, both(at)?))) {
            let key = u32::from(a_class) << 16 | u32::from(b_class);
            if !seen.contains(&key) {
                seen.push(key);
                live.add(symbol);
            }
        }
        let (mut chars, mut word) = (usual_kinds.chars.to_vec(), usual_kinds.word);
        if symbols == ASCII_COUNT {
            let (a_beyond, b_beyond) = (a.beyond()?, b.beyond()?);
            fuel.spend((a_beyond.cuts.len() + b_beyond.cuts.len()) / 8);
            let classes = Beyond::both(a_beyond, b_beyond)?;
            fuel.spend((a.all.len() + b.all.len()) * classes.len() / 32);
            chars.truncate(ASCII_COUNT);
            word = word.and(ascii());
            // By class of a side: the symbols of that class.
            let mut symbols_of = [a_beyond, b_beyond].map(|side| vec![Mask::default(); side.count]);
            for &(a_class, b_class, sample) in &classes {
                let symbol = chars.len();
                chars.push(sample);
                live.add(symbol);
                if is_word(sample, false) {
                    word.add(symbol);
                }
                for (side, class) in symbols_of.iter_mut().zip([a_class, b_class]) {
                    if let Some(mask) = side.get_mut(usize::from(class)) {
                        mask.add(symbol);
                    }
                }
            }
            let sides = masks.iter_mut().zip([a_beyond, b_beyond]).zip(&symbols_of);
            for ((masks, beyond), symbols_of) in sides {
                for (mask, members) in masks.iter_mut().zip(&beyond.members) {
                    let classes = members.iter().filter_map(|at| symbols_of.get(usize::from(at)));
                    *mask = classes.fold(mask.and(ascii()), |all, &class| all.or(class));
                }
            }
        }
        Some(Self { chars, live, word, ascii_word: usual_kinds.word.and(ascii()), masks })
    }

    /// Tells symbols apart as [`super::walk::prev_of`] does.
    pub(crate) fn split_kinds(&self, division: &mut Division) {
        division.split(underscore());
        division.split(self.word);
        division.split(self.ascii_word);
    }

    /// The symbols that stand for word characters.
    pub(crate) fn words(&self) -> Mask {
        self.word
    }

    /// The symbols of a set of one side, 0 or 1.
    pub(crate) fn mask(&self, side: usize, set: u32) -> Mask {
        self.masks[side & 1].get(set as usize).copied().unwrap_or_default()
    }

    /// The character shown for a symbol.
    pub(crate) fn char(&self, symbol: Symbol) -> char {
        self.chars.get(usize::from(symbol)).copied().unwrap_or('?')
    }

    /// Whether it stands for word characters.
    pub(crate) fn is_word(&self, symbol: Symbol) -> bool {
        self.word.has(symbol)
    }

    /// Whether it stands for word characters under `(?a)`.
    pub(crate) fn is_ascii_word(&self, symbol: Symbol) -> bool {
        self.ascii_word.has(symbol)
    }

    /// Whether it is `_`.
    pub(crate) fn is_underscore(symbol: Symbol) -> bool {
        symbol == UNDERSCORE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_printable_ascii_character_has_one_symbol() {
        let mut all: Vec<char> = ASCII.chars().collect();
        all.sort_unstable();
        assert_eq!(all, (' '..='~').collect::<Vec<_>>());
        assert_eq!(ASCII.find('_'), Some(usize::from(UNDERSCORE)));
        for (class, sample) in usual() {
            assert!(class.has(*sample));
        }
    }

    #[test]
    fn letters_that_no_set_tells_apart_are_tried_once() {
        let sets = Sets::new(vec![CharSet::single('x'), CharSet::all()]);
        let alphabet = Alphabet::new(&sets, &sets, &Fuel::new(100)).unwrap();
        // x, other word characters, `_`, the rest, and word characters beyond ASCII.
        assert_eq!(alphabet.live.iter().count(), 5);
    }

    #[test]
    fn characters_beyond_ascii_get_symbols_where_a_set_needs_them() {
        let sets = Sets::new(vec![CharSet::single('é'), CharSet::new(vec![(0xE0, 0xFF)])]);
        let alphabet = Alphabet::new(&sets, &sets, &Fuel::new(100)).unwrap();
        let symbols: Vec<Symbol> =
            alphabet.live.iter().filter(|&symbol| alphabet.mask(0, 1).has(symbol)).collect();
        let special = |symbol: &Symbol| alphabet.mask(0, 0).has(*symbol);
        assert_eq!(
            symbols
                .iter()
                .filter(|symbol| special(symbol))
                .map(|&s| alphabet.char(s))
                .collect::<Vec<_>>(),
            ['é']
        );
        assert!(symbols.iter().any(|symbol| !special(symbol)));
    }
}
