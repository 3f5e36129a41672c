//! Parsing of GUIDs in the text formats of .NET, and new ones.

use uuid::Uuid;

/// Parses a GUID in the formats N, D, B and P of .NET: 32 digits, optionally with hyphens, and with hyphens in braces
/// or parentheses. Surrounding white space is ignored.
pub(crate) fn parse(text: &[u8]) -> Option<Uuid> {
    let text = match text.trim_ascii() {
        [b'{', inner @ .., b'}'] | [b'(', inner @ .., b')'] if inner.len() == 36 => inner,
        text => text,
    };
    // Other lengths are formats that only `Uuid` reads.
    if matches!(text.len(), 32 | 36) { Uuid::try_parse_ascii(text).ok() } else { None }
}

#[cfg(test)]
thread_local! {
    /// Next identifier of a simulation, whose identifiers and their order only depend on its seed.
    pub(crate) static SIMULATED: std::cell::Cell<Option<u128>> = const { std::cell::Cell::new(None) };
}

/// Returns a random GUID.
pub(crate) fn random() -> Uuid {
    #[cfg(test)]
    if let Some(next) = SIMULATED.get() {
        SIMULATED.set(Some(next + 1));
        return Uuid::from_u128(next);
    }
    Uuid::new_v4()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_formats_give_the_same_guid() {
        let expected = Uuid::from_u128(0xa1b2c3d4_e5f6_4718_8293_a4b5c6d7e8f9);
        for text in [
            "a1b2c3d4-e5f6-4718-8293-a4b5c6d7e8f9",
            " A1B2C3D4-E5F6-4718-8293-A4B5C6D7E8F9 ",
            "a1b2c3d4e5f647188293a4b5c6d7e8f9",
            "{a1b2c3d4-e5f6-4718-8293-a4b5c6d7e8f9}",
            "(a1b2c3d4-e5f6-4718-8293-a4b5c6d7e8f9)",
        ] {
            assert_eq!(parse(text.as_bytes()), Some(expected), "{text}");
        }
    }

    #[test]
    fn malformed_text_is_rejected() {
        for text in [
            "",
            "xyz",
            "a1b2c3d4-e5f6-4718-8293-a4b5c6d7e8f",
            "a1b2c3d4-e5f6-4718-8293-a4b5c6d7e8fg",
            "{a1b2c3d4-e5f6-4718-8293-a4b5c6d7e8f9)",
            "{a1b2c3d4e5f647188293a4b5c6d7e8f9}",
            "{0xa1b2c3d4,0xe5f6,0x4718,{0x82,0x93,0xa4,0xb5,0xc6,0xd7,0xe8,0xf9}}",
            "urn:uuid:a1b2c3d4-e5f6-4718-8293-a4b5c6d7e8f9",
            "{",
            "{}",
            "(a1b2c3d4-e5f6-4718-8293-a4b5c6d7e8f9}",
            "\u{e4}1b2c3d4-e5f6-4718-8293-a4b5c6d7e8f",
        ] {
            assert_eq!(parse(text.as_bytes()), None, "{text}");
        }
    }
}
