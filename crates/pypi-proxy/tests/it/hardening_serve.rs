//! Clients that hold connections, send large heads, or ask for an endpoint in another spelling.

use std::sync::Arc;
use std::time::Duration;

use pypi_proxy::serve::{Config, ServerConfig, Tls};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::aws_lc_rs;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use crate::support::proxy::{PATIENCE, start_served};

/// No index listens here. These tests never need one.
const NO_INDEX: &str = "http://127.0.0.1:1/simple";
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Waits until the server has closed a connection.
async fn closed(mut stream: impl tokio::io::AsyncRead + Unpin) {
    let mut read = Vec::new();
    // A reset is an end, too.
    let _ = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut read)).await.expect("it is closed");
}

/// Two connections are allowed, and a client has 200 ms for a head.
fn narrow() -> ServerConfig {
    ServerConfig::new().max_connections(2).header_timeout(Duration::from_millis(200))
}

#[tokio::test(flavor = "multi_thread")]
async fn an_incomplete_preface_of_http2_holds_no_connection() {
    let proxy = start_served(&[NO_INDEX.to_owned()], Config::new(), narrow()).await;
    let mut held = Vec::new();
    for len in [1, 4, 16, 18, PREFACE.len() - 1, 16] {
        let mut stream = TcpStream::connect(proxy.address()).await.unwrap();
        stream.write_all(&PREFACE[..len]).await.unwrap();
        held.push(stream);
    }
    let live = tokio::time::timeout(PATIENCE, proxy.get("/livez", &[])).await.expect("there is room");
    assert_eq!(live.status(), 200);
    for stream in held {
        closed(stream).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn silence_after_a_tls_handshake_holds_no_connection() {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let key = made.signing_key.serialize_pem();
    let tls = Tls::from_pem(made.cert.pem().as_bytes(), key.as_bytes()).unwrap();
    let proxy = start_served(&[NO_INDEX.to_owned()], Config::new(), narrow().tls(tls)).await;

    let mut roots = RootCertStore::empty();
    roots.add(made.cert.der().clone()).unwrap();
    let client = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let connector = TlsConnector::from(Arc::new(client));
    let connect = async || {
        let stream = TcpStream::connect(proxy.address()).await.unwrap();
        let name = ServerName::try_from("localhost").unwrap();
        let connected = tokio::time::timeout(PATIENCE, connector.connect(name, stream)).await;
        connected.expect("there is room").unwrap()
    };
    // One after the other: each waits until an earlier one is closed.
    let mut held = Vec::new();
    for len in [0, 0, 1, 16, PREFACE.len() - 1] {
        let mut stream = connect().await;
        stream.write_all(&PREFACE[..len]).await.unwrap();
        stream.flush().await.unwrap();
        held.push(stream);
    }
    let mut stream = connect().await;
    stream.write_all(b"GET /livez HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").await.unwrap();
    let mut answer = Vec::new();
    let _ = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut answer)).await.unwrap();
    assert!(answer.starts_with(b"HTTP/1.1 200 OK\r\n"), "{}", String::from_utf8_lossy(&answer));
    for stream in held {
        closed(stream).await;
    }
}

/// HTTP/2 with prior knowledge, its preface in pieces.
#[tokio::test(flavor = "multi_thread")]
async fn a_slow_preface_of_http2_is_served() {
    let proxy = start_served(&[NO_INDEX.to_owned()], Config::new(), ServerConfig::new()).await;
    for size in [1, 7, 16, PREFACE.len()] {
        let mut stream = TcpStream::connect(proxy.address()).await.unwrap();
        stream.set_nodelay(true).unwrap();
        for piece in PREFACE.chunks(size) {
            stream.write_all(piece).await.unwrap();
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        // An empty SETTINGS frame (RFC 9113, 6.5); the server answers with its own.
        stream.write_all(&[0, 0, 0, 4, 0, 0, 0, 0, 0]).await.unwrap();
        let mut head = [0; 9];
        tokio::time::timeout(PATIENCE, stream.read_exact(&mut head)).await.unwrap().unwrap();
        assert_eq!(head[3], 4, "{size}: {head:?}");
    }
}
