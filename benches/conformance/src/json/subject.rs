//! Entry points of tightwire-json.

use std::fmt;

use serde::de::IgnoredAny;
use tightwire_json::{Backend, Codec, Decoder, Mode, Value};

/// Mode, backend and entry point.
#[derive(Clone, Copy, Debug)]
pub(super) struct Subject {
    mode: Mode,
    backend: Backend,
    entry: Entry,
}

/// Entry point and type of the decoded value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Entry {
    Tree,
    TreeBorrowed,
    TreeFromReader,
    TreeFromStream,
    Skipped,
    Validated,
}

const ENTRIES: [Entry; 6] = [
    Entry::Tree,
    Entry::TreeBorrowed,
    Entry::TreeFromReader,
    Entry::TreeFromStream,
    Entry::Skipped,
    Entry::Validated,
];

const BACKENDS: &[Backend] = &[Backend::Native, Backend::SerdeJson, Backend::SimdJson];

/// Returns all combinations.
pub(super) fn all() -> Vec<Subject> {
    let mut all = Vec::new();
    for mode in [Mode::Strict, Mode::Compat, Mode::Fast] {
        for &backend in BACKENDS {
            all.extend(ENTRIES.map(|entry| Subject { mode, backend, entry }));
        }
    }
    all
}

impl Subject {
    /// Returns whether a document is accepted.
    pub(super) fn accepts(&self, document: &[u8]) -> bool {
        let codec = Codec::new(self.mode).with_backend(self.backend);
        match self.entry {
            Entry::Tree => codec.from_slice::<Value>(document).is_ok(),
            Entry::TreeBorrowed => codec.from_slice_borrowed::<Value>(document).is_ok(),
            Entry::TreeFromReader => codec.from_reader::<_, Value>(document).is_ok(),
            Entry::TreeFromStream => {
                let mut decoder = Decoder::with_codec(document, codec);
                matches!(decoder.decode::<Value>(), Ok(Some(_)))
                    && matches!(decoder.decode::<Value>(), Ok(None))
            }
            Entry::Skipped => codec.from_slice::<IgnoredAny>(document).is_ok(),
            Entry::Validated => codec.is_valid(document),
        }
    }

    /// Returns the subject whose result is expected for optional cases: the native decoder in the same mode, because modes
    /// differ (`Compat` replaces lone surrogates, like Go). Decoding and validation differ, too: a number that exceeds all
    /// types is valid.
    pub(super) fn reference(&self) -> Self {
        let entry = match self.entry {
            Entry::Skipped | Entry::Validated => self.entry,
            _ => Entry::Tree,
        };
        Self { backend: Backend::Native, entry, ..*self }
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let entry = match self.entry {
            Entry::Tree => "from_slice",
            Entry::TreeBorrowed => "from_slice_borrowed",
            Entry::TreeFromReader => "from_reader",
            Entry::TreeFromStream => "Decoder",
            Entry::Skipped => "from_slice, skipped",
            Entry::Validated => "is_valid",
        };
        write!(f, "{:?} {:?} {entry}", self.mode, self.backend)
    }
}
