//! What the envelopes of answers say.

use uuid::Uuid;

use super::fault::WsmanFault;
use super::soap::Operation;
use super::xml::{Element, Namespace};
use crate::Error;
use crate::b64;
use crate::error::Kind;

/// An answer that is no fault, with what is in its body.
#[derive(Debug)]
pub(super) struct Answer {
    envelope: Element,
}

/// What there was to be received.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Received {
    pub(super) data: Vec<u8>,
    /// Whether nothing more comes.
    pub(super) is_done: bool,
}

/// A part of a list.
#[derive(Debug)]
pub(super) struct Page<T> {
    pub(super) items: Vec<T>,
    /// Where the list goes on, if it does.
    pub(super) context: Option<Box<str>>,
}

/// A shell as the service lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WsmanShell {
    /// The identifier, which is that of the runspace pool.
    pub id: Uuid,
    /// What the client that opened it called it.
    pub name: Option<String>,
    /// The state, `Connected` or `Disconnected`.
    pub state: Option<String>,
    /// The user that opened it.
    pub owner: Option<String>,
    /// The kind of the shell: for PowerShell `http://schemas.microsoft.com/powershell/` and a session configuration.
    pub resource: Option<String>,
}

impl WsmanShell {
    /// Whether the shell is one of PowerShell.
    pub fn is_power_shell(&self) -> bool {
        let prefix = "http://schemas.microsoft.com/powershell/";
        self.resource
            .as_deref()
            .and_then(|resource| resource.get(..prefix.len()))
            .is_some_and(|start| start.eq_ignore_ascii_case(prefix))
    }
}

impl Answer {
    /// Reads the answer to a request.
    ///
    /// # Errors
    ///
    /// Fails as [`Element::parse`], with the error of a fault ([`WsmanFault::into_error`]), and if it is no envelope or
    /// the answer to another request ([`Error::is_protocol`]).
    pub(super) fn read(document: &[u8], operation: &str, message_id: Uuid) -> Result<Self, Error> {
        let envelope = Element::parse(document)?;
        if !envelope.is(Namespace::Soap, "Envelope") {
            return Err(violation("an answer that is no envelope of SOAP 1.2"));
        }
        if let Some(fault) = WsmanFault::find(&envelope) {
            return Err(fault.into_error(operation));
        }
        let relates_to = envelope.at(&[(Namespace::Soap, "Header"), (Namespace::Addressing, "RelatesTo")]);
        match relates_to.map(|element| guid(element.text())) {
            Some(Some(id)) if id == message_id => Ok(Self { envelope }),
            _ => Err(violation("an answer to another request")),
        }
    }

    fn body(&self) -> Option<&Element> {
        self.envelope.child(Namespace::Soap, "Body")
    }

    /// The identifier that the server has given a shell.
    pub(super) fn shell_id(&self) -> Option<&str> {
        use Namespace::{Addressing, Shell, Transfer, Wsman};

        let body = self.body()?;
        let parameters =
            [(Transfer, "ResourceCreated"), (Addressing, "ReferenceParameters"), (Wsman, "SelectorSet")];
        let selectors = body.at(&parameters).into_iter().flat_map(Element::children);
        selectors
            .filter(|selector| selector.attribute("Name") == Some("ShellId"))
            .map(Element::text)
            .chain(body.child(Shell, "Shell").and_then(|shell| shell.child_text(Shell, "ShellId")))
            .find(|text| !text.is_empty())
    }

    /// The identifier that the server has given a command.
    pub(super) fn command_id(&self) -> Option<&str> {
        use Namespace::Shell;
        self.body()?.child(Shell, "CommandResponse")?.child_text(Shell, "CommandId")
    }

    /// The first data of a shell that was taken over.
    pub(super) fn connected(&self) -> Result<Vec<u8>, Error> {
        let path = [(Namespace::Shell, "ConnectResponse"), (Namespace::PowerShell, "connectResponseXml")];
        let mut data = Vec::new();
        if let Some(text) = self.body().and_then(|body| body.at(&path)).map(Element::text) {
            decode(text, &mut data)?;
        }
        Ok(data)
    }

    /// What was received.
    pub(super) fn received(&self) -> Result<Received, Error> {
        use Namespace::Shell;

        let response = self
            .body()
            .and_then(|body| body.child(Shell, "ReceiveResponse"))
            .ok_or_else(|| violation("an answer to Receive without its element"))?;
        let mut received = Received { data: Vec::new(), is_done: false };
        for child in response.children() {
            if child.is(Shell, "Stream") && child.attribute("Name") == Some("stdout") {
                decode(child.text(), &mut received.data)?;
            } else if child.is(Shell, "CommandState") {
                received.is_done |= child.attribute("State").is_some_and(|state| state.ends_with("/Done"));
            }
        }
        Ok(received)
    }

    /// The shells of a page.
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

    /// The commands of a page.
    pub(super) fn commands(&self) -> Result<Page<Uuid>, Error> {
        self.page("Command", |item| required_guid(item, "CommandId"))
    }

    fn page<T>(&self, name: &str, read: impl Fn(&Element) -> Result<T, Error>) -> Result<Page<T>, Error> {
        use Namespace::{Enumeration, Shell, Wsman};

        let body = self.body();
        let response = body
            .and_then(|body| {
                body.child(Enumeration, "EnumerateResponse")
                    .or_else(|| body.child(Enumeration, "PullResponse"))
            })
            .ok_or_else(|| violation("an answer to Enumerate without its element"))?;
        let items = response.child(Wsman, "Items").or_else(|| response.child(Enumeration, "Items"));
        let items = items.into_iter().flat_map(Element::children).filter(|item| item.is(Shell, name));
        let is_last = response.child(Wsman, "EndOfSequence").is_some()
            || response.child(Enumeration, "EndOfSequence").is_some();
        let context = response.child_text(Enumeration, "EnumerationContext").filter(|_| !is_last);
        Ok(Page { items: items.map(read).collect::<Result<_, _>>()?, context: context.map(Into::into) })
    }
}

fn required_guid(item: &Element, name: &str) -> Result<Uuid, Error> {
    item.child_text(Namespace::Shell, name)
        .and_then(guid)
        .ok_or_else(|| violation("a shell or command without an identifier"))
}

/// An identifier with or without what stands before it in messages.
fn guid(text: &str) -> Option<Uuid> {
    let text = text.strip_prefix("uuid:").or_else(|| text.strip_prefix("urn:uuid:")).unwrap_or(text);
    Uuid::try_parse(text).ok()
}

fn decode(text: &str, data: &mut Vec<u8>) -> Result<(), Error> {
    b64::decode(text.as_bytes(), data)
        .ok_or_else(|| Error::with(Kind::InvalidText, "the data of an answer are no Base64"))
}

#[cold]
pub(super) fn violation(what: &'static str) -> Error {
    Error::with(Kind::Protocol, what)
}

impl Operation<'_> {
    /// Reads the answer to this operation.
    ///
    /// # Errors
    ///
    /// As [`Answer::read`].
    pub(super) fn answer(&self, document: &[u8], message_id: Uuid) -> Result<Answer, Error> {
        Answer::read(document, self.name(), message_id)
    }
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

    fn answer(body: &str) -> Answer {
        Answer::read(envelope(body).as_bytes(), "Test", ID).unwrap()
    }

    #[test]
    fn the_answer_is_to_the_request() {
        let document = envelope("");
        assert!(Answer::read(document.as_bytes(), "Test", ID).is_ok());
        let other = Answer::read(document.as_bytes(), "Test", Uuid::from_u128(0xB)).unwrap_err();
        assert!(other.is_protocol());
        assert!(Answer::read(b"<html/>", "Test", ID).unwrap_err().is_protocol());
        let without = document.replace("RelatesTo", "Other");
        assert!(Answer::read(without.as_bytes(), "Test", ID).unwrap_err().is_protocol());
    }

    #[test]
    fn identifiers_of_the_server_are_taken() {
        let created = "<x:ResourceCreated><a:ReferenceParameters><w:SelectorSet><w:Selector Name='Other'>1</w:Selector>\
             <w:Selector Name='ShellId'> ABC </w:Selector></w:SelectorSet></a:ReferenceParameters></x:ResourceCreated>";
        assert_eq!(answer(created).shell_id(), Some("ABC"));
        assert_eq!(answer("<r:Shell><r:ShellId>DEF</r:ShellId></r:Shell>").shell_id(), Some("DEF"));
        assert_eq!(answer("").shell_id(), None);
        let command = "<r:CommandResponse><r:CommandId>ABC</r:CommandId></r:CommandResponse>";
        assert_eq!(answer(command).command_id(), Some("ABC"));
        assert_eq!(answer("<r:CommandResponse/>").command_id(), None);
    }

    #[test]
    fn streams_are_joined() {
        let received = answer(
            "<r:ReceiveResponse><r:Stream Name='stdout'>AAE=</r:Stream><r:Stream Name='stderr'>!</r:Stream>\
             <r:Stream Name='stdout'>Ag\n==</r:Stream><r:CommandState State='http://example.org/Done'/></r:ReceiveResponse>",
        )
        .received()
        .unwrap();
        assert_eq!(received, Received { data: vec![0, 1, 2], is_done: true });
        let running =
            "<r:ReceiveResponse><r:CommandState State='http://example.org/Running'/></r:ReceiveResponse>";
        assert_eq!(answer(running).received().unwrap(), Received { data: vec![], is_done: false });
        let bad = answer("<r:ReceiveResponse><r:Stream Name='stdout'>!</r:Stream></r:ReceiveResponse>");
        assert!(bad.received().unwrap_err().is_invalid_text());
        assert!(answer("").received().unwrap_err().is_protocol());
    }

    #[test]
    fn the_first_data_of_a_connection_are_handed_over() {
        let xml = "<r:ConnectResponse><p:connectResponseXml>AAEC</p:connectResponseXml></r:ConnectResponse>";
        assert_eq!(answer(xml).connected().unwrap(), [0, 1, 2]);
        assert_eq!(answer("<r:ConnectResponse/>").connected().unwrap(), []);
    }

    #[test]
    fn lists_have_pages() {
        let shell = format!(
            "<r:Shell><r:ShellId>{ID}</r:ShellId><r:Name>a&#7;</r:Name><r:State>Disconnected</r:State>\
             <r:ResourceUri>http://schemas.microsoft.com/PowerShell/Microsoft.PowerShell</r:ResourceUri></r:Shell>"
        );
        let first = format!(
            "<n:EnumerateResponse><w:Items>{shell}<r:Other/></w:Items><n:EnumerationContext>next</n:EnumerationContext>\
             </n:EnumerateResponse>"
        );
        let page = answer(&first).shells().unwrap();
        assert_eq!(page.context.as_deref(), Some("next"));
        assert_eq!(page.items.len(), 1);
        assert_eq!((page.items[0].id, page.items[0].name.as_deref()), (ID, Some("a\\u{7}")));
        assert!(page.items[0].is_power_shell());
        let last = "<n:PullResponse><n:Items/><n:EnumerationContext>x</n:EnumerationContext><n:EndOfSequence/></n:PullResponse>";
        assert!(answer(last).commands().unwrap().context.is_none());
        let bad = "<n:PullResponse><n:Items><r:Command><r:CommandId>1</r:CommandId></r:Command></n:Items></n:PullResponse>";
        assert!(answer(bad).commands().unwrap_err().is_protocol());
    }

    proptest! {
        #[test]
        fn any_body_leads_to_an_answer_or_an_error(
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
            if let Ok(answer) = Answer::read(envelope(&pieces.concat()).as_bytes(), "Test", ID) {
                let _ = (answer.shell_id(), answer.command_id(), answer.connected(), answer.received());
                let _ = (answer.shells(), answer.commands());
            }
        }
    }
}
