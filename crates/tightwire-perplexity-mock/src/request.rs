//! Recorded requests.

use bytes::Bytes;
use http::header::AUTHORIZATION;
use http::request::Parts;
use http::{HeaderMap, Method};
use percent_encoding::percent_decode_str;
use tightwire_json::Value;

/// A request received by the server.
///
/// `Debug` redacts the `Authorization` header.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Request {
    /// Method.
    pub method: Method,
    /// Path and query as received, percent-encoded.
    pub target: String,
    /// Headers, with lower-case names.
    pub headers: HeaderMap,
    /// Complete body.
    pub body: Bytes,
    /// Number of the connection, from 1 in order of acceptance.
    pub connection: u64,
}

impl Request {
    pub(crate) fn new(head: Parts, body: Bytes, connection: u64) -> Self {
        let mut headers = head.headers;
        if let Some(value) = headers.get_mut(AUTHORIZATION) {
            value.set_sensitive(true);
        }
        let target = head.uri.path_and_query().map_or_else(|| head.uri.to_string(), ToString::to_string);
        Self { method: head.method, target, headers, body, connection }
    }

    /// Returns the path without the query, percent-encoded.
    pub fn path(&self) -> &str {
        self.target.split_once('?').map_or(self.target.as_str(), |(path, _)| path)
    }

    /// Returns the percent-decoded path segments: two for `/v1/files`. A trailing slash adds an empty one.
    pub fn segments(&self) -> Vec<String> {
        let path = self.path();
        let path = path.strip_prefix('/').unwrap_or(path);
        path.split('/').map(|segment| percent_decode_str(segment).decode_utf8_lossy().into_owned()).collect()
    }

    /// Returns the query parameters in order, decoded as form data.
    pub fn query(&self) -> Vec<(String, String)> {
        let query = self.target.split_once('?').map_or("", |(_, query)| query);
        form_urlencoded::parse(query.as_bytes()).into_owned().collect()
    }

    /// Returns the first value of a query parameter.
    pub fn query_value(&self, name: &str) -> Option<String> {
        self.query().into_iter().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    /// Returns the first value of a header, if it is visible ASCII. The name is case-insensitive.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// Returns the body as JSON, or `None` if it is not JSON.
    pub fn json(&self) -> Option<Value> {
        tightwire_json::from_slice(&self.body).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_redacts_the_key() {
        let request = http::Request::builder().header("authorization", "Bearer secret").body(()).unwrap();
        let request = Request::new(request.into_parts().0, Bytes::new(), 1);
        assert_eq!(request.header("Authorization"), Some("Bearer secret"));
        assert!(!format!("{request:?}").contains("secret"));
    }
}
