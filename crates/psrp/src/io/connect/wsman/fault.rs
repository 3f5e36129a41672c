//! What a service answers instead of doing what it was asked for.

use std::fmt;

use super::xml::{Element, Namespace};
use crate::Error;
use crate::error::Kind;
use crate::io::remote::remote_text;

/// The operation took longer than its timeout.
const TIMED_OUT: u32 = 0x8033_8029;
/// There is no such shell or command (`ERROR_WSMAN_INVALID_SELECTORS`).
const INVALID_SELECTORS: u32 = 0x8033_805b;
/// The operation was aborted because the command or the shell ends (`ERROR_OPERATION_ABORTED`).
const ABORTED: u32 = 0x8007_03e3;
/// Access is denied.
const ACCESS_DENIED: u32 = 5;

/// A fault of WS-Management (DSP0226 14, MS-WSMV 2.2.4.43): the source of the errors that a service tells in this way, for
/// which [`Error::is_refused`], [`Error::is_denied`] or [`Error::is_timeout`].
///
/// Its text comes from the server and is shown with control characters made visible.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct WsmanFault {
    code: Option<u32>,
    subcode: Option<Box<str>>,
    message: Box<str>,
}

impl WsmanFault {
    /// The fault of an envelope, if it has one.
    pub(super) fn find(envelope: &Element) -> Option<Self> {
        use Namespace::{Fault, Soap};

        let fault = envelope.at(&[(Soap, "Body"), (Soap, "Fault")])?;
        let detail = fault.at(&[(Soap, "Detail"), (Fault, "WSManFault")]);
        let code = detail.and_then(|detail| detail.attribute("Code")).and_then(code);
        let subcode = fault
            .at(&[(Soap, "Code"), (Soap, "Subcode"), (Soap, "Value")])
            .or_else(|| fault.at(&[(Soap, "Code"), (Soap, "Value")]))
            .map(Element::text)
            // The prefix is whatever the server likes.
            .map(|text| remote_text(text.rsplit_once(':').map_or(text, |(_, name)| name)));
        // Providers put the reason into an element of theirs.
        let message = detail.and_then(|detail| detail.child(Fault, "Message"));
        let message = message
            .and_then(|message| message.child_text(Fault, "ProviderFault").or_else(|| non_empty(message)))
            .or_else(|| message?.child(Fault, "ProviderFault")?.children().find_map(nested_message))
            .or_else(|| fault.at(&[(Soap, "Reason"), (Soap, "Text")]).and_then(non_empty))
            .unwrap_or_default();
        Some(Self { code, subcode, message: remote_text(message) })
    }

    /// The number that Windows has for it, such as `0x80338029`. Services that are not Windows have none.
    pub fn code(&self) -> Option<u32> {
        self.code
    }

    /// The code of the protocol without its prefix, such as `TimedOut` or `InvalidSelectors`.
    pub fn subcode(&self) -> Option<&str> {
        self.subcode.as_deref()
    }

    /// What the server says, in its language, with control characters made visible; empty if it says nothing.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Whether the operation timeout is over: nothing was to be received.
    pub(super) fn is_timed_out(&self) -> bool {
        match self.code {
            Some(code) => code == TIMED_OUT,
            None => self.subcode() == Some("TimedOut"),
        }
    }

    /// Whether the server has no such shell or command, or has just ended it.
    pub(super) fn is_gone(&self) -> bool {
        match self.code {
            Some(code) => matches!(code, INVALID_SELECTORS | ABORTED),
            None => self.subcode() == Some("InvalidSelectors"),
        }
    }

    /// The error of an operation that failed with this.
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

/// Windows writes numbers in decimal, others in hexadecimal.
fn code(text: &str) -> Option<u32> {
    match text.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

fn non_empty(element: &Element) -> Option<&str> {
    Some(element.text()).filter(|text| !text.is_empty())
}

fn nested_message(element: &Element) -> Option<&str> {
    element.child_text(Namespace::Fault, "Message")
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

impl fmt::Debug for WsmanFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WsmanFault")
            .field("code", &self.code)
            .field("subcode", &self.subcode)
            .field("message", &self.message)
            .finish()
    }
}

impl std::error::Error for WsmanFault {}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(inner: &str) -> WsmanFault {
        let (soap, detail) = (Namespace::Soap.uri(), Namespace::Fault.uri());
        let document = format!(
            "<s:Envelope xmlns:s='{soap}' xmlns:f='{detail}'><s:Body><s:Fault>{inner}</s:Fault></s:Body></s:Envelope>"
        );
        WsmanFault::find(&Element::parse(document.as_bytes()).unwrap()).unwrap()
    }

    const CODE: &str =
        "<s:Code><s:Value>s:Receiver</s:Value><s:Subcode><s:Value>w:TimedOut</s:Value></s:Subcode></s:Code>";
    const REASON: &str = "<s:Reason><s:Text>The reason.</s:Text></s:Reason>";

    #[test]
    fn the_detail_says_most() {
        let detail = "<s:Detail><f:WSManFault Code='2150858793'><f:Message> The message.\r\n</f:Message></f:WSManFault></s:Detail>";
        let fault = fault(&format!("{CODE}{REASON}{detail}"));
        assert!(fault.is_timed_out());
        assert_eq!(fault.code(), Some(0x8033_8029));
        assert_eq!(fault.to_string(), "The message. (TimedOut, 0x80338029)");
        assert!(fault.into_error("Receive").is_timeout());
    }

    #[test]
    fn the_reason_of_a_provider_comes_first() {
        let provider = "<f:ProviderFault provider='p'><f:WSManFault Code='1'><f:Message>Inside.</f:Message></f:WSManFault></f:ProviderFault>";
        let detail = format!(
            "<s:Detail><f:WSManFault Code='0x5'><f:Message>{provider}</f:Message></f:WSManFault></s:Detail>"
        );
        let fault = fault(&format!("{REASON}{detail}"));
        assert_eq!(fault.to_string(), "Inside. (0x5)");
        assert!(fault.into_error("Create").is_denied());
    }

    #[test]
    fn others_than_windows_have_codes_of_the_protocol() {
        let fault = fault(&format!("{CODE}{REASON}"));
        assert!(fault.is_timed_out());
        assert_eq!(fault.to_string(), "The reason. (TimedOut)");
        let sparse = self::fault("<s:Code><s:Value>s:Sender</s:Value></s:Code>");
        assert_eq!(sparse.to_string(), "no reason given (Sender)");
        assert_eq!(self::fault("").to_string(), "no reason given");
    }

    #[test]
    fn texts_are_short_and_safe_to_show() {
        let long = "\u{E9}".repeat(4096);
        let fault = fault(&format!("<s:Reason><s:Text>&#x1b;[2J{long}</s:Text></s:Reason>"));
        assert!(fault.message().starts_with("\\u{1b}[2J\u{E9}"));
        assert!(fault.message().len() < 4096 + 16);
        let error = fault.into_error("Create");
        assert!(error.is_refused() && !error.to_string().contains('\u{1b}'));
        assert!(std::error::Error::source(&error).unwrap().downcast_ref::<WsmanFault>().is_some());
    }
}
