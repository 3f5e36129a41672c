//! Faults: errors reported by the service.

use std::fmt;

use super::xml::XmlElement;
use crate::error::{Error, Kind};
use crate::io::peer_text::peer_text;

const TIMED_OUT: u32 = 0x8033_8029;
/// No such shell or command (`ERROR_WSMAN_INVALID_SELECTORS`).
const INVALID_SELECTORS: u32 = 0x8033_805b;
/// Aborted because the command or shell ends (`ERROR_OPERATION_ABORTED`).
const ABORTED: u32 = 0x8007_03e3;
const ACCESS_DENIED: u32 = 5;

/// WS-Management fault (DSP0226 14, MS-WSMV 2.2.4.43). It is the source of an [`Error`] reported by the service, which
/// is [`Error::is_refused`], [`Error::is_denied`] or [`Error::is_timeout`].
///
/// The text comes from the server; control characters are escaped.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct WsmanFault {
    code: Option<u32>,
    subcode: Option<Box<str>>,
    message: Box<str>,
}

impl WsmanFault {
    pub(super) fn find(envelope: &XmlElement) -> Option<Self> {
        let fault = envelope.at(&["Body", "Fault"])?;
        let detail = fault.at(&["Detail", "WSManFault"]);
        let code = detail.and_then(|detail| detail.attribute("Code")).and_then(code);
        let subcode = fault
            .at(&["Code", "Subcode", "Value"])
            .or_else(|| fault.at(&["Code", "Value"]))
            .map(XmlElement::text)
            // The namespace prefix is chosen by the server.
            .map(|text| peer_text(text.rsplit_once(':').map_or(text, |(_, name)| name)));
        // Providers nest the reason in another element.
        let message = detail.and_then(|detail| detail.child("Message"));
        let message = message
            .and_then(|message| message.child_text("ProviderFault").or_else(|| non_empty(message)))
            .or_else(|| {
                let nested = &message?.child("ProviderFault")?.children;
                nested.iter().find_map(|element| element.child_text("Message"))
            })
            .or_else(|| fault.at(&["Reason", "Text"]).and_then(non_empty))
            .unwrap_or_default();
        Some(Self { code, subcode, message: peer_text(message) })
    }

    /// Returns the Windows error code, such as `0x80338029`. Other services have none.
    pub fn code(&self) -> Option<u32> {
        self.code
    }

    /// Returns the protocol's code without its prefix, such as `TimedOut` or `InvalidSelectors`.
    pub fn subcode(&self) -> Option<&str> {
        self.subcode.as_deref()
    }

    /// Returns the server's message in its language, with control characters escaped. Empty if there is none.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Returns whether the operation timed out, which means for `Receive` that there was no output.
    pub(super) fn is_timed_out(&self) -> bool {
        match self.code {
            Some(code) => code == TIMED_OUT,
            None => self.subcode() == Some("TimedOut"),
        }
    }

    /// Returns whether the shell or command does not exist or has just ended.
    pub(super) fn is_gone(&self) -> bool {
        match self.code {
            Some(code) => matches!(code, INVALID_SELECTORS | ABORTED),
            None => self.subcode() == Some("InvalidSelectors"),
        }
    }

    pub(super) fn into_error(self, operation: &str) -> Error {
        let kind = if self.is_timed_out() {
            Kind::Timeout
        } else if self.code == Some(ACCESS_DENIED) || self.subcode() == Some("AccessDenied") {
            Kind::Denied
        } else {
            Kind::Refused
        };
        Error::with(kind, format!("{operation}: {self}")).caused_by(self)
    }
}

/// Windows writes codes in decimal, other services in hexadecimal.
fn code(text: &str) -> Option<u32> {
    match text.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

fn non_empty(element: &XmlElement) -> Option<&str> {
    Some(element.text()).filter(|text| !text.is_empty())
}

impl fmt::Display for WsmanFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.message.is_empty() { "no reason given" } else { &self.message })?;
        match (self.code, &self.subcode) {
            (Some(code), Some(subcode)) => write!(f, " ({subcode}, {code:#x})"),
            (Some(code), None) => write!(f, " ({code:#x})"),
            (None, Some(subcode)) => write!(f, " ({subcode})"),
            (None, None) => Ok(()),
        }
    }
}

impl std::error::Error for WsmanFault {}
