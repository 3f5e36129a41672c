//! Request URLs: base URL, path segments and query.

use std::borrow::Cow;
use std::fmt;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::Url;

use crate::error::{Error, Result};

/// Characters to escape in a path segment: all except the unreserved ones (RFC 3986, section 2.3).
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Name and value of a query parameter, not encoded.
pub(crate) type QueryParam = (Cow<'static, str>, String);

/// Base URL that all paths are appended to.
#[derive(Clone)]
pub(crate) struct BaseUrl {
    /// URL without query and fragment.
    url: Url,
    /// Path without trailing slashes.
    prefix: Box<str>,
    query: Option<Box<str>>,
}

impl BaseUrl {
    pub(crate) fn new(text: &str) -> Result<Self> {
        // The parser's error does not contain the text, which may include a password.
        let mut url = Url::parse(text.trim())
            .map_err(|error| Error::config("base URL is malformed").with_source(error))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(Error::config("base URL must start with http or https"));
        }
        let query = url.query().filter(|query| !query.is_empty()).map(Into::into);
        url.set_query(None);
        url.set_fragment(None);
        let prefix = url.path().trim_end_matches('/').into();
        Ok(Self { url, prefix, query })
    }

    pub(crate) fn query(&self) -> Option<&str> {
        self.query.as_deref()
    }

    pub(crate) fn as_url(&self) -> &Url {
        &self.url
    }

    /// Appends `path` and the query `layers`. The path must be percent-encoded and may have a query.
    /// Parameters of a later layer replace those with the same name of earlier layers, the path and the base
    /// URL.
    pub(crate) fn join(&self, path: &str, layers: &[&[QueryParam]]) -> Url {
        let (path, own) = path.split_once('?').map_or((path, ""), |(path, query)| (path, query));
        let mut url = self.url.clone();
        match (self.prefix.is_empty(), path.starts_with('/')) {
            (true, true) => url.set_path(path),
            (false, true) => url.set_path(&[&self.prefix, path].concat()),
            (_, false) => url.set_path(&[&self.prefix, "/", path].concat()),
        }
        let base = self.query.as_deref().unwrap_or_default();
        if layers.iter().all(|layer| layer.is_empty()) {
            match (base, own) {
                ("", "") => {}
                (only, "") | ("", only) => url.set_query(Some(only)),
                (base, own) => url.set_query(Some(&[base, "&", own].concat())),
            }
            return url;
        }
        let parse = |query: &str| -> Vec<QueryParam> {
            let pairs = form_urlencoded::parse(query.as_bytes()).into_owned();
            pairs.map(|(name, value)| (Cow::Owned(name), value)).collect()
        };
        let (base, own) = (parse(base), parse(own));
        let mut pairs: Vec<&QueryParam> = Vec::new();
        for layer in [&base[..], &own[..]].iter().chain(layers) {
            pairs.retain(|(name, _)| !layer.iter().any(|(later, _)| later == name));
            pairs.extend(*layer);
        }
        url.query_pairs_mut().extend_pairs(pairs);
        url
    }
}

impl fmt::Debug for BaseUrl {
    /// Omits the query and the user info, which may be secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.url.origin().ascii_serialization(), self.prefix)
    }
}

/// Encodes a path parameter as one segment.
///
/// # Errors
///
/// [`Error::is_invalid_request`] if the value is empty, or a dot segment that servers or proxies would
/// resolve.
pub(crate) fn segment<'a>(name: &'static str, value: &'a str) -> Result<Cow<'a, str>> {
    match value {
        "" => Err(Error::invalid(name, "must not be empty")),
        "." | ".." => Err(Error::invalid(name, "must not be a dot segment")),
        value => Ok(utf8_percent_encode(value, RESERVED).into()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn joined(base: &str, path: &str, layers: &[&[QueryParam]]) -> String {
        BaseUrl::new(base).unwrap().join(path, layers).into()
    }

    fn pairs<const N: usize>(pairs: [(&'static str, &str); N]) -> [QueryParam; N] {
        pairs.map(|(name, value)| (name.into(), value.to_owned()))
    }

    #[test]
    fn prefix_and_slashes() {
        for base in ["https://example.org/a/b", "https://example.org/a/b/", "https://example.org/a/b//"] {
            assert_eq!(joined(base, "/c/d", &[]), "https://example.org/a/b/c/d");
            assert_eq!(joined(base, "c/d", &[]), "https://example.org/a/b/c/d");
        }
        for base in ["https://example.org", "https://example.org/", "https://example.org//"] {
            assert_eq!(joined(base, "/c", &[]), "https://example.org/c");
            assert_eq!(joined(base, "c", &[]), "https://example.org/c");
        }
        assert_eq!(joined("http://example.org:8080/x#frag", "/c", &[]), "http://example.org:8080/x/c");
    }

    #[test]
    fn queries_are_layered() {
        let base = "https://example.org/?k=base&b=1";
        assert_eq!(joined(base, "/c", &[&[], &[]]), "https://example.org/c?k=base&b=1");
        assert_eq!(joined(base, "/c?x=%20", &[]), "https://example.org/c?k=base&b=1&x=%20");
        let client = pairs([("k", "client"), ("c", "2")]);
        let call = pairs([("k", "call"), ("list", "a,b")]);
        assert_eq!(
            joined(base, "/c?p=3&c=0", &[&client, &call]),
            "https://example.org/c?b=1&p=3&c=2&k=call&list=a%2Cb"
        );
    }

    #[test]
    fn segments() {
        assert_eq!(segment("id", "a/b c?d").unwrap(), "a%2Fb%20c%3Fd");
        assert_eq!(segment("id", "A-z_0.9~").unwrap(), "A-z_0.9~");
        let path = format!("/x/{}/y", segment("id", "%2e%2E").unwrap());
        assert_eq!(joined("https://example.org", &path, &[]), "https://example.org/x/%252e%252E/y");
    }

    proptest! {
        #[test]
        fn a_parameter_is_one_segment(value in "\\PC{1,20}") {
            prop_assume!(value != "." && value != "..");
            let base = BaseUrl::new("https://example.org/p").unwrap();
            let url = base.join(&format!("/x/{}/y", segment("id", &value).unwrap()), &[]);
            let segments: Vec<_> = url.path_segments().unwrap().collect();
            prop_assert_eq!(segments.len(), 4);
            let decoded = percent_encoding::percent_decode_str(segments[2]).decode_utf8().unwrap();
            prop_assert_eq!(decoded, value);
        }
    }
}
