//! Documents of several types and lengths that are encoded or decoded in turn.

use serde::Serialize;

use super::documents::{Catalogue, Coastline, Kind, Messages, generated};
use super::families::{ApiOwned, CatalogueOwned, CoastlineOwned, MessagesOwned, PageOwned, TestOwned};
use super::library::{self, Library};
use super::payload;
use super::types::{ApiData, ApiResponse, Check, PageResponse, TestData, TestMetadata, TestResponse};

/// Value of one of the types.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Mixed {
    Api(ApiResponse<String, ApiData<String>>),
    Test(TestResponse<String, TestData<String>, TestMetadata<String>>),
    Page(PageResponse<String>),
    Messages(Messages),
    Catalogue(Catalogue),
    Coastline(Coastline),
}

/// The values and their documents, of 0.3 to 21 kB, short and long ones alternately.
#[derive(Debug)]
pub struct Mix {
    documents: Vec<(Mixed, Vec<u8>)>,
    /// Total length of the encoded documents.
    pub length: u64,
}

impl Default for Mix {
    fn default() -> Self {
        let values = [
            Mixed::Test(payload::test_typed()),
            Mixed::Messages(generated(Kind::Messages, 20_000)),
            Mixed::Api(payload::api_typed()),
            Mixed::Coastline(generated(Kind::Coastline, 6_000)),
            Mixed::Messages(generated(Kind::Messages, 500)),
            Mixed::Page(payload::page(20)),
            Mixed::Catalogue(generated(Kind::Catalogue, 300)),
            Mixed::Catalogue(generated(Kind::Catalogue, 12_000)),
            Mixed::Api(payload::api_typed()),
            Mixed::Messages(generated(Kind::Messages, 3_000)),
        ];
        let documents = values.map(|value| {
            let document = serde_json::to_vec(&value).unwrap_or_default();
            (value, document)
        });
        let length = documents.iter().map(|(_, document)| document.len() as u64).sum();
        Self { documents: documents.into(), length }
    }
}

impl Mix {
    /// Number of documents.
    pub const DOCUMENTS: u64 = 10;

    /// Encodes each value into a new vector. Returns the total length.
    pub fn encode<L: Library>(&self) -> u64 {
        self.documents.iter().map(|(value, _)| library::encode::<L, _>(value)).sum()
    }

    /// Encodes each value into the same buffer. Returns the total length.
    pub fn encode_reused<L: Library>(&self, buffer: &mut Vec<u8>) -> u64 {
        self.documents.iter().map(|(value, _)| library::encode_reused::<L, _>(buffer, value)).sum()
    }

    /// Decodes each document. Returns the sum of the check values.
    pub fn decode<L: Library>(&self, library: &mut L) -> u64 {
        let documents = self.documents.iter();
        documents
            .map(|(value, document)| match value {
                Mixed::Api(_) => library::decode::<L, ApiOwned>(library, document),
                Mixed::Test(_) => library::decode::<L, TestOwned>(library, document),
                Mixed::Page(_) => library::decode::<L, PageOwned>(library, document),
                Mixed::Messages(_) => library::decode::<L, MessagesOwned>(library, document),
                Mixed::Catalogue(_) => library::decode::<L, CatalogueOwned>(library, document),
                Mixed::Coastline(_) => library::decode::<L, CoastlineOwned>(library, document),
            })
            .sum()
    }

    /// Returns the sum of the check values.
    pub fn check(&self) -> u64 {
        let check = |value: &Mixed| match value {
            Mixed::Api(value) => value.check(),
            Mixed::Test(value) => value.check(),
            Mixed::Page(value) => value.check(),
            Mixed::Messages(value) => value.check(),
            Mixed::Catalogue(value) => value.check(),
            Mixed::Coastline(value) => value.check(),
        };
        self.documents.iter().map(|(value, _)| check(value)).sum()
    }
}
