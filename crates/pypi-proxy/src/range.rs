//! Byte ranges of requests (RFC 9110, 14).

/// Requested part of a representation of known length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ByteRange {
    /// The whole representation: no range, or one that servers ignore (another unit, several ranges, invalid syntax).
    Full,
    /// A nonempty range of bytes within the length.
    Part {
        /// Offset of the first byte.
        start: u64,
        /// Offset after the last byte.
        end: u64,
    },
    /// The range is outside of the representation: status 416.
    Unsatisfiable,
}

impl ByteRange {
    /// Parses the value of a `Range` header for a representation of `len` bytes.
    ///
    /// A suffix longer than the representation selects all of it: installers request the end of a wheel without knowing
    /// its size.
    ///
    /// ```
    /// use pypi_proxy::ByteRange;
    ///
    /// assert_eq!(ByteRange::parse("bytes=0-99", 1000), ByteRange::Part { start: 0, end: 100 });
    /// assert_eq!(ByteRange::parse("bytes=-16384", 1000), ByteRange::Part { start: 0, end: 1000 });
    /// assert_eq!(ByteRange::parse("bytes=1000-", 1000), ByteRange::Unsatisfiable);
    /// assert_eq!(ByteRange::parse("bytes=0-1,5-6", 1000), ByteRange::Full);
    /// ```
    pub fn parse(header: &str, len: u64) -> Self {
        Self::read(header, len).unwrap_or(Self::Full)
    }

    fn read(header: &str, len: u64) -> Option<Self> {
        let (unit, range) = header.split_once('=')?;
        if !unit.trim().eq_ignore_ascii_case("bytes") {
            return None;
        }
        let (first, last) = range.trim().split_once('-')?;
        if first.is_empty() {
            let suffix = number(last)?;
            return Some(match suffix.min(len) {
                0 => Self::Unsatisfiable,
                suffix => Self::Part { start: len - suffix, end: len },
            });
        }
        let start = number(first)?;
        let end = match last {
            "" => len,
            last => {
                let last = number(last)?;
                if last < start {
                    return None;
                }
                len.min(last.saturating_add(1))
            }
        };
        Some(if start < len { Self::Part { start, end } } else { Self::Unsatisfiable })
    }
}

/// Parses decimal digits. A number too large for `u64` exceeds every length, so that `u64::MAX` stands for it.
fn number(text: &str) -> Option<u64> {
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    Some(text.parse().unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::ByteRange::{self, Full, Part, Unsatisfiable};

    #[test]
    fn ranges_are_clipped_to_the_length() {
        let cases = [
            ("bytes=0-0", Part { start: 0, end: 1 }),
            ("bytes=5-", Part { start: 5, end: 10 }),
            ("bytes=5-99", Part { start: 5, end: 10 }),
            ("bytes=-1", Part { start: 9, end: 10 }),
            ("Bytes = 1-2", Part { start: 1, end: 3 }),
            ("bytes=9-99999999999999999999999", Part { start: 9, end: 10 }),
            ("bytes=10-", Unsatisfiable),
            ("bytes=99999999999999999999999-", Unsatisfiable),
            ("bytes=-0", Unsatisfiable),
            ("bytes=2-1", Full),
            ("bytes=", Full),
            ("bytes=-", Full),
            ("bytes=a-b", Full),
            ("bytes=+1-2", Full),
            ("bytes=0-1,3-4", Full),
            ("items=0-1", Full),
            ("", Full),
        ];
        for (header, range) in cases {
            assert_eq!(ByteRange::parse(header, 10), range, "{header}");
        }
        assert_eq!(ByteRange::parse("bytes=-5", 0), Unsatisfiable);
        assert_eq!(ByteRange::parse("bytes=0-", 0), Unsatisfiable);
    }
}
