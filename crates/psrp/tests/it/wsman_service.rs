//! The client with in-process WS-Management services: one that works, and many that misbehave.

#![cfg(feature = "wsman")]

use std::error::Error as _;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

#[cfg(feature = "negotiate")]
use base64::Engine;
#[cfg(feature = "negotiate")]
use base64::engine::general_purpose::STANDARD;
use psrp::Error;
#[cfg(feature = "crypto")]
use psrp::client::Config;
use psrp::io::{Options, Session, Wsman, WsmanBufferMode, WsmanCredentials, WsmanFault};
use psrp::message::{PipelineState, PowerShell};
use psrp::value::Value;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;
use tokio_rustls::rustls::server::WebPkiClientVerifier;
use tokio_rustls::rustls::server::danger::ClientCertVerifier;
use tokio_rustls::rustls::{RootCertStore, ServerConfig};

use crate::service;
use crate::service::{Reply, Request, SHORT, Shell, TIMED_OUT, between, serve};
#[cfg(feature = "crypto")]
use crate::session::with_key;

pub(crate) fn credentials() -> WsmanCredentials {
    WsmanCredentials::basic("user", "secret")
}

pub(crate) fn wsman(address: SocketAddr) -> Wsman {
    Wsman::http(address.ip().to_string(), credentials())
        .port(address.port())
        .danger_allow_basic_without_tls()
        .operation_timeout(SHORT)
}

async fn open(address: SocketAddr) -> Session {
    Session::open(&wsman(address), Options::new()).await.unwrap()
}

/// Waits until the service has ended all pipelines.
async fn gone(pool: &Session) {
    while !pool.pipelines().is_empty() {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

/// Returns the error of a request to a service that always sends this response.
async fn error_of(reply: Reply) -> Error {
    let address = serve(move |_| reply.clone()).await;
    wsman(address).max_response_size(100_000).shells().await.unwrap_err()
}

#[tokio::test]
async fn pools_open_run_stop_and_close() {
    let shell = Shell::default();
    let pool = open(shell.clone().serve(|_| None).await).await;
    let output = pool.invoke(PowerShell::script("hello")).await.unwrap();
    assert_eq!(output.output, [Value::from("hello")]);
    // Ending a pipeline and starting the next one are requests on two connections.
    gone(&pool).await;
    let sleeper = pool.start(PowerShell::script("wait")).await.unwrap();
    sleeper.stop().await.unwrap();
    assert_eq!(sleeper.output().await.unwrap().state, PipelineState::Stopped);
    gone(&pool).await;
    pool.close().await.unwrap();

    let actions: Vec<_> = shell.actions().into_iter().filter(|action| action != "Receive").collect();
    // Each pipeline is created and deleted, and one is interrupted.
    assert_eq!(actions, ["Create", "Command", "Signal", "Command", "Signal", "Signal", "Delete"]);
}

#[tokio::test]
async fn scripts_started_before_a_disconnect_run_on() {
    // The second script is longer than an envelope.
    for (script, expected) in [
        ("hello".to_owned(), &["Create", "Command", "Disconnect"][..]),
        ("x".repeat(400_000), &["Create", "Command", "Send", "Disconnect"]),
    ] {
        let shell = Shell::default();
        let bodies = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&bodies);
        let record = move |request: &Request| {
            let is_receive = request.action == "Receive" && !request.envelope.contains("CommandId");
            if !is_receive {
                let body = between(&request.envelope, "<s:Body>", "</s:Body>").unwrap().to_owned();
                seen.lock().unwrap().push((request.action.clone(), body));
            }
            None
        };
        let address = shell.clone().serve(record).await;
        let wsman = wsman(address).buffer_mode(WsmanBufferMode::Drop);
        let pool = Session::open(&wsman, Options::new()).await.unwrap();
        let pipeline = pool.start(PowerShell::script(script.as_str())).await.unwrap();
        pool.disconnect().await.unwrap();
        let requests: Vec<_> = bodies.lock().unwrap().clone();
        let mut actions: Vec<_> = requests.iter().map(|(action, _)| action.as_str()).collect();
        actions.dedup();
        // Its output is not requested, because another client may connect.
        assert_eq!(actions, expected);
        let (_, body) = requests.last().unwrap();
        assert_eq!(body, "<rsp:Disconnect><rsp:BufferMode>Drop</rsp:BufferMode></rsp:Disconnect>");
        pool.reconnect().await.unwrap();
        assert_eq!(pipeline.output().await.unwrap().output, [Value::from(script)]);
        pool.close().await.unwrap();
    }
}

#[tokio::test]
async fn requests_are_sent_through_a_proxy() {
    let heads = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&heads);
    let record = move |request: &Request| {
        seen.lock().unwrap().push(request.head.clone());
        None
    };
    // The proxy responds itself.
    let address = Shell::default().serve(record).await;
    let wsman = Wsman::http("server.invalid", credentials())
        .danger_allow_basic_without_tls()
        .operation_timeout(SHORT)
        .proxy(format!("http://ada:s3cret@{address}"));
    let pool = Session::open(&wsman, Options::new()).await.unwrap();
    let output = pool.invoke(PowerShell::script("hello")).await.unwrap();
    assert_eq!(output.output, [Value::from("hello")]);
    pool.close().await.unwrap();
    for head in heads.lock().unwrap().iter() {
        assert!(head.starts_with("POST http://server.invalid:5985/wsman HTTP/1.1\r\n"), "{head}");
        // `ada:s3cret` and `user:secret` in Base64.
        for (name, token) in
            [("proxy-authorization", "YWRhOnMzY3JldA=="), ("authorization", "dXNlcjpzZWNyZXQ=")]
        {
            let is_sent = |line: &str| {
                let value = line.split_once(": ").filter(|(key, _)| key.eq_ignore_ascii_case(name));
                value.is_some_and(|(_, value)| value == format!("Basic {token}"))
            };
            assert!(head.lines().any(is_sent), "{name}: {head}");
        }
    }
}

#[tokio::test]
async fn connections_are_opened_again() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let error = wsman(address).shells().await.unwrap_err();
    assert!(error.is_io(), "{error}");
    let serving = async {
        tokio::time::sleep(Duration::from_millis(500)).await;
        let listener = TcpListener::bind(address).await.unwrap();
        let (mut stream, _) = listener.accept().await.unwrap();
        // A request that was sent is not repeated.
        stream.shutdown().await.unwrap();
        drop(stream);
        assert!(tokio::time::timeout(Duration::from_secs(2), listener.accept()).await.is_err());
    };
    let retrying = wsman(address).connect_retries(3).connect_timeout(Duration::from_secs(1));
    let (result, ()) = tokio::join!(retrying.shells(), serving);
    assert!(result.unwrap_err().is_io());
}

#[tokio::test]
async fn a_rejected_command_fails_only_its_pipeline() {
    let commands = AtomicUsize::new(0);
    // An escape character is not allowed in XML, but all readers here accept it.
    let fault = Reply::Fault("w:QuotaLimit", 2_150_859_174, "Too many operations.\u{1b}[2J");
    let is_first =
        move |request: &Request| request.action == "Command" && commands.fetch_add(1, Ordering::Relaxed) == 0;
    let pool =
        open(Shell::default().serve(move |request| is_first(request).then(|| fault.clone())).await).await;
    let refused = pool.invoke(PowerShell::script("one")).await.unwrap();
    assert_eq!((refused.state, refused.output.len()), (PipelineState::Failed, 0));
    let reason = refused.reason.unwrap().message().unwrap().to_string();
    assert_eq!(reason, "Too many operations.\\u{1b}[2J (QuotaLimit, 0x803381a6)");
    let output = pool.invoke(PowerShell::script("two")).await.unwrap();
    assert_eq!(output.output, [Value::from("two")]);
    pool.close().await.unwrap();
}

#[tokio::test]
async fn rejected_input_matters_only_while_the_pipeline_runs() {
    for script in ["hello", "wait"] {
        let fault = Reply::Fault("w:InvalidSelectors", 2_150_858_843, "There is no such command.");
        let rejected = move |request: &Request| (request.action == "Send").then(|| fault.clone());
        let pool = open(Shell::default().serve(rejected).await).await;
        let pipeline = pool.start_with_input(PowerShell::script(script)).await.unwrap();
        pipeline.send(1).await.unwrap();
        let output = pipeline.output().await.unwrap();
        match script {
            "hello" => assert_eq!(output.output, [Value::from("hello")]),
            _ => {
                assert_eq!(output.state, PipelineState::Failed);
                let reason = output.reason.unwrap().message().unwrap().to_string();
                assert!(reason.starts_with("There is no such command."), "{reason}");
            }
        }
        pool.close().await.unwrap();
    }
}

#[tokio::test]
async fn a_rejected_stop_fails_the_pipeline() {
    let fault = Reply::Fault("w:InternalError", 1359, "An internal error.");
    let rejected = move |request: &Request| request.envelope.contains("crtl_c").then(|| fault.clone());
    let pool = open(Shell::default().serve(rejected).await).await;
    let sleeper = pool.start(PowerShell::script("wait")).await.unwrap();
    sleeper.stop().await.unwrap();
    let output = sleeper.output().await.unwrap();
    assert_eq!(output.state, PipelineState::Failed);
    assert!(output.reason.unwrap().message().unwrap().to_string().starts_with("An internal error."));
    assert_eq!(pool.invoke(PowerShell::script("two")).await.unwrap().output, [Value::from("two")]);
    pool.close().await.unwrap();
}

#[tokio::test]
async fn a_deleted_shell_ends_the_pool() {
    let receives = AtomicUsize::new(0);
    let fault = Reply::Fault("w:InvalidSelectors", 2_150_858_843, "The shell is gone.");
    let is_gone =
        move |request: &Request| request.action == "Receive" && receives.fetch_add(1, Ordering::Relaxed) > 2;
    let pool =
        open(Shell::default().serve(move |request| is_gone(request).then(|| fault.clone())).await).await;
    let error = pool.closed().await;
    assert!(error.is_closed() && error.to_string().contains("The shell is gone."), "{error}");
}

/// Expected kind of an error.
type Check = fn(&Error) -> bool;

#[tokio::test]
async fn invalid_responses_are_errors() {
    let html = |status| Reply::http(status, "text/html", "<html/>");
    let soap = |text: &str| Reply::http("200 OK", "application/soap+xml", text);
    let raw = |text: &str| Reply::Raw(text.as_bytes().to_vec());
    let endless = |head: &str, rest: String| Reply::Endless(head.into(), rest.into_bytes());
    let chunk = format!("3e8\r\n{}\r\n", " ".repeat(1000));
    let other = service::envelope("uuid:00000000-0000-0000-0000-000000000001", "");
    let laughs = "<!DOCTYPE a [<!ENTITY b 'bbbbbbbbbb'><!ENTITY c '&b;&b;&b;&b;'>]><a>&c;</a>";
    let wide = format!("<a>{}</a>", "<b/>".repeat(24_000));
    let cases: [(&str, Reply, Check, &str); 15] = [
        ("a web page", html("200 OK"), Error::is_protocol, ""),
        ("unavailable", html("503 Service Unavailable"), Error::is_refused, "503"),
        ("unauthorized", html("401 Unauthorized"), Error::is_denied, ""),
        ("empty", soap(""), Error::is_unexpected_end, ""),
        ("another protocol", raw("SSH-2.0-OpenSSH\r\n"), Error::is_io, ""),
        ("no response", raw(""), |error| error.is_io() && error.source().is_some(), ""),
        ("another request", soap(&other), Error::is_protocol, "different request"),
        ("entities", soap(laughs), Error::is_syntax, ""),
        ("deep", soap(&"<a>".repeat(20_000)), Error::is_limit, ""),
        ("wide", soap(&wide), |error| !error.is_limit(), ""),
        ("large", soap(&" ".repeat(100_001)), Error::is_limit, ""),
        ("truncated", raw("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n<a>"), Error::is_io, ""),
        ("endless header", endless("HTTP/1.1 200 OK\r\nX: ", "x".repeat(1000)), Error::is_io, ""),
        (
            "endless body",
            endless("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", chunk),
            Error::is_limit,
            "",
        ),
        (
            "fault",
            Reply::Fault("w:AccessDenied", 5, "Access is denied.\n"),
            |error| error.is_denied() && error.source().unwrap().is::<WsmanFault>(),
            "access is denied: Enumerate: Access is denied. (AccessDenied, 0x5)",
        ),
    ];
    for (what, reply, is_expected, text) in cases {
        let error = error_of(reply).await;
        assert!(is_expected(&error) && error.to_string().contains(text), "{what}: {error}");
    }
}

#[tokio::test]
async fn unresponsive_services_time_out() {
    let address = serve(|_| Reply::Silence).await;
    let error = wsman(address).grace(SHORT).shells().await.unwrap_err();
    assert!(error.is_timeout(), "{error}");
    // It ends a pool, too, unless the service reports a timeout without output.
    let address =
        Shell::default().serve(|request| (request.action == "Command").then_some(Reply::Silence)).await;
    // Long enough for the responses that do arrive.
    let grace = Duration::from_secs(5);
    let pool = Session::open(&wsman(address).grace(grace), Options::new()).await.unwrap();
    tokio::time::sleep(2 * SHORT).await;
    let error = pool.invoke(PowerShell::script("hello")).await.unwrap_err();
    assert!(error.to_string().contains("took too long"), "{error}");
}

#[tokio::test]
async fn credentials_are_not_sent_after_a_redirect() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&seen);
    let elsewhere = serve(move |request| {
        log.lock().unwrap().push(request.head.clone());
        TIMED_OUT
    })
    .await;
    let location = format!(
        "HTTP/1.1 307 Temporary Redirect\r\nLocation: http://{elsewhere}/wsman\r\nContent-Length: 0\r\n\r\n"
    );
    let error = error_of(Reply::Raw(location.into_bytes())).await;
    assert!(error.is_refused() && error.to_string().contains("307"), "{error}");
    assert_eq!(seen.lock().unwrap().len(), 0);
}

#[tokio::test]
async fn endless_enumerations_are_limited() {
    let requests = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&requests);
    let address = serve(move |request| {
        counter.fetch_add(1, Ordering::Relaxed);
        let (name, given) = match &*request.action {
            "Pull" => ("Pull", between(&request.envelope, "<n:EnumerationContext>", "<").unwrap()),
            _ => ("Enumerate", "first"),
        };
        assert!(name == "Enumerate" || given == "a&amp;b");
        Reply::Body(format!(
            "<n:{name}Response><w:Items/><n:EnumerationContext>a&amp;b</n:EnumerationContext></n:{name}Response>"
        ))
    })
    .await;
    let error = wsman(address).shells().await.unwrap_err();
    assert!(error.is_protocol(), "{error}");
    assert_eq!(requests.load(Ordering::Relaxed), 65);
}

fn authority() -> CertifiedIssuer<'static, KeyPair> {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}

/// Returns a certificate for the loopback address, and the authority that signed it.
fn identity(clients: Arc<dyn ClientCertVerifier>) -> (String, ServerConfig) {
    let authority = authority();
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(["127.0.0.1".to_owned()]).unwrap();
    let certificate = params.signed_by(&key, &authority).unwrap();
    let config = ServerConfig::builder()
        .with_client_cert_verifier(clients)
        .with_single_cert(vec![certificate.der().clone()], PrivateKeyDer::Pkcs8(key.serialize_der().into()))
        .unwrap();
    (authority.pem(), config)
}

/// A script that is echoed, with a secret argument.
fn with_secret() -> PowerShell {
    let secret = psrp::value::SecureString::new("hunter2");
    PowerShell::new().command(psrp::message::Command::script("hello").parameter("Secret", secret))
}

#[tokio::test]
async fn cleartext_secrets_need_permission() {
    let address = Shell::default().serve(|_| None).await;
    let pool = open(address).await;
    let error = pool.invoke(with_secret()).await.unwrap_err();
    assert!(error.is_unsupported() && !format!("{error:?}").contains("hunter2"), "{error:?}");
    assert_eq!(pool.invoke(PowerShell::script("hello")).await.unwrap().output, [Value::from("hello")]);
    pool.close().await.unwrap();

    let allowed = wsman(address).danger_allow_clear_secrets();
    #[cfg_attr(not(feature = "crypto"), expect(unused_mut, reason = "there are no keys"))]
    let mut ways = vec![(allowed, Options::new())];
    #[cfg(feature = "crypto")]
    ways.push((wsman(address), Options::new().config(Config::new().capability(with_key()))));
    for (wsman, options) in ways {
        let pool = Session::open(&wsman, options).await.unwrap();
        assert_eq!(pool.invoke(with_secret()).await.unwrap().output, [Value::from("hello")]);
        pool.close().await.unwrap();
    }
}

/// Serves a shell over TLS, and returns its port.
async fn serve_tls(config: ServerConfig) -> u16 {
    let shell = Shell::default();
    serve_tls_with(config, move |request| shell.answer(request)).await
}

async fn serve_tls_with(
    config: ServerConfig,
    handler: impl Fn(&Request) -> Reply + Send + Sync + 'static,
) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let handler: service::Handler = Arc::new(handler);
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            if let Ok(stream) = acceptor.accept(stream).await {
                tokio::spawn(service::connection(stream, Arc::clone(&handler)));
            }
        }
    });
    port
}

#[tokio::test]
async fn a_trusted_certificate_is_also_the_servers_own() {
    // Expiry and name are verified for it, too.
    for (name, is_expired, is_accepted) in
        [("127.0.0.1", false, true), ("localhost", false, false), ("127.0.0.1", true, false)]
    {
        for is_authority in [true, false] {
            let key = KeyPair::generate().unwrap();
            let mut params = CertificateParams::new([name.to_owned()]).unwrap();
            if is_authority {
                params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
            }
            if is_expired {
                params.not_after = rcgen::date_time_ymd(2020, 1, 1);
            }
            let certificate = params.self_signed(&key).unwrap();
            let config = ServerConfig::builder()
                .with_no_client_auth()
                .with_single_cert(
                    vec![certificate.der().clone()],
                    PrivateKeyDer::Pkcs8(key.serialize_der().into()),
                )
                .unwrap();
            let wsman = Wsman::https("127.0.0.1", credentials()).port(serve_tls(config).await);
            let shells = wsman.trusted_certificates(certificate.pem()).shells().await;
            let case = format!("{name} {is_expired} {is_authority}");
            assert_eq!(
                shells.as_ref().err().is_none_or(|error| !error.is_untrusted()),
                is_accepted,
                "{case}: {shells:?}"
            );
        }
    }
}

#[tokio::test]
async fn certificates_are_verified() {
    let anyone = || WebPkiClientVerifier::no_client_auth();
    let (authority, config) = identity(anyone());
    let port = serve_tls(config).await;
    let https =
        || Wsman::https("127.0.0.1", credentials()).port(port).operation_timeout(Duration::from_secs(2));
    let error = https().shells().await.unwrap_err();
    assert!(error.is_untrusted(), "{error:?}");
    let error = https().trusted_certificates(identity(anyone()).0).shells().await.unwrap_err();
    assert!(error.is_untrusted(), "{error:?}");
    for wsman in [https().trusted_certificates(authority), https().danger_accept_invalid_certificates()] {
        let pool = Session::open(&wsman, Options::new()).await.unwrap();
        assert_eq!(pool.invoke(with_secret()).await.unwrap().output, [Value::from("hello")]);
        pool.close().await.unwrap();
    }
}

#[tokio::test]
async fn clients_are_authenticated_by_their_certificate() {
    let clients = authority();
    let mut roots = RootCertStore::empty();
    roots.add(clients.der().clone()).unwrap();
    let (authority, config) = identity(WebPkiClientVerifier::builder(roots.into()).build().unwrap());
    let shell = Shell::default();
    let heads = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&heads);
    let handler = move |request: &Request| {
        seen.lock().unwrap().push(request.head.to_ascii_lowercase());
        shell.answer(request)
    };
    let port = serve_tls_with(config, handler).await;
    let https = |credentials| {
        let wsman = Wsman::https("127.0.0.1", credentials).port(port).operation_timeout(SHORT);
        [wsman.clone().trusted_certificates(&authority), wsman.danger_accept_invalid_certificates()]
    };
    let key = KeyPair::generate().unwrap();
    let certificate = |issuer: &CertifiedIssuer<'static, KeyPair>| {
        CertificateParams::default().signed_by(&key, issuer).unwrap().pem()
    };
    for wsman in https(WsmanCredentials::certificate(&certificate(&clients), &key.serialize_pem())) {
        let pool = Session::open(&wsman, Options::new()).await.unwrap();
        assert_eq!(pool.invoke(with_secret()).await.unwrap().output, [Value::from("hello")]);
        pool.close().await.unwrap();
    }
    let header = "\r\nauthorization: http://schemas.dmtf.org/wbem/wsman/1/wsman/secprofile/https/mutual\r\n";
    let count = heads.lock().unwrap().len();
    assert!(count > 0 && heads.lock().unwrap().iter().all(|head| (head.clone() + "\r\n").contains(header)));

    let unknown = WsmanCredentials::certificate(&certificate(&self::authority()), &key.serialize_pem());
    for credentials in [unknown, credentials()] {
        for wsman in https(credentials) {
            let error = wsman.shells().await.unwrap_err();
            assert!(error.is_io(), "{error:?}");
        }
    }
    assert_eq!(heads.lock().unwrap().len(), count);

    let other_key = KeyPair::generate().unwrap().serialize_pem();
    for (chain, key) in
        [("", &*key.serialize_pem()), (&certificate(&clients), ""), (&certificate(&clients), &other_key)]
    {
        for wsman in https(WsmanCredentials::certificate(chain, key)) {
            let error = wsman.shells().await.unwrap_err();
            assert!(error.is_unsupported(), "{error:?}");
        }
    }
    let plain = Wsman::http("127.0.0.1", WsmanCredentials::certificate("", ""));
    assert!(plain.shells().await.unwrap_err().to_string().contains("requires TLS"));
}

#[cfg(feature = "negotiate")]
#[tokio::test]
async fn ntlm_is_used_only_if_requested() {
    const USER: &str = "user@nowhere.invalid";
    let challenge = |scheme: &str| {
        let head = format!("HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: {scheme}\r\n");
        Reply::Raw((head + "Content-Length: 0\r\n\r\n").into_bytes())
    };
    let heads = Arc::new(Mutex::new(String::new()));
    let seen = Arc::clone(&heads);
    let address = serve(move |request| {
        *seen.lock().unwrap() = request.head.clone() + "\r\n";
        challenge("Negotiate")
    })
    .await;
    let http = |credentials| Wsman::http("127.0.0.1", credentials).port(address.port());
    for credentials in
        [WsmanCredentials::ntlm(USER, "secret"), WsmanCredentials::kerberos_or_ntlm(USER, "secret")]
    {
        assert!(http(credentials).shells().await.unwrap_err().is_denied());
        let head = heads.lock().unwrap();
        let token = STANDARD.decode(between(&head, "authorization: Negotiate ", "\r\n").unwrap()).unwrap();
        assert!(token.windows(7).any(|window| window == b"NTLMSSP"), "{token:?}");
    }

    let (_, config) = identity(WebPkiClientVerifier::no_client_auth());
    let port = serve_tls_with(config, move |_| challenge("Kerberos")).await;
    let kerberos = || WsmanCredentials::kerberos(USER, "secret");
    let https = Wsman::https("127.0.0.1", kerberos()).port(port).danger_accept_invalid_certificates();
    for wsman in [http(kerberos()), https] {
        let error = wsman.shells().await.unwrap_err();
        assert!(error.is_denied() && error.to_string().contains("only if it is requested"), "{error}");
    }
}
