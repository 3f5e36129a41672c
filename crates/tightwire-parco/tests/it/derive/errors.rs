//! Byte offsets and field paths of errors.

use std::collections::BTreeMap;

use tightwire_parco::{Decode, Encode, Segment, decode_exact, to_vec};

#[derive(Debug, PartialEq, Encode, Decode)]
struct Inner {
    flag: bool,
    #[parco(header = u8, value(small))]
    names: BTreeMap<u8, String>,
}

#[derive(Debug, PartialEq, Encode, Decode)]
struct Outer {
    number: u32,
    #[parco(header = u8)]
    list: Vec<Inner>,
    #[parco(rename = "last")]
    text: Option<String>,
}

fn outer(name: &str) -> Outer {
    let inner = |name: &str| Inner { flag: true, names: BTreeMap::from([(1, "a".into()), (2, name.into())]) };
    Outer { number: 7, list: vec![inner("b"), inner(name)], text: None }
}

#[test]
fn the_way_to_what_cannot_be_read() {
    let bytes = to_vec(&outer("c")).unwrap();
    let error = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = bytes.clone();
        change(&mut bytes);
        decode_exact::<Outer>(&bytes).unwrap_err()
    };

    let flag = error(&|bytes| bytes[5] = 2);
    assert!(flag.is_invalid_bool());
    assert_eq!(flag.path(), [Segment::Field("list"), Segment::Index(0), Segment::Field("flag")]);
    assert_eq!(flag.offset(), Some(5));

    let text = error(&|bytes| bytes[20] = 0xff);
    assert!(text.is_invalid_utf8());
    let path = [Segment::Field("list"), Segment::Index(1), Segment::Field("names"), Segment::Value(1)];
    assert_eq!(text.path(), path);

    let end = error(&|bytes| bytes.truncate(21));
    assert!(end.is_unexpected_end());
    assert_eq!((end.path(), end.offset(), end.missing()), (&[Segment::Field("last")][..], Some(21), Some(1)));
    assert_eq!(end.to_string(), "the input ends inside a value at .last (byte 21)");
}

#[test]
fn encoding_errors_contain_the_path() {
    let mut bytes = vec![0xee];
    let error = tightwire_parco::encode(&outer(&"x".repeat(256)), &mut bytes).unwrap_err();
    assert!(error.is_overflow());
    let path = [Segment::Field("list"), Segment::Index(1), Segment::Field("names"), Segment::Value(1)];
    assert_eq!(error.path(), path);
    assert_eq!(error.offset(), Some(19));
    assert_eq!(bytes, [0xee]);
}
