//! Distinct frames, numbered.
//!
//! Uses `evidence::bounds` and `evidence::error`.

use std::collections::HashMap;
use std::sync::Arc;

use super::bounds;
use super::error::EvidenceError;

/// The number of a frame in its [`Frames`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FrameId(pub(crate) u32);

impl FrameId {
    /// Its place in [`Frames`], from 0.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Distinct frames in the order in which they were met. Each is a non-empty text of at most
/// [`bounds::NAME`] bytes.
#[derive(Debug, Clone, Default)]
pub struct Frames {
    texts: Vec<Arc<str>>,
    ids: HashMap<Arc<str>, FrameId, ahash::RandomState>,
    bytes: usize,
}

impl Frames {
    /// The text of a frame; empty for a number that is of other frames.
    pub fn text(&self, id: FrameId) -> &str {
        self.texts.get(id.index()).map_or("", |text| text)
    }

    /// The number of a frame that is there.
    pub fn find(&self, text: &str) -> Option<FrameId> {
        self.ids.get(text).copied()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.texts.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// All of them with their numbers.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (FrameId, &str)> {
        self.texts.iter().enumerate().map(|(at, text)| (FrameId(at as u32), &**text))
    }

    /// The number of `text`, a new one if it is not there yet.
    ///
    /// # Errors
    /// A bound: of the text, of all texts, or of their number.
    pub(crate) fn add(&mut self, text: &str) -> Result<FrameId, EvidenceError> {
        if let Some(id) = self.find(text) {
            return Ok(id);
        }
        bounds::check("bytes in a name", text.len(), bounds::NAME)?;
        bounds::check("distinct frames", self.texts.len() + 1, bounds::FRAMES)?;
        bounds::check("bytes of distinct frames", self.bytes + text.len(), bounds::FRAME_BYTES)?;
        let id = FrameId(self.texts.len() as u32);
        let text: Arc<str> = text.into();
        self.bytes += text.len();
        self.texts.push(Arc::clone(&text));
        self.ids.insert(text, id);
        Ok(id)
    }
}

/// Whether a name can be a frame: not empty, and without control characters (U+0000–U+001F,
/// U+007F–U+009F).
pub(crate) fn is_frame(text: &str) -> bool {
    // U+0080–U+009F begin with this byte in UTF-8; so do other characters.
    let may_be_control = |b: u8| b < b' ' || b == 0x7f || b == 0xc2;
    let has_control = || text.bytes().any(may_be_control) && text.chars().any(char::is_control);
    !text.is_empty() && !has_control()
}
