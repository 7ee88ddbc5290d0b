//! Hash maps with a fast hash for small keys of our own making.
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
