//! The `pypi_proxy_requests` suite: a request for a cached page over a persistent connection.
//!
//! Client and server share the process. The client does not allocate, so all allocations are the server's.

use std::future;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::process::ExitCode;
use std::sync::{Arc, OnceLock};
use std::{io, thread};

use benches::{Impl, Suite};
use pypi_proxy::page_cache::{self, PageCache};
use pypi_proxy::serve::{self, Proxy, Server, ServerConfig};
use pypi_proxy::store::{self, Store};
use pypi_proxy::upstream::{self, Upstream};
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};

benches::counting_allocator!();

const REQUEST: &[u8] = b"GET /simple/demo/ HTTP/1.1\r\nHost: x\r\nUser-Agent: pip/26.2\r\nAccept: \
    application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html; q=0.1, text/html; q=0.01\r\n\r\n";
const PAGE: &str = r#"{"meta":{"api-version":"1.1"},"name":"demo","versions":[],"files":[{"filename":"demo-1.0-py3-none-any.whl","url":"/f/demo-1.0-py3-none-any.whl","hashes":{"sha256":"0000000000000000000000000000000000000000000000000000000000000000"},"size":50000}]}"#;
fn main() -> ExitCode {
    benches::main("pypi_proxy", env!("CARGO_TARGET_TMPDIR"), rows)
}

fn rows(suite: &mut Suite) -> anyhow::Result<()> {
    const ROW: &str = "allocs_per_request";
    // The proxy is the same in all passes, because it takes long to start.
    static PROXY: OnceLock<(SocketAddr, TempDir, Runtime)> = OnceLock::new();
    let mut client = match suite.selects(ROW) {
        true => Some(Client::connect(PROXY.get_or_init(|| start().unwrap()).0)?),
        false => None,
    };
    let mut request = || client.as_mut().map_or(0, |client| client.request().unwrap());
    let length = request();
    suite.row(ROW).elements(1).threads().run(Impl::ours("page").class("response"), length, request);
    Ok(())
}

/// Starts an index, and a proxy of it.
fn start() -> anyhow::Result<(SocketAddr, TempDir, Runtime)> {
    let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let dir = tempfile::tempdir()?;
    let index = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let url = format!("http://{}/simple", index.local_addr()?);
    thread::spawn(move || index.incoming().flatten().for_each(|stream| drop(respond(stream))));
    let guard = runtime.enter();
    let upstreams = vec![Arc::new(Upstream::new(upstream::Config::new(&url)?)?)];
    let store = Store::open(store::Config::new(dir.path().join("cache")))?;
    let config = page_cache::Config { dir: Some(store.pages_dir()), ..page_cache::Config::default() };
    let pages = PageCache::new(upstreams.clone(), config);
    let proxy = Proxy::new(upstreams, pages, store, serve::Config::default());
    let listener = runtime.block_on(tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)))?;
    let address = listener.local_addr()?;
    runtime.spawn(Server::new(proxy, ServerConfig::default()).serve(listener, future::pending::<()>()));
    drop(guard);
    Ok((address, dir, runtime))
}

/// Responds to one request as the index, for any path.
fn respond(stream: TcpStream) -> io::Result<()> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    while reader.read_line(&mut line)? > 2 {
        line.clear();
    }
    write!(
        reader.get_mut(),
        "HTTP/1.1 200 OK\r\nContent-Type: application/vnd.pypi.simple.v1+json\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n{PAGE}",
        PAGE.len()
    )
}

/// A client that does not allocate after it has connected.
struct Client {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Client {
    fn connect(address: SocketAddr) -> io::Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, buffer: vec![0; 16 * 1024] })
    }

    /// Requests the page and returns the length of the body.
    fn request(&mut self) -> io::Result<u64> {
        self.stream.write_all(REQUEST)?;
        let mut len = 0;
        loop {
            let read = self.stream.read(&mut self.buffer[len..])?;
            len += read;
            let (head, body) = match memchr::memmem::find(&self.buffer[..len], b"\r\n\r\n") {
                Some(end) => (&self.buffer[..end], len - end - 4),
                None if read == 0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                None => continue,
            };
            assert!(head.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(head));
            let length = length(head).ok_or(io::ErrorKind::InvalidData)?;
            if body as u64 == length {
                return Ok(length);
            }
        }
    }
}

/// Parses the length of the body from a header.
fn length(head: &[u8]) -> Option<u64> {
    const NAME: &[u8] = b"content-length: ";
    let mut lines = head.split(|byte| *byte == b'\n');
    let line = lines.find(|line| line.len() > NAME.len() && line[..NAME.len()].eq_ignore_ascii_case(NAME))?;
    std::str::from_utf8(line[NAME.len()..].trim_ascii()).ok()?.parse().ok()
}
