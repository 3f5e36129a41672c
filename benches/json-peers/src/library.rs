//! Operations of a JSON library that rows measure.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// A JSON library for types of serde.
pub trait Library: Default + 'static {
    /// Name in the report.
    const NAME: &'static str;
    /// Version, `None` for tightwire-json.
    const VERSION: Option<&'static str>;

    /// Encodes into a new vector.
    fn to_vec<T: Serialize>(value: &T) -> Option<Vec<u8>>;

    /// Encodes into a new vector, with line breaks.
    fn to_vec_pretty<T: Serialize>(value: &T) -> Option<Vec<u8>>;

    /// Appends the encoded value to a buffer.
    fn to_buf<T: Serialize>(buffer: &mut Vec<u8>, value: &T) -> Option<()>;

    /// Encodes a line with an encoder for streams, if the library has one, and appends it to a buffer.
    fn line<T: Serialize>(buffer: &mut Vec<u8>, value: &T) -> Option<()> {
        Self::to_buf(buffer, value)?;
        buffer.push(b'\n');
        Some(())
    }

    /// Decodes a document. `self` has memory that is reused.
    fn read<'de, T: Deserialize<'de>>(&'de mut self, document: &'de [u8]) -> Option<T>;

    /// Decodes a document that may be modified.
    fn read_mut<'de, T: Deserialize<'de>>(&'de mut self, document: &'de mut Vec<u8>) -> Option<T> {
        self.read(document)
    }

    /// Decodes the document of a reader.
    fn from_reader<T: DeserializeOwned>(document: &[u8]) -> Option<T>;

    /// Whether the library has a decoder for streams.
    const HAS_STREAM: bool = false;

    /// Decodes the next document of a reader with a new decoder for streams.
    fn stream<T: DeserializeOwned>(_document: &[u8]) -> Option<T> {
        None
    }

    /// Tree of values.
    type Tree: 'static;

    /// Decodes a document into a tree.
    fn tree(&mut self, document: &[u8]) -> Option<Self::Tree>;

    /// Decodes a document that may be modified into a tree.
    fn tree_mut(&mut self, document: &mut [u8]) -> Option<Self::Tree> {
        self.tree(document)
    }

    /// Encodes a tree into a new vector.
    fn tree_to_vec(tree: &Self::Tree) -> Option<Vec<u8>>;

    /// Returns the number of values in the root, where an array counts its elements.
    fn check_tree(tree: &Self::Tree) -> u64;

    /// Whether trees can be searched, and values converted to trees and back.
    const HAS_TREES: bool = true;

    /// Looks up a text and a number of each message.
    fn lookup(_tree: &Self::Tree, _messages: usize) -> u64 {
        0
    }

    /// Converts a value to a tree.
    fn to_value<T: Serialize>(_value: &T) -> Option<Self::Tree> {
        None
    }

    /// Converts a tree to another type.
    fn from_value<T: DeserializeOwned>(_tree: &Self::Tree) -> Option<T> {
        None
    }
}

/// Implements the methods of [`Library`](crate::library::Library) for trees that can be indexed. Their traits must be in
/// scope.
#[macro_export]
macro_rules! indexed_trees {
    ($tree:ty, $to_value:expr, $from_value:expr) => {
        type Tree = $tree;

        fn check_tree(tree: &Self::Tree) -> u64 {
            let fields = tree.as_object().into_iter().flat_map(|object| object.iter());
            fields.map(|(_, field)| field.as_array().map_or(1, |array| array.len()) as u64).sum()
        }

        fn lookup(tree: &Self::Tree, messages: usize) -> u64 {
            let messages = (0..messages).map(|index| &tree["statuses"][index]);
            let sum = messages.map(|message| {
                let name = message["user"]["screen_name"].as_str().map_or(0, str::len);
                name as u64 + message["retweet_count"].as_u64().unwrap_or_default()
            });
            sum.sum()
        }

        fn to_value<T: Serialize>(value: &T) -> Option<Self::Tree> {
            $to_value(value).ok()
        }

        fn from_value<T: DeserializeOwned>(tree: &Self::Tree) -> Option<T> {
            $from_value(tree).ok()
        }
    };
}

/// Declares a library by its functions; `further` are the methods for trees and what only some libraries have.
#[macro_export]
macro_rules! library {
    ($(#[$meta:meta])* $name:ident, $text:literal, $version:expr;
     $to_vec:expr, $to_vec_pretty:expr, $to_buf:expr, $from_slice:expr, $from_reader:expr, $parse:expr;
     { $($further:tt)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Default)]
        pub struct $name;

        impl $crate::library::Library for $name {
            const NAME: &'static str = $text;
            const VERSION: Option<&'static str> = $version;

            fn to_vec<T: Serialize>(value: &T) -> Option<Vec<u8>> {
                $to_vec(value).ok()
            }

            fn to_vec_pretty<T: Serialize>(value: &T) -> Option<Vec<u8>> {
                $to_vec_pretty(value).ok()
            }

            fn to_buf<T: Serialize>(buffer: &mut Vec<u8>, value: &T) -> Option<()> {
                $to_buf(buffer, value).ok()
            }

            fn read<'de, T: Deserialize<'de>>(&'de mut self, document: &'de [u8]) -> Option<T> {
                $from_slice(document).ok()
            }

            fn from_reader<T: DeserializeOwned>(document: &[u8]) -> Option<T> {
                $from_reader(document).ok()
            }

            fn tree(&mut self, document: &[u8]) -> Option<Self::Tree> {
                $parse(document).ok()
            }

            fn tree_to_vec(tree: &Self::Tree) -> Option<Vec<u8>> {
                $to_vec(tree).ok()
            }

            $($further)*
        }
    };
}
