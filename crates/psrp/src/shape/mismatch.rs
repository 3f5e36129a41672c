//! Where a value is not what it should be.

use std::fmt::Write as _;

use crate::Error;
use crate::error::Kind;

/// What is wrong and the way to it, innermost step first. Holds names of the protocol only, never text of the input.
#[derive(Debug)]
pub(crate) struct Mismatch(Box<Inner>);

#[derive(Debug)]
struct Inner {
    kind: Kind,
    what: &'static str,
    way: Vec<Step>,
}

#[derive(Debug)]
enum Step {
    Member(&'static str),
    Item(usize),
}

impl Mismatch {
    #[cold]
    pub(crate) fn new(what: &'static str) -> Self {
        Self(Box::new(Inner { kind: Kind::Mismatch, what, way: Vec::new() }))
    }

    #[cold]
    pub(crate) fn limit() -> Self {
        let what = "takes too much memory when it is copied";
        Self(Box::new(Inner { kind: Kind::Limit, what, way: Vec::new() }))
    }

    #[cold]
    pub(crate) fn in_member(mut self, name: &'static str) -> Self {
        self.0.way.push(Step::Member(name));
        self
    }

    #[cold]
    pub(crate) fn in_item(mut self, index: usize) -> Self {
        self.0.way.push(Step::Item(index));
        self
    }
}

impl From<Mismatch> for Error {
    fn from(mismatch: Mismatch) -> Self {
        let mut detail = String::new();
        for step in mismatch.0.way.iter().rev() {
            let separator = if detail.is_empty() { "" } else { "." };
            let _ = match step {
                Step::Member(name) => write!(detail, "{separator}{name}"),
                Step::Item(index) => write!(detail, "[{index}]"),
            };
        }
        let separator = if detail.is_empty() { "" } else { " " };
        let _ = write!(detail, "{separator}{}", mismatch.0.what);
        Self::with(mismatch.0.kind, detail)
    }
}
