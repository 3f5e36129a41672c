//! Writer for WS-Management request envelopes.

use std::time::Duration;

use quick_xml::escape::escape;
use uuid::Uuid;

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
        let mut namespaces = String::new();
        for (prefix, namespace) in PREFIXES {
            namespaces += &format!(" xmlns:{prefix}=\"{}\"", namespace.uri());
        }
        let (header, body) = (self.header(settings, message_id), self.body());
        format!("<s:Envelope{namespaces}><s:Header>{header}</s:Header><s:Body>{body}</s:Body></s:Envelope>")
            .into_bytes()
    }

    fn header(&self, settings: &RequestSettings, message_id: Uuid) -> String {
        const MUST: &str = "s:mustUnderstand=\"true\"";
        const OPTIONAL: &str = "s:mustUnderstand=\"false\"";

        let RequestSettings { session_id, max_envelope_size, operation_timeout, .. } = *settings;
        let (to, locale) = (escape(&*settings.endpoint), escape(&*settings.locale));
        let (namespace, name) = (self.namespace().uri(), self.name());
        let (resource, timeout) = (escape(self.resource(settings)), duration(operation_timeout));
        let mut header = format!(
            "<a:Action {MUST}>{namespace}/{name}</a:Action><a:To>{to}</a:To>\
             <a:ReplyTo><a:Address {MUST}>{ANONYMOUS}</a:Address></a:ReplyTo>\
             <a:MessageID>uuid:{message_id:X}</a:MessageID>\
             <w:ResourceURI {MUST}>{resource}</w:ResourceURI>\
             <w:MaxEnvelopeSize {MUST}>{max_envelope_size}</w:MaxEnvelopeSize>\
             <w:OperationTimeout>{timeout}</w:OperationTimeout>\
             <w:Locale {OPTIONAL} xml:lang=\"{locale}\"/>\
             <m:DataLocale xmlns:m=\"{MICROSOFT}\" {OPTIONAL} xml:lang=\"{locale}\"/>\
             <m:SessionId xmlns:m=\"{MICROSOFT}\" {OPTIONAL}>uuid:{session_id:X}</m:SessionId>"
        );
        let options = self.options();
        if !options.is_empty() {
            header += &format!("<w:OptionSet {MUST}>");
            for (name, value, must_comply) in options {
                let must_comply = if must_comply { " MustComply=\"true\"" } else { "" };
                header += &format!("<w:Option Name=\"{name}\"{must_comply}>{value}</w:Option>");
            }
            header += "</w:OptionSet>";
        }
        header + &self.shell().map(selector).unwrap_or_default()
    }

    fn body(&self) -> String {
        match *self {
            Self::Create { shell, data, options } => {
                let attribute = |name: &String| format!(" Name=\"{}\"", escape(name));
                let name = options.name.as_ref().map(attribute).unwrap_or_default();
                let timeout = |time| format!("<rsp:IdleTimeOut>{}</rsp:IdleTimeOut>", duration(time));
                let timeout = options.idle_timeout.map(timeout).unwrap_or_default();
                let content = content("creationXml", data);
                format!(
                    "<rsp:Shell ShellId=\"{shell:X}\"{name}><rsp:InputStreams>stdin pr</rsp:InputStreams>\
                     <rsp:OutputStreams>stdout</rsp:OutputStreams>{timeout}{content}</rsp:Shell>"
                )
            }
            Self::Connect { data, .. } => {
                format!("<rsp:Connect>{}</rsp:Connect>", content("connectXml", data))
            }
            Self::ConnectCommand { command, .. } => format!("<rsp:Connect CommandId=\"{command:X}\"/>"),
            Self::Command { command, data, .. } => {
                let data = b64::encode_to_string(data);
                format!(
                    "<rsp:CommandLine CommandId=\"{command:X}\"><rsp:Command/>\
                     <rsp:Arguments>{data}</rsp:Arguments></rsp:CommandLine>"
                )
            }
            Self::Send { command, priority, data, .. } => {
                let name = match priority {
                    Priority::Default => "stdin",
                    Priority::PromptResponse => "pr",
                };
                let (command, data) = (command_attribute(command), b64::encode_to_string(data));
                format!("<rsp:Send><rsp:Stream Name=\"{name}\"{command}>{data}</rsp:Stream></rsp:Send>")
            }
            Self::Receive { command, .. } => {
                let command = command_attribute(command);
                format!("<rsp:Receive><rsp:DesiredStream{command}>stdout</rsp:DesiredStream></rsp:Receive>")
            }
            Self::Interrupt { command, .. } => signal(command, INTERRUPT),
            Self::Terminate { command, .. } => signal(command, TERMINATE),
            Self::Disconnect { .. } => "<rsp:Disconnect/>".into(),
            Self::Delete { .. } | Self::Reconnect { .. } => String::new(),
            Self::Shells => enumerate(""),
            Self::Commands { shell } => {
                const DIALECT: &str = "http://schemas.dmtf.org/wbem/wsman/1/wsman/SelectorFilter";
                enumerate(&format!("<w:Filter Dialect=\"{DIALECT}\">{}</w:Filter>", selector(shell)))
            }
            Self::Pull { context, .. } => format!(
                "<n:Pull><n:EnumerationContext>{}</n:EnumerationContext>\
                 <w:MaxElements>{MAX_ELEMENTS}</w:MaxElements></n:Pull>",
                escape(context)
            ),
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

/// Returns data as an element of PowerShell's namespace. The element declares the namespace itself because the service
/// passes it on as a separate document.
fn content(name: &str, data: &[u8]) -> String {
    format!("<{name} xmlns=\"{}\">{}</{name}>", Namespace::PowerShell.uri(), b64::encode_to_string(data))
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

fn signal(command: &str, code: &str) -> String {
    let command = command_attribute(Some(command));
    format!("<rsp:Signal{command}><rsp:Code>{code}</rsp:Code></rsp:Signal>")
}

fn enumerate(filter: &str) -> String {
    format!(
        "<n:Enumerate><w:OptimizeEnumeration/><w:MaxElements>{MAX_ELEMENTS}</w:MaxElements>{filter}</n:Enumerate>"
    )
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
