//! Detection and conversion of file encodings.

use crate::Error;
use crate::error::Kind;

/// Converts a document in UTF-8 or UTF-16 to UTF-8.
///
/// UTF-16 is detected by its byte order mark, or by the zero byte of the `<` at the start. A byte order mark is
/// preserved as U+FEFF. UTF-8 is not validated here.
pub(super) fn to_utf8(bytes: Vec<u8>) -> Result<Vec<u8>, Error> {
    let unit = match *bytes {
        [0xFF, 0xFE, ..] | [b'<', 0, ..] => u16::from_le_bytes,
        [0xFE, 0xFF, ..] | [0, b'<', ..] => u16::from_be_bytes,
        _ => return Ok(bytes),
    };
    let (pairs, rest) = bytes.as_chunks::<2>();
    if !rest.is_empty() {
        return Err(Error::with(Kind::Syntax, "truncated UTF-16 code unit").or_offset(bytes.len() as u64 - 1));
    }
    let mut text = String::with_capacity(pairs.len());
    let mut at = 0;
    for char in char::decode_utf16(pairs.iter().map(|pair| unit(*pair))) {
        let char = char.map_err(|_| Error::with(Kind::Syntax, "lone surrogate in UTF-16").or_offset(at))?;
        at += char.len_utf16() as u64 * 2;
        text.push(char);
    }
    Ok(text.into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn utf16(text: &str, to_bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
        text.encode_utf16().flat_map(to_bytes).collect()
    }

    #[test]
    fn both_byte_orders_are_detected() {
        for text in ["\u{FEFF}<S>\u{e9}\u{1F600}</S>", "<S>x</S>", "\u{FEFF}"] {
            assert_eq!(to_utf8(utf16(text, u16::to_le_bytes)).unwrap(), text.as_bytes());
            assert_eq!(to_utf8(utf16(text, u16::to_be_bytes)).unwrap(), text.as_bytes());
        }
        for text in ["\u{FEFF}<S>x</S>", "<S>x</S>", "", "<"] {
            assert_eq!(to_utf8(text.as_bytes().to_vec()).unwrap(), text.as_bytes());
        }
    }

    #[test]
    fn malformed_utf16_is_rejected() {
        let error = to_utf8(vec![0xFF, 0xFE, b'<', 0, b'S']).unwrap_err();
        assert!(error.is_syntax());
        assert_eq!(error.offset(), Some(4));
        let error = to_utf8(vec![0xFF, 0xFE, 0x3D, 0xD8, b'<', 0]).unwrap_err();
        assert!(error.is_syntax());
        assert_eq!(error.offset(), Some(2));
    }
}
