//! File downloads.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_core::Stream;
use http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use percent_encoding::percent_decode_str;

use super::body::StreamingBody;
use super::exchange::Exchange;
use super::response::ResponseHead;
use crate::error::Result;

/// Content of a file: a stream of chunks, or the whole content with [`bytes`](Self::bytes).
///
/// Data is read only when polled. Dropping the download closes the connection (HTTP/2: resets the stream).
#[derive(Debug)]
#[must_use = "streams do nothing unless polled"]
pub struct Download {
    head: ResponseHead,
    body: Option<StreamingBody>,
}

impl Download {
    pub(super) fn new(exchange: Exchange) -> Self {
        Self { head: exchange.head, body: exchange.body.into_streaming() }
    }

    /// Returns status, headers and metadata of the call.
    pub fn head(&self) -> &ResponseHead {
        &self.head
    }

    /// Returns the media type.
    pub fn content_type(&self) -> Option<&str> {
        self.head.headers().get(CONTENT_TYPE)?.to_str().ok()
    }

    /// Returns the number of remaining bytes, if known.
    pub fn content_length(&self) -> Option<u64> {
        self.body.as_ref().and_then(StreamingBody::length)
    }

    /// Returns the file name of the `Content-Disposition` header (RFC 6266), without any directories.
    pub fn filename(&self) -> Option<String> {
        filename(self.head.headers().get(CONTENT_DISPOSITION)?.to_str().ok()?)
    }

    /// Reads the remaining content, at most `limit` bytes.
    ///
    /// # Errors
    ///
    /// [`Error::is_limit`](crate::Error::is_limit) if the content is larger than `limit`; otherwise the
    /// errors of the stream.
    pub async fn bytes(mut self, limit: usize) -> Result<Bytes> {
        let Some(body) = self.body.take() else { return Ok(Bytes::new()) };
        body.read(limit).await.map_err(|error| error.with_origin(self.head.origin()))
    }
}

impl Stream for Download {
    type Item = Result<Bytes>;

    /// # Errors
    ///
    /// [`Error::is_connection`](crate::Error::is_connection) and
    /// [`Error::is_timeout`](crate::Error::is_timeout); both end the stream.
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

fn filename(disposition: &str) -> Option<String> {
    let parameters = parameters(disposition);
    let find = |wanted: &str| {
        let mut parameters = parameters.iter();
        parameters.find(|(name, _)| name.eq_ignore_ascii_case(wanted)).map(|(_, value)| value)
    };
    // The encoded form takes precedence (RFC 6266, section 4.3).
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

/// Parses the parameters after the disposition type into names and unquoted values.
///
/// A backslash escapes only quotes and backslashes, because some servers send unescaped Windows paths.
fn parameters(disposition: &str) -> Vec<(&str, String)> {
    let mut parameters = Vec::new();
    let mut rest = disposition.split_once(';').map_or("", |(_, rest)| rest);
    while let Some(at) = rest.find(['=', ';']) {
        let (name, separator) = (rest[..at].trim(), &rest[at..=at]);
        rest = rest[at + 1..].trim_start();
        if separator == ";" {
            continue;
        }
        let (value, behind) = match rest.strip_prefix('"') {
            Some(quoted) => unquoted(quoted),
            None => {
                let (value, behind) = rest.split_at(rest.find(';').unwrap_or(rest.len()));
                (value.trim_end().to_owned(), behind)
            }
        };
        parameters.push((name, value));
        // Ignores text between the closing quote and the next parameter.
        rest = behind.split_once(';').map_or("", |(_, rest)| rest);
    }
    parameters
}

/// Returns the text up to the closing quote, and the text after the quote.
fn unquoted(quoted: &str) -> (String, &str) {
    let mut value = String::new();
    let mut characters = quoted.chars();
    while let Some(character) = characters.next() {
        match character {
            '"' => break,
            '\\' if characters.as_str().starts_with(['"', '\\']) => value.extend(characters.next()),
            _ => value.push(character),
        }
    }
    (value, characters.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Quoted names may contain semicolons, equals signs and escaped quotes (RFC 6266, section 4.1).
    /// Directories are removed.
    #[test]
    fn filenames() {
        for (disposition, expected) in [
            ("attachment; filename=\"out.csv\"", "out.csv"),
            ("attachment; FileName=out.csv", "out.csv"),
            ("attachment; filename=\"e.txt\"; filename*=UTF-8''%C3%A9.txt", "\u{e9}.txt"),
            ("attachment; filename*=latin1''x; filename=y", "y"),
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
            ("attachment; filename=\"../../etc/passwd\"", "passwd"),
            ("attachment; filename=\"c:\\dir\\a.txt\"", "a.txt"),
        ] {
            assert_eq!(filename(disposition).as_deref(), Some(expected), "{disposition}");
        }
        for disposition in [
            "inline",
            "attachment; filename=",
            "attachment; filename=\"\"",
            "attachment; \"filename=a\"",
            ";;=;",
            "attachment; filename=\"..\"",
            "attachment; filename=\"a/..\"",
            "attachment; filename=\"dir/\"",
        ] {
            assert_eq!(filename(disposition), None, "{disposition}");
        }
    }
}
