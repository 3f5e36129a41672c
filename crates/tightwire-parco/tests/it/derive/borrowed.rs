//! Structs that borrow from the input.

use std::borrow::Cow;

use tightwire_parco::{Decode, Encode, decode_exact, to_vec};

#[derive(Debug, PartialEq, Encode, Decode)]
struct Letter<'a> {
    #[parco(small)]
    to: &'a str,
    #[parco(header = u8, elem(small))]
    tags: Vec<&'a str>,
    body: Cow<'a, [u8]>,
}

#[derive(Debug, PartialEq, Encode, Decode)]
struct Envelope<'head, 'tail, T> {
    head: Letter<'head>,
    tail: Option<Letter<'tail>>,
    more: T,
}

fn letter() -> Letter<'static> {
    Letter { to: "you", tags: vec!["a"], body: Cow::Borrowed(&[7]) }
}

#[test]
fn text_and_bytes_are_those_of_the_input() {
    let bytes = to_vec(&letter()).unwrap();
    assert_eq!(bytes, [3, b'y', b'o', b'u', 1, 1, b'a', 1, 7]);
    let decoded: Letter<'_> = decode_exact(&bytes).unwrap();
    assert_eq!(decoded, letter());
    assert!(bytes.as_ptr_range().contains(&decoded.to.as_ptr()));
    assert!(matches!(decoded.body, Cow::Borrowed(_)));
}

#[test]
fn all_lifetimes_are_that_of_the_input() {
    let envelope = Envelope { head: letter(), tail: Some(letter()), more: "more" };
    let bytes = to_vec(&envelope).unwrap();
    let decoded: Envelope<'_, '_, &str> = decode_exact(&bytes).unwrap();
    assert_eq!(decoded, envelope);
    let decoded: Envelope<'_, '_, String> = decode_exact(&bytes).unwrap();
    assert_eq!(decoded.more, "more");
}

#[derive(Encode)]
struct Outgoing<'a> {
    list: &'a [u16],
    letter: &'a Letter<'a>,
    title: &'a String,
}

#[test]
fn borrowed_values_round_trip() {
    let outgoing = Outgoing { list: &[1, 2], letter: &letter(), title: &"t".to_owned() };
    let bytes = to_vec(&outgoing).unwrap();
    assert_eq!(bytes[..5], [2, 1, 0, 2, 0]);
    assert_eq!(bytes[bytes.len() - 2..], [1, b't']);
}
