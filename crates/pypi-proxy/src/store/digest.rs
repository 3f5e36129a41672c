//! Hashes of files.

use std::fmt;
use std::str::FromStr;

use crate::Error;
use crate::error::Kind;

/// The SHA-256 of a file, which names it. As text it is 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest(pub [u8; 32]);

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Digest {
    type Err = Error;

    /// # Errors
    ///
    /// Fails unless it is 64 hexadecimal digits ([`Error::is_name`]).
    fn from_str(text: &str) -> Result<Self, Error> {
        crate::page::sha256_of(text).map(Self).ok_or_else(|| Error::with(Kind::Name, "a hash"))
    }
}
