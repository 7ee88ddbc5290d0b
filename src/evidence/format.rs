//! What kind of evidence some bytes are.
//!
//! Uses the first lines' readers of `evidence::{folded, nm}`.

use std::fmt;

/// How much of evidence is looked at to find its format, in bytes.
pub(crate) const HEAD: usize = 1 << 16;

/// A format of evidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Format {
    /// Instruments' time profile, as `xctrace export` writes it.
    Instruments,
    /// Folded stacks: `outer;inner 12` a line.
    Folded,
    /// The Firefox profiler's processed format, as samply writes it.
    Firefox,
    /// An ELF or Mach-O file, or an archive of them: its symbol table.
    Binary,
    /// One name a line.
    Names,
    /// What `nm` prints of a binary.
    Nm,
    /// What [`super::snapshot::write`] wrote.
    Snapshot,
}

impl Format {
    /// All of them, in the order of their names in the documentation.
    pub const ALL: [Self; 7] = [
        Self::Instruments,
        Self::Folded,
        Self::Firefox,
        Self::Binary,
        Self::Names,
        Self::Nm,
        Self::Snapshot,
    ];

    /// Its name on the command line and in a configuration.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Instruments => "instruments",
            Self::Folded => "folded",
            Self::Firefox => "firefox",
            Self::Binary => "binary",
            Self::Names => "names",
            Self::Nm => "nm",
            Self::Snapshot => "snapshot",
        }
    }

    /// The format of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.as_str() == name)
    }

    /// Splits `names=frames.txt` into the format and the path. A text that does not begin with the name of
    /// a format and `=` is a path.
    pub fn split(text: &str) -> (Option<Self>, &str) {
        text.split_once('=')
            .and_then(|(name, path)| Some((Some(Self::from_name(name)?), path)))
            .unwrap_or((None, text))
    }

    /// The format of evidence that begins with `head`: its first 64 KiB, or all of it. None where
    /// it is no text and no known magic number.
    pub fn of(head: &[u8]) -> Option<Self> {
        const BINARY: [&[u8]; 8] = [
            b"\x7fELF",
            b"\xfe\xed\xfa\xce",
            b"\xfe\xed\xfa\xcf",
            b"\xce\xfa\xed\xfe",
            b"\xcf\xfa\xed\xfe",
            b"\xca\xfe\xba\xbe",
            b"\xca\xfe\xba\xbf",
            b"!<arch>\n",
        ];
        if BINARY.iter().any(|magic| head.starts_with(magic)) {
            return Some(Self::Binary);
        }
        if head.contains(&0) {
            return None;
        }
        let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
        // A list of names may begin with `<T as Trait>::f` or `{{closure}}`.
        if [&b"<?xml"[..], b"<!", b"<trace-query-result"].iter().any(|tag| text.starts_with(tag)) {
            return Some(Self::Instruments);
        }
        if let Some(object) = text.strip_prefix(b"{") {
            let object = object.trim_ascii_start();
            if object.first() == Some(&b'"') {
                let is_ours = object.starts_with(b"\"reglint-evidence\"");
                return Some(if is_ours { Self::Snapshot } else { Self::Firefox });
            }
        }
        if super::nm::is_printed_by_nm(head) {
            return Some(Self::Nm);
        }
        let mut lines = text.split(|&b| b == b'\n');
        let is_line = |line: &[u8]| !line.is_empty() && !line.starts_with(b"#");
        let first = lines.find(|line| is_line(line.trim_ascii())).unwrap_or_default().trim_ascii();
        // No name has a `;`. Where there is no count behind it that can be read, the reader says so.
        let is_stack = first.contains(&b';') || super::folded::split(first).is_some();
        Some(if is_stack { Self::Folded } else { Self::Names })
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Instruments => "Instruments export",
            Self::Folded => "file of folded stacks",
            Self::Firefox => "Firefox profile",
            Self::Binary => "binary",
            Self::Names => "list of names",
            Self::Nm => "output of nm",
            Self::Snapshot => "snapshot",
        })
    }
}
