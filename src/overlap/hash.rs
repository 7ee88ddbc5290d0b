//! Hash tables with a fast hash for small keys of our own making.
//!
//! The keys are numbers that the engine itself hands out, never text from outside, so nobody can
//! choose them to collide. Uses nothing of the crate.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hash, Hasher};

/// A map with the fast hash.
pub(crate) type Map<K, V> = HashMap<K, V, BuildHasherDefault<Mix>>;

/// Multiplies and rotates, one word at a time.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Mix(u64);

impl Mix {
    fn mix(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }
}

impl Hasher for Mix {
    fn finish(&self) -> u64 {
        // The table takes the low bits, and multiplication leaves the good ones at the top.
        self.0 ^ (self.0 >> 32)
    }

    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.mix(u64::from_le_bytes(word));
        }
        self.mix(bytes.len() as u64);
    }

    fn write_u8(&mut self, n: u8) {
        self.mix(u64::from(n));
    }

    fn write_u16(&mut self, n: u16) {
        self.mix(u64::from(n));
    }

    fn write_u32(&mut self, n: u32) {
        self.mix(u64::from(n));
    }

    fn write_u64(&mut self, n: u64) {
        self.mix(n);
    }

    fn write_usize(&mut self, n: usize) {
        self.mix(n as u64);
    }
}

/// A set with the fast hash.
pub(crate) type Set<T> = HashSet<T, BuildHasherDefault<Mix>>;

/// The hash of a key.
pub(crate) fn hash_of(key: &impl Hash) -> u64 {
    let mut hasher = Mix::default();
    key.hash(&mut hasher);
    hasher.finish()
}

/// The numbers of things that stand in a list of their own, by their hash. There are so many of them
/// that what counts is how much memory is touched.
///
/// Open addressing with linear probing (Knuth, *The Art of Computer Programming* 3, 6.4, algorithm L).
/// A slot keeps the upper half of the hash, which its place is taken from, so that most of what is not
/// there is told by one look, and nothing is hashed anew where the table grows.
#[derive(Debug)]
pub(crate) struct Numbers {
    /// 0, or the upper half of the hash and one more than the number. Their count is a power of two.
    slots: Vec<u64>,
    used: usize,
}

impl Numbers {
    const LEAST: usize = 64;

    pub(crate) fn new() -> Self {
        Self { slots: vec![0; Self::LEAST], used: 0 }
    }

    /// All slots in the order in which one with this hash is looked for.
    fn probe(&self, hash: u64) -> impl Iterator<Item = usize> + use<> {
        let mask = self.slots.len() - 1;
        let first = (hash >> (64 - self.slots.len().trailing_zeros())) as usize;
        (0..=mask).map(move |step| (first + step) & mask)
    }

    /// The number with this hash that is the one sought.
    pub(crate) fn find(&self, hash: u64, is_sought: impl Fn(u32) -> bool) -> Option<u32> {
        for at in self.probe(hash) {
            let slot = *self.slots.get(at)?;
            let number = (slot as u32).checked_sub(1)?;
            if slot >> 32 == hash >> 32 && is_sought(number) {
                return Some(number);
            }
        }
        None
    }

    /// Adds a number, less than `u32::MAX`, with a hash that no equal thing was added with.
    pub(crate) fn add(&mut self, hash: u64, number: u32) {
        if self.used >= self.slots.len() / 4 * 3 {
            let larger = vec![0; self.slots.len() * 2];
            for slot in std::mem::replace(&mut self.slots, larger) {
                self.put(slot);
            }
        }
        self.put(hash >> 32 << 32 | u64::from(number.saturating_add(1)));
        self.used += 1;
    }

    fn put(&mut self, new: u64) {
        if new == 0 {
            return;
        }
        for at in self.probe(new) {
            if let Some(slot) = self.slots.get_mut(at).filter(|slot| **slot == 0) {
                *slot = new;
                return;
            }
        }
    }

    /// Puts another number in the place of one that was added with this hash.
    pub(crate) fn replace(&mut self, hash: u64, old: u32, new: u32) {
        let both = |number: u32| hash >> 32 << 32 | u64::from(number.saturating_add(1));
        for at in self.probe(hash) {
            match self.slots.get_mut(at) {
                Some(slot) if *slot == both(old) => {
                    *slot = both(new);
                    return;
                }
                Some(0) | None => return,
                Some(_) => {}
            }
        }
    }
}

/// Up to how many are looked through one by one.
const FEW: usize = 32;

/// Adds what is not there yet. `seen` is empty as long as they are few, and is kept from then on.
pub(crate) fn add_once<T: Copy + Eq + Hash>(all: &mut Vec<T>, seen: &mut Set<T>, one: T) {
    let is_new = if all.len() < FEW {
        !all.contains(&one)
    } else {
        if seen.is_empty() {
            seen.extend(all.iter().copied());
        }
        seen.insert(one)
    };
    if is_new {
        all.push(one);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_found_by_their_hash() {
        let mut numbers = Numbers::new();
        // Hashes that are alike in their upper halves too, at the end of the table.
        let hash = |number: u32| (u64::from(number % 1_000) << 40) | u64::MAX << 62;
        for number in 0..5_000u32 {
            assert_eq!(numbers.find(hash(number), |other| other == number), None);
            numbers.add(hash(number), number);
        }
        for number in (0..5_000).step_by(3) {
            numbers.replace(hash(number), number, number + 10_000);
        }
        for number in 0..5_000 {
            let now = if number % 3 == 0 { number + 10_000 } else { number };
            assert_eq!(numbers.find(hash(number), |other| other == now), Some(now));
            assert_eq!(numbers.find(hash(number), |other| other == 5_000), None);
        }
    }

    #[test]
    fn each_is_added_once_in_its_order() {
        let (mut all, mut seen) = (Vec::new(), Set::default());
        for number in (0..100u32).chain(0..200).chain(50..60) {
            add_once(&mut all, &mut seen, number);
        }
        assert_eq!(all, (0..200).collect::<Vec<_>>());
        // Looked up, not looked through.
        assert_eq!(seen.len(), 200);
    }
}
