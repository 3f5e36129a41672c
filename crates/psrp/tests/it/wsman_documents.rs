//! Requests and responses of WS-Management as documents, with in-process services.

#![cfg(feature = "wsman")]

use std::error::Error as _;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use proptest::prelude::*;
use psrp::Error;
use psrp::client::Config;
use psrp::io::{Connect, Options, Session, Wsman, WsmanCredentials, WsmanFault, WsmanShell};
use psrp::message::{InitRunspacePool, PowerShell, PrimitiveDictionary, RunspacePoolState};
use psrp::value::Value;
use uuid::Uuid;

use crate::service::{Reply, Request, Shell, between, serve};
use crate::wsman_service::{credentials, wsman};

const ID: &str = "00000000-0000-0000-0000-00000000000A";

/// Returns the shells that a service lists with this response.
async fn list(reply: Reply) -> Result<Vec<WsmanShell>, Error> {
    wsman(serve(move |_| reply.clone()).await).shells().await
}

fn soap(document: &[u8]) -> Reply {
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: application/soap+xml\r\nContent-Length: {}\r\n\r\n",
        document.len()
    );
    Reply::Raw([head.as_bytes(), document].concat())
}

async fn error_of(document: &str) -> Error {
    list(soap(document.as_bytes())).await.unwrap_err()
}

/// Returns the fault of a response with this content.
async fn fault(inner: &str) -> (Error, WsmanFault) {
    let error = list(Reply::Body(format!("<s:Fault>{inner}</s:Fault>"))).await.unwrap_err();
    let fault = error.source().unwrap().downcast_ref::<WsmanFault>().unwrap().clone();
    (error, fault)
}

#[tokio::test]
async fn names_have_no_prefix_and_texts_are_unescaped() {
    for document in [
        "<s:Envelope xmlns:s='s'><s:Body><s:Fault><s:Detail><f:WSManFault xmlns:f='f' f:Code='&#x35;'>\
         <f:Message>a &lt;&#x62;<![CDATA[&c]]></f:Message></f:WSManFault></s:Detail></s:Fault></s:Body></s:Envelope>",
        "\u{FEFF}<?xml version='1.0'?><Envelope xmlns=\"s\"><Body><Fault><Detail><WSManFault Code=\"5\">\
         <Message>a &#60;b&amp;c</Message></WSManFault></Detail></Fault></Body></Envelope>",
    ] {
        let error = error_of(document).await;
        let fault = error.source().unwrap().downcast_ref::<WsmanFault>().unwrap();
        assert_eq!((fault.message(), fault.code()), ("a <b&c", Some(5)));
    }
}

#[tokio::test]
async fn document_types_and_entities_are_rejected() {
    for document in [
        "<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>",
        "<!DOCTYPE a SYSTEM 'http://example.org/'><a/>",
        "<a>&b;</a>",
        "<a b='&c;'/>",
        "<a>&#xD800;</a>",
        "<a b='&#1114112;'/>",
        "<a></b>",
        "text<a/>",
    ] {
        let error = error_of(document).await;
        assert!(error.is_syntax(), "{document}: {error}");
    }
    assert!(list(soap(b"<a>\xff</a>")).await.unwrap_err().is_syntax());
    for document in ["", "<a>", "<a><b/>", "<a", "<a b='", "<!-- "] {
        let error = error_of(document).await;
        assert!(error.is_unexpected_end(), "{document}: {error}");
    }
}

#[tokio::test]
async fn depth_and_size_are_limited() {
    const MAX_DEPTH: usize = 32;
    const MAX_NODES: usize = 64 * 1024;

    let deep = |levels: usize| "<a>".repeat(levels) + &"</a>".repeat(levels);
    let wide = |count: usize| format!("<a>{}</a>", "<b/>".repeat(count - 1));
    let attributes: String = (0..MAX_NODES).map(|number| format!(" b{number}=''")).collect();
    for (document, is_limit) in [
        (deep(MAX_DEPTH), false),
        (deep(MAX_DEPTH + 1), true),
        ("<a>".repeat(1 << 20), true),
        (wide(MAX_NODES), false),
        (wide(MAX_NODES + 1), true),
        (format!("<a{attributes}/>"), true),
    ] {
        let error = error_of(&document).await;
        assert_eq!((error.is_limit(), error.is_protocol()), (is_limit, !is_limit), "{error}");
    }
}

#[tokio::test]
async fn faults_are_read_in_all_their_forms() {
    const CODE: &str =
        "<s:Code><s:Value>s:Receiver</s:Value><s:Subcode><s:Value>w:TimedOut</s:Value></s:Subcode></s:Code>";
    const REASON: &str = "<s:Reason><s:Text>The reason.</s:Text></s:Reason>";

    let detail = |code: &str, message: &str| {
        format!(
            "<s:Detail><f:WSManFault Code='{code}'><f:Message>{message}</f:Message></f:WSManFault></s:Detail>"
        )
    };
    let provider = "<f:ProviderFault provider='p'><f:WSManFault Code='1'><f:Message>Inside.</f:Message></f:WSManFault></f:ProviderFault>";
    let timeout: fn(&Error) -> bool = Error::is_timeout;
    for (inner, text, is_expected) in [
        // The detail is preferred over the reason.
        (
            format!("{CODE}{REASON}{}", detail("2150858793", " The message.\r\n")),
            "The message. (TimedOut, 0x80338029)",
            timeout,
        ),
        (format!("{REASON}{}", detail("0x5", provider)), "Inside. (0x5)", Error::is_denied),
        // Without a Windows code.
        (format!("{CODE}{REASON}"), "The reason. (TimedOut)", timeout),
        (
            "<s:Code><s:Value>s:Sender</s:Value></s:Code>".to_owned(),
            "no reason given (Sender)",
            Error::is_refused,
        ),
        (String::new(), "no reason given", Error::is_refused),
    ] {
        let (error, fault) = fault(&inner).await;
        assert!(is_expected(&error) && fault.to_string() == text, "{error}");
    }

    let (_, long) = fault(&format!("<s:Reason><s:Text>{}</s:Text></s:Reason>", "\u{E9}".repeat(5000))).await;
    assert_eq!(long.message(), format!("{} ...", "\u{E9}".repeat(2048)));
    let long = "\u{E9}".repeat(4096);
    let (error, fault) = fault(&format!("<s:Reason><s:Text>&#x1b;[2J{long}</s:Text></s:Reason>")).await;
    assert!(fault.message().starts_with("\\u{1b}[2J\u{E9}") && fault.message().len() < 4096 + 16);
    assert!(error.is_refused() && !error.to_string().contains('\u{1b}'));
}

#[tokio::test]
async fn list_pages_are_parsed() {
    let shell = format!(
        "<r:Shell><r:ShellId>{ID}</r:ShellId><r:Name>a&#7;</r:Name><r:State>Disconnected</r:State>\
         <r:ShellInactivity>P0DT0H1M2S</r:ShellInactivity>\
         <r:ResourceUri>http://schemas.microsoft.com/PowerShell/Microsoft.PowerShell</r:ResourceUri></r:Shell>"
    );
    let address = serve(move |request| {
        Reply::Body(match &*request.action {
            "Enumerate" if request.envelope.contains("shell/Command") => {
                format!(
                    "<n:PullResponse><n:Items><r:Command><r:CommandId>{ID}</r:CommandId></r:Command></n:Items>\
                     <n:EnumerationContext>x</n:EnumerationContext><n:EndOfSequence/></n:PullResponse>"
                )
            }
            "Enumerate" => format!(
                "<n:EnumerateResponse><w:Items>{shell}<r:Other/></w:Items>\
                 <n:EnumerationContext>next</n:EnumerationContext></n:EnumerateResponse>"
            ),
            _ => {
                assert!(request.envelope.contains("<n:EnumerationContext>next<"));
                "<n:PullResponse><n:Items/><n:EnumerationContext>x</n:EnumerationContext><n:EndOfSequence/></n:PullResponse>".into()
            }
        })
    })
    .await;
    let shells = wsman(address).shells().await.unwrap();
    let [shell] = &shells[..] else { panic!("{shells:?}") };
    let id = Uuid::try_parse(ID).unwrap();
    assert_eq!((shell.id, shell.name.as_deref()), (id, Some("a\\u{7}")));
    assert_eq!((shell.state.as_deref(), shell.idle), (Some("Disconnected"), Some(Duration::from_secs(62))));
    assert!(shell.is_power_shell());
    assert_eq!(wsman(address).pipelines(id).await.unwrap(), [id]);
    let bad =
        "<n:PullResponse><n:Items><r:Shell><r:ShellId>1</r:ShellId></r:Shell></n:Items></n:PullResponse>";
    assert!(list(Reply::Body(bad.into())).await.unwrap_err().is_protocol());
    let without = "<Envelope><Header/><Body/></Envelope>";
    assert!(error_of(without).await.to_string().contains("different request"));
}

/// Moves the data of a response to two streams, with another one between.
fn split_streams(body: &str) -> String {
    let start = "<r:Stream Name='stdout'>";
    let Some(text) = between(body, start, "<") else { return body.to_owned() };
    let data = STANDARD.decode(text).unwrap();
    let (first, second) = data.split_at(data.len() / 2);
    let (first, second) = (STANDARD.encode(first), STANDARD.encode(second));
    let (one, two) = first.split_at(first.len() / 2);
    let other = "<r:Stream Name='stderr'>!</r:Stream>";
    body.replace(
        &format!("{start}{text}<"),
        &format!("{start}{one}\n{two}</r:Stream>{other}{start}{second}<"),
    )
}

#[tokio::test]
async fn the_service_chooses_identifiers_and_splits_streams() {
    let selectors = "<w:ResourceCreated><a:ReferenceParameters><w:SelectorSet><w:Selector Name='Other'>1</w:Selector>\
         <w:Selector Name='ShellId'> A&amp;B </w:Selector></w:SelectorSet></a:ReferenceParameters></w:ResourceCreated>";
    for (created, id) in [
        (selectors, Some("A&amp;B")),
        ("<r:Shell><r:ShellId>DEF</r:ShellId></r:Shell>", Some("DEF")),
        ("", None),
    ] {
        let envelopes = Arc::new(Mutex::new(Vec::new()));
        let (seen, shell, command) = (Arc::clone(&envelopes), Shell::default(), Mutex::new(String::new()));
        let address = serve(move |request| {
            seen.lock().unwrap().push((request.action.clone(), request.envelope.clone()));
            let mut command = command.lock().unwrap();
            if request.action == "Command" {
                *command = between(&request.envelope, "CommandId=\"", "\"").unwrap().to_owned();
            }
            let envelope = request.envelope.replace(ID, &command);
            let reply = shell.answer(&Request { envelope, ..request.clone() });
            match (&*request.action, reply) {
                ("Create", _) => Reply::Body(created.into()),
                ("Command", _) => {
                    let id = format!("<r:CommandId>{ID}</r:CommandId>");
                    Reply::Body(format!("<r:CommandResponse>{id}</r:CommandResponse>"))
                }
                (_, Reply::Body(body)) => Reply::Body(split_streams(&body)),
                (_, reply) => reply,
            }
        })
        .await;
        let pool = Session::open(&wsman(address), Options::new()).await.unwrap();
        let output = pool.invoke(PowerShell::script("hello")).await.unwrap();
        assert_eq!(output.output, [Value::from("hello")]);
        let id = id.map_or_else(|| format!("{:X}", pool.id().as_hyphenated()), Into::into);
        pool.close().await.unwrap();
        let selector = format!("<w:Selector Name=\"ShellId\">{id}</w:Selector>");
        let envelopes = envelopes.lock().unwrap();
        for (action, envelope) in envelopes.iter().filter(|(action, _)| action != "Create") {
            assert!(envelope.contains(&selector), "{action}: {envelope}");
        }
        let received = format!("<rsp:DesiredStream CommandId=\"{ID}\">");
        assert!(envelopes.iter().any(|(_, envelope)| envelope.contains(&received)));
    }
}

#[tokio::test]
async fn another_client_connects_to_a_shell() {
    let address = Shell::default().serve(|_| None).await;
    let first = Session::open(&wsman(address), Options::new()).await.unwrap();
    first.disconnect().await.unwrap();
    let options = Options::new().config(Config::new().pool_id(first.id()));
    let second = Session::connect(&wsman(address), options).await.unwrap();
    assert_eq!(second.state(), RunspacePoolState::Opened);
    let output = second.invoke(PowerShell::script("hello")).await.unwrap();
    assert_eq!(output.output, [Value::from("hello")]);
    second.close().await.unwrap();
}

#[tokio::test]
async fn malformed_output_ends_the_pool() {
    for (body, text) in [
        ("<r:ReceiveResponse><r:Stream Name='stdout'>!</r:Stream></r:ReceiveResponse>", "not Base64"),
        ("<r:Other/>", "without its body element"),
    ] {
        let malformed =
            move |request: &Request| (request.action == "Receive").then(|| Reply::Body(body.into()));
        let error = Session::open(&wsman(Shell::default().serve(malformed).await), Options::new()).await;
        let error = error.unwrap_err();
        assert!(error.to_string().contains(text), "{error}");
    }
}

/// Runs a script of this length and returns the actions and envelopes of all requests.
async fn envelopes(settings: impl FnOnce(Wsman) -> Wsman, len: usize) -> Vec<(String, String)> {
    let envelopes = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&envelopes);
    let record = move |request: &Request| {
        seen.lock().unwrap().push((request.action.clone(), request.envelope.clone()));
        None
    };
    let address = Shell::default().serve(record).await;
    let arguments = PrimitiveDictionary::new([("Text", "y".repeat(len))]);
    let init = InitRunspacePool { application_arguments: Some(arguments), ..InitRunspacePool::default() };
    let options = Options::new().config(Config::new().init(init));
    let pool = Session::open(&settings(wsman(address)), options).await.unwrap();
    pool.invoke(PowerShell::script("x".repeat(len))).await.unwrap();
    pool.close().await.unwrap();
    let envelopes = envelopes.lock().unwrap();
    envelopes.clone()
}

#[tokio::test]
async fn headers_contain_action_target_and_limits() {
    let settings = |wsman: Wsman| {
        let wsman = wsman.path("wsman?a&b").operation_timeout(Duration::from_millis(20_500));
        wsman.idle_timeout(Duration::from_secs(60))
    };
    let envelopes = envelopes(settings, 10).await;
    for (action, parts) in [
        (
            "Receive",
            &[
                "<a:Action s:mustUnderstand=\"true\">http://schemas.microsoft.com/wbem/wsman/1/windows/shell/Receive</",
                "/wsman?a&amp;b</a:To>",
                ">http://schemas.microsoft.com/powershell/Microsoft.PowerShell</w:ResourceURI>",
                ">153600</w:MaxEnvelopeSize>",
                "<w:OperationTimeout>PT20.500S</w:OperationTimeout>",
            ][..],
        ),
        (
            "Create",
            &[
                "<rsp:IdleTimeOut>PT60.000S</rsp:IdleTimeOut>",
                "<w:Option Name=\"protocolversion\" MustComply=\"true\">2.3</w:Option>",
            ],
        ),
    ] {
        let (_, envelope) = envelopes.iter().find(|(name, _)| name == action).unwrap();
        for part in parts {
            assert!(envelope.contains(part), "{part} in {envelope}");
        }
    }
}

#[tokio::test]
async fn data_fills_envelopes_up_to_their_maximum_size() {
    for max in [8192, 153_600, 512_000] {
        let settings =
            |wsman: Wsman| wsman.path("wsman?a&b").max_envelope_size(max).idle_timeout(Duration::MAX);
        let envelopes = envelopes(settings, 1_000_000).await;
        for action in ["Create", "Command", "Send"] {
            let sizes = envelopes.iter().filter(|(name, _)| name == action).map(|(_, text)| text.len());
            let size = sizes.max().unwrap();
            assert!(size <= max && size + 2048 > max, "{action}: {size} of {max}");
        }
    }
    let long = Wsman::https("a.example.org", credentials()).path("x".repeat(8192)).max_envelope_size(0);
    assert!(long.connect().await.unwrap_err().is_limit());
}

#[tokio::test]
async fn endpoint_is_built_from_scheme_host_port_and_path() {
    let heads = Arc::new(Mutex::new(String::new()));
    let seen = Arc::clone(&heads);
    let proxy = serve(move |request| {
        *seen.lock().unwrap() = request.head.clone();
        Reply::http("502 Bad Gateway", "text/plain", "")
    })
    .await;
    for (wsman, line) in [
        (Wsman::https("a.example.org", credentials()), "CONNECT a.example.org:5986 "),
        (Wsman::https("[::1]", credentials()), "CONNECT [::1]:5986 "),
        (Wsman::http("10.0.0.1", credentials()), "POST http://10.0.0.1:5985/wsman "),
        (Wsman::http("::1", credentials()).port(1).path("a/b"), "POST http://[::1]:1/a/b "),
    ] {
        let wsman = wsman.danger_allow_basic_without_tls().proxy(format!("http://{proxy}"));
        wsman.shells().await.unwrap_err();
        assert!(heads.lock().unwrap().starts_with(line), "{heads:?}");
    }
}

#[tokio::test]
async fn settings_are_checked_before_connecting() {
    let wsman = Wsman::http("a.example.org", credentials());
    assert!(wsman.connect().await.unwrap_err().is_denied());
    assert!(wsman.shells().await.unwrap_err().is_denied());
    assert!(wsman.danger_allow_basic_without_tls().connect().await.is_ok());

    assert!(Wsman::https("a b", credentials()).connect().await.unwrap_err().is_unsupported());
    for pem in ["", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"] {
        let wsman = Wsman::https("a.example.org", credentials()).trusted_certificates(pem);
        assert!(wsman.connect().await.unwrap_err().is_untrusted(), "{pem:?}");
    }

    let proxied = |url: &str| Wsman::https("a.example.org", credentials()).proxy(url);
    assert!(proxied("http://user:secret@proxy:3128").connect().await.is_ok());
    for url in ["proxy:3128", "socks5://proxy", "http://", "http://user:secret@"] {
        let error = proxied(url).connect().await.unwrap_err();
        assert!(error.is_unsupported() && !format!("{error:?}").contains("secret"), "{error:?}");
    }
    #[cfg(feature = "negotiate")]
    for (wsman, is_ok) in [
        (Wsman::https("a.example.org", WsmanCredentials::ntlm("user", "secret")), true),
        (Wsman::http("a.example.org", WsmanCredentials::ntlm("user", "secret")), false),
    ] {
        assert_eq!(wsman.proxy("http://proxy").connect().await.is_ok(), is_ok);
    }

    let wsman = Wsman::http("a.example.org", WsmanCredentials::basic("someone", "pa55word"));
    for wsman in [wsman.clone(), wsman.proxy("http://someone:pa55word@proxy")] {
        let shown = format!("{wsman:?}");
        assert!(!shown.contains("pa55word") && !shown.contains("someone"), "{shown}");
    }
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_document_is_parsed_or_rejected(
        bytes in prop::collection::vec(any::<u8>(), 0..200),
        pieces in prop::collection::vec(
            prop::sample::select(vec![
                "<", ">", "/", "a", "b:", "='", "'", " ", "&", ";", "#x41", "xmlns", "<![CDATA[", "]]>", "<!--",
                "-->", "<?", "?>", "<!DOCTYPE", "<a>", "</a>", "\u{FEFF}",
            ]),
            0..40,
        ),
    ) {
        for document in [&bytes, pieces.concat().as_bytes()] {
            prop_assert!(block_on(list(soap(document))).is_err());
        }
    }

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
        let body = pieces.concat();
        let opened = block_on(async {
            let _ = list(Reply::Body(body.clone())).await;
            // The shell is gone after the malformed response.
            let shell = Shell::default();
            let malformed = move |request: &Request| match &*request.action {
                "Create" | "Connect" => Reply::Body(body.clone()),
                "Receive" => Reply::Fault("w:InvalidSelectors", 0x8033_805B, "The shell is gone."),
                _ => shell.answer(request),
            };
            Session::open(&wsman(serve(malformed).await), Options::new()).await
        });
        prop_assert!(opened.is_err());
    }
}
