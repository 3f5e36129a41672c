//! Answers that are files.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_core::Stream;
use futures_core::stream::FusedStream;
use http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use percent_encoding::percent_decode_str;

use super::body::LiveBody;
use super::exchange::Exchange;
use super::response::ResponseHead;
use crate::error::Result;

/// The content of a file: a stream of chunks, or all of it with [`bytes`](Self::bytes).
///
/// Nothing is read before it is asked for. Dropping the download closes its connection, under HTTP/2 its part of it.
#[derive(Debug)]
#[must_use = "streams do nothing unless polled"]
pub struct Download {
    head: ResponseHead,
    body: Option<LiveBody>,
}

impl Download {
    pub(super) fn new(exchange: Exchange) -> Self {
        let (head, body) = exchange.into_live();
        Self { head, body }
    }

    /// Status, headers, and how the answer was obtained.
    pub fn head(&self) -> &ResponseHead {
        &self.head
    }

    /// The media type.
    pub fn content_type(&self) -> Option<&str> {
        self.head.headers().get(CONTENT_TYPE)?.to_str().ok()
    }

    /// How many bytes are still to come, if the server told.
    pub fn content_length(&self) -> Option<u64> {
        self.body.as_ref().and_then(LiveBody::length)
    }

    /// The name that the server gives the file (RFC 6266), without any folders: it comes from outside.
    pub fn filename(&self) -> Option<String> {
        filename(self.head.headers().get(CONTENT_DISPOSITION)?.to_str().ok()?)
    }

    /// Reads the rest, at most `limit` bytes.
    ///
    /// # Errors
    /// [`Error::is_limit`](crate::Error::is_limit) past the limit, and what the stream can yield.
    pub async fn bytes(mut self, limit: usize) -> Result<Bytes> {
        let Some(body) = self.body.take() else { return Ok(Bytes::new()) };
        body.read(limit).await.map_err(|error| error.with_origin(self.head.origin()))
    }
}

impl Stream for Download {
    type Item = Result<Bytes>;

    /// # Errors
    /// [`Error::is_connection`](crate::Error::is_connection) and [`Error::is_timeout`](crate::Error::is_timeout);
    /// the stream ends after either.
    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        let Some(body) = &mut this.body else { return Poll::Ready(None) };
        let chunk = std::task::ready!(body.poll_chunk(cx));
        if !matches!(chunk, Some(Ok(_))) {
            this.body = None;
        }
        Poll::Ready(chunk.map(|chunk| chunk.map_err(|error| error.with_origin(this.head.origin()))))
    }
}

impl FusedStream for Download {
    fn is_terminated(&self) -> bool {
        self.body.is_none()
    }
}

fn filename(disposition: &str) -> Option<String> {
    let parameters = parameters(disposition);
    let find = |wanted: &str| {
        let mut parameters = parameters.iter();
        parameters.find(|(name, _)| name.eq_ignore_ascii_case(wanted)).map(|(_, value)| value)
    };
    // The encoded form is the better one where there are both.
    let encoded = find("filename*").and_then(|value| {
        let (charset, rest) = value.split_once('\'')?;
        let (_, text) = rest.split_once('\'')?;
        let is_utf8 = charset.eq_ignore_ascii_case("utf-8");
        if is_utf8 { percent_decode_str(text).decode_utf8().ok().map(Into::into) } else { None }
    });
    let name: String = encoded.or_else(|| find("filename").cloned())?;
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let is_name = !matches!(last, "" | "." | "..") && !last.contains(char::is_control);
    is_name.then(|| last.to_owned())
}

/// The parameters behind the disposition type: names, and values without quotes and escapes.
///
/// A backslash escapes quotes and itself only, because servers also send the folders of Windows.
fn parameters(disposition: &str) -> Vec<(&str, String)> {
    let mut parameters = Vec::new();
    let mut rest = disposition.split_once(';').map_or("", |(_, rest)| rest);
    while let Some(at) = rest.find(['=', ';']) {
        let (name, behind) = (rest[..at].trim(), &rest[at + 1..]);
        if rest[at..].starts_with(';') {
            rest = behind;
            continue;
        }
        let behind = behind.trim_start();
        let (value, end) = match behind.strip_prefix('"') {
            Some(quoted) => {
                let (value, end) = unquoted(quoted);
                (value, 1 + end)
            }
            None => {
                let end = behind.find(';').unwrap_or(behind.len());
                (behind[..end].trim_end().to_owned(), end)
            }
        };
        parameters.push((name, value));
        // What stands between the closing quote and the next parameter means nothing.
        rest = behind[end..].split_once(';').map_or("", |(_, rest)| rest);
    }
    parameters
}

/// The text up to the closing quote, and where that ends.
fn unquoted(quoted: &str) -> (String, usize) {
    let mut value = String::new();
    let mut characters = quoted.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return (value, at + 1),
            '\\' => match characters.next_if(|(_, next)| matches!(next, '"' | '\\')) {
                Some((_, escaped)) => value.push(escaped),
                None => value.push('\\'),
            },
            _ => value.push(character),
        }
    }
    (value, quoted.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filenames() {
        let name = |text| filename(text);
        assert_eq!(name("attachment; filename=\"out.csv\"").as_deref(), Some("out.csv"));
        assert_eq!(name("attachment; FileName=out.csv").as_deref(), Some("out.csv"));
        let both = "attachment; filename=\"e.txt\"; filename*=UTF-8''%C3%A9.txt";
        assert_eq!(name(both).as_deref(), Some("\u{e9}.txt"));
        assert_eq!(name("attachment; filename*=latin1''x; filename=y").as_deref(), Some("y"));
        assert_eq!(name("inline"), None);
    }

    /// Inside of quotes, semicolons, equals signs and escaped quotes are part of the name (RFC 6266, section 4.1).
    #[test]
    fn quoted_filenames() {
        for (disposition, expected) in [
            ("attachment; filename=\"a; b.csv\"", "a; b.csv"),
            ("attachment; filename=\"a; filename=b.csv\"", "a; filename=b.csv"),
            ("attachment; name=\"x; filename=y\"; filename=\"z.csv\"", "z.csv"),
            ("attachment; filename=\"a \\\"b\\\".csv\"; size=3", "a \"b\".csv"),
            ("attachment; filename = \"a=b.csv\" ; x", "a=b.csv"),
            ("attachment; filename=\"a; b.csv\"; filename*=UTF-8''c%3B%20d.csv", "c; d.csv"),
            ("attachment; x; filename=a.csv", "a.csv"),
            ("attachment; filename=\"unterminated; a.csv", "unterminated; a.csv"),
            ("attachment; filename=\"\u{e9};.csv\"", "\u{e9};.csv"),
            (";filename=a b.csv ;", "a b.csv"),
        ] {
            assert_eq!(filename(disposition).as_deref(), Some(expected), "{disposition}");
        }
        for disposition in
            ["attachment; filename=", "attachment; filename=\"\"", "attachment; \"filename=a\"", ";;=;"]
        {
            assert_eq!(filename(disposition), None, "{disposition}");
        }
    }

    #[test]
    fn folders_are_cut_off() {
        assert_eq!(filename("attachment; filename=\"../../etc/passwd\"").as_deref(), Some("passwd"));
        assert_eq!(filename("attachment; filename=\"c:\\dir\\a.txt\"").as_deref(), Some("a.txt"));
        for name in ["..", "a/..", "", "dir/"] {
            assert_eq!(filename(&format!("attachment; filename=\"{name}\"")), None, "{name:?}");
        }
    }
}
