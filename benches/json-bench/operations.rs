//! Rows of operations beside encoding and decoding whole documents, each with all libraries that have the operation.

use std::fmt::{self, Display};
use std::hint::black_box;

use benches::{Impl, Suite};
use jiter::{JsonValue, PartialMode};
use json_bench::documents::{Kind, Messages, Size, Status, generated};
use json_bench::library::{self, Library as _, Ours, SerdeJson, SimdJson, SonicRs, implementation};
use json_bench::payload;
use json_bench::types::{Check as _, UserData};
use serde::Deserialize;
use serde::de::{Deserializer, SeqAccess, Visitor};
use simd_json::prelude::ValueAsScalar as _;
use sonic_rs::JsonValueTrait as _;
use struson::json_path;
use struson::reader::{JsonReader as _, JsonStreamReader};
use tightwire_json::partial::Parser;
use tightwire_json::{ChunkDecoder as _, Codec, DocumentReader, ElementDecoder, LineDecoder};

use super::{OWNED, TREE, TYPED, document, length};

/// The whole input is in memory.
const IN_MEMORY: &str = "in memory";
/// The input is a blocking reader.
const READER: &str = "from a reader";

pub(crate) fn rows(suite: &mut Suite) {
    trees(suite);
    values(suite, &generated(Kind::Messages, 10 << 10));
    elements(suite);
    lines(suite);
    partial(suite);
    raw_values(suite);
    errors(suite);
}

fn peer(name: &str, version: &str, class: &str) -> Impl {
    Impl::peer(format!("{name} {class}"), version).class(class)
}

/// Operations on decoded trees.
fn trees(suite: &mut Suite) {
    let input = &Kind::Messages.generate(100 << 10);
    let messages = &generated::<Messages>(Kind::Messages, 100 << 10).statuses;
    let count = messages.len();
    let text = |message: &Status| message.user.screen_name.len() as u64 + u64::from(message.retweet_count);
    let expected = messages.iter().map(text).sum();
    let pointers: &Vec<_> = &(0..count).map(|index| format!("/statuses/{index}/user/screen_name")).collect();
    let row = suite.row("tree_lookup").elements(2 * count as u64);
    let row = all!(row, |row, L| {
        let tree = L::default().tree(input);
        row.run(implementation::<L>(TREE), expected, move || {
            let Some(tree) = black_box(&tree) else { return 0 };
            let messages = (0..count).map(|index| &tree["statuses"][index]);
            let sum = messages.map(|message| {
                let name = message["user"]["screen_name"].as_str().map_or(0, str::len);
                name as u64 + message["retweet_count"].as_u64().unwrap_or_default()
            });
            sum.sum()
        })
    });
    let expected = messages.iter().map(|message| message.user.screen_name.len() as u64).sum();
    macro_rules! by_pointer {
        ($row:expr, $implementation:expr, $tree:ty) => {{
            let tree: Option<$tree> = serde_json::from_slice(input).ok();
            $row.run($implementation, expected, move || {
                let Some(tree) = black_box(&tree) else { return 0 };
                let names = pointers.iter().filter_map(|pointer| tree.pointer(pointer)?.as_str());
                names.map(|name| name.len() as u64).sum()
            })
        }};
    }
    let class = "tree, pointers as text";
    let row = by_pointer!(row, implementation::<Ours>(class), tightwire_json::Value);
    by_pointer!(row, implementation::<SerdeJson>(class), serde_json::Value);

    let row = suite.row("tree_clone").elements(count as u64);
    all!(row, |row, L| {
        let tree = L::default().tree(input);
        row.run(implementation::<L>(TREE), 11 * count as u64, move || {
            let Some(tree) = black_box(&tree) else { return 0 };
            let fields = (0..count).map(|index| black_box(tree["statuses"][index].clone()).check());
            fields.sum()
        })
    });
    let row = suite.row("tree_edit").payload(input.len() as u64);
    let expected = serde_json::from_slice(input).map_or(0, |mut tree: serde_json::Value| {
        tree["search_metadata"]["count"] = 7.into();
        length(&tree)
    });
    all!(row, |row, L| {
        let mut library = L::default();
        row.run(implementation::<L>("tree, new buffer"), expected, move || {
            let Some(mut tree) = library.tree(black_box(input)) else { return 0 };
            tree["search_metadata"]["count"] = 7.into();
            library::encode_tree::<L>(&tree)
        })
    });
}

/// Conversions between structs and trees, and other forms of output.
fn values(suite: &mut Suite, value: &Messages) {
    let input = &document(value);
    let expected = super::tree_check(input);
    let row = suite.row("to_value").payload(input.len() as u64);
    all!(row, |row, L| {
        row.run(implementation::<L>(TREE), expected, || library::checked(L::to_value(black_box(value))))
    });
    let row = suite.row("from_value").payload(input.len() as u64);
    all!(row, |row, L| {
        let tree = L::default().tree(input);
        row.run(implementation::<L>(OWNED), value.check(), move || {
            library::checked(black_box(&tree).as_ref().and_then(L::from_value::<Messages>))
        })
    });
    let class = &format!("{TYPED}, new buffer");
    let row = suite.row("pretty").payload(library::length(SerdeJson::to_vec_pretty(value)));
    all!(row, |row, L| {
        // simd-json indents less.
        let expected = library::length(L::to_vec_pretty(value));
        row.run(implementation::<L>(class), expected, || library::length(L::to_vec_pretty(black_box(value))))
    });
    let page = payload::page(37);
    let len = length(&page);
    suite.row("canonical").payload(len).run(implementation::<Ours>(class), len, || {
        super::encoded(Codec::canonical().to_vec(black_box(&page)))
    });
}

/// Sum over the messages of a document, whose other parts are skipped.
#[derive(Deserialize)]
struct Sum {
    #[serde(deserialize_with = "sum")]
    statuses: u64,
}

fn sum<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    struct Elements;

    impl<'de> Visitor<'de> for Elements {
        type Value = u64;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("messages")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<u64, A::Error> {
            let mut sum = 0;
            while let Some(message) = elements.next_element::<Status>()? {
                sum += text(&message);
            }
            Ok(sum)
        }
    }

    deserializer.deserialize_seq(Elements)
}

fn text(message: &Status) -> u64 {
    black_box(message).text.len() as u64
}

/// Elements of an array in a document of 1 MB, one in memory at a time.
fn elements(suite: &mut Suite) {
    let is_selected = suite.selects("elements");
    let messages: Messages = generated(Kind::Messages, if is_selected { 1 << 20 } else { 0 });
    let input = &*document(&messages);
    let expected = messages.statuses.iter().map(text).sum();
    let decoder = || ElementDecoder::<Status>::new("/statuses").ok();
    let sum_of = |sum: Result<Sum, serde_json::Error>| sum.map_or(0, |sum| sum.statuses);
    suite
        .row("elements")
        .payload(Size::Mb1.lengths(Kind::Messages).1)
        .run(implementation::<Ours>(READER), expected, || {
            let messages = decoder().map(|decoder| DocumentReader::new(black_box(input), decoder));
            messages.into_iter().flatten().map_while(Result::ok).map(|message| text(&message)).sum()
        })
        .run(implementation::<SerdeJson>(READER), expected, || {
            sum_of(serde_json::from_reader(black_box(input)))
        })
        .run(peer("struson", "0.7.2", READER), expected, || {
            let mut reader = JsonStreamReader::new(black_box(input));
            let mut sum = 0;
            let mut read = || {
                reader.seek_to(&json_path!["statuses"]).ok()?;
                reader.begin_array().ok()?;
                while reader.has_next().ok()? {
                    sum += text(&reader.deserialize_next::<Status>().ok()?);
                }
                reader.end_array().ok()?;
                reader.skip_to_top_level().ok()
            };
            read().map_or(0, |()| sum)
        })
        .run(implementation::<Ours>(IN_MEMORY), expected, || {
            let (mut rest, Some(mut decoder)) = (black_box(input), decoder()) else { return 0 };
            std::iter::from_fn(|| decoder.next(&mut rest)?.ok()).map(|message| text(&message)).sum()
        })
        .run(implementation::<SerdeJson>(IN_MEMORY), expected, || {
            sum_of(serde_json::from_slice(black_box(input)))
        })
        .run(implementation::<SonicRs>(IN_MEMORY), expected, || {
            sonic_rs::from_slice::<Sum>(black_box(input)).map_or(0, |sum| sum.statuses)
        });
}

/// Documents in lines.
fn lines(suite: &mut Suite) {
    type User = UserData<String>;
    fn sum(users: impl Iterator<Item = User>) -> u64 {
        users.map(|user| black_box(&user).metadata.login_count as u64).sum()
    }
    let users = payload::page(300).data.map(|page| page.list).unwrap_or_default();
    let input: Vec<u8> = users.iter().flat_map(|user| [document(user), b"\n".to_vec()].concat()).collect();
    let (input, len, count) = (input.as_slice(), input.len() as u64, users.len() as u64);
    let expected = sum(users.into_iter());
    let mut simd_json = SimdJson::default();
    suite
        .row("lines")
        .payload(len)
        .elements(count)
        .run(implementation::<Ours>(IN_MEMORY), expected, || {
            let users = tightwire_json::Deserializer::from_slice(black_box(input)).into_iter();
            sum(users.map_while(Result::ok))
        })
        .run(implementation::<SerdeJson>(IN_MEMORY), expected, || {
            let users = serde_json::Deserializer::from_slice(black_box(input)).into_iter();
            sum(users.map_while(Result::ok))
        })
        .run(implementation::<SimdJson>(IN_MEMORY), expected, || {
            let lines = black_box(input).split(|byte| *byte == b'\n');
            sum(lines.map_while(|line| simd_json.read(line)))
        })
        .run(implementation::<SonicRs>(IN_MEMORY), expected, || {
            let users = sonic_rs::Deserializer::from_slice(black_box(input)).into_stream();
            sum(users.map_while(Result::ok))
        })
        .run(implementation::<Ours>(READER), expected, || {
            sum(DocumentReader::new(black_box(input), LineDecoder::new()).map_while(Result::ok))
        })
        .run(implementation::<SerdeJson>(READER), expected, || {
            let users = serde_json::Deserializer::from_reader(black_box(input)).into_iter();
            sum(users.map_while(Result::ok))
        });
}

/// A document of 10 KB in chunks of 16 bytes, with its value after each chunk. The peers parse from the start each time;
/// the tree of jiter borrows from the text.
fn partial(suite: &mut Suite) {
    let input = Kind::Catalogue.generate(10 << 10);
    let text = String::from_utf8_lossy(&input);
    let ends = || (16..text.len()).step_by(16).chain([text.len()]);
    let expected = super::tree_check(&input);
    suite
        .row("partial")
        .payload(text.len() as u64)
        .run(implementation::<Ours>(TREE), expected, || {
            let (mut parser, mut start, mut check) = (Parser::new(), 0, 0);
            for end in ends() {
                let pushed = parser.push(black_box(&text[start..end]));
                check = pushed.ok().and_then(|()| parser.value()).map_or(0, |tree| black_box(tree).check());
                start = end;
            }
            check
        })
        .run(peer("jiter", "0.19.0", TREE), expected, || {
            let parse = |end| {
                let text = black_box(&text.as_bytes()[..end]);
                match JsonValue::parse_with_config(text, false, PartialMode::TrailingStrings) {
                    Ok(JsonValue::Object(tree)) => black_box(&tree)
                        .iter()
                        .map(|(_, field)| match field {
                            JsonValue::Array(elements) => elements.len() as u64,
                            _ => 1,
                        })
                        .sum(),
                    _ => 0,
                }
            };
            ends().fold(0, |_, end| parse(end))
        })
        .run(peer("partial-json-fixer and serde_json", "0.5.5", TREE), expected, || {
            let parse = |end| {
                let document = partial_json_fixer::fix_json(black_box(&text[..end]));
                library::checked(serde_json::from_str::<serde_json::Value>(&document).ok())
            };
            ends().fold(0, |_, end| parse(end))
        });
}

/// The elements of an array as text.
fn raw_values(suite: &mut Suite) {
    let input = &document(&generated::<Messages>(Kind::Messages, 100 << 10).statuses);
    let expected = (input.len() - 1) as u64;
    suite
        .row("raw_values")
        .payload(input.len() as u64)
        .run(implementation::<Ours>("borrowed"), expected, || {
            let values = tightwire_json::from_slice::<Vec<&tightwire_json::RawValue>>(black_box(input));
            values
                .map_or(0, |values| black_box(values).iter().map(|value| value.get().len() as u64 + 1).sum())
        })
        .run(implementation::<SonicRs>("borrowed"), expected, || {
            let values = sonic_rs::from_slice::<Vec<sonic_rs::LazyValue<'_>>>(black_box(input));
            values.map_or(0, |values| {
                black_box(values).iter().map(|value| value.as_raw_str().len() as u64 + 1).sum()
            })
        });
}

/// Decoding that fails at the end of a document, and the message of the error.
fn errors(suite: &mut Suite) {
    fn message<E: Display>(result: Result<Messages, E>) -> u64 {
        result.map_or_else(|error| u64::from(!black_box(error.to_string()).is_empty()), |_| 0)
    }
    let input = Kind::Messages.generate(10 << 10);
    let end = input.iter().rposition(|byte| *byte == b':').unwrap_or_default();
    let input = [&input[..=end], b"true}}"].concat();
    let input = input.as_slice();
    let path = "with a path";
    let mut copy = Vec::new();
    suite
        .row("error_at_the_end")
        .payload(input.len() as u64)
        .run(implementation::<Ours>(OWNED), 1, || message(tightwire_json::from_slice(black_box(input))))
        .run(implementation::<SerdeJson>(OWNED), 1, || message(serde_json::from_slice(black_box(input))))
        .run(implementation::<SimdJson>(OWNED), 1, || {
            copy.clear();
            copy.extend_from_slice(black_box(input));
            message(simd_json::from_slice(&mut copy))
        })
        .run(implementation::<SonicRs>(OWNED), 1, || message(sonic_rs::from_slice(black_box(input))))
        .run(implementation::<Ours>(path), 1, || message(tightwire_json::from_slice(black_box(input))))
        .run(peer("serde_path_to_error and serde_json", "0.1.20", path), 1, || {
            let mut deserializer = serde_json::Deserializer::from_slice(black_box(input));
            message(serde_path_to_error::deserialize(&mut deserializer))
        });
}
