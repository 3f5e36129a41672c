//! The peers in rows beside encoding and decoding whole documents.

use std::fmt::{self, Display};
use std::hint::black_box;

use jiter::{JsonValue, PartialMode};
use serde::Deserialize;
use serde::de::{Deserializer, SeqAccess, Visitor};
use struson::json_path;
use struson::reader::{JsonReader as _, JsonStreamReader};

use crate::library::Library as _;
use crate::operation::{Side, checked};
use crate::peers::{JITER, SerdeJson, SimdJson, SonicRs, check_jiter, from_bytes};
use crate::real::Status;
use crate::types::{PageResponse, UserData};

/// Class of operations whose whole input is in memory.
pub const IN_MEMORY: &str = "in memory";
/// Class of operations whose input is a blocking reader.
pub const READER: &str = "from a reader";
/// Class of lookups by a JSON pointer.
pub const POINTERS: &str = "tree, pointers as text";
/// Class of values that are a part of the document.
pub const BORROWED: &str = "borrowed";
/// Class of errors without the path of the value.
pub const ERROR: &str = "typed owned";
/// Class of errors with the path of the value.
pub const PATH: &str = "with a path";
/// Class of trees of incomplete documents.
pub const PARTIAL: &str = "tree";

/// Returns the value that an element is counted with.
pub fn text(message: &Status<String>) -> u64 {
    black_box(message).text.len() as u64
}

/// Sum over the messages of a document, whose other parts are skipped.
#[derive(Deserialize)]
struct Sum {
    #[serde(deserialize_with = "sum")]
    statuses: u64,
}

fn sum<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    struct Elements;

    impl<'de> Visitor<'de> for Elements {
        type Value = u64;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("messages")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<u64, A::Error> {
            let mut sum = 0;
            while let Some(message) = elements.next_element::<Status<String>>()? {
                sum += text(&message);
            }
            Ok(sum)
        }
    }

    deserializer.deserialize_seq(Elements)
}

/// Elements of an array, one in memory at a time.
pub fn elements(input: &[u8], expected: u64) -> [Side<'_>; 4] {
    let sum_of = |sum: serde_json::Result<Sum>| sum.map_or(0, |sum| sum.statuses);
    [
        Side::of::<SerdeJson>(READER, expected, move || sum_of(serde_json::from_reader(black_box(input)))),
        Side::peer("struson", Some("0.7.2"), READER, expected, move || {
            let mut reader = JsonStreamReader::new(black_box(input));
            let mut sum = 0;
            let mut read = || {
                reader.seek_to(&json_path!["statuses"]).ok()?;
                reader.begin_array().ok()?;
                while reader.has_next().ok()? {
                    sum += text(&reader.deserialize_next::<Status<String>>().ok()?);
                }
                reader.end_array().ok()?;
                reader.skip_to_top_level().ok()
            };
            read().map_or(0, |()| sum)
        }),
        Side::of::<SerdeJson>(IN_MEMORY, expected, move || sum_of(from_bytes(black_box(input)))),
        Side::of::<SonicRs>(IN_MEMORY, expected, move || {
            sonic_rs::from_slice::<Sum>(black_box(input)).map_or(0, |sum| sum.statuses)
        }),
    ]
}

/// Element of [`lines`].
pub type User = UserData<String>;

/// Returns the check value of [`lines`].
pub fn logins(users: impl Iterator<Item = User>) -> u64 {
    users.map(|user| black_box(&user).metadata.login_count as u64).sum()
}

/// Documents in lines.
pub fn lines(input: &[u8], expected: u64) -> [Side<'_>; 4] {
    let mut simd_json = SimdJson::default();
    [
        Side::of::<SerdeJson>(IN_MEMORY, expected, move || {
            let text = std::str::from_utf8(black_box(input)).unwrap_or_default();
            let users = serde_json::Deserializer::from_str(text).into_iter();
            logins(users.map_while(Result::ok))
        }),
        Side::of::<SimdJson>(IN_MEMORY, expected, move || {
            let lines = black_box(input).split(|byte| *byte == b'\n');
            logins(lines.map_while(|line| simd_json.read(line)))
        }),
        Side::of::<SonicRs>(IN_MEMORY, expected, move || {
            let users = sonic_rs::Deserializer::from_slice(black_box(input)).into_stream();
            logins(users.map_while(Result::ok))
        }),
        Side::of::<SerdeJson>(READER, expected, move || {
            let users = serde_json::Deserializer::from_reader(black_box(input)).into_iter();
            logins(users.map_while(Result::ok))
        }),
    ]
}

/// Incomplete documents, parsed from their start up to each of the ends. The tree of jiter borrows from the text.
pub fn partial<'a>(text: &'a str, ends: &'a [usize], expected: u64) -> [Side<'a>; 2] {
    [
        Side::peer("jiter", JITER, PARTIAL, expected, move || {
            ends.iter().fold(0, |_, end| {
                let text = black_box(&text.as_bytes()[..*end]);
                let tree = JsonValue::parse_with_config(text, false, PartialMode::TrailingStrings);
                tree.map_or(0, |tree| check_jiter(black_box(&tree)))
            })
        }),
        Side::peer("partial-json-fixer and serde_json", Some("0.5.5"), PARTIAL, expected, move || {
            ends.iter().fold(0, |_, end| {
                let document = partial_json_fixer::fix_json(black_box(&text[..*end]));
                checked(serde_json::from_str::<serde_json::Value>(&document).ok())
            })
        }),
    ]
}

/// Elements of an array as text.
pub fn raw_values(input: &[u8], expected: u64) -> Side<'_> {
    Side::of::<SonicRs>(BORROWED, expected, move || {
        let values = sonic_rs::from_slice::<Vec<sonic_rs::LazyValue<'_>>>(black_box(input));
        values.map_or(0, |values| {
            black_box(values).iter().map(|value| value.as_raw_str().len() as u64 + 1).sum()
        })
    })
}

/// Names of users by pointer.
pub fn pointers<'a>(input: &[u8], pointers: &'a [String], expected: u64) -> Side<'a> {
    let tree: Option<serde_json::Value> = serde_json::from_slice(input).ok();
    Side::of::<SerdeJson>(POINTERS, expected, move || {
        let Some(tree) = black_box(&tree) else { return 0 };
        let names = pointers.iter().filter_map(|pointer| tree.pointer(pointer)?.as_str());
        names.map(|name| name.len() as u64).sum()
    })
}

/// Returns the check value of a decoder that failed: 1 if the error has a message.
pub fn message<E: Display>(result: Result<PageResponse<String>, E>) -> u64 {
    result.map_or_else(|error| u64::from(!black_box(error.to_string()).is_empty()), |_| 0)
}

/// Decoding that fails, and the message of the error.
pub fn errors(input: &[u8]) -> [Side<'_>; 4] {
    let mut copy = Vec::new();
    [
        Side::of::<SerdeJson>(ERROR, 1, move || message(from_bytes(black_box(input)))),
        Side::of::<SimdJson>(ERROR, 1, move || {
            copy.clear();
            copy.extend_from_slice(black_box(input));
            message(simd_json::from_slice(&mut copy))
        }),
        Side::of::<SonicRs>(ERROR, 1, move || message(sonic_rs::from_slice(black_box(input)))),
        Side::peer("serde_path_to_error and serde_json", Some("0.1.20"), PATH, 1, move || {
            let text = std::str::from_utf8(black_box(input)).unwrap_or_default();
            let mut deserializer = serde_json::Deserializer::from_str(text);
            message(serde_path_to_error::deserialize(&mut deserializer))
        }),
    ]
}
