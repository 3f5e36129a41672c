//! Violations of rules, with messages for clients.

use std::fmt;
use std::time::{Duration, SystemTime};

/// Rule that forbids a project or file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RuleViolation {
    Denied,
    NotAllowed,
    TooYoung { age: Duration, until: SystemTime },
    AgeUnknown,
    Yanked,
}

impl RuleViolation {
    /// Returns the label value for metrics.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Denied | Self::NotAllowed => "project",
            Self::TooYoung { .. } | Self::AgeUnknown => "age",
            Self::Yanked => "yanked",
        }
    }

    /// Returns a title for the status line of the response, which is all that some installers display.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Denied => "Project Denied By This Proxy",
            Self::NotAllowed => "Project Not Allowed By This Proxy",
            Self::TooYoung { .. } => "File Too Young For This Proxy",
            Self::AgeUnknown => "File Of Unknown Age Refused By This Proxy",
            Self::Yanked => "Yanked File Refused By This Proxy",
        }
    }
}

impl fmt::Display for RuleViolation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Denied => f.write_str("this proxy denies the project"),
            Self::NotAllowed => {
                f.write_str("this proxy allows only certain projects, and not this one")
            }
            Self::TooYoung { age, until } => {
                let age = crate::units::format_duration(*age);
                f.write_str("this proxy serves files only when they are ")?;
                // A time beyond the range of calendars is omitted.
                match jiff::Timestamp::try_from(*until) {
                    Ok(until) => write!(f, "{age} old; this one will be served from {until:.0}"),
                    Err(_) => write!(f, "{age} old"),
                }
            }
            Self::AgeUnknown => {
                f.write_str("this proxy serves files only when they are old enough, and the upload time of this one is unknown")
            }
            Self::Yanked => f.write_str("this proxy does not serve yanked files"),
        }
    }
}
