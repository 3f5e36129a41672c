//! Allocations of the CLIXML writer.

use psrp::clixml::{Stream, Writer, escape, unescape};
use psrp::value::{SecureString, TimeSpan};
use psrp::{Object, Value};

use test_support::counting::allocations;

/// A value that uses everything a writer remembers.
fn rich() -> Value {
    let shared = Object::custom([("Name", "value"), ("Text", "a\r\n<b>&\u{1F600}")]);
    let cyclic = Object::new_cyclic(|me| Object::builder().extended("me", Value::Cycle(me)));
    let mut object = Object::builder()
        .type_names(["A", "System.Object"])
        .to_string("text")
        .adapted("shared", shared.clone())
        .adapted("again", shared)
        .adapted("bytes", vec![1; 1000])
        .adapted("double", 1.5e300)
        .adapted("decimal", Value::Decimal("1.50".parse().unwrap()))
        .adapted("date", Value::DateTime("2024-02-29T23:59:59.1234567+02:00".parse().unwrap()))
        .adapted("span", TimeSpan::from_ticks(-8_143_331_234_567))
        .adapted("secret", SecureString::from_encrypted([7; 16]))
        .extended("cyclic", cyclic)
        .extended("dictionary", Object::dictionary([("k", 1)]));
    for number in 0..20 {
        object = object.extended("typed", Object::builder().type_names([format!("T{number}")]).build());
    }
    object.build().into()
}

#[test]
fn a_reused_writer_allocates_nothing() {
    let mut writer = Writer::new();
    let value = rich();
    let length = writer.write(&value).unwrap().len();
    let (count, again) = allocations(|| writer.write(&value).unwrap().len());
    assert_eq!((count, again), (0, length));

    let items = [(Some(Stream::Output), &value), (None, &value)];
    let length = writer.write_document(items).unwrap().len();
    let (count, again) = allocations(|| writer.write_document(items).unwrap().len());
    assert_eq!((count, again), (0, length));
}

#[test]
fn a_continued_document_allocates_nothing_for_known_parts() {
    let mut writer = Writer::new();
    let value = rich();
    writer.continue_document([(None, &value)]).unwrap();
    let (count, length) = allocations(|| writer.continue_document([(None, &value)]).unwrap().len());
    assert!(length < 120);
    assert_eq!(count, 0);
}

#[test]
fn plain_text_is_not_copied() {
    let text = "a_b caf\u{e9} \u{65e5} <&>\"";
    let (count, same) = allocations(|| escape(text) == text && unescape(text) == text);
    assert!(same);
    assert_eq!(count, 0);
}
