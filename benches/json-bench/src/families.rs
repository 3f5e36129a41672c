//! Types of the published documents, which may borrow from them.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::documents::{Catalogue, Coastline, Messages};
use super::types::{ApiData, ApiResponse, Check, PageResponse, TestData, TestMetadata, TestResponse};

/// Type that may borrow from its document.
pub trait Family {
    /// Type for documents with the lifetime `'de`.
    type Of<'de>: Deserialize<'de> + Check;
}

/// String that borrows from the document unless it has escapes.
///
/// A `Cow` as type parameter always copies, because `#[serde(borrow)]` is an attribute of a field.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Lazy<'a>(#[serde(borrow)] pub Cow<'a, str>);

impl AsRef<str> for Lazy<'_> {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

macro_rules! families {
    ($($(#[$doc:meta])* $name:ident = $of:ty;)*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, Debug)]
            pub struct $name;

            impl Family for $name {
                type Of<'de> = $of;
            }
        )*
    };
}

families! {
    /// The API response with a tree of values.
    ApiDynamic = ApiResponse<String, Value>;
    /// The API response with owned strings.
    ApiOwned = ApiResponse<String, ApiData<String>>;
    /// The API response with strings that borrow if they have no escapes.
    ApiCow = ApiResponse<Lazy<'de>, ApiData<Lazy<'de>>>;
    /// The page with owned strings.
    PageOwned = PageResponse<String>;
    /// The page with strings that borrow if they have no escapes.
    PageCow = PageResponse<Lazy<'de>>;
    /// The test response with trees of values.
    TestDynamic = TestResponse<String, Value, Value>;
    /// The test response with owned strings.
    TestOwned = TestResponse<String, TestData<String>, TestMetadata<String>>;
    /// The test response with strings that borrow if they have no escapes.
    TestCow = TestResponse<Lazy<'de>, TestData<Lazy<'de>>, TestMetadata<Lazy<'de>>>;
    /// Any document as a tree of values.
    Tree = Value;
    /// A document of messages.
    MessagesOwned = Messages;
    /// A document of a catalogue.
    CatalogueOwned = Catalogue;
    /// A document of a coastline.
    CoastlineOwned = Coastline;
}
