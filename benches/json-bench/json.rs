//! Suite `json`: the rows of the third report, and documents of three kinds and sizes, each compared with other crates.
//!
//! The report has most rows twice, once per backend of the Go library. Here, the first row of a pair has all
//! implementations, the other only tightwire-json and the standard library of each language.

use std::hint::black_box;

use benches::memory;
use benches::{Impl, Row, Suite};
use json_bench::documents::{Catalogue, Coastline, Kind, Messages, Size};
use json_bench::peers::{
    ApiCow, ApiDynamic, ApiOwned, ApiSimdJson, ApiSonicRs, ApiStr, CatalogueOwned, CoastlineOwned, Family,
    MessagesOwned, PageCow, PageOwned, PageStr, SERDE_JSON, SIMD_JSON, SONIC_RS, SimdJson, TestCow,
    TestDynamic, TestOwned, TestStr, Tree,
};
use json_bench::{ours, payload, peers};
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

fn ours(form: &str) -> Impl {
    Impl::ours(format!("ours {form}")).class(form)
}

fn peer(name: &str, version: &str, form: &str) -> Impl {
    Impl::peer(format!("{name} {form}"), version).class(form)
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
    let row = row.run(ours(DYNAMIC), len, || ours::to_vec_with(&fast, &dynamic));
    let row = row.run(ours(TYPED), len, || ours::to_vec_with(&fast, &typed));
    encode_peers(encode_peers(row, DYNAMIC, &dynamic, Set::Backends), TYPED, &typed, Set::Backends);

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

/// Encodes into a new vector, and with [`Set::Full`] also into a reused buffer.
fn encode<'a, T: Serialize>(row: Row<'a>, form: &str, value: &T, set: Set) -> Row<'a> {
    let len = length(value);
    let row = encode_peers(row.run(ours(form), len, || ours::to_vec(value)), form, value, set);
    if set != Set::Full {
        return row;
    }
    let form = &format!("{form} reused");
    let mut buffer = Vec::new();
    row.run(ours(form), len, || ours::to_buf(&mut buffer, value))
        .run(peer("serde_json", SERDE_JSON, form), len, || peers::serde_json_to_buf(&mut buffer, value))
        .run(peer("simd-json", SIMD_JSON, form), len, || peers::simd_json_to_buf(&mut buffer, value))
        .run(peer("sonic-rs", SONIC_RS, form), len, || peers::sonic_rs_to_buf(&mut buffer, value))
}

fn encode_peers<'a, T: Serialize>(row: Row<'a>, form: &str, value: &T, set: Set) -> Row<'a> {
    let len = length(value);
    let row = row.run(peer("serde_json", SERDE_JSON, form), len, || peers::serde_json_to_vec(value));
    if set == Set::Standard {
        return row;
    }
    row.run(peer("simd-json", SIMD_JSON, form), len, || peers::simd_json_to_vec(value)).run(
        peer("sonic-rs", SONIC_RS, form),
        len,
        || peers::sonic_rs_to_vec(value),
    )
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
        line(line(row, DYNAMIC, &dynamic, set, http), TYPED, &typed, set, http);
    }
    let page = payload::page();
    for (name, set) in [("http_page_response_sonic", Set::Full), ("http_page_response_stdlib", Set::Standard)]
    {
        line(suite.row(name).payload(length(&page) + 1).elements(20), TYPED, &page, set, true);
    }
    let (dynamic, typed) = (payload::test_dynamic(), payload::test_typed());
    for (name, set) in
        [("encoder", Set::Full), ("encoder_stdlib", Set::Standard), ("encoder_sonic", Set::Backends)]
    {
        let row = suite.row(name).payload(length(&dynamic) + 1);
        line(line(row, DYNAMIC, &dynamic, set, false), TYPED, &typed, set, false);
    }
}

fn line<'a, T: Serialize>(row: Row<'a>, form: &str, value: &T, set: Set, http: bool) -> Row<'a> {
    let len = length(value) + 1;
    let row = row.run(ours(form), len, || if http { ours::http(value) } else { ours::encoder(value) }).run(
        peer("serde_json", SERDE_JSON, form),
        len,
        || peers::serde_json_line(value),
    );
    if set == Set::Standard {
        return row;
    }
    row.run(peer("simd-json", SIMD_JSON, form), len, || peers::simd_json_line(value)).run(
        peer("sonic-rs", SONIC_RS, form),
        len,
        || peers::sonic_rs_line(value),
    )
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
            let mut simd_json = SimdJson::default();
            let own = "tree of its own";
            row.run(peer("simd-json", SIMD_JSON, own), API, || simd_json.decode::<ApiSimdJson>(&document))
                .run(peer("sonic-rs", SONIC_RS, own), API, || peers::sonic_rs_slice::<ApiSonicRs>(&document));
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
    let mut simd_json = SimdJson::default();
    let row = row.run(ours(form), expected, || ours::decode::<F>(document)).run(
        peer("serde_json", SERDE_JSON, form),
        expected,
        || peers::serde_json_slice::<F>(document),
    );
    if set == Set::Standard {
        return row;
    }
    row.run(peer("serde_json str", SERDE_JSON, form), expected, || peers::serde_json_str::<F>(document))
        .run(peer("simd-json", SIMD_JSON, form), expected, || simd_json.decode::<F>(document))
        .run(peer("sonic-rs", SONIC_RS, form), expected, || peers::sonic_rs_slice::<F>(document))
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
    let row = row.run(ours(form), API, || ours::decoder::<F>(document)).run(
        peer("serde_json", SERDE_JSON, form),
        API,
        || peers::serde_json_stream::<F>(document),
    );
    if set == Set::Standard {
        return row;
    }
    let form = &format!("{form} whole");
    row.run(ours(form), API, || ours::whole_reader::<F>(document))
        .run(peer("serde_json", SERDE_JSON, form), API, || peers::serde_json_reader::<F>(document))
        .run(peer("simd-json", SIMD_JSON, form), API, || peers::simd_json_reader::<F>(document))
        .run(peer("sonic-rs", SONIC_RS, form), API, || peers::sonic_rs_reader::<F>(document))
}

fn round_trips(suite: &mut Suite) {
    let (dynamic, typed) = (payload::api_dynamic(), payload::api_typed());
    for (name, set) in
        [("round_trip_api_response_sonic", Set::Full), ("round_trip_api_response_stdlib", Set::Standard)]
    {
        let row = suite.row(name).payload(length(&dynamic));
        let row = round_trip::<ApiDynamic, _>(row, DYNAMIC, &dynamic, API, set);
        let row = round_trip::<ApiOwned, _>(row, OWNED, &typed, API, set);
        if set == Set::Full {
            round_trip::<ApiStr, _>(row, STR, &typed, API, set);
        }
    }
    let page = payload::page();
    for (name, set) in
        [("round_trip_page_response_sonic", Set::Full), ("round_trip_page_response_stdlib", Set::Standard)]
    {
        let row = suite.row(name).payload(length(&page)).elements(20);
        let row = round_trip::<PageOwned, _>(row, OWNED, &page, PAGE, set);
        if set == Set::Full {
            round_trip::<PageStr, _>(row, STR, &page, PAGE, set);
        }
    }
    let (dynamic, typed) = (payload::test_dynamic(), payload::test_typed());
    for (name, set) in [("roundtrip", Set::Full), ("roundtrip_stdlib", Set::Standard)] {
        let row = suite.row(name).payload(length(&dynamic));
        let row = round_trip::<TestDynamic, _>(row, DYNAMIC, &dynamic, TEST, set);
        round_trip::<TestOwned, _>(row, OWNED, &typed, TEST, set);
    }
}

fn round_trip<'a, F: Family, T: Serialize>(
    row: Row<'a>,
    form: &str,
    value: &T,
    expected: u64,
    set: Set,
) -> Row<'a> {
    let mut simd_json = SimdJson::default();
    let row = row.run(ours(form), expected, || ours::round_trip::<F, _>(value)).run(
        peer("serde_json", SERDE_JSON, form),
        expected,
        || peers::serde_json_round_trip::<F, _>(value),
    );
    if set == Set::Standard {
        return row;
    }
    row.run(peer("simd-json", SIMD_JSON, form), expected, || simd_json.round_trip::<F, _>(value)).run(
        peer("sonic-rs", SONIC_RS, form),
        expected,
        || peers::sonic_rs_round_trip::<F, _>(value),
    )
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
    let tree = peers::serde_json_slice::<Tree>(document);
    let row = decode::<Tree>(row, DYNAMIC, document, tree, Set::Backends);
    decode::<F>(row, OWNED, document, peers::serde_json_slice::<F>(document), Set::Backends);

    let (Ok(tree), Ok(typed)) =
        (tightwire_json::from_slice::<Value>(document), tightwire_json::from_slice::<T>(document))
    else {
        unreachable!("generated documents have their type, as tests check")
    };
    let row = suite.row(encoding).payload(encoded);
    encode(encode(row, DYNAMIC, &tree, Set::Backends), TYPED, &typed, Set::Backends);
}
