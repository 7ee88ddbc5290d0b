//! Places in a text: the unit everything else points with.
//!
//! The lowest module; uses nothing of the crate.

use std::ops::Range;

/// Names one source of a run. Sources are numbered in the order of their paths, so comparing two
/// ids compares the paths: "later" means the same thing everywhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(pub u32);

impl FileId {
    /// The id as an index into the run's sources.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A half-open range of **byte** offsets in one text.
///
/// The text is a source file, or a decoded pattern where the docs say so; in both the ends lie on
/// character boundaries. `start <= end` always. Offsets fit in 32 bits because no longer source is
/// read (see [`crate::source::MAX_BYTES`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The span from `start` up to `end`, in bytes.
    pub fn new(start: usize, end: usize) -> Self {
        debug_assert!(start <= end, "span ends before it starts: {start}..{end}");
        Self { start: start as u32, end: end as u32 }
    }

    /// The empty span at `offset`.
    pub fn empty(offset: usize) -> Self {
        Self::new(offset, offset)
    }

    /// The span as a range that indexes a `str` or a byte slice.
    pub fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// Length in bytes.
    pub fn len(self) -> usize {
        (self.end - self.start) as usize
    }

    /// Whether it covers no byte.
    pub fn is_empty(self) -> bool {
        self.start == self.end
    }

    /// The smallest span that covers both.
    #[must_use]
    pub fn to(self, other: Self) -> Self {
        Self { start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// Whether `other` lies in it; an empty span at either end does.
    pub fn contains(self, other: Self) -> bool {
        self.start <= other.start && other.end <= self.end
    }

    /// Whether the two share a byte; an empty span shares with one that has it strictly inside.
    pub fn overlaps(self, other: Self) -> bool {
        self.start < other.end && other.start < self.end
    }

    /// The span moved by `by` bytes towards the end.
    #[must_use]
    pub fn shifted(self, by: usize) -> Self {
        Self { start: self.start + by as u32, end: self.end + by as u32 }
    }
}

/// A value with the place that it was read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Spanned<T> {
    /// The value.
    pub value: T,
    /// Where it stands.
    pub span: Span,
}

impl<T> Spanned<T> {
    /// Puts the two together.
    pub fn new(value: T, span: Span) -> Self {
        Self { value, span }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joins_and_compares() {
        let (a, b) = (Span::new(2, 4), Span::new(3, 9));
        assert_eq!(a.to(b), Span::new(2, 9));
        assert!(a.overlaps(b) && !a.overlaps(Span::new(4, 5)));
        assert!(Span::new(2, 9).contains(Span::empty(9)));
        assert_eq!(a.shifted(3).range(), 5..7);
    }
}
