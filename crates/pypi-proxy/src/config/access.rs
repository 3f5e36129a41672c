//! Parsing and formatting of the access settings.

use std::fmt;
use std::net::IpAddr;

use ipnet::IpNet;

use super::table::Dialect;
use super::value::Value;
use crate::rules::ProjectPattern;

/// A single address is a network with the full prefix length.
impl Value for IpNet {
    const SYNTAX: &'static str = "a network such as 10.0.0.0/8 or 2001:db8::/32, or an address";
    const LIST_SYNTAX: &'static str = "a comma-separated list of networks such as 10.0.0.0/8, or addresses";

    fn parse(text: &str, _: Dialect) -> Option<Self> {
        text.parse().ok().or_else(|| text.parse::<IpAddr>().ok().map(Self::from))
    }

    fn show(&self) -> String {
        self.to_string()
    }
}

impl Value for ProjectPattern {
    const SYNTAX: &'static str = "a project name, in which * matches any characters and ? matches one";
    const LIST_SYNTAX: &'static str =
        "a comma-separated list of project names, in which * matches any characters and ? matches one";

    fn parse(text: &str, _: Dialect) -> Option<Self> {
        Self::parse(text).ok()
    }

    fn show(&self) -> String {
        self.to_string()
    }
}

/// Restriction of projects to a single index.
#[derive(Clone, Debug, PartialEq)]
pub struct ProjectSource {
    /// Pattern of the project names.
    pub pattern: ProjectPattern,
    /// Position of the index, starting at 0. The text form starts at 1.
    pub index: usize,
}

impl fmt::Display for ProjectSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.pattern, self.index + 1)
    }
}

impl Value for ProjectSource {
    const SYNTAX: &'static str = "PATTERN=INDEX with the number of an index";
    const LIST_SYNTAX: &'static str = "a comma-separated list of PATTERN=INDEX with the number of an index";

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
