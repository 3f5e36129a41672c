//! Parser for WS-Management responses.

use uuid::Uuid;

use super::fault::WsmanFault;
use super::xml::{Namespace, XmlElement};
use crate::Error;
use crate::b64;
use crate::error::Kind;

/// Response envelope of a successful operation.
#[derive(Debug)]
pub(super) struct ResponseEnvelope {
    envelope: XmlElement,
}

/// Output returned by one `Receive` operation.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct OutputChunk {
    pub(super) data: Vec<u8>,
    /// True if no more output follows.
    pub(super) is_done: bool,
}

/// One page of a list.
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
    /// Parses the response to a request.
    ///
    /// # Errors
    ///
    /// Fails like [`XmlElement::parse`], with [`WsmanFault::into_error`] for a fault, and with [`Error::is_protocol`] if
    /// the document is not an envelope or answers a different request.
    pub(super) fn read(document: &[u8], operation: &str, message_id: Uuid) -> Result<Self, Error> {
        let envelope = XmlElement::parse(document)?;
        if !envelope.is(Namespace::Soap, "Envelope") {
            return Err(violation("the response is not a SOAP 1.2 envelope"));
        }
        if let Some(fault) = WsmanFault::find(&envelope) {
            return Err(fault.into_error(operation));
        }
        let relates_to = envelope.at(&[(Namespace::Soap, "Header"), (Namespace::Addressing, "RelatesTo")]);
        match relates_to.map(|element| guid(element.text())) {
            Some(Some(id)) if id == message_id => Ok(Self { envelope }),
            _ => Err(violation("a response to a different request")),
        }
    }

    fn body(&self) -> Option<&XmlElement> {
        self.envelope.child(Namespace::Soap, "Body")
    }

    /// Returns the shell identifier assigned by the server.
    pub(super) fn shell_id(&self) -> Option<&str> {
        use Namespace::{Addressing, Shell, Transfer, Wsman};

        let body = self.body()?;
        let parameters =
            [(Transfer, "ResourceCreated"), (Addressing, "ReferenceParameters"), (Wsman, "SelectorSet")];
        let selectors = body.at(&parameters).into_iter().flat_map(XmlElement::children);
        selectors
            .filter(|selector| selector.attribute("Name") == Some("ShellId"))
            .map(XmlElement::text)
            .chain(body.child(Shell, "Shell").and_then(|shell| shell.child_text(Shell, "ShellId")))
            .find(|text| !text.is_empty())
    }

    /// Returns the command identifier assigned by the server.
    pub(super) fn command_id(&self) -> Option<&str> {
        use Namespace::Shell;
        self.body()?.child(Shell, "CommandResponse")?.child_text(Shell, "CommandId")
    }

    /// Returns the first data of a shell after connecting to it.
    pub(super) fn connect_data(&self) -> Result<Vec<u8>, Error> {
        let path = [(Namespace::Shell, "ConnectResponse"), (Namespace::PowerShell, "connectResponseXml")];
        let mut data = Vec::new();
        if let Some(text) = self.body().and_then(|body| body.at(&path)).map(XmlElement::text) {
            decode(text, &mut data)?;
        }
        Ok(data)
    }

    /// Returns the output of a `Receive` response.
    pub(super) fn output(&self) -> Result<OutputChunk, Error> {
        use Namespace::Shell;

        let response = self
            .body()
            .and_then(|body| body.child(Shell, "ReceiveResponse"))
            .ok_or_else(|| violation("a response to Receive without its body element"))?;
        let mut received = OutputChunk { data: Vec::new(), is_done: false };
        for child in response.children() {
            if child.is(Shell, "Stream") && child.attribute("Name") == Some("stdout") {
                decode(child.text(), &mut received.data)?;
            } else if child.is(Shell, "CommandState") {
                received.is_done |= child.attribute("State").is_some_and(|state| state.ends_with("/Done"));
            }
        }
        Ok(received)
    }

    /// Returns the shells of a list page.
    pub(super) fn shells(&self) -> Result<Page<WsmanShell>, Error> {
        use Namespace::Shell;

        self.page("Shell", |item| {
            let text =
                |name| item.child_text(Shell, name).map(|text| crate::terminal_safe(text).into_owned());
            Ok(WsmanShell {
                id: required_guid(item, "ShellId")?,
                name: text("Name"),
                state: text("State"),
                owner: text("Owner"),
                resource: text("ResourceUri"),
            })
        })
    }

    /// Returns the commands of a list page.
    pub(super) fn commands(&self) -> Result<Page<Uuid>, Error> {
        self.page("Command", |item| required_guid(item, "CommandId"))
    }

    fn page<T>(&self, name: &str, read: impl Fn(&XmlElement) -> Result<T, Error>) -> Result<Page<T>, Error> {
        use Namespace::{Enumeration, Shell, Wsman};

        let body = self.body();
        let response = body
            .and_then(|body| {
                body.child(Enumeration, "EnumerateResponse")
                    .or_else(|| body.child(Enumeration, "PullResponse"))
            })
            .ok_or_else(|| violation("a response to Enumerate without its body element"))?;
        let items = response.child(Wsman, "Items").or_else(|| response.child(Enumeration, "Items"));
        let items = items.into_iter().flat_map(XmlElement::children).filter(|item| item.is(Shell, name));
        let is_last = response.child(Wsman, "EndOfSequence").is_some()
            || response.child(Enumeration, "EndOfSequence").is_some();
        let context = response.child_text(Enumeration, "EnumerationContext").filter(|_| !is_last);
        Ok(Page { items: items.map(read).collect::<Result<_, _>>()?, context: context.map(Into::into) })
    }
}

fn required_guid(item: &XmlElement, name: &str) -> Result<Uuid, Error> {
    item.child_text(Namespace::Shell, name)
        .and_then(guid)
        .ok_or_else(|| violation("a shell or command without a valid identifier"))
}

/// Parses an identifier with an optional `uuid:` or `urn:uuid:` prefix.
fn guid(text: &str) -> Option<Uuid> {
    let text = text.strip_prefix("uuid:").or_else(|| text.strip_prefix("urn:uuid:")).unwrap_or(text);
    Uuid::try_parse(text).ok()
}

fn decode(text: &str, data: &mut Vec<u8>) -> Result<(), Error> {
    b64::decode(text.as_bytes(), data)
        .ok_or_else(|| Error::with(Kind::InvalidText, "the data of a response is not Base64"))
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
        use Namespace::{Addressing, Enumeration, PowerShell, Shell, Soap, Transfer, Wsman};

        let (s, a, w) = (Soap.uri(), Addressing.uri(), Wsman.uri());
        let (r, n, x, p) = (Shell.uri(), Enumeration.uri(), Transfer.uri(), PowerShell.uri());
        format!(
            "<s:Envelope xmlns:s='{s}' xmlns:a='{a}' xmlns:w='{w}' xmlns:r='{r}' xmlns:n='{n}' xmlns:x='{x}' \
             xmlns:p='{p}'><s:Header><a:RelatesTo>uuid:{}</a:RelatesTo></s:Header><s:Body>{body}</s:Body></s:Envelope>",
            ID.as_hyphenated()
        )
    }

    fn response(body: &str) -> ResponseEnvelope {
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
    fn identifiers_assigned_by_the_server_are_read() {
        let created = "<x:ResourceCreated><a:ReferenceParameters><w:SelectorSet><w:Selector Name='Other'>1</w:Selector>\
             <w:Selector Name='ShellId'> ABC </w:Selector></w:SelectorSet></a:ReferenceParameters></x:ResourceCreated>";
        assert_eq!(response(created).shell_id(), Some("ABC"));
        assert_eq!(response("<r:Shell><r:ShellId>DEF</r:ShellId></r:Shell>").shell_id(), Some("DEF"));
        assert_eq!(response("").shell_id(), None);
        let command = "<r:CommandResponse><r:CommandId>ABC</r:CommandId></r:CommandResponse>";
        assert_eq!(response(command).command_id(), Some("ABC"));
        assert_eq!(response("<r:CommandResponse/>").command_id(), None);
    }

    #[test]
    fn streams_are_concatenated() {
        let received = response(
            "<r:ReceiveResponse><r:Stream Name='stdout'>AAE=</r:Stream><r:Stream Name='stderr'>!</r:Stream>\
             <r:Stream Name='stdout'>Ag\n==</r:Stream><r:CommandState State='http://example.org/Done'/></r:ReceiveResponse>",
        )
        .output()
        .unwrap();
        assert_eq!(received, OutputChunk { data: vec![0, 1, 2], is_done: true });
        let running =
            "<r:ReceiveResponse><r:CommandState State='http://example.org/Running'/></r:ReceiveResponse>";
        assert_eq!(response(running).output().unwrap(), OutputChunk { data: vec![], is_done: false });
        let bad = response("<r:ReceiveResponse><r:Stream Name='stdout'>!</r:Stream></r:ReceiveResponse>");
        assert!(bad.output().unwrap_err().is_invalid_text());
        assert!(response("").output().unwrap_err().is_protocol());
    }

    #[test]
    fn connect_response_contains_the_first_data() {
        let xml = "<r:ConnectResponse><p:connectResponseXml>AAEC</p:connectResponseXml></r:ConnectResponse>";
        assert_eq!(response(xml).connect_data().unwrap(), [0, 1, 2]);
        assert!(response("<r:ConnectResponse/>").connect_data().unwrap().is_empty());
    }

    #[test]
    fn list_pages_are_parsed() {
        let shell = format!(
            "<r:Shell><r:ShellId>{ID}</r:ShellId><r:Name>a&#7;</r:Name><r:State>Disconnected</r:State>\
             <r:ResourceUri>http://schemas.microsoft.com/PowerShell/Microsoft.PowerShell</r:ResourceUri></r:Shell>"
        );
        let first = format!(
            "<n:EnumerateResponse><w:Items>{shell}<r:Other/></w:Items><n:EnumerationContext>next</n:EnumerationContext>\
             </n:EnumerateResponse>"
        );
        let page = response(&first).shells().unwrap();
        assert_eq!(page.context.as_deref(), Some("next"));
        assert_eq!(page.items.len(), 1);
        assert_eq!((page.items[0].id, page.items[0].name.as_deref()), (ID, Some("a\\u{7}")));
        assert!(page.items[0].is_power_shell());
        let last = "<n:PullResponse><n:Items/><n:EnumerationContext>x</n:EnumerationContext><n:EndOfSequence/></n:PullResponse>";
        assert!(response(last).commands().unwrap().context.is_none());
        let bad = "<n:PullResponse><n:Items><r:Command><r:CommandId>1</r:CommandId></r:Command></n:Items></n:PullResponse>";
        assert!(response(bad).commands().unwrap_err().is_protocol());
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
            if let Ok(response) = ResponseEnvelope::read(envelope(&pieces.concat()).as_bytes(), "Test", ID) {
                let _ = (response.shell_id(), response.command_id(), response.connect_data(), response.output());
                let _ = (response.shells(), response.commands());
            }
        }
    }
}
