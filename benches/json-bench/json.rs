//! Suite `json`: the rows in the report of the Go library (the JSON package of sentinel-x), a mix of documents, and
//! documents of several kinds and sizes, and operations beside encoding and decoding, each compared with other crates.
//!
//! The report has most rows twice or more, once per backend of the Go library. Here, each of these rows measures all
//! libraries, so that they are one row with aliases.

use std::hint::black_box;
use std::process::ExitCode;

use benches::{Impl, Row, Suite, memory};
use json_bench::documents::{Catalogue, Coastline, Kind, Messages, Size};
use json_bench::families::{
    ApiCow, ApiDynamic, ApiOwned, CatalogueOwned, CoastlineOwned, Family, MessagesOwned, PageCow, PageOwned,
    TestCow, TestDynamic, TestOwned, Tree,
};
use json_bench::library::{self, Library, Ours, SerdeJson, SimdJson, SonicRs, implementation};
use json_bench::mix::Mix;
use json_bench::payload;
use json_bench::types::{Check as _, PageResponse};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tightwire_json::Codec;

benches::counting_allocator!();

/// Structs, encoded.
const TYPED: &str = "typed";
/// Structs with owned strings, decoded.
const OWNED: &str = "typed owned";
/// Structs with strings that borrow if they have no escapes, decoded.
const BORROWED: &str = "typed borrowed";
/// Structs with a tree of serde_json, where the Go library has a map of any values.
const WITH_TREE: &str = "typed with tree";
/// The tree of serde_json, for all libraries.
const SAME_TREE: &str = "serde_json tree";
/// The tree of each library.
const TREE: &str = "tree";

/// Adds an implementation per library to a row: ours and those of [`peers!`].
macro_rules! all {
    ($from:expr, |$row:ident, $library:ident| $added:expr) => {{
        #[allow(clippy::redundant_locals, reason = "not every row is a variable")]
        let $row = $from;
        let $row = {
            type $library = Ours;
            $added
        };
        peers!($row, |$row, $library| $added)
    }};
}

/// Adds an implementation per peer to a row.
macro_rules! peers {
    ($from:expr, |$row:ident, $library:ident| $added:expr) => {{
        #[allow(clippy::redundant_locals, reason = "not every row is a variable")]
        let $row = $from;
        let $row = {
            type $library = SerdeJson;
            $added
        };
        let $row = {
            type $library = SimdJson;
            $added
        };
        type $library = SonicRs;
        $added
    }};
}

mod operations;

fn main() -> ExitCode {
    benches::main("json", env!("CARGO_TARGET_TMPDIR"), |suite| {
        marshal(suite);
        encoders(suite);
        unmarshal(suite);
        decoders(suite);
        round_trips(suite);
        mixed(suite);
        documents(suite);
        operations::rows(suite);
        Ok(())
    })
}

/// Starts the row of several published benchmarks, which measure the same code here.
fn group<'a>(suite: &'a mut Suite, names: &[&str], payload: u64) -> Row<'a> {
    let row = suite.row(names[0]).payload(payload);
    names[1..].iter().fold(row, |row, name| row.alias(name))
}

/// Returns the encoded length of a value, which is the same for all encoders.
fn length<T: Serialize>(value: &T) -> u64 {
    document(value).len() as u64
}

fn document<T: Serialize>(value: &T) -> Vec<u8> {
    serde_json::to_vec(value).unwrap_or_default()
}

fn marshal(suite: &mut Suite) {
    let (with_tree, typed) = (payload::api_dynamic(), payload::api_typed());
    let names = ["api_response_sonic", "api_response_stdlib", "api_response_sonic_direct"];
    encode(encode_new(group(suite, &names, length(&typed)), WITH_TREE, &with_tree), &typed);
    let user = payload::user();
    encode(group(suite, &["user_data_sonic", "user_data_stdlib"], length(&user)), &user);
    let page = payload::page(20);
    let names = ["page_response_sonic", "page_response_stdlib"];
    encode(group(suite, &names, length(&page)).elements(20), &page);
    let (with_tree, typed) = (payload::test_dynamic(), payload::test_typed());
    let len = length(&typed);
    let row = group(suite, &["marshal", "marshal_stdlib", "marshal_sonic"], len);
    encode(encode_new(row, WITH_TREE, &with_tree), &typed);
    // The peers have no such mode, except for sonic in Go.
    let fast = Codec::fast();
    let name = |form: &str| implementation::<Ours>(&format!("{form}, fastest mode, new buffer"));
    suite
        .row("marshal_fastest_mode")
        .payload(len)
        .run(name(WITH_TREE), len, || encoded(fast.to_vec(black_box(&with_tree))))
        .run(name(TYPED), len, || encoded(fast.to_vec(black_box(&typed))));

    let (with_tree, typed) = (payload::complex_dynamic(), payload::complex_typed());
    let names = ["marshal_complex", "marshal_complex_stdlib", "marshal_complex_sonic"];
    encode(encode_new(group(suite, &names, length(&typed)), WITH_TREE, &with_tree), &typed);
    let simple = payload::simple();
    encode(group(suite, &["marshal_small", "marshal_small_stdlib"], length(&simple)), &simple);
}

fn encoded<E>(document: Result<Vec<u8>, E>) -> u64 {
    document.map_or(0, |document| black_box(&document).len() as u64)
}

/// Encodes structs into a new vector and into a reused buffer, and the same document as a tree.
fn encode<'a, T: Serialize>(row: Row<'a>, value: &'a T) -> Row<'a> {
    let row = encode_new(row, TYPED, value);
    let row = all!(row, |row, L| {
        let mut buffer = Vec::new();
        row.run(implementation::<L>(&format!("{TYPED}, reused buffer")), length(value), move || {
            library::encode_reused::<L, T>(&mut buffer, value)
        })
    });
    encode_tree(row, &document(value))
}

fn encode_new<'a, T: Serialize>(row: Row<'a>, form: &str, value: &'a T) -> Row<'a> {
    all!(row, |row, L| {
        row.run(implementation::<L>(&format!("{form}, new buffer")), length(value), || {
            library::encode::<L, T>(value)
        })
    })
}

fn encode_tree<'a>(row: Row<'a>, document: &[u8]) -> Row<'a> {
    // The expected length is that of the encoder of serde_json, without unnecessary escapes.
    let expected = serde_json::from_slice::<Value>(document).map_or(u64::MAX, |tree| length(&tree));
    all!(row, |row, L| {
        let tree = L::default().tree(document);
        row.run(implementation::<L>(&format!("{TREE}, new buffer")), expected, move || {
            tree.as_ref().map_or(0, library::encode_tree::<L>)
        })
    })
}

/// Rows that write a line with a new encoder into a new buffer. The HTTP rows of the Go library also copy the buffer to
/// a sink, which costs nothing here.
fn encoders(suite: &mut Suite) {
    let (with_tree, typed) = (payload::api_dynamic(), payload::api_typed());
    let names = [
        "api_response_encoder_sonic",
        "api_response_encoder_stdlib",
        "http_response_sonic",
        "http_response_stdlib",
    ];
    let row = group(suite, &names, length(&typed) + 1);
    line(line(row, WITH_TREE, &with_tree), TYPED, &typed);
    let page = payload::page(20);
    let names = ["http_page_response_sonic", "http_page_response_stdlib"];
    line(group(suite, &names, length(&page) + 1).elements(20), TYPED, &page);
    let (with_tree, typed) = (payload::test_dynamic(), payload::test_typed());
    let row = group(suite, &["encoder", "encoder_stdlib", "encoder_sonic"], length(&typed) + 1);
    line(line(row, WITH_TREE, &with_tree), TYPED, &typed);
}

fn line<'a, T: Serialize>(row: Row<'a>, form: &str, value: &'a T) -> Row<'a> {
    all!(row, |row, L| {
        row.run(implementation::<L>(&format!("{form}, new buffer")), length(value) + 1, || {
            library::line::<L, T>(value)
        })
    })
}

fn unmarshal(suite: &mut Suite) {
    let input = document(&payload::api_dynamic());
    let names = ["api_response_unmarshal_sonic", "api_response_unmarshal_stdlib"];
    let row = bounded(group(suite, &names, input.len() as u64), &input);
    decode_typed::<ApiOwned, ApiCow>(decode::<ApiDynamic>(row, WITH_TREE, &input, API), &input, API);
    let input = document(&payload::page(20));
    let names = ["page_response_unmarshal_sonic", "page_response_unmarshal_stdlib"];
    let row = bounded(group(suite, &names, input.len() as u64).elements(20), &input);
    decode_typed::<PageOwned, PageCow>(row, &input, PAGE);
    let input = document(&payload::test_dynamic());
    let row = group(suite, &["unmarshal", "unmarshal_stdlib", "unmarshal_sonic"], input.len() as u64);
    decode_typed::<TestOwned, TestCow>(decode::<TestDynamic>(row, WITH_TREE, &input, TEST), &input, TEST);
}

/// Adds the lower bound: every decoder has to read every byte and validate UTF-8.
fn bounded<'a>(row: Row<'a>, document: &'a [u8]) -> Row<'a> {
    let len = document.len();
    row.run(Impl::limit("UTF-8 check"), len as u64, move || memory::validate(black_box(document), len.max(1)))
}

/// Check value of the API response: 1 for its data, the length of its id, its timestamp.
const API: u64 = 1 + 40 + 1_703_001_234_567;
/// Check value of the page: logins and lengths of the names, 200 users in total, 20 per page.
const PAGE: u64 = 20 * 100 + 10 * 190 + 20 * 5 + 200 + 20;
/// Check value of the test response: the lengths of its message and its five permissions.
const TEST: u64 = 7 + 5 * 11;

/// Decodes structs with owned strings, structs with borrowed strings, and trees.
fn decode_typed<'a, O: Family, B: Family>(row: Row<'a>, document: &'a [u8], expected: u64) -> Row<'a> {
    let row = decode::<O>(row, OWNED, document, expected);
    decode_tree(decode::<B>(row, BORROWED, document, expected), document)
}

fn decode<'a, F: Family>(row: Row<'a>, form: &str, document: &'a [u8], expected: u64) -> Row<'a> {
    let text = Impl::peer(format!("serde_json {form}, text"), SerdeJson::VERSION.unwrap_or_default());
    all!(row, |row, L| {
        let mut library = L::default();
        row.run(implementation::<L>(form), expected, move || library::decode::<L, F>(&mut library, document))
    })
    .run(text.class(form), expected, || library::serde_json_str::<F>(document))
}

fn decode_tree<'a>(row: Row<'a>, document: &'a [u8]) -> Row<'a> {
    let expected = tree_check(document);
    all!(row, |row, L| {
        let mut library = L::default();
        row.run(implementation::<L>(TREE), expected, move || {
            library::decode_tree::<L>(&mut library, document)
        })
    })
}

fn tree_check(document: &[u8]) -> u64 {
    serde_json::from_slice::<Value>(document).map_or(u64::MAX, |tree| tree.check())
}

/// Rows with a new reader and a new stream decoder. simd-json and sonic-rs have no stream decoder: they read the whole
/// input first, and are compared with the functions of tightwire-json and serde_json that do the same.
fn decoders(suite: &mut Suite) {
    let input = document(&payload::api_dynamic());
    let names = ["api_response_decoder_sonic", "api_response_decoder_stdlib"];
    let row = group(suite, &names, input.len() as u64);
    read::<ApiOwned>(read::<ApiDynamic>(row, WITH_TREE, &input), OWNED, &input);
}

fn read<'a, F: Family>(row: Row<'a>, form: &str, document: &'a [u8]) -> Row<'a>
where
    F::Of<'static>: DeserializeOwned,
{
    let class = &format!("{form}, stream");
    let row = row.run(implementation::<Ours>(class), API, || library::stream::<F>(document));
    let row = row.run(implementation::<SerdeJson>(class), API, || library::serde_json_stream::<F>(document));
    let class = &format!("{form}, whole reader");
    all!(row, |row, L| {
        row.run(implementation::<L>(class), API, || library::decode_reader::<L, F>(document))
    })
}

fn round_trips(suite: &mut Suite) {
    let (with_tree, typed) = (payload::api_dynamic(), payload::api_typed());
    let names = ["round_trip_api_response_sonic", "round_trip_api_response_stdlib"];
    let row = group(suite, &names, length(&typed));
    let row = round_trip::<ApiDynamic, _>(row, WITH_TREE, &with_tree, API);
    both_ways::<ApiOwned, ApiCow, _>(row, &typed, API);
    let page = payload::page(20);
    let names = ["round_trip_page_response_sonic", "round_trip_page_response_stdlib"];
    both_ways::<PageOwned, PageCow, _>(group(suite, &names, length(&page)).elements(20), &page, PAGE);
    let (with_tree, typed) = (payload::test_dynamic(), payload::test_typed());
    let row = group(suite, &["roundtrip", "roundtrip_stdlib"], length(&typed));
    let row = round_trip::<TestDynamic, _>(row, WITH_TREE, &with_tree, TEST);
    both_ways::<TestOwned, TestCow, _>(row, &typed, TEST);
}

/// Encodes and decodes structs with owned strings, structs with borrowed strings, and trees.
fn both_ways<'a, O: Family, B: Family, T: Serialize>(row: Row<'a>, value: &'a T, expected: u64) -> Row<'a> {
    let row = round_trip::<O, T>(row, OWNED, value, expected);
    let row = round_trip::<B, T>(row, BORROWED, value, expected);
    let document = document(value);
    all!(row, |row, L| {
        let mut library = L::default();
        let tree = library.tree(&document);
        row.run(implementation::<L>(TREE), tree_check(&document), move || {
            tree.as_ref().map_or(0, |tree| library::round_trip_tree::<L>(&mut library, tree))
        })
    })
}

fn round_trip<'a, F: Family, T: Serialize>(row: Row<'a>, form: &str, value: &'a T, expected: u64) -> Row<'a> {
    all!(row, |row, L| {
        let mut library = L::default();
        row.run(implementation::<L>(form), expected, move || {
            library::round_trip::<L, F, T>(&mut library, value)
        })
    })
}

/// Documents of nine types and lengths in turn, so that no buffer has the length of the document before.
fn mixed(suite: &mut Suite) {
    let mix = &Mix::default();
    let row = suite.row("mixed_encode").payload(mix.length).elements(Mix::DOCUMENTS);
    all!(row, |row, L| {
        let mut buffer = Vec::new();
        row.run(implementation::<L>("typed, new buffer"), mix.length, move || mix.encode::<L>()).run(
            implementation::<L>("typed, reused buffer"),
            mix.length,
            move || mix.encode_reused::<L>(&mut buffer),
        )
    });
    let row = suite.row("mixed_decode").payload(mix.length).elements(Mix::DOCUMENTS);
    all!(row, |row, L| {
        let mut library = L::default();
        row.run(implementation::<L>(OWNED), mix.check(), move || mix.decode(&mut library))
    });
}

/// Rows with documents of three kinds in 10 KB, 100 KB and 1 MB, and with pages of users.
fn documents(suite: &mut Suite) {
    for kind in Kind::ALL {
        for size in Size::ALL {
            let name = format!("{}_{}", kind.name(), size.name());
            let lengths = size.lengths(kind);
            let generate = |is_selected| kind.generate(if is_selected { size.least() } else { 0 });
            match kind {
                Kind::Messages => one_document::<MessagesOwned, Messages>(suite, &name, lengths, generate),
                Kind::Catalogue => one_document::<CatalogueOwned, Catalogue>(suite, &name, lengths, generate),
                Kind::Coastline => one_document::<CoastlineOwned, Coastline>(suite, &name, lengths, generate),
            }
        }
    }
    for (size, users, length) in payload::PAGES {
        let generate = |is_selected| document(&payload::page(if is_selected { users } else { 1 }));
        let name = format!("users_{size}");
        one_document::<PageOwned, PageResponse<String>>(suite, &name, (length, length), generate);
    }
}

/// Adds the rows of a document: decoding, and encoding the same value. `generate` returns a small document if its
/// argument is false.
fn one_document<F: Family, T: DeserializeOwned + Serialize>(
    suite: &mut Suite,
    name: &str,
    (decoded, encoded): (u64, u64),
    generate: impl Fn(bool) -> Vec<u8>,
) {
    let (decoding, encoding) = (format!("{name}_decode"), format!("{name}_encode"));
    let document = &generate(suite.selects(&decoding) || suite.selects(&encoding));

    let row = bounded(suite.row(decoding).payload(decoded), document);
    let row = decode::<Tree>(row, SAME_TREE, document, tree_check(document));
    let row = decode_tree(row, document);
    let typed = library::decode::<SerdeJson, F>(&mut SerdeJson, document);
    decode::<F>(row, OWNED, document, typed);

    let (Ok(value), Ok(typed)) =
        (tightwire_json::from_slice::<Value>(document), tightwire_json::from_slice::<T>(document))
    else {
        unreachable!("generated documents have their type, as tests check")
    };
    let row = encode_new(suite.row(encoding).payload(encoded), SAME_TREE, &value);
    encode_new(encode_tree(row, document), TYPED, &typed);
}
