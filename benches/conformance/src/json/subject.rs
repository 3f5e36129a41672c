//! Entry points of `tightwire-json`.

use std::fmt;

use serde::de::IgnoredAny;
use tightwire_json::{Backend, Codec, Decoder, Mode, Value};

/// A mode, a backend and an entry point.
#[derive(Clone, Copy, Debug)]
pub(super) struct Subject {
    mode: Mode,
    backend: Backend,
    entry: Entry,
}

/// How a document is read, and into which type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Entry {
    Tree,
    TreeBorrowed,
    TreeInPlace,
    TreeFromReader,
    TreeFromStream,
    Skipped,
    Validated,
}

const ENTRIES: [Entry; 7] = [
    Entry::Tree,
    Entry::TreeBorrowed,
    Entry::TreeInPlace,
    Entry::TreeFromReader,
    Entry::TreeFromStream,
    Entry::Skipped,
    Entry::Validated,
];

const BACKENDS: &[Backend] = &[Backend::Native, Backend::SerdeJson, Backend::SimdJson];

/// Returns all subjects.
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
    /// Returns whether the subject accepts a document.
    pub(super) fn accepts(&self, document: &[u8]) -> bool {
        let codec = Codec::new(self.mode).with_backend(self.backend);
        match self.entry {
            Entry::Tree => codec.from_slice::<Value>(document).is_ok(),
            Entry::TreeBorrowed => codec.from_slice_borrowed::<Value>(document).is_ok(),
            Entry::TreeInPlace => codec.from_slice_mut::<Value>(&mut document.to_vec()).is_ok(),
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

    /// Returns the subject that decides `i_*` cases: our decoder in the same mode, because modes differ (Go, and so
    /// `Compat`, replaces lone surrogates). Reading a value and validating are separate: a number that fits no type is
    /// valid JSON.
    pub(super) fn reference(&self) -> Self {
        let entry = match self.entry {
            Entry::Skipped | Entry::Validated => self.entry,
            _ => Entry::Tree,
        };
        Self { backend: Backend::Native, entry, ..*self }
    }

    /// Returns whether the subject is documented to check only brackets.
    pub(super) fn is_trusting(&self) -> bool {
        self.mode == Mode::Fast && self.entry == Entry::Skipped
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let entry = match self.entry {
            Entry::Tree => "from_slice",
            Entry::TreeBorrowed => "from_slice_borrowed",
            Entry::TreeInPlace => "from_slice_mut",
            Entry::TreeFromReader => "from_reader",
            Entry::TreeFromStream => "Decoder",
            Entry::Skipped => "from_slice, skipped",
            Entry::Validated => "is_valid",
        };
        write!(f, "{:?} {:?} {entry}", self.mode, self.backend)
    }
}
