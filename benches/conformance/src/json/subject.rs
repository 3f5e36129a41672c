//! The ways through the `json` crate.

use std::fmt;

use tightwire_json::{Backend, Codec, Decoder, Mode, Value};
use serde::de::IgnoredAny;

/// A mode, a backend and an entry point.
#[derive(Clone, Copy, Debug)]
pub(super) struct Subject {
    mode: Mode,
    backend: Backend,
    entry: Entry,
}

/// How a document gets in, and what becomes of it.
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

/// All of them.
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
    /// Whether a document is accepted.
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

    /// The subject that decides open cases: the own decoder in the same mode, because a mode may choose (Go, and so
    /// `Compat`, replaces lone surrogates). Values and mere syntax are told apart: a number beyond all types is valid.
    pub(super) fn reference(&self) -> Self {
        let entry = match self.entry {
            Entry::Skipped | Entry::Validated => self.entry,
            _ => Entry::Tree,
        };
        Self { backend: Backend::Native, entry, ..*self }
    }

    /// Whether this one is documented to look at brackets only.
    pub(super) fn is_trusting(&self) -> bool {
        self.mode == Mode::Fast && self.entry == Entry::Skipped
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
