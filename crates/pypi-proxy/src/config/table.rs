//! Metadata of settings, as stored in the table of all settings.

use std::fmt;
use std::ops::Deref;
use std::path::PathBuf;

pub(super) const PREFIX: &str = "PYPI_PROXY_";

/// Definition of a setting. Flags, variables, keys of the configuration file and the reference are derived from it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Setting {
    /// Name, as in the configuration file.
    pub name: &'static str,
    /// Heading of the reference section.
    pub group: &'static str,
    /// Description of valid values.
    pub syntax: &'static str,
    /// Default value; empty for none.
    pub default: &'static str,
    /// Equivalent environment variables of groxpi.
    pub groxpi: &'static [&'static str],
    /// Equivalent environment variables of proxpi.
    pub proxpi: &'static [&'static str],
    /// Help text. Its first sentence is the short help.
    pub help: &'static str,
    /// Whether the value may contain a secret, which is masked in output.
    pub is_secret: bool,
    pub(super) properties: &'static [Property],
}

/// Property of a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Property {
    /// A named index may have its own value, otherwise it has that of the default index.
    Index,
    /// A named index may have its own value, otherwise it has none: about the URLs of an index.
    OwnIndex,
    /// Applies to storage in a bucket.
    Bucket,
    /// A change takes effect after a restart: settings of the listeners, the open store, the bucket and the log.
    Restart,
    /// Has no flag, because other users of the machine can see the command line.
    Secret,
    /// Zero is invalid.
    Positive,
    /// Accepted for compatibility with groxpi, without effect.
    Ineffective,
}

impl Setting {
    /// Returns whether a named index may have its own value.
    pub fn is_of_index(&self) -> bool {
        self.has(Property::Index) || self.has(Property::OwnIndex)
    }

    /// Returns whether a named index without an own value has that of the default index.
    pub(super) fn is_inherited(&self) -> bool {
        !self.has(Property::OwnIndex)
    }

    /// Returns the name of the environment variable.
    pub fn variable(&self) -> String {
        format!("{PREFIX}{}", self.name.to_ascii_uppercase())
    }

    /// Returns the name of the environment variable with the path of a file that contains the value, or `None` if the
    /// setting is not secret.
    pub fn file_variable(&self) -> Option<String> {
        self.is_secret.then(|| self.variable() + "_FILE")
    }

    /// Returns the name of the flag without leading hyphens, or `None` for a secret, which other users could see on the
    /// command line.
    pub fn flag(&self) -> Option<String> {
        (!self.has(Property::Secret)).then(|| self.name.replace('_', "-"))
    }

    /// Returns whether the setting applies to storage in a bucket.
    pub fn is_bucket(&self) -> bool {
        self.has(Property::Bucket)
    }

    /// Returns whether a change takes effect after a restart only, not when the settings are reloaded.
    pub fn needs_restart(&self) -> bool {
        self.has(Property::Restart)
    }

    /// Returns whether the setting is accepted for compatibility, without effect.
    pub fn is_ineffective(&self) -> bool {
        self.has(Property::Ineffective)
    }

    pub(super) fn has(&self, property: Property) -> bool {
        self.properties.contains(&property)
    }
}

/// A setting with its current value.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Row {
    /// Definition of the setting.
    pub setting: &'static Setting,
    /// Value with masked secrets; empty for none.
    pub shown: String,
    /// Value in TOML syntax with masked secrets.
    pub toml: String,
    /// Source of the value.
    pub origin: Origin,
}

/// Source of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A command line flag, without the leading hyphens.
    Flag(String),
    /// An environment variable, or several that form one value.
    Env(String),
    /// A configuration file.
    File(PathBuf),
    /// The table of a named index in a configuration file.
    Index {
        /// Path of the file.
        file: PathBuf,
        /// Name of the index.
        name: String,
    },
    /// Another program, as text for the user.
    Discovered(String),
    /// The default of the setting.
    Default,
}

impl Origin {
    /// Returns whether the value is from a variable of groxpi or proxpi.
    pub(super) fn is_compat(&self) -> bool {
        matches!(self, Self::Env(name) if !name.starts_with(PREFIX))
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(name) => write!(f, "--{name}"),
            Self::Env(name) => f.write_str(name),
            Self::File(path) => write!(f, "{}", path.display()),
            Self::Index { file, name } => write!(f, "{}: [index.{name}]", file.display()),
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

#[derive(Clone, Debug)]
pub(super) enum Raw {
    Text(String),
    Items(Vec<String>),
}

/// A type of setting values. Formatting never reveals a secret.
pub(super) trait Value: Sized + PartialEq {
    /// Description of valid values, which follows "expected" in error messages.
    const SYNTAX: &'static str;
    /// Description of a list of valid values.
    const LIST_SYNTAX: &'static str = "a comma-separated list";
    /// Whether values may contain a secret.
    const IS_SECRET: bool = false;

    /// Returns `None` if the text is malformed.
    fn parse(text: &str, dialect: Dialect) -> Option<Self>;

    fn read(raw: &Raw, dialect: Dialect) -> Option<Self> {
        match raw {
            Raw::Text(text) => Self::parse(text.trim(), dialect),
            Raw::Items(_) => None,
        }
    }

    /// Returns whether the value is a count or time of 0.
    fn is_zero(&self) -> bool {
        false
    }

    /// Returns whether an item of a comma-separated list continues the previous one.
    fn continues(_item: &str) -> bool {
        false
    }

    /// Formats the value for [`parse`](Self::parse), with masked secrets. Empty if there is no value.
    fn show(&self) -> String;

    /// Formats the value for a configuration file.
    fn to_toml(&self) -> toml::Value {
        toml::Value::String(self.show())
    }
}

impl<T: Value> Value for Option<T> {
    const SYNTAX: &'static str = T::SYNTAX;
    const IS_SECRET: bool = T::IS_SECRET;

    fn parse(text: &str, dialect: Dialect) -> Option<Self> {
        if text.is_empty() { Some(None) } else { T::parse(text, dialect).map(Some) }
    }

    fn show(&self) -> String {
        self.as_ref().map(T::show).unwrap_or_default()
    }

    fn to_toml(&self) -> toml::Value {
        self.as_ref().map_or_else(|| toml::Value::String(String::new()), T::to_toml)
    }
}

impl<T: Value> Value for Vec<T> {
    const SYNTAX: &'static str = T::LIST_SYNTAX;
    const IS_SECRET: bool = T::IS_SECRET;

    fn parse(text: &str, dialect: Dialect) -> Option<Self> {
        let mut items: Vec<String> = Vec::new();
        for item in text.split(',').map(str::trim).filter(|item| !item.is_empty()) {
            match items.last_mut().filter(|_| T::continues(item)) {
                Some(previous) => previous.extend([",", item]),
                None => items.push(item.to_owned()),
            }
        }
        items.iter().map(|item| T::parse(item, dialect)).collect()
    }

    fn read(raw: &Raw, dialect: Dialect) -> Option<Self> {
        match raw {
            Raw::Text(text) => Self::parse(text, dialect),
            Raw::Items(items) => items.iter().map(|item| T::parse(item.trim(), dialect)).collect(),
        }
    }

    fn show(&self) -> String {
        self.iter().map(T::show).collect::<Vec<_>>().join(", ")
    }

    fn to_toml(&self) -> toml::Value {
        toml::Value::Array(self.iter().map(T::to_toml).collect())
    }
}
