//! Writer for WS-Management request envelopes.

use std::time::Duration;

use quick_xml::escape::escape;
use uuid::Uuid;

use super::{Wsman, WsmanBufferMode};
use crate::b64;
use crate::fragment::Priority;

const ANONYMOUS: &str = "http://schemas.xmlsoap.org/ws/2004/08/addressing/role/anonymous";
const ENUMERATION: &str = "http://schemas.xmlsoap.org/ws/2004/09/enumeration";
const TRANSFER: &str = "http://schemas.xmlsoap.org/ws/2004/09/transfer";
const SHELL: &str = "http://schemas.microsoft.com/wbem/wsman/1/windows/shell";
const MICROSOFT: &str = "http://schemas.microsoft.com/wbem/wsman/1/wsman.xsd";
/// Resource URI to enumerate the commands of a shell.
const COMMANDS: &str = "http://schemas.microsoft.com/wbem/wsman/1/windows/shell/Command";
/// Signal that stops a pipeline. PowerShell has the same misspelling of `ctrl_c`.
pub(super) const INTERRUPT: &str = "powershell/signal/crtl_c";
pub(super) const TERMINATE: &str = "http://schemas.microsoft.com/wbem/wsman/1/windows/shell/signal/terminate";
/// Maximum items per list page.
const MAX_ELEMENTS: &str = "32000";
/// Minimum protocol version that the server must support.
const PROTOCOL: &str = "<w:Option Name=\"protocolversion\" MustComply=\"true\">2.3</w:Option>";
/// The service responds within the operation timeout even without output.
const KEEP_ALIVE: &str = "<w:Option Name=\"WSMAN_CMDSHELL_OPTION_KEEPALIVE\">TRUE</w:Option>";

/// Request of an operation (MS-WSMV 3.1.4).
#[derive(Debug)]
pub(super) struct Request {
    /// Operation name, as used in errors.
    pub(super) name: &'static str,
    namespace: &'static str,
    /// Resource URI of an enumeration. With `None`, the URI of the session configuration is used.
    resource: Option<&'static str>,
    /// Shell that is selected in the header.
    shell: Option<Box<str>>,
    options: &'static str,
    body: String,
}

impl Request {
    fn new(name: &'static str, shell: &str, body: String) -> Self {
        Self { name, namespace: SHELL, resource: None, shell: Some(shell.into()), options: "", body }
    }

    pub(super) fn create(shell: Uuid, data: &[u8], idle_timeout: Option<Duration>) -> Self {
        let timeout = |time| format!("<rsp:IdleTimeOut>{}</rsp:IdleTimeOut>", duration(time));
        let body = format!(
            "<rsp:Shell ShellId=\"{shell:X}\"><rsp:InputStreams>stdin pr</rsp:InputStreams>\
             <rsp:OutputStreams>stdout</rsp:OutputStreams>{}{}</rsp:Shell>",
            idle_timeout.map(timeout).unwrap_or_default(),
            content("creationXml", data)
        );
        Self { namespace: TRANSFER, shell: None, options: PROTOCOL, ..Self::new("Create", "", body) }
    }

    pub(super) fn connect(shell: &str, data: &[u8]) -> Self {
        let body = format!("<rsp:Connect>{}</rsp:Connect>", content("connectXml", data));
        Self { options: PROTOCOL, ..Self::new("Connect", shell, body) }
    }

    /// Connects to a command of a disconnected shell.
    pub(super) fn connect_command(shell: &str, command: Uuid) -> Self {
        Self::new("Connect", shell, format!("<rsp:Connect CommandId=\"{command:X}\"/>"))
    }

    pub(super) fn command(shell: &str, command: Uuid, data: &[u8]) -> Self {
        let data = b64::encode_to_string(data);
        let body = format!(
            "<rsp:CommandLine CommandId=\"{command:X}\"><rsp:Command/>\
             <rsp:Arguments>{data}</rsp:Arguments></rsp:CommandLine>"
        );
        Self::new("Command", shell, body)
    }

    /// Sends data to a shell or command.
    pub(super) fn send(shell: &str, command: Option<&str>, priority: Priority, data: &[u8]) -> Self {
        let name = match priority {
            Priority::Default => "stdin",
            Priority::PromptResponse => "pr",
        };
        let (command, data) = (command_attribute(command), b64::encode_to_string(data));
        let body = format!("<rsp:Send><rsp:Stream Name=\"{name}\"{command}>{data}</rsp:Stream></rsp:Send>");
        Self::new("Send", shell, body)
    }

    /// Waits for output of a shell or command.
    pub(super) fn receive(shell: &str, command: Option<&str>) -> Self {
        let command = command_attribute(command);
        let body =
            format!("<rsp:Receive><rsp:DesiredStream{command}>stdout</rsp:DesiredStream></rsp:Receive>");
        Self { options: KEEP_ALIVE, ..Self::new("Receive", shell, body) }
    }

    /// Sends [`INTERRUPT`] or [`TERMINATE`].
    pub(super) fn signal(shell: &str, command: Option<&str>, code: &str) -> Self {
        let command = command_attribute(command);
        Self::new("Signal", shell, format!("<rsp:Signal{command}><rsp:Code>{code}</rsp:Code></rsp:Signal>"))
    }

    pub(super) fn delete(shell: &str) -> Self {
        Self { namespace: TRANSFER, ..Self::new("Delete", shell, String::new()) }
    }

    pub(super) fn disconnect(shell: &str, mode: Option<WsmanBufferMode>) -> Self {
        let mode = match mode {
            None => "",
            Some(WsmanBufferMode::Block) => "<rsp:BufferMode>Block</rsp:BufferMode>",
            Some(WsmanBufferMode::Drop) => "<rsp:BufferMode>Drop</rsp:BufferMode>",
        };
        Self::new("Disconnect", shell, format!("<rsp:Disconnect>{mode}</rsp:Disconnect>"))
    }

    /// Reconnects to a shell that this client has disconnected from.
    pub(super) fn reconnect(shell: &str) -> Self {
        Self::new("Reconnect", shell, String::new())
    }

    fn list(name: &'static str, resource: &'static str, body: String) -> Self {
        Self { namespace: ENUMERATION, resource: Some(resource), shell: None, ..Self::new(name, "", body) }
    }

    fn enumerate(resource: &'static str, filter: &str) -> Self {
        let body = format!(
            "<n:Enumerate><w:OptimizeEnumeration/><w:MaxElements>{MAX_ELEMENTS}</w:MaxElements>{filter}</n:Enumerate>"
        );
        Self::list("Enumerate", resource, body)
    }

    pub(super) fn shells() -> Self {
        Self::enumerate(SHELL, "")
    }

    pub(super) fn commands(shell: &str) -> Self {
        const DIALECT: &str = "http://schemas.dmtf.org/wbem/wsman/1/wsman/SelectorFilter";
        Self::enumerate(COMMANDS, &format!("<w:Filter Dialect=\"{DIALECT}\">{}</w:Filter>", selector(shell)))
    }

    /// Requests the next page of this list.
    pub(super) fn next_page(&self, context: &str) -> Self {
        let body = format!(
            "<n:Pull><n:EnumerationContext>{}</n:EnumerationContext>\
             <w:MaxElements>{MAX_ELEMENTS}</w:MaxElements></n:Pull>",
            escape(context)
        );
        Self::list("Pull", self.resource.unwrap_or_default(), body)
    }

    pub(super) fn envelope(&self, wsman: &Wsman, session_id: Uuid, message_id: Uuid) -> Vec<u8> {
        const MUST: &str = "s:mustUnderstand=\"true\"";
        const LOCALE: &str = "s:mustUnderstand=\"false\" xml:lang=\"en-US\"";

        let Self { name, namespace, body, .. } = self;
        let (to, configuration) = (wsman.endpoint(), wsman.resource());
        let (to, resource) = (escape(&to), escape(self.resource.unwrap_or(&configuration)));
        let (max_envelope_size, timeout) = (wsman.max_envelope_size, duration(wsman.operation_timeout));
        let options = match self.options {
            "" => String::new(),
            options => format!("<w:OptionSet {MUST}>{options}</w:OptionSet>"),
        };
        let selector = self.shell.as_deref().map(selector).unwrap_or_default();
        format!(
            "<s:Envelope xmlns:s=\"http://www.w3.org/2003/05/soap-envelope\" \
             xmlns:a=\"http://schemas.xmlsoap.org/ws/2004/08/addressing\" \
             xmlns:w=\"http://schemas.dmtf.org/wbem/wsman/1/wsman.xsd\" \
             xmlns:rsp=\"{SHELL}\" xmlns:n=\"{ENUMERATION}\" xmlns:x=\"{TRANSFER}\"><s:Header>\
             <a:Action {MUST}>{namespace}/{name}</a:Action><a:To>{to}</a:To>\
             <a:ReplyTo><a:Address {MUST}>{ANONYMOUS}</a:Address></a:ReplyTo>\
             <a:MessageID>uuid:{message_id:X}</a:MessageID>\
             <w:ResourceURI {MUST}>{resource}</w:ResourceURI>\
             <w:MaxEnvelopeSize {MUST}>{max_envelope_size}</w:MaxEnvelopeSize>\
             <w:OperationTimeout>{timeout}</w:OperationTimeout>\
             <w:Locale {LOCALE}/><m:DataLocale xmlns:m=\"{MICROSOFT}\" {LOCALE}/>\
             <m:SessionId xmlns:m=\"{MICROSOFT}\" s:mustUnderstand=\"false\">uuid:{session_id:X}</m:SessionId>\
             {options}{selector}</s:Header><s:Body>{body}</s:Body></s:Envelope>"
        )
        .into_bytes()
    }
}

/// Maximum bytes of data that fit into an envelope for every operation.
pub(super) fn max_data(wsman: &Wsman) -> usize {
    // Create is the longest request with data. Longer durations take less than this.
    const SPARE: usize = 512;
    let longest = Request::create(Uuid::nil(), &[], Some(Duration::MAX));
    let len = longest.envelope(wsman, Uuid::nil(), Uuid::nil()).len();
    wsman.max_envelope_size.saturating_sub(len + SPARE) / 4 * 3
}

/// Returns data as an element of PowerShell's namespace. The element declares the namespace itself because the service
/// passes it on as a separate document.
fn content(name: &str, data: &[u8]) -> String {
    let data = b64::encode_to_string(data);
    format!("<{name} xmlns=\"http://schemas.microsoft.com/powershell\">{data}</{name}>")
}

fn duration(duration: Duration) -> String {
    format!("PT{}.{:03}S", duration.as_secs(), duration.subsec_millis())
}

fn selector(shell: &str) -> String {
    let shell = escape(shell);
    format!("<w:SelectorSet><w:Selector Name=\"ShellId\">{shell}</w:Selector></w:SelectorSet>")
}

fn command_attribute(command: Option<&str>) -> String {
    command.map(|command| format!(" CommandId=\"{}\"", escape(command))).unwrap_or_default()
}
