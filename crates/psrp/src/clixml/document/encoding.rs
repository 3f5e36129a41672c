//! From the encodings of files to UTF-8.

use crate::Error;
use crate::error::Kind;

/// The text in UTF-8: as it is, or translated from UTF-16.
///
/// UTF-16 is told by its mark, or by the zero that is half of the `<` at the start. A mark stays, as U+FEFF.
pub(super) fn to_utf8(bytes: Vec<u8>) -> Result<Vec<u8>, Error> {
    let unit = match *bytes {
        [0xFF, 0xFE, ..] | [b'<', 0, ..] => u16::from_le_bytes,
        [0xFE, 0xFF, ..] | [0, b'<', ..] => u16::from_be_bytes,
        _ => return Ok(bytes),
    };
    let (pairs, rest) = bytes.as_chunks::<2>();
    if !rest.is_empty() {
        return Err(Error::with(Kind::Syntax, "half a unit of UTF-16").or_offset(bytes.len() as u64 - 1));
    }
    let mut text = String::with_capacity(pairs.len());
    let mut at = 0;
    for char in char::decode_utf16(pairs.iter().map(|pair| unit(*pair))) {
        let char = char.map_err(|_| Error::with(Kind::Syntax, "half a pair of UTF-16").or_offset(at))?;
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
    fn both_byte_orders_are_known() {
        for text in ["\u{FEFF}<S>\u{e9}\u{1F600}</S>", "<S>x</S>", "\u{FEFF}"] {
            assert_eq!(to_utf8(utf16(text, u16::to_le_bytes)).unwrap(), text.as_bytes());
            assert_eq!(to_utf8(utf16(text, u16::to_be_bytes)).unwrap(), text.as_bytes());
        }
        for text in ["\u{FEFF}<S>x</S>", "<S>x</S>", "", "<"] {
            assert_eq!(to_utf8(text.as_bytes().to_vec()).unwrap(), text.as_bytes());
        }
    }

    #[test]
    fn broken_units_are_refused() {
        let error = to_utf8(vec![0xFF, 0xFE, b'<', 0, b'S']).unwrap_err();
        assert!(error.is_syntax());
        assert_eq!(error.offset(), Some(4));
        let error = to_utf8(vec![0xFF, 0xFE, 0x3D, 0xD8, b'<', 0]).unwrap_err();
        assert!(error.is_syntax());
        assert_eq!(error.offset(), Some(2));
    }
}
