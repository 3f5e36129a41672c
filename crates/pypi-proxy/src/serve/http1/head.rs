//! The head of a request (RFC 9112, 2 to 5).

use std::borrow::Cow;

use http::Method;

use super::super::answer::{Asked, AskedFields};

/// Header fields of a request that are parsed without an allocation.
pub(in super::super) const DEFAULT_MAX_FIELDS: usize = 100;

/// The connection preface of HTTP/2 (RFC 9113, 3.4).
pub(super) const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// What the bytes of a connection begin with.
pub(in super::super) enum Head<'b> {
    /// Too few bytes to tell.
    Partial,
    /// Something that is not for us.
    Foreign,
    /// Something that is no request at all.
    Invalid,
    /// The start of a request with too many header fields.
    TooManyFields,
    /// A request.
    Request(Plain<'b>),
}

/// A request that is understood.
pub(in super::super) struct Plain<'b> {
    pub(in super::super) asked: Asked<'b>,
    /// Whether the connection may be used for another one.
    pub(in super::super) is_kept: bool,
    /// The bytes of the head.
    pub(in super::super) len: usize,
}

impl<'b> Head<'b> {
    /// Parses what has come so far. A request may have at most `max_fields` header fields.
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
                Self::plain(&request, len).map_or(Self::Foreign, Self::Request)
            }
            // Read under the same deadline as any other head: hyper would wait for the rest without one.
            Err(httparse::Error::Version) if bytes.len() < PREFACE.len() && PREFACE.starts_with(bytes) => {
                Self::Partial
            }
            // HTTP/2 begins like a request of a version that there is not.
            Err(httparse::Error::Version) => Self::Foreign,
            Err(httparse::Error::TooManyHeaders) => Self::TooManyFields,
            Err(_) => Self::Invalid,
        }
    }

    fn plain(request: &httparse::Request<'_, 'b>, len: usize) -> Option<Plain<'b>> {
        let method = match request.method? {
            "GET" => &Method::GET,
            "HEAD" => &Method::HEAD,
            _ => return None,
        };
        if request.version != Some(1) {
            return None;
        }
        let target = request.path?;
        let is_plain =
            |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'#' | b'\\' | b'"' | b'<' | b'>' | b'`');
        if !target.starts_with('/') || !target.bytes().all(is_plain) {
            return None;
        }
        let (path, query) = match target.split_once('?') {
            Some((path, query)) => (path, Some(query)),
            None => (target, None),
        };
        let mut fields = AskedFields::default();
        let (mut host, mut forwarded, mut is_kept) = (None, None, true);
        for field in &*request.headers {
            let value = text(field.value)?;
            // Each of these may be there once; what else there is has no meaning here.
            let slot = match Name::of(field.name) {
                Name::Accept => &mut fields.accept,
                Name::AcceptEncoding => &mut fields.accept_encoding,
                Name::Authorization => &mut fields.authorization,
                Name::ForwardedFor => &mut forwarded,
                Name::Host => &mut host,
                Name::IfModifiedSince => &mut fields.if_modified_since,
                Name::IfNoneMatch => &mut fields.if_none_match,
                Name::IfRange => &mut fields.if_range,
                Name::Range => &mut fields.range,
                Name::Connection => {
                    is_kept &= value.eq_ignore_ascii_case("keep-alive");
                    if !is_kept && !value.eq_ignore_ascii_case("close") {
                        return None;
                    }
                    continue;
                }
                Name::Body => return None,
                Name::Other => continue,
            };
            if slot.replace(value).is_some() {
                return None;
            }
        }
        host?;
        let forwarded = Cow::Borrowed(forwarded.unwrap_or_default());
        Some(Plain { asked: Asked { method, path, query, fields, forwarded }, is_kept, len })
    }
}

/// Whether these bytes are the head of a request that is answered without hyper, and how many of them.
///
/// What a fuzzer calls.
#[doc(hidden)]
pub fn parse(bytes: &[u8]) -> Option<usize> {
    match Head::read(bytes, DEFAULT_MAX_FIELDS) {
        Head::Request(plain) => Some(plain.len),
        Head::Partial | Head::Foreign | Head::Invalid | Head::TooManyFields => None,
    }
}

/// The same that [`http::HeaderValue::to_str`] takes for text.
fn text(value: &[u8]) -> Option<&str> {
    let is_text = value.iter().all(|byte| matches!(byte, b' '..=b'~' | b'\t'));
    std::str::from_utf8(value).ok().filter(|_| is_text)
}

enum Name {
    Accept,
    AcceptEncoding,
    Authorization,
    Connection,
    ForwardedFor,
    Host,
    IfModifiedSince,
    IfNoneMatch,
    IfRange,
    Range,
    /// What comes with a body, or asks for another protocol.
    Body,
    Other,
}

impl Name {
    fn of(name: &str) -> Self {
        let is = |other: &str| name.eq_ignore_ascii_case(other);
        match name.len() {
            2 if is("te") => Self::Body,
            4 if is("host") => Self::Host,
            5 if is("range") => Self::Range,
            6 if is("accept") => Self::Accept,
            6 if is("expect") => Self::Body,
            7 if is("upgrade") || is("trailer") => Self::Body,
            8 if is("if-range") => Self::IfRange,
            10 if is("connection") => Self::Connection,
            13 if is("authorization") => Self::Authorization,
            13 if is("if-none-match") => Self::IfNoneMatch,
            14 if is("content-length") => Self::Body,
            15 if is("accept-encoding") => Self::AcceptEncoding,
            15 if is("x-forwarded-for") => Self::ForwardedFor,
            17 if is("if-modified-since") => Self::IfModifiedSince,
            17 if is("transfer-encoding") => Self::Body,
            _ => Self::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Head<'_> {
        Head::read(bytes, DEFAULT_MAX_FIELDS)
    }

    fn is_ours(head: &str) -> bool {
        parse(head.as_bytes()) == Some(head.len())
    }

    #[test]
    fn requests_of_installers_are_understood() {
        assert!(is_ours("GET / HTTP/1.1\r\nHost: x\r\n\r\n"));
        let head = "HEAD /simple/six/?format=json HTTP/1.1\r\nhost:x\r\nACCEPT: text/html\r\nAccept-Encoding: gzip, zstd\r\n\
            Connection: Keep-Alive\r\nUser-Agent: pip/26 {\"a\"}\r\n\r\n";
        let Head::Request(Plain { asked, is_kept, len }) = read(head.as_bytes()) else { panic!("{head}") };
        assert_eq!(
            (asked.method, asked.path, asked.query),
            (&Method::HEAD, "/simple/six/", Some("format=json"))
        );
        assert_eq!(
            (asked.fields.accept, asked.fields.accept_encoding),
            (Some("text/html"), Some("gzip, zstd"))
        );
        assert!(is_kept && len == head.len());
        let close = "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\nGET /";
        let Head::Request(Plain { is_kept, len, .. }) = read(close.as_bytes()) else { panic!("{close}") };
        assert!(!is_kept && len == close.len() - 5);
    }

    #[test]
    fn what_can_be_read_in_two_ways_is_left_alone() {
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
            assert!(matches!(read(head.as_bytes()), Head::Foreign | Head::Invalid), "{head:?}");
        }
        assert!(matches!(read(b"GET / HTTP/1.1\r\nHost: x\r\n"), Head::Partial));
        assert!(matches!(read(b""), Head::Partial));
    }

    #[test]
    fn an_incomplete_preface_of_http2_is_partial() {
        for len in 0..PREFACE.len() {
            assert!(matches!(read(&PREFACE[..len]), Head::Partial), "{len}");
        }
        assert!(matches!(read(PREFACE), Head::Foreign));
    }

    /// A request with so many header fields.
    fn with_fields(count: usize) -> String {
        let more: String = (1..count).map(|number| format!("X-{number}: y\r\n")).collect();
        format!("GET / HTTP/1.1\r\nHost: x\r\n{more}\r\n")
    }

    #[test]
    fn header_fields_are_limited_by_count() {
        for max in test_support::limits(DEFAULT_MAX_FIELDS) {
            for count in test_support::limits(max) {
                let head = with_fields(count);
                match Head::read(head.as_bytes(), max) {
                    Head::Request(plain) => {
                        assert!(count <= max && plain.len == head.len(), "{count} of {max}")
                    }
                    Head::TooManyFields => assert!(count > max, "{count} of {max}"),
                    _ => panic!("{count} of {max}"),
                }
            }
        }
    }

    /// The outcome of a head, as far as it can be compared.
    fn outcome(bytes: &[u8], max_fields: usize) -> Option<Result<usize, &'static str>> {
        match Head::read(bytes, max_fields) {
            Head::Partial => None,
            Head::Request(plain) => Some(Ok(plain.len)),
            Head::Foreign => Some(Err("foreign")),
            Head::Invalid => Some(Err("invalid")),
            Head::TooManyFields => Some(Err("too many fields")),
        }
    }

    #[test]
    fn the_outcome_does_not_depend_on_how_a_head_is_cut() {
        let mut heads: Vec<Vec<u8>> = [1, 2, 100, 101].map(|count| with_fields(count).into_bytes()).into();
        heads.extend([
            PREFACE.to_vec(),
            b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc".to_vec(),
            b"GET / HTTP/1.1\r\nHost: \x1b\r\n\r\n".to_vec(),
            b"\x16\x03\x01\x02\0\x01".to_vec(),
            b"GET / HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n".to_vec(),
        ]);
        // Without its end.
        heads.push(with_fields(1).trim_end().into());
        for (at, head) in heads.iter().enumerate() {
            for max_fields in test_support::limits(100) {
                test_support::in_pieces(head, |pieces| {
                    let mut input = Vec::new();
                    pieces.iter().find_map(|piece| {
                        input.extend_from_slice(piece);
                        outcome(&input, max_fields)
                    })
                });
                assert_eq!(outcome(head, max_fields).is_none(), at == heads.len() - 1, "{at}");
            }
        }
    }
}
