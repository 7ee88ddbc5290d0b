//! What a question may still cost.
//!
//! One unit is one visit of a state by one character, or what takes about as long: two steps of the
//! matcher, a thirty-second of a formula. Whatever a search keeps costs at least one unit, so fuel
//! bounds the memory as well as the work. It is counted, never timed, so an answer does not depend
//! on the machine. Uses nothing of the crate.

use std::cell::Cell;

/// How many of the matcher's steps one unit pays for.
const STEPS: usize = 2;

/// What it takes to begin a search with the matcher.
const SEARCH: usize = 24;

/// What a new formula costs, or the next form of one: each is looked up, made and kept.
pub(crate) const FORMULA: usize = 32;

/// The units that are left.
///
/// Once it is empty every result is worthless: what spends it stops as soon as it can, and whoever
/// asked looks at [`Fuel::is_empty`] before believing the answer.
#[derive(Debug)]
pub(crate) struct Fuel {
    start: usize,
    left: Cell<usize>,
}

impl Fuel {
    /// So many units.
    pub(crate) fn new(units: usize) -> Self {
        Self { start: units, left: Cell::new(units) }
    }

    /// At most so many units of what is left here. What is used of them is still to be spent here.
    pub(crate) fn part(&self, most: usize) -> Self {
        Self::new(self.left.get().min(most))
    }

    /// Takes units, or what is left of them.
    pub(crate) fn spend(&self, units: usize) {
        self.left.set(self.left.get().saturating_sub(units));
    }

    /// Whether nothing is left.
    pub(crate) fn is_empty(&self) -> bool {
        self.left.get() == 0
    }

    /// How many units were taken.
    pub(crate) fn used(&self) -> usize {
        self.start - self.left.get()
    }

    /// How many steps the matcher may take, `most` at most.
    pub(crate) fn steps(&self, most: u32) -> u32 {
        u32::try_from(self.left.get().saturating_mul(STEPS)).map_or(most, |steps| steps.min(most))
    }

    /// Pays for a search with the matcher that took so many steps.
    pub(crate) fn spend_steps(&self, steps: u32) {
        self.spend(steps as usize / STEPS + SEARCH);
    }
}
