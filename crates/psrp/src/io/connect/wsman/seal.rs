//! Encrypted messages inside of HTTP (MS-WSMV 2.2.9.1): a multipart of what the content was, and of the encrypted content.

use std::ops::Range;

use crate::error::{Error, Kind};

const BOUNDARY: &str = "Encrypted Boundary";
const PROTOCOL: &str = "application/HTTP-SPNEGO-session-encrypted";
const ORIGINAL: &str = "application/soap+xml;charset=UTF-8";

/// The type of the content of a sealed request.
pub(super) const CONTENT_TYPE: &str = "multipart/encrypted;protocol=\"application/HTTP-SPNEGO-session-encrypted\";boundary=\"Encrypted Boundary\"";

/// An encrypted message: the signature, or whatever else is in front, and the content.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Sealed {
    pub(super) signature: Vec<u8>,
    pub(super) data: Vec<u8>,
}

/// Puts an encrypted message, whose content had `length` bytes, into a body.
pub(super) fn wrap(sealed: &Sealed, length: usize) -> Vec<u8> {
    let head = format!(
        "--{BOUNDARY}\r\n\tContent-Type: {PROTOCOL}\r\n\tOriginalContent: type={ORIGINAL};Length={length}\r\n\
         --{BOUNDARY}\r\n\tContent-Type: application/octet-stream\r\n"
    );
    let tail = format!("--{BOUNDARY}--\r\n");
    let Sealed { signature, data } = sealed;
    let mut body = Vec::with_capacity(head.len() + 4 + signature.len() + data.len() + tail.len());
    body.extend_from_slice(head.as_bytes());
    body.extend_from_slice(&(signature.len() as u32).to_le_bytes());
    body.extend_from_slice(signature);
    body.extend_from_slice(data);
    body.extend_from_slice(tail.as_bytes());
    body
}

/// Whether a body of this type is sealed.
pub(super) fn is_sealed(content_type: &str) -> bool {
    content_type.trim_start().to_ascii_lowercase().starts_with("multipart/encrypted")
}

/// Takes the encrypted message, and the length of its content, out of a body.
///
/// # Errors
///
/// Fails if the body is not of this form ([`Error::is_protocol`]).
pub(super) fn unwrap(body: &[u8]) -> Result<(Sealed, usize), Error> {
    let (head, sealed) = parts(body).ok_or_else(malformed)?;
    let length = str::from_utf8(&body[head])
        .ok()
        .and_then(|head| head.to_ascii_lowercase().split_once("length=").map(|(_, rest)| rest.to_owned()))
        .and_then(|rest| rest.split(|char: char| !char.is_ascii_digit()).next()?.parse().ok())
        .ok_or_else(malformed)?;
    let (len, rest) = body[sealed].split_first_chunk::<4>().ok_or_else(malformed)?;
    let (signature, data) = rest.split_at_checked(u32::from_le_bytes(*len) as usize).ok_or_else(malformed)?;
    Ok((Sealed { signature: signature.to_vec(), data: data.to_vec() }, length))
}

/// Where the description is, and where the encrypted message is. Some services write a blank after the dashes of the
/// boundary.
fn parts(body: &[u8]) -> Option<(Range<usize>, Range<usize>)> {
    let first = boundary(body, 0)?;
    let second = boundary(body, first.end)?;
    let header = memchr::memmem::find(&body[second.end..], b"octet-stream\r\n")?;
    let start = second.end + header + b"octet-stream\r\n".len();
    // The last boundary is searched for from the end: what is encrypted may contain anything.
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
    Error::with(Kind::Protocol, "an encrypted answer that is malformed")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sealed() -> Sealed {
        Sealed { signature: vec![1; 16], data: b"--Encrypted Boundary\r\n".to_vec() }
    }

    #[test]
    fn what_is_wrapped_is_unwrapped() {
        let body = wrap(&sealed(), 1234);
        assert_eq!(unwrap(&body).unwrap(), (sealed(), 1234));
        // As Exchange writes it.
        let text = String::from_utf8(body).unwrap().replacen("--Encrypted", "-- Encrypted", 2);
        assert_eq!(unwrap(text.as_bytes()).unwrap(), (sealed(), 1234));
    }

    #[test]
    fn any_cut_is_noticed() {
        let body = wrap(&sealed(), 1234);
        let whole = body.len() - b"--\r\n".len();
        for end in 0..whole {
            let result = unwrap(&body[..end]);
            assert!(result.is_err() || result.unwrap().0 != sealed(), "{end}");
        }
        let mut long = body.clone();
        let at = memchr::memmem::find(&body, &16_u32.to_le_bytes()).unwrap();
        long[at + 3] = 0x7F;
        assert!(unwrap(&long).unwrap_err().is_protocol());
    }

    #[test]
    fn types_are_told_apart() {
        assert!(is_sealed(CONTENT_TYPE) && is_sealed("Multipart/Encrypted;boundary=x"));
        assert!(!is_sealed("application/soap+xml") && !is_sealed(""));
    }

    proptest! {
        #[test]
        fn any_bytes_lead_to_a_message_or_an_error(
            pieces in prop::collection::vec(
                prop::sample::select(vec![
                    &b"--"[..], b"Encrypted Boundary", b"\r\n", b"Length=", b"12", b"octet-stream", b"\0\0\0\0",
                    b"\xff\xff\xff\xff", b" ",
                ]),
                0..20,
            ),
        ) {
            let _ = unwrap(&pieces.concat());
        }
    }
}
