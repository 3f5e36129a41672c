//! Parser for WS-Management responses.

use std::time::Duration;

use uuid::Uuid;

use super::fault::WsmanFault;
use super::xml::XmlElement;
use crate::b64;
use crate::error::{Error, Kind};
use crate::value::TimeSpan;

/// Envelope of a successful operation.
#[derive(Debug)]
pub(super) struct ResponseEnvelope(XmlElement);

/// Content of the response to an operation on a shell or command.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Response {
    /// Identifier that the server assigned to the created shell or command.
    pub(super) id: Option<Box<str>>,
    /// Output, or the first data after connecting to a shell.
    pub(super) data: Vec<u8>,
    /// Whether no more output follows.
    pub(super) is_done: bool,
}

#[derive(Debug)]
pub(super) struct Page<T> {
    pub(super) items: Vec<T>,
    /// Continuation token of the next page, if there is one.
    pub(super) context: Option<Box<str>>,
}

/// Shell as listed by the service.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WsmanShell {
    /// Identifier, which is also that of the runspace pool.
    pub id: Uuid,
    /// Name given by the client that created the shell.
    pub name: Option<String>,
    /// State, `Connected` or `Disconnected`.
    pub state: Option<String>,
    /// User who created the shell.
    pub owner: Option<String>,
    /// Time since a client has used the shell.
    pub idle: Option<Duration>,
    /// Resource URI: for PowerShell, `http://schemas.microsoft.com/powershell/` and the session configuration.
    pub resource: Option<String>,
}

impl WsmanShell {
    /// Returns whether this is a PowerShell shell.
    pub fn is_power_shell(&self) -> bool {
        let prefix = "http://schemas.microsoft.com/powershell/";
        self.resource
            .as_deref()
            .and_then(|resource| resource.get(..prefix.len()))
            .is_some_and(|start| start.eq_ignore_ascii_case(prefix))
    }
}

impl ResponseEnvelope {
    /// Parses the response to a request. Fails like [`XmlElement::parse`], with [`WsmanFault::into_error`] for a fault,
    /// and with [`Error::is_protocol`] if the document is not an envelope or answers a different request.
    pub(super) fn read(document: &[u8], operation: &str, message_id: Uuid) -> Result<Self, Error> {
        let envelope = XmlElement::parse(document)?;
        if *envelope.name != *"Envelope" {
            return Err(violation("the response is not a SOAP 1.2 envelope"));
        }
        if let Some(fault) = WsmanFault::find(&envelope) {
            return Err(fault.into_error(operation));
        }
        match envelope.at(&["Header", "RelatesTo"]).map(|element| guid(element.text())) {
            Some(Some(id)) if id == message_id => Ok(Self(envelope)),
            _ => Err(violation("a response to a different request")),
        }
    }

    fn at(&self, path: &[&str]) -> Option<&XmlElement> {
        self.0.child("Body")?.at(path)
    }

    /// Returns the content of the response to an operation.
    pub(super) fn response(&self, operation: &str) -> Result<Response, Error> {
        let mut response = Response::default();
        let mut texts: Vec<&str> = Vec::new();
        match operation {
            "Create" => {
                let selectors = self.at(&["ResourceCreated", "ReferenceParameters", "SelectorSet"]);
                let selectors = selectors.into_iter().flat_map(|selectors| &selectors.children);
                let id = selectors
                    .filter(|selector| selector.attribute("Name") == Some("ShellId"))
                    .chain(self.at(&["Shell", "ShellId"]))
                    .map(XmlElement::text)
                    .find(|text| !text.is_empty());
                response.id = id.map(Into::into);
            }
            "Command" => {
                let id = self.at(&["CommandResponse"]).and_then(|response| response.child_text("CommandId"));
                response.id = id.map(Into::into);
            }
            "Connect" => {
                texts.extend(self.at(&["ConnectResponse", "connectResponseXml"]).map(XmlElement::text));
            }
            "Receive" => {
                let output = self
                    .at(&["ReceiveResponse"])
                    .ok_or_else(|| violation("a response to Receive without its body element"))?;
                for child in &output.children {
                    match &*child.name {
                        "Stream" if child.attribute("Name") == Some("stdout") => texts.push(child.text()),
                        "CommandState" => {
                            let state = child.attribute("State");
                            response.is_done |= state.is_some_and(|state| state.ends_with("/Done"));
                        }
                        _ => {}
                    }
                }
            }
            _ => {}
        }
        for text in texts {
            b64::decode(text.as_bytes(), &mut response.data)
                .ok_or_else(|| Error::with(Kind::InvalidText, "the data of a response is not Base64"))?;
        }
        Ok(response)
    }

    pub(super) fn shells(&self) -> Result<Page<WsmanShell>, Error> {
        self.page("Shell", |item| {
            let text = |name| item.child_text(name).map(|text| crate::terminal_safe(text).into_owned());
            Ok(WsmanShell {
                id: required_guid(item, "ShellId")?,
                name: text("Name"),
                state: text("State"),
                owner: text("Owner"),
                idle: item.child_text("ShellInactivity").and_then(duration),
                resource: text("ResourceUri"),
            })
        })
    }

    pub(super) fn commands(&self) -> Result<Page<Uuid>, Error> {
        self.page("Command", |item| required_guid(item, "CommandId"))
    }

    fn page<T>(&self, name: &str, read: impl Fn(&XmlElement) -> Result<T, Error>) -> Result<Page<T>, Error> {
        let response = self
            .at(&["EnumerateResponse"])
            .or_else(|| self.at(&["PullResponse"]))
            .ok_or_else(|| violation("a response to Enumerate without its body element"))?;
        let items = response.child("Items").into_iter().flat_map(|items| &items.children);
        let items = items.filter(|item| *item.name == *name);
        let is_last = response.child("EndOfSequence").is_some();
        let context = response.child_text("EnumerationContext").filter(|_| !is_last);
        Ok(Page { items: items.map(read).collect::<Result<_, _>>()?, context: context.map(Into::into) })
    }
}

fn required_guid(item: &XmlElement, name: &str) -> Result<Uuid, Error> {
    item.child_text(name)
        .and_then(guid)
        .ok_or_else(|| violation("a shell or command without a valid identifier"))
}

fn duration(text: &str) -> Option<Duration> {
    text.parse::<TimeSpan>().ok()?.try_into().ok()
}

/// Parses an identifier with an optional `uuid:` or `urn:uuid:` prefix.
fn guid(text: &str) -> Option<Uuid> {
    let text = text.strip_prefix("uuid:").or_else(|| text.strip_prefix("urn:uuid:")).unwrap_or(text);
    Uuid::try_parse(text).ok()
}

#[cold]
pub(super) fn violation(what: &'static str) -> Error {
    Error::with(Kind::Protocol, what)
}
