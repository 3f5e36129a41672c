//! Escapes of strings.

use std::borrow::Cow;

use proptest::prelude::*;
use psrp::clixml::{escape, to_vec, unescape};
use psrp::{Object, PsString, Value};

/// Where a string is written.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Context {
    /// The result of [`escape`].
    Plain,
    /// Text of an element.
    Content,
    /// Name of a member.
    Attribute,
}

const CONTEXTS: [Context; 3] = [Context::Plain, Context::Content, Context::Attribute];

/// Escapes unit by unit, as the specification describes it.
fn reference_escape(units: &[u16], context: Context) -> String {
    let escape = |(at, unit): (usize, &u16)| match unit {
        0..0x20 | 0x7F..0xA0 | 0xD800..0xE000 | 0xFFFE.. => format!("_x{unit:04X}_"),
        0x5F if matches!(units.get(at + 1), Some(0x58 | 0x78)) => "_x005F_".to_owned(),
        0x26 if context != Context::Plain => "&amp;".to_owned(),
        0x3C if context != Context::Plain => "&lt;".to_owned(),
        0x3E if context != Context::Plain => "&gt;".to_owned(),
        0x22 if context == Context::Attribute => "&quot;".to_owned(),
        unit => String::from_utf16(&[*unit]).unwrap(),
    };
    // Surrogates of a pair are escaped one by one.
    units.iter().enumerate().map(escape).collect()
}

fn escape_in(text: &PsString, context: Context) -> String {
    let (value, start, end) = match context {
        Context::Plain => return text.to_escaped().into_owned(),
        Context::Content if text.is_empty() => return String::new(),
        Context::Content => (Value::from(text.clone()), "<S>", "</S>"),
        Context::Attribute => {
            let object = Object::builder().extended(text.clone(), 1).build();
            (object.into(), "<Obj RefId=\"0\"><MS><I32 N=\"", "\">1</I32></MS></Obj>")
        }
    };
    let written = String::from_utf8(to_vec(&value).unwrap()).unwrap();
    written.strip_prefix(start).and_then(|text| text.strip_suffix(end)).unwrap().to_owned()
}

#[test]
fn special_characters_are_found_at_every_offset() {
    for len in 0..40 {
        for at in 0..len {
            for char in [
                "\0",
                "\u{1f}",
                "\u{7f}",
                "\"",
                "&",
                "<",
                ">",
                "_x",
                "\u{80}",
                "\u{1F600}",
                "\u{e9}",
                "\u{ff0c}",
                "\u{fffd}",
                "\u{ffff}",
            ] {
                let mut text = "a".repeat(at);
                text.push_str(char);
                text.push_str(&"~".repeat(len - at - 1));
                let units: Vec<u16> = text.encode_utf16().collect();
                for context in CONTEXTS {
                    let written = escape_in(&text.as_str().into(), context);
                    assert_eq!(written, reference_escape(&units, context), "{text:?}");
                }
            }
        }
    }
}

#[test]
fn code_units_are_escaped_as_specified() {
    for unit in 0..=0xFFFF_u16 {
        let escaped = matches!(unit, 0..=0x1F | 0x7F..=0x9F | 0xD800..=0xDFFF | 0xFFFE..);
        let text = PsString::from_utf16(&[unit]);
        let written = text.to_escaped().into_owned();
        assert_eq!(written == format!("_x{unit:04X}_"), escaped, "{unit:04X}");
        assert_eq!(PsString::from_escaped(&written).to_utf16(), [unit]);
    }
}

#[test]
fn xml_escapes_depend_on_the_context() {
    let text = PsString::from("\"<&>'");
    assert_eq!(escape_in(&text, Context::Content), "\"&lt;&amp;&gt;'");
    assert_eq!(escape_in(&text, Context::Attribute), "&quot;&lt;&amp;&gt;'");
    assert_eq!(escape_in(&text, Context::Plain), "\"<&>'");
    let wide = PsString::from_utf16(&[0x22, 0xD9FF, 0x26]);
    assert_eq!(escape_in(&wide, Context::Attribute), "&quot;_xD9FF_&amp;");
}

#[test]
fn escapes_are_read_from_left_to_right() {
    for (text, expected) in [
        ("_x0041_x0042_", "Ax0042_"),
        ("_x0041__x0042_", "AB"),
        ("_x005F_x0041_", "_x0041_"),
        ("_x000d_", "\r"),
        ("_X000D_", "\r"),
        ("_x00D_", "_x00D_"),
        ("_x000D", "_x000D"),
        ("__x0041_", "_A"),
        ("_x_x0041_", "_xA"),
        ("_x0001F600_", "\u{1F600}"),
        ("_x00000041_", "A"),
        ("_x00110000_", "_x00110000_"),
        ("_xD83D__xDE00_", "\u{1F600}"),
        ("_x0000D83D__xDE00_", "\u{1F600}"),
        ("_xD83D_", "\u{FFFD}"),
        ("_xDE00__xD83D_", "\u{FFFD}\u{FFFD}"),
        ("\u{e9}_x\u{e9}041_", "\u{e9}_x\u{e9}041_"),
        ("_", "_"),
        ("_x", "_x"),
        ("", ""),
    ] {
        assert_eq!(unescape(text), expected, "{text}");
    }
    assert!(matches!(unescape("a_b_x00g0_c"), Cow::Borrowed(_)));
    assert!(matches!(escape("a_b\u{e9}\u{FFFD}\"<"), Cow::Borrowed(_)));
}

#[test]
fn lone_surrogates_are_preserved() {
    let text = PsString::from_escaped("\u{e9}_xD83D__xD83D__xDE00__x0001F600_\u{1F600}_xDE00_z");
    let units = [0xE9, 0xD83D, 0xD83D, 0xDE00, 0xD83D, 0xDE00, 0xD83D, 0xDE00, 0xDE00, 0x7A];
    assert_eq!(text.to_utf16(), units);
}

proptest! {
    #[test]
    fn escaping_agrees_with_the_reference(text: String, part in "[_x0-9A-F<&>\"\u{85}\u{e9}\u{ff0c}\u{fffe}\u{1F600}\n]*") {
        for text in [text, part] {
            let units: Vec<u16> = text.encode_utf16().collect();
            for context in CONTEXTS {
                prop_assert_eq!(escape_in(&text.as_str().into(), context), reference_escape(&units, context));
            }
            let escaped = escape(&text);
            prop_assert_eq!(&escaped, &escape_in(&text.as_str().into(), Context::Plain));
            prop_assert_eq!(unescape(&escaped), &*text);
        }
    }

    #[test]
    fn all_code_units_round_trip(units: Vec<u16>) {
        let text = PsString::from_utf16(&units);
        prop_assert_eq!(PsString::from_escaped(&text.to_escaped()), text);
    }
}
