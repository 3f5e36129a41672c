//! HTTP/1.1 connections: the fast path, hyper, timeouts, and TLS.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

use pypi_proxy::guard;
use pypi_proxy::guard::Guard;
use pypi_proxy::rules::ProjectPattern;
use pypi_proxy::serve::Tls;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::support::prelude::*;

/// Size of a file that does not fit into the buffers of sockets, in bytes.
const LARGE: usize = 16 << 20;

/// Index with files of three sizes and a large page.
fn index() -> Server {
    const NAMED: [(&str, usize); 3] =
        [("small-1.0.whl", 900), ("medium-1.0.whl", 200_000), ("large-1.0.whl", LARGE)];
    let filler = (0..400).map(|number| (&*format!("demo-{number}.tar.gz").leak(), content(1)));
    file_index(NAMED.map(|(name, len)| (name, content(len))).into_iter().chain(filler))
}

/// Starts a proxy with everything in its cache.
async fn warm(index: &Server) -> RunningProxy {
    let forever = |setup: &mut Setup| setup.pages.negative_ttl = Duration::from_secs(86_400);
    let proxy = start_with(&[index.url("/simple")], forever);
    fill(&proxy).await;
    proxy
}

async fn fill(proxy: &RunningProxy) {
    for name in ["small", "medium", "large"] {
        assert!(proxy.get(&format!("/simple/demo/{name}-1.0.whl"), &[]).await.bytes().await.is_ok());
    }
    assert_eq!(proxy.store.stats().files, 3);
}

/// A response: status line, header without the date, and body.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Got {
    status: String,
    fields: Vec<String>,
    body: Bytes,
}

fn read_answer(stream: &mut impl Read, is_head: bool) -> Got {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        assert_eq!(stream.read(&mut byte).unwrap(), 1, "{:?}", String::from_utf8_lossy(&head));
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).unwrap();
    let mut lines = head.trim_end().lines();
    let status = lines.next().unwrap().to_owned();
    let mut fields: Vec<_> = lines.filter(|line| !line.starts_with("date: ")).map(str::to_owned).collect();
    fields.sort();
    let len = fields.iter().find_map(|line| line.strip_prefix("content-length: "));
    let is_empty = is_head || status.contains("304");
    let mut body = vec![0; if is_empty { 0 } else { len.unwrap_or("0").parse().unwrap() }];
    stream.read_exact(&mut body).unwrap();
    Got { status, fields, body: body.into() }
}

fn send(address: SocketAddr, request: &str) -> Got {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    read_answer(&mut stream, request.starts_with("HEAD"))
}

/// Checks that hyper and the fast path respond equally to all combinations. Returns the responses.
fn compare(address: SocketAddr, paths: &[&str], fields: &[&str]) -> Vec<Got> {
    let mut responses = Vec::new();
    for (path, fields) in paths.iter().flat_map(|path| fields.iter().map(move |fields| (path, fields))) {
        for method in ["GET", "HEAD"] {
            let request = |more: &str| format!("{method} {path} HTTP/1.1\r\nhost: x\r\n{fields}{more}\r\n");
            // The first response may require the index.
            send(address, &request(""));
            let plain = send(address, &request(""));
            assert_eq!(plain, send(address, &request("te: trailers\r\n")), "{}", request(""));
            responses.push(plain);
        }
    }
    responses
}

#[tokio::test(flavor = "multi_thread")]
async fn hyper_and_the_fast_path_respond_equally() {
    let index = index();
    let proxy = warm(&index).await;
    let address = proxy.address();
    let paths = "/livez /simple/ /simple/demo/ /simple/demo /simple/Demo/?format=json /simple/nothing/ \
        /simple/demo/small-1.0.whl /simple/demo/medium-1.0.whl /simple/demo/missing-1.0.whl /x \
        /simple/demo/?format=none /index/demo/";
    let paths: Vec<_> = paths.split(' ').collect();
    let etag = send(address, "HEAD /simple/demo/medium-1.0.whl HTTP/1.1\r\nhost: x\r\n\r\n");
    let etag = etag.fields.iter().find(|line| line.starts_with("etag")).unwrap()[6..].to_owned();
    let fields = [
        String::new(),
        "accept: application/vnd.pypi.simple.v1+json\r\naccept-encoding: gzip, deflate\r\n".into(),
        "accept: application/vnd.pypi.simple.v1+json\r\naccept-encoding: zstd\r\n".into(),
        "accept: image/png\r\n".into(),
        "accept-encoding: deflate\r\n".into(),
        "range: bytes=-1000\r\n".into(),
        "range: bytes=100-149999\r\nif-range: \"other\"\r\n".into(),
        format!("range: bytes=5-\r\nif-range: {etag}\r\n"),
        "range: bytes=99999999-\r\n".into(),
        format!("if-none-match: {etag}\r\n"),
        "if-none-match: *\r\n".into(),
        "if-modified-since: Sun, 06 Nov 2044 08:49:37 GMT\r\n".into(),
    ];
    let responses = compare(address, &paths, &fields.each_ref().map(String::as_str));
    assert!(responses.iter().map(|response| response.body.len()).sum::<usize>() > 1_000_000);
}

#[tokio::test(flavor = "multi_thread")]
async fn lists_may_take_several_lines() {
    let index = index();
    let proxy = warm(&index).await;
    let get = |path: &str, fields: &str| {
        send(proxy.address(), &format!("GET {path} HTTP/1.1\r\nhost: x\r\n{fields}\r\n"))
    };
    for (lines, line) in [
        ("accept: image/png\r\naccept: text/html\r\n", "accept: image/png, text/html\r\n"),
        ("accept-encoding: br\r\naccept-encoding: zstd\r\n", "accept-encoding: br, zstd\r\n"),
        ("if-none-match: \"a\"\r\nx: y\r\nif-none-match: *\r\n", "if-none-match: *\r\n"),
    ] {
        assert_eq!(get("/simple/demo/", lines), get("/simple/demo/", line), "{lines}");
    }
    assert!(get("/simple/demo/", "accept: image/png\r\naccept: text/html\r\n").status.ends_with("200 OK"));
}

#[tokio::test(flavor = "multi_thread")]
async fn hyper_and_the_fast_path_reject_equally() {
    let (index, dir) = (index(), tempfile::tempdir().unwrap());
    let tokens = dir.path().join("tokens");
    std::fs::write(&tokens, "0123456789abcdef").unwrap();
    let guard = guard::Config { tokens_file: Some(tokens), ..guard::Config::default() };
    let proxy = start_with(&[index.url("/simple")], |setup| {
        setup.serve.guard = Some(Guard::new(guard).unwrap().into());
        setup.pages.rules.deny.push(ProjectPattern::parse("denied").unwrap().into());
    });
    let token = "authorization: Bearer 0123456789abcdef\r\n";
    let fields = ["", "authorization: Bearer no\r\n", "authorization: Basic !\r\n", token];
    let paths = ["/simple/demo/small-1.0.whl", "/simple/demo/", "/simple/denied/", "/livez", "/x"];
    let responses = compare(proxy.address(), &paths, &fields);
    for expected in ["200 OK", "401 Unauthorized", "403 Project Denied By This Proxy", "404 Not Found"] {
        let status = format!("HTTP/1.1 {expected}");
        assert!(responses.iter().any(|response| response.status == status), "{expected}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn pipelined_requests_are_answered_in_order() {
    let index = index();
    let proxy = warm(&index).await;
    let mut stream = TcpStream::connect(proxy.address()).unwrap();
    let get = |path: &str, more: &str| format!("GET {path} HTTP/1.1\r\nhost: x\r\n{more}\r\n");
    // The fourth request and the body of the fifth are served by hyper.
    let all = get("/livez", "")
        + &get("/simple/demo/medium-1.0.whl", "")
        + &get("/simple/demo/small-1.0.whl", "")
        + &get("/livez", "te: trailers\r\n")
        + "POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 3\r\n\r\nabc"
        + "HEAD /livez HTTP/1.1\r\nhost: x\r\n\r\n"
        + &get("/simple/demo/small-1.0.whl", "connection: close\r\n");
    for piece in all.as_bytes().chunks(100) {
        stream.write_all(piece).unwrap();
        stream.flush().unwrap();
    }
    assert_eq!(read_answer(&mut stream, false).body, "ok\n");
    assert_eq!(read_answer(&mut stream, false).body, content(200_000));
    assert_eq!(read_answer(&mut stream, false).body, content(900));
    assert_eq!(read_answer(&mut stream, false).body, "ok\n");
    assert!(read_answer(&mut stream, false).status.contains("405"));
    assert!(read_answer(&mut stream, true).status.contains("200"));
    assert_eq!(read_answer(&mut stream, false).body, content(900));
    assert_eq!(stream.read(&mut [0]).unwrap(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn large_files_arrive_intact() {
    let index = index();
    let proxy = warm(&index).await;
    let large = content(LARGE);
    for more in ["", "te: trailers\r\n"] {
        let address = proxy.address();
        let get =
            |range: &str| format!("GET /simple/demo/large-1.0.whl HTTP/1.1\r\nhost: x\r\n{range}{more}\r\n");
        let all = send(address, &get(""));
        let part = send(address, &get("range: bytes=3000000-9999999\r\n"));
        assert!(all.body == large && part.body == large.slice(3_000_000..10_000_000));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn slow_clients_are_disconnected() {
    let index = index();
    let short = Duration::from_millis(300);
    // The cache is filled by a proxy with long timeouts.
    let dir = tempfile::tempdir().unwrap();
    let setup = || Setup::new(dir.path(), &[index.url("/simple")]);
    let patient = setup().start().await;
    fill(&patient).await;
    patient.stop().await;
    let mut setup = setup();
    (setup.server.header_timeout, setup.server.send_timeout) = (short, short);
    setup.server.max_connections = 1;
    let proxy = setup.start().await;
    let large = "GET /simple/demo/large-1.0.whl HTTP/1.1\r\nhost: x\r\n";
    // A silent client, one with half a header, and two that do not read their responses, in sequence.
    let requests =
        [String::new(), "GET / HT".into(), format!("{large}\r\n"), format!("{large}te: trailers\r\n\r\n")];
    let mut streams = Vec::new();
    for request in requests {
        let socket = tokio::net::TcpSocket::new_v4().unwrap();
        // Otherwise the system could buffer the whole file.
        socket.set_recv_buffer_size(64 << 10).unwrap();
        let mut stream = socket.connect(proxy.address()).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        streams.push(stream);
    }
    // All of them are disconnected, and there is room for a regular client.
    let live = send(proxy.address(), "GET /livez HTTP/1.1\r\nhost: x\r\n\r\n");
    assert_eq!(live.body, "ok\n");
    for (at, mut stream) in streams.into_iter().enumerate() {
        let mut read = Vec::new();
        let _ = stream.read_to_end(&mut read).await;
        assert!(read.len() < LARGE, "{at}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn responses_in_flight_complete_during_shutdown() {
    let index = index();
    let proxy = warm(&index).await;
    let address = proxy.address();
    let idle = tokio::net::TcpStream::connect(proxy.address()).await.unwrap();
    let response = proxy.get("/simple/demo/large-1.0.whl", &[]).await;
    let (body, ()) = tokio::join!(response.bytes(), proxy.stop());
    assert_eq!(body.unwrap(), content(LARGE));
    drop(idle);
    assert!(TcpStream::connect(address).is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn tls_is_supported() {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let (certificate, key) = (made.cert.pem(), made.signing_key.serialize_pem());
    assert!(Tls::from_pem(b"", key.as_bytes()).unwrap_err().is_config());
    assert!(Tls::from_pem(certificate.as_bytes(), b"x").unwrap_err().is_config());
    let other = rcgen::KeyPair::generate().unwrap().serialize_pem();
    let error = Tls::from_pem(certificate.as_bytes(), other.as_bytes()).unwrap_err();
    assert!(error.is_config() && !format!("{error:?}").contains("PRIVATE"));
    let tls = Tls::from_pem(certificate.as_bytes(), key.as_bytes()).unwrap();

    let index = index();
    let proxy = start_with(&[index.url("/simple")], |setup| setup.server.tls = Some(tls));
    let root = reqwest::Certificate::from_pem(certificate.as_bytes()).unwrap();
    let url = format!("https://localhost:{}/simple/demo/large-1.0.whl", proxy.address().port());
    for is_old in [true, false] {
        let mut client = reqwest::Client::builder().tls_certs_only([root.clone()]);
        if is_old {
            client = client.http1_only();
        }
        let client = client.resolve("localhost", proxy.address()).build().unwrap();
        let response = client.get(&url).send().await.unwrap();
        let version = if is_old { reqwest::Version::HTTP_11 } else { reqwest::Version::HTTP_2 };
        assert_eq!(response.version(), version);
        assert_eq!(response.bytes().await.unwrap(), content(LARGE));
    }
    // Clients without TLS get no response.
    let plain = reqwest::get(format!("http://{}/livez", proxy.address())).await;
    assert!(plain.is_err());
}
