//! Embeddings: `POST /v1/embeddings` and `POST /v1/contextualizedembeddings`.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::invalid::{Invalid, at_most, present, within};
use super::wire::{object, open_enum};
use super::{ObjectKind, TextOrList};

/// Maximum texts, or documents, per request.
const MAX_INPUTS: usize = 512;
/// Maximum chunks of all documents of a request.
const MAX_CHUNKS: usize = 16_000;
const MIN_DIMENSIONS: u32 = 128;
/// Dimensions of the largest model.
const MAX_DIMENSIONS: u32 = 2_560;

object! {
    /// Request body of `POST /v1/embeddings`.
    ///
    /// # Examples
    ///
    /// ```
    /// use tightwire_perplexity::types::embeddings::{Model, Request};
    ///
    /// let request = Request::new(Model::V1Large, ["tea", "coffee"]).dimensions(256);
    /// request.validate()?;
    /// # Ok::<(), tightwire_perplexity::types::Invalid>(())
    /// ```
    pub struct Request: request {
        /// Texts to embed: at most 512 of 32K tokens each, 120,000 tokens in total.
        input: required TextOrList,
        /// Name of the model.
        model: required Model,
        /// Dimensions per embedding, from 128 to the maximum of the model: 1,024 or 2,560.
        dimensions: scalar u32,
        /// Encoding of the vectors [server default: [`EncodingFormat::Int8`]].
        encoding_format: optional EncodingFormat,
    }
}

impl Request {
    /// Creates a request for one or several texts.
    pub fn new(model: impl Into<Model>, input: impl Into<TextOrList>) -> Self {
        Self { model: model.into(), input: input.into(), ..Self::default() }
    }

    /// Validates the request locally.
    ///
    /// # Errors
    ///
    /// Returns [`Invalid`] if the model or a text is missing, there are too many texts, or the dimensions are
    /// out of range.
    pub fn validate(&self) -> Result<(), Invalid> {
        present("model", self.model == "")?;
        present("input", self.input.is_blank())?;
        at_most("input", self.input.texts().len(), MAX_INPUTS, "texts")?;
        within("dimensions", self.dimensions, MIN_DIMENSIONS, MAX_DIMENSIONS)
    }
}

object! {
    /// Request body of `POST /v1/contextualizedembeddings`, which embeds chunks in the context of their
    /// document.
    pub struct ContextualizedRequest: request {
        /// Chunks of each document: at most 512 documents of 32K tokens each, 16,000 chunks and 120,000
        /// tokens in total.
        input: required Vec<Vec<String>>,
        /// Name of the model.
        model: required Model,
        /// Dimensions per embedding, from 128 to the maximum of the model: 1,024 or 2,560.
        dimensions: scalar u32,
        /// Encoding of the vectors [server default: [`EncodingFormat::Int8`]].
        encoding_format: optional EncodingFormat,
    }
}

impl ContextualizedRequest {
    /// Creates a request from the chunks of each document.
    pub fn new<D, C>(model: impl Into<Model>, documents: D) -> Self
    where
        D: IntoIterator<Item = C>,
        C: IntoIterator<Item: Into<String>>,
    {
        let input =
            documents.into_iter().map(|chunks| chunks.into_iter().map(Into::into).collect()).collect();
        Self { model: model.into(), input, ..Self::default() }
    }

    /// Validates the request locally.
    ///
    /// # Errors
    ///
    /// Returns [`Invalid`] if the model, a document or a chunk is missing, there are too many of them, or the
    /// dimensions are out of range.
    pub fn validate(&self) -> Result<(), Invalid> {
        present("model", self.model == "")?;
        present("input", self.input.is_empty())?;
        at_most("input", self.input.len(), MAX_INPUTS, "documents")?;
        for (index, chunks) in self.input.iter().enumerate() {
            if chunks.is_empty() || chunks.iter().any(String::is_empty) {
                return Err(Invalid::empty(format!("input[{index}]")));
            }
        }
        at_most("input", self.input.iter().map(Vec::len).sum(), MAX_CHUNKS, "chunks")?;
        within("dimensions", self.dimensions, MIN_DIMENSIONS, MAX_DIMENSIONS)
    }
}

open_enum! {
    /// Name of an embedding model.
    pub enum Model {
        /// 0.6B parameters, up to 1,024 dimensions.
        V1Small = "pplx-embed-v1-0.6b",
        /// 4B parameters, up to 2,560 dimensions.
        V1Large = "pplx-embed-v1-4b",
        /// 0.6B parameters, for chunks in the context of their document.
        ContextV1Small = "pplx-embed-context-v1-0.6b",
        /// 4B parameters, for chunks in the context of their document.
        ContextV1Large = "pplx-embed-context-v1-4b",
    }

    /// Encoding of the vectors.
    pub enum EncodingFormat {
        /// One signed byte per dimension, in base64.
        Int8 = "base64_int8",
        /// One bit per dimension, in base64.
        Binary = "base64_binary",
    }
}

object! {
    /// Response with the embeddings of texts.
    pub struct Response: response {
        /// Object type, [`ObjectKind::List`].
        object: Option<ObjectKind>,
        /// The embeddings, one per text.
        data: Option<Vec<Embedding>>,
        /// Name of the model.
        model: Option<String>,
        /// Tokens used and their cost.
        usage: Option<Usage>,
    }

    /// Response with the embeddings of chunks.
    pub struct ContextualizedResponse: response {
        /// Object type, [`ObjectKind::List`].
        object: Option<ObjectKind>,
        /// The embeddings, grouped by document.
        data: Option<Vec<DocumentEmbeddings>>,
        /// Name of the model.
        model: Option<String>,
        /// Tokens used and their cost.
        usage: Option<Usage>,
    }

    /// Embeddings of the chunks of one document.
    pub struct DocumentEmbeddings: response {
        /// Object type.
        object: Option<ObjectKind>,
        /// Index of the document in the request, from 0.
        index: Option<u32>,
        /// The embeddings, one per chunk.
        data: Option<Vec<Embedding>>,
    }

    /// Embedding of one text or chunk.
    ///
    /// # Examples
    ///
    /// ```
    /// use tightwire_perplexity::types::embeddings::Embedding;
    ///
    /// let embedding: Embedding = tightwire_json::from_str(r#"{"embedding": "AQL/"}"#)?;
    /// assert_eq!(embedding.to_int8().unwrap(), [1, 2, -1]);
    /// assert_eq!(embedding.to_bits().unwrap()[..8], [false, false, false, false, false, false, false, true]);
    /// # Ok::<(), tightwire_json::Error>(())
    /// ```
    pub struct Embedding: response {
        /// Object type, [`ObjectKind::Embedding`].
        object: Option<ObjectKind>,
        /// Index of the text in the request, or of the chunk in its document, from 0.
        index: Option<u32>,
        /// Vector in base64, encoded as the request's [`EncodingFormat`] says.
        embedding: Option<String>,
    }
}

impl Embedding {
    /// Decodes the vector to bytes. A missing vector is empty.
    ///
    /// # Errors
    ///
    /// Returns [`NotBase64`] if the vector is not valid base64.
    pub fn to_bytes(&self) -> Result<Vec<u8>, NotBase64> {
        STANDARD.decode(self.embedding.as_deref().unwrap_or_default()).map_err(|_| NotBase64(()))
    }

    /// Decodes an [`EncodingFormat::Int8`] vector: one number per dimension.
    ///
    /// # Errors
    ///
    /// Returns [`NotBase64`] if the vector is not valid base64.
    pub fn to_int8(&self) -> Result<Vec<i8>, NotBase64> {
        Ok(self.to_bytes()?.into_iter().map(|byte| byte as i8).collect())
    }

    /// Decodes an [`EncodingFormat::Binary`] vector: one bit per dimension, most significant bit of each byte
    /// first.
    ///
    /// # Errors
    ///
    /// Returns [`NotBase64`] if the vector is not valid base64.
    pub fn to_bits(&self) -> Result<Vec<bool>, NotBase64> {
        let bits = |byte: u8| (0..8).rev().map(move |bit| byte >> bit & 1 == 1);
        Ok(self.to_bytes()?.into_iter().flat_map(bits).collect())
    }
}

/// Error for a vector that is not valid base64.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotBase64(());

impl fmt::Display for NotBase64 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("embedding is not in base64")
    }
}

impl std::error::Error for NotBase64 {}

object! {
    /// Tokens used by an embedding request.
    pub struct Usage: response {
        /// Tokens of the input.
        prompt_tokens: Option<u64>,
        /// Total tokens.
        total_tokens: Option<u64>,
        /// Cost of the request.
        cost: Option<Cost>,
    }

    /// Cost of an embedding request.
    pub struct Cost: response {
        /// Currency, `USD`.
        currency: Option<String>,
        /// Cost of the input.
        input_cost: Option<f64>,
        /// Total cost.
        total_cost: Option<f64>,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_base64_is_an_error() {
        let embedding = Embedding { embedding: Some("*".to_owned()), ..Embedding::default() };
        assert_eq!(embedding.to_int8(), Err(NotBase64(())));
        assert_eq!(Embedding::default().to_bits(), Ok(Vec::new()));
    }

    #[test]
    fn validation_error_names_the_field() {
        let field = |result: Result<(), Invalid>| result.unwrap_err().field().to_owned();
        assert_eq!(field(Request::new("", "a").validate()), "model");
        assert_eq!(field(Request::new(Model::V1Small, ["a", ""]).validate()), "input");
        assert_eq!(field(Request::new(Model::V1Small, vec!["a"; 513]).validate()), "input");
        assert_eq!(field(Request::new(Model::V1Small, "a").dimensions(64).validate()), "dimensions");
        let documents = |input: Vec<Vec<&str>>| ContextualizedRequest::new(Model::ContextV1Small, input);
        assert_eq!(field(documents(vec![]).validate()), "input");
        assert_eq!(field(documents(vec![vec!["a"], vec![]]).validate()), "input[1]");
        assert!(documents(vec![vec!["a"; 16_001]]).validate().unwrap_err().is_too_long());
        assert_eq!(documents(vec![vec!["a", "b"], vec!["c"]]).validate(), Ok(()));
    }
}
