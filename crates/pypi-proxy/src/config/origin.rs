//! Sources of setting values.

use std::fmt;
use std::ops::Deref;
use std::path::PathBuf;

/// Source of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A command line flag, without the leading hyphens.
    Flag(String),
    /// An environment variable, or several that form one value.
    Env(String),
    /// A configuration file.
    File(PathBuf),
    /// Another program, as text for the user.
    Discovered(String),
    /// The default of the setting.
    Default,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(name) => write!(f, "--{name}"),
            Self::Env(name) => f.write_str(name),
            Self::File(path) => write!(f, "{}", path.display()),
            Self::Discovered(program) => f.write_str(program),
            Self::Default => f.write_str("default"),
        }
    }
}

/// A value with its source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingValue<T> {
    /// Current value.
    pub value: T,
    /// Source of the value.
    pub origin: Origin,
}

impl<T> SettingValue<T> {
    /// Returns whether the value is not the default.
    pub fn is_set(&self) -> bool {
        self.origin != Origin::Default
    }
}

impl<T> Deref for SettingValue<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

/// Program whose syntax and semantics apply to a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    PypiProxy,
    Groxpi,
    Proxpi,
}
