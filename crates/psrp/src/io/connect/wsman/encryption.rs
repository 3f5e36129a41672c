//! HTTP bodies with encrypted messages (MS-WSMV 2.2.9.1): a multipart with the content's type and the encrypted
//! content.

use std::ops::Range;

use crate::error::{Error, Kind};

const BOUNDARY: &str = "Encrypted Boundary";
const ORIGINAL: &str = "application/soap+xml;charset=UTF-8";

/// Authentication scheme of HTTP, which determines the format of its tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scheme {
    /// Tokens of SPNEGO (RFC 4559).
    Negotiate,
    /// Tokens of Kerberos alone, of services that do not allow `Negotiate`.
    Kerberos,
}

impl Scheme {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Negotiate => "Negotiate",
            Self::Kerberos => "Kerberos",
        }
    }

    /// Media type of an encrypted message.
    fn protocol(self) -> &'static str {
        match self {
            Self::Negotiate => "application/HTTP-SPNEGO-session-encrypted",
            Self::Kerberos => "application/HTTP-Kerberos-session-encrypted",
        }
    }

    /// Content type of an encrypted request.
    pub(super) fn content_type(self) -> String {
        format!("multipart/encrypted;protocol=\"{}\";boundary=\"{BOUNDARY}\"", self.protocol())
    }
}

/// Encrypted message: the signature (or another security trailer) and the encrypted content.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct EncryptedMessage {
    pub(super) signature: Vec<u8>,
    pub(super) data: Vec<u8>,
}

/// Encodes a body for an encrypted message whose content had `length` bytes.
pub(super) fn encode(scheme: Scheme, encrypted: &EncryptedMessage, length: usize) -> Vec<u8> {
    let protocol = scheme.protocol();
    let head = format!(
        "--{BOUNDARY}\r\n\tContent-Type: {protocol}\r\n\tOriginalContent: type={ORIGINAL};Length={length}\r\n\
         --{BOUNDARY}\r\n\tContent-Type: application/octet-stream\r\n"
    );
    let tail = format!("--{BOUNDARY}--\r\n");
    let EncryptedMessage { signature, data } = encrypted;
    let mut body = Vec::with_capacity(head.len() + 4 + signature.len() + data.len() + tail.len());
    body.extend_from_slice(head.as_bytes());
    body.extend_from_slice(&(signature.len() as u32).to_le_bytes());
    body.extend_from_slice(signature);
    body.extend_from_slice(data);
    body.extend_from_slice(tail.as_bytes());
    body
}

/// Returns whether a content type is that of an encrypted body.
pub(super) fn is_encrypted(content_type: &str) -> bool {
    content_type.trim_start().to_ascii_lowercase().starts_with("multipart/encrypted")
}

/// Parses a body. Returns the encrypted message and the length of its content. Fails with [`Error::is_protocol`] if the
/// body is malformed.
pub(super) fn decode(body: &[u8]) -> Result<(EncryptedMessage, usize), Error> {
    let (head, encrypted) = parts(body).ok_or_else(malformed)?;
    let length = str::from_utf8(&body[head])
        .ok()
        .and_then(|head| head.to_ascii_lowercase().split_once("length=").map(|(_, rest)| rest.to_owned()))
        .and_then(|rest| rest.split(|char: char| !char.is_ascii_digit()).next()?.parse().ok())
        .ok_or_else(malformed)?;
    let (len, rest) = body[encrypted].split_first_chunk::<4>().ok_or_else(malformed)?;
    let (signature, data) = rest.split_at_checked(u32::from_le_bytes(*len) as usize).ok_or_else(malformed)?;
    Ok((EncryptedMessage { signature: signature.to_vec(), data: data.to_vec() }, length))
}

/// Returns the ranges of the description and of the encrypted message. Some services write a space after the dashes of
/// the boundary.
fn parts(body: &[u8]) -> Option<(Range<usize>, Range<usize>)> {
    let first = boundary(body, 0)?;
    let second = boundary(body, first.end)?;
    let header = memchr::memmem::find(&body[second.end..], b"octet-stream\r\n")?;
    let start = second.end + header + b"octet-stream\r\n".len();
    // The last boundary is searched from the end, because the encrypted data can contain any bytes.
    let closing = memchr::memmem::rfind(body, BOUNDARY.as_bytes())?;
    let end = body[..closing].trim_ascii_end().strip_suffix(b"--")?.len();
    (start <= end).then_some((first.end..second.start, start..end))
}

fn boundary(body: &[u8], from: usize) -> Option<Range<usize>> {
    let at = from + memchr::memmem::find(&body[from..], BOUNDARY.as_bytes())?;
    let start = body[from..at].trim_ascii_end().strip_suffix(b"--")?.len() + from;
    let end = at + BOUNDARY.len();
    body[end..].starts_with(b"\r\n").then_some(start..end + 2)
}

#[cold]
fn malformed() -> Error {
    Error::with(Kind::Protocol, "a malformed encrypted response")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn encrypted() -> EncryptedMessage {
        EncryptedMessage { signature: vec![1; 16], data: b"--Encrypted Boundary\r\n".to_vec() }
    }

    #[test]
    fn encoded_body_is_decoded() {
        let body = encode(Scheme::Negotiate, &encrypted(), 1234);
        assert_eq!(decode(&body).unwrap(), (encrypted(), 1234));
        // Exchange writes boundaries like this.
        let text = String::from_utf8(body).unwrap().replacen("--Encrypted", "-- Encrypted", 2);
        assert_eq!(decode(text.as_bytes()).unwrap(), (encrypted(), 1234));
    }

    #[test]
    fn truncated_body_is_rejected() {
        let body = encode(Scheme::Negotiate, &encrypted(), 1234);
        let whole = body.len() - b"--\r\n".len();
        for end in 0..whole {
            let result = decode(&body[..end]);
            assert!(result.is_err() || result.unwrap().0 != encrypted(), "{end}");
        }
        let mut long = body.clone();
        let at = memchr::memmem::find(&body, &16_u32.to_le_bytes()).unwrap();
        long[at + 3] = 0x7F;
        assert!(decode(&long).unwrap_err().is_protocol());
    }

    #[test]
    fn content_type_is_recognized() {
        for scheme in [Scheme::Negotiate, Scheme::Kerberos] {
            let body = String::from_utf8(encode(scheme, &encrypted(), 1)).unwrap();
            assert!(is_encrypted(&scheme.content_type()) && body.contains(scheme.protocol()));
            assert_eq!(decode(body.as_bytes()).unwrap(), (encrypted(), 1));
        }
        assert!(is_encrypted("Multipart/Encrypted;boundary=x"));
        assert!(!is_encrypted("application/soap+xml") && !is_encrypted(""));
    }

    proptest! {
        #[test]
        fn any_bytes_are_decoded_or_rejected(
            pieces in prop::collection::vec(
                prop::sample::select(vec![
                    &b"--"[..], b"Encrypted Boundary", b"\r\n", b"Length=", b"12", b"octet-stream", b"\0\0\0\0",
                    b"\xff\xff\xff\xff", b" ",
                ]),
                0..20,
            ),
        ) {
            let _ = decode(&pieces.concat());
        }
    }
}
