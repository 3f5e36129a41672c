//! Errors in the structure of a value.

use std::fmt::Write as _;

use crate::Error;
use crate::error::Kind;

/// The problem and the path to it, innermost segment first. Holds names of the protocol only, never text of the input.
#[derive(Debug)]
pub(crate) struct Mismatch(Box<Inner>);

#[derive(Debug)]
struct Inner {
    kind: Kind,
    what: &'static str,
    path: Vec<Segment>,
}

#[derive(Debug)]
enum Segment {
    Member(&'static str),
    Item(usize),
}

impl Mismatch {
    #[cold]
    pub(crate) fn new(what: &'static str) -> Self {
        Self(Box::new(Inner { kind: Kind::Mismatch, what, path: Vec::new() }))
    }

    #[cold]
    pub(crate) fn limit() -> Self {
        let what = "would take too much memory to copy";
        Self(Box::new(Inner { kind: Kind::Limit, what, path: Vec::new() }))
    }

    #[cold]
    pub(crate) fn in_member(mut self, name: &'static str) -> Self {
        self.0.path.push(Segment::Member(name));
        self
    }

    #[cold]
    pub(crate) fn in_item(mut self, index: usize) -> Self {
        self.0.path.push(Segment::Item(index));
        self
    }
}

impl From<Mismatch> for Error {
    fn from(mismatch: Mismatch) -> Self {
        let mut detail = String::new();
        for segment in mismatch.0.path.iter().rev() {
            let separator = if detail.is_empty() { "" } else { "." };
            let _ = match segment {
                Segment::Member(name) => write!(detail, "{separator}{name}"),
                Segment::Item(index) => write!(detail, "[{index}]"),
            };
        }
        let separator = if detail.is_empty() { "" } else { " " };
        let _ = write!(detail, "{separator}{}", mismatch.0.what);
        Self::with(mismatch.0.kind, detail)
    }
}
