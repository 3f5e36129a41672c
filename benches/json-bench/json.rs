//! Suite `json`: the rows of the third report, and documents of three kinds and sizes, each compared with other crates.
//!
//! The report has most rows twice, once per backend of the Go library. Here, the first row of a pair has all
//! implementations, the other only tightwire-json and the standard library of each language.

use std::hint::black_box;

use benches::{Impl, Row, Suite, memory};
use json_bench::documents::{Catalogue, Coastline, Kind, Messages, Size};
use json_bench::families::{
    ApiCow, ApiDynamic, ApiOwned, ApiSimdJson, ApiSonicRs, ApiStr, CatalogueOwned, CoastlineOwned, Family,
    MessagesOwned, PageCow, PageOwned, PageStr, TestCow, TestDynamic, TestOwned, TestStr, Tree,
};
use json_bench::library::{self, Library, Ours, SerdeJson, SimdJson, SonicRs, implementation};
use json_bench::payload;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tightwire_json::Codec;

benches::counting_allocator!();

/// Implementations of a row.
#[derive(Clone, Copy, PartialEq)]
enum Set {
    /// All, with new and with reused buffers.
    Full,
    /// All, with new buffers.
    Backends,
    /// tightwire-json and serde_json.
    Standard,
}

/// Tree of values, where the Go library has a map of any values.
const DYNAMIC: &str = "dynamic";
/// Structs only.
const TYPED: &str = "typed";
/// Structs with owned strings.
const OWNED: &str = "typed owned";
/// Structs with strings that borrow if they have no escapes.
const COW: &str = "typed cow";
/// Structs with strings that must borrow.
const STR: &str = "typed str";

fn main() {
    let mut suite = Suite::from_args("json", env!("CARGO_TARGET_TMPDIR"));
    marshal(&mut suite);
    encoders(&mut suite);
    unmarshal(&mut suite);
    decoders(&mut suite);
    round_trips(&mut suite);
    documents(&mut suite);
    suite.finish();
}

/// Runs a function for the peers of a set.
macro_rules! peers {
    ($set:expr, $row:expr, $function:ident::<_ $(, $type:ty)*>, $($argument:expr),+) => {{
        let row = $function::<SerdeJson $(, $type)*>($row, $($argument),+);
        match $set {
            Set::Standard => row,
            Set::Full | Set::Backends => {
                let row = $function::<SimdJson $(, $type)*>(row, $($argument),+);
                $function::<SonicRs $(, $type)*>(row, $($argument),+)
            }
        }
    }};
}

/// Returns the encoded length of a value, which is the same for all encoders.
fn length<T: Serialize>(value: &T) -> u64 {
    serde_json::to_vec(value).map_or(0, |document| document.len() as u64)
}

fn marshal(suite: &mut Suite) {
    let (dynamic, typed) = (payload::api_dynamic(), payload::api_typed());
    for (name, set) in [
        ("api_response_sonic", Set::Full),
        ("api_response_stdlib", Set::Standard),
        ("api_response_sonic_direct", Set::Backends),
    ] {
        let row = suite.row(name).payload(length(&dynamic));
        encode(encode(row, DYNAMIC, &dynamic, set), TYPED, &typed, set);
    }
    for (name, set) in [("user_data_sonic", Set::Full), ("user_data_stdlib", Set::Standard)] {
        let user = payload::user();
        encode(suite.row(name).payload(length(&user)), TYPED, &user, set);
    }
    for (name, set) in [("page_response_sonic", Set::Full), ("page_response_stdlib", Set::Standard)] {
        let page = payload::page();
        encode(suite.row(name).payload(length(&page)).elements(20), TYPED, &page, set);
    }
    let (dynamic, typed) = (payload::test_dynamic(), payload::test_typed());
    for (name, set) in
        [("marshal", Set::Full), ("marshal_stdlib", Set::Standard), ("marshal_sonic", Set::Backends)]
    {
        let row = suite.row(name).payload(length(&dynamic));
        encode(encode(row, DYNAMIC, &dynamic, set), TYPED, &typed, set);
    }
    let len = length(&dynamic);
    let fast = Codec::fast();
    let row = suite.row("marshal_fastest_mode").payload(len);
    let row = row.run(implementation::<Ours>(DYNAMIC), len, || encoded(fast.to_vec(black_box(&dynamic))));
    let row = row.run(implementation::<Ours>(TYPED), len, || encoded(fast.to_vec(black_box(&typed))));
    let row = peers!(Set::Backends, row, fresh::<_, _>, DYNAMIC, &dynamic);
    peers!(Set::Backends, row, fresh::<_, _>, TYPED, &typed);

    let (dynamic, typed) = (payload::complex_dynamic(), payload::complex_typed());
    for (name, set) in [
        ("marshal_complex", Set::Full),
        ("marshal_complex_stdlib", Set::Standard),
        ("marshal_complex_sonic", Set::Backends),
    ] {
        let row = suite.row(name).payload(length(&dynamic));
        encode(encode(row, DYNAMIC, &dynamic, set), TYPED, &typed, set);
    }
    for (name, set) in [("marshal_small", Set::Full), ("marshal_small_stdlib", Set::Standard)] {
        let simple = payload::simple();
        encode(suite.row(name).payload(length(&simple)), TYPED, &simple, set);
    }
}

fn encoded<E>(document: Result<Vec<u8>, E>) -> u64 {
    document.map_or(0, |document| black_box(&document).len() as u64)
}

/// Encodes into a new vector, and with [`Set::Full`] also into a reused buffer.
fn encode<'a, T: Serialize>(row: Row<'a>, form: &str, value: &T, set: Set) -> Row<'a> {
    let row = peers!(set, fresh::<Ours, T>(row, form, value), fresh::<_, T>, form, value);
    if set != Set::Full {
        return row;
    }
    let form = &format!("{form} reused");
    peers!(set, reused::<Ours, T>(row, form, value), reused::<_, T>, form, value)
}

fn fresh<'a, L: Library, T: Serialize>(row: Row<'a>, form: &str, value: &T) -> Row<'a> {
    row.run(implementation::<L>(form), length(value), || library::encode::<L, T>(value))
}

fn reused<'a, L: Library, T: Serialize>(row: Row<'a>, form: &str, value: &T) -> Row<'a> {
    let mut buffer = Vec::new();
    row.run(implementation::<L>(form), length(value), || library::encode_reused::<L, T>(&mut buffer, value))
}

/// Rows that write a line with a new encoder into a new buffer. The HTTP rows then write the buffer to a sink.
fn encoders(suite: &mut Suite) {
    let (dynamic, typed) = (payload::api_dynamic(), payload::api_typed());
    for (name, set, http) in [
        ("api_response_encoder_sonic", Set::Full, false),
        ("api_response_encoder_stdlib", Set::Standard, false),
        ("http_response_sonic", Set::Full, true),
        ("http_response_stdlib", Set::Standard, true),
    ] {
        let row = suite.row(name).payload(length(&dynamic) + 1);
        lines(lines(row, DYNAMIC, &dynamic, set, http), TYPED, &typed, set, http);
    }
    let page = payload::page();
    for (name, set) in [("http_page_response_sonic", Set::Full), ("http_page_response_stdlib", Set::Standard)]
    {
        lines(suite.row(name).payload(length(&page) + 1).elements(20), TYPED, &page, set, true);
    }
    let (dynamic, typed) = (payload::test_dynamic(), payload::test_typed());
    for (name, set) in
        [("encoder", Set::Full), ("encoder_stdlib", Set::Standard), ("encoder_sonic", Set::Backends)]
    {
        let row = suite.row(name).payload(length(&dynamic) + 1);
        lines(lines(row, DYNAMIC, &dynamic, set, false), TYPED, &typed, set, false);
    }
}

fn lines<'a, T: Serialize>(row: Row<'a>, form: &str, value: &T, set: Set, http: bool) -> Row<'a> {
    let row = row.run(implementation::<Ours>(form), length(value) + 1, || match http {
        true => library::http(value),
        false => library::encoder(value),
    });
    peers!(set, row, line::<_, T>, form, value)
}

fn line<'a, L: Library, T: Serialize>(row: Row<'a>, form: &str, value: &T) -> Row<'a> {
    row.run(implementation::<L>(form), length(value) + 1, || library::line::<L, T>(value))
}

fn unmarshal(suite: &mut Suite) {
    let document = serde_json::to_vec(&payload::api_dynamic()).unwrap_or_default();
    for (name, set) in
        [("api_response_unmarshal_sonic", Set::Full), ("api_response_unmarshal_stdlib", Set::Standard)]
    {
        let row = bounded(suite.row(name).payload(document.len() as u64), &document);
        let row = decode::<ApiDynamic>(row, DYNAMIC, &document, API, set);
        let row = decode::<ApiOwned>(row, OWNED, &document, API, set);
        if set == Set::Full {
            let row = decode::<ApiCow>(row, COW, &document, API, set);
            let row = decode::<ApiStr>(row, STR, &document, API, set);
            // The tree types of these peers have other properties, so that they are a separate class.
            let own = "tree of its own";
            let row = slice::<SimdJson, ApiSimdJson>(row, own, &document, API);
            slice::<SonicRs, ApiSonicRs>(row, own, &document, API);
        }
    }
    let document = serde_json::to_vec(&payload::page()).unwrap_or_default();
    for (name, set) in
        [("page_response_unmarshal_sonic", Set::Full), ("page_response_unmarshal_stdlib", Set::Standard)]
    {
        let row = bounded(suite.row(name).payload(document.len() as u64).elements(20), &document);
        let row = decode::<PageOwned>(row, OWNED, &document, PAGE, set);
        if set == Set::Full {
            let row = decode::<PageCow>(row, COW, &document, PAGE, set);
            decode::<PageStr>(row, STR, &document, PAGE, set);
        }
    }
    let document = serde_json::to_vec(&payload::test_dynamic()).unwrap_or_default();
    for (name, set) in
        [("unmarshal", Set::Full), ("unmarshal_stdlib", Set::Standard), ("unmarshal_sonic", Set::Backends)]
    {
        let row = suite.row(name).payload(document.len() as u64);
        let row = decode::<TestDynamic>(row, DYNAMIC, &document, TEST, set);
        let row = decode::<TestOwned>(row, OWNED, &document, TEST, set);
        if set == Set::Full {
            let row = decode::<TestCow>(row, COW, &document, TEST, set);
            decode::<TestStr>(row, STR, &document, TEST, set);
        }
    }
}

/// Adds the lower bound: every decoder has to read every byte and validate UTF-8.
fn bounded<'a>(row: Row<'a>, document: &[u8]) -> Row<'a> {
    let len = document.len();
    row.run(Impl::limit("UTF-8 check"), len as u64, || memory::validate(black_box(document), len.max(1)))
}

/// Check value of the API response: 1 for its data, the length of its id, its timestamp.
const API: u64 = 1 + 40 + 1_703_001_234_567;
/// Check value of the page: logins and lengths of the names, 200 users in total, 20 per page.
const PAGE: u64 = 20 * 100 + 10 * 190 + 20 * 5 + 200 + 20;
/// Check value of the test response: the lengths of its message and its five permissions.
const TEST: u64 = 7 + 5 * 11;

fn decode<'a, F: Family>(row: Row<'a>, form: &str, document: &[u8], expected: u64, set: Set) -> Row<'a> {
    let row = slice::<Ours, F>(row, form, document, expected);
    let row = peers!(set, row, slice::<_, F>, form, document, expected);
    if set == Set::Standard {
        return row;
    }
    let text =
        Impl::peer(format!("serde_json str {form}"), SerdeJson::VERSION.unwrap_or_default()).class(form);
    row.run(text, expected, || library::serde_json_str::<F>(document))
}

fn slice<'a, L: Library, F: Family>(row: Row<'a>, form: &str, document: &[u8], expected: u64) -> Row<'a> {
    let mut library = L::default();
    row.run(implementation::<L>(form), expected, || library::decode::<L, F>(&mut library, document))
}

/// Rows with a new reader and a new stream decoder. simd-json and sonic-rs have no stream decoder: they read the whole
/// input first, and are compared with the functions of tightwire-json and serde_json that do the same.
fn decoders(suite: &mut Suite) {
    let document = serde_json::to_vec(&payload::api_dynamic()).unwrap_or_default();
    for (name, set) in
        [("api_response_decoder_sonic", Set::Full), ("api_response_decoder_stdlib", Set::Standard)]
    {
        let row = suite.row(name).payload(document.len() as u64);
        let row = read::<ApiDynamic>(row, DYNAMIC, &document, set);
        read::<ApiOwned>(row, OWNED, &document, set);
    }
}

fn read<'a, F: Family>(row: Row<'a>, form: &str, document: &[u8], set: Set) -> Row<'a>
where
    F::Of<'static>: DeserializeOwned,
{
    let row = row.run(implementation::<Ours>(form), API, || library::stream::<F>(document)).run(
        implementation::<SerdeJson>(form),
        API,
        || library::serde_json_stream::<F>(document),
    );
    if set == Set::Standard {
        return row;
    }
    let form = &format!("{form} whole");
    peers!(set, reader::<Ours, F>(row, form, document), reader::<_, F>, form, document)
}

fn reader<'a, L: Library, F: Family>(row: Row<'a>, form: &str, document: &[u8]) -> Row<'a>
where
    F::Of<'static>: DeserializeOwned,
{
    row.run(implementation::<L>(form), API, || library::decode_reader::<L, F>(document))
}

fn round_trips(suite: &mut Suite) {
    let (dynamic, typed) = (payload::api_dynamic(), payload::api_typed());
    for (name, set) in
        [("round_trip_api_response_sonic", Set::Full), ("round_trip_api_response_stdlib", Set::Standard)]
    {
        let row = suite.row(name).payload(length(&dynamic));
        let row = both_ways::<ApiDynamic, _>(row, DYNAMIC, &dynamic, API, set);
        let row = both_ways::<ApiOwned, _>(row, OWNED, &typed, API, set);
        if set == Set::Full {
            both_ways::<ApiStr, _>(row, STR, &typed, API, set);
        }
    }
    let page = payload::page();
    for (name, set) in
        [("round_trip_page_response_sonic", Set::Full), ("round_trip_page_response_stdlib", Set::Standard)]
    {
        let row = suite.row(name).payload(length(&page)).elements(20);
        let row = both_ways::<PageOwned, _>(row, OWNED, &page, PAGE, set);
        if set == Set::Full {
            both_ways::<PageStr, _>(row, STR, &page, PAGE, set);
        }
    }
    let (dynamic, typed) = (payload::test_dynamic(), payload::test_typed());
    for (name, set) in [("roundtrip", Set::Full), ("roundtrip_stdlib", Set::Standard)] {
        let row = suite.row(name).payload(length(&dynamic));
        let row = both_ways::<TestDynamic, _>(row, DYNAMIC, &dynamic, TEST, set);
        both_ways::<TestOwned, _>(row, OWNED, &typed, TEST, set);
    }
}

fn both_ways<'a, F: Family, T: Serialize>(
    row: Row<'a>,
    form: &str,
    value: &T,
    expected: u64,
    set: Set,
) -> Row<'a> {
    let row = round_trip::<Ours, F, T>(row, form, value, expected);
    peers!(set, row, round_trip::<_, F, T>, form, value, expected)
}

fn round_trip<'a, L: Library, F: Family, T: Serialize>(
    row: Row<'a>,
    form: &str,
    value: &T,
    expected: u64,
) -> Row<'a> {
    let mut library = L::default();
    row.run(implementation::<L>(form), expected, || library::round_trip::<L, F, T>(&mut library, value))
}

/// Rows with documents of 10 KB, 100 KB and 1 MB.
fn documents(suite: &mut Suite) {
    for kind in Kind::ALL {
        for size in Size::ALL {
            match kind {
                Kind::Messages => document::<MessagesOwned, Messages>(suite, kind, size),
                Kind::Catalogue => document::<CatalogueOwned, Catalogue>(suite, kind, size),
                Kind::Coastline => document::<CoastlineOwned, Coastline>(suite, kind, size),
            }
        }
    }
}

fn document<F: Family, T: DeserializeOwned + Serialize>(suite: &mut Suite, kind: Kind, size: Size) {
    let name = |direction: &str| format!("{}_{}_{direction}", kind.name(), size.name());
    let (decoding, encoding) = (name("decode"), name("encode"));
    let selected = suite.selects(&decoding) || suite.selects(&encoding);
    let document = &kind.generate(if selected { size.least() } else { 0 });
    let (decoded, encoded) = size.lengths(kind);

    let row = bounded(suite.row(decoding).payload(decoded), document);
    let tree = library::decode::<SerdeJson, Tree>(&mut SerdeJson, document);
    let row = decode::<Tree>(row, DYNAMIC, document, tree, Set::Backends);
    let typed = library::decode::<SerdeJson, F>(&mut SerdeJson, document);
    decode::<F>(row, OWNED, document, typed, Set::Backends);

    let (Ok(tree), Ok(typed)) =
        (tightwire_json::from_slice::<Value>(document), tightwire_json::from_slice::<T>(document))
    else {
        unreachable!("generated documents have their type, as tests check")
    };
    let row = suite.row(encoding).payload(encoded);
    encode(encode(row, DYNAMIC, &tree, Set::Backends), TYPED, &typed, Set::Backends);
}
