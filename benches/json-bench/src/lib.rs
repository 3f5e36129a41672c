//! tightwire-json as a library of the suites `json` and `types`, beside the peers of the package `json-peers`.

use benches::{Impl, Row};
use json_peers::operation::Side;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tightwire_json::{Decoder, Encoder};

json_peers::library! {
    /// tightwire-json.
    Ours, "ours", None;
    tightwire_json::to_vec, tightwire_json::to_vec_pretty, tightwire_json::to_buf, tightwire_json::from_slice,
    tightwire_json::from_reader, tightwire_json::from_slice; {
        json_peers::indexed_trees!(tightwire_json::Value, tightwire_json::to_value, T::deserialize);

        const HAS_STREAM: bool = true;

        fn stream<T: DeserializeOwned>(document: &[u8]) -> Option<T> {
            Decoder::new(document).decode().ok()?
        }

        fn line<T: Serialize>(buffer: &mut Vec<u8>, value: &T) -> Option<()> {
            Encoder::new(buffer).encode(value).ok()
        }
    }
}

/// Adds an implementation to a row.
pub fn add_side<'a>(row: Row<'a>, side: Side<'a>) -> Row<'a> {
    row.run(describe(&side), side.expected, side.work)
}

/// Returns the name and the class of an implementation.
pub fn describe(side: &Side<'_>) -> Impl {
    match side.version {
        Some(version) => Impl::peer(&side.name, version),
        None => Impl::ours(&side.name),
    }
    .class(&side.class)
}
