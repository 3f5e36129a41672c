//! Where a value comes from.

use std::fmt;
use std::ops::Deref;
use std::path::PathBuf;

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A flag, by its name without the hyphens in front.
    Flag(String),
    /// A variable of the environment, or several that make one value.
    Env(String),
    /// A file of ours.
    File(PathBuf),
    /// What another program is configured with, in words.
    Found(String),
    /// Nobody has said anything.
    Default,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(name) => write!(f, "--{name}"),
            Self::Env(name) => f.write_str(name),
            Self::File(path) => write!(f, "{}", path.display()),
            Self::Found(place) => f.write_str(place),
            Self::Default => f.write_str("default"),
        }
    }
}

/// A value, and where it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Set<T> {
    /// The value.
    pub value: T,
    /// Where it comes from.
    pub origin: Origin,
}

impl<T> Set<T> {
    /// Whether somebody has set it.
    pub fn is_set(&self) -> bool {
        self.origin != Origin::Default
    }
}

impl<T> Deref for Set<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

/// Whose habits a value follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    Own,
    Groxpi,
    Proxpi,
}
