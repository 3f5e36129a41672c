//! Validation of a response (HTML standard, section 9.2.3 "Processing model").

use http::header::{CONTENT_TYPE, HeaderMap};
use http::status::StatusCode;

use super::MIME_TYPE;
use crate::error::{Error, Kind, Result};

/// Returns an error unless the status is 200 and the content type is that of an event stream.
pub(super) fn check(status: StatusCode, headers: &HeaderMap) -> Result<()> {
    if status != StatusCode::OK {
        return Err(Error::new(Kind::Status(status.as_u16())));
    }
    match headers.get(CONTENT_TYPE) {
        Some(value) if is_event_stream(value.as_bytes()) => Ok(()),
        _ => Err(Error::new(Kind::ContentType)),
    }
}

/// Compares the essence of a MIME type. Ignores parameters, including `charset`: the stream is always UTF-8.
fn is_event_stream(value: &[u8]) -> bool {
    let essence = value.split(|&byte| byte == b';').next().unwrap_or_default();
    essence.trim_ascii().eq_ignore_ascii_case(MIME_TYPE.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_content_type_is_compared_without_parameters() {
        for accepted in [
            "text/event-stream",
            "text/event-stream;",
            "text/event-stream;charset=windows-1252",
            "Text/Event-Stream ; charset=\"utf-8\"",
            " text/event-stream\t",
        ] {
            assert!(is_event_stream(accepted.as_bytes()), "{accepted:?}");
        }
        for rejected in [
            "",
            ";",
            "x bogus",
            "text/x-bogus",
            "text/event-stream-2",
            "text/event",
            "text/event-stream, text/html",
            "application/json; text/event-stream",
        ] {
            assert!(!is_event_stream(rejected.as_bytes()), "{rejected:?}");
        }
    }

    #[test]
    fn the_status_is_checked_before_the_content_type() {
        let error = check(StatusCode::NO_CONTENT, &HeaderMap::new()).unwrap_err();
        assert_eq!(error.status(), Some(204));
        let error = check(StatusCode::OK, &HeaderMap::new()).unwrap_err();
        assert!(error.is_content_type());
    }
}
