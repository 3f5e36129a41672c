//! Hashes as hexadecimal digits, and hashes other than SHA-256.

use std::fmt;

/// Algorithms from the weakest to the strongest, with the lengths of their hashes in bytes.
const ALGORITHMS: [(&str, usize); 5] =
    [("md5", 16), ("sha1", 20), ("sha224", 28), ("sha384", 48), ("sha512", 64)];

/// A hash of a file other than SHA-256: MD5, SHA-1, SHA-224, SHA-384 or SHA-512. Ordered from the weakest to the
/// strongest algorithm. MD5 and SHA-1 detect accidental corruption, but no attacks.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Checksum {
    /// Index in [`ALGORITHMS`].
    algorithm: u8,
    /// Padded with zeros.
    bytes: [u8; 64],
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
        let index = ALGORITHMS.iter().position(|(name, _)| *name == algorithm)?;
        let mut bytes = [0; 64];
        decode_hex(hex, &mut bytes[..ALGORITHMS[index].1])?;
        Some(Self { algorithm: u8::try_from(index).ok()?, bytes })
    }

    /// Name of the algorithm in lower case, as in the page's `hashes`.
    pub fn algorithm(&self) -> &'static str {
        ALGORITHMS[usize::from(self.algorithm)].0
    }

    /// Returns the bytes of the hash.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..ALGORITHMS[usize::from(self.algorithm)].1]
    }

    /// Returns whether the algorithm is stronger than SHA-256.
    pub(crate) fn is_strong(&self) -> bool {
        self.bytes().len() > 32
    }
}

impl fmt::Debug for Checksum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Formats the hash as in the fragment of a link: `sha512=` and hexadecimal digits.
impl fmt::Display for Checksum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}=", self.algorithm())?;
        fmt_hash(self.bytes(), f)
    }
}

/// Decodes exactly `2 * N` hexadecimal digits.
pub(crate) fn bytes_of<const N: usize>(hex: &str) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    decode_hex(hex, &mut bytes)?;
    Some(bytes)
}

fn decode_hex(hex: &str, bytes: &mut [u8]) -> Option<()> {
    if hex.len() != bytes.len() * 2 {
        return None;
    }
    let digit = |byte: u8| char::from(byte).to_digit(16);
    for (byte, pair) in bytes.iter_mut().zip(hex.as_bytes().chunks_exact(2)) {
        *byte = u8::try_from(digit(pair[0])? << 4 | digit(pair[1])?).ok()?;
    }
    Some(())
}

/// Returns the two hexadecimal digits of a byte.
fn digits(byte: u8) -> [u8; 2] {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    [DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]
}

/// Appends bytes as hexadecimal digits.
pub(crate) fn append_hex(out: &mut Vec<u8>, bytes: &[u8]) {
    for byte in bytes {
        out.extend_from_slice(&digits(*byte));
    }
}

/// Formats a hash of at most 64 bytes as hexadecimal digits. Formatting each byte would take ten times the instructions.
pub(crate) fn fmt_hash(hash: &[u8], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let mut text = [[0; 2]; 64];
    for (pair, byte) in text.iter_mut().zip(hash) {
        *pair = digits(*byte);
    }
    let text = &text.as_flattened()[..hash.len() * 2];
    f.write_str(std::str::from_utf8(text).unwrap_or_default())
}
