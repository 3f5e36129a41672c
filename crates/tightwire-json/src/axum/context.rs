//! What a request says about its answer.

use std::convert::Infallible;

use axum_core::extract::FromRequestParts;
use http::header::ACCEPT_LANGUAGE;
use http::request::Parts;

use crate::envelope::Responder;
use crate::errno::Language;

/// The header that carries the id of a request.
pub const REQUEST_ID_HEADER: &str = "x-request-id";
/// The longest request id that is taken over into answers, in bytes.
pub const MAX_REQUEST_ID: usize = 128;

/// Language and id of a request. This extractor never fails.
///
/// The language is the [`Language`] among the request's extensions, which a middleware sets; else the query
/// parameter `lang` as it is spelled; else the first entry of `Accept-Language`; else English.
///
/// The id is the header `x-request-id`, where it consists of at most [`MAX_REQUEST_ID`] visible ASCII characters.
/// Anything else is dropped, because the id comes back in answers and ends up in logs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RequestContext {
    /// The language of messages.
    pub language: Language,
    /// The id of the request.
    pub request_id: Option<String>,
}

impl RequestContext {
    /// Reads the head of a request.
    pub fn from_parts(parts: &Parts) -> Self {
        Self { language: language(parts), request_id: request_id(parts) }
    }

    /// Makes answers in the language and with the id of the request.
    pub fn responder(&self) -> Responder {
        let responder = Responder::new().language(self.language);
        match &self.request_id {
            Some(id) => responder.request_id(id.clone()),
            None => responder,
        }
    }
}

fn language(parts: &Parts) -> Language {
    if let Some(&chosen) = parts.extensions.get::<Language>() {
        return chosen;
    }
    let query = parts.uri.query().unwrap_or_default().as_bytes();
    let asked = form_urlencoded::parse(query)
        .find(|(name, value)| name == "lang" && !value.is_empty())
        .map(|pair| pair.1);
    if let Some(tag) = asked {
        return Language::from_tag(&tag);
    }
    let header = parts.headers.get(ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok());
    header.map(Language::from_accept_language).unwrap_or_default()
}

fn request_id(parts: &Parts) -> Option<String> {
    let id = parts.headers.get(REQUEST_ID_HEADER)?.as_bytes();
    let acceptable = (1..=MAX_REQUEST_ID).contains(&id.len()) && id.iter().all(u8::is_ascii_graphic);
    acceptable.then(|| String::from_utf8_lossy(id).into_owned())
}

impl<S: Sync> FromRequestParts<S> for RequestContext {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Self::Rejection> {
        Ok(Self::from_parts(parts))
    }
}
