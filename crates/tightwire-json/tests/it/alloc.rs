//! Allocations of encoding and decoding.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tightwire_json::{
    Codec, Deserializer, Serializer, Value, from_slice, from_str, is_valid, to_value, to_vec,
};

use test_support::counting::{allocations, usage};

#[derive(Serialize, Deserialize)]
struct Record<'a> {
    id: u64,
    #[serde(borrow)]
    name: &'a str,
    score: f64,
    ratio: f32,
    tags: Vec<&'a str>,
    active: Option<bool>,
    counts: BTreeMap<&'a str, i32>,
    note: String,
}

fn record() -> Record<'static> {
    Record {
        id: u64::MAX,
        name: "a name that is longer than one block of sixteen bytes",
        score: 1e300 / 3.0,
        ratio: 0.1,
        tags: vec!["quote\"", "tab\t", "<&>", "\u{2028}"],
        active: Some(true),
        counts: BTreeMap::from([("one", 1), ("two", -2)]),
        note: "line\n".repeat(20),
    }
}

#[test]
fn encoding_into_a_buffer_with_capacity_does_not_allocate() {
    let record = record();
    for codec in [Codec::strict(), Codec::compat(), Codec::fast()] {
        let mut buffer = Vec::new();
        codec.to_buf(&mut buffer, &record).unwrap();
        buffer.reserve(64);
        for _ in 0..3 {
            buffer.clear();
            let (count, result) = allocations(|| codec.to_buf(&mut buffer, &record));
            result.unwrap();
            assert_eq!(count, 0, "{codec:?}");
        }
    }
}

#[test]
fn encoding_into_a_new_vector_allocates_once() {
    let record = record();
    // The lengths of the last two documents determine the capacity for the next.
    for _ in 0..2 {
        to_vec(&record).unwrap();
    }
    let (count, _) = allocations(|| to_vec(&record).unwrap());
    assert_eq!(count, 1);
}

#[test]
fn decoding_borrowed_values_allocates_only_for_containers() {
    let mut plain = record();
    plain.tags = vec!["a", "b", "c"];
    plain.note = String::new();
    let document = to_vec(&plain).unwrap();
    let (count, read) = allocations(|| from_slice::<Record<'_>>(&document).unwrap());
    assert_eq!(read.name, plain.name);
    // The vector of tags and the only node of the map.
    assert_eq!(count, 2);

    let numbers = to_vec(&[[1.5, -2e10], [0.1, 12345.678]]).unwrap();
    let (count, _) = allocations(|| from_slice::<[[f64; 2]; 2]>(&numbers).unwrap());
    assert_eq!(count, 0);
}

#[test]
fn arrays_as_long_as_the_previous_ones_are_allocated_once() {
    let rows = vec![vec![1_u8; 100]; 6];
    let document = to_vec(&rows).unwrap();
    let (count, decoded) = allocations(|| from_slice::<Vec<Vec<u8>>>(&document).unwrap());
    assert_eq!(decoded, rows);
    // Two rows grow from 8 to 128 elements, four rows are allocated at once, and the vector of rows grows from 4 to 8.
    assert_eq!(count, 2 * 5 + 4 + 2);
}

#[test]
fn long_arrays_before_short_ones_do_not_cause_large_allocations() {
    let long = vec![0_u64; 10_000];
    let mut rows = vec![long.clone(), long];
    rows.extend(vec![vec![1_u64; 2]; 10_000]);
    rows.extend(vec![Vec::new(); 10_000]);
    let document = to_vec(&rows).unwrap();
    let (used, decoded) = usage(|| from_slice::<Vec<Vec<u64>>>(&document).unwrap());
    assert_eq!(decoded, rows);
    // Growing by doubling takes at most four times the elements of the two long rows; the first short row has a hint.
    assert!(used.bytes < 5_000_000, "{used:?}");
    assert!(decoded[3..].iter().all(|row| row.capacity() <= 4));
}

#[test]
fn skipping_and_validating_do_not_allocate() {
    let document = to_vec(&(record(), vec![record(), record()])).unwrap();
    let (count, valid) = allocations(|| is_valid(&document));
    assert!(valid);
    assert_eq!(count, 0);
    let (count, result) = allocations(|| from_slice::<serde::de::IgnoredAny>(&document));
    result.unwrap();
    assert_eq!(count, 0);
}

#[test]
fn small_documents_from_readers_do_not_allocate_for_the_text() {
    let document = format!("[{:2000}]", 1);
    for _ in 0..2 {
        let (count, value) =
            allocations(|| tightwire_json::from_reader::<_, [u8; 1]>(document.as_bytes()).unwrap());
        assert_eq!(value, [1]);
        assert!(count <= 1);
    }
    let (count, _) = allocations(|| tightwire_json::from_reader::<_, [u8; 1]>(document.as_bytes()).unwrap());
    assert_eq!(count, 0);
}

#[test]
fn a_deserializer_and_a_serializer_reuse_their_buffers() {
    let text = r#"[1,"\n",{"a":null}]"#.repeat(50_000);
    let (used, count) = usage(|| {
        let values = Deserializer::from_reader(text.as_bytes()).into_iter::<serde::de::IgnoredAny>();
        values.map(Result::unwrap).count()
    });
    assert_eq!(count, 50_000);
    assert!(used.bytes < 32 << 10, "{used:?}");

    let (record, mut serializer) = (record(), Serializer::new(std::io::sink()));
    record.serialize(&mut serializer).unwrap();
    let (count, result) = allocations(|| record.serialize(&mut serializer));
    result.unwrap();
    assert_eq!(count, 0);
}

#[test]
fn an_encoder_reuses_its_buffer() {
    let record = record();
    let mut encoder = tightwire_json::Encoder::new(std::io::sink());
    encoder.encode(&record).unwrap();
    let (count, result) = allocations(|| encoder.encode(&record));
    result.unwrap();
    assert_eq!(count, 0);
}

#[test]
fn a_small_document_after_large_ones_allocates_little() {
    let large = "x".repeat(1 << 20);
    for _ in 0..4 {
        to_vec(&large).unwrap();
        let (used, document) = usage(|| to_vec("small").unwrap());
        assert!(used.bytes < 1024, "{used:?}");
        drop(document);
    }
}

#[test]
fn conversion_into_a_tree_rarely_allocates() {
    let records: Vec<_> = (0..1000).map(|_| record()).collect();
    let document = to_vec(&records).unwrap();
    let (used, tree) = usage(|| to_value(&records).unwrap());
    assert_eq!(tree.as_array().unwrap().len(), 1000);
    assert!(used.count < 60 && used.bytes < 10 * document.len(), "{used:?}");
    let (count, _) = allocations(|| to_value(1.5).unwrap());
    assert_eq!(count, 0);
}

#[test]
fn many_trees_in_a_document_take_memory_in_proportion_to_it() {
    let elements = 10_000;
    let text = r#"{"a":[1]},"#.repeat(elements);
    let array = format!("[{}]", text.trim_end_matches(','));
    let (in_array, trees) = usage(|| from_str::<Vec<Value>>(&array).unwrap());
    let lines = text.replace(',', "\n");
    let (in_stream, documents) = usage(|| {
        let values = Deserializer::from_str(&lines).into_iter::<Value>();
        values.collect::<Result<Vec<_>, _>>().unwrap()
    });
    assert_eq!((trees.len(), &trees), (elements, &documents));
    for used in [in_array, in_stream] {
        assert!(used.bytes < 1000 * elements, "{used:?}");
    }

    let (used, tree) = usage(|| from_str::<Value>(&array).unwrap());
    assert_eq!(tree, to_value(trees).unwrap());
    assert!(used.count < 40 && used.bytes < 32 * array.len(), "{used:?}");
}
