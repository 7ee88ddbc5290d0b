//! Conditions on the rest of a frame, as reduced ordered binary decision diagrams.
//!
//! A lookahead asks something of the text that is still to come. What it asks is a Boolean formula
//! over automaton states: variable `s` stands for "from state `s` the rest has a prefix that
//! matches". Equal formulas have equal numbers (Bryant, *Graph-based algorithms for Boolean
//! function manipulation*, 1986), so that a product automaton over them is finite: that is the
//! alternating automaton of Chandra, Kozen and Stockmeyer (*Alternation*, 1981) and of Brzozowski
//! and Leiss (*On equations for regular languages, finite automata, and sequential networks*,
//! 1980), made deterministic on the fly.
//!
//! Uses `fuel` and the hash map of `hash`.

use super::fuel::{FORMULA, Fuel};
use super::hash::Map;

/// A formula.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Guard(pub(crate) u32);

impl Guard {
    /// Never holds.
    pub(crate) const FALSE: Self = Self(0);
    /// Always holds.
    pub(crate) const TRUE: Self = Self(1);
}

/// How deep a formula may be: one level for each state that it speaks of.
const MAX_DEPTH: usize = 1_000;

/// All formulas of one pattern.
#[derive(Debug)]
pub(crate) struct Guards<'a> {
    fuel: &'a Fuel,
    /// Variable, and the formula where it holds and where it does not.
    nodes: Vec<(u32, Guard, Guard)>,
    numbers: Map<(u32, Guard, Guard), Guard>,
    memo: Map<(Guard, Guard, Guard), Guard>,
    /// Set when a formula was too deep; results are worthless from then on.
    pub(crate) overflow: bool,
}

impl<'a> Guards<'a> {
    /// No formula but the constants.
    pub(crate) fn new(fuel: &'a Fuel) -> Self {
        let constant = (u32::MAX, Guard::FALSE, Guard::FALSE);
        Self {
            fuel,
            nodes: vec![constant; 2],
            numbers: Map::default(),
            memo: Map::default(),
            overflow: false,
        }
    }

    /// The parts of a formula that is no constant: if the variable holds then the second, else the
    /// third.
    pub(crate) fn parts(&self, guard: Guard) -> (u32, Guard, Guard) {
        self.nodes.get(guard.0 as usize).copied().unwrap_or((u32::MAX, Guard::FALSE, Guard::FALSE))
    }

    fn make(&mut self, var: u32, high: Guard, low: Guard) -> Guard {
        if high == low {
            return high;
        }
        let next = Guard(self.nodes.len() as u32);
        let guard = *self.numbers.entry((var, high, low)).or_insert(next);
        if guard == next {
            self.nodes.push((var, high, low));
        }
        guard
    }

    /// The formula of one variable.
    pub(crate) fn var(&mut self, var: u32) -> Guard {
        self.make(var, Guard::TRUE, Guard::FALSE)
    }

    /// Both hold.
    pub(crate) fn and(&mut self, a: Guard, b: Guard) -> Guard {
        self.choose(a, b, Guard::FALSE, 0)
    }

    /// One of them holds.
    pub(crate) fn or(&mut self, a: Guard, b: Guard) -> Guard {
        self.choose(a, Guard::TRUE, b, 0)
    }

    /// It does not hold.
    pub(crate) fn not(&mut self, a: Guard) -> Guard {
        self.choose(a, Guard::FALSE, Guard::TRUE, 0)
    }

    /// If `condition` then `yes`, else `no`.
    pub(crate) fn if_else(&mut self, condition: Guard, yes: Guard, no: Guard) -> Guard {
        self.choose(condition, yes, no, 0)
    }

    fn choose(&mut self, condition: Guard, yes: Guard, no: Guard, depth: usize) -> Guard {
        match condition {
            Guard::TRUE => return yes,
            Guard::FALSE => return no,
            _ if yes == no => return yes,
            _ if yes == Guard::TRUE && no == Guard::FALSE => return condition,
            _ => {}
        }
        if depth > MAX_DEPTH {
            self.overflow = true;
            return Guard::FALSE;
        }
        let key = (condition, yes, no);
        if let Some(&known) = self.memo.get(&key) {
            return known;
        }
        self.fuel.spend(FORMULA);
        if self.fuel.is_empty() {
            return Guard::FALSE;
        }
        let parts = [condition, yes, no].map(|guard| (guard, self.parts(guard)));
        let var = parts.iter().map(|(_, (var, _, _))| *var).min().unwrap_or(u32::MAX);
        let [high, low] = [true, false].map(|side| {
            parts.map(|(guard, (own, high, low))| {
                if own != var {
                    guard
                } else if side {
                    high
                } else {
                    low
                }
            })
        });
        let high = self.choose(high[0], high[1], high[2], depth + 1);
        let low = self.choose(low[0], low[1], low[2], depth + 1);
        let guard = self.make(var, high, low);
        self.memo.insert(key, guard);
        guard
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_formulas_have_equal_numbers() {
        let fuel = Fuel::new(1_000);
        let mut guards = Guards::new(&fuel);
        let [a, b, c] = [3, 1, 2].map(|var| guards.var(var));
        let left = guards.and(a, b);
        let left = guards.or(left, c);
        let parts = (guards.or(a, c), guards.or(b, c));
        assert_eq!(guards.and(parts.0, parts.1), left);
        let not = guards.not(left);
        assert_eq!(guards.and(not, left), Guard::FALSE);
        assert_eq!(guards.or(not, left), Guard::TRUE);
    }
}
