//! What the table of settings says of each.

use super::Origin;

/// What all our variables begin with.
pub(super) const PREFIX: &str = "PYPI_PROXY_";

/// A setting: a row of the table that flags, variables, keys of the file and the documentation are made of.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Setting {
    /// The name, as it is in a file.
    pub name: &'static str,
    /// What it is about, as a heading.
    pub group: &'static str,
    /// What it takes, in words.
    pub form: &'static str,
    /// The value if nobody sets it, empty for none.
    pub default: &'static str,
    /// Variables that groxpi knows it by.
    pub groxpi: &'static [&'static str],
    /// Variables that proxpi knows it by.
    pub proxpi: &'static [&'static str],
    /// What it does.
    pub help: &'static str,
    /// Whether it may hold a secret.
    pub is_secret: bool,
    pub(super) traits: Traits,
}

/// What is special about a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Traits {
    Plain,
    /// It is known, but does nothing: others have documented it.
    Idle,
    /// It is for storage in a bucket.
    Bucket,
    /// It is too secret for a flag, which everybody on the machine can see.
    NoFlag,
    /// As both above.
    SecretBucket,
}

impl Setting {
    /// Our own variable.
    pub fn variable(&self) -> String {
        format!("{PREFIX}{}", self.name.to_ascii_uppercase())
    }

    /// The flag, without the hyphens in front. `None` for a secret, which everybody on the machine could see.
    pub fn flag(&self) -> Option<String> {
        let is_secret = matches!(self.traits, Traits::NoFlag | Traits::SecretBucket);
        (!is_secret).then(|| self.name.replace('_', "-"))
    }

    /// Whether it is for storage in a bucket.
    pub fn is_bucket(&self) -> bool {
        matches!(self.traits, Traits::Bucket | Traits::SecretBucket)
    }

    /// Whether it is accepted, for configurations of others, but does nothing.
    pub fn is_idle(&self) -> bool {
        self.traits == Traits::Idle
    }
}

/// A setting with its value.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Row {
    /// The setting.
    pub setting: &'static Setting,
    /// The value, with secrets masked; empty if there is none.
    pub shown: String,
    /// The value as it is written in a file, with secrets masked.
    pub toml: String,
    /// Where it comes from.
    pub origin: Origin,
}
