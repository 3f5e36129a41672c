//! Parsing of GUIDs in the text formats of .NET.

use uuid::Uuid;

/// Parses a GUID in any format that .NET reads: 32 digits, optionally with hyphens; with hyphens in braces or
/// parentheses; or as numbers, `{0x..,0x..,0x..,{0x..,..}}`. Surrounding white space is ignored.
pub(crate) fn parse(text: &[u8]) -> Option<Uuid> {
    let text = text.trim_ascii();
    match text {
        // The usual format; no other has this length.
        _ if text.len() == 36 => Uuid::try_parse_ascii(text).ok(),
        _ if text.len() == 32 => Uuid::try_parse_ascii(text).ok(),
        [b'{', inner @ .., b'}'] | [b'(', inner @ .., b')'] if inner.len() == 36 && inner[8] == b'-' => {
            Uuid::try_parse_ascii(inner).ok()
        }
        [b'{', ..] => numbers(text),
        _ => None,
    }
}

/// Parses the numeric format, with white space anywhere.
fn numbers(text: &[u8]) -> Option<Uuid> {
    let mut rest = text.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).peekable();
    let mut numbers = [0_u32; 11];
    let max = |index| match index {
        0 => u32::MAX,
        1 | 2 => 0xFFFF,
        _ => 0xFF,
    };
    for (index, number) in numbers.iter_mut().enumerate() {
        let before: &[u8] = match index {
            0 => b"{0x",
            3 => b",{0x",
            _ => b",0x",
        };
        for &expected in before {
            let byte = rest.next()?;
            if !byte.eq_ignore_ascii_case(&expected) {
                return None;
            }
        }
        let mut digits = 0;
        while let Some(digit) = rest.peek().and_then(|byte| char::from(*byte).to_digit(16)) {
            rest.next();
            digits += 1;
            if digits > 8 {
                return None;
            }
            *number = *number << 4 | digit;
        }
        if digits == 0 || *number > max(index) {
            return None;
        }
    }
    if !rest.eq(*b"}}") {
        return None;
    }
    let [a, b, c, tail @ ..] = numbers;
    Some(Uuid::from_fields(a, b as u16, c as u16, &tail.map(|byte| byte as u8)))
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
            "{0xa1b2c3d4,0xe5f6,0x4718,{0x82,0x93,0xa4,0xb5,0xc6,0xd7,0xe8,0xf9}}",
            "{0xA1B2C3D4, 0xE5F6, 0X4718, { 0x82, 0x93, 0xa4, 0xb5, 0xc6, 0xd7, 0xe8, 0xf9 } }",
        ] {
            assert_eq!(parse(text.as_bytes()), Some(expected), "{text}");
        }
        assert_eq!(
            parse(b"{0x1,0x2,0x3,{0x4,0x5,0x6,0x7,0x8,0x9,0xa,0xb}}"),
            Some(Uuid::from_u128(0x00000001_0002_0003_0405_060708090a0b))
        );
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
            "urn:uuid:a1b2c3d4-e5f6-4718-8293-a4b5c6d7e8f9",
            "{0xa1b2c3d4,0xe5f60,0x4718,{0x82,0x93,0xa4,0xb5,0xc6,0xd7,0xe8,0xf9}}",
            "{0xa1b2c3d4,0xe5f6,0x4718,{0x82,0x93,0xa4,0xb5,0xc6,0xd7,0xe8}}",
            "{0x,0xe5f6,0x4718,{0x82,0x93,0xa4,0xb5,0xc6,0xd7,0xe8,0xf9}}",
            "{0x000000001,0x2,0x3,{0x4,0x5,0x6,0x7,0x8,0x9,0xa,0xb}}",
            "{",
            "{}",
            "(a1b2c3d4-e5f6-4718-8293-a4b5c6d7e8f9}",
            "\u{e4}1b2c3d4-e5f6-4718-8293-a4b5c6d7e8f",
        ] {
            assert_eq!(parse(text.as_bytes()), None, "{text}");
        }
    }
}
