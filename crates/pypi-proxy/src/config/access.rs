//! Values of the settings about who may have what.

use std::fmt;
use std::net::IpAddr;

use ipnet::IpNet;

use super::origin::Dialect;
use super::value::{Item, Value};
use crate::rules::{ProjectPattern, UnknownAge, Yanked};

/// A network, or one address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network(pub IpNet);

impl Value for Network {
    const FORM: &'static str = "a network such as 10.0.0.0/8 or 2001:db8::/32, or an address";

    fn parse(text: &str, _: Dialect) -> Option<Self> {
        text.parse().ok().or_else(|| text.parse::<IpAddr>().ok().map(IpNet::from)).map(Self)
    }

    fn show(&self) -> String {
        self.0.to_string()
    }
}

impl Item for Network {
    const FORMS: &'static str = "networks such as 10.0.0.0/8, or addresses, with commas between them";
}

impl Value for ProjectPattern {
    const FORM: &'static str = "a name of a project, with * for any characters and ? for one";

    fn parse(text: &str, _: Dialect) -> Option<Self> {
        Self::parse(text).ok()
    }

    fn show(&self) -> String {
        self.to_string()
    }
}

impl Item for ProjectPattern {
    const FORMS: &'static str =
        "names of projects, with * for any characters and ? for one, and commas between them";
}

/// Projects, and the index that alone they are taken from.
#[derive(Clone, Debug, PartialEq)]
pub struct ProjectSource {
    /// The names of the projects.
    pub pattern: ProjectPattern,
    /// The place of the index, from 0. In settings they are counted from 1.
    pub index: usize,
}

impl fmt::Display for ProjectSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.pattern, self.index + 1)
    }
}

impl Value for ProjectSource {
    const FORM: &'static str = "a pattern, = and the number of an index";

    fn parse(text: &str, _: Dialect) -> Option<Self> {
        let (pattern, index) = text.split_once('=')?;
        let pattern = ProjectPattern::parse(pattern.trim()).ok()?;
        let index = index.trim().parse::<u16>().ok()?.checked_sub(1)?;
        Some(Self { pattern, index: index.into() })
    }

    fn show(&self) -> String {
        self.to_string()
    }
}

impl Item for ProjectSource {
    const FORMS: &'static str = "patterns, each with = and the number of an index, with commas between them";
}

impl Value for Yanked {
    const FORM: &'static str = "one of keep, hide, refuse";

    fn parse(text: &str, _: Dialect) -> Option<Self> {
        match &*text.to_ascii_lowercase() {
            "keep" => Some(Self::Keep),
            "hide" => Some(Self::Hide),
            "refuse" => Some(Self::Refuse),
            _ => None,
        }
    }

    fn show(&self) -> String {
        match self {
            Self::Keep => "keep",
            Self::Hide => "hide",
            Self::Refuse => "refuse",
        }
        .into()
    }
}

impl Value for UnknownAge {
    const FORM: &'static str = "allow or deny";

    fn parse(text: &str, _: Dialect) -> Option<Self> {
        match &*text.to_ascii_lowercase() {
            "allow" => Some(Self::Allow),
            "deny" => Some(Self::Deny),
            _ => None,
        }
    }

    fn show(&self) -> String {
        if *self == Self::Allow { "allow" } else { "deny" }.into()
    }
}
