//! The form in which nearly all primitives stand in documents, read without the detour through events.
//!
//! An element such as `<I32 N="Id">4</I32>` is three events. PowerShell and its peers write all primitives like this, and
//! documents are mostly primitives. What differs in any way is left to the XML reader, which then has it whole.

use memchr::memchr2;

use super::attributes::is_blank;
use super::tag::{Primitive, Tag};

/// A primitive element without references, CDATA sections and comments, and with no attribute but its name.
pub(super) struct Leaf<'a> {
    pub(super) tag: Primitive,
    /// The attribute `N`.
    pub(super) name: Option<&'a str>,
    pub(super) text: &'a str,
}

impl<'a> Leaf<'a> {
    /// The element at the start of the input, and what follows it.
    #[inline]
    pub(super) fn read(input: &'a [u8]) -> Option<(Self, &'a [u8])> {
        let [b'<', input @ ..] = input else { return None };
        let end = input.iter().take(Tag::LONGEST + 1).position(|byte| matches!(byte, b' ' | b'>' | b'/'))?;
        let (element, rest) = input.split_at(end);
        let Tag::Primitive(tag) = Tag::of(element) else { return None };
        let (name, rest) = match rest.strip_prefix(b" N=\"") {
            None => (None, rest),
            Some(value) => {
                // Anything but plain characters needs a closer look than this.
                let end = value.iter().position(|byte| matches!(byte, ..b' ' | b'"' | b'&' | b'<'))?;
                let (name, rest) = value.split_at(end);
                (Some(std::str::from_utf8(name).ok()?), rest.strip_prefix(b"\"")?)
            }
        };
        let (text, rest) = match rest {
            [b'>', rest @ ..] => {
                let (text, rest) = rest.split_at(memchr2(b'<', b'&', rest)?);
                let rest = rest.strip_prefix(b"</")?.strip_prefix(element)?.strip_prefix(b">")?;
                (std::str::from_utf8(text).ok()?, rest)
            }
            [b'/', b'>', rest @ ..] | [b' ', b'/', b'>', rest @ ..] => ("", rest),
            _ => return None,
        };
        Some((Self { tag, name, text }, rest))
    }
}

/// The text of the element of this name at the start of the input, and what follows the element.
#[inline]
pub(super) fn text<'a>(input: &'a [u8], name: &str) -> Option<(&'a str, &'a [u8])> {
    let name = name.as_bytes();
    let rest = input.strip_prefix(b"<")?.strip_prefix(name)?.strip_prefix(b">")?;
    let (text, rest) = rest.split_at(memchr2(b'<', b'&', rest)?);
    let rest = rest.strip_prefix(b"</")?.strip_prefix(name)?.strip_prefix(b">")?;
    Some((std::str::from_utf8(text).ok()?, rest))
}

/// Without the white space at the start.
#[inline]
pub(super) fn skip_blanks(input: &[u8]) -> &[u8] {
    let blanks = input.iter().position(|byte| !is_blank(*byte)).unwrap_or(input.len());
    &input[blanks..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_forms_are_read() {
        for (xml, name, text) in [
            ("<I32>4</I32>", None, "4"),
            ("<I32 N=\"Id\">4</I32>", Some("Id"), "4"),
            ("<I32 N=\"it's > \u{e9}\"> \u{e9}>\n</I32>", Some("it's > \u{e9}"), " \u{e9}>\n"),
            ("<I32 />", None, ""),
            ("<I32/>", None, ""),
            ("<I32 N=\"\" />", Some(""), ""),
            ("<I32 N=\"Id\"/>", Some("Id"), ""),
        ] {
            for rest in ["", "</MS>", "x"] {
                let input = format!("{xml}{rest}");
                let (leaf, after) = Leaf::read(input.as_bytes()).unwrap_or_else(|| panic!("{xml}"));
                assert_eq!((leaf.tag, leaf.name, leaf.text), (Primitive::Int32, name, text));
                assert_eq!(after, rest.as_bytes());
            }
        }
    }

    #[test]
    fn all_else_is_left_to_the_xml_reader() {
        for xml in [
            "",
            "<",
            "<I32",
            "<I32 ",
            "<I32>4",
            "<I32>4<",
            "<I32>4</",
            "<I32>4</I32",
            "<I32>4</I32 >",
            "<I32>4</I64>",
            "<I32>&#52;</I32>",
            "<I32><!-- -->4</I32>",
            "<I32><![CDATA[4]]></I32>",
            "<I32 N='Id'>4</I32>",
            "<I32  N=\"Id\">4</I32>",
            "<I32 N=\"Id\" >4</I32>",
            "<I32 N =\"Id\">4</I32>",
            "<I32 N=\"a&amp;b\">4</I32>",
            "<I32 N=\"a<b\">4</I32>",
            "<I32 N=\"a\tb\">4</I32>",
            "<I32 N=\"Id\" S=\"x\">4</I32>",
            "<I32 RefId=\"0\">4</I32>",
            "<I32 N=\"Id\"x>4</I32>",
            "<I32 N=\"Id",
            "<Obj />",
            "<PR/>",
            "<Ref N=\"x\"/>",
            "<X>1</X>",
            "</I32>",
            "x<I32>4</I32>",
            "<\u{e9}I32>4</I32>",
        ] {
            assert!(Leaf::read(xml.as_bytes()).is_none(), "{xml}");
        }
        assert!(Leaf::read(b"<S>\xff</S>").is_none());
        assert!(Leaf::read(b"<S N=\"\xff\">x</S>").is_none());
    }
}
