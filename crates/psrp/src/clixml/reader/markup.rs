//! Fast path for tags of elements that contain elements.
//!
//! An object consists of three such elements around its members. Tags that differ from the usual form are left to the
//! XML reader.

use memchr::memchr;

use super::super::writer::START;
use super::attributes::Attributes;
use super::leaf;
use super::tag::{StartTag, Tag};

/// A tag read by the fast path.
pub(super) enum Markup<'a> {
    /// A start tag or an empty element.
    Start(StartTag<'a>),
    /// The end tag of the innermost element, whose start tag was also read by the fast path.
    End,
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
    rest.strip_prefix('>').or_else(|| rest.trim_start_matches([' ', '\t', '\r', '\n']).strip_prefix('>'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_forms_are_left_to_the_xml_reader() {
        for xml in [
            "<",
            "<Obj",
            "<Obj RefId='>'>",
            "<Obj RefId=\"0>\"",
            "<Obj RefId>",
            "<Obj RefId=0>",
            "<Obj RefId='0'N='1'>",
            "<MS xmlns='http://example.org'>",
            "<S>",
            "<Ref RefId='1'>",
            "<ToString>",
            "<PR/>",
            "<T/>",
            "<X/>",
            "< MS>",
            "<MS/x>",
            "<!-- -->",
            "<?MS?>",
            "</MS>",
        ] {
            assert!(StartTag::read(xml).is_none(), "{xml}");
        }
    }
}
