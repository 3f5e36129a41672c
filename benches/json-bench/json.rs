//! Suite `json`: the rows in the report of the Go library (the JSON package of sentinel-x), a mix of documents,
//! documents of several kinds and sizes, and operations beside encoding and decoding, each compared with other crates.
//!
//! The report has most rows twice or more, once per backend of the Go library. Here, each of these rows measures all
//! libraries, so that they are one row with aliases.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};

use benches::{Impl, Row, Suite};
use json_bench::{Ours, add_side, describe};
use json_peers::input::{Input, Type};
use json_peers::operation::{Operation, Side, side};
use json_peers::{payload, peers, real};

benches::counting_allocator!();

mod operations;

fn main() -> ExitCode {
    benches::main("json", env!("CARGO_TARGET_TMPDIR"), rows)
}

fn rows(suite: &mut Suite) -> anyhow::Result<()> {
    published(suite)?;
    mixed(suite);
    documents(suite)?;
    operations::rows(suite)
}

/// Adds ours and the peers with an operation on several inputs in turn.
fn add<'a>(row: Row<'a>, operation: Operation, inputs: &'a [Input]) -> Row<'a> {
    let expected = peers::expected(operation, inputs);
    let ours = match operation {
        // Ours has no tree that borrows, so its tree stands there, too.
        Operation::DecodeTreeBorrowed => side::<Ours>(Operation::DecodeTree, inputs, expected).map(|side| {
            Side { name: "ours tree borrowed".to_owned(), class: "tree borrowed".to_owned(), ..side }
        }),
        _ => side::<Ours>(operation, inputs, expected),
    };
    let sides = ours.into_iter().chain(peers::sides(operation, inputs, expected));
    match (operation, inputs) {
        // Numbers of 32 bits have fewer digits than the others of the row.
        (Operation::Encode, [Input { kind: Type::Canada32, .. }]) => sides
            .fold(row, |row, side| row.run(describe(&side).payload(side.expected), side.expected, side.work)),
        _ => sides.fold(row, add_side),
    }
}

/// Runs a row with operations on a document in one or several types.
fn run<'a>(mut row: Row<'a>, operations: &[Operation], inputs: &'a [Input]) {
    for operation in operations {
        let inputs = if operation.is_typed() { inputs } else { &inputs[..1] };
        for input in inputs {
            row = add(row, *operation, std::slice::from_ref(input));
        }
    }
}

/// Adds the lower bound: every decoder has to read every byte and validate UTF-8.
fn bounded<'a>(row: Row<'a>, document: &'a [u8]) -> Row<'a> {
    row.run(Impl::limit("UTF-8 check"), document.len() as u64, move || {
        std::str::from_utf8(std::hint::black_box(document)).map_or(0, |text| text.len() as u64)
    })
}

/// The document as serde_json writes it, in all of these types.
fn inputs(kinds: &[Type], text: impl Into<Vec<u8>>) -> Vec<Input> {
    let typed = Input::new(kinds[0], text);
    let document = typed.encoded();
    kinds.iter().map(|kind| Input::new(*kind, document.clone())).collect()
}

/// Rows of the report of the Go library.
fn published(suite: &mut Suite) -> anyhow::Result<()> {
    use Operation as O;
    let encode = &[O::Encode, O::EncodeReused, O::EncodeTree][..];
    let decode = &[O::Decode, O::Borrow, O::DecodeTree, O::DecodeTreeBorrowed][..];
    let round_trip = &[O::RoundTrip, O::RoundTripBorrowed, O::RoundTripTree][..];
    let api = inputs(&[Type::Api, Type::ApiTree], payload::API);
    let page = inputs(&[Type::Page], payload::page_document(20));
    let test = inputs(&[Type::Test, Type::TestTree], payload::TEST);
    let user = inputs(&[Type::User], payload::USER);
    let complex = inputs(&[Type::ComplexStruct, Type::ComplexTree], payload::COMPLEX);
    let small = inputs(&[Type::Small], payload::SIMPLE);
    suite.give_document("api_response.json", &api[0].document)?;
    suite.give_document("page_response.json", &page[0].document)?;
    for (names, operations, inputs) in [
        (&["api_response_sonic", "api_response_stdlib", "api_response_sonic_direct"][..], encode, &api),
        (&["user_data_sonic", "user_data_stdlib"], encode, &user),
        (&["page_response_sonic", "page_response_stdlib"], encode, &page),
        (&["marshal", "marshal_stdlib", "marshal_sonic"], encode, &test),
        (&["marshal_complex", "marshal_complex_stdlib", "marshal_complex_sonic"], encode, &complex),
        (&["marshal_small", "marshal_small_stdlib"], encode, &small),
        // The HTTP rows of the Go library also copy the buffer to a sink, which costs nothing here.
        (
            &[
                "api_response_encoder_sonic",
                "api_response_encoder_stdlib",
                "http_response_sonic",
                "http_response_stdlib",
            ],
            &[O::Line],
            &api,
        ),
        (&["http_page_response_sonic", "http_page_response_stdlib"], &[O::Line], &page),
        (&["encoder", "encoder_stdlib", "encoder_sonic"], &[O::Line], &test),
        (&["api_response_unmarshal_sonic", "api_response_unmarshal_stdlib"], decode, &api),
        (&["page_response_unmarshal_sonic", "page_response_unmarshal_stdlib"], decode, &page),
        (&["unmarshal", "unmarshal_stdlib", "unmarshal_sonic"], decode, &test),
        // simd-json, sonic-rs and flexon have no decoder for streams.
        (&["api_response_decoder_sonic", "api_response_decoder_stdlib"], &[O::Stream, O::Reader], &api),
        (&["round_trip_api_response_sonic", "round_trip_api_response_stdlib"], round_trip, &api),
        (&["round_trip_page_response_sonic", "round_trip_page_response_stdlib"], round_trip, &page),
        (&["roundtrip", "roundtrip_stdlib"], round_trip, &test),
    ] {
        let is_line = operations.contains(&O::Line);
        let row = suite.row(names[0]).payload(inputs[0].document.len() as u64 + u64::from(is_line));
        let row = if inputs[0].kind == Type::Page { row.elements(20) } else { row };
        run(names[1..].iter().fold(row, |row, name| row.alias(name)), operations, inputs);
    }
    Ok(())
}

/// Documents of several types and lengths in turn, short and long ones alternately, so that no buffer has the length of
/// the document before.
fn mixed(suite: &mut Suite) {
    let input = |kind, text: Vec<u8>| Input::new(kind, Input::new(kind, text).encoded());
    let documents = [
        input(Type::Test, payload::TEST.into()),
        input(Type::TwitterDocument, real::TWITTER.sized(20_000)),
        input(Type::Api, payload::API.into()),
        input(Type::Canada64, real::CANADA.sized(6_000)),
        input(Type::Test, payload::TEST.into()),
        input(Type::Page, payload::page_document(20)),
        input(Type::Api, payload::API.into()),
        input(Type::CitmDocument, real::CITM.sized(12_000)),
        input(Type::Test, payload::TEST.into()),
        input(Type::TwitterDocument, real::TWITTER.sized(2_500)),
    ];
    let length = documents.iter().map(|input| input.document.len() as u64).sum();
    for (name, operation) in [("mixed_encode", Operation::Encode), ("mixed_decode", Operation::Decode)] {
        add(suite.row(name).payload(length).elements(documents.len() as u64), operation, &documents);
    }
}

/// The documents of the package jiter as they are, and of 10 KB, 100 KB and 1 MB; pages of users of these sizes.
fn documents(suite: &mut Suite) -> anyhow::Result<()> {
    for (document, kinds) in [
        (&real::TWITTER, &[Type::TwitterDocument, Type::Tree][..]),
        (&real::CITM, &[Type::CitmDocument, Type::Tree]),
        (&real::CANADA, &[Type::Canada64, Type::Tree, Type::Canada32]),
    ] {
        one_document(suite, &format!("{}_real", document.name), kinds, || document.text().to_vec())?;
        for (size, length) in [("10k", 10 << 10), ("100k", 100 << 10), ("1m", 1 << 20)] {
            let name = format!("{}_{size}", document.name);
            one_document(suite, &name, &kinds[..2], || document.sized(length))?;
        }
    }
    for (size, users) in [("10k", 37), ("100k", 364), ("1m", 3_720)] {
        let page = || payload::page_document(users);
        one_document(suite, &format!("users_{size}"), &[Type::Page, Type::Tree], page)?;
    }
    Ok(())
}

/// Runs the rows of a document, in several types and as trees: decoding, and encoding the same value.
fn one_document(
    suite: &mut Suite,
    name: &str,
    kinds: &[Type],
    text: impl FnOnce() -> Vec<u8>,
) -> anyhow::Result<()> {
    /// Documents by name, with the length of their values.
    static TEXTS: Mutex<BTreeMap<String, &'static (Vec<u8>, u64)>> = Mutex::new(BTreeMap::new());

    let mut texts = TEXTS.lock().unwrap_or_else(PoisonError::into_inner);
    let (text, encoded) = *texts.entry(name.to_owned()).or_insert_with(|| {
        let input = Input::new(kinds[0], text());
        let encoded = input.encoded().len() as u64;
        Box::leak(Box::new((input.document, encoded)))
    });
    suite.give_document(&format!("{name}.json"), text)?;
    let inputs = |suite: &Suite, row: &str| -> Vec<_> {
        let input = |kind: &Type| match suite.selects(row) {
            true => Input::new(*kind, &**text),
            false => Input::absent(*kind),
        };
        kinds.iter().map(input).collect()
    };
    let decoding = format!("{name}_decode");
    let decoded = inputs(suite, &decoding);
    let row = bounded(suite.row(decoding).payload(text.len() as u64), &decoded[0].document);
    let borrows = name.ends_with("_real") && kinds[0] != Type::Canada64;
    let trees = [Operation::DecodeTree, Operation::DecodeTreeBorrowed];
    run(
        row,
        &[&[Operation::Decode][..], if borrows { &[Operation::Borrow] } else { &[] }, &trees].concat(),
        &decoded,
    );

    let encoding = format!("{name}_encode");
    let values = inputs(suite, &encoding);
    run(suite.row(encoding).payload(*encoded), &[Operation::Encode, Operation::EncodeTree], &values);
    Ok(())
}
