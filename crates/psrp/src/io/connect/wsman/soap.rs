//! Writer for WS-Management request envelopes.

use std::time::Duration;

use quick_xml::escape::escape;
use uuid::Uuid;
use uuid::fmt::Hyphenated;

use super::xml::Namespace;
use crate::b64;
use crate::fragment::Priority;

const ANONYMOUS: &str = "http://schemas.xmlsoap.org/ws/2004/08/addressing/role/anonymous";
const PREFIXES: [(&str, Namespace); 6] = [
    ("s", Namespace::Soap),
    ("a", Namespace::Addressing),
    ("w", Namespace::Wsman),
    ("rsp", Namespace::Shell),
    ("n", Namespace::Enumeration),
    ("x", Namespace::Transfer),
];
const MICROSOFT: &str = "http://schemas.microsoft.com/wbem/wsman/1/wsman.xsd";
/// Resources to enumerate: all shells, and all commands of shells.
const SHELLS: &str = "http://schemas.microsoft.com/wbem/wsman/1/windows/shell";
const COMMANDS: &str = "http://schemas.microsoft.com/wbem/wsman/1/windows/shell/Command";
/// Signal that stops a pipeline. PowerShell has the same misspelling of `ctrl_c`.
const INTERRUPT: &str = "powershell/signal/crtl_c";
const TERMINATE: &str = "http://schemas.microsoft.com/wbem/wsman/1/windows/shell/signal/terminate";
/// Maximum items per list page.
const MAX_ELEMENTS: &str = "32000";
/// Minimum protocol version that the server must support.
const PROTOCOL: &str = "2.3";

/// Settings shared by all requests to a service.
#[derive(Clone, Debug)]
pub(super) struct RequestSettings {
    pub(super) endpoint: Box<str>,
    pub(super) resource: Box<str>,
    pub(super) locale: Box<str>,
    pub(super) session_id: Uuid,
    pub(super) max_envelope_size: usize,
    pub(super) operation_timeout: Duration,
}

/// Operation of a request (MS-WSMV 3.1.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operation<'a> {
    /// Creates a shell, for a pool.
    Create { shell: Uuid, data: &'a [u8], options: &'a ShellOptions },
    /// Connects to a disconnected shell.
    Connect { shell: &'a str, data: &'a [u8] },
    /// Connects to a command of a disconnected shell.
    ConnectCommand { shell: &'a str, command: Uuid },
    /// Creates a command, for a pipeline.
    Command { shell: &'a str, command: Uuid, data: &'a [u8] },
    /// Sends data to a shell or command.
    Send { shell: &'a str, command: Option<&'a str>, priority: Priority, data: &'a [u8] },
    /// Waits for output of a shell or command.
    Receive { shell: &'a str, command: Option<&'a str> },
    /// Stops a command.
    Interrupt { shell: &'a str, command: &'a str },
    /// Terminates a command.
    Terminate { shell: &'a str, command: &'a str },
    /// Deletes a shell.
    Delete { shell: &'a str },
    /// Disconnects from a shell.
    Disconnect { shell: &'a str },
    /// Reconnects to a shell that this client has disconnected from.
    Reconnect { shell: &'a str },
    /// Lists shells.
    Shells,
    /// Lists the commands of a shell.
    Commands { shell: &'a str },
    /// Requests the next page of a list.
    Pull { of_commands: bool, context: &'a str },
}

/// Options of a new shell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ShellOptions {
    pub(super) name: Option<String>,
    pub(super) idle_timeout: Option<Duration>,
    pub(super) no_profile: bool,
}

impl Operation<'_> {
    /// Operation name, as used in errors.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Create { .. } => "Create",
            Self::Connect { .. } | Self::ConnectCommand { .. } => "Connect",
            Self::Command { .. } => "Command",
            Self::Send { .. } => "Send",
            Self::Receive { .. } => "Receive",
            Self::Interrupt { .. } | Self::Terminate { .. } => "Signal",
            Self::Delete { .. } => "Delete",
            Self::Disconnect { .. } => "Disconnect",
            Self::Reconnect { .. } => "Reconnect",
            Self::Shells | Self::Commands { .. } => "Enumerate",
            Self::Pull { .. } => "Pull",
        }
    }

    fn namespace(&self) -> Namespace {
        match self {
            Self::Create { .. } | Self::Delete { .. } => Namespace::Transfer,
            Self::Shells | Self::Commands { .. } | Self::Pull { .. } => Namespace::Enumeration,
            _ => Namespace::Shell,
        }
    }

    fn resource<'s>(&self, settings: &'s RequestSettings) -> &'s str {
        match self {
            Self::Shells | Self::Pull { of_commands: false, .. } => SHELLS,
            Self::Commands { .. } | Self::Pull { of_commands: true, .. } => COMMANDS,
            _ => &settings.resource,
        }
    }

    fn shell(&self) -> Option<&str> {
        match self {
            Self::Create { .. } | Self::Shells | Self::Commands { .. } | Self::Pull { .. } => None,
            Self::Connect { shell, .. }
            | Self::ConnectCommand { shell, .. }
            | Self::Command { shell, .. }
            | Self::Send { shell, .. }
            | Self::Receive { shell, .. }
            | Self::Interrupt { shell, .. }
            | Self::Terminate { shell, .. }
            | Self::Delete { shell }
            | Self::Disconnect { shell }
            | Self::Reconnect { shell } => Some(shell),
        }
    }

    /// Returns the options as name, value, and whether the server must comply.
    fn options(&self) -> Vec<(&'static str, &'static str, bool)> {
        match self {
            Self::Create { options, .. } => {
                let mut all = vec![("protocolversion", PROTOCOL, true)];
                if options.no_profile {
                    all.push(("WINRS_NOPROFILE", "TRUE", true));
                }
                all
            }
            Self::Connect { .. } => vec![("protocolversion", PROTOCOL, true)],
            // The service responds within the operation timeout even without output.
            Self::Receive { .. } => vec![("WSMAN_CMDSHELL_OPTION_KEEPALIVE", "TRUE", false)],
            _ => Vec::new(),
        }
    }

    /// Encodes the envelope.
    pub(super) fn envelope(&self, settings: &RequestSettings, message_id: Uuid) -> Vec<u8> {
        let mut xml =
            Xml(Vec::with_capacity(2048 + self.data().map_or(0, |data| b64::encoded_len(data.len()))));
        xml.raw("<s:Envelope");
        for (prefix, namespace) in PREFIXES {
            xml.raw(" xmlns:").raw(prefix).raw("=\"").raw(namespace.uri()).raw("\"");
        }
        xml.raw("><s:Header>");
        self.header(&mut xml, settings, message_id);
        xml.raw("</s:Header><s:Body>");
        self.body(&mut xml);
        xml.raw("</s:Body></s:Envelope>");
        xml.0
    }

    fn header(&self, xml: &mut Xml, settings: &RequestSettings, message_id: Uuid) {
        const MUST: &str = " s:mustUnderstand=\"true\"";

        xml.raw("<a:Action").raw(MUST).raw(">").raw(self.namespace().uri()).raw("/").raw(self.name());
        xml.raw("</a:Action><a:To>").text(&settings.endpoint);
        xml.raw("</a:To><a:ReplyTo><a:Address").raw(MUST).raw(">").raw(ANONYMOUS);
        xml.raw("</a:Address></a:ReplyTo><a:MessageID>").uuid(message_id).raw("</a:MessageID>");
        xml.raw("<w:ResourceURI").raw(MUST).raw(">").text(self.resource(settings)).raw("</w:ResourceURI>");
        xml.raw("<w:MaxEnvelopeSize").raw(MUST).raw(">").raw(&settings.max_envelope_size.to_string());
        xml.raw("</w:MaxEnvelopeSize><w:OperationTimeout>").duration(settings.operation_timeout);
        xml.raw("</w:OperationTimeout><w:Locale s:mustUnderstand=\"false\" xml:lang=\"")
            .text(&settings.locale);
        xml.raw("\"/><m:DataLocale xmlns:m=\"").raw(MICROSOFT);
        xml.raw("\" s:mustUnderstand=\"false\" xml:lang=\"").text(&settings.locale);
        xml.raw("\"/><m:SessionId xmlns:m=\"").raw(MICROSOFT).raw("\" s:mustUnderstand=\"false\">");
        xml.uuid(settings.session_id).raw("</m:SessionId>");
        let options = self.options();
        if !options.is_empty() {
            xml.raw("<w:OptionSet").raw(MUST).raw(">");
            for (name, value, must_comply) in options {
                xml.raw("<w:Option Name=\"").raw(name).raw("\"");
                xml.raw(if must_comply { " MustComply=\"true\">" } else { ">" });
                xml.raw(value).raw("</w:Option>");
            }
            xml.raw("</w:OptionSet>");
        }
        if let Some(shell) = self.shell() {
            xml.selector(shell);
        }
    }

    fn data(&self) -> Option<&[u8]> {
        match self {
            Self::Create { data, .. }
            | Self::Connect { data, .. }
            | Self::Command { data, .. }
            | Self::Send { data, .. } => Some(data),
            _ => None,
        }
    }

    fn body(&self, xml: &mut Xml) {
        match *self {
            Self::Create { shell, data, options } => {
                xml.raw("<rsp:Shell ShellId=\"").guid(shell).raw("\"");
                if let Some(name) = &options.name {
                    xml.raw(" Name=\"").text(name).raw("\"");
                }
                xml.raw("><rsp:InputStreams>stdin pr</rsp:InputStreams>");
                xml.raw("<rsp:OutputStreams>stdout</rsp:OutputStreams>");
                if let Some(timeout) = options.idle_timeout {
                    xml.raw("<rsp:IdleTimeOut>").duration(timeout).raw("</rsp:IdleTimeOut>");
                }
                xml.content("creationXml", data).raw("</rsp:Shell>");
            }
            Self::Connect { data, .. } => {
                xml.raw("<rsp:Connect>").content("connectXml", data).raw("</rsp:Connect>");
            }
            Self::ConnectCommand { command, .. } => {
                xml.raw("<rsp:Connect CommandId=\"").guid(command).raw("\"/>");
            }
            Self::Command { command, data, .. } => {
                xml.raw("<rsp:CommandLine CommandId=\"").guid(command).raw("\"><rsp:Command/>");
                xml.raw("<rsp:Arguments>").base64(data).raw("</rsp:Arguments></rsp:CommandLine>");
            }
            Self::Send { command, priority, data, .. } => {
                xml.raw("<rsp:Send><rsp:Stream Name=\"").raw(match priority {
                    Priority::Default => "stdin",
                    Priority::PromptResponse => "pr",
                });
                xml.raw("\"").command(command).raw(">").base64(data).raw("</rsp:Stream></rsp:Send>");
            }
            Self::Receive { command, .. } => {
                xml.raw("<rsp:Receive><rsp:DesiredStream").command(command);
                xml.raw(">stdout</rsp:DesiredStream></rsp:Receive>");
            }
            Self::Interrupt { command, .. } => xml.signal(command, INTERRUPT),
            Self::Terminate { command, .. } => xml.signal(command, TERMINATE),
            Self::Disconnect { .. } => {
                xml.raw("<rsp:Disconnect/>");
            }
            Self::Delete { .. } | Self::Reconnect { .. } => {}
            Self::Shells | Self::Commands { .. } => {
                xml.raw("<n:Enumerate><w:OptimizeEnumeration/><w:MaxElements>").raw(MAX_ELEMENTS);
                xml.raw("</w:MaxElements>");
                if let Self::Commands { shell } = self {
                    xml.raw(
                        "<w:Filter Dialect=\"http://schemas.dmtf.org/wbem/wsman/1/wsman/SelectorFilter\">",
                    );
                    xml.selector(shell).raw("</w:Filter>");
                }
                xml.raw("</n:Enumerate>");
            }
            Self::Pull { context, .. } => {
                xml.raw("<n:Pull><n:EnumerationContext>").text(context);
                xml.raw("</n:EnumerationContext><w:MaxElements>").raw(MAX_ELEMENTS);
                xml.raw("</w:MaxElements></n:Pull>");
            }
        }
    }
}

/// Maximum bytes of data that fit into an envelope for every operation.
pub(super) fn max_data(settings: &RequestSettings) -> usize {
    // Create is the longest request with data. Its shell name and longer durations take less than this.
    const SPARE: usize = 512;
    let options = ShellOptions { name: None, idle_timeout: Some(Duration::MAX), no_profile: true };
    let longest = Operation::Create { shell: Uuid::nil(), data: &[], options: &options };
    let room =
        settings.max_envelope_size.saturating_sub(longest.envelope(settings, Uuid::nil()).len() + SPARE);
    room / 4 * 3
}

/// XML buffer. Strings are concatenated by hand because the requests are fixed templates.
struct Xml(Vec<u8>);

impl Xml {
    fn raw(&mut self, text: &str) -> &mut Self {
        self.0.extend_from_slice(text.as_bytes());
        self
    }

    fn text(&mut self, text: &str) -> &mut Self {
        self.raw(&escape(text))
    }

    fn base64(&mut self, data: &[u8]) -> &mut Self {
        b64::encode(data, &mut self.0);
        self
    }

    /// Writes data as an element of PowerShell's namespace. The element declares the namespace itself because the
    /// service passes it on as a separate document.
    fn content(&mut self, name: &str, data: &[u8]) -> &mut Self {
        self.raw("<").raw(name).raw(" xmlns=\"").raw(Namespace::PowerShell.uri()).raw("\">");
        self.base64(data).raw("</").raw(name).raw(">")
    }

    /// Upper case, as Windows writes shell identifiers.
    fn guid(&mut self, id: Uuid) -> &mut Self {
        self.raw(id.as_hyphenated().encode_upper(&mut [0; Hyphenated::LENGTH]))
    }

    fn uuid(&mut self, id: Uuid) -> &mut Self {
        self.raw("uuid:").guid(id)
    }

    fn duration(&mut self, duration: Duration) -> &mut Self {
        self.raw(&format!("PT{}.{:03}S", duration.as_secs(), duration.subsec_millis()))
    }

    fn selector(&mut self, shell: &str) -> &mut Self {
        self.raw("<w:SelectorSet><w:Selector Name=\"ShellId\">")
            .text(shell)
            .raw("</w:Selector></w:SelectorSet>")
    }

    fn command(&mut self, command: Option<&str>) -> &mut Self {
        if let Some(command) = command {
            self.raw(" CommandId=\"").text(command).raw("\"");
        }
        self
    }

    fn signal(&mut self, command: &str, code: &str) {
        self.raw("<rsp:Signal").command(Some(command)).raw("><rsp:Code>").raw(code);
        self.raw("</rsp:Code></rsp:Signal>");
    }
}

#[cfg(test)]
mod tests {
    use super::super::xml::XmlElement;
    use super::*;

    fn settings() -> RequestSettings {
        RequestSettings {
            endpoint: "https://server.example.org:5986/wsman?a&b".into(),
            resource: "http://schemas.microsoft.com/powershell/Microsoft.PowerShell".into(),
            locale: "en-US".into(),
            session_id: Uuid::from_u128(0xA),
            max_envelope_size: 153_600,
            operation_timeout: Duration::from_millis(20_500),
        }
    }

    fn parse(operation: Operation<'_>) -> (XmlElement, XmlElement) {
        let envelope = operation.envelope(&settings(), Uuid::from_u128(0xB));
        let root = XmlElement::parse(&envelope).unwrap();
        assert!(root.is(Namespace::Soap, "Envelope"));
        let mut parts = root.into_children();
        let body = parts.pop().unwrap();
        (parts.pop().unwrap(), body)
    }

    #[test]
    fn header_contains_action_target_and_limits() {
        let (header, body) = parse(Operation::Receive { shell: "ID<", command: Some("C&D") });
        let text = |namespace, name| header.child_text(namespace, name).unwrap().to_owned();
        assert_eq!(
            text(Namespace::Addressing, "Action"),
            "http://schemas.microsoft.com/wbem/wsman/1/windows/shell/Receive"
        );
        assert_eq!(text(Namespace::Addressing, "To"), "https://server.example.org:5986/wsman?a&b");
        assert_eq!(text(Namespace::Addressing, "MessageID"), "uuid:00000000-0000-0000-0000-00000000000B");
        assert_eq!(text(Namespace::Wsman, "MaxEnvelopeSize"), "153600");
        assert_eq!(text(Namespace::Wsman, "OperationTimeout"), "PT20.500S");
        let selector = [(Namespace::Wsman, "SelectorSet"), (Namespace::Wsman, "Selector")];
        assert_eq!(header.at(&selector).unwrap().text(), "ID<");
        let desired = [(Namespace::Shell, "Receive"), (Namespace::Shell, "DesiredStream")];
        assert_eq!(body.at(&desired).unwrap().attribute("CommandId"), Some("C&D"));
    }

    #[test]
    fn data_is_base64_encoded_in_every_request() {
        let data = b"test data";
        let options = ShellOptions {
            name: Some("a \"name\"".into()),
            idle_timeout: Some(Duration::from_secs(60)),
            no_profile: true,
        };
        let (shell, command) = ("S", Uuid::from_u128(0xC));
        let create = Operation::Create { shell: Uuid::from_u128(0xD), data, options: &options };
        let of_shell = (Namespace::Shell, "Shell");
        for (operation, path) in [
            (create, [of_shell, (Namespace::PowerShell, "creationXml")]),
            (
                Operation::Connect { shell, data },
                [(Namespace::Shell, "Connect"), (Namespace::PowerShell, "connectXml")],
            ),
            (
                Operation::Command { shell, command, data },
                [(Namespace::Shell, "CommandLine"), (Namespace::Shell, "Arguments")],
            ),
            (
                Operation::Send { shell, command: None, priority: Priority::PromptResponse, data },
                [(Namespace::Shell, "Send"), (Namespace::Shell, "Stream")],
            ),
        ] {
            let (_, body) = parse(operation);
            assert_eq!(body.at(&path).unwrap().text(), "dGVzdCBkYXRh", "{operation:?}");
        }
        let (header, body) = parse(create);
        let shell = body.at(&[of_shell]).unwrap();
        assert_eq!(shell.attribute("Name"), Some("a \"name\""));
        assert_eq!(shell.child_text(Namespace::Shell, "IdleTimeOut"), Some("PT60.000S"));
        let options: Vec<_> = header
            .child(Namespace::Wsman, "OptionSet")
            .unwrap()
            .children()
            .map(|option| (option.attribute("Name").unwrap(), option.text()))
            .collect();
        assert_eq!(options, [("protocolversion", "2.3"), ("WINRS_NOPROFILE", "TRUE")]);
    }

    #[test]
    fn max_data_fits_into_the_envelope() {
        for max_envelope_size in [8192, 153_600, 512_000] {
            let settings = RequestSettings { max_envelope_size, ..settings() };
            let data = vec![0; max_data(&settings)];
            let shell = "00000000-0000-0000-0000-000000000000";
            let options = ShellOptions {
                name: Some("session".into()),
                idle_timeout: Some(Duration::MAX),
                no_profile: true,
            };
            for operation in [
                Operation::Create { shell: Uuid::nil(), data: &data, options: &options },
                Operation::Connect { shell, data: &data },
                Operation::Command { shell, command: Uuid::nil(), data: &data },
                Operation::Send { shell, command: Some(shell), priority: Priority::Default, data: &data },
            ] {
                let len = operation.envelope(&settings, Uuid::nil()).len();
                assert!(len <= max_envelope_size && len + 2048 > max_envelope_size, "{len}");
            }
        }
        assert_eq!(max_data(&RequestSettings { max_envelope_size: 100, ..settings() }), 0);
    }
}
