//! `System.Version`.

use std::fmt;
use std::str::FromStr;

use crate::Error;
use crate::error::Kind;

/// A version of two to four parts (`System.Version`). Missing parts are not zero: `2.3` differs from `2.3.0.0`, and
/// precedes it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version {
    major: u32,
    minor: u32,
    /// -1 if missing, like in .NET.
    build: i32,
    revision: i32,
}

impl Version {
    const MAX: u32 = i32::MAX as u32;

    /// Creates a version of two parts. Parts above 2147483647 are set to that value.
    pub const fn new(major: u32, minor: u32) -> Self {
        Self { major: cap(major), minor: cap(minor), build: -1, revision: -1 }
    }

    /// Sets the third part.
    pub const fn with_build(mut self, build: u32) -> Self {
        self.build = cap(build) as i32;
        self
    }

    /// Sets the third and fourth part.
    pub const fn with_revision(self, build: u32, revision: u32) -> Self {
        let mut version = self.with_build(build);
        version.revision = cap(revision) as i32;
        version
    }

    /// Returns the first part.
    pub const fn major(self) -> u32 {
        self.major
    }

    /// Returns the second part.
    pub const fn minor(self) -> u32 {
        self.minor
    }

    /// Returns the third part, if present.
    pub fn build(self) -> Option<u32> {
        u32::try_from(self.build).ok()
    }

    /// Returns the fourth part, if present.
    pub fn revision(self) -> Option<u32> {
        u32::try_from(self.revision).ok()
    }
}

const fn cap(part: u32) -> u32 {
    if part > Version::MAX { Version::MAX } else { part }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)?;
        for part in [self.build(), self.revision()].into_iter().flatten() {
            write!(f, ".{part}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Parses two to four numbers from 0 to 2147483647, separated by dots.
impl FromStr for Version {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let invalid = || Error::with(Kind::InvalidText, "not a version");
        let mut parts = [None; 4];
        for (index, part) in text.split('.').enumerate() {
            let slot = parts.get_mut(index).ok_or_else(invalid)?;
            let digits = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
            let number = part.parse().ok().filter(|number| digits && *number <= Self::MAX);
            *slot = Some(number.ok_or_else(invalid)?);
        }
        match parts {
            [Some(major), Some(minor), None, None] => Ok(Self::new(major, minor)),
            [Some(major), Some(minor), Some(build), None] => Ok(Self::new(major, minor).with_build(build)),
            [Some(major), Some(minor), Some(build), Some(revision)] => {
                Ok(Self::new(major, minor).with_revision(build, revision))
            }
            _ => Err(invalid()),
        }
    }
}
