//! Embeddings: `POST /v1/embeddings` and `POST /v1/contextualizedembeddings`.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::invalid::{Invalid, at_most, present, within};
use super::wire::{object, open_enum};
use super::{ObjectKind, TextOrList};

/// How many texts, or documents, one request may have.
const MAX_INPUTS: usize = 512;
/// How many chunks all documents of a request may have.
const MAX_CHUNKS: usize = 16_000;
/// The fewest dimensions of an embedding.
const MIN_DIMENSIONS: u32 = 128;
/// The most dimensions of an embedding of any model.
const MAX_DIMENSIONS: u32 = 2_560;

object! {
    /// The body of a request for embeddings.
    ///
    /// # Examples
    /// ```
    /// use tightwire_perplexity::types::embeddings::{Model, Request};
    ///
    /// let request = Request::new(Model::V1Large, ["tea", "coffee"]).dimensions(256);
    /// request.validate()?;
    /// # Ok::<(), tightwire_perplexity::types::Invalid>(())
    /// ```
    pub struct Request: body {
        /// The texts: at most 512 of 32K tokens each, 120,000 tokens in total.
        input: must TextOrList,
        /// The model.
        model: must Model,
        /// How many dimensions an embedding has, from 128 to what the model offers: 1,024 or 2,560.
        dimensions: copy u32,
        /// How embeddings are written. The server's default is [`EncodingFormat::Int8`].
        encoding_format: may EncodingFormat,
    }
}

impl Request {
    /// Asks for the embeddings of one text or several.
    pub fn new(model: impl Into<Model>, input: impl Into<TextOrList>) -> Self {
        Self { model: model.into(), input: input.into(), ..Self::default() }
    }

    /// Checks what the server would refuse.
    ///
    /// # Errors
    /// The model or a text is missing, there are too many texts, or the dimensions are out of range.
    pub fn validate(&self) -> Result<(), Invalid> {
        present("model", self.model == "")?;
        present("input", self.input.is_blank())?;
        at_most("input", self.input.texts().len(), MAX_INPUTS, "texts")?;
        within("dimensions", self.dimensions, MIN_DIMENSIONS, MAX_DIMENSIONS)
    }
}

object! {
    /// The body of a request for embeddings of chunks in the context of their documents.
    pub struct ContextualizedRequest: body {
        /// The chunks of each document: at most 512 documents of 32K tokens each, 16,000 chunks and 120,000 tokens in
        /// total.
        input: must Vec<Vec<String>>,
        /// The model.
        model: must Model,
        /// How many dimensions an embedding has, from 128 to what the model offers: 1,024 or 2,560.
        dimensions: copy u32,
        /// How embeddings are written. The server's default is [`EncodingFormat::Int8`].
        encoding_format: may EncodingFormat,
    }
}

impl ContextualizedRequest {
    /// Asks for the embeddings of the chunks of documents.
    pub fn new<D, C>(model: impl Into<Model>, documents: D) -> Self
    where
        D: IntoIterator<Item = C>,
        C: IntoIterator<Item: Into<String>>,
    {
        let input =
            documents.into_iter().map(|chunks| chunks.into_iter().map(Into::into).collect()).collect();
        Self { model: model.into(), input, ..Self::default() }
    }

    /// Checks what the server would refuse.
    ///
    /// # Errors
    /// The model, a document or a chunk is missing, there are too many of them, or the dimensions are out of range.
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
    /// A model for embeddings.
    pub enum Model {
        /// The small one.
        V1Small = "pplx-embed-v1-0.6b",
        /// The large one.
        V1Large = "pplx-embed-v1-4b",
        /// The small one for chunks in context.
        ContextV1Small = "pplx-embed-context-v1-0.6b",
        /// The large one for chunks in context.
        ContextV1Large = "pplx-embed-context-v1-4b",
    }
}

open_enum! {
    /// How embeddings are written.
    pub enum EncodingFormat {
        /// A signed byte per dimension, in base64.
        Int8 = "base64_int8",
        /// A bit per dimension, in base64.
        Binary = "base64_binary",
    }
}

object! {
    /// Embeddings of texts.
    pub struct Response: answer {
        /// What it is.
        object: may ObjectKind,
        /// The embeddings.
        data: many Embedding,
        /// The model.
        model: may String,
        /// What they took.
        usage: may Usage,
    }
}

object! {
    /// Embeddings of chunks in the context of their documents.
    pub struct ContextualizedResponse: answer {
        /// What it is.
        object: may ObjectKind,
        /// The embeddings of each document.
        data: many DocumentEmbeddings,
        /// The model.
        model: may String,
        /// What they took.
        usage: may Usage,
    }
}

object! {
    /// The embeddings of the chunks of one document.
    pub struct DocumentEmbeddings: answer {
        /// What it is.
        object: may ObjectKind,
        /// Which of the documents it belongs to, from 0.
        index: copy u32,
        /// The embeddings of the chunks.
        data: many Embedding,
    }
}

object! {
    /// The embedding of one text.
    ///
    /// # Examples
    /// ```
    /// use tightwire_perplexity::types::embeddings::Embedding;
    ///
    /// let embedding: Embedding = tightwire_json::from_str(r#"{"embedding": "AQL/"}"#)?;
    /// assert_eq!(embedding.to_int8().unwrap(), [1, 2, -1]);
    /// assert_eq!(embedding.to_bits().unwrap()[..8], [false, false, false, false, false, false, false, true]);
    /// # Ok::<(), tightwire_json::Error>(())
    /// ```
    pub struct Embedding: answer {
        /// What it is.
        object: may ObjectKind,
        /// Which of the texts it belongs to, from 0.
        index: copy u32,
        /// The vector in base64, in the form that [`EncodingFormat`] names.
        embedding: may String,
    }
}

impl Embedding {
    /// The bytes of the vector; none if there is no vector.
    ///
    /// # Errors
    /// The vector is not in base64.
    pub fn to_bytes(&self) -> Result<Vec<u8>, NotBase64> {
        STANDARD.decode(self.embedding.as_deref().unwrap_or_default()).map_err(|_| NotBase64(()))
    }

    /// The vector of [`EncodingFormat::Int8`]: a number per dimension.
    ///
    /// # Errors
    /// The vector is not in base64.
    pub fn to_int8(&self) -> Result<Vec<i8>, NotBase64> {
        Ok(self.to_bytes()?.into_iter().map(|byte| byte as i8).collect())
    }

    /// The vector of [`EncodingFormat::Binary`]: a bit per dimension, the highest bit of each byte first.
    ///
    /// # Errors
    /// The vector is not in base64.
    pub fn to_bits(&self) -> Result<Vec<bool>, NotBase64> {
        let bits = |byte: u8| (0..8).rev().map(move |bit| byte >> bit & 1 == 1);
        Ok(self.to_bytes()?.into_iter().flat_map(bits).collect())
    }
}

/// A vector that is not in base64.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotBase64(());

impl fmt::Display for NotBase64 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("embedding is not in base64")
    }
}

impl std::error::Error for NotBase64 {}

object! {
    /// What embeddings took.
    pub struct Usage: answer {
        /// Tokens of the texts.
        prompt_tokens: copy u64,
        /// Tokens in total.
        total_tokens: copy u64,
        /// What they cost.
        cost: may Cost,
    }
}

object! {
    /// What embeddings cost.
    pub struct Cost: answer {
        /// The currency, `USD`.
        currency: may String,
        /// Of the texts.
        input_cost: copy f64,
        /// Of everything.
        total_cost: copy f64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_that_are_not_base64_are_an_error() {
        let embedding = Embedding { embedding: Some("*".to_owned()), ..Embedding::default() };
        assert_eq!(embedding.to_int8(), Err(NotBase64(())));
        assert_eq!(Embedding::default().to_bits(), Ok(Vec::new()));
    }

    #[test]
    fn validation_names_the_member() {
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
