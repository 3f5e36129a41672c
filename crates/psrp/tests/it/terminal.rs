//! Escaping of remote text.

use psrp::terminal_safe;

#[test]
fn control_characters_are_escaped_except_tab_and_line_feed() {
    for code in (0..0x20).chain(0x7F..0xA0) {
        let char = char::from_u32(code).unwrap();
        let safe = terminal_safe(char.encode_utf8(&mut [0; 4])).into_owned();
        let unchanged = matches!(char, '\t' | '\n');
        assert_eq!(safe, if unchanged { char.to_string() } else { format!("\\u{{{code:x}}}") });
    }
}

#[test]
fn crlf_becomes_lf_and_a_lone_cr_is_escaped() {
    assert_eq!(terminal_safe("a\r\nb\tc\n"), "a\nb\tc\n");
    assert_eq!(terminal_safe("real\rfake"), "real\\u{d}fake");
    assert_eq!(terminal_safe("\r\r\n"), "\\u{d}\n");
}

#[test]
fn direction_changes_are_escaped() {
    assert_eq!(terminal_safe("a\u{202E}b\u{2066}"), "a\\u{202e}b\\u{2066}");
    assert_eq!(terminal_safe("\u{5D0}\u{1F600}"), "\u{5D0}\u{1F600}");
}
