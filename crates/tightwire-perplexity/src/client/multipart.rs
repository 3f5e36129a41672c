//! Multipart form bodies (RFC 7578).

use std::fmt::Write as _;
use std::path::Path;

use bytes::Bytes;
use http::HeaderValue;

use crate::error::{Error, Result};

/// A complete form body. It is buffered, so that retries can send it again.
#[derive(Debug, Clone)]
pub(crate) struct Form {
    pub(crate) content_type: HeaderValue,
    pub(crate) body: Bytes,
}

impl Form {
    /// Encodes the fields in order, then the file as the part `file`. `random` determines the boundary. The content
    /// is copied once.
    pub(crate) fn new(
        fields: &[(&str, &str)],
        filename: &str,
        content: &[u8],
        random: [u64; 2],
    ) -> Result<Self> {
        if filename.is_empty() {
            return Err(Error::invalid("filename", "must not be empty"));
        }
        let boundary = boundary(content, random);
        let mut head = String::new();
        for (name, value) in fields {
            // Writing to a string cannot fail.
            let _ = write!(
                head,
                "--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n"
            );
        }
        let _ = write!(
            head,
            "--{boundary}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{}\"\r\n\
             Content-Type: {}\r\n\r\n",
            escaped(filename),
            media_type(filename),
        );
        let tail = format!("\r\n--{boundary}--\r\n");
        let body = [head.as_bytes(), content, tail.as_bytes()].concat();
        let content_type = HeaderValue::from_str(&format!("multipart/form-data; boundary={boundary}"))
            .map_err(|error| Error::invalid("file", "cannot be sent").with_source(error))?;
        Ok(Self { content_type, body: body.into() })
    }
}

/// Returns the media type by file name, as the official SDKs do: zip or opaque bytes.
fn media_type(filename: &str) -> &'static str {
    let extension = Path::new(filename).extension();
    let is_zip = extension.is_some_and(|extension| extension.eq_ignore_ascii_case("zip"));
    if is_zip { "application/zip" } else { "application/octet-stream" }
}

/// Returns a boundary that does not occur in the content.
fn boundary(content: &[u8], [mut high, low]: [u64; 2]) -> String {
    loop {
        let boundary = format!("form-{high:016x}{low:016x}");
        if memchr::memmem::find(content, boundary.as_bytes()).is_none() {
            return boundary;
        }
        high = high.wrapping_add(1);
    }
}

/// Percent-encodes quotes and line breaks, as browsers do (HTML standard, "multipart/form-data encoding
/// algorithm").
fn escaped(filename: &str) -> String {
    filename.replace('"', "%22").replace('\r', "%0D").replace('\n', "%0A")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_come_before_the_file() {
        let form = Form::new(&[("purpose", "batch")], "in.jsonl", b"{}\r\n", [1, 2]).unwrap();
        let boundary = "form-00000000000000010000000000000002";
        assert_eq!(form.content_type, format!("multipart/form-data; boundary={boundary}"));
        let expected = format!(
            "--{boundary}\r\nContent-Disposition: form-data; name=\"purpose\"\r\n\r\nbatch\r\n\
             --{boundary}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"in.jsonl\"\r\n\
             Content-Type: application/octet-stream\r\n\r\n{{}}\r\n\r\n--{boundary}--\r\n"
        );
        assert_eq!(form.body, expected);
    }

    #[test]
    fn boundary_is_not_in_the_content() {
        let taken = b"form-00000000000000010000000000000002";
        assert_eq!(boundary(taken, [1, 2]), "form-00000000000000020000000000000002");
    }

    #[test]
    fn filenames() {
        assert_eq!(escaped("a\"b\r\nc"), "a%22b%0D%0Ac");
        assert_eq!(Form::new(&[], "", b"", [0, 0]).unwrap_err().field(), Some("filename"));
    }
}
