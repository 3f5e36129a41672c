//! A request as the server received it.

use bytes::Bytes;
use http::header::AUTHORIZATION;
use http::request::Parts;
use http::{HeaderMap, Method};
use percent_encoding::percent_decode_str;
use serde_json::Value;

/// A request as the server received it, kept for assertions.
///
/// `Debug` does not show the value of the `Authorization` header.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Request {
    /// The method.
    pub method: Method,
    /// Path and query as they were on the wire, still percent-encoded.
    pub target: String,
    /// The headers. Names are in lower case.
    pub headers: HeaderMap,
    /// The whole body.
    pub body: Bytes,
    /// Which connection it came on, counted from 1 in the order of acceptance.
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

    /// The path without the query, still percent-encoded.
    pub fn path(&self) -> &str {
        self.target.split_once('?').map_or(self.target.as_str(), |(path, _)| path)
    }

    /// The percent-decoded segments of the path: two for `/v1/files`, and an empty one for a final slash.
    pub fn segments(&self) -> Vec<String> {
        let path = self.path();
        let path = path.strip_prefix('/').unwrap_or(path);
        path.split('/').map(|segment| percent_decode_str(segment).decode_utf8_lossy().into_owned()).collect()
    }

    /// The pairs of the query in order, decoded as form data.
    pub fn query(&self) -> Vec<(String, String)> {
        let query = self.target.split_once('?').map_or("", |(_, query)| query);
        form_urlencoded::parse(query.as_bytes()).into_owned().collect()
    }

    /// The first value of a member of the query.
    pub fn query_value(&self, name: &str) -> Option<String> {
        self.query().into_iter().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    /// The first value of a header, if it is visible ASCII. The name is case-insensitive.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// The body as JSON, or `None` where it is something else.
    pub fn json(&self) -> Option<Value> {
        serde_json::from_slice(&self.body).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(target: &str) -> Request {
        let (head, ()) = http::Request::builder()
            .uri(target)
            .header("authorization", "Bearer secret")
            .body(())
            .unwrap()
            .into_parts();
        Request::new(head, Bytes::from_static(b"{\"a\":1}"), 1)
    }

    #[test]
    fn encoded_slashes_stay_inside_their_segment() {
        let request = request("/v1/files/a%2Fb%20c%3Fd?local_mode=true&list=a%2Cb");
        assert_eq!(request.segments(), ["v1", "files", "a/b c?d"]);
        assert_eq!(request.query_value("list").as_deref(), Some("a,b"));
        assert_eq!(request.query_value("none"), None);
        assert_eq!(request.json(), Some(serde_json::json!({"a": 1})));
    }

    #[test]
    fn debug_does_not_show_the_key() {
        let request = request("/");
        assert_eq!(request.header("Authorization"), Some("Bearer secret"));
        assert!(!format!("{request:?}").contains("secret"));
    }
}
