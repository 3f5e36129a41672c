//! The elements of CLIXML, and a fast path for tags of elements that contain elements.
//!
//! An object consists of three such elements around its members. Tags that differ from the usual form are left to the
//! XML reader.

use memchr::memchr;

use super::super::writer::START;
use super::attributes::{Attributes, BLANKS};
use super::leaf;
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

/// Defines the primitive types and the lookup of all elements.
macro_rules! primitives {
    ($($name:literal => $primitive:ident,)*) => {
        /// The primitive types (MS-PSRP 2.2.5.1).
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Primitive {
            $($primitive,)*
        }

        impl Tag {
            /// Looks up an element name. Names with a namespace prefix are unknown, whatever their namespace.
            pub(super) fn of(name: &[u8]) -> Self {
                match name {
                    $($name => Self::Primitive(Primitive::$primitive),)*
                    b"Obj" => Self::Object,
                    b"Ref" => Self::Reference,
                    b"TN" => Self::TypeNames,
                    b"TNRef" => Self::TypeNamesReference,
                    b"ToString" => Self::ToString,
                    b"Props" => Self::Adapted,
                    b"MS" => Self::Extended,
                    b"LST" => Self::Items(ContainerKind::List),
                    b"IE" => Self::Items(ContainerKind::Enumerable),
                    b"QUE" => Self::Items(ContainerKind::Queue),
                    b"STK" => Self::Items(ContainerKind::Stack),
                    b"DCT" => Self::Dictionary,
                    b"En" => Self::Entry,
                    b"PR" => Self::Progress,
                    b"Objs" => Self::Document,
                    _ => Self::Unknown,
                }
            }
        }
    };
}

primitives! {
    b"S" => String,
    b"I32" => Int32,
    b"B" => Bool,
    b"Nil" => Nil,
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
}

impl Tag {
    /// Parses the beginning of a start tag. Returns the element, its name, and the rest after the name.
    #[inline]
    pub(super) fn read(input: &str) -> Option<(Self, &str, &str)> {
        let input = input.strip_prefix('<')?;
        let (name, rest) = input.split_at_checked(name_length(input.as_bytes())?)?;
        Some((Self::of(name.as_bytes()), name, rest))
    }
}

/// A start tag.
pub(super) struct StartTag<'s> {
    pub(super) tag: Tag,
    pub(super) attributes: Attributes<'s>,
    pub(super) is_empty: bool,
}

impl<'a> StartTag<'a> {
    /// Parses the tag at the start of the input. Returns it, its name and the rest of the input. Only handles empty
    /// elements and elements that contain nothing but elements; text is left to the XML reader.
    pub(super) fn read(input: &'a str) -> Option<(Self, &'a str, &'a str)> {
        if let Some(rest) = input.strip_prefix(START) {
            let start = Self { tag: Tag::Document, attributes: Attributes::default(), is_empty: false };
            return Some((start, "Objs", rest));
        }
        let (tag, name, rest) = Tag::read(input)?;
        let (start, rest) = Self::of(tag, rest)?;
        Some((start, name, rest))
    }

    /// Parses a tag after its name. Returns it and the rest of the input.
    #[inline]
    pub(super) fn of(tag: Tag, rest: &'a str) -> Option<(Self, &'a str)> {
        let only_empty = match tag {
            Tag::Object
            | Tag::TypeNames
            | Tag::Adapted
            | Tag::Extended
            | Tag::Items(_)
            | Tag::Dictionary
            | Tag::Entry
            | Tag::Document => false,
            Tag::Primitive(_) | Tag::Reference | Tag::TypeNamesReference | Tag::ToString => true,
            Tag::Progress | Tag::Unknown => return None,
        };
        // Members that are objects have the attribute `N` before `RefId`.
        let (name_of, after) = match rest.strip_prefix(" N=\"").and_then(leaf::quoted) {
            Some((name, after)) => (Some(name.text), after),
            None => (None, rest),
        };
        let (attributes, rest) = match after.strip_prefix(" RefId=\"").and_then(number) {
            Some((id, rest)) => (Attributes::of_object(name_of, Some(id)), rest),
            None if after.starts_with(['>', '/']) => (Attributes::of_object(name_of, None), after),
            None => {
                // A `>` in quotes would end the tag too early, but then the attributes are malformed.
                let end = memchr(b'>', rest.as_bytes())?;
                let raw = rest.get(..end)?;
                let raw = raw.strip_suffix('/').unwrap_or(raw);
                (Attributes::parse(raw).ok()?, rest.get(raw.len()..)?)
            }
        };
        let (is_empty, rest) = match rest.as_bytes() {
            [b'>', ..] => (false, rest.get(1..)?),
            [b'/', b'>', ..] => (true, rest.get(2..)?),
            [b' ', b'/', b'>', ..] => (true, rest.get(3..)?),
            _ => return None,
        };
        if only_empty && !is_empty {
            return None;
        }
        Some((Self { tag, attributes, is_empty }, rest))
    }
}

/// Returns the digits before a quote, and the rest after the quote.
fn number(input: &str) -> Option<(&str, &str)> {
    let end = input.bytes().position(|byte| !byte.is_ascii_digit())?;
    let (number, rest) = input.split_at_checked(end)?;
    Some((number, rest.strip_prefix('"')?))
}

/// Returns the rest after the end tag with this name at the start of the input.
pub(super) fn end<'a>(input: &'a str, name: &str) -> Option<&'a str> {
    let rest = leaf::after_end(input, name)?;
    rest.strip_prefix('>').or_else(|| rest.trim_start_matches(BLANKS).strip_prefix('>'))
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
