//! A request before it is sent: the operation's part and the caller's options.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::PathBuf;

use bytes::Bytes;
use http::Method;
use http::header::{ACCEPT, CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::Request;
use serde::Serialize;
use tightwire_json::{RawValue, Value};

use super::headers::{self, HeaderEdit, IDEMPOTENCY_KEY};
use super::multipart::Form;
use super::timeouts::Timeouts;
use super::upload::UploadHook;
use super::url::{BaseUrl, QueryParam};
use crate::error::{Error, Result};
use crate::retry::RetryPolicy;
use crate::types::files::Purpose;

/// Name and JSON value of a body field to add.
pub(crate) type ExtraField = (String, Box<RawValue>);

/// A complete request description. The body is encoded once; all attempts share its bytes, unless extra
/// fields are merged into them.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    pub(super) method: Method,
    /// Percent-encoded path that starts with a slash. May have a query.
    path: Cow<'static, str>,
    pub(super) accept: HeaderValue,
    pub(super) body: Body,
    /// A file whose content becomes the body, see [`load_file`](Self::load_file).
    pub(super) file: Option<(Purpose, PathBuf)>,
    pub(super) extras: Vec<ExtraField>,
    /// Query parameters of the operation.
    query: Vec<QueryParam>,
    pub(crate) options: Options,
    /// Whether the call creates a response that is billed, even if the client does not receive it.
    pub(crate) is_billed: bool,
    /// Name of the call for tracing.
    pub(crate) label: Label,
}

/// Options that the caller set for the call. The body is separate.
#[derive(Debug, Clone, Default)]
pub(crate) struct Options {
    pub(super) query: Vec<QueryParam>,
    pub(super) headers: Vec<HeaderEdit>,
    pub(crate) timeouts: Option<Timeouts>,
    pub(crate) retry: Option<RetryPolicy>,
    pub(crate) max_retries: Option<u32>,
    pub(crate) on_upload: Option<UploadHook>,
}

impl Options {
    /// Returns the options of a call without a body that continues this call.
    pub(crate) fn of_continuation(&self) -> Self {
        let mut options = Self { on_upload: None, ..self.clone() };
        options.headers.retain(|(name, _)| ![CONTENT_TYPE, IDEMPOTENCY_KEY].contains(name));
        options
    }
}

#[derive(Debug, Clone, Default)]
#[cfg_attr(not(feature = "tracing"), allow(dead_code, reason = "only used for tracing"))]
pub(crate) struct Label {
    pub(crate) operation: &'static str,
    pub(crate) model: Option<String>,
}

#[derive(Debug, Clone)]
pub(super) enum Body {
    None,
    Json(Bytes),
    Form(Form),
}

impl Plan {
    pub(crate) fn new(method: Method, path: impl Into<Cow<'static, str>>) -> Self {
        Self {
            method,
            path: path.into(),
            accept: headers::JSON,
            body: Body::None,
            file: None,
            extras: Vec::new(),
            query: Vec::new(),
            options: Options::default(),
            is_billed: false,
            label: Label::default(),
        }
    }

    /// Adds the fields of an object as query parameters. Lists become one comma-separated value; `null` is
    /// omitted.
    pub(crate) fn add_params(&mut self, params: &impl Serialize) -> Result<()> {
        let invalid = |error| Error::unencodable("query", error);
        let fields: tightwire_json::Map<String, Value> =
            tightwire_json::from_slice(&tightwire_json::to_vec(params).map_err(invalid)?).map_err(invalid)?;
        self.query
            .extend(fields.into_iter().filter_map(|(name, value)| Some((name.into(), parameter(&value)?))));
        Ok(())
    }

    /// Sets the field `stream` of the body to true. `stream_field` is its present value.
    pub(crate) fn set_stream(&mut self, stream_field: Option<bool>) -> Result<()> {
        match (stream_field, &mut self.body) {
            (Some(false), _) => {
                return Err(Error::invalid("stream", "must not be false for a streaming call"));
            }
            (None, Body::Json(body)) => *body = with_stream(body),
            _ => {}
        }
        Ok(())
    }

    /// Replaces a query parameter of the operation.
    pub(crate) fn set_query(&mut self, name: &'static str, value: String) {
        self.query.retain(|(other, _)| other != name);
        self.query.push((name.into(), value));
    }

    pub(crate) fn set_json<T: Serialize + ?Sized>(&mut self, body: &T) -> Result<()> {
        let body = tightwire_json::to_vec(body).map_err(|error| Error::unencodable("body", error))?;
        self.body = Body::Json(body.into());
        Ok(())
    }

    /// Returns the path without its query.
    pub(crate) fn path(&self) -> &str {
        self.path.split_once('?').map_or(&self.path, |(path, _)| path)
    }

    fn has_key(&self) -> bool {
        let latest = self.options.headers.iter().rfind(|(name, _)| *name == IDEMPOTENCY_KEY);
        latest.is_some_and(|(_, value)| value.is_some())
    }

    /// Returns whether sending the request twice has the same effect as sending it once (RFC 9110, section
    /// 9.2.2).
    pub(crate) fn is_idempotent(&self) -> bool {
        self.method.is_idempotent() || self.has_key()
    }

    /// Adds this idempotency key to a call that is not idempotent and has none.
    pub(crate) fn ensure_key(&mut self, key: impl FnOnce() -> HeaderValue) {
        let is_mentioned = self.options.headers.iter().any(|(name, _)| *name == IDEMPOTENCY_KEY);
        if !self.method.is_idempotent() && !is_mentioned {
            self.options.headers.push((IDEMPOTENCY_KEY, Some(key())));
        }
    }

    /// Builds the request. `defaults` are the client's headers.
    pub(crate) fn request(
        &self,
        base: &BaseUrl,
        defaults: &HeaderMap,
        query: &[QueryParam],
    ) -> Result<Request> {
        let url = base.join(&self.path, &[query, &self.query, &self.options.query]);
        let (body, form) = match &self.body {
            Body::None if self.extras.is_empty() => (None, None),
            Body::None => (Some(merge(b"{}", &self.extras)?), None),
            Body::Json(json) if self.extras.is_empty() => (Some(json.clone()), None),
            Body::Json(json) => (Some(merge(json, &self.extras)?), None),
            Body::Form(_) if !self.extras.is_empty() => {
                return Err(Error::invalid("extra_body", "requires a JSON object as body"));
            }
            Body::Form(form) => (Some(form.body.clone()), Some(&form.content_type)),
        };
        let mut headers = defaults.clone();
        if let Some(content_type) = form {
            headers.insert(CONTENT_TYPE, content_type.clone());
        }
        headers.insert(ACCEPT, self.accept.clone());
        if self.accept == headers::EVENTS {
            headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        }
        if body.is_some() {
            headers.entry(CONTENT_TYPE).or_insert(headers::JSON);
        }
        headers::apply(&mut headers, &self.options.headers);
        if body.is_none() && self.method == Method::POST {
            // Some gateways reject a POST without a length.
            headers.insert(CONTENT_LENGTH, HeaderValue::from_static("0"));
        }
        let mut request = Request::new(self.method.clone(), url);
        *request.headers_mut() = headers;
        *request.body_mut() = body.map(|body| match &self.options.on_upload {
            Some(hook) => hook.observe(body),
            None => body.into(),
        });
        Ok(request)
    }
}

/// Merges `extras` into the JSON object `body`. They override fields of the body, and later ones override earlier
/// ones. The fields are sorted by name. Values are copied verbatim, so numbers of any length stay exact.
fn merge(body: &[u8], extras: &[ExtraField]) -> Result<Bytes> {
    let mut fields: BTreeMap<Cow<'_, str>, &RawValue> = tightwire_json::from_slice(body)
        .map_err(|error| Error::invalid("extra_body", "requires a JSON object as body").with_source(error))?;
    fields.extend(extras.iter().map(|(name, value)| (Cow::Borrowed(&**name), &**value)));
    let merged = tightwire_json::to_vec(&fields).map_err(|error| Error::unencodable("extra_body", error))?;
    Ok(merged.into())
}

/// Formats a query parameter.
fn parameter(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.to_string()),
        Value::Array(values) => Some(values.iter().filter_map(parameter).collect::<Vec<_>>().join(",")),
        other => Some(other.to_string()),
    }
}

/// Adds `"stream":true` to an object without this field. The encoder wrote the object, so its last byte is
/// the closing brace.
fn with_stream(object: &[u8]) -> Bytes {
    let Some(open) = object.strip_suffix(b"}") else { return Bytes::copy_from_slice(object) };
    let separator: &[u8] = if open == b"{" { b"" } else { b"," };
    [open, separator, b"\"stream\":true}"].concat().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(plan: &Plan) -> Request {
        let base = BaseUrl::new("https://example.org/v").unwrap();
        let defaults = headers::defaults(HeaderValue::from_static("Bearer k"));
        plan.request(&base, &defaults, &[("d".into(), "1".into())]).unwrap()
    }

    fn with(method: Method, edit: impl FnOnce(&mut Plan) -> Result<()>) -> Plan {
        let mut plan = Plan::new(method, "/x");
        edit(&mut plan).unwrap();
        plan
    }

    fn body(request: &Request) -> Option<&[u8]> {
        request.body().and_then(reqwest::Body::as_bytes)
    }

    #[test]
    fn post_has_json_or_a_length_of_zero() {
        let posted = request(&with(Method::POST, |plan| plan.set_json(&[1])));
        assert_eq!(body(&posted), Some(&b"[1]"[..]));
        assert_eq!(posted.headers()["content-type"], "application/json");
        let empty = request(&Plan::new(Method::POST, "/x"));
        assert_eq!(empty.headers()["content-length"], "0");
        assert!(!empty.headers().contains_key("content-type"));
        assert!(!request(&Plan::new(Method::DELETE, "/x")).headers().contains_key("content-length"));
    }

    #[test]
    fn parameters() {
        let params =
            BTreeMap::from([("list", Value::from(vec!["a", "b"])), ("flag", true.into()), ("f", 1.5.into())]);
        let plan = with(Method::GET, |plan| plan.add_params(&params));
        assert_eq!(request(&plan).url().query(), Some("d=1&f=1.5&flag=true&list=a%2Cb"));
    }

    #[test]
    fn extras_need_an_object() {
        let form = Form { content_type: HeaderValue::from_static("multipart/form-data"), body: Bytes::new() };
        let mut plan = Plan::new(Method::POST, "/x");
        plan.body = Body::Form(form);
        assert_eq!(request(&plan).headers()["content-type"], "multipart/form-data");
        plan.extras.push(("a".into(), RawValue::from_string("1".into()).unwrap()));
        let base = BaseUrl::new("https://example.org").unwrap();
        let error = plan.request(&base, &HeaderMap::new(), &[]).unwrap_err();
        assert_eq!(error.field(), Some("extra_body"));
    }

    #[test]
    fn extras_override_fields_and_other_values_are_unchanged() {
        let extra =
            |name: &str, value: &str| (name.to_owned(), RawValue::from_string(value.to_owned()).unwrap());
        let body = br#"{"model":"a","big":123456789012345678901234567890,"f":1.0,"k\"":"\u00e9"}"#;
        let merged = merge(body, &[extra("model", "\"b\""), extra("n", "null"), extra("n", "[1]")]).unwrap();
        assert_eq!(
            merged,
            r#"{"big":123456789012345678901234567890,"f":1.0,"k\"":"\u00e9","model":"b","n":[1]}"#
        );
    }
}
