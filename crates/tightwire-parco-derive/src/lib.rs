//! The derive macros of parco. Use them through that crate, which re-exports them.

mod attr;
mod decode;
mod encode;
mod form;
mod model;
mod shape;
mod view;

use proc_macro::TokenStream;
use syn::{DeriveInput, Error, parse_macro_input};

use crate::model::Model;

/// Derives what writes a struct or enum: `EncodeForm`, and with it `Encode`.
///
/// A struct is written as its fields, in the order of their declaration and with nothing in between. Each field has the
/// form that its type has by default; attributes change that form. An attribute means the same for `T`, `Option<T>` and
/// `Box<T>`, and one that does not suit the field's type is a compile error.
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
/// # Attributes of a field
///
/// | `#[parco(..)]` | for | effect |
/// |---|---|---|
/// | `header = u16be` | strings, blobs, slices, maps | the number that counts: `u8`, `i8`, `u16` to `u64`, `i16` to `i64`, `int`, `uint` (eight bytes, Go's names); `le` or `be` behind it gives an order, else it is the field's |
/// | `small` | the same | `header = u8` |
/// | `be`, `le` | all | the byte order of numbers and headers, also of those inside, but not of messages inside |
/// | `elem(..)` | slices, arrays | attributes of the elements |
/// | `key(..)`, `value(..)` | maps | attributes of keys and of values |
/// | `inner(..)` | `Option` | attributes of the value, to tell options in options apart, or for `time` |
/// | `blob` | `Vec<u8>`, strings | one byte string instead of a slice of numbers: the same bytes, faster |
/// | `sorted` | `HashMap` | entries are written in the order of their keys |
/// | `int`, `uint` | `i64`, `u64` | Go's names in the schema; the bytes are the same |
/// | `time` | `i64`, `SystemTime`, `tightwire_parco::Timestamp`, .. | nanoseconds since 1970, always little endian |
/// | `max = N` | strings, blobs, slices, maps | a limit on the length or count, when writing and when reading |
/// | `with = Form` | all | this form, a type that implements `tightwire_parco::wire::StaticWire`; `tightwire_parco::wire` shows one |
/// | `skip = N` | `()` | `N` reserved bytes, written as zeros, read with any content |
/// | `ignore` | all | not on the wire; when reading it is the type's default |
/// | `default_on_eof` | the last fields | when reading, the type's default where the input ends before the field |
/// | `rename = "name"` | all | the name in schemas and in paths of errors |
///
/// Inside of `elem`, `key`, `value` and `inner` all attributes that change a form can be used, `elem` and so on again.
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
/// # Attributes of a struct
///
/// | `#[parco(..)]` | effect |
/// |---|---|
/// | `be`, `le` | the byte order of all fields, numbers and headers alike; without it little endian |
/// | `view` | deriving `Decode` makes a second struct that is a view of the message, see [`Decode`](macro@Decode) |
/// | `crate = path` | where the crate `parco` is, if not at `::parco` |
///
/// ```
/// #[derive(tightwire_parco::Encode)]
/// #[parco(be)]
/// struct Port {
///     number: u16,
///     name: &'static str,
/// }
///
/// assert_eq!(tightwire_parco::to_vec(&Port { number: 80, name: "x" })?, [0, 80, 0, 1, b'x']);
/// # Ok::<(), tightwire_parco::Error>(())
/// ```
///
/// # Enums
///
/// An enum is a registry of models: an id, then what the variant has. It is how several messages share a stream.
///
/// | `#[parco(..)]` | on | effect |
/// |---|---|---|
/// | `id = u8` | the enum | the form of the ids: a header's name as above, `small` for text, or a type such as `U16<Be>` |
/// | `id = 0`, `id = "pet"` | each variant | its id |
/// | `rename = "name"` | a variant | its name in paths of errors |
/// | `be`, `le`, `view`, `crate = path` | the enum | as for a struct |
///
/// A variant may have any fields or none, with the attributes of a struct's fields.
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
/// The types of fields need forms, not the type parameters: a parameter that is only part of an ignored field needs
/// nothing. For a field that contains the struct itself the parameters have to have forms.
#[proc_macro_derive(Encode, attributes(parco))]
pub fn encode(input: TokenStream) -> TokenStream {
    derive(parse_macro_input!(input as DeriveInput), |model| Ok(encode::derive(model)))
}

/// Derives what reads a struct or enum: `DecodeForm`, and with it `Decode`.
///
/// The attributes are those of [`Encode`](macro@Encode); a type can derive both, or one of them. A struct with
/// lifetimes borrows from the input, and all of its lifetimes are that of the input.
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
/// # Fields that may be missing
///
/// `default_on_eof` is for fields that were added to a format: older messages end before them. That works for messages
/// whose end is known, such as a slice or a stream with one message, and not where other messages follow.
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
///
/// # Views
///
/// With `#[parco(view)]` on a struct `Name` there is also a struct `NameView<'de>`, which derives `Clone`, `Copy`,
/// `Debug` and `PartialEq`. It reads the same bytes, checks them as completely, and allocates nothing: it has the fields
/// that are on the wire, with other types.
///
/// | field | in the view |
/// |---|---|
/// | numbers, `bool`, `()` | the same |
/// | text | `&str` |
/// | blobs | `&[u8]` |
/// | slices and sets | `tightwire_parco::Seq`, decoded while it is iterated |
/// | maps | `tightwire_parco::Entries`, likewise |
/// | `[T; N]`, `Option<T>` | an array or option of what `T` is |
/// | `Box<T>`, `Rc<T>`, `Arc<T>` | what `T` is |
/// | points in time | `tightwire_parco::Timestamp`, `tightwire_parco::Located<&str>` |
/// | messages | their views, so these need `#[parco(view)]` too |
///
/// Views of enums work the same way. Types with type parameters or several lifetimes have no views, and one that
/// contains itself has one only if it does so in a slice or map.
///
/// ```
/// use std::collections::HashMap;
///
/// #[derive(tightwire_parco::Encode, tightwire_parco::Decode)]
/// #[parco(view)]
/// struct Student {
///     name: String,
///     numbers: Vec<u16>,
///     #[parco(header = u8, key(small))]
///     grades: HashMap<String, u8>,
/// }
///
/// let grades = HashMap::from([("math".to_owned(), 5)]);
/// let bytes = tightwire_parco::to_vec(&Student { name: "Ada".into(), numbers: vec![1, 2], grades })?;
/// let view: StudentView = tightwire_parco::decode_exact(&bytes)?;
/// assert_eq!(view.name, "Ada");
/// assert_eq!(view.numbers.iter().sum::<u16>(), 3);
/// assert_eq!(view.grades.get(&"math"), Some(5));
/// # Ok::<(), tightwire_parco::Error>(())
/// ```
#[proc_macro_derive(Decode, attributes(parco))]
pub fn decode(input: TokenStream) -> TokenStream {
    derive(parse_macro_input!(input as DeriveInput), |model| {
        let mut output = decode::derive(model);
        output.extend(view::derive(model)?);
        Ok(output)
    })
}

fn derive(
    input: DeriveInput,
    output: impl FnOnce(&Model) -> syn::Result<proc_macro2::TokenStream>,
) -> TokenStream {
    Model::parse(input).and_then(|model| output(&model)).unwrap_or_else(Error::into_compile_error).into()
}
