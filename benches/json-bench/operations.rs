//! Rows of operations beside encoding and decoding whole documents, each with all libraries that have the operation.

use std::hint::black_box;

use benches::Suite;
use json_bench::{Ours, add_side};
use json_peers::input::{Input, Type};
use json_peers::operation::{Operation, Side};
use json_peers::real::{CITM, Status, TWITTER, Twitter};
use json_peers::special::{
    self, BORROWED, ERROR, IN_MEMORY, PARTIAL, PATH, POINTERS, READER, User, logins, text,
};
use json_peers::types::{TestData, TestMetadata, TestResponse};
use json_peers::{payload, peers};
use tightwire_json::partial::Parser;
use tightwire_json::{
    ChunkDecoder as _, Codec, DocumentReader, ElementDecoder, LineDecoder, RawValue, Value,
};

use super::{add, inputs};

pub(crate) fn rows(suite: &mut Suite) -> anyhow::Result<()> {
    trees(suite);
    values(suite);
    modes(suite)?;
    elements(suite);
    lines(suite);
    partial(suite);
    raw_values(suite)?;
    errors(suite);
    Ok(())
}

fn ours<'a>(class: &str, expected: u64, work: impl FnMut() -> u64 + 'a) -> Side<'a> {
    Side::of::<Ours>(class, expected, work)
}

fn encoded<E>(document: Result<Vec<u8>, E>) -> u64 {
    document.map_or(0, |document| black_box(&document).len() as u64)
}

/// Returns the messages of a document of at least `length` bytes.
fn messages(length: usize) -> Vec<Status<String>> {
    let document = tightwire_json::from_slice::<Twitter<String>>(&TWITTER.sized(length));
    document.map(|document| document.statuses).unwrap_or_default()
}

fn trees(suite: &mut Suite) {
    let inputs = [Input::new(Type::TwitterDocument, TWITTER.sized(100 << 10))];
    let document = &*inputs[0].document;
    let names: Vec<_> = messages(100 << 10).into_iter().map(|message| message.user.screen_name).collect();
    let count = names.len();
    let pointers: Vec<_> = (0..count).map(|index| format!("/statuses/{index}/user/screen_name")).collect();
    let expected = names.iter().map(|name| name.len() as u64).sum();
    let tree: Option<Value> = tightwire_json::from_slice(document).ok();
    let row = add(suite.row("tree_lookup").elements(2 * count as u64), Operation::Lookup, &inputs);
    let by_pointer = ours(POINTERS, expected, || {
        let Some(tree) = black_box(&tree) else { return 0 };
        let names = pointers.iter().filter_map(|pointer| tree.pointer(pointer)?.as_str());
        names.map(|name| name.len() as u64).sum()
    });
    add_side(add_side(row, by_pointer), special::pointers(document, &pointers, expected));
}

/// Conversions between structs and trees, and indented output.
fn values(suite: &mut Suite) {
    let inputs = inputs(&[Type::Page], payload::page_document(37));
    let length = inputs[0].document.len() as u64;
    add(suite.row("to_value").payload(length), Operation::ToValue, &inputs);
    add(suite.row("from_value").payload(length), Operation::FromValue, &inputs);
    let length = peers::expected(Operation::Pretty, &inputs);
    add(suite.row("pretty").payload(length), Operation::Pretty, &inputs);
}

/// Modes of our encoder. Few peers have them: sonic in Go has a fastest mode, and two crates write canonical output.
fn modes(suite: &mut Suite) -> anyhow::Result<()> {
    let with_tree: TestResponse<String, serde_json::Value, serde_json::Value> =
        serde_json::from_str(payload::TEST)?;
    let typed: TestResponse<String, TestData<String>, TestMetadata<String>> =
        serde_json::from_str(payload::TEST)?;
    let length = inputs(&[Type::Test], payload::TEST)[0].document.len() as u64;
    let fast = Codec::fast();
    let class = |form| format!("{form}, fastest mode, new buffer");
    let row = suite.row("marshal_fastest_mode").payload(length);
    let side = ours(&class("typed with tree"), length, || encoded(fast.to_vec(black_box(&with_tree))));
    let row = add_side(row, side);
    add_side(row, ours(&class("typed"), length, || encoded(fast.to_vec(black_box(&typed)))));

    let page = payload::page(37);
    let length = payload::page_document(37).len() as u64;
    let side = ours("typed, new buffer", length, || encoded(Codec::canonical().to_vec(black_box(&page))));
    add_side(suite.row("canonical").payload(length), side);
    Ok(())
}

/// Elements of an array in a document of 1 MB, one in memory at a time.
fn elements(suite: &mut Suite) {
    let length = if suite.selects("elements") { 1 << 20 } else { 0 };
    let input = &*TWITTER.sized(length);
    let expected = messages(length).iter().map(text).sum();
    let decoder = || ElementDecoder::<Status<String>>::new("/statuses").ok();
    let sides = [
        ours(READER, expected, || {
            let messages = decoder().map(|decoder| DocumentReader::new(black_box(input), decoder));
            messages.into_iter().flatten().map_while(Result::ok).map(|message| text(&message)).sum()
        }),
        ours(IN_MEMORY, expected, || {
            let (mut rest, Some(mut decoder)) = (black_box(input), decoder()) else { return 0 };
            std::iter::from_fn(|| decoder.next(&mut rest)?.ok()).map(|message| text(&message)).sum()
        }),
    ];
    let row = suite.row("elements").payload(input.len() as u64);
    sides.into_iter().chain(special::elements(input, expected)).fold(row, add_side);
}

fn lines(suite: &mut Suite) {
    let users: Vec<User> = payload::page(300).data.map(|page| page.list).unwrap_or_default();
    let lines = users.iter().map(|user| serde_json::to_string(user).unwrap_or_default() + "\n");
    let (input, count) = (lines.collect::<String>().into_bytes(), users.len() as u64);
    let input = &*input;
    let expected = logins(users.into_iter());
    let sides = [
        ours(IN_MEMORY, expected, || {
            let users = tightwire_json::Deserializer::from_slice(black_box(input)).into_iter();
            logins(users.map_while(Result::ok))
        }),
        ours(READER, expected, || {
            logins(DocumentReader::new(black_box(input), LineDecoder::new()).map_while(Result::ok))
        }),
    ];
    let row = suite.row("lines").payload(input.len() as u64).elements(count);
    sides.into_iter().chain(special::lines(input, expected)).fold(row, add_side);
}

/// Incomplete documents: the first half of one of 11 KB, and all its beginnings in steps of 16 bytes, as they arrive from
/// a language model. All parse each beginning from its start; ours can also continue, which has a class of its own.
fn partial(suite: &mut Suite) {
    let text = String::from_utf8_lossy(&CITM.sized(10 << 10)).into_owned();
    let until = |end| text.floor_char_boundary(end);
    let half = [until(text.len() / 2)];
    let ends: Vec<_> = (16..text.len()).step_by(16).map(until).chain([text.len()]).collect();
    let parse = |text: &str| {
        let mut parser = Parser::new();
        let pushed = parser.push(black_box(text));
        checked_tree(pushed.ok().and_then(|()| parser.value()))
    };
    for (name, ends) in [("partial_once", &half[..]), ("partial", &ends)] {
        let last = &text[..ends.last().copied().unwrap_or_default()];
        let expected = parse(last);
        let row = suite.row(name).payload(last.len() as u64);
        let row =
            add_side(row, ours(PARTIAL, expected, || ends.iter().fold(0, |_, end| parse(&text[..*end]))));
        let row = special::partial(&text, ends, expected).into_iter().fold(row, add_side);
        if ends.len() > 1 {
            add_side(
                row,
                ours("tree, continued", expected, || {
                    let (mut parser, mut start, mut check) = (Parser::new(), 0, 0);
                    for end in ends {
                        let pushed = parser.push(black_box(&text[start..*end]));
                        check = checked_tree(pushed.ok().and_then(|()| parser.value()));
                        start = *end;
                    }
                    check
                }),
            );
        }
    }
}

fn checked_tree(tree: Option<&Value>) -> u64 {
    tree.map_or(0, |tree| <Ours as json_peers::library::Library>::check_tree(black_box(tree)))
}

/// The elements of an array as text.
fn raw_values(suite: &mut Suite) -> anyhow::Result<()> {
    let input = &*serde_json::to_vec(&messages(100 << 10))?;
    suite.give_document("raw_values.json", input)?;
    let expected = (input.len() - 1) as u64;
    let row = add_side(
        suite.row("raw_values").payload(input.len() as u64),
        ours(BORROWED, expected, || {
            let values = tightwire_json::from_slice::<Vec<&RawValue>>(black_box(input));
            values
                .map_or(0, |values| black_box(values).iter().map(|value| value.get().len() as u64 + 1).sum())
        }),
    );
    add_side(row, special::raw_values(input, expected));
    Ok(())
}

/// Decoding that fails at the end of a document, and the message of the error.
fn errors(suite: &mut Suite) {
    let input = payload::page_document(37);
    let end = input.iter().rposition(|byte| *byte == b':').unwrap_or_default();
    let input = &*[&input[..=end], b"true}"].concat();
    let decode = || special::message(tightwire_json::from_slice(black_box(input)));
    let row = suite.row("error_at_the_end").payload(input.len() as u64);
    let row = add_side(add_side(row, ours(ERROR, 1, decode)), ours(PATH, 1, decode));
    special::errors(input).into_iter().fold(row, add_side);
}
