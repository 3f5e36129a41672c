//! The documents of rows with the types that represent them.

use std::any::Any;
use std::fmt;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::real::{Canada, Citm, Twitter};
use crate::types::{
    ApiData, ApiResponse, Check, Complex, ComplexMetadata, Lazy, PageResponse, Simple, TestData,
    TestMetadata, TestResponse, UserData,
};

/// The types of a document.
pub trait Document {
    /// Whether the report of the Go library has rows of other operations than encoding and decoding.
    const HAS_ALL_OPERATIONS: bool;
    /// Type that is encoded.
    type Encoded: Serialize + DeserializeOwned + 'static;
    /// Type that is decoded and owns its strings.
    type Owned: DeserializeOwned + Check + 'static;
    /// Type that is decoded and borrows strings without escapes.
    type Borrowed<'de>: Deserialize<'de> + Check;
}

/// Function that is generic over the types of a document.
pub trait Visit {
    /// Return type.
    type Output;

    /// Calls the function.
    fn visit<D: Document>(self) -> Self::Output;
}

/// Declares the variants of [`Type`]: form and suffix of the class, and the items of [`Document`].
macro_rules! documents {
    ($($(#[$doc:meta])* $name:ident($form:literal, $suffix:literal, $all:literal): $encoded:ty, $owned:ty, $borrowed:ty;)+) => {
        /// Document of a kind and the Rust types for it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Type {
            $($(#[$doc])* $name,)+
        }

        $(
            #[derive(Debug)]
            struct $name;

            impl Document for $name {
                const HAS_ALL_OPERATIONS: bool = $all;
                type Encoded = $encoded;
                type Owned = $owned;
                type Borrowed<'de> = $borrowed;
            }
        )+

        impl Type {
            /// Calls a visitor with the types of the document.
            pub fn visit<V: Visit>(self, visitor: V) -> V::Output {
                match self {
                    $(Self::$name => visitor.visit::<$name>(),)+
                }
            }

            /// Returns the beginning and the end of the classes of typed operations.
            pub(crate) fn class(self) -> (&'static str, &'static str) {
                match self {
                    $(Self::$name => ($form, $suffix),)+
                }
            }
        }
    };
}

// Types that are never decoded have another one in the second and third column, so that no code is generated for them.
documents! {
    /// API response with structs.
    Api("typed", "", true): ApiResponse<String, ApiData<String>>, Self::Encoded, ApiResponse<Lazy<'de>, ApiData<Lazy<'de>>>;
    /// API response with a tree of serde_json, where the Go library has a map of any values.
    ApiTree("typed with tree", "", true): ApiResponse<String, Value>, Self::Encoded, Self::Owned;
    /// User.
    User("typed", "", true): UserData<String>, Value, Value;
    /// Page of users.
    Page("typed", "", true): PageResponse<String>, Self::Encoded, PageResponse<Lazy<'de>>;
    /// Test response with structs.
    Test("typed", "", true): TestResponse<String, TestData<String>, TestMetadata<String>>, Self::Encoded,
        TestResponse<Lazy<'de>, TestData<Lazy<'de>>, TestMetadata<Lazy<'de>>>;
    /// Test response with trees of serde_json.
    TestTree("typed with tree", "", true): TestResponse<String, Value, Value>, Self::Encoded, Self::Owned;
    /// Struct with fields of all types.
    ComplexStruct("typed", "", true): Complex<String, ComplexMetadata<String>>, Value, Value;
    /// Struct with fields of all types and a tree of serde_json.
    ComplexTree("typed with tree", "", true): Complex<String, Value>, Value, Value;
    /// Struct with three fields.
    Small("typed", "", true): Simple<String>, Value, Value;
    /// Any document as a tree of serde_json, for all libraries.
    Tree("serde_json tree", "", false): Value, Self::Encoded, Self::Owned;
    /// `twitter.json`.
    TwitterDocument("typed", "", false): Twitter<String>, Self::Encoded, Twitter<Lazy<'de>>;
    /// `citm_catalog.json`.
    CitmDocument("typed", "", false): Citm<String>, Self::Encoded, Citm<Lazy<'de>>;
    /// `canada.json` with coordinates of 32 bits.
    Canada32("typed", ", f32", false): Canada<f32>, Self::Encoded, Self::Owned;
    /// `canada.json` with coordinates of 64 bits.
    Canada64("typed", ", f64", false): Canada<f64>, Self::Encoded, Self::Owned;
}

/// Input of operations: a document and its value.
pub struct Input {
    /// Type of the value.
    pub kind: Type,
    /// Text that is decoded.
    pub document: Vec<u8>,
    value: Option<Box<dyn Any>>,
}

impl fmt::Debug for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Input").field("kind", &self.kind).finish_non_exhaustive()
    }
}

impl Input {
    /// Decodes a document.
    ///
    /// # Panics
    ///
    /// If the document does not have the type.
    pub fn new(kind: Type, document: impl Into<Vec<u8>>) -> Self {
        struct Parse<'a>(&'a [u8]);

        impl Visit for Parse<'_> {
            type Output = sonic_rs::Result<Box<dyn Any>>;

            fn visit<D: Document>(self) -> Self::Output {
                // Without its feature `float_roundtrip`, serde_json changes the last digit of some numbers.
                Ok(Box::new(sonic_rs::from_slice::<D::Encoded>(self.0)?))
            }
        }

        let document = document.into();
        match kind.visit(Parse(&document)) {
            Ok(value) => Self { kind, document, value: Some(value) },
            Err(error) => panic!("the document is no {kind:?}: {error}"),
        }
    }

    /// Returns an input of a row that is not run, so that large documents are not decoded for it.
    pub fn absent(kind: Type) -> Self {
        Self { kind, document: Vec::new(), value: None }
    }

    /// Returns whether the input is [`absent`](Self::absent).
    pub fn is_absent(&self) -> bool {
        self.value.is_none()
    }

    /// Returns the value as serde_json writes it.
    pub fn encoded(&self) -> Vec<u8> {
        struct Encode<'a>(&'a Input);

        impl Visit for Encode<'_> {
            type Output = Vec<u8>;

            fn visit<D: Document>(self) -> Vec<u8> {
                let value = self.0.value::<D::Encoded>();
                value.and_then(|value| serde_json::to_vec(value).ok()).unwrap_or_default()
            }
        }

        self.kind.visit(Encode(self))
    }

    /// Returns the value, if it has this type.
    pub(crate) fn value<T: 'static>(&self) -> Option<&T> {
        self.value.as_ref()?.downcast_ref()
    }
}
