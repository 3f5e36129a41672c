//! CLIXML documents in program output.

use psrp::Value;
use psrp::clixml::{ConsoleEvent, ConsoleFilter, Limits, ReadOptions, Stream};

use crate::clixml_write::START as OBJS;
use crate::console::{Seen, filtered};

/// Filters the output in one chunk, and checks that all other chunk sizes give the same result.
fn seen(output: &str) -> Vec<Seen> {
    let options = ReadOptions::new();
    let output = output.as_bytes();
    let whole = filtered(&options, [output]);
    assert_eq!(filtered(&options, output.chunks(1)), whole);
    for at in 0..=output.len() {
        assert_eq!(filtered(&options, [&output[..at], &output[at..]]), whole, "cut at {at}");
    }
    for size in 2..20 {
        assert_eq!(filtered(&options, output.chunks(size)), whole, "pieces of {size}");
    }
    whole
}

#[test]
fn plain_text_is_copied() {
    assert_eq!(seen(""), []);
    for output in
        ["plain\r\ntext", "#", "#< CLIXM", "#< CLIXML", "a #< CLIXML b", "##< CLIXML\r\n", "<Objs></Objs>"]
    {
        assert_eq!(seen(output), [Seen::text(output)], "{output}");
    }
}

#[test]
fn documents_become_records() {
    let output = format!(
        "before\n#< CLIXML\r\n{OBJS}<S S=\"Error\">a</S><S S=\"Error\">b</S><I32>3</I32></Objs>\nafter"
    );
    let expected = [
        Seen::text("before\n"),
        Seen::error("a"),
        Seen::error("b"),
        Seen::Record(Stream::Output, Value::Int32(3)),
        Seen::text("\nafter"),
    ];
    assert_eq!(seen(&output), expected);
}

#[test]
fn other_encodings_are_read_with_replacements() {
    let output = [b"#< CLIXML\n<Objs><S S='Error'>Schl\x81ssel</S></Objs>\x81".as_slice()];
    let expected = [Seen::error("Schl\u{fffd}ssel"), Seen::Text(vec![0x81])];
    assert_eq!(filtered(&ReadOptions::new(), output), expected);
}

#[test]
fn documents_follow_each_other() {
    let one = |name: &str| format!("{OBJS}<S S='Error'>{name}</S></Objs>");
    let output = format!("#< CLIXML\n{}\r\n{}<Objs />{}x#< CLIXML{}", one("a"), one("b"), one("c"), one("d"));
    assert_eq!(
        seen(&output),
        [Seen::error("a"), Seen::error("b"), Seen::error("c"), Seen::text("x"), Seen::error("d")]
    );
    assert_eq!(seen("#< CLIXML\r\n<Objs/>"), []);
}

#[test]
fn invalid_documents_are_text() {
    for output in [
        "#< CLIXML\r\nno document",
        "#< CLIXML\r\n<Obj/>",
        "#< CLIXML\r\n<Objsx></Objs>",
        "#< CLIXML\r\n<Objs><S>not ended",
        "#< CLIXML\r\n<Objs",
        "#< CLIXML\r\n<Objs><Foo/></Objs> and more",
        "#< CLIXML\r\n<Objs><S>a</S><B>maybe</B></Objs>",
        "#< CLIXML\r\n<Objs Version='2.0'></Objs>",
    ] {
        assert_eq!(seen(output), [Seen::text(output)], "{output}");
    }
    // A document after an invalid one is found.
    let (bad, good) = ("#< CLIXML\r\n<Objs><Foo/></Objs>", "#< CLIXML\r\n<Objs><S S='Error'>a</S></Objs>");
    assert_eq!(seen(&format!("{bad}{good}")), [Seen::text(bad), Seen::error("a")]);
}

#[test]
fn buffered_input_is_limited() {
    let options = ReadOptions::new().limits(Limits::new().max_size(100));
    let long = format!("#< CLIXML\n<Objs><S>{}</S></Objs>!", "x".repeat(200));
    let mut filter = ConsoleFilter::with_options(options);
    let mut passed = Vec::new();
    let mut most = 0;
    for (index, byte) in long.bytes().enumerate() {
        filter.push(&[byte], |event| match event {
            ConsoleEvent::Text(text) => passed.extend_from_slice(text),
            other => panic!("an event {other:?}"),
        });
        most = most.max(index + 1 - passed.len());
    }
    assert_eq!(most, 100);
    filter.finish(|_| panic!("nothing is held back"));
    assert_eq!(passed, long.as_bytes());
}
