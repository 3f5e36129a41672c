//! Tags of elements with elements inside, read without the detour through events.
//!
//! An object is mostly three such elements around its members. What differs from the usual form in a way that matters is
//! left to the XML reader, which then has it whole.

use memchr::memchr;

use super::super::writer::START;
use super::attributes::{Attributes, is_blank};
use super::tag::Tag;
use super::tree::Start;

/// A tag that is read past the XML reader.
pub(super) enum Markup<'a> {
    /// An element begins, or stands there without content.
    Start(Start<'a>, Attributes<'a>),
    /// The innermost element ends, whose start tag was read here too.
    End,
}

/// A start tag, and the name of the element.
pub(super) struct Opening<'a> {
    pub(super) start: Start<'a>,
    pub(super) attributes: Attributes<'a>,
    pub(super) name: &'a str,
}

impl<'a> Opening<'a> {
    /// The tag at the start of the input, and what follows it. Only those of elements without content, and with nothing
    /// but elements in them: text is for the XML reader.
    pub(super) fn read(input: &'a [u8]) -> Option<(Self, &'a [u8])> {
        if let Some(rest) = input.strip_prefix(START.as_bytes()) {
            let start = Start { tag: Tag::Document, attributes: "", empty: false };
            return Some((Self { start, attributes: Attributes::default(), name: "Objs" }, rest));
        }
        // In quotes it would not be the end, but then the attributes are not well-formed.
        let end = memchr(b'>', input)?;
        let (content, empty) = match input.get(1..end)? {
            [content @ .., b'/'] => (content, true),
            content => (content, false),
        };
        let len = content.iter().position(|byte| is_blank(*byte)).unwrap_or(content.len());
        let tag = Tag::of(&content[..len]);
        let is_taken = match tag {
            Tag::Object
            | Tag::TypeNames
            | Tag::Adapted
            | Tag::Extended
            | Tag::Items(_)
            | Tag::Dictionary
            | Tag::Entry
            | Tag::Document => true,
            Tag::Primitive(_) | Tag::Reference | Tag::TypeNamesReference | Tag::ToString => empty,
            Tag::Progress | Tag::Unknown => false,
        };
        if !is_taken {
            return None;
        }
        let (name, raw) = std::str::from_utf8(content).ok()?.split_at(len);
        let attributes = Attributes::parse(raw).ok()?;
        Some((Self { start: Start { tag, attributes: raw, empty }, attributes, name }, &input[end + 1..]))
    }
}

/// What follows the end tag of this name at the start of the input.
pub(super) fn end<'a>(input: &'a [u8], name: &str) -> Option<&'a [u8]> {
    let rest = input.strip_prefix(b"</")?.strip_prefix(name.as_bytes())?;
    match rest {
        [b'>', rest @ ..] => Some(rest),
        rest => rest.trim_ascii_start().strip_prefix(b">"),
    }
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
                let (opening, after) = Opening::read(input.as_bytes()).unwrap_or_else(|| panic!("{xml}"));
                assert_eq!((opening.start.tag, opening.start.empty), (tag, empty), "{xml}");
                assert_eq!(Tag::of(opening.name.as_bytes()), tag);
                assert_eq!(after, rest.as_bytes());
            }
        }
        let (opening, _) = Opening::read(b"<Obj N=\"a&lt;b\" RefId=\"12\">").unwrap();
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
            assert!(Opening::read(xml.as_bytes()).is_none(), "{xml}");
        }
        assert!(Opening::read(b"<Obj RefId='\xff'>").is_none());
    }

    #[test]
    fn ends_have_the_same_name() {
        for (xml, rest) in [("</MS>", ""), ("</MS>x", "x"), ("</MS \r\n\t>>", ">")] {
            assert_eq!(end(xml.as_bytes(), "MS"), Some(rest.as_bytes()), "{xml}");
        }
        for xml in ["", "</", "</MS", "</MS ", "</M>", "</MSS>", "</ MS>", "</MS/>", "</MS x>"] {
            assert_eq!(end(xml.as_bytes(), "MS"), None, "{xml}");
        }
    }
}
