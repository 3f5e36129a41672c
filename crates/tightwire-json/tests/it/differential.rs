//! Comparison with serde_json, and of the modes with each other.

use std::borrow::Cow;
use std::collections::BTreeMap;

use proptest::prelude::*;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};
use tightwire_json::{
    Codec, ErrorDetails as _, Mode, RawValue, Value, from_slice, from_str, to_string, to_string_pretty,
    to_vec,
};

use crate::support;
use crate::support::{document, mutated, outcome};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Record {
    id: Option<u64>,
    #[serde(default)]
    name: String,
    #[serde(default)]
    a: f64,
    #[serde(default)]
    b: Vec<Shape>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Shape {
    #[serde(rename = "a")]
    Unit,
    #[serde(rename = "b")]
    Newtype(i32),
    #[serde(rename = "id")]
    Tuple(u8, f32),
    #[serde(rename = "name")]
    Struct { a: bool },
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
enum Untagged {
    Number(i64),
    Float(f64),
    Text(String),
    Record(Box<Record>),
    Many(Vec<Self>),
    Map(BTreeMap<String, Self>),
}

/// Asserts that decoding a type fails with a data error exactly if the document is valid.
fn only_valid_documents_decode<T: DeserializeOwned + std::fmt::Debug>(
    document: &[u8],
) -> Result<(), TestCaseError> {
    for codec in support::codecs() {
        let actual = outcome(codec.from_slice::<T>(document));
        if codec.is_valid(document) {
            // A valid document of another type is a data error.
            prop_assert!(matches!(actual, Ok(_) | Err(("data", _))), "{:?}", actual);
        } else {
            prop_assert!(actual.is_err());
        }
    }
    Ok(())
}

/// Asserts in addition that serde_json decodes the same value, or fails.
fn same_as_serde_json<T: DeserializeOwned + std::fmt::Debug>(document: &[u8]) -> Result<(), TestCaseError> {
    only_valid_documents_decode::<T>(document)?;
    let ours = from_slice::<T>(document);
    let theirs = serde_json::from_slice::<T>(document);
    // `Debug` distinguishes -0 from 0, `==` does not.
    prop_assert_eq!(format!("{:?}", ours.ok()), format!("{:?}", theirs.ok()));
    Ok(())
}

fn every_type(document: &[u8]) -> Result<(), TestCaseError> {
    only_valid_documents_decode::<IgnoredAny>(document)?;
    only_valid_documents_decode::<Record>(document)?;
    only_valid_documents_decode::<Vec<Shape>>(document)?;
    only_valid_documents_decode::<Vec<f32>>(document)?;
    only_valid_documents_decode::<Vec<u128>>(document)?;
    only_valid_documents_decode::<Vec<Option<i8>>>(document)?;
    same_as_serde_json::<Value>(document)?;
    same_as_serde_json::<Untagged>(document)?;
    same_as_serde_json::<Vec<f64>>(document)?;
    same_as_serde_json::<BTreeMap<u16, Value>>(document)?;
    same_as_serde_json::<BTreeMap<String, String>>(document)?;
    same_as_serde_json::<(String, f64)>(document)?;
    same_as_serde_json::<Option<char>>(document)?;
    same_as_serde_json::<Vec<()>>(document)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn types_decode_like_with_serde_json(document in document()) {
        every_type(document.as_bytes())?;
    }

    #[test]
    fn mutated_types_decode_like_with_serde_json(document in mutated()) {
        every_type(&document)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn strict_accepts_what_serde_json_accepts(document in mutated()) {
        let ours = from_slice::<Value>(&document);
        let theirs = serde_json::from_slice::<Value>(&document);
        prop_assert_eq!(ours.is_ok(), theirs.is_ok(), "{:?} {:?}", ours, theirs);
        if let (Ok(ours), Ok(theirs)) = (ours, theirs) {
            prop_assert_eq!(&ours, &theirs);
            prop_assert_eq!(to_vec(&ours).unwrap(), serde_json::to_vec(&theirs).unwrap());
        }
    }

    #[test]
    fn strict_output_equals_that_of_serde_json(document in document()) {
        let Ok(value) = serde_json::from_str::<Value>(&document) else { return Ok(()) };
        let expected = serde_json::to_string(&value).unwrap();
        prop_assert_eq!(&to_string(&value).unwrap(), &expected);
        prop_assert_eq!(&Codec::fast().to_string(&value).unwrap(), &expected);
        prop_assert_eq!(
            to_string_pretty(&value).unwrap(),
            serde_json::to_string_pretty(&value).unwrap()
        );
    }

    #[test]
    fn values_round_trip_in_every_mode(document in document()) {
        let Ok(value) = from_str::<Value>(&document) else { return Ok(()) };
        for mode in [Mode::Strict, Mode::Compat, Mode::Fast] {
            let codec = Codec::new(mode);
            let written = codec.to_vec(&value).unwrap();
            let read: Value = codec.from_slice(&written).unwrap();
            // Compat writes 1.0 as 1, which is decoded as an integer.
            prop_assert_eq!(codec.to_vec(&read).unwrap(), written);
            if mode != Mode::Compat {
                prop_assert_eq!(&read, &value);
            }
            let raw: Box<RawValue> = codec.from_slice(document.as_bytes()).unwrap();
            prop_assert_eq!(codec.from_slice::<Value>(&codec.to_vec(&raw).unwrap()).unwrap(), value.clone());
        }
    }

    #[test]
    fn errors_have_an_offset_in_the_document(document in mutated()) {
        let Err(error) = from_slice::<IgnoredAny>(&document) else { return Ok(()) };
        prop_assert!(error.is_syntax() || error.is_eof() || error.is_limit());
        let offset = usize::try_from(error.offset().unwrap()).unwrap();
        prop_assert!(offset <= document.len());
        if error.is_eof() {
            prop_assert_eq!(offset, document.len());
        }
        prop_assert!(error.line() > 0 && error.column() > 0);
    }

    #[test]
    fn borrowed_strings_are_slices_of_the_document(words in prop::collection::vec("[^\"\\\\\\x00-\\x1f]*", 0..5)) {
        let document = to_vec(&words).unwrap();
        let borrowed: Vec<&str> = from_slice(&document).unwrap();
        prop_assert_eq!(&borrowed, &words);
        prop_assert!(borrowed.iter().all(|word| document.as_ptr_range().contains(&word.as_ptr())));
    }

    #[test]
    fn cow_strings_borrow_unless_there_are_escapes(words in prop::collection::vec("[a-z\n]*", 0..5)) {
        #[derive(Deserialize)]
        struct Word<'a>(#[serde(borrow)] Cow<'a, str>);
        let document = to_vec(&words).unwrap();
        let read: Vec<Word<'_>> = from_slice(&document).unwrap();
        prop_assert_eq!(read.len(), words.len());
        for (word, expected) in read.iter().zip(&words) {
            prop_assert_eq!(&word.0, expected);
            prop_assert_eq!(matches!(word.0, Cow::Borrowed(_)), !expected.contains('\n'));
        }
    }
}

/// Value whose maps are serialized in arbitrary order.
#[derive(Clone, Debug)]
enum Tree {
    Leaf(i32),
    List(Vec<Self>),
    Map(Vec<(String, Self)>),
}

impl Serialize for Tree {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Leaf(number) => serializer.serialize_i32(*number),
            Self::List(list) => list.serialize(serializer),
            Self::Map(entries) => serializer.collect_map(entries.iter().map(|(key, value)| (key, value))),
        }
    }
}

fn tree() -> impl Strategy<Value = Tree> {
    any::<i32>().prop_map(Tree::Leaf).prop_recursive(5, 60, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Tree::List),
            prop::collection::hash_map("[a-c\"\\\\<é]{0,3}", inner, 0..6)
                .prop_map(|map| Tree::Map(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn compat_sorts_the_keys_of_nested_maps(tree in tree(), before in "[a-z]{0,3}") {
        // A `Value` iterates over sorted keys, so that encoding it only sorts keys with escapes.
        let sorted = serde_json::to_value(&tree).unwrap();
        let expected = Codec::compat().to_string(&sorted).unwrap();
        prop_assert_eq!(Codec::compat().to_string(&tree).unwrap(), &expected[..]);
        let mut buffer = before.clone().into_bytes();
        Codec::compat().to_buf(&mut buffer, &tree).unwrap();
        prop_assert_eq!(String::from_utf8(buffer).unwrap(), before + &expected);
    }
}
