//! Compares the package `serde_json` of this repository with serde_json: values, texts and positions of errors, and output.
#![no_main]

use std::collections::BTreeMap;
use std::fmt::Debug;

use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};

#[derive(Debug, Deserialize)]
#[expect(dead_code, reason = "`Debug` reads the fields")]
struct Record {
    a: Option<u64>,
    #[serde(default)]
    b: Vec<(i8, f32)>,
    #[serde(default)]
    c: BTreeMap<i16, Shape>,
    d: Option<Box<Self>>,
    e: Option<(bool, char, i128)>,
}

#[derive(Debug, Deserialize)]
enum Shape {
    #[serde(rename = "a")]
    Unit,
    #[serde(rename = "b")]
    Newtype(#[expect(dead_code, reason = "`Debug` reads it")] f64),
    #[serde(rename = "c")]
    Struct {
        #[expect(dead_code, reason = "`Debug` reads it")]
        a: bool,
    },
}

/// Defines a function that returns what all entry points return for a document, as text.
macro_rules! results {
    ($name:ident, $json:ident) => {
        fn $name<T: DeserializeOwned + Debug>(document: &[u8]) -> Vec<String> {
            fn text<T: Debug>(result: $json::Result<T>) -> String {
                match result {
                    Ok(value) => format!("{value:?}"),
                    Err(error) => format!("{error} {error:?} {:?}", error.classify()),
                }
            }

            let mut results =
                vec![text($json::from_slice::<T>(document)), text($json::from_reader::<_, T>(document))];
            if let Ok(document) = str::from_utf8(document) {
                results.push(text($json::from_str::<T>(document)));
            }
            results.extend($json::Deserializer::from_slice(document).into_iter::<T>().take(4).map(text));
            results.extend($json::Deserializer::from_reader(document).into_iter::<T>().take(4).map(text));
            if let Ok(value) = $json::from_slice::<$json::Value>(document) {
                results.extend([
                    value.to_string(),
                    format!("{value:#}"),
                    text($json::from_value::<T>(value)),
                ]);
            }
            results
        }
    };
}

results!(ours, serde_json_patch);
results!(theirs, serde_json);

fn compare<T: DeserializeOwned + Debug>(document: &[u8]) {
    assert_eq!(ours::<T>(document), theirs::<T>(document), "{}", std::any::type_name::<T>());
}

libfuzzer_sys::fuzz_target!(|document: &[u8]| {
    // Each crate also decodes the trees of the other one.
    compare::<serde_json::Value>(document);
    compare::<serde_json_patch::Value>(document);
    compare::<IgnoredAny>(document);
    compare::<Record>(document);
    compare::<Vec<Shape>>(document);
    // From a text, serde_json decodes a key for `bool` from its second byte on, as a `str` that is not UTF-8 if the first
    // character has several bytes.
    if document.is_ascii() {
        compare::<BTreeMap<bool, String>>(document);
    }
});
