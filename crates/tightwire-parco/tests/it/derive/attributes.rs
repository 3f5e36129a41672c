//! The effect of each attribute on the bytes.

use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, SystemTime};

use tightwire_parco::schema::{self, Number, Schema};
use tightwire_parco::wire::{Be, Blob, Endian, StaticWire, U8, U16, Wire};
use tightwire_parco::{Decode, Encode, EncodeAs};

use super::same;

/// Checks the bytes of a struct with a single field.
macro_rules! field {
    ($(#[$attribute:meta])* $type:ty = $value:expr => $bytes:expr) => {{
        #[derive(Debug, PartialEq, Encode, Decode)]
        struct Field {
            $(#[$attribute])*
            field: $type,
        }
        same(&Field { field: $value }, $bytes);
    }};
}

#[derive(Debug, PartialEq, Encode, Decode)]
#[parco(be)]
struct Big {
    number: u16,
    text: String,
    list: Vec<u32>,
    maybe: Option<i16>,
    #[parco(le)]
    little: Vec<u16>,
    #[parco(header = u32)]
    header: String,
    #[parco(header = u32le)]
    little_header: Vec<u16>,
    #[parco(time)]
    at: i64,
}

#[test]
fn struct_order_applies_to_numbers_and_headers_of_fixed_width() {
    let big = Big {
        number: 1,
        text: "a".into(),
        list: vec![2],
        maybe: Some(3),
        little: vec![4],
        header: "b".into(),
        little_header: vec![5],
        at: 6,
    };
    let bytes = [
        &[0, 1][..],
        &[1, b'a'],
        &[1, 0, 0, 0, 2],
        &[1, 0, 3],
        &[1, 4, 0],
        &[0, 0, 0, 1, b'b'],
        &[1, 0, 0, 0, 0, 5],
        // Times are always little endian.
        &[6, 0, 0, 0, 0, 0, 0, 0],
    ];
    same(&big, &bytes.concat());
    assert_eq!(fields::<Big>()[7].1, Schema::TimeUtc);
}

/// Nested messages have their own defaults.
#[derive(Debug, PartialEq, Encode, Decode)]
#[parco(go)]
struct Go {
    text: String,
    #[parco(be)]
    rows: Vec<Vec<u16>>,
    #[parco(elem(be))]
    texts: Vec<String>,
    #[parco(header = varint)]
    short: String,
    other: Other,
}

#[derive(Debug, PartialEq, Encode, Decode)]
struct Other(String);

#[test]
fn go_selects_the_headers_of_the_go_library() {
    let value = Go {
        text: "a".into(),
        rows: vec![vec![2]],
        texts: vec!["b".into()],
        short: "c".into(),
        other: Other("d".into()),
    };
    let bytes = [&[1, 0, b'a'][..], &[0, 1, 0, 1, 0, 2], &[1, 0, 0, 1, b'b'], &[1, b'c'], &[1, b'd']];
    same(&value, &bytes.concat());
}

/// The error names the field and the attribute to change.
#[test]
fn lengths_above_the_maximum_of_the_header_are_rejected() {
    let value = Go {
        text: String::new(),
        rows: Vec::new(),
        texts: vec![String::new(), "x".repeat(65_536)],
        short: "x".repeat(70_000),
        other: Other("y".repeat(70_000)),
    };
    let error = tightwire_parco::to_vec(&value).unwrap_err();
    assert!(error.is_overflow());
    assert_eq!(
        error.to_string(),
        "a length does not fit its header: 65536 bytes or elements, but at most 65535 (set `#[parco(header = varint)]` or a wider integer) at .texts[1] (byte 8)"
    );
    let value = Go { texts: Vec::new(), ..value };
    let bytes = tightwire_parco::to_vec(&value).unwrap();
    assert_eq!(bytes[6..9], [0xf0, 0xa2, 0x04]);
    assert_eq!(tightwire_parco::decode_exact::<Go>(&bytes).unwrap(), value);
}

/// Lengths must have their shortest form, unless decoding is as lenient as in Go.
#[test]
fn overlong_varints_follow_the_mode() {
    let lenient = tightwire_parco::Options::new().mode(tightwire_parco::Mode::Compat);
    for (bytes, offset) in [(&[0x81, 0, b'x'][..], 0), (&[0x81, 0x80, 0x80, 0, b'x'], 0)] {
        for error in [
            tightwire_parco::decode_exact::<Other>(bytes).unwrap_err(),
            tightwire_parco::decode_from_reader::<Other>(bytes).unwrap_err(),
        ] {
            assert!(error.is_invalid_value());
            assert_eq!(error.to_string(), "a varint is longer than necessary at .0 (byte 0)");
            assert_eq!(error.offset(), Some(offset));
        }
        assert_eq!(lenient.decode_exact::<Other>(bytes).unwrap(), Other("x".into()));
    }
    let error = tightwire_parco::decode_exact::<Other>(&[0xff; 20]).unwrap_err();
    assert!(error.is_overflow());
    assert_eq!(error.offset(), Some(0));
}

#[test]
fn every_header_is_supported() {
    field!(#[parco(header = varint)] String = "x".into() => b"\x01x");
    field!(#[parco(be, header = varint)] Vec<u16> = vec![7] => &[1, 0, 7]);
    field!(#[parco(header = i8)] String = "x".into() => b"\x01x");
    field!(#[parco(header = u16be)] Vec<u8> = vec![7] => &[0, 1, 7]);
    field!(#[parco(header = i16)] String = "x".into() => b"\x01\0x");
    field!(#[parco(header = i32be)] String = "x".into() => b"\0\0\0\x01x");
    field!(#[parco(header = u64)] String = "x".into() => b"\x01\0\0\0\0\0\0\0x");
    field!(#[parco(header = i64be)] String = "x".into() => b"\0\0\0\0\0\0\0\x01x");
    field!(#[parco(header = int)] String = "x".into() => b"\x01\0\0\0\0\0\0\0x");
    field!(#[parco(header = uintbe)] String = "x".into() => b"\0\0\0\0\0\0\0\x01x");
    field!(#[parco(small)] Option<Box<str>> = Some("z".into()) => b"\x01\x01z");
}

#[test]
fn nested_attributes_apply() {
    field!(#[parco(header = u8, elem(header = u8, elem(be)))] Vec<Vec<u16>> = vec![vec![1], vec![2, 3]]
        => &[2, 1, 0, 1, 2, 0, 2, 0, 3]);
    field!(#[parco(elem(small))] [String; 2] = ["a".into(), "b".into()] => b"\x01a\x01b");
    field!(#[parco(header = u8, key(be), value(header = u8, elem(small)))] BTreeMap<u16, Vec<String>>
        = BTreeMap::from([(4, vec!["c".into()])]) => &[1, 0, 4, 1, 1, b'c']);
    field!(#[parco(header = u8, elem(be, elem(header = u16)))] Vec<[String; 1]> = vec![["d".into()]]
        => &[1, 0, 1, b'd']);
    field!(#[parco(inner(header = u8, elem(be)))] Option<Vec<u16>> = Some(vec![5]) => &[1, 1, 0, 5]);
    field!(#[parco(inner(inner(be)))] Option<Option<u16>> = Some(Some(6)) => &[1, 1, 0, 6]);
    field!(#[parco(header = u8, key(be), value(be))] BTreeMap<u16, f32> = BTreeMap::from([(7, 1.0)])
        => &[1, 0, 7, 0x3f, 0x80, 0, 0]);
}

#[test]
fn blobs_times_and_wire_types_replace_the_default() {
    field!(#[parco(blob)] Vec<u8> = vec![1] => &[1, 1]);
    field!(#[parco(blob, small)] String = "a".into() => &[1, b'a']);
    field!(#[parco(blob)] Option<Vec<u8>> = Some(vec![2]) => &[1, 1, 2]);
    field!(#[parco(header = u8, elem(blob, header = u8))] Vec<Vec<u8>> = vec![vec![3, 4]] => &[1, 2, 3, 4]);
    field!(#[parco(time)] SystemTime = SystemTime::UNIX_EPOCH + Duration::from_nanos(2)
        => &[2, 0, 0, 0, 0, 0, 0, 0]);
    field!(#[parco(inner(time))] Option<i64> = Some(3) => &[1, 3, 0, 0, 0, 0, 0, 0, 0]);
    field!(#[parco(header = u8, elem(time))] Vec<i64> = vec![4] => &[1, 4, 0, 0, 0, 0, 0, 0, 0]);
    field!(#[parco(with = Blob<U8>)] Vec<u8> = vec![1, 2] => &[2, 1, 2]);
    field!(#[parco(with = U16<Be>)] u16 = 3 => &[0, 3]);
    // Entries are ordered by key.
    field!(#[parco(sorted, header = u8)] HashMap<u8, u8> = (0..9).rev().map(|key| (key, key)).collect()
        => &[9, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8]);
}

#[derive(Debug, PartialEq, Encode, Decode)]
struct Numbers {
    #[parco(int)]
    int: i64,
    #[parco(uint, be)]
    uint: u64,
    #[parco(header = u8, elem(int))]
    ints: Vec<i64>,
    #[parco(blob)]
    blob: Vec<u8>,
    #[parco(blob)]
    text: String,
}

fn fields<T: EncodeAs>() -> Vec<(String, Schema)> {
    let Schema::Named { inner, .. } = schema::of::<T>() else { panic!("a type with a name") };
    let Schema::Struct(fields) = *inner else { panic!("a struct") };
    fields
}

#[test]
fn attributes_change_the_schema() {
    let numbers = Numbers { int: 1, uint: 2, ints: vec![3], blob: vec![4], text: "a".into() };
    let bytes = [
        &[1, 0, 0, 0, 0, 0, 0, 0][..],
        &[0, 0, 0, 0, 0, 0, 0, 2],
        &[1, 3, 0, 0, 0, 0, 0, 0, 0],
        &[1, 4],
        &[1, b'a'],
    ];
    same(&numbers, &bytes.concat());
    let fields = fields::<Numbers>();
    assert_eq!(fields[0], ("int".to_owned(), Schema::Number(Number::Int, Endian::Little)));
    assert_eq!(fields[1], ("uint".to_owned(), Schema::Number(Number::Uint, Endian::Big)));
    let Schema::Slice { element, .. } = &fields[2].1 else { panic!("a slice") };
    assert_eq!(**element, Schema::Number(Number::Int, Endian::Little));
    assert!(fields[3..].iter().all(|(_, schema)| matches!(schema, Schema::Blob { .. })));
}

#[derive(Debug, PartialEq, Encode, Decode)]
struct Reserved(u8, #[parco(skip = 2)] (), u8);

#[test]
fn skip_writes_zeros_and_ignores_input() {
    same(&Reserved(1, (), 2), &[1, 0, 0, 2]);
    assert_eq!(tightwire_parco::decode_exact::<Reserved>(&[1, 8, 9, 2]).unwrap(), Reserved(1, (), 2));
}

#[derive(Debug, PartialEq, Encode, Decode)]
struct Later {
    first: u8,
    #[parco(default_on_eof)]
    second: u8,
    #[parco(default_on_eof, small)]
    third: Option<String>,
    #[parco(ignore)]
    cache: u32,
}

#[test]
fn default_on_eof_accepts_missing_trailing_fields() {
    let all = Later { first: 1, second: 2, third: Some("x".into()), cache: 0 };
    same(&all, &[1, 2, 1, 1, b'x']);
    let decode = tightwire_parco::decode_exact::<Later>;
    assert_eq!(decode(&[1]).unwrap(), Later { first: 1, second: 0, third: None, cache: 0 });
    assert_eq!(decode(&[1, 2]).unwrap(), Later { first: 1, second: 2, third: None, cache: 0 });
    assert!(decode(&[1, 2, 1]).unwrap_err().is_unexpected_end());
    assert!(decode(&[]).unwrap_err().is_unexpected_end());
    let stream = |bytes: &'static [u8]| tightwire_parco::decode_from_reader::<Later>(bytes);
    assert_eq!(stream(&[1]).unwrap(), decode(&[1]).unwrap());
    assert_eq!(stream(&[1, 2]).unwrap(), decode(&[1, 2]).unwrap());
    assert!(stream(&[1, 2, 1]).unwrap_err().is_unexpected_end());
    let mut over = Later { first: 9, second: 9, third: Some("old".into()), cache: 9 };
    tightwire_parco::decode_into(&[1], &mut over).unwrap();
    assert_eq!(over, Later { first: 1, second: 0, third: None, cache: 0 });
}

#[derive(Debug, PartialEq, Encode, Decode)]
struct Limited {
    #[parco(max = 3)]
    text: String,
    #[parco(max = LIMIT, header = u8, elem(max = 1, small))]
    list: Vec<String>,
}

const LIMIT: usize = 2;

#[test]
fn max_limits_lengths_and_counts() {
    let value = Limited { text: "abc".into(), list: vec!["d".into(), String::new()] };
    same(&value, &[3, b'a', b'b', b'c', 2, 1, b'd', 0]);
    let mut long = Limited { text: "abcd".into(), list: vec![] };
    let error = tightwire_parco::to_vec(&long).unwrap_err();
    assert!(error.is_limit());
    assert_eq!(error.path(), [tightwire_parco::Segment::Field("text")]);
    assert!(tightwire_parco::encoded_len(&long).unwrap_err().is_limit());
    long.text.clear();
    long.list = vec![String::new(); 3];
    assert!(tightwire_parco::to_vec(&long).unwrap_err().is_limit());
    long.list = vec!["ab".into()];
    assert!(tightwire_parco::to_vec(&long).unwrap_err().is_limit());
    let decode = tightwire_parco::decode_exact::<Limited>;
    assert!(decode(&[4, b'a', b'b', b'c', b'd', 0]).unwrap_err().is_limit());
    assert!(decode(&[0, 3, 0, 0, 0]).unwrap_err().is_limit());
    assert!(decode(&[0, 1, 2, b'a', b'b']).unwrap_err().is_limit());
}

#[derive(Debug, PartialEq, Encode, Decode)]
struct Names {
    #[parco(rename = "Renamed")]
    one: u8,
    r#type: u8,
    #[parco(ignore)]
    cache: Option<std::sync::Arc<str>>,
}

#[test]
fn names_are_those_of_the_schema() {
    let names: Vec<String> = fields::<Names>().into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["Renamed", "type"]);
    same(&Names { one: 1, r#type: 2, cache: None }, &[1, 2]);
    let error = tightwire_parco::decode_exact::<Names>(&[]).unwrap_err();
    assert_eq!(error.path(), [tightwire_parco::Segment::Field("Renamed")]);
}

mod elsewhere {
    pub(super) use tightwire_parco as codec;
}

#[derive(Debug, PartialEq, Encode, Decode)]
#[parco(crate = elsewhere::codec, be)]
struct Moved {
    number: u16,
}

#[test]
fn crate_path_can_be_set() {
    same(&Moved { number: 1 }, &[0, 1]);
}

#[test]
fn fixed_sizes_are_known() {
    fn sizes<T: EncodeAs>() -> (usize, Option<usize>) {
        (T::Wire::NEW.min_size(), T::Wire::NEW.fixed_size())
    }
    assert_eq!(sizes::<Reserved>(), (4, Some(4)));
    assert_eq!(sizes::<Numbers>(), (19, None));
    assert_eq!(sizes::<Later>(), (3, None));
    fn least<T: tightwire_parco::DecodeAs<'static>>() -> (usize, Option<usize>) {
        (T::Wire::NEW.min_size(), T::Wire::NEW.fixed_size())
    }
    assert_eq!(least::<Later>(), (1, None));
}

/// A type that is encoded and decoded as another one, which checks it.
#[test]
fn conversions_replace_the_fields() {
    #[derive(Clone, Debug, PartialEq, Encode, Decode)]
    #[parco(into = "String", try_from = "String")]
    struct Email {
        user: String,
        host: String,
    }
    impl From<Email> for String {
        fn from(email: Email) -> Self {
            format!("{}@{}", email.user, email.host)
        }
    }
    impl TryFrom<String> for Email {
        type Error = ();

        fn try_from(text: String) -> Result<Self, ()> {
            let (user, host) = text.split_once('@').ok_or(())?;
            Ok(Self { user: user.into(), host: host.into() })
        }
    }
    #[derive(Clone, Copy, Debug, PartialEq, Encode, Decode)]
    #[parco(into = u8, try_from = u8)]
    enum Level {
        Low,
        High,
    }
    impl From<Level> for u8 {
        fn from(level: Level) -> Self {
            level as Self
        }
    }
    impl TryFrom<u8> for Level {
        type Error = u8;

        fn try_from(number: u8) -> Result<Self, u8> {
            [Self::Low, Self::High].get(usize::from(number)).copied().ok_or(number)
        }
    }
    #[derive(Debug, PartialEq, Encode, Decode)]
    struct Account {
        level: Level,
        emails: Vec<Email>,
    }
    let email = Email { user: "a".into(), host: "b".into() };
    same(&Account { level: Level::High, emails: vec![email] }, b"\x01\x01\x03a@b");
    assert_eq!(schema::of::<Email>(), schema::of::<String>());
    let error = tightwire_parco::decode_exact::<Account>(b"\x01\x01\x02ab").unwrap_err();
    assert_eq!((error.is_invalid_value(), error.offset()), (true, Some(2)));
    assert!(tightwire_parco::decode_exact::<Account>(b"\x07\0").unwrap_err().is_invalid_value());
}

#[test]
fn defaults_are_expressions() {
    #[derive(Debug, PartialEq, Encode, Decode)]
    struct Server {
        name: String,
        #[parco(default_on_eof = 8080)]
        port: u16,
        #[parco(default_on_eof = vec!["localhost".to_owned()])]
        hosts: Vec<String>,
    }
    let server = |port, hosts: &[&str]| Server {
        name: "a".into(),
        port,
        hosts: hosts.iter().map(|host| (*host).to_owned()).collect(),
    };
    for (bytes, expected) in [
        (&b"\x01a"[..], server(8080, &["localhost"])),
        (b"\x01a\x50\0", server(80, &["localhost"])),
        (b"\x01a\x50\0\0", server(80, &[])),
    ] {
        assert_eq!(tightwire_parco::decode_exact::<Server>(bytes).unwrap(), expected);
        let mut other = server(1, &["x", "y"]);
        tightwire_parco::decode_into(bytes, &mut other).unwrap();
        assert_eq!(other, expected);
    }
}

#[test]
fn sorted_sets_have_one_encoding() {
    #[derive(Debug, PartialEq, Encode, Decode)]
    struct Tags {
        #[parco(sorted, header = u16, elem(small))]
        tags: std::collections::HashSet<String>,
    }
    let tags = ["d", "b", "a", "c"].map(str::to_owned);
    same(&Tags { tags: tags.into() }, b"\x04\0\x01a\x01b\x01c\x01d");
}
