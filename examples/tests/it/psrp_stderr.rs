//! Tests the filter of `psrp_stderr.rs`.

#[path = "../../psrp_stderr.rs"]
#[allow(dead_code, reason = "a test has a `main` of its own")]
mod program;

#[test]
fn records_become_json_lines_and_text_is_copied() {
    let input = b"before\n#< CLIXML\r\n<Objs><S S=\"Error\">no_x000A_</S><I32 S=\"Output\">3</I32></Objs>\x1b[31mafter\n";
    let mut out = Vec::new();
    program::filter(&input[..], &mut out).unwrap();
    let expected = "before\n{\"stream\":\"Error\",\"value\":\"no\\n\"}\n{\"stream\":\"Output\",\"value\":3}\n\\u{1b}[31mafter\n";
    assert_eq!(String::from_utf8(out).unwrap(), expected);
}
