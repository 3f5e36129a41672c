//! The operations that rows measure, generic over the library. Each returns the check value of the row, 0 on failure.

use std::hint::black_box;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::documents::Messages;
use crate::input::{Document, Input, Type, Visit};
use crate::library::Library;
use crate::types::{ApiData, ApiResponse, Check};

/// An operation on an [`Input`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Encodes the value into a new vector.
    Encode,
    /// Encodes the value into a reused buffer.
    EncodeReused,
    /// Encodes the value as a line, with an encoder for streams if the library has one.
    Line,
    /// Encodes the value with line breaks.
    Pretty,
    /// Decodes a value that owns its strings.
    Decode,
    /// Decodes a value that borrows strings without escapes.
    Borrow,
    /// Decodes from a reader with a decoder for streams.
    Stream,
    /// Decodes from a reader that has nothing but the document.
    Reader,
    /// Encodes and decodes.
    RoundTrip,
    /// Encodes and decodes a value that borrows strings.
    RoundTripBorrowed,
    /// Converts the value to a tree.
    ToValue,
    /// Converts a tree to a value.
    FromValue,
    /// Encodes a tree.
    EncodeTree,
    /// Decodes a tree.
    DecodeTree,
    /// Decodes a tree that may borrow from its document or be read-only.
    DecodeTreeBorrowed,
    /// Encodes and decodes a tree.
    RoundTripTree,
    /// Looks up two fields of each message in a tree.
    Lookup,
}

impl Operation {
    /// Returns whether the operation depends on the type of the value.
    pub fn is_typed(self) -> bool {
        matches!(
            self,
            Self::Encode | Self::Line | Self::Decode | Self::RoundTrip | Self::Stream | Self::Reader
        )
    }

    /// Returns whether the length of the output depends on the library, so that tests compare the output instead:
    /// simd-json indents less and writes numbers of 32 bits with the digits of 64, and the tree of serde_json has
    /// decimals whose last bit differs.
    fn has_own_length(self, kind: Type) -> bool {
        match self {
            Self::Pretty => true,
            Self::Encode => kind == Type::Canada32,
            Self::EncodeTree => matches!(kind, Type::Canada32 | Type::Canada64),
            _ => false,
        }
    }

    fn is_supported<L: Library>(self) -> bool {
        match self {
            Self::DecodeTreeBorrowed => false,
            Self::Stream => L::HAS_STREAM,
            Self::ToValue | Self::FromValue | Self::Lookup => L::HAS_TREES,
            _ => true,
        }
    }

    /// Returns the class of implementations with this operation.
    pub fn class(self, kind: Type) -> String {
        let (form, suffix) = kind.class();
        let owned = if form == "typed" { "typed owned" } else { form };
        match self {
            Self::Encode | Self::Line | Self::Pretty => format!("{form}{suffix}, new buffer"),
            Self::EncodeReused => format!("{form}{suffix}, reused buffer"),
            Self::Decode | Self::RoundTrip | Self::FromValue => format!("{owned}{suffix}"),
            Self::Borrow | Self::RoundTripBorrowed => format!("typed borrowed{suffix}"),
            Self::Stream => format!("{owned}, stream"),
            Self::Reader => format!("{owned}, whole reader"),
            Self::EncodeTree => "tree, new buffer".to_owned(),
            Self::DecodeTreeBorrowed => "tree borrowed".to_owned(),
            Self::ToValue | Self::DecodeTree | Self::RoundTripTree | Self::Lookup => "tree".to_owned(),
        }
    }
}

/// A measured operation. Virtual calls, so that the harness is not compiled for every operation.
pub type Work<'a> = Box<dyn FnMut() -> u64 + 'a>;

/// An implementation of a row.
pub struct Side<'a> {
    /// Name in the row.
    pub name: String,
    /// Version of a peer, `None` for ours.
    pub version: Option<&'static str>,
    /// Class in the row.
    pub class: String,
    /// Check value.
    pub expected: u64,
    /// The operation.
    pub work: Work<'a>,
}

impl std::fmt::Debug for Side<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Side").field("name", &self.name).finish_non_exhaustive()
    }
}

impl<'a> Side<'a> {
    /// Returns an operation of a library, whose name is that of the library with the class.
    pub fn of<L: Library>(class: &str, expected: u64, work: impl FnMut() -> u64 + 'a) -> Self {
        Self::peer(L::NAME, L::VERSION, class, expected, work)
    }

    /// [`of`](Self::of) for other libraries.
    pub fn peer(
        name: &str,
        version: Option<&'static str>,
        class: &str,
        expected: u64,
        work: impl FnMut() -> u64 + 'a,
    ) -> Self {
        Self {
            name: format!("{name} {class}"),
            version,
            class: class.to_owned(),
            expected,
            work: Box::new(work),
        }
    }
}

/// Returns an operation of a library on several inputs in turn, `None` if the library does not have it. The operation
/// of an absent input fails.
pub fn side<'a, L: Library>(operation: Operation, inputs: &'a [Input], expected: u64) -> Option<Side<'a>> {
    let class = operation.class(inputs.first()?.kind);
    if !operation.is_supported::<L>() {
        return None;
    }
    if inputs.iter().any(Input::is_absent) {
        return Some(Side::of::<L>(&class, expected, || 0));
    }
    let mut works = inputs.iter().map(|input| work::<L>(operation, input)).collect::<Option<Vec<_>>>()?;
    let mut work = match works.len() {
        1 => works.pop()?,
        _ => Box::new(move || works.iter_mut().map(|work| work()).sum()),
    };
    let expected = if operation.has_own_length(inputs.first()?.kind) { work().max(1) } else { expected };
    Some(Side { work, ..Side::of::<L>(&class, expected, || 0) })
}

/// Returns the length of an encoded document.
pub fn length(document: Option<Vec<u8>>) -> u64 {
    document.map_or(0, |document| black_box(&document).len() as u64)
}

/// Returns the check value of a decoded value.
pub fn checked<T: Check>(value: Option<T>) -> u64 {
    value.map_or(0, |value| black_box(&value).check())
}

// Not inlined, so that operations share them.
#[inline(never)]
pub(crate) fn to_vec<L: Library, T: Serialize>(value: &T) -> Option<Vec<u8>> {
    L::to_vec(value)
}

#[inline(never)]
fn to_buf<L: Library, T: Serialize>(buffer: &mut Vec<u8>, value: &T) -> Option<()> {
    L::to_buf(buffer, value)
}

#[inline(never)]
pub(crate) fn read<'de, L: Library, T: Deserialize<'de>>(
    library: &'de mut L,
    document: &'de [u8],
) -> Option<T> {
    library.read(document)
}

#[inline(never)]
fn read_mut<'de, L: Library, T: Deserialize<'de>>(
    library: &'de mut L,
    document: &'de mut Vec<u8>,
) -> Option<T> {
    library.read_mut(document)
}

struct Typed<'a, L> {
    operation: Operation,
    input: &'a Input,
    library: L,
}

impl<'a, L: Library> Visit for Typed<'a, L> {
    type Output = Option<Work<'a>>;

    fn visit<D: Document>(self) -> Option<Work<'a>> {
        let mut library = self.library;
        let document = &*self.input.document;
        let value = self.input.value::<D::Encoded>()?;
        Some(match self.operation {
            Operation::Encode => Box::new(|| length(to_vec::<L, _>(black_box(value)))),
            Operation::EncodeReused if D::HAS_ALL_OPERATIONS => {
                let mut buffer = Vec::new();
                Box::new(move || {
                    buffer.clear();
                    let encoded = to_buf::<L, _>(&mut buffer, black_box(value));
                    encoded.map_or(0, |()| black_box(&buffer).len() as u64)
                })
            }
            Operation::Line if D::HAS_ALL_OPERATIONS => Box::new(|| {
                let mut buffer = Vec::new();
                let encoded = L::line(&mut buffer, black_box(value));
                encoded.map_or(0, |()| black_box(&buffer).len() as u64)
            }),
            Operation::Decode => {
                Box::new(move || checked(read::<L, D::Owned>(&mut library, black_box(document))))
            }
            Operation::Borrow => {
                Box::new(move || checked(read::<L, D::Borrowed<'_>>(&mut library, black_box(document))))
            }
            Operation::RoundTrip if D::HAS_ALL_OPERATIONS => Box::new(move || {
                let Some(mut document) = to_vec::<L, _>(black_box(value)) else { return 0 };
                checked(read_mut::<L, D::Owned>(&mut library, black_box(&mut document)))
            }),
            Operation::RoundTripBorrowed if D::HAS_ALL_OPERATIONS => Box::new(move || {
                let Some(mut document) = to_vec::<L, _>(black_box(value)) else { return 0 };
                checked(read_mut::<L, D::Borrowed<'_>>(&mut library, black_box(&mut document)))
            }),
            // The condition is known at compile time: no code is generated for operations that no row has.
            _ => return None,
        })
    }
}

fn work<'a, L: Library>(operation: Operation, input: &'a Input) -> Option<Work<'a>> {
    let mut library = L::default();
    let document = &*input.document;
    let tree = || L::default().tree(document);
    Some(match operation {
        // Only these two types, so that no code is generated for the others.
        Operation::Stream | Operation::Reader => match input.kind {
            Type::Api => reader::<L, ApiResponse<String, ApiData<String>>>(operation, document),
            _ => reader::<L, ApiResponse<String, Value>>(operation, document),
        },
        Operation::Pretty => {
            let value = input.value::<Messages>()?;
            Box::new(|| length(L::to_vec_pretty(black_box(value))))
        }
        Operation::ToValue => {
            let value = input.value::<Messages>()?;
            Box::new(|| L::to_value(black_box(value)).map_or(0, |tree| L::check_tree(black_box(&tree))))
        }
        Operation::FromValue => {
            let tree = tree()?;
            Box::new(move || checked(L::from_value::<Messages>(black_box(&tree))))
        }
        Operation::EncodeTree => {
            let tree = tree()?;
            Box::new(move || length(L::tree_to_vec(black_box(&tree))))
        }
        Operation::DecodeTree => Box::new(move || {
            library.tree(black_box(document)).map_or(0, |tree| L::check_tree(black_box(&tree)))
        }),
        Operation::RoundTripTree => {
            let tree = tree()?;
            Box::new(move || {
                let Some(mut document) = L::tree_to_vec(black_box(&tree)) else { return 0 };
                library.tree_mut(black_box(&mut document)).map_or(0, |tree| L::check_tree(black_box(&tree)))
            })
        }
        Operation::Lookup => {
            let (tree, count) = (tree()?, input.value::<Messages>()?.statuses.len());
            Box::new(move || L::lookup(black_box(&tree), count))
        }
        _ => return input.kind.visit(Typed { operation, input, library }),
    })
}

fn reader<L: Library, T: DeserializeOwned + Check>(operation: Operation, document: &[u8]) -> Work<'_> {
    match operation {
        Operation::Stream => Box::new(|| checked(L::stream::<T>(black_box(document)))),
        _ => Box::new(|| checked(L::from_reader::<T>(black_box(document)))),
    }
}
