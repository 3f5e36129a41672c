//! Which bodies are JSON.

use http::HeaderMap;
use http::header::CONTENT_TYPE;

/// Whether the content type is `application/json` or `application/*+json` (RFC 6839, section 3.1). Parameters are
/// ignored: RFC 8259 defines none, and the body has to be UTF-8 in any case.
pub(super) fn is_json(headers: &HeaderMap) -> bool {
    let Some(value) = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()) else {
        return false;
    };
    let essence = value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    essence.strip_prefix("application/").is_some_and(|subtype| {
        subtype == "json" || subtype.strip_suffix("+json").is_some_and(|rest| !rest.is_empty())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    #[test]
    fn knows_json() {
        let is = |value: &'static str| {
            is_json(&HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static(value))]))
        };
        assert!(is("application/json"));
        assert!(is("Application/JSON ; charset=utf-8"));
        assert!(is("application/problem+json"));
        assert!(is("application/vnd.api+JSON;v=1"));
        for other in ["text/json", "application/+json", "application/jsonp", "application/json5", "json", ""]
        {
            assert!(!is(other), "{other}");
        }
        assert!(!is_json(&HeaderMap::new()));
    }
}
