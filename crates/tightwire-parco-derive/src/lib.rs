//! Derive macros of `tightwire-parco`, which re-exports them. Depend on that crate.

mod attr;
mod decode;
mod encode;
mod max_size;
mod model;
mod shape;
mod wire_type;

use proc_macro::TokenStream;
use syn::{DeriveInput, Error, parse_macro_input};

use crate::model::Model;

/// Derives the encoder of a struct or enum: `EncodeAs`, and with it `Encode`.
///
/// A struct is encoded as its fields in order of declaration, without separators. Each field has the default wire type
/// of its Rust type, listed in the table of `tightwire_parco::EncodeAs`, which attributes change. An attribute means the
/// same for `T`, `Option<T>` and `Box<T>`, and fails to compile if it does not apply to the type of the field.
///
/// ```
/// # use std::collections::HashMap;
/// use tightwire_parco::{Decode, Encode};
///
/// #[derive(Debug, PartialEq, Encode, Decode)]
/// struct Pet {
///     #[parco(small)]
///     name: String,
///     age: u8,
///     #[parco(header = u8, key(small))]
///     marks: HashMap<String, u8>,
/// }
///
/// let pet = Pet { name: "cat".into(), age: 3, marks: HashMap::new() };
/// let bytes = tightwire_parco::to_vec(&pet)?;
/// assert_eq!(bytes, [3, b'c', b'a', b't', 3, 0]);
/// assert_eq!(tightwire_parco::decode_exact::<Pet>(&bytes)?, pet);
/// # Ok::<(), tightwire_parco::Error>(())
/// ```
///
/// # Field attributes
///
/// | `#[parco(..)]` | applies to | effect |
/// |---|---|---|
/// | `header = u16be` | strings, blobs, slices, maps | integer type of the length, `varint` by default: `varint`, `u8`, `i8`, `u16` to `u64`, `i16` to `i64`, `int`, `uint` (eight bytes, Go's names); the suffix `le` or `be` sets its byte order, which defaults to that of the field |
/// | `small` | strings, blobs, slices, maps | same as `header = u8` |
/// | `be`, `le` | all | byte order of numbers and headers, also in nested types, but not in nested messages |
/// | `elem(..)` | slices, arrays | attributes for the elements |
/// | `key(..)`, `value(..)` | maps | attributes for keys and values |
/// | `inner(..)` | `Option` | attributes for the value; needed for nested options and for `time` |
/// | `blob` | `Vec<u8>`, strings | encoded as a byte string instead of a slice of numbers: same bytes, but faster |
/// | `sorted` | `HashMap`, `HashSet` | entries are sorted by key, elements by value |
/// | `int`, `uint` | `i64`, `u64` | Go's name in the schema; same bytes |
/// | `time` | `i64`, `SystemTime`, `tightwire_parco::Timestamp`, .. | nanoseconds since 1970, always little endian |
/// | `max = N` | strings, blobs, slices, maps | maximum length or count, for encoding and decoding |
/// | `with = Type` | all | a wire type that implements `tightwire_parco::wire::StaticWire`; see the example in `tightwire_parco::wire` |
/// | `serde` | types with serde's traits | a length in bytes, then the encoding of `tightwire_parco::serde`; needs the feature `serde` |
/// | `skip = N` | `()` | `N` reserved bytes, encoded as zeros and ignored when decoded |
/// | `ignore` | all | not encoded; decoded as the default of its type |
/// | `default_on_eof` | the last fields | decoded as the default of its type if the input, or the enclosing evolve struct, ends before the field; `default_on_eof = 8080` sets another default, which is any expression |
/// | `rename = "name"` | all | name in schemas and error paths |
///
/// `elem`, `key`, `value` and `inner` accept all attributes that change a wire type, including `elem` and so on.
///
/// ```
/// # use std::collections::{BTreeMap, HashMap};
/// # use std::time::SystemTime;
/// use tightwire_parco::wire::{Blob, U8};
/// use tightwire_parco::{Decode, Encode};
///
/// #[derive(Encode, Decode)]
/// struct Everything {
///     #[parco(header = u32be)]
///     text: String,
///     #[parco(small)]
///     name: Option<String>,
///     #[parco(be)]
///     port: u16,
///     #[parco(header = u8, elem(header = u8, elem(be)))]
///     rows: Vec<Vec<u16>>,
///     #[parco(key(small), value(header = u8))]
///     map: BTreeMap<String, Vec<u8>>,
///     #[parco(inner(small))]
///     title: Option<String>,
///     #[parco(blob)]
///     body: Vec<u8>,
///     #[parco(sorted)]
///     marks: HashMap<u16, u16>,
///     #[parco(int)]
///     int: i64,
///     #[parco(uint)]
///     uint: u64,
///     #[parco(time)]
///     at: SystemTime,
///     #[parco(inner(time))]
///     until: Option<i64>,
///     #[parco(max = 4096)]
///     note: String,
///     #[parco(with = Blob<U8>)]
///     short: Vec<u8>,
///     #[parco(skip = 10)]
///     reserved: (),
///     #[parco(ignore)]
///     cache: Option<String>,
///     #[parco(default_on_eof, rename = "addedLater")]
///     added_later: Option<u32>,
/// }
/// ```
///
/// # Struct attributes
///
/// | `#[parco(..)]` | effect |
/// |---|---|
/// | `be`, `le` | byte order of numbers and headers in all fields; little endian by default |
/// | `go` | lengths have the type `u16` by default, as in the Go library |
/// | `format = bincode1` | the bytes of another library: `bincode1`, `bincode2`, `postcard`, or a type such as `tightwire_parco::wire::Bincode1<Be>`; see below. Not with `go`, `evolve`, `be`, `le`, `into` and `try_from` |
/// | `evolve` | the length of the fields in bytes, a varint, precedes them; see below. Not with `go` |
/// | `into = Type` | encoded as this type, which implements `From<Self>`; needs `Clone` |
/// | `try_from = Type` | decoded as this type, then converted with `TryFrom`; a failed conversion is `Error::is_invalid_value` |
/// | `crate = path` | path of the crate; default `::tightwire_parco` |
///
/// ```
/// #[derive(tightwire_parco::Encode)]
/// #[parco(be)]
/// struct Port {
///     number: u16,
///     name: &'static str,
/// }
///
/// assert_eq!(tightwire_parco::to_vec(&Port { number: 80, name: "x" })?, [0, 80, 1, b'x']);
/// # Ok::<(), tightwire_parco::Error>(())
/// ```
///
/// The lengths of strings, blobs, slices and maps are varints (LEB128) of one byte for lengths below 128, two below 16,384,
/// and so on. The attribute `header` changes that of a field, and `go` that of all fields of a type. Each nested message has
/// its own attributes. A length that does not fit its type is an error that contains the path of the field.
///
/// ```
/// #[derive(tightwire_parco::Encode)]
/// #[parco(go)]
/// struct Note {
///     text: String,
/// }
///
/// assert_eq!(tightwire_parco::to_vec(&Note { text: "x".into() })?, [1, 0, b'x']);
/// let error = tightwire_parco::to_vec(&Note { text: "x".repeat(70_000) }).unwrap_err();
/// assert_eq!(error.path(), [tightwire_parco::Segment::Field("text")]);
/// # Ok::<(), tightwire_parco::Error>(())
/// ```
///
/// # The bytes of bincode and postcard
///
/// A type with `format` has the bytes that bincode 1, bincode 2 or postcard write for it, so that files and messages of programs that
/// use these libraries can be read and written. Nested types with derived codecs need the same attribute. Explicit attributes, such
/// as `header` and `id`, keep their own encoding.
///
/// ```
/// use tightwire_parco::{Decode, Encode};
///
/// #[derive(Debug, PartialEq, Encode, Decode)]
/// #[parco(format = bincode2)]
/// struct Entry {
///     id: u64,
///     offset: i32,
///     name: String,
///     kind: Kind,
/// }
///
/// #[derive(Debug, PartialEq, Encode, Decode)]
/// #[parco(format = bincode2)]
/// enum Kind {
///     File,
///     Link(char),
/// }
///
/// let entry = Entry { id: 300, offset: -2, name: "a".into(), kind: Kind::Link('é') };
/// // What `bincode::encode_to_vec` writes with `config::standard()`.
/// let bytes = [251, 44, 1, 3, 1, b'a', 1, 0xc3, 0xa9];
/// assert_eq!(tightwire_parco::to_vec(&entry)?, bytes);
/// assert_eq!(tightwire_parco::decode_exact::<Entry>(&bytes)?, entry);
/// # Ok::<(), tightwire_parco::Error>(())
/// ```
///
/// # Evolve structs
///
/// Fields can be added at the end of a struct with `evolve` while older readers and messages exist, also inside of other
/// types. Older readers skip them; messages without them need `default_on_eof` on them. See
/// `tightwire_parco::schema::evolution`.
///
/// ```
/// use tightwire_parco::{Decode, Encode};
///
/// #[derive(Debug, PartialEq, Encode, Decode)]
/// #[parco(evolve)]
/// struct Point {
///     x: u8,
///     y: u8,
///     #[parco(default_on_eof)]
///     z: u8,
/// }
///
/// assert_eq!(tightwire_parco::to_vec(&Point { x: 1, y: 2, z: 3 })?, [3, 1, 2, 3]);
/// // Messages of an older and of a newer version.
/// let points: Vec<Point> = tightwire_parco::decode_exact(&[2, 2, 1, 2, 5, 4, 5, 6, 7, 8])?;
/// assert_eq!(points, [Point { x: 1, y: 2, z: 0 }, Point { x: 4, y: 5, z: 6 }]);
/// # Ok::<(), tightwire_parco::Error>(())
/// ```
///
/// # Enums
///
/// An enum is encoded as an id, then the fields of the variant. Use enums to send several message types on one stream.
///
/// By default, ids count the variants from 0 in order of declaration and are varints; discriminants are not used. New
/// variants are then only compatible at the end. Explicit ids do not depend on the order: either all variants have one, or
/// none. With `go`, the type of the ids must be explicit.
///
/// ```
/// #[derive(tightwire_parco::Encode)]
/// enum Shape {
///     Point,
///     Circle(u16),
/// }
///
/// assert_eq!(tightwire_parco::to_vec(&Shape::Circle(7))?, [1, 7, 0]);
/// # Ok::<(), tightwire_parco::Error>(())
/// ```
///
/// | `#[parco(..)]` | on | effect |
/// |---|---|---|
/// | `id = u8` | the enum | wire type of the ids, `varint` by default: a header name as above, `small` for strings, or a type such as `U16<Be>` |
/// | `id = 0`, `id = "pet"` | all variants or none | the id; required if ids are strings |
/// | `rename = "name"` | a variant | its name in schemas and error paths |
/// | `evolve` | the enum | the length of the id and the fields in bytes, a varint, precedes them, so that readers can skip unknown variants |
/// | `other` | the last variant, without fields, with `evolve` | what unknown ids are decoded as; it has no id and cannot be encoded |
/// | `go`, `format`, `be`, `le`, `into`, `try_from`, `crate = path` | the enum | as for a struct |
///
/// Fields of variants have the same attributes as fields of structs.
///
/// With `evolve` and `other`, a message that contains a variant of a newer version can be read:
///
/// ```
/// use tightwire_parco::{Decode, Encode};
///
/// #[derive(Debug, PartialEq, Encode, Decode)]
/// #[parco(evolve)]
/// enum Event {
///     Closed,
///     Number(u16),
///     #[parco(other)]
///     Unknown,
/// }
///
/// assert_eq!(tightwire_parco::to_vec(&vec![Event::Number(7), Event::Closed])?, [2, 3, 1, 7, 0, 1, 0]);
/// // The first one has an id that this version does not know.
/// let events: Vec<Event> = tightwire_parco::decode_exact(&[2, 3, 9, 8, 7, 1, 0])?;
/// assert_eq!(events, [Event::Unknown, Event::Closed]);
/// # Ok::<(), tightwire_parco::Error>(())
/// ```
///
/// ```
/// use tightwire_parco::{Decode, Encode};
///
/// #[derive(Debug, PartialEq, Encode, Decode)]
/// #[parco(id = u8)]
/// enum Event {
///     #[parco(id = 0)]
///     Closed,
///     #[parco(id = 1)]
///     Number(u16),
///     #[parco(id = 2)]
///     Text {
///         #[parco(small)]
///         text: String,
///     },
/// }
///
/// assert_eq!(tightwire_parco::to_vec(&Event::Number(7))?, [1, 7, 0]);
/// let error = tightwire_parco::decode_exact::<Event>(&[9]).unwrap_err();
/// assert!(error.is_unknown_type());
/// assert_eq!(error.offset(), Some(0));
/// # Ok::<(), tightwire_parco::Error>(())
/// ```
///
/// # Generics
///
/// Bounds are added for the types of fields, not for type parameters: a parameter that is only used in ignored fields
/// has no bound. If a field contains the struct itself, all type parameters must be encodable.
#[proc_macro_derive(Encode, attributes(parco))]
pub fn encode(input: TokenStream) -> TokenStream {
    derive(parse_macro_input!(input as DeriveInput), encode::derive)
}

/// Derives the decoder of a struct or enum: `DecodeAs`, and with it `Decode`.
///
/// The attributes are those of [`Encode`](macro@Encode); a type can derive either or both. A struct with lifetimes
/// borrows from the input, and all of its lifetimes equal that of the input.
///
/// ```
/// use tightwire_parco::Decode;
///
/// #[derive(Decode)]
/// struct Line<'a> {
///     #[parco(small)]
///     text: &'a str,
///     #[parco(header = u8, elem(small))]
///     words: Vec<&'a str>,
/// }
///
/// let line: Line = tightwire_parco::decode_exact(&[2, b'h', b'i', 0])?;
/// assert_eq!(line.text, "hi");
/// assert!(line.words.is_empty());
/// # Ok::<(), tightwire_parco::Error>(())
/// ```
///
/// # Missing fields
///
/// Use `default_on_eof` for fields that were added to a format: older messages end before them. The end must be known: it is
/// that of the enclosing struct with `evolve`, or else that of the message, as for a slice or a stream with a single
/// message. Without `evolve` it does not work if other fields or messages follow.
///
/// ```
/// #[derive(Debug, PartialEq, tightwire_parco::Decode)]
/// struct Settings {
///     level: u8,
///     #[parco(default_on_eof)]
///     more: Option<u16>,
/// }
///
/// assert_eq!(tightwire_parco::decode_exact::<Settings>(&[7])?, Settings { level: 7, more: None });
/// assert!(tightwire_parco::decode_exact::<Settings>(&[7, 1]).unwrap_err().is_unexpected_end());
/// # Ok::<(), tightwire_parco::Error>(())
/// ```
#[proc_macro_derive(Decode, attributes(parco))]
pub fn decode(input: TokenStream) -> TokenStream {
    derive(parse_macro_input!(input as DeriveInput), decode::derive)
}

/// Derives the maximum encoded size of a struct or enum that derives [`Encode`](macro@Encode): `MaxSize`.
///
/// All fields need a maximum: strings and collections have the attribute `max`, a header of at most two bytes, or a type of fixed
/// capacity. The size of an enum is that of its largest variant. A type that contains itself has no maximum.
///
/// ```
/// use tightwire_parco::{Encode, MaxSize};
///
/// #[derive(Encode, MaxSize)]
/// enum Command {
///     Stop,
///     Move(i32, i32),
///     Say(#[parco(max = 100)] String),
/// }
///
/// assert_eq!(Command::MAX_SIZE, 1 + 1 + 100);
/// ```
#[proc_macro_derive(MaxSize, attributes(parco))]
pub fn max_size(input: TokenStream) -> TokenStream {
    derive(parse_macro_input!(input as DeriveInput), max_size::derive)
}

fn derive(input: DeriveInput, output: fn(&Model) -> proc_macro2::TokenStream) -> TokenStream {
    Model::parse(input).map_or_else(Error::into_compile_error, |model| output(&model)).into()
}
