//! Why clients do not get something.

use std::fmt;
use std::time::{Duration, SystemTime};

/// The rule that refuses something, in words for those who wanted it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    Denied,
    NotAllowed,
    Young { age: Duration, until: SystemTime },
    AgeUnknown,
    Yanked,
}

impl Refusal {
    /// What it is counted as.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Denied | Self::NotAllowed => "project",
            Self::Young { .. } | Self::AgeUnknown => "age",
            Self::Yanked => "yanked",
        }
    }

    /// In a few words, for the first line of an answer: it is all that some installers show.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Denied => "Project Denied By This Proxy",
            Self::NotAllowed => "Project Not Allowed By This Proxy",
            Self::Young { .. } => "File Too Young For This Proxy",
            Self::AgeUnknown => "File Of Unknown Age Refused By This Proxy",
            Self::Yanked => "Yanked File Refused By This Proxy",
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Denied => f.write_str("the proxy has this project on its list of those that it denies"),
            Self::NotAllowed => {
                f.write_str("the proxy does not have this project on its list of those that it allows")
            }
            Self::Young { age, until } => {
                let age = crate::config::format_duration(*age);
                f.write_str("the proxy holds files back until they are ")?;
                // A time past all calendars has no text.
                match jiff::Timestamp::try_from(*until) {
                    Ok(until) => write!(f, "{age} old, which is at {until:.0}"),
                    Err(_) => write!(f, "{age} old"),
                }
            }
            Self::AgeUnknown => {
                f.write_str("the proxy holds files back until they are old enough, and does not know when this one was uploaded")
            }
            Self::Yanked => f.write_str("the proxy refuses files that were yanked"),
        }
    }
}
