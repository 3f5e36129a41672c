//! Hashes of files.

use std::fmt;
use std::fs::File;
use std::io;
use std::str::FromStr;

use aws_lc_rs::digest::{self, Context, SHA1_FOR_LEGACY_USE_ONLY, SHA224, SHA256, SHA384, SHA512};
use md5::{Digest as _, Md5};

use crate::error::Kind;
use crate::sys::FileExt as _;
use crate::{Checksum, Error};

/// SHA-256 of a file, which is its name in the store. Formatted as 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest(pub [u8; 32]);

impl Digest {
    /// Computes the SHA-256 of bytes.
    pub(crate) fn of(bytes: &[u8]) -> Self {
        digest::digest(&SHA256, bytes).into()
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        crate::hash::fmt_hash(&self.0, f)
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
    /// Fails unless the text consists of 64 hexadecimal digits ([`Error::is_name`]).
    fn from_str(text: &str) -> Result<Self, Error> {
        crate::hash::bytes_of(text)
            .map(Self)
            .ok_or_else(|| Error::with(Kind::Name, "a SHA-256 in hexadecimal"))
    }
}

impl From<digest::Digest> for Digest {
    /// Converts the result of a SHA-256 computation.
    fn from(digest: digest::Digest) -> Self {
        Self(digest.as_ref().try_into().unwrap_or_default())
    }
}

/// Result of the verification of the hashes of all files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct VerifyReport {
    /// Number of intact files.
    pub good: u64,
    /// Bytes of intact files.
    pub bytes: u64,
    /// Corrupt files, which were deleted.
    pub bad: Vec<Digest>,
}

/// Computes the SHA-256 of a file, and compares a second hash with the expected one.
pub(crate) struct Hasher {
    sha256: Context,
    expected: Option<(Checksum, SecondHash)>,
}

enum SecondHash {
    Md5(Md5),
    Sha(Context),
}

impl Hasher {
    pub(crate) fn new(expected: Option<Checksum>) -> Self {
        let other = |checksum: Checksum| match checksum.algorithm() {
            "md5" => SecondHash::Md5(Md5::new()),
            "sha1" => SecondHash::Sha(Context::new(&SHA1_FOR_LEGACY_USE_ONLY)),
            "sha224" => SecondHash::Sha(Context::new(&SHA224)),
            "sha384" => SecondHash::Sha(Context::new(&SHA384)),
            _ => SecondHash::Sha(Context::new(&SHA512)),
        };
        let expected = expected.map(|checksum| (checksum, other(checksum)));
        Self { sha256: Context::new(&SHA256), expected }
    }

    pub(crate) fn update(&mut self, bytes: &[u8]) {
        self.sha256.update(bytes);
        match &mut self.expected {
            Some((_, SecondHash::Md5(md5))) => md5.update(bytes),
            Some((_, SecondHash::Sha(sha))) => sha.update(bytes),
            None => {}
        }
    }

    /// Reads a file of this length. Returns the same as [`Self::finish`].
    pub(crate) fn read(mut self, file: &File, len: u64) -> io::Result<(Digest, bool)> {
        let mut buffer = vec![0; 256 * 1024];
        let mut position = 0;
        while position < len {
            let part = usize::try_from(len - position).unwrap_or(buffer.len()).min(buffer.len());
            file.read_exact_at(&mut buffer[..part], position)?;
            self.update(&buffer[..part]);
            position += part as u64;
        }
        Ok(self.finish())
    }

    /// Returns the SHA-256, and whether the second hash is the expected one.
    pub(crate) fn finish(self) -> (Digest, bool) {
        let is_expected = match self.expected {
            Some((expected, SecondHash::Md5(md5))) => md5.finalize()[..] == *expected.bytes(),
            Some((expected, SecondHash::Sha(sha))) => sha.finish().as_ref() == expected.bytes(),
            None => true,
        };
        (self.sha256.finish().into(), is_expected)
    }
}
