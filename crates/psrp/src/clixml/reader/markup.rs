//! Tags of elements with elements inside, read without the detour through events.
//!
//! An object is mostly three such elements around its members. What differs from the usual form in a way that matters is
//! left to the XML reader, which then has it whole.

use memchr::memchr;

use super::super::writer::START;
use super::attributes::Attributes;
use super::leaf;
use super::tag::Tag;
use super::tree::Start;

/// A tag that is read past the XML reader.
pub(super) enum Markup<'a> {
    /// An element begins, or stands there without content.
    Start(Start<'a>, Attributes<'a>),
    /// The innermost element ends, whose start tag was read here too.
    End,
}

/// A start tag.
pub(super) struct Opening<'a> {
    pub(super) tag: Tag,
    pub(super) name: &'a str,
    pub(super) attributes: Attributes<'a>,
    /// Whether it is the end as well.
    pub(super) empty: bool,
}

impl<'a> Opening<'a> {
    /// The tag at the start of the input, and what follows it. Only those of elements without content, and with nothing
    /// but elements in them: text is for the XML reader.
    pub(super) fn read(input: &'a str) -> Option<(Self, &'a str)> {
        if let Some(rest) = input.strip_prefix(START) {
            let attributes = Attributes::default();
            return Some((Self { tag: Tag::Document, name: "Objs", attributes, empty: false }, rest));
        }
        let (tag, name, rest) = Tag::read(input)?;
        Self::of(tag, name, rest)
    }

    /// Reads a tag after its name: returns it and what follows it.
    #[inline]
    pub(super) fn of(tag: Tag, name: &'a str, rest: &'a str) -> Option<(Self, &'a str)> {
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
        // Members that are objects have a name before their identifier.
        let (name_of, after) = match rest.strip_prefix(" N=\"").and_then(leaf::quoted) {
            Some((name, after)) => (Some(name.text), after),
            None => (None, rest),
        };
        let (attributes, rest) = match after.strip_prefix(" RefId=\"").and_then(number) {
            Some((id, rest)) => (Attributes::of_object(name_of, Some(id)), rest),
            None if after.starts_with(['>', '/']) => (Attributes::of_object(name_of, None), after),
            None => {
                // In quotes it would not be the end, but then the attributes are not well-formed.
                let end = memchr(b'>', rest.as_bytes())?;
                let raw = rest.get(..end)?;
                let raw = raw.strip_suffix('/').unwrap_or(raw);
                (Attributes::parse(raw).ok()?, rest.get(raw.len()..)?)
            }
        };
        let (empty, rest) = match rest.as_bytes() {
            [b'>', ..] => (false, rest.get(1..)?),
            [b'/', b'>', ..] => (true, rest.get(2..)?),
            [b' ', b'/', b'>', ..] => (true, rest.get(3..)?),
            _ => return None,
        };
        if only_empty && !empty {
            return None;
        }
        Some((Self { tag, name, attributes, empty }, rest))
    }
}

/// Digits up to a quote, and what follows that.
fn number(input: &str) -> Option<(&str, &str)> {
    let end = input.bytes().position(|byte| !byte.is_ascii_digit())?;
    let (number, rest) = input.split_at_checked(end)?;
    Some((number, rest.strip_prefix('"')?))
}

/// What follows the end tag of this name at the start of the input.
pub(super) fn end<'a>(input: &'a str, name: &str) -> Option<&'a str> {
    let rest = leaf::after_end(input, name)?;
    rest.strip_prefix('>').or_else(|| rest.trim_start_matches([' ', '\t', '\r', '\n']).strip_prefix('>'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_around_elements_are_read() {
        for (xml, tag, empty) in [
            ("<MS>", Tag::Extended, false),
            ("<Obj>", Tag::Object, false),
            ("<Obj\tRefId='0'\n>", Tag::Object, false),
            ("<Obj RefId=\"0\" />", Tag::Object, true),
            ("<Obj/>", Tag::Object, true),
            ("<Ref RefId='1'/>", Tag::Reference, true),
            ("<ToString/>", Tag::ToString, true),
            (START, Tag::Document, false),
            ("<Objs Version='1.1'>", Tag::Document, false),
        ] {
            for rest in ["", ">", "</MS>"] {
                let input = format!("{xml}{rest}");
                let (opening, after) = Opening::read(&input).unwrap_or_else(|| panic!("{xml}"));
                assert_eq!((opening.tag, opening.empty), (tag, empty), "{xml}");
                assert_eq!(Tag::of(opening.name.as_bytes()), tag);
                assert_eq!(after, rest);
            }
        }
        let (opening, _) = Opening::read("<Obj N=\"a&lt;b\" RefId=\"12\">").unwrap();
        assert_eq!((opening.attributes.name, opening.attributes.ref_id), (Some("a&lt;b"), Some("12")));
    }

    #[test]
    fn all_else_is_left_to_the_xml_reader() {
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
            assert!(Opening::read(xml).is_none(), "{xml}");
        }
    }

    #[test]
    fn ends_have_the_same_name() {
        for (xml, rest) in [("</MS>", ""), ("</MS>x", "x"), ("</MS \r\n\t>>", ">")] {
            assert_eq!(end(xml, "MS"), Some(rest), "{xml}");
        }
        for xml in ["", "</", "</MS", "</MS ", "</M>", "</MSS>", "</ MS>", "</MS/>", "</MS x>"] {
            assert_eq!(end(xml, "MS"), None, "{xml}");
        }
    }
}
