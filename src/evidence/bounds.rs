//! How much is read, and readers that hold to it.
//!
//! All bounds are sizes, so an answer does not depend on the machine. Together they keep reading
//! below 1 GiB of memory, whatever the input. Uses `evidence::error`.

use std::io::{self, BufRead, Read};

use super::error::EvidenceError;

/// The longest name, in bytes.
pub const NAME: usize = 1 << 20;

/// The most distinct frames.
pub const FRAMES: usize = 1 << 21;

/// The most bytes of all distinct frames.
pub const FRAME_BYTES: usize = 128 << 20;

/// The most frames in one stack.
pub const DEPTH: usize = 1 << 16;

/// The most distinct stacks.
pub const STACKS: usize = 1 << 21;

/// The most frames in all distinct stacks.
pub const STACK_FRAMES: usize = 1 << 24;

/// The most bytes of a format that is written as a stream of samples.
pub const STREAM_BYTES: u64 = 16 << 30;

/// The most bytes of a list, of folded stacks, or of a snapshot. Their lines are distinct, so more
/// is no evidence of anything.
pub const LIST_BYTES: u64 = 512 << 20;

/// The most lines of a list or of folded stacks.
pub const LINES: u64 = 1 << 25;

/// The most bytes of a binary, which is held in memory.
pub const BINARY_BYTES: u64 = 640 << 20;

/// The most bytes of a profile as JSON.
pub const JSON_BYTES: u64 = 2 << 30;

/// The longest element of XML between two tags, in bytes.
pub const TOKEN: u64 = 8 << 20;

/// The most bytes of JSON without a string, or in one.
pub const JSON_RUN: u64 = 128 << 20;

/// How deep XML may nest.
pub const NESTING: usize = 256;

/// The most bytes that gzip may give before [`GZIP_RATIO`] counts.
const GZIP_FREE: u64 = 64 << 20;

/// How many bytes of text one byte of gzip may give: profiles have 10 to 60, a bomb 1,000.
const GZIP_RATIO: u64 = 250;

/// That there are not more than `most`.
pub(crate) fn check(what: &'static str, count: usize, most: usize) -> Result<(), EvidenceError> {
    if count > most { Err(EvidenceError::Bound { what, most: most as u64 }) } else { Ok(()) }
}

fn exceeded(what: &'static str, most: u64) -> io::Error {
    io::Error::other(EvidenceError::Bound { what, most })
}

/// Fails after `most` bytes.
pub(crate) struct Capped<R> {
    inner: R,
    left: u64,
    most: u64,
}

impl<R> Capped<R> {
    pub(crate) fn new(inner: R, most: u64) -> Self {
        Self { inner, left: most, most }
    }
}

impl<R: Read> Read for Capped<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buf)?;
        match self.left.checked_sub(read as u64) {
            Some(left) => self.left = left,
            None => return Err(exceeded("bytes of evidence", self.most)),
        }
        Ok(read)
    }
}

/// Counts the bytes that went through.
pub(crate) struct Counted<R> {
    inner: R,
    pub(crate) count: u64,
}

impl<R> Counted<R> {
    pub(crate) fn new(inner: R) -> Self {
        Self { inner, count: 0 }
    }
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buf)?;
        self.count += read as u64;
        Ok(read)
    }
}

/// Gzip that gives not much more text than profiles do.
pub(crate) struct Gzip<R> {
    inner: flate2::read::MultiGzDecoder<Counted<R>>,
    given: u64,
}

impl<R: Read> Gzip<R> {
    pub(crate) fn new(inner: R) -> Self {
        Self { inner: flate2::read::MultiGzDecoder::new(Counted::new(inner)), given: 0 }
    }
}

impl<R: Read> Read for Gzip<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buf)?;
        self.given += read as u64;
        let most = self.inner.get_ref().count.saturating_mul(GZIP_RATIO).max(GZIP_FREE);
        if self.given > most {
            return Err(exceeded("bytes of text from gzip for what there is of it", most));
        }
        Ok(read)
    }
}

/// Fails where more than [`TOKEN`] bytes are read without [`Tokens::next`].
pub(crate) struct Tokens<R> {
    inner: R,
    since: u64,
}

impl<R> Tokens<R> {
    pub(crate) fn new(inner: R) -> Self {
        Self { inner, since: 0 }
    }

    /// A new token begins.
    pub(crate) fn next(&mut self) {
        self.since = 0;
    }
}

impl<R: BufRead> Read for Tokens<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buf)?;
        self.since += read as u64;
        Ok(read)
    }
}

impl<R: BufRead> BufRead for Tokens<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.since > TOKEN {
            return Err(exceeded("bytes in one tag or text", TOKEN));
        }
        self.inner.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        self.since += amount as u64;
        self.inner.consume(amount);
    }
}

/// Fails where [`JSON_RUN`] bytes have no quote that begins or ends a string.
pub(crate) struct Runs<R> {
    inner: R,
    since: u64,
}

impl<R> Runs<R> {
    pub(crate) fn new(inner: R) -> Self {
        Self { inner, since: 0 }
    }
}

impl<R: Read> Read for Runs<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buf)?;
        let chunk = buf.get(..read).unwrap_or_default();
        let plain = |&at: &usize| at > 0 && chunk.get(at - 1) != Some(&b'\\');
        match memchr::memrchr_iter(b'"', chunk).find(plain) {
            Some(at) => self.since = (read - at) as u64,
            None => self.since += read as u64,
        }
        if self.since > JSON_RUN {
            return Err(exceeded("bytes of JSON without an end of a string", JSON_RUN));
        }
        Ok(read)
    }
}
