//! The error while a value is on its way, which learns its place step by step.

use std::fmt;

use serde::de::{Error as _, Expected, Unexpected};

use crate::Error;
use crate::error::Kind;

/// An [`Error`] and the way from the failing place up to the root, innermost step first.
pub(super) struct Fault(Box<Inner>);

struct Inner {
    error: Error,
    path: Vec<Step>,
}

/// One step of the way down. Names are those of the Rust type alone: names in a document may be secret.
#[derive(Clone, Copy)]
pub(super) enum Step {
    /// A field of a struct, or a variant.
    Member(&'static str),
    /// An item of a list.
    Item(usize),
    /// The key of a pair of a dictionary, or the name of a member.
    Key(usize),
    /// The value of a pair of a dictionary, or of a member that the type does not name.
    Value(usize),
}

pub(super) type Result<T, E = Fault> = std::result::Result<T, E>;

impl Fault {
    #[cold]
    pub(super) fn new(kind: Kind, detail: impl Into<Box<str>>) -> Self {
        Error::with(kind, detail).into()
    }

    /// Adds the step that leads to where the fault came from.
    #[cold]
    pub(super) fn below(mut self, step: Step) -> Self {
        // The depth of values is limited, but that limit is the user's.
        if self.0.path.len() < 256 {
            self.0.path.push(step);
        }
        self
    }

    /// The error, with the place in its text.
    #[cold]
    pub(super) fn into_error(self) -> Error {
        use fmt::Write as _;

        let Inner { error, path } = *self.0;
        if path.is_empty() {
            return error;
        }
        let mut place = String::new();
        for step in path.iter().rev() {
            let _ = match step {
                Step::Member(name) if place.is_empty() => write!(place, "{name}"),
                Step::Member(name) => write!(place, ".{name}"),
                Step::Item(index) => write!(place, "[{index}]"),
                Step::Key(index) => write!(place, "[key {index}]"),
                Step::Value(index) => write!(place, "[value {index}]"),
            };
        }
        error.within(&place)
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self(Box::new(Inner { error, path: Vec::new() }))
    }
}

impl fmt::Debug for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0.error, f)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0.error, f)
    }
}

impl std::error::Error for Fault {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.error.source()
    }
}

/// What a type's own code says. It may quote a value, so that only the chain of causes shows it.
struct Said(String);

impl fmt::Debug for Said {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Said(..)")
    }
}

impl fmt::Display for Said {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Said {}

impl serde::ser::Error for Fault {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Error::with(Kind::Unwritable, "its type refuses to be written")
            .caused_by(Said(message.to_string()))
            .into()
    }
}

/// What was found, without the value that serde would show.
fn found(unexpected: &Unexpected<'_>) -> &'static str {
    match unexpected {
        Unexpected::Bool(_) => "a boolean",
        Unexpected::Unsigned(_) | Unexpected::Signed(_) => "an integer",
        Unexpected::Float(_) => "a floating-point number",
        Unexpected::Char(_) => "a character",
        Unexpected::Str(_) => "a string",
        Unexpected::Bytes(_) => "bytes",
        Unexpected::Unit => "$null",
        Unexpected::Option => "an optional value",
        Unexpected::NewtypeStruct => "a wrapper",
        Unexpected::Seq => "a list",
        Unexpected::Map => "members or a dictionary",
        Unexpected::Enum => "a variant",
        Unexpected::UnitVariant => "a variant without value",
        Unexpected::NewtypeVariant => "a variant with a value",
        Unexpected::TupleVariant => "a variant with items",
        Unexpected::StructVariant => "a variant with members",
        Unexpected::Other(_) => "a value of another type",
    }
}

/// Messages name what the type expects, never what the document has: that may be secret.
impl serde::de::Error for Fault {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Error::with(Kind::Mismatch, "refused by its type").caused_by(Said(message.to_string())).into()
    }

    fn invalid_type(unexpected: Unexpected<'_>, expected: &dyn Expected) -> Self {
        // `Other` comes from this crate, or from a type that names what it found.
        let found = match unexpected {
            Unexpected::Other(name) if super::kinds::is_name(name) => name,
            _ => found(&unexpected),
        };
        Self::new(Kind::Mismatch, format!("expected {expected}, found {found}"))
    }

    fn invalid_value(unexpected: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::new(
            Kind::Mismatch,
            format!("expected {expected}, found {} that is no such thing", found(&unexpected)),
        )
    }

    fn invalid_length(length: usize, expected: &dyn Expected) -> Self {
        Self::new(Kind::Mismatch, format!("expected {expected}, found {length} items"))
    }

    fn unknown_variant(_: &str, expected: &'static [&'static str]) -> Self {
        Self::new(Kind::Mismatch, format!("no such variant, expected one of {expected:?}"))
    }

    fn unknown_field(_: &str, expected: &'static [&'static str]) -> Self {
        Self::new(Kind::Mismatch, format!("no such member, expected one of {expected:?}"))
    }

    fn missing_field(field: &'static str) -> Self {
        Self::new(Kind::Mismatch, format!("the member {field} is missing"))
    }

    fn duplicate_field(field: &'static str) -> Self {
        Self::new(Kind::Mismatch, format!("the member {field} is there twice"))
    }
}

/// That `value` is not what `expected` says.
#[cold]
pub(super) fn mismatch(value: &crate::Value, expected: &dyn Expected) -> Fault {
    Fault::invalid_type(Unexpected::Other(super::kinds::name(value)), expected)
}
