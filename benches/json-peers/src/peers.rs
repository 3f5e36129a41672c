//! The peers, called as shown first in their documentation.

use std::hint::black_box;

use jiter::{Jiter, JsonValue, JsonValueScratch, PartialMode};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use simd_json::prelude::{ValueAsArray as _, ValueAsObject as _, ValueAsScalar as _, Writable as _};
use sonic_rs::{JsonContainerTrait as _, JsonValueTrait as _};

use crate::input::{Input, Type};
use crate::library::Library;
use crate::operation::{Operation, Side, checked, side};
use crate::real::{Canada, Feature, Geometry, Map};
use crate::{indexed_trees, library};

library! {
    /// serde_json, from text: after a check of all bytes, this is a fifth faster than its functions for slices.
    SerdeJson, "serde_json", Some("1.0.154");
    serde_json::to_vec, serde_json::to_vec_pretty, serde_json::to_writer, from_bytes, serde_json::from_reader, from_bytes; {
        indexed_trees!(serde_json::Value, serde_json::to_value, T::deserialize);

        const HAS_STREAM: bool = true;

        fn stream<T: DeserializeOwned>(document: &[u8]) -> Option<T> {
            serde_json::Deserializer::from_reader(document).into_iter().next()?.ok()
        }
    }
}

library! {
    /// sonic-rs.
    SonicRs, "sonic-rs", Some("0.5.10");
    sonic_rs::to_vec, sonic_rs::to_vec_pretty, sonic_rs::to_writer, sonic_rs::from_slice, sonic_rs::from_reader,
    sonic_rs::from_slice; {
        indexed_trees!(sonic_rs::Value, sonic_rs::to_value, sonic_rs::from_value);
    }
}

library! {
    /// flexon, whose trees come from its own parser, which reads text.
    Flexon, "flexon", Some("0.4.8");
    flexon::to_vec, flexon::to_vec_pretty, flexon::to_writer, flexon::from_slice, flexon::from_reader, flexon_tree; {
        const HAS_TREES: bool = false;
        type Tree = flexon::OwnedValue;

        fn check_tree(tree: &flexon::OwnedValue) -> u64 {
            let fields = tree.as_object().map_or(&[][..], |object| object.as_slice());
            fields.iter().map(|(_, field)| field.as_array().map_or(1, |array| array.len()) as u64).sum()
        }
    }
}

pub(crate) fn from_bytes<'de, T: Deserialize<'de>>(document: &'de [u8]) -> serde_json::Result<T> {
    serde_json::from_str(std::str::from_utf8(document).map_err(serde::de::Error::custom)?)
}

fn flexon_tree(document: &[u8]) -> Result<flexon::OwnedValue, flexon::Error> {
    flexon::parse(std::str::from_utf8(document).unwrap_or_default())
}

/// simd-json, which modifies its input: every operation copies the document into a reused buffer. Its working memory is
/// reused, too.
#[derive(Default)]
pub struct SimdJson {
    copy: Vec<u8>,
    buffers: simd_json::Buffers,
}

impl std::fmt::Debug for SimdJson {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SimdJson").field("capacity", &self.copy.capacity()).finish_non_exhaustive()
    }
}

impl Library for SimdJson {
    const NAME: &'static str = "simd-json";
    const VERSION: Option<&'static str> = Some("0.19.0");

    fn to_vec<T: Serialize>(value: &T) -> Option<Vec<u8>> {
        simd_json::serde::to_vec(value).ok()
    }

    fn to_buf<T: Serialize>(buffer: &mut Vec<u8>, value: &T) -> Option<()> {
        simd_json::serde::to_writer(buffer, value).ok()
    }

    fn read<'de, T: Deserialize<'de>>(&'de mut self, document: &'de [u8]) -> Option<T> {
        self.copy.clear();
        self.copy.extend_from_slice(document);
        simd_json::serde::from_slice_with_buffers(&mut self.copy, &mut self.buffers).ok()
    }

    fn read_mut<'de, T: Deserialize<'de>>(&'de mut self, document: &'de mut Vec<u8>) -> Option<T> {
        simd_json::serde::from_slice_with_buffers(document, &mut self.buffers).ok()
    }

    fn from_reader<T: DeserializeOwned>(document: &[u8]) -> Option<T> {
        simd_json::serde::from_reader(document).ok()
    }

    fn tree(&mut self, document: &[u8]) -> Option<simd_json::OwnedValue> {
        self.copy.clear();
        self.copy.extend_from_slice(document);
        simd_json::value::owned::to_value_with_buffers(&mut self.copy, &mut self.buffers).ok()
    }

    indexed_trees!(
        simd_json::OwnedValue,
        simd_json::serde::to_owned_value,
        simd_json::serde::from_refowned_value
    );

    fn tree_mut(&mut self, document: &mut [u8]) -> Option<simd_json::OwnedValue> {
        simd_json::value::owned::to_value_with_buffers(document, &mut self.buffers).ok()
    }

    fn tree_to_vec(tree: &simd_json::OwnedValue) -> Option<Vec<u8>> {
        Some(tree.encode().into_bytes())
    }

    fn to_vec_pretty<T: Serialize>(value: &T) -> Option<Vec<u8>> {
        simd_json::to_vec_pretty(value).ok()
    }
}

/// Returns the check value of an operation: the value of serde_json, and never that of a failure.
pub fn expected(operation: Operation, inputs: &[Input]) -> u64 {
    let operation = match operation {
        Operation::DecodeTreeBorrowed => Operation::DecodeTree,
        _ => operation,
    };
    side::<SerdeJson>(operation, inputs, 0).map_or(0, |mut side| (side.work)()).max(1)
}

/// Returns the peers' implementations of an operation on several inputs in turn.
pub fn sides<'a>(operation: Operation, inputs: &'a [Input], expected: u64) -> Vec<Side<'a>> {
    let mut sides = Vec::new();
    sides.extend(side::<SerdeJson>(operation, inputs, expected));
    sides.extend(side::<SimdJson>(operation, inputs, expected));
    sides.extend(side::<SonicRs>(operation, inputs, expected));
    sides.extend(side::<Flexon>(operation, inputs, expected));
    let [input] = inputs else { return sides };
    let class = &operation.class(input.kind);
    let document = &*input.document;
    match (operation, input.kind) {
        (Operation::DecodeTree, _) => {
            let mut scratch = JsonValueScratch::new();
            sides.push(Side::peer("jiter", JITER, class, expected, move || {
                let tree = scratch.parse_owned(black_box(document), false, PartialMode::Off);
                tree.map_or(0, |tree| check_jiter(black_box(&tree)))
            }));
        }
        (Operation::DecodeTreeBorrowed, _) => sides.extend(borrowed_trees(document, class, expected)),
        (Operation::Decode, Type::Canada64) => {
            sides.push(Side::peer("jiter", JITER, class, expected, move || {
                checked(canada(&mut Jiter::new(black_box(document))))
            }));
        }
        _ => {}
    }
    sides
}

pub(crate) const JITER: Option<&str> = Some("0.19.0");

pub(crate) fn check_jiter(tree: &JsonValue<'_>) -> u64 {
    let JsonValue::Object(fields) = tree else { return 0 };
    let count = |field: &JsonValue<'_>| match field {
        JsonValue::Array(elements) => elements.len() as u64,
        _ => 1,
    };
    fields.iter().map(|(_, field)| count(field)).sum()
}

/// Trees that borrow from the document or cannot be changed.
fn borrowed_trees<'a>(document: &'a [u8], class: &str, expected: u64) -> [Side<'a>; 5] {
    let count = |array: Option<usize>| array.unwrap_or(1) as u64;
    let mut copies = [SimdJson::default(), SimdJson::default()];
    for copy in &mut copies {
        copy.copy.extend_from_slice(document);
    }
    let [mut borrowed, mut tape] = copies;
    let mut scratch = JsonValueScratch::new();
    let simd_json = SimdJson::VERSION;
    [
        Side::peer("jiter", JITER, class, expected, move || {
            let tree = scratch.parse(black_box(document), false, PartialMode::Off);
            tree.map_or(0, |tree| check_jiter(black_box(&tree)))
        }),
        Side::peer("flexon", Flexon::VERSION, class, expected, move || {
            let text = std::str::from_utf8(black_box(document)).unwrap_or_default();
            let Ok(tree) = flexon::parse::<_, flexon::Value<'_>>(text) else { return 0 };
            let fields = black_box(&tree).as_object().map_or(&[][..], |object| object.as_slice());
            fields.iter().map(|(_, field)| count(field.as_array().map(|array| array.len()))).sum()
        }),
        Side::peer("serde_json_borrow", Some("0.9.0"), class, expected, move || {
            let tree = from_bytes::<serde_json_borrow::Value<'_>>(black_box(document));
            let Ok(tree) = tree else { return 0 };
            let fields = black_box(&tree).iter_object().into_iter().flatten();
            fields.map(|(_, field)| count(field.as_array().map(<[_]>::len))).sum()
        }),
        Side::peer("simd-json", simd_json, class, expected, move || {
            borrowed.copy.clear();
            borrowed.copy.extend_from_slice(black_box(document));
            let tree =
                simd_json::value::borrowed::to_value_with_buffers(&mut borrowed.copy, &mut borrowed.buffers);
            let Ok(tree) = tree else { return 0 };
            let fields = black_box(&tree).as_object().into_iter().flat_map(|object| object.iter());
            fields.map(|(_, field)| count(field.as_array().map(Vec::len))).sum()
        }),
        Side::peer("simd-json tape", simd_json, class, expected, move || {
            tape.copy.clear();
            tape.copy.extend_from_slice(black_box(document));
            let tree = simd_json::to_tape_with_buffers(&mut tape.copy, &mut tape.buffers);
            let Ok(tree) = tree else { return 0 };
            let root = black_box(&tree).as_value();
            let Some(fields) = root.as_object() else { return 0 };
            fields.iter().map(|(_, field)| count(field.as_array().map(|array| array.len()))).sum()
        }),
    ]
}

/// Reads `canada.json` with the iterator of jiter, for which programs write the loops themselves.
fn canada(reader: &mut Jiter<'_>) -> Option<Canada<f64>> {
    let mut canada = Canada { kind: String::new(), features: Vec::new() };
    fields(reader, |reader, name| match name {
        "type" => text(reader, &mut canada.kind),
        _ => elements(reader, |reader| {
            canada.features.push(feature(reader)?);
            Some(())
        }),
    })?;
    reader.finish().ok()?;
    Some(canada)
}

fn feature(reader: &mut Jiter<'_>) -> Option<Feature<f64>> {
    let mut geometry = Geometry { kind: String::new(), coordinates: Vec::new() };
    let (mut kind, mut properties) = (String::new(), Map::new());
    fields(reader, |reader, name| match name {
        "type" => text(reader, &mut kind),
        "properties" => fields(reader, |reader, name| {
            properties.insert(name.to_owned(), reader.next_str().ok()?.to_owned());
            Some(())
        }),
        _ => fields(reader, |reader, name| match name {
            "type" => text(reader, &mut geometry.kind),
            _ => elements(reader, |reader| {
                let mut ring = Vec::new();
                elements(reader, |reader| {
                    reader.next_array().ok()?;
                    let x = reader.next_float().ok()?;
                    reader.array_step().ok()?;
                    let y = reader.next_float().ok()?;
                    reader.array_step().ok()?.is_none().then(|| ring.push((x, y)))
                })?;
                geometry.coordinates.push(ring);
                Some(())
            }),
        }),
    })?;
    Some(Feature { kind, properties, geometry })
}

fn text(reader: &mut Jiter<'_>, text: &mut String) -> Option<()> {
    reader.next_str().ok()?.clone_into(text);
    Some(())
}

fn fields<'j>(
    reader: &mut Jiter<'j>,
    mut field: impl FnMut(&mut Jiter<'j>, &str) -> Option<()>,
) -> Option<()> {
    let mut key = reader.next_object().ok()?.map(str::to_owned);
    while let Some(name) = key {
        field(reader, &name)?;
        key = reader.next_key().ok()?.map(str::to_owned);
    }
    Some(())
}

fn elements<'j>(reader: &mut Jiter<'j>, mut element: impl FnMut(&mut Jiter<'j>) -> Option<()>) -> Option<()> {
    let mut next = reader.next_array().ok()?;
    while next.is_some() {
        element(reader)?;
        next = reader.array_step().ok()?;
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use std::any::type_name;

    use serde_json::Value;

    use super::*;
    use crate::api::document::same;
    use crate::input::{Document, Visit};
    use crate::real::{CANADA, CITM, TWITTER};

    /// Compares whole values, unlike the check values.
    #[test]
    fn all_libraries_read_and_write_the_same_real_documents() {
        struct Check<'a, L>(&'a Input, L);

        impl<L: Library> Visit for Check<'_, L> {
            type Output = ();

            fn visit<D: Document>(self) {
                let Self(input, mut library) = self;
                let expected: Value = serde_json::from_slice(&input.document).unwrap();
                let is_right = |encoded: Option<Vec<u8>>| {
                    let value = serde_json::from_slice(&encoded.unwrap()).unwrap();
                    assert!(same(&value, &expected), "{input:?} {} {}", L::NAME, type_name::<D>());
                };
                is_right(L::to_vec(&library.read::<D::Encoded>(&input.document).unwrap()));
                let mut copy = input.document.clone();
                is_right(L::to_vec(&library.read_mut::<D::Encoded>(&mut copy).unwrap()));
                is_right(L::tree_to_vec(&library.tree(&input.document).unwrap()));
            }
        }

        for (document, kind) in
            [(&TWITTER, Type::TwitterDocument), (&CITM, Type::CitmDocument), (&CANADA, Type::Canada32)]
        {
            let input = Input::new(kind, document.text());
            kind.visit(Check(&input, SerdeJson));
            kind.visit(Check(&input, SimdJson::default()));
            kind.visit(Check(&input, SonicRs));
            kind.visit(Check(&input, Flexon));
        }
        let canada = canada(&mut Jiter::new(CANADA.text())).unwrap();
        let expected = serde_json::from_slice(CANADA.text()).unwrap();
        assert!(same(&serde_json::to_value(canada).unwrap(), &expected));
    }
}
