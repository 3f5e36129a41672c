//! Reasons for which a rule forbids a project or file.

use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use crate::Error;
use crate::error::Kind;
use crate::page::ProjectStatus;
use crate::units::format_duration;

/// A rule that forbids a project or file. `Display` explains it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Violation {
    /// The project is denied.
    ProjectDenied {
        /// Entry of the rule.
        entry: String,
    },
    /// Only other projects are allowed.
    ProjectNotAllowed,
    /// The version is denied.
    VersionDenied {
        /// Entry of the rule.
        entry: String,
    },
    /// Only other versions of the project are allowed.
    VersionNotAllowed {
        /// Entries of the rule that select versions of the project, separated by `; `.
        entries: String,
    },
    /// A record covers the version.
    Osv {
        /// Id of the record.
        id: Arc<str>,
    },
    /// The file is yanked.
    Yanked,
    /// The project has a status whose files are refused.
    Status(ProjectStatus),
    /// The file was uploaded after the latest time.
    TooNew {
        /// First time that is too late.
        limit: SystemTime,
    },
    /// The file is younger than the minimum age.
    TooYoung {
        /// Minimum age.
        age: Duration,
        /// Time at which the file is old enough.
        until: SystemTime,
    },
    /// There is a rule about upload times, and that of the file is unknown.
    AgeUnknown,
}

impl Violation {
    /// Returns the name of the setting that defines the rule.
    pub fn rule(&self) -> &'static str {
        self.columns().0
    }

    /// Returns a title for the status line of the response, which is all that some installers display.
    pub(crate) fn title(&self) -> &'static str {
        self.columns().1
    }

    fn columns(&self) -> (&'static str, &'static str) {
        match self {
            Self::ProjectDenied { .. } => ("deny_projects", "Project Denied By This Proxy"),
            Self::ProjectNotAllowed => ("allow_projects", "Project Not Allowed By This Proxy"),
            Self::VersionDenied { .. } => ("deny_projects", "Version Denied By This Proxy"),
            Self::VersionNotAllowed { .. } => ("allow_projects", "Version Not Allowed By This Proxy"),
            Self::Osv { id } if id.starts_with("MAL-") => ("osv_dir", "Known Malware Refused By This Proxy"),
            Self::Osv { .. } => ("osv_dir", "Vulnerable Version Refused By This Proxy"),
            Self::Yanked => ("yanked", "Yanked File Refused By This Proxy"),
            Self::Status(status) => {
                let title = match status {
                    ProjectStatus::Quarantined => "Quarantined Project Refused By This Proxy",
                    ProjectStatus::Archived => "Archived Project Refused By This Proxy",
                    _ => "Deprecated Project Refused By This Proxy",
                };
                (status.name(), title)
            }
            Self::TooNew { .. } => ("exclude_newer", "File Too New For This Proxy"),
            Self::TooYoung { .. } => ("min_age", "File Too Young For This Proxy"),
            Self::AgeUnknown => ("min_age_unknown", "File Of Unknown Age Refused By This Proxy"),
        }
    }

    /// Returns the entry or value of the setting that applies, or the id of the record, if the rule has one.
    pub fn entry(&self) -> Option<String> {
        match self {
            Self::ProjectDenied { entry } | Self::VersionDenied { entry } => Some(entry.clone()),
            Self::VersionNotAllowed { entries } => Some(entries.clone()),
            Self::Osv { id } => Some(id.to_string()),
            Self::TooNew { limit } => time(*limit),
            Self::TooYoung { age, .. } => Some(format_duration(*age)),
            Self::ProjectNotAllowed | Self::Yanked | Self::Status(_) | Self::AgeUnknown => None,
        }
    }
}

/// Formats a time to the second. Returns `None` beyond the range of calendars.
fn time(time: SystemTime) -> Option<String> {
    jiff::Timestamp::try_from(time).ok().map(|time| format!("{time:.0}"))
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ProjectDenied { entry } => write!(f, "this proxy denies the project ({entry})"),
            Self::ProjectNotAllowed => {
                f.write_str("this proxy allows only certain projects, and not this one")
            }
            Self::VersionDenied { entry } => write!(f, "this proxy denies the version ({entry})"),
            Self::VersionNotAllowed { entries } => {
                write!(f, "this proxy allows only certain versions of the project ({entries})")
            }
            Self::Osv { id } => write!(f, "this proxy does not serve versions that {id} covers"),
            Self::Yanked => f.write_str("this proxy does not serve yanked files"),
            Self::Status(status) => {
                write!(f, "this proxy does not serve files of {} projects", status.name())
            }
            Self::TooNew { limit } => {
                f.write_str("this proxy does not serve files uploaded ")?;
                match time(*limit) {
                    Some(limit) => write!(f, "at {limit} or later"),
                    None => f.write_str("at this time"),
                }
            }
            Self::TooYoung { age, until } => {
                let age = format_duration(*age);
                f.write_str("this proxy serves files only when they are ")?;
                match time(*until) {
                    Some(until) => write!(f, "{age} old; this one will be served from {until}"),
                    None => write!(f, "{age} old"),
                }
            }
            Self::AgeUnknown => {
                f.write_str("this proxy serves files only when they are old enough, and the upload time of this one is unknown")
            }
        }
    }
}

impl StdError for Violation {}

impl From<Violation> for Error {
    /// [`Error::is_forbidden`]
    fn from(violation: Violation) -> Self {
        Self::new(Kind::Forbidden).caused_by(violation)
    }
}

impl Error {
    /// Returns the rule that forbids the request, if it is one about projects and files.
    pub(crate) fn violation(&self) -> Option<&Violation> {
        self.source()?.downcast_ref()
    }
}
