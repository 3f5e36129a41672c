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
    let parameters = || disposition.split(';').skip(1).filter_map(|parameter| parameter.split_once('='));
    let find = |wanted: &str| {
        parameters().find(|(name, _)| name.trim().eq_ignore_ascii_case(wanted)).map(|(_, value)| value.trim())
    };
    // The encoded form is the better one where there are both.
    let encoded = find("filename*").and_then(|value| {
        let (charset, rest) = value.split_once('\'')?;
        let (_, text) = rest.split_once('\'')?;
        let is_utf8 = charset.eq_ignore_ascii_case("utf-8");
        if is_utf8 { percent_decode_str(text).decode_utf8().ok().map(Into::into) } else { None }
    });
    let plain = || find("filename").map(|value| value.trim_matches('"').replace("\\\"", "\""));
    let name: String = encoded.or_else(plain)?;
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let is_name = !matches!(last, "" | "." | "..") && !last.contains(char::is_control);
    is_name.then(|| last.to_owned())
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

    #[test]
    fn folders_are_cut_off() {
        assert_eq!(filename("attachment; filename=\"../../etc/passwd\"").as_deref(), Some("passwd"));
        assert_eq!(filename("attachment; filename=\"c:\\dir\\a.txt\"").as_deref(), Some("a.txt"));
        for name in ["..", "a/..", "", "dir/"] {
            assert_eq!(filename(&format!("attachment; filename=\"{name}\"")), None, "{name:?}");
        }
    }
}
