//! Number of allocations per cached response.

use std::io::{Read, Write};
use std::sync::Arc;

use pypi_proxy::guard::{self, Guard};

use crate::support::file_index;
use crate::support::proxy::start_with;
use crate::support::source::content;
use test_support::counting;

const PAGE: &str = "GET /simple/demo/ HTTP/1.1\r\nHost: x\r\nUser-Agent: pip/26.2\r\nAccept-Encoding: gzip, deflate\r\n\
    Accept: application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html; q=0.1, text/html; q=0.01\r\n\r\n";
const KNOWN: &str = "GET /simple/demo/ HTTP/1.1\r\nHost: x\r\nAccept: */*\r\nIf-Modified-Since: Sun, 06 Nov 2044 08:49:37 GMT\r\n\r\n";
const FILE: &str = "GET /simple/demo/demo-1.0.whl HTTP/1.1\r\nHost: x\r\nAccept: */*\r\n\r\n";
const HEALTH: &str = "GET /livez HTTP/1.1\r\nHost: x\r\n\r\n";

#[test]
fn a_cached_response_takes_at_most_four_allocations() {
    check(None, &[(HEALTH, 4), (PAGE, 4), (KNOWN, 4), (FILE, 4)]);
}

/// Decoding a user name and password takes allocations.
#[test]
fn an_authenticated_cached_response_takes_few_more_allocations() {
    let dir = tempfile::tempdir().unwrap();
    let (tokens, users) = (dir.path().join("tokens"), dir.path().join("users"));
    std::fs::write(&tokens, "0123456789abcdef").unwrap();
    std::fs::write(&users, "ann:$2y$04$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WIrW").unwrap();
    let config = guard::Config {
        tokens_file: Some(tokens),
        htpasswd_file: Some(users),
        rate_limit: Some((1_000_000, 1_000_000)),
        ..guard::Config::default()
    };
    let with = |value: &str| FILE.replace("Accept", &format!("Authorization: {value}\r\nAccept"));
    let (token, password) = (with("Bearer 0123456789abcdef"), with("Basic YW5uOnNlY3JldA=="));
    check(Some(Guard::new(config).unwrap()), &[(&token, 4), (&password, 5)]);
}

/// Runs the server on the thread of the test and the client on another one.
fn check(guard: Option<Guard>, requests: &[(&str, usize)]) {
    const TIMES: usize = 200;

    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let index = runtime.block_on(file_index([("demo-1.0.whl", content(50_000))]));
    let proxy = runtime
        .block_on(start_with(&[index.url("/simple")], |setup| setup.serve.guard = guard.map(Arc::new)));
    for (request, most) in requests {
        let request = (*request).to_owned();
        let sent = request.clone();
        let address = proxy.address();
        let (warm, is_warm) = tokio::sync::oneshot::channel();
        let client = runtime.spawn_blocking(move || {
            let mut stream = std::net::TcpStream::connect(address).unwrap();
            let mut buffer = vec![0; 256 * 1024];
            let mut send = || {
                stream.write_all(sent.as_bytes()).unwrap();
                let mut len = 0;
                while !is_whole(&buffer[..len]) {
                    len += stream.read(&mut buffer[len..]).unwrap();
                }
            };
            for _ in 0..50 {
                send();
            }
            warm.send(()).unwrap();
            for _ in 0..TIMES {
                send();
            }
        });
        runtime.block_on(is_warm).unwrap();
        let (count, ()) = counting::allocations(|| runtime.block_on(client).unwrap());
        // Allows for occasional allocations that do not belong to a request.
        assert!(count <= most * TIMES + 50, "{count} allocations for {TIMES} of {request}");
    }
}

/// Returns whether a response is complete.
fn is_whole(bytes: &[u8]) -> bool {
    let Some(head) = bytes.windows(4).position(|end| end == b"\r\n\r\n") else { return false };
    let text = std::str::from_utf8(&bytes[..head]).unwrap();
    let field = |name| text.lines().find_map(|line| line.strip_prefix(name));
    let len: usize = field("content-length: ").map_or(0, |len| len.parse().unwrap());
    let status: u16 = text[9..12].parse().unwrap();
    assert!(matches!(status, 200 | 304));
    bytes.len() >= head + 4 + if status == 304 { 0 } else { len }
}
