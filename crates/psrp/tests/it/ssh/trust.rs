//! Verification of host keys.

use std::fs;

use psrp::Error;
use psrp::io::{Connect, Ssh, SshQuestion};

use crate::ssh::files::{Files, ecdsa_key, key, line};
use crate::ssh::server::{AuthPolicy, Program, Server, connector};

const PASSWORD: &str = "correct horse";

async fn server() -> Server {
    Server::start(AuthPolicy { password: Some(PASSWORD), ..AuthPolicy::default() }, Program::Hang).await
}

async fn connect(connector: Ssh) -> Result<(), Error> {
    connector.password(PASSWORD).connect().await.map(drop)
}

#[tokio::test]
async fn a_server_with_several_keys_uses_the_known_one() {
    let files = Files::new();
    for keys in [[key(), ecdsa_key()], [ecdsa_key(), key()]] {
        let demands = AuthPolicy { password: Some(PASSWORD), ..AuthPolicy::default() };
        let server = Server::with_keys(keys.into(), demands, Program::Hang).await;
        connect(server.connector(&files)).await.unwrap();
    }
}

/// Only an unknown key is accepted with `accept_new`.
#[tokio::test]
async fn untrusted_keys_are_rejected_with_file_and_line() {
    let (files, server) = (Files::new(), server().await);
    let (name, key, other) =
        (format!("[127.0.0.1]:{}", server.port), line(server.key.public_key()), line(key().public_key()));
    let print = server.key.public_key().fingerprint(Default::default()).to_string();
    let known = files.path("known_hosts");
    let place = known.display();
    for (text, accepts_new, part) in [
        (format!("[127.0.0.1]:1 {key}\n"), false, print),
        (format!("[127.0.0.1]:1 {key}\n"), false, place.to_string()),
        (format!("# of old\n\n{name} {other}\n"), false, format!("{place}:3")),
        (format!("# of old\n\n{name} {other}\n"), true, format!("{place}:3")),
        (format!("{name} {key}\n@revoked * {key}\n"), false, format!("revoked by {place}:2")),
        (format!("@cert-authority * {key}\n"), true, "certificates".to_owned()),
    ] {
        files.write("known_hosts", &text);
        let mut ssh = connector(server.port).known_hosts([&known]);
        if accepts_new {
            ssh = ssh.accept_new();
        }
        let error = connect(ssh).await.unwrap_err();
        assert!(error.is_untrusted(), "{error:?}");
        assert!(error.to_string().contains(&part), "{part} in {error}");
        assert_eq!(fs::read_to_string(&known).unwrap(), text);
    }
}

#[tokio::test]
async fn an_unknown_key_is_saved_if_requested() {
    let (files, server) = (Files::new(), server().await);
    let known = files.path("sub/known_hosts");
    let ssh = connector(server.port).known_hosts([&known]);
    connect(ssh.clone().accept_new()).await.unwrap();
    let text = fs::read_to_string(&known).unwrap();
    assert_eq!(text, format!("[127.0.0.1]:{} {}\n", server.port, line(server.key.public_key())));
    connect(ssh).await.unwrap();
}

#[tokio::test]
async fn any_key_is_accepted_if_requested() {
    let (files, server) = (Files::new(), server().await);
    let known = files.known_hosts(server.port, key().public_key());
    connect(connector(server.port).known_hosts([known]).danger_accept_any_key()).await.unwrap();
}

#[tokio::test]
async fn no_credentials_are_sent_to_an_untrusted_server() {
    let (files, server) = (Files::new(), server().await);
    let asked = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let flag = std::sync::Arc::clone(&asked);
    let ssh = connector(server.port).known_hosts([files.path("none")]).ask(move |question| {
        let is_secret = !matches!(question, SshQuestion::HostKey { .. });
        flag.fetch_or(is_secret, std::sync::atomic::Ordering::SeqCst);
        Some(PASSWORD.into())
    });
    assert!(ssh.connect().await.unwrap_err().is_untrusted());
    assert!(!asked.load(std::sync::atomic::Ordering::SeqCst));
}

#[tokio::test]
async fn the_user_may_trust_and_save_an_unknown_key() {
    let (files, server) = (Files::new(), server().await);
    let ssh = || connector(server.port).known_hosts([files.path("hosts")]);
    for answer in [None, Some("no"), Some("y"), Some("yes")] {
        let ssh = ssh().ask(move |question| match question {
            SshQuestion::HostKey { fingerprint, .. } => {
                assert!(fingerprint.starts_with("SHA256:"));
                answer.map(Into::into)
            }
            _ => None,
        });
        let is_untrusted = ssh.connect().await.err().is_some_and(|error| error.is_untrusted());
        assert_eq!(is_untrusted, answer != Some("yes"), "{answer:?}");
    }
    // The key was saved.
    assert!(!ssh().connect().await.err().is_some_and(|error| error.is_untrusted()));
}

#[tokio::test]
async fn a_closed_port_is_reported_with_its_address() {
    let error = connect(connector(1).danger_accept_any_key()).await.unwrap_err();
    assert!(error.is_io(), "{error:?}");
    assert!(error.to_string().contains("127.0.0.1:1"), "{error}");
}

#[tokio::test]
async fn a_silent_server_times_out() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let ssh = connector(port).danger_accept_any_key().connect_timeout(std::time::Duration::from_millis(50));
    let error = connect(ssh).await.unwrap_err();
    assert!(error.is_timeout(), "{error:?}");
}

#[tokio::test]
async fn a_server_of_another_protocol_is_an_error() {
    use tokio::io::AsyncWriteExt;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let web = tokio::spawn(async move {
        for bytes in [&b"HTTP/1.1 400 Bad Request\r\n\r\n"[..], b"SSH-2.0-x\r\n\0\0\0\x05garbage", b""] {
            let (mut socket, _) = listener.accept().await.unwrap();
            socket.write_all(bytes).await.unwrap();
        }
    });
    for _ in 0..3 {
        let error = connect(connector(port).danger_accept_any_key()).await.unwrap_err();
        assert!(error.is_io() || error.is_protocol(), "{error:?}");
    }
    web.await.unwrap();
}
