//! Access to single cases of the vectors, by id.

use serde_json::Value;

/// Returns the case with this id from a list.
pub(crate) fn case(list: &str, id: &str) -> Value {
    let file: Value = serde_json::from_str(include_str!("../data/parco-vectors.json")).unwrap();
    let cases = file[list].as_array().unwrap();
    cases.iter().find(|case| case["id"] == id).unwrap_or_else(|| panic!("{list} has no case {id}")).clone()
}

/// Returns the bytes of a case.
pub(crate) fn bytes(list: &str, id: &str) -> Vec<u8> {
    hex(&case(list, id)["hex"])
}

/// Decodes hexadecimal digits.
pub(crate) fn hex(digits: &Value) -> Vec<u8> {
    let digits = digits.as_str().unwrap().as_bytes();
    let digit = |byte: u8| char::from(byte).to_digit(16).unwrap();
    digits.chunks(2).map(|pair| u8::try_from(digit(pair[0]) << 4 | digit(pair[1])).unwrap()).collect()
}
