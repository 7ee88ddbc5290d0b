//! The CPython versions that a pattern has to compile in.
//!
//! Uses nothing of the crate.

use std::fmt;

/// A minor version of CPython whose `re` the parser knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Python {
    /// 3.11, Unicode 14.0: the first with atomic groups and possessive repeats.
    V3_11,
    /// 3.12, Unicode 15.0.
    V3_12,
    /// 3.13, Unicode 15.1.
    V3_13,
    /// 3.14, Unicode 16.0: the first with `\z`.
    V3_14,
}

impl Python {
    /// All of them, oldest first.
    pub const ALL: [Self; 4] = [Self::V3_11, Self::V3_12, Self::V3_13, Self::V3_14];

    /// As users write it: `3.11`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::V3_11 => "3.11",
            Self::V3_12 => "3.12",
            Self::V3_13 => "3.13",
            Self::V3_14 => "3.14",
        }
    }

    /// The version of Unicode that its `unicodedata` has, as major and minor number.
    pub fn unicode(self) -> (u8, u8) {
        match self {
            Self::V3_11 => (14, 0),
            Self::V3_12 => (15, 0),
            Self::V3_13 => (15, 1),
            Self::V3_14 => (16, 0),
        }
    }
}

impl fmt::Display for Python {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A range of versions, both ends included. Never empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Versions {
    first: Python,
    last: Python,
}

impl Versions {
    /// Every version that the parser knows.
    pub const ALL: Self = Self { first: Python::V3_11, last: Python::V3_14 };

    /// One version.
    pub const fn only(version: Python) -> Self {
        Self { first: version, last: version }
    }

    /// From the first to the last, whichever way round they are given.
    pub fn range(a: Python, b: Python) -> Self {
        Self { first: a.min(b), last: a.max(b) }
    }

    /// The oldest.
    pub fn first(self) -> Python {
        self.first
    }

    /// The newest.
    pub fn last(self) -> Python {
        self.last
    }

    /// Whether `version` is in it.
    pub fn contains(self, version: Python) -> bool {
        self.first <= version && version <= self.last
    }

    /// Those of them that are older than `version`.
    pub(crate) fn before(self, version: Python) -> Option<Self> {
        let last = Python::ALL.iter().rev().find(|v| **v < version && self.contains(**v))?;
        Some(Self { first: self.first, last: *last })
    }

    /// Those of them that are `version` or newer.
    pub(crate) fn since(self, version: Python) -> Option<Self> {
        (self.last >= version).then(|| Self { first: self.first.max(version), last: self.last })
    }
}

impl fmt::Display for Versions {
    /// `3.11`, `3.11 and 3.12`, `3.11 to 3.13`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.last as u8 - self.first as u8 {
            0 => write!(f, "{}", self.first),
            1 => write!(f, "{} and {}", self.first, self.last),
            _ => write!(f, "{} to {}", self.first, self.last),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_and_prints() {
        let all = Versions::ALL;
        assert_eq!(all.to_string(), "3.11 to 3.14");
        assert_eq!(
            all.before(Python::V3_14).map(|v| v.to_string()).as_deref(),
            Some("3.11 to 3.13")
        );
        assert_eq!(all.before(Python::V3_11), None);
        assert_eq!(
            all.since(Python::V3_13).map(|v| v.to_string()).as_deref(),
            Some("3.13 and 3.14")
        );
        let only = Versions::only(Python::V3_12);
        assert_eq!((only.since(Python::V3_13), only.before(Python::V3_12)), (None, None));
        assert_eq!(only.before(Python::V3_14), Some(only));
        assert_eq!(Versions::range(Python::V3_13, Python::V3_11).first(), Python::V3_11);
    }
}
