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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ID: Uuid = Uuid::from_u128(0xA);

    fn envelope(body: &str) -> String {
        format!(
            "<s:Envelope xmlns:s='s' xmlns:a='a' xmlns:w='w' xmlns:r='r' xmlns:n='n' xmlns:x='x' xmlns:p='p'>\
             <s:Header><a:RelatesTo>uuid:{}</a:RelatesTo></s:Header><s:Body>{body}</s:Body></s:Envelope>",
            ID.as_hyphenated()
        )
    }

    fn parse(body: &str) -> ResponseEnvelope {
        ResponseEnvelope::read(envelope(body).as_bytes(), "Test", ID).unwrap()
    }

    #[test]
    fn response_must_relate_to_the_request() {
        let document = envelope("");
        assert!(ResponseEnvelope::read(document.as_bytes(), "Test", ID).is_ok());
        let other = ResponseEnvelope::read(document.as_bytes(), "Test", Uuid::from_u128(0xB)).unwrap_err();
        assert!(other.is_protocol());
        assert!(ResponseEnvelope::read(b"<html/>", "Test", ID).unwrap_err().is_protocol());
        let without = document.replace("RelatesTo", "Other");
        assert!(ResponseEnvelope::read(without.as_bytes(), "Test", ID).unwrap_err().is_protocol());
    }

    #[test]
    fn responses_contain_identifiers_and_data() {
        let created = "<x:ResourceCreated><a:ReferenceParameters><w:SelectorSet><w:Selector Name='Other'>1</w:Selector>\
             <w:Selector Name='ShellId'> ABC </w:Selector></w:SelectorSet></a:ReferenceParameters></x:ResourceCreated>";
        let streams = "<r:ReceiveResponse><r:Stream Name='stdout'>AAE=</r:Stream><r:Stream Name='stderr'>!</r:Stream>\
             <r:Stream Name='stdout'>Ag\n==</r:Stream><r:CommandState State='http://example.org/Done'/></r:ReceiveResponse>";
        let running =
            "<r:ReceiveResponse><r:CommandState State='http://example.org/Running'/></r:ReceiveResponse>";
        let connected =
            "<r:ConnectResponse><p:connectResponseXml>AAEC</p:connectResponseXml></r:ConnectResponse>";
        for (operation, body, id, data, is_done) in [
            ("Create", created, Some("ABC"), &[][..], false),
            ("Create", "<r:Shell><r:ShellId>DEF</r:ShellId></r:Shell>", Some("DEF"), &[], false),
            ("Create", "", None, &[], false),
            (
                "Command",
                "<r:CommandResponse><r:CommandId>ABC</r:CommandId></r:CommandResponse>",
                Some("ABC"),
                &[],
                false,
            ),
            ("Command", "<r:CommandResponse/>", None, &[], false),
            ("Receive", streams, None, &[0, 1, 2], true),
            ("Receive", running, None, &[], false),
            ("Connect", connected, None, &[0, 1, 2], false),
            ("Connect", "<r:ConnectResponse/>", None, &[], false),
        ] {
            let expected = Response { id: id.map(Into::into), data: data.to_vec(), is_done };
            assert_eq!(parse(body).response(operation).unwrap(), expected, "{body}");
        }
        let bad = parse("<r:ReceiveResponse><r:Stream Name='stdout'>!</r:Stream></r:ReceiveResponse>");
        assert!(bad.response("Receive").unwrap_err().is_invalid_text());
        assert!(parse("").response("Receive").unwrap_err().is_protocol());
    }

    #[test]
    fn list_pages_are_parsed() {
        let shell = format!(
            "<r:Shell><r:ShellId>{ID}</r:ShellId><r:Name>a&#7;</r:Name><r:State>Disconnected</r:State>\
             <r:ShellInactivity>P0DT0H1M2S</r:ShellInactivity>\
             <r:ResourceUri>http://schemas.microsoft.com/PowerShell/Microsoft.PowerShell</r:ResourceUri></r:Shell>"
        );
        let first = format!(
            "<n:EnumerateResponse><w:Items>{shell}<r:Other/></w:Items><n:EnumerationContext>next</n:EnumerationContext>\
             </n:EnumerateResponse>"
        );
        let page = parse(&first).shells().unwrap();
        assert_eq!(page.context.as_deref(), Some("next"));
        assert_eq!(page.items.len(), 1);
        assert_eq!((page.items[0].id, page.items[0].name.as_deref()), (ID, Some("a\\u{7}")));
        assert_eq!(page.items[0].idle, Some(Duration::from_secs(62)));
        assert!(page.items[0].is_power_shell());
        let last = "<n:PullResponse><n:Items/><n:EnumerationContext>x</n:EnumerationContext><n:EndOfSequence/></n:PullResponse>";
        assert!(parse(last).commands().unwrap().context.is_none());
        let bad = "<n:PullResponse><n:Items><r:Command><r:CommandId>1</r:CommandId></r:Command></n:Items></n:PullResponse>";
        assert!(parse(bad).commands().unwrap_err().is_protocol());
    }

    proptest! {
        #[test]
        fn any_body_is_parsed_or_rejected(
            pieces in prop::collection::vec(
                prop::sample::select(vec![
                    "<r:ReceiveResponse>", "</r:ReceiveResponse>", "<r:Stream Name='stdout'>", "</r:Stream>", "AAEC",
                    "<r:CommandState State='/Done'/>", "<s:Fault>", "</s:Fault>", "<n:PullResponse>",
                    "</n:PullResponse>", "<w:Items>", "</w:Items>", "<r:Shell>", "</r:Shell>", "&amp;", "\u{FF}",
                    "<r:ConnectResponse>", "</r:ConnectResponse>", "<p:connectResponseXml>", "</p:connectResponseXml>",
                ]),
                0..12,
            ),
        ) {
            if let Ok(envelope) = ResponseEnvelope::read(envelope(&pieces.concat()).as_bytes(), "Test", ID) {
                let _ = ["Create", "Command", "Connect", "Receive"].map(|operation| envelope.response(operation));
                let _ = (envelope.shells(), envelope.commands());
            }
        }
    }
}
