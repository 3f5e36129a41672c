//! Parsing of primitive values and progress records (MS-PSRP 2.2.5.1).

use super::markup::Source;
use super::tag::Primitive;
use super::text::Text;
use crate::clixml::ReadOptions;
use crate::error::Kind;
use crate::value::{Progress, SecureString, Value, ascii};
use crate::{Error, b64, guid};

/// Parses the text of a primitive element. Fails if the text is not a value of the type, and if the cipher can't
/// decrypt a secure string.
pub(super) fn value(tag: Primitive, text: Text<'_>, options: &ReadOptions) -> Result<Value, Error> {
    let value = match tag {
        Primitive::String | Primitive::SemanticVersion => Value::String(text.into_string()),
        Primitive::Uri => Value::Uri(text.into_string()),
        Primitive::Xml => Value::Xml(text.into_string()),
        Primitive::ScriptBlock => Value::ScriptBlock(text.into_string()),
        Primitive::Bytes => Value::Bytes(bytes(text.plain()?)?),
        Primitive::SecureString => {
            let bytes = bytes(text.plain()?)?;
            if options.has_clear_secrets {
                let secret = SecureString::from_utf16le(bytes).ok_or_else(|| invalid("not UTF-16"))?;
                return Ok(Value::SecureString(secret));
            }
            let secret = SecureString::from_encrypted(bytes);
            if let Some(cipher) = &options.cipher {
                secret.decrypt(&**cipher)?;
            }
            Value::SecureString(secret)
        }
        _ => plain(tag, ascii::trim(text.plain()?))?,
    };
    Ok(value)
}

/// Parses types whose values may be surrounded by white space.
fn plain(tag: Primitive, text: &str) -> Result<Value, Error> {
    let value = match tag {
        Primitive::Nil if text.is_empty() => Value::Nil,
        Primitive::Nil => return Err(invalid("text in a null")),
        Primitive::Int32 => Value::Int32(integer(text)?),
        Primitive::Bool => Value::Bool(match text {
            "true" | "1" => true,
            "false" | "0" => false,
            _ => return Err(invalid("not a boolean")),
        }),
        Primitive::Char => Value::Char(integer(text)?),
        Primitive::SByte => Value::SByte(integer(text)?),
        Primitive::Byte => Value::Byte(integer(text)?),
        Primitive::Int16 => Value::Int16(integer(text)?),
        Primitive::UInt16 => Value::UInt16(integer(text)?),
        Primitive::UInt32 => Value::UInt32(integer(text)?),
        Primitive::Int64 => Value::Int64(integer(text)?),
        Primitive::UInt64 => Value::UInt64(integer(text)?),
        Primitive::Single => Value::Single(text.parse().map_err(|_| invalid("not a number"))?),
        Primitive::Double => Value::Double(text.parse().map_err(|_| invalid("not a number"))?),
        Primitive::Decimal => Value::Decimal(text.parse()?),
        Primitive::DateTime => Value::DateTime(text.parse()?),
        Primitive::TimeSpan => Value::TimeSpan(text.parse()?),
        Primitive::Version => Value::Version(text.parse()?),
        Primitive::Guid => Value::Guid(guid::parse(text.as_bytes()).ok_or_else(|| invalid("not a GUID"))?),
        _ => unreachable!("strings and bytes are read by the caller"),
    };
    Ok(value)
}

/// Parses decimal digits after an optional sign.
pub(super) fn integer<T: TryFrom<i128>>(text: &str) -> Result<T, Error> {
    let (negative, digits) = match text.as_bytes() {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] => (false, digits),
        digits => (false, digits),
    };
    let magnitude = magnitude(digits).map(i128::from);
    magnitude
        .and_then(|magnitude| T::try_from(if negative { -magnitude } else { magnitude }).ok())
        .ok_or_else(|| invalid("not an integer of its type"))
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

/// Decodes Base64, ignoring white space.
fn bytes(text: &str) -> Result<Box<[u8]>, Error> {
    b64::decode_to_box(text.as_bytes()).ok_or_else(|| invalid("not Base64"))
}

fn invalid(what: &'static str) -> Error {
    Error::with(Kind::InvalidText, what)
}

/// Reads the progress record, `<PR>`, whose start tag was just read. Its elements have special names.
///
/// The elements may be in any order, and later ones replace earlier ones. All are required except the current
/// operation.
pub(super) fn progress_record(source: &mut Source<'_>) -> Result<Progress, Error> {
    let mut record = Progress::new(0, "", "");
    let mut missing = vec!["AV", "AI", "PI", "PC", "T", "SR", "SD"];
    while let Some((name, text)) = source.text_element()? {
        missing.retain(|required| *required != name);
        set(&mut record, name, text).map_err(|error| error.or_offset(source.offset()))?;
    }
    if missing.is_empty() { Ok(record) } else { Err(source.structure("an incomplete progress record")) }
}

/// Sets the field of a progress record with this element name.
fn set(record: &mut Progress, name: &str, text: Text<'_>) -> Result<(), Error> {
    let number = |text: &Text<'_>| integer(text.plain()?.trim());
    match name {
        "AV" => record.activity = text.into_string(),
        "AI" => record.activity_id = number(&text)?,
        "S" => record.current_operation = Some(text.into_string()),
        "Nil" => record.current_operation = None,
        "PI" => record.parent_activity_id = number(&text)?,
        "PC" => record.percent_complete = number(&text)?,
        "T" => match text.plain()? {
            name if name.eq_ignore_ascii_case("Processing") => record.completed = false,
            name if name.eq_ignore_ascii_case("Completed") => record.completed = true,
            _ => return Err(Error::with(Kind::Structure, "an unknown type of progress record")),
        },
        "SR" => record.seconds_remaining = number(&text)?,
        "SD" => record.status_description = text.into_string(),
        _ => return Err(Error::with(Kind::Structure, "an unknown element in a progress record")),
    }
    Ok(())
}
