//! Decodes trees, which share memory, and compares them with the same trees of vectors and boxes before and after the
//! same changes, and with serde_json. The first bytes of the input set the limits, and whether the rest is a document
//! or the choices of a generator, whose objects often have the same keys. The changes are at the end.
#![no_main]

use std::fmt::Write;

use serde::Deserialize;
use tightwire_json::map::Entry;
use tightwire_json::{Codec, JsonString, Limits, Map, Value, from_str, from_value, to_string, to_value};

/// Source of choices, which are 0 after its end.
struct Choices<'a>(&'a [u8]);

impl Choices<'_> {
    fn next(&mut self) -> usize {
        self.0.split_off_first().map_or(0, |byte| usize::from(*byte))
    }

    /// Returns an index of a sequence of this length, which is not 0.
    fn index(&mut self, len: usize) -> usize {
        self.next() % len
    }
}

/// Lengths of strings and keys: around that of inline strings, of words and of blocks.
const LENGTHS: [usize; 16] = [0, 1, 2, 5, 6, 7, 8, 14, 15, 16, 20, 21, 22, 23, 24, 70];

/// Numbers of entries: around that of an index.
const COUNTS: [usize; 16] = [0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 6, 14, 15, 16, 17, 33];

const TEXT: &str = "0123456789ünïcödé€𝄞abcdefghijklmnopqrstuvwxyz 0123456789abcdefghijklmnopqrstuvwxyz";

/// Maximum length of a document that is generated, and of a tree that is changed.
const MAX_DOCUMENT: usize = 1024;

/// Writes a text that `choice` and `number`, which is less than 40, determine. `escape` writes the same text with an escape.
fn write_text(out: &mut String, choice: usize, number: usize, escape: bool) {
    let end = (LENGTHS[choice % 16]..).find(|at| TEXT.is_char_boundary(*at)).unwrap_or_default();
    let text = &TEXT[..end];
    let special = if choice & 0xe0 == 0 { r"\u00e9\n" } else { "" };
    let number = char::from(b'#' + number as u8);
    let number = if escape { format!(r"\u{:04x}", u32::from(number)) } else { number.to_string() };
    // Half of the texts differ at the end, the others at the start.
    match choice & 16 {
        0 => write!(out, r#""{text}{special}{number}""#),
        _ => write!(out, r#""{number}{special}{text}""#),
    }
    .expect("strings can be written");
}

/// Writes a document that the input chooses.
fn generate(choices: &mut Choices<'_>, out: &mut String, depth: usize) {
    let kind = choices.index(11);
    if choices.0.is_empty() || out.len() > MAX_DOCUMENT || depth > 60 {
        out.push('0');
        return;
    }
    match kind {
        0 => out.push_str(["null", "true", "false", "[]", "{}", "{ }"][choices.index(6)]),
        1 => write!(out, "{}", choices.next()).expect("strings can be written"),
        2 => {
            out.push_str(["-0", "-1", "1.5", "1e300", "18446744073709551616", "-9223372036854775808"][choices.index(6)])
        }
        3 | 4 => {
            let choice = choices.next();
            write_text(out, choice, choice % 3, choice & 32 == 0);
        }
        5 | 6 => {
            let count = COUNTS[choices.index(16)];
            write_all(out, ['[', ']'], count, |out, _| generate(choices, out, depth + 1));
        }
        7 => object(choices, out, depth),
        // Objects with the same keys, most of them in the same order.
        _ => {
            let shape = choices.next();
            let count = COUNTS[choices.index(16)];
            write_all(out, ['[', ']'], choices.index(6) + 1, |out, _| entries(choices, out, depth, shape, count));
        }
    }
}

fn object(choices: &mut Choices<'_>, out: &mut String, depth: usize) {
    let shape = choices.next();
    let count = COUNTS[choices.index(16)];
    entries(choices, out, depth, shape, count);
}

fn entries(choices: &mut Choices<'_>, out: &mut String, depth: usize, shape: usize, count: usize) {
    let changed = choices.next();
    // An additional entry at the end, or a missing one.
    let count = (count + usize::from(changed & 64 != 0)).saturating_sub(usize::from(changed >= 128));
    write_all(out, ['{', '}'], count, |out, at| {
        let differs = changed % 32 == at + 1;
        // Another key, a duplicate, the same key with an escape, or a duplicate with an escape.
        match choices.index(4) {
            0 if differs => write_text(out, shape + 1, at, false),
            1 if differs => write_text(out, shape, at / 2, false),
            2 if differs => write_text(out, shape, at, true),
            3 if differs => write_text(out, shape, at / 2, true),
            _ => write_text(out, shape, at, false),
        }
        out.push(':');
        generate(choices, out, depth + 1);
    });
}

fn write_all(out: &mut String, [open, close]: [char; 2], count: usize, mut write: impl FnMut(&mut String, usize)) {
    out.push(open);
    for at in 0..count {
        if at > 0 {
            out.push(',');
        }
        write(out, at);
    }
    out.push(close);
}

/// Returns a value of a tree.
fn choose<'v>(mut value: &'v mut Value, choices: &mut Choices<'_>) -> &'v mut Value {
    loop {
        let choice = choices.next();
        let is_empty =
            value.as_array().is_none_or(|array| array.is_empty()) && value.as_object().is_none_or(Map::is_empty);
        if choice % 4 == 0 || is_empty {
            return value;
        }
        match value {
            Value::Array(array) => {
                let at = choice % array.len();
                value = &mut array[at];
            }
            Value::Object(map) => {
                let at = choice % map.len();
                value = match choice & 64 {
                    0 => map.values_mut().nth(at).expect("the position exists"),
                    _ => {
                        let key = map.keys().nth(at).cloned().expect("the position exists");
                        map.get_mut(&key).expect("the key exists")
                    }
                };
            }
            _ => unreachable!("scalars are empty"),
        }
    }
}

/// Changes one of the trees, or moves values between them.
fn change(trees: &mut [Value; 2], choices: &mut Choices<'_>) {
    let [first, second] = trees;
    if choices.next() % 2 == 1 {
        std::mem::swap(first, second);
    }
    let other = choose(second, choices);
    let value = choose(first, choices);
    let operation = choices.next();
    match operation % 8 {
        0 => std::mem::swap(value, other),
        1 => *value = other.clone(),
        2 => *value = [other.take(), value.take()].into_iter().collect(),
        3 => tightwire_json::merge_patch(value, other.clone()),
        4 => value.sort_all_objects(),
        5 => *value = to_value(&*other).expect("a tree can be converted"),
        6 => *value = from_value::<Value>(other.take()).expect("a tree can be converted"),
        _ => {}
    }
    match value {
        Value::Array(array) => match operation / 8 % 16 {
            0 => array.push(other.take()),
            1 => array.insert(choices.index(array.len() + 1), other.clone()),
            2 if !array.is_empty() => *other = array.remove(choices.index(array.len())),
            3 if !array.is_empty() => *other = array.swap_remove(choices.index(array.len())),
            4 => *other = array.pop().into(),
            5 => array.truncate(choices.next()),
            6 => array.retain(Value::is_string),
            7 => array.reverse(),
            8 => array.to_mut().dedup(),
            9 => *other = array.drain(..array.len() / 2).collect(),
            10 => *other = std::mem::take(array).into_iter().rev().collect(),
            11 => array.extend_from_slice(&array.clone()),
            12 => array.iter_mut().for_each(|element| *element = Value::from([element.take()])),
            13 => array.append(&mut other.as_array().cloned().unwrap_or_default()),
            14 => *other = Vec::from(std::mem::take(array)).into(),
            _ => array.clear(),
        },
        Value::Object(map) => {
            let key = match choices.next() {
                at if at < map.len() => map.keys().nth(at).cloned().expect("the position exists"),
                at => JsonString::from("key ".repeat(at % 10)),
            };
            match operation / 8 % 16 {
                0 => *other = map.insert(key.into(), other.take()).into(),
                1 => *other = map.remove(&key).into(),
                2 => *other = map.swap_remove(&key).into(),
                3 => *other = map.shift_insert(choices.index(map.len().max(1)), key.into(), other.take()).into(),
                4 => map.append(&mut other.as_object().cloned().unwrap_or_default()),
                5 => *map.entry(key).or_insert(Value::Null) = other.take(),
                6 => match map.entry(key) {
                    Entry::Occupied(entry) => *other = entry.remove(),
                    Entry::Vacant(entry) => *other = entry.insert(true.into()).clone(),
                },
                7 => map.retain(|key, value| key.len() % 2 == 0 || value.is_object()),
                8 => map.sort_keys(),
                9 => *other = std::mem::take(map).into_iter().collect(),
                10 => *other = std::mem::take(map).into_values().collect(),
                11 => *other = map.keys().cloned().map(Value::String).collect(),
                12 => map.iter_mut().for_each(|(_, value)| *value = Value::from([value.take()])),
                13 => *map = map.clone().into_iter().map(|(key, value)| (String::from(key) + "+", value)).collect(),
                14 => *other = map.remove_entry(&key).map(|(key, value)| Value::from([key.into(), value])).into(),
                _ => map.clear(),
            }
        }
        Value::String(text) => *other = String::from(std::mem::take(text)).into(),
        scalar => *other = scalar.take(),
    }
}

/// Returns the tree without shared memory, because serde buffers the values of untagged enums.
fn owned(document: &str) -> Value {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Buffered {
        Tree(Value),
    }
    let Buffered::Tree(tree) = from_str(document).expect("the document was decoded before");
    tree
}

fn encode<T: serde::Serialize>(tree: &T) -> String {
    to_string(tree).expect("a tree can be encoded")
}

fn assert_same(tree: &Value, expected: &Value) {
    assert_eq!(tree, expected);
    // The text also distinguishes -0 from 0, and tells the order of entries.
    assert_eq!(encode(tree), encode(expected));
}

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    let Some((&[mode, depth, string, changes], input)) = input.split_first_chunk() else { return };
    let (input, changes) = input.split_at(input.len().saturating_sub(usize::from(changes % 48)));
    let mut document = String::new();
    match mode % 4 {
        0 => document.push_str(&String::from_utf8_lossy(input)),
        1 => object(&mut Choices(input), &mut document, 0),
        _ => generate(&mut Choices(input), &mut document, 0),
    }

    let limit = |number: u8| if number == u8::MAX { usize::MAX } else { usize::from(number) };
    let limits = Limits::new().max_depth(limit(depth)).max_string(limit(string));
    let limited = Codec::strict().with_limits(limits).from_str::<Value>(&document);
    let tree = match from_str::<Value>(&document) {
        Ok(tree) => tree,
        Err(error) => {
            // The generator writes few numbers that are out of range, and nothing that is malformed.
            assert!(mode % 4 == 0 || !error.is_syntax(), "{error}: {document}");
            return;
        }
    };
    match limited {
        Ok(limited) => assert_eq!(limited, tree),
        Err(error) => assert!(error.is_limit(), "{error}"),
    }

    let expected = owned(&document);
    assert_same(&tree, &expected);
    if let Ok(theirs) = serde_json::from_str::<serde_json::Value>(&document) {
        let mut sorted = tree.clone();
        sorted.sort_all_objects();
        assert_eq!(encode(&sorted), theirs.to_string());
        let pretty = serde_json::to_string_pretty(&theirs).expect("a tree can be encoded");
        assert_eq!(tightwire_json::to_string_pretty(&sorted).expect("a tree can be encoded"), pretty);
    }

    // Parts outlive the document.
    let trees = [tree.clone(), tree.get(0).or(tree.as_object().and_then(|map| map.values().last())).cloned().into()];
    let [mut shared, mut boxed] = [trees.clone(), trees.map(|tree| owned(&encode(&tree)))];
    let mut operations = Choices(changes);
    while !operations.0.is_empty() && encode(&shared).len() < 2 * MAX_DOCUMENT {
        let mut same_operations = Choices(operations.0);
        change(&mut shared, &mut operations);
        change(&mut boxed, &mut same_operations);
    }
    assert_same(&tree, &expected);
    drop(tree);
    for (tree, expected) in shared.iter().zip(&boxed) {
        assert_same(tree, expected);
        // The changes may have added levels.
        let Ok(again) = from_str::<Value>(&encode(tree)) else { continue };
        assert_same(&again, expected);
        assert_same(&to_value(tree).expect("a tree can be converted"), expected);
    }
});
