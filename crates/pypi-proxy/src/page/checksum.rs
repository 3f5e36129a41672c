//! File hashes other than SHA-256.

use std::fmt;

/// A hash of a file other than SHA-256. Ordered from the weakest to the strongest algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Checksum {
    /// MD5 (RFC 1321). Detects accidental corruption, but no attacks.
    Md5([u8; 16]),
    /// SHA-1. Detects accidental corruption, but no attacks.
    Sha1([u8; 20]),
    /// SHA-224.
    Sha224([u8; 28]),
    /// SHA-384.
    Sha384([u8; 48]),
    /// SHA-512.
    Sha512([u8; 64]),
}

impl Checksum {
    /// Parses hexadecimal digits. Returns `None` for an unknown algorithm or a wrong number of digits.
    ///
    /// ```
    /// use pypi_proxy::Checksum;
    ///
    /// let checksum = Checksum::parse("md5", "a7c927740e4964dd29b72cebfc1429bb").unwrap();
    /// assert_eq!(checksum.to_string(), "md5=a7c927740e4964dd29b72cebfc1429bb");
    /// assert!(Checksum::parse("sha1", "a7c9").is_none());
    /// ```
    pub fn parse(algorithm: &str, hex: &str) -> Option<Self> {
        Some(match algorithm {
            "md5" => Self::Md5(bytes_of(hex)?),
            "sha1" => Self::Sha1(bytes_of(hex)?),
            "sha224" => Self::Sha224(bytes_of(hex)?),
            "sha384" => Self::Sha384(bytes_of(hex)?),
            "sha512" => Self::Sha512(bytes_of(hex)?),
            _ => return None,
        })
    }

    /// Name of the algorithm in lower case, as in the page's `hashes`.
    pub fn algorithm(&self) -> &'static str {
        match self {
            Self::Md5(_) => "md5",
            Self::Sha1(_) => "sha1",
            Self::Sha224(_) => "sha224",
            Self::Sha384(_) => "sha384",
            Self::Sha512(_) => "sha512",
        }
    }

    /// Returns the bytes of the hash.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Self::Md5(bytes) => bytes,
            Self::Sha1(bytes) => bytes,
            Self::Sha224(bytes) => bytes,
            Self::Sha384(bytes) => bytes,
            Self::Sha512(bytes) => bytes,
        }
    }

    /// Returns whether the algorithm is stronger than SHA-256.
    pub(super) fn is_strong(&self) -> bool {
        matches!(self, Self::Sha384(_) | Self::Sha512(_))
    }
}

/// Formats the hash as in the fragment of a link: `sha512=` and hexadecimal digits.
impl fmt::Display for Checksum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}=", self.algorithm())?;
        self.bytes().iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// Decodes exactly `2 * N` hexadecimal digits.
pub(crate) fn bytes_of<const N: usize>(hex: &str) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    if hex.len() != N * 2 {
        return None;
    }
    let digit = |byte: u8| char::from(byte).to_digit(16);
    for (byte, pair) in bytes.iter_mut().zip(hex.as_bytes().chunks_exact(2)) {
        *byte = u8::try_from(digit(pair[0])? << 4 | digit(pair[1])?).ok()?;
    }
    Some(bytes)
}

/// Appends bytes as hexadecimal digits.
pub(super) fn hex(out: &mut Vec<u8>, bytes: &[u8]) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    for byte in bytes {
        out.push(DIGITS[usize::from(byte >> 4)]);
        out.push(DIGITS[usize::from(byte & 15)]);
    }
}
