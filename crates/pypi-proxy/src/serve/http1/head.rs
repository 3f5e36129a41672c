//! Parses the header of a request (RFC 9112, sections 2 to 5).

use http::Method;

use super::super::message::{RequestFields, RequestParts};

/// Default maximum of header fields per request. Up to this number, parsing does not allocate.
pub(in super::super) const DEFAULT_MAX_FIELDS: usize = 100;

/// HTTP/2 connection preface (RFC 9113, section 3.4).
pub(super) const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Result of parsing the first bytes of a request.
pub(in super::super) enum ParseOutcome<'b> {
    /// More bytes are needed.
    Partial,
    /// Not a request that this parser supports.
    Unsupported,
    Invalid,
    TooManyFields,
    Request(SimpleRequest<'b>),
}

/// A `GET` or `HEAD` request without a body.
pub(in super::super) struct SimpleRequest<'b> {
    pub(in super::super) request: RequestParts<'b>,
    /// Whether the connection may be reused.
    pub(in super::super) keep_alive: bool,
    pub(in super::super) len: usize,
}

impl<'b> ParseOutcome<'b> {
    /// Parses the bytes received so far. A request may have at most `max_fields` header fields.
    pub(in super::super) fn read(bytes: &'b [u8], max_fields: usize) -> Self {
        let mut few = [httparse::EMPTY_HEADER; DEFAULT_MAX_FIELDS];
        let mut many;
        let fields = match few.get_mut(..max_fields) {
            Some(few) => few,
            None => {
                many = vec![httparse::EMPTY_HEADER; max_fields];
                &mut many[..]
            }
        };
        let mut request = httparse::Request::new(fields);
        match request.parse(bytes) {
            Ok(httparse::Status::Partial) => Self::Partial,
            Ok(httparse::Status::Complete(len)) => {
                Self::simple_request(&request, len).map_or(Self::Unsupported, Self::Request)
            }
            // Read the rest under the header timeout: hyper would wait for it without a timeout.
            Err(httparse::Error::Version) if bytes.len() < PREFACE.len() && PREFACE.starts_with(bytes) => {
                Self::Partial
            }
            // The HTTP/2 preface looks like a request of an unknown version.
            Err(httparse::Error::Version) => Self::Unsupported,
            Err(httparse::Error::TooManyHeaders) => Self::TooManyFields,
            Err(_) => Self::Invalid,
        }
    }

    fn simple_request(request: &httparse::Request<'_, 'b>, len: usize) -> Option<SimpleRequest<'b>> {
        let method = match request.method? {
            "GET" => &Method::GET,
            "HEAD" => &Method::HEAD,
            _ => return None,
        };
        if request.version != Some(1) {
            return None;
        }
        let target = request.path?;
        let is_allowed =
            |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'#' | b'\\' | b'"' | b'<' | b'>' | b'`');
        // Without an early end, the compiler checks many bytes at once.
        let all_allowed = target.bytes().fold(true, |all, byte| all & is_allowed(byte));
        if !target.starts_with('/') || !all_allowed {
            return None;
        }
        let (path, query) = match target.split_once('?') {
            Some((path, query)) => (path, Some(query)),
            None => (target, None),
        };
        let mut fields = RequestFields::default();
        let (mut host, mut forwarded, mut keep_alive) = (None, None, true);
        for field in &*request.headers {
            let value = text(field.value)?;
            let is = |name: &str| field.name.eq_ignore_ascii_case(name);
            // Each of these may occur only once. Other fields are ignored, except those of requests with a body and of
            // protocol upgrades.
            let slot = match field.name.len() {
                4 if is("host") => &mut host,
                5 if is("range") => &mut fields.range,
                6 if is("accept") => &mut fields.accept,
                8 if is("if-range") => &mut fields.if_range,
                13 if is("authorization") => &mut fields.authorization,
                13 if is("if-none-match") => &mut fields.if_none_match,
                15 if is("accept-encoding") => &mut fields.accept_encoding,
                15 if is("x-forwarded-for") => &mut forwarded,
                17 if is("if-modified-since") => &mut fields.if_modified_since,
                10 if is("connection") => {
                    keep_alive &= value.eq_ignore_ascii_case("keep-alive");
                    if !keep_alive && !value.eq_ignore_ascii_case("close") {
                        return None;
                    }
                    continue;
                }
                2 if is("te") => return None,
                6 if is("expect") => return None,
                7 if is("upgrade") || is("trailer") => return None,
                14 if is("content-length") => return None,
                17 if is("transfer-encoding") => return None,
                _ => continue,
            };
            if slot.replace(value).is_some() {
                return None;
            }
        }
        host?;
        let forwarded = forwarded.unwrap_or_default();
        Some(SimpleRequest {
            request: RequestParts { method, path, query, fields, forwarded },
            keep_alive,
            len,
        })
    }
}

/// Returns the length of the header if these bytes are a request that is served without hyper.
#[cfg(fuzzing)]
pub fn parse(bytes: &[u8]) -> Option<usize> {
    let ParseOutcome::Request(request) = ParseOutcome::read(bytes, DEFAULT_MAX_FIELDS) else { return None };
    Some(request.len)
}

/// Accepts the same values as [`http::HeaderValue::to_str`].
fn text(value: &[u8]) -> Option<&str> {
    let is_text = value.iter().all(|byte| matches!(byte, b' '..=b'~' | b'\t'));
    std::str::from_utf8(value).ok().filter(|_| is_text)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(bytes: &[u8]) -> ParseOutcome<'_> {
        ParseOutcome::read(bytes, DEFAULT_MAX_FIELDS)
    }

    fn is_supported(head: &str) -> bool {
        matches!(read(head.as_bytes()), ParseOutcome::Request(request) if request.len == head.len())
    }

    #[test]
    fn requests_of_installers_are_parsed() {
        for fields in [
            "",
            "accept: application/vnd.pypi.simple.v1+json\r\naccept-encoding: gzip, deflate\r\n",
            "range: bytes=100-149999\r\nif-range: \"other\"\r\n",
            "if-none-match: *\r\n",
            "if-modified-since: Sun, 06 Nov 2044 08:49:37 GMT\r\n",
            "authorization: Basic !\r\n",
        ] {
            assert!(is_supported(&format!("GET /x HTTP/1.1\r\nhost: x\r\n{fields}\r\n")), "{fields}");
            assert!(
                !is_supported(&format!("GET /x HTTP/1.1\r\nhost: x\r\n{fields}te: trailers\r\n\r\n")),
                "{fields}"
            );
        }
        let head = "HEAD /simple/six/?format=json HTTP/1.1\r\nhost:x\r\nACCEPT: text/html\r\nAccept-Encoding: gzip, zstd\r\n\
            Connection: Keep-Alive\r\nUser-Agent: pip/26 {\"a\"}\r\n\r\n";
        let ParseOutcome::Request(SimpleRequest { request, keep_alive, len }) = read(head.as_bytes()) else {
            panic!("{head}")
        };
        assert_eq!((request.method, request.path), (&Method::HEAD, "/simple/six/"));
        assert_eq!((request.query, request.fields.accept), (Some("format=json"), Some("text/html")));
        assert_eq!(request.fields.accept_encoding, Some("gzip, zstd"));
        assert!(keep_alive && len == head.len());
        let close = "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\nGET /";
        let ParseOutcome::Request(SimpleRequest { keep_alive, len, .. }) = read(close.as_bytes()) else {
            panic!("{close}")
        };
        assert!(!keep_alive && len == close.len() - 5);
    }

    #[test]
    fn ambiguous_requests_are_not_supported() {
        let others = [
            "POST / HTTP/1.1\r\nHost: x\r\n\r\n",
            "DELETE /cache HTTP/1.1\r\nHost: x\r\n\r\n",
            "GET / HTTP/1.0\r\nHost: x\r\n\r\n",
            "GET / HTTP/1.1\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding : chunked\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: x\r\n Folded: y\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: x\r\nAccept: a\r\nAccept: b\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: x\r\nX: \u{e9}\r\n\r\n",
            "GET http://x/ HTTP/1.1\r\nHost: x\r\n\r\n",
            "GET /a#b HTTP/1.1\r\nHost: x\r\n\r\n",
            "GET * HTTP/1.1\r\nHost: x\r\n\r\n",
            "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
            "\x16\x03\x01\x00\x01\r\n\r\n",
        ];
        for head in others {
            let outcome = read(head.as_bytes());
            assert!(matches!(outcome, ParseOutcome::Unsupported | ParseOutcome::Invalid), "{head:?}");
        }
        assert!(matches!(read(b"GET / HTTP/1.1\r\nHost: x\r\n"), ParseOutcome::Partial));
        assert!(matches!(read(b""), ParseOutcome::Partial));
    }

    #[test]
    fn an_incomplete_preface_of_http2_is_partial() {
        for len in 0..PREFACE.len() {
            assert!(matches!(read(&PREFACE[..len]), ParseOutcome::Partial), "{len}");
        }
        assert!(matches!(read(PREFACE), ParseOutcome::Unsupported));
    }

    proptest! {
        /// Requests accepted by the fast path are accepted by hyper's parser with the same length and without a body.
        #[test]
        fn headers_have_one_interpretation(bytes in "(GET|HEAD|POST) (/[a-z]{0,4}|[*]|http://x/) HTTP/1[.][01]\r?\n(([hH]ost|[Tt]e|Accept|[Cc]ontent-[Ll]ength|Transfer-Encoding|Connection|X): ?[a-z0-9,; \t]{0,12}\r?\n){0,4}\r?\n.{0,6}") {
            if let ParseOutcome::Request(SimpleRequest { len, .. }) = read(bytes.as_bytes()) {
                let mut fields = [httparse::EMPTY_HEADER; 32];
                let mut request = httparse::Request::new(&mut fields);
                prop_assert_eq!(request.parse(bytes.as_bytes()), Ok(httparse::Status::Complete(len)));
                for field in request.headers {
                    prop_assert!(!field.name.eq_ignore_ascii_case("content-length") && !field.name.eq_ignore_ascii_case("transfer-encoding"));
                }
                prop_assert!(matches!(request.method, Some("GET" | "HEAD")));
            }
        }
    }
}
