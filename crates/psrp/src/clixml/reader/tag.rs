//! The elements of CLIXML.

use quick_xml::events::BytesStart;

use super::attributes::Attributes;
use crate::Error;
use crate::value::ContainerKind;

/// The meaning of an element, except inside progress records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tag {
    Primitive(Primitive),
    Progress,
    Object,
    Reference,
    TypeNames,
    TypeNamesReference,
    ToString,
    Adapted,
    Extended,
    Items(ContainerKind),
    Dictionary,
    Entry,
    Document,
    Unknown,
}

/// The primitive types (MS-PSRP 2.2.5.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Primitive {
    Nil,
    String,
    Char,
    Bool,
    DateTime,
    TimeSpan,
    Byte,
    SByte,
    UInt16,
    Int16,
    UInt32,
    Int32,
    UInt64,
    Int64,
    Single,
    Double,
    Decimal,
    Bytes,
    Guid,
    Uri,
    Version,
    Xml,
    ScriptBlock,
    SecureString,
    SemanticVersion,
}

impl Tag {
    /// Parses the beginning of a start tag. Returns the element, its name, and the rest after the name.
    #[inline]
    pub(super) fn read(input: &str) -> Option<(Self, &str, &str)> {
        let input = input.strip_prefix('<')?;
        let (name, rest) = input.split_at_checked(name_length(input.as_bytes())?)?;
        Some((Self::of(name.as_bytes()), name, rest))
    }

    /// Looks up an element name. Names with a namespace prefix are unknown, whatever their namespace.
    pub(super) fn of(name: &[u8]) -> Self {
        use Primitive::*;

        let primitive = match name {
            b"S" => String,
            b"I32" => Int32,
            b"B" => Bool,
            b"Nil" => Nil,
            b"Obj" => return Self::Object,
            b"Ref" => return Self::Reference,
            b"TN" => return Self::TypeNames,
            b"TNRef" => return Self::TypeNamesReference,
            b"ToString" => return Self::ToString,
            b"Props" => return Self::Adapted,
            b"MS" => return Self::Extended,
            b"LST" => return Self::Items(ContainerKind::List),
            b"IE" => return Self::Items(ContainerKind::Enumerable),
            b"QUE" => return Self::Items(ContainerKind::Queue),
            b"STK" => return Self::Items(ContainerKind::Stack),
            b"DCT" => return Self::Dictionary,
            b"En" => return Self::Entry,
            b"PR" => return Self::Progress,
            b"Objs" => return Self::Document,
            b"C" => Char,
            b"DT" => DateTime,
            b"TS" => TimeSpan,
            b"By" => Byte,
            b"SB" => SByte,
            b"U16" => UInt16,
            b"I16" => Int16,
            b"U32" => UInt32,
            b"U64" => UInt64,
            b"I64" => Int64,
            b"Sg" => Single,
            b"Db" => Double,
            b"D" => Decimal,
            b"BA" => Bytes,
            b"G" => Guid,
            b"URI" => Uri,
            b"Version" => Version,
            b"XD" => Xml,
            b"SBK" => ScriptBlock,
            b"SS" => SecureString,
            b"SemanticVersion" => SemanticVersion,
            _ => return Self::Unknown,
        };
        Self::Primitive(primitive)
    }
}

/// A start tag.
pub(super) struct StartTag<'s> {
    pub(super) tag: Tag,
    pub(super) attributes: Attributes<'s>,
    pub(super) is_empty: bool,
}

impl<'s> StartTag<'s> {
    /// Converts a tag of the XML reader. Fails for malformed attributes.
    pub(super) fn new(start: &'s BytesStart<'_>, is_empty: bool) -> Result<Self, Error> {
        let tag = Tag::of(start.name().into_inner().as_bytes());
        Ok(Self { tag, attributes: Attributes::parse(start.attributes_raw())?, is_empty })
    }
}

/// Returns the number of bytes before the first one that ends a name or does not occur in CLIXML names.
#[inline]
fn name_length(input: &[u8]) -> Option<usize> {
    const LOW: u64 = u64::from_le_bytes([1; 8]);
    if let Some(chunk) = input.first_chunk() {
        // The lowest byte whose high bit is set in `ends` is below `0`, or is `>`.
        let word = u64::from_le_bytes(*chunk);
        let bracket = word ^ (LOW * u64::from(b'>'));
        let below = word.wrapping_sub(LOW * u64::from(b'0')) & !word;
        let ends = (below | bracket.wrapping_sub(LOW) & !bracket) & (LOW << 7);
        if ends != 0 {
            return Some(ends.trailing_zeros() as usize / 8);
        }
    }
    let longest = b"SemanticVersion".len();
    input.iter().take(longest + 1).position(|&byte| byte < b'0' || byte == b'>')
}
