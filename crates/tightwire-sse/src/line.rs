//! Grammar of a line.

/// Known fields. All others are ignored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Field {
    Data,
    Event,
    Id,
    Retry,
}

/// Length of the longest field name.
pub(crate) const LONGEST_NAME: usize = 5;

impl Field {
    const ALL: [(&'static [u8], Self); 4] =
        [(b"data", Self::Data), (b"event", Self::Event), (b"id", Self::Id), (b"retry", Self::Retry)];
}

/// Returns the field of a complete line and the offset of its value, `None` for comments and unknown fields.
///
/// Names are case-sensitive. One leading space is not part of the value. A line without a colon is a field with an
/// empty value.
#[inline(always)]
pub(crate) fn split(line: &[u8]) -> Option<(Field, usize)> {
    let (field, name_len) = if let Some(b"data") = line.first_chunk::<4>() {
        (Field::Data, 4)
    } else if let Some(b"event") = line.first_chunk::<5>() {
        (Field::Event, 5)
    } else if let Some(b"id") = line.first_chunk::<2>() {
        (Field::Id, 2)
    } else if let Some(b"retry") = line.first_chunk::<5>() {
        (Field::Retry, 5)
    } else {
        return None;
    };
    match line.get(name_len..) {
        Some([b':', b' ', ..]) => Some((field, name_len + 2)),
        Some([b':', ..]) => Some((field, name_len + 1)),
        Some([]) => Some((field, name_len)),
        _ => None,
    }
}

/// Returns the length of `data:` or `data: ` at the start of an incomplete line, 0 for other lines and if the next byte
/// decides.
pub(crate) fn data_prefix(beginning: &[u8]) -> usize {
    match beginning {
        [b'd', b'a', b't', b'a', b':', b' ', ..] => 6,
        [b'd', b'a', b't', b'a', b':', _, ..] => 5,
        _ => 0,
    }
}

/// Classification of an incomplete line by its first bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LinePrefix {
    /// Prefix of a known name.
    Undecided,
    /// Known name and colon.
    Field,
    /// Comment.
    Comment,
    /// Unknown name.
    Unknown,
}

/// Classifies an incomplete line. `beginning` is not empty.
pub(crate) fn classify_prefix(beginning: &[u8]) -> LinePrefix {
    if beginning.first() == Some(&b':') {
        return LinePrefix::Comment;
    }
    for (name, _) in Field::ALL {
        if name.starts_with(beginning) {
            return LinePrefix::Undecided;
        }
        if let Some(after) = beginning.strip_prefix(name) {
            return if after.first() == Some(&b':') { LinePrefix::Field } else { LinePrefix::Unknown };
        }
    }
    LinePrefix::Unknown
}

/// Parses the value of a `retry` field in milliseconds: ASCII digits only. Returns `None`, so that the field is
/// ignored, for an empty or malformed value and for one above `u64::MAX`.
pub(crate) fn retry_millis(value: &[u8]) -> Option<u64> {
    if value.is_empty() || !value.iter().all(u8::is_ascii_digit) {
        return None;
    }
    core::str::from_utf8(value).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn field_names_are_matched_exactly() {
        for line in [
            "Data: x",
            " data: x",
            "data : x",
            "data\0: x",
            "datax",
            "dat",
            "",
            ":data",
            "ids",
            "retr",
            "events:",
        ] {
            assert_eq!(split(line.as_bytes()), None, "{line:?}");
        }
        for (line, expected) in [
            ("data", (Field::Data, 4)),
            ("data:", (Field::Data, 5)),
            ("data: x", (Field::Data, 6)),
            ("data:  x", (Field::Data, 6)),
            ("data:\tx", (Field::Data, 5)),
            ("data::", (Field::Data, 5)),
            ("id:7", (Field::Id, 3)),
            ("event", (Field::Event, 5)),
            ("retry: 1", (Field::Retry, 7)),
        ] {
            assert_eq!(split(line.as_bytes()), Some(expected), "{line:?}");
        }
    }

    #[test]
    fn the_class_of_a_prefix_agrees_with_the_complete_line() {
        for line in [
            "data: x", "data", "datax: 1", "event:1", "eventual", "id", "idx", "retry:", "retries", ":c", "x",
        ] {
            let line = line.as_bytes();
            for end in 1..=line.len() {
                match classify_prefix(&line[..end]) {
                    LinePrefix::Undecided => {}
                    LinePrefix::Field => assert!(split(line).is_some(), "{line:?} {end}"),
                    LinePrefix::Comment | LinePrefix::Unknown => {
                        assert!(split(line).is_none(), "{line:?} {end}")
                    }
                }
            }
        }
    }

    #[test]
    fn retry_values_consist_of_digits() {
        assert_eq!(retry_millis(b"007"), Some(7));
        assert_eq!(retry_millis(b"18446744073709551615"), Some(u64::MAX));
        for bad in ["", "+5", "-1", " 5", "5 ", "1.5", "0x10", "18446744073709551616", "\u{663}"] {
            assert_eq!(retry_millis(bad.as_bytes()), None, "{bad:?}");
        }
    }
}
