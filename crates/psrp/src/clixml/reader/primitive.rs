//! Primitive values from the text of their elements (MS-PSRP 2.2.5.1).

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use uuid::Uuid;

use super::attributes::is_blank;
use super::tag::Primitive;
use super::text::Text;
use crate::Error;
use crate::clixml::number;
use crate::crypto::Cipher;
use crate::error::Kind;
use crate::value::{SecureString, Value};

/// As lenient as .NET: bits after the last byte need not be zero.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::RequireCanonical),
);

/// The value of a primitive element.
///
/// # Errors
///
/// A text that is no value of the type; a secure string that the cipher refuses.
pub(super) fn value(tag: Primitive, text: Text<'_>, cipher: Option<&dyn Cipher>) -> Result<Value, Error> {
    let value = match tag {
        Primitive::String | Primitive::SemanticVersion => Value::String(text.into_string()),
        Primitive::Uri => Value::Uri(text.into_string()),
        Primitive::Xml => Value::Xml(text.into_string()),
        Primitive::ScriptBlock => Value::ScriptBlock(text.into_string()),
        Primitive::Bytes => Value::Bytes(bytes(text.plain()?)?),
        Primitive::SecureString => {
            let string = SecureString::from_encrypted(bytes(text.plain()?)?);
            if let Some(cipher) = cipher {
                string.decrypt(cipher)?;
            }
            Value::SecureString(string)
        }
        _ => plain(tag, trim(text.plain()?))?,
    };
    Ok(value)
}

/// The values around which blanks mean nothing.
fn plain(tag: Primitive, text: &str) -> Result<Value, Error> {
    let value = match tag {
        Primitive::Nil if text.is_empty() => Value::Nil,
        Primitive::Nil => return Err(invalid("a text in a null")),
        Primitive::Int32 => Value::Int32(integer(text)?),
        Primitive::Bool => Value::Bool(match text {
            "true" | "1" => true,
            "false" | "0" => false,
            _ => return Err(invalid("no boolean")),
        }),
        Primitive::Char => Value::Char(integer(text)?),
        Primitive::SByte => Value::SByte(integer(text)?),
        Primitive::Byte => Value::Byte(integer(text)?),
        Primitive::Int16 => Value::Int16(integer(text)?),
        Primitive::UInt16 => Value::UInt16(integer(text)?),
        Primitive::UInt32 => Value::UInt32(integer(text)?),
        Primitive::Int64 => Value::Int64(integer(text)?),
        Primitive::UInt64 => Value::UInt64(integer(text)?),
        Primitive::Single => Value::Single(number::parse(text).ok_or_else(|| invalid("no number"))?),
        Primitive::Double => Value::Double(number::parse(text).ok_or_else(|| invalid("no number"))?),
        Primitive::Decimal => Value::Decimal(text.parse()?),
        Primitive::DateTime => Value::DateTime(text.parse()?),
        Primitive::TimeSpan => Value::TimeSpan(text.parse()?),
        Primitive::Version => Value::Version(text.parse()?),
        Primitive::Guid => Value::Guid(guid(text)?),
        _ => unreachable!("strings and bytes are read by the caller"),
    };
    Ok(value)
}

/// Without the white space of XML around it.
fn trim(text: &str) -> &str {
    text.trim_matches(|char: char| u8::try_from(char).is_ok_and(is_blank))
}

/// Decimal digits after an optional sign.
pub(super) fn integer<T: TryFrom<i128>>(text: &str) -> Result<T, Error> {
    let (negative, digits) = match text.as_bytes() {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] => (false, digits),
        digits => (false, digits),
    };
    let magnitude = magnitude(digits).map(i128::from);
    magnitude
        .and_then(|magnitude| T::try_from(if negative { -magnitude } else { magnitude }).ok())
        .ok_or_else(|| invalid("no integer of its type"))
}

fn magnitude(digits: &[u8]) -> Option<u64> {
    let digit = |byte: &u8| byte.is_ascii_digit().then(|| u64::from(byte - b'0'));
    if digits.is_empty() {
        return None;
    }
    // Nineteen digits always fit.
    let (head, tail) = digits.split_at(digits.len().min(19));
    let head = head.iter().try_fold(0, |number: u64, byte| Some(number * 10 + digit(byte)?))?;
    tail.iter().try_fold(head, |number, byte| number.checked_mul(10)?.checked_add(digit(byte)?))
}

/// The forms N, D, B and P of .NET: digits alone, with hyphens, and these in braces or parentheses.
fn guid(text: &str) -> Result<Uuid, Error> {
    let inner = match text.as_bytes() {
        [b'{', .., b'}'] | [b'(', .., b')'] => &text[1..text.len() - 1],
        _ => text,
    };
    let expected = if inner.len() == text.len() { &[32, 36][..] } else { &[36] };
    if !expected.contains(&inner.len()) {
        return Err(invalid("no GUID"));
    }
    Uuid::try_parse(inner).map_err(|_| invalid("no GUID"))
}

/// Base64, in which white space means nothing.
fn bytes(text: &str) -> Result<Box<[u8]>, Error> {
    if text.bytes().any(is_blank) {
        let dense: Vec<u8> = text.bytes().filter(|byte| !is_blank(*byte)).collect();
        return dense_bytes(&dense);
    }
    dense_bytes(text.as_bytes())
}

fn dense_bytes(text: &[u8]) -> Result<Box<[u8]>, Error> {
    let padding = text.iter().rev().take(2).filter(|byte| **byte == b'=').count();
    let length = (text.len() / 4 * 3).saturating_sub(padding);
    let mut bytes = vec![0; length].into_boxed_slice();
    match BASE64.decode_slice(text, &mut bytes) {
        Ok(written) if written == length => Ok(bytes),
        _ => Err(invalid("no base64")),
    }
}

fn invalid(what: &'static str) -> Error {
    Error::with(Kind::InvalidText, what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_exact() {
        assert_eq!(integer::<u64>("18446744073709551615").unwrap(), u64::MAX);
        assert_eq!(integer::<i64>("-9223372036854775808").unwrap(), i64::MIN);
        assert_eq!(integer::<i32>("+007").unwrap(), 7);
        assert_eq!(integer::<u8>("-0").unwrap(), 0);
        assert_eq!(integer::<i8>("0000000000000000000000000000001").unwrap(), 1);
        for text in ["18446744073709551616", "99999999999999999999999", "", "-", "+-1", "1 2", "1e1", "0x1"] {
            assert!(integer::<u64>(text).unwrap_err().is_invalid_text(), "{text}");
        }
        assert!(integer::<i64>("9223372036854775808").is_err());
        assert!(integer::<u8>("-1").is_err());
    }

    #[test]
    fn guids_come_in_four_forms() {
        for text in [
            "00112233-4455-6677-8899-aabbccddeeff",
            "00112233445566778899AABBCCDDEEFF",
            "{00112233-4455-6677-8899-aabbccddeeff}",
            "(00112233-4455-6677-8899-aabbccddeeff)",
        ] {
            assert_eq!(guid(text).unwrap().as_u128(), 0x0011_2233_4455_6677_8899_aabb_ccdd_eeff);
        }
        for text in [
            "",
            "{}",
            "{",
            "{00112233445566778899aabbccddeeff}",
            "(00112233-4455-6677-8899-aabbccddeeff}",
            "urn:uuid:00112233-4455-6677-8899-aabbccddeeff",
            "00112233-4455-6677-8899-aabbccddeef",
            "\u{e4}0112233-4455-6677-8899-aabbccddeef",
        ] {
            assert!(guid(text).unwrap_err().is_invalid_text(), "{text}");
        }
    }

    #[test]
    fn base64_may_be_wrapped() {
        assert_eq!(&*bytes(" YW\r\n Jj\n").unwrap(), b"abc");
        assert_eq!(&*bytes("YWI=").unwrap(), b"ab");
        assert_eq!(&*bytes("YQ==").unwrap(), b"a");
        assert_eq!(&*bytes("YR==").unwrap(), b"a");
        assert_eq!(&*bytes("  ").unwrap(), b"");
        for text in ["!!!", "YQ", "YQ=", "Y", "=", "==", "====", "YQ==YQ==", "YWJj=", "Y\u{e4}=="] {
            assert!(bytes(text).unwrap_err().is_invalid_text(), "{text}");
        }
    }
}
