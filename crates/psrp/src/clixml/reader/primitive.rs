//! Parsing of primitive values and progress records (MS-PSRP 2.2.5.1).

use quick_xml::events::Event;

use super::markup::Source;
use super::tag::Primitive;
use super::text::Text;
use crate::clixml::ReadOptions;
use crate::error::Kind;
use crate::value::{Progress, PsString, SecureString, Value, ascii};
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
    let mut fields = Fields::default();
    loop {
        source.rest();
        let event = source.next()?;
        let at = source.offset();
        let (start, text) = match event {
            Event::Start(start) => (start, source.text()?),
            Event::Empty(start) => (start, Text::Raw("")),
            Event::End(_) => {
                return fields.record().ok_or_else(|| source.structure("an incomplete progress record"));
            }
            event => {
                source.expect_comment(&event)?;
                continue;
            }
        };
        fields.set(start.name().as_ref(), text, source).map_err(|error| error.or_offset(at))?;
    }
}

#[derive(Default)]
struct Fields {
    activity: Option<PsString>,
    activity_id: Option<i32>,
    status_description: Option<PsString>,
    current_operation: Option<PsString>,
    parent_activity_id: Option<i32>,
    percent_complete: Option<i32>,
    completed: Option<bool>,
    seconds_remaining: Option<i32>,
}

impl Fields {
    fn set(&mut self, name: &str, text: Text<'_>, source: &Source<'_>) -> Result<(), Error> {
        let number = |text: &Text<'_>| integer(text.plain()?.trim()).map(Some);
        match name {
            "AV" => self.activity = Some(text.into_string()),
            "AI" => self.activity_id = number(&text)?,
            "S" => self.current_operation = Some(text.into_string()),
            "Nil" => self.current_operation = None,
            "PI" => self.parent_activity_id = number(&text)?,
            "PC" => self.percent_complete = number(&text)?,
            "T" => {
                self.completed = Some(match text.plain()? {
                    name if name.eq_ignore_ascii_case("Processing") => false,
                    name if name.eq_ignore_ascii_case("Completed") => true,
                    _ => return Err(source.structure("an unknown type of progress record")),
                });
            }
            "SR" => self.seconds_remaining = number(&text)?,
            "SD" => self.status_description = Some(text.into_string()),
            _ => return Err(source.structure("an unknown element in a progress record")),
        }
        Ok(())
    }

    fn record(self) -> Option<Progress> {
        Some(Progress {
            activity: self.activity?,
            activity_id: self.activity_id?,
            status_description: self.status_description?,
            current_operation: self.current_operation,
            parent_activity_id: self.parent_activity_id?,
            percent_complete: self.percent_complete?,
            completed: self.completed?,
            seconds_remaining: self.seconds_remaining?,
        })
    }
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
    fn floating_point_numbers_have_all_notations_of_dotnet() {
        for (text, expected) in [
            ("1e5", 1e5),
            ("1E+5", 1e5),
            ("+.5", 0.5),
            ("5.", 5.0),
            ("inf", f64::INFINITY),
            ("+INF", f64::INFINITY),
            ("-Infinity", f64::NEG_INFINITY),
            ("1e999", f64::INFINITY),
            ("-0", -0.0),
        ] {
            assert_eq!(plain(Primitive::Double, text).unwrap(), Value::Double(expected), "{text}");
        }
        assert!(matches!(plain(Primitive::Single, "nan").unwrap(), Value::Single(number) if number.is_nan()));
        for text in ["", "-", ".", "e5", "1e", "0x1", "1_0", "--1", "infinit", "1 2", "1,5", "\u{661}"] {
            assert!(plain(Primitive::Double, text).unwrap_err().is_invalid_text(), "{text}");
        }
    }
}
