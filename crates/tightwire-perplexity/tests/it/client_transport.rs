//! Transport: TLS, HTTP versions, and compressed responses.
#![cfg(feature = "client")]

use std::time::Duration;

use futures_util::{FutureExt as _, StreamExt as _};
use http::Response;
use reqwest::Body;
use tightwire_perplexity::stream::EventStream;
use tightwire_perplexity::types::chat;
use tightwire_perplexity::{Call, Client, ClientBuilder, Connect, Proxy};

use crate::server::Server;
use crate::support::{Feed, chain, delta, get};

/// Bypasses proxies of the environment. The timeout is generous because the machine may be busy.
fn connect() -> Connect {
    Connect { proxy: Proxy::None, timeout: Some(TIMEOUT), ..Connect::default() }
}

fn builder(url: String) -> ClientBuilder {
    Client::builder().without_environment().api_key("key").base_url(url).max_retries(0).connect(connect())
}

/// Limit for events that are expected to happen.
const TIMEOUT: Duration = Duration::from_secs(60);

fn stream(client: &Client) -> Call<EventStream<chat::Completion>> {
    client.chat().stream(&chat::Request::new("sonar", "Say hello."))
}

fn answer(kind: &str, body: impl Into<Body>) -> Response<Body> {
    Response::builder().header("content-type", kind).body(body.into()).unwrap()
}

fn ok() -> Response<Body> {
    answer("application/json", "{\"status\":\"ok\"}")
}

const DONE: &str = "data: [DONE]\n\n";

/// Returns a function that returns `value` on its only call.
fn once<T: Send + 'static>(value: T) -> impl Fn() -> T + Send + Sync + 'static {
    let value = std::sync::Mutex::new(Some(value));
    move || value.lock().unwrap().take().expect("there is one answer")
}

/// Dropping a stream, a download or the future of a call closes the connection, which the server sees.
#[tokio::test]
async fn server_sees_dropped_calls() {
    for path in ["/chat/completions", "/v1/files/f/content", "/x"] {
        let (body, feed) = Feed::new();
        let body = once(body);
        let server = Server::start(None, move |_| answer("text/event-stream", body())).await;
        let client = builder(format!("http://{}", server.address)).build().unwrap();
        feed.send(&delta("Hel"));
        match path {
            "/chat/completions" => {
                let mut chunks = stream(&client).await.unwrap();
                assert!(chunks.next().await.unwrap().is_ok());
                assert!(!feed.is_cancelled());
            }
            "/v1/files/f/content" => {
                let mut file = client.files().content("f").await.unwrap();
                assert!(file.next().await.unwrap().is_ok());
                assert!(!feed.is_cancelled());
            }
            _ => {
                let mut call = std::pin::pin!(get(&client).send());
                while server.versions().is_empty() {
                    assert!((&mut call).now_or_never().is_none());
                    tokio::task::yield_now().await;
                }
            }
        }
        let seen = tokio::time::timeout(TIMEOUT, feed.cancelled()).await;
        assert!(seen.is_ok(), "{path}: the server keeps sending");
    }
}

#[cfg(feature = "rustls")]
mod tls {
    use futures_util::future::join_all;
    use tightwire_perplexity::TimeoutPhase;

    use super::*;
    use crate::server::Identity;

    const BOTH: [&str; 2] = ["h2", "http/1.1"];

    fn trusting(identity: &Identity) -> Connect {
        Connect { root_certificates: identity.authority.clone(), ..connect() }
    }

    fn secure(server: &Server) -> ClientBuilder {
        builder(format!("https://{}", server.address))
    }

    #[tokio::test]
    async fn root_certificates_can_be_added() {
        let identity = Identity::new(&BOTH);
        let server = Server::start(Some(&identity), |_| ok()).await;
        let bundle = format!("{}\n{}", Identity::new(&BOTH).authority, identity.authority);
        let http = reqwest::Client::builder()
            .no_proxy()
            .tls_certs_only([reqwest::Certificate::from_pem(identity.authority.as_bytes()).unwrap()]);
        for builder in [
            secure(&server).connect(trusting(&identity)),
            secure(&server).connect(Connect { root_certificates: bundle, ..connect() }),
            secure(&server).http_client(http.build().unwrap()),
        ] {
            assert_eq!(get(&builder.build().unwrap()).await.unwrap()["status"], "ok");
        }
    }

    #[tokio::test]
    async fn unknown_root_certificates_are_rejected() {
        let server = Server::start(Some(&Identity::new(&BOTH)), |_| ok()).await;
        let other = trusting(&Identity::new(&BOTH));
        for client in [secure(&server), secure(&server).connect(other)] {
            let error = get(&client.build().unwrap()).await.unwrap_err();
            assert!(error.is_connection() && error.is_retryable(), "{error}");
            let text = chain(&error);
            assert!(text.contains("certificate"), "{text}");
            assert!(!text.contains("127.0.0.1"), "{text}");
        }
    }

    #[test]
    fn malformed_root_certificates_are_errors() {
        for authorities in [
            "nothing that is PEM",
            "-----BEGIN CERTIFICATE-----\nAAAA",
            "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
        ] {
            let connect = Connect { root_certificates: authorities.to_owned(), ..connect() };
            let error = builder("https://example.org".into()).connect(connect).build().unwrap_err();
            assert!(error.is_config(), "{error}");
        }
    }

    #[tokio::test]
    async fn highest_http_version_is_negotiated() {
        let best = if cfg!(feature = "http2") { http::Version::HTTP_2 } else { http::Version::HTTP_11 };
        for (protocols, expected) in [(&BOTH[..], best), (&BOTH[1..], http::Version::HTTP_11)] {
            let identity = Identity::new(protocols);
            let server = Server::start(Some(&identity), |_| ok()).await;
            let client = secure(&server).connect(trusting(&identity)).build().unwrap();
            get(&client).await.unwrap();
            assert_eq!(server.versions(), [expected]);
        }
    }

    #[tokio::test]
    async fn streams_and_calls_over_tls() {
        let identity = Identity::new(&BOTH);
        let server = Server::start(Some(&identity), |request| match request.uri().path() {
            "/chat/completions" => answer("text/event-stream", delta("Hel") + &delta("lo") + DONE),
            _ => ok(),
        })
        .await;
        let client = secure(&server).connect(trusting(&identity)).build().unwrap();
        assert_eq!(stream(&client).await.unwrap().text().concat().await.unwrap(), "Hello");
        for answer in join_all((0..8).map(|_| get(&client).send())).await {
            assert_eq!(answer.unwrap()["status"], "ok");
        }
        assert_eq!(server.versions().len(), 9);
    }

    /// The connect timeout includes the handshake.
    #[tokio::test]
    async fn connecting_times_out() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let connect = Connect { timeout: Some(Duration::from_millis(50)), ..connect() };
        let url = format!("https://{}", listener.local_addr().unwrap());
        let client = builder(url).connect(connect).max_retries(1).build().unwrap();
        for error in [get(&client).await.unwrap_err(), stream(&client).await.unwrap_err()] {
            assert_eq!(error.timeout_phase(), Some(TimeoutPhase::Connect), "{error}");
            assert_eq!(error.attempts(), 2);
        }
    }
}

/// HTTP/2 with prior knowledge, as inside a cluster.
#[cfg(feature = "http2")]
mod http2 {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use futures_util::future::join_all;

    use super::*;

    fn client(server: &Server) -> ClientBuilder {
        let http = reqwest::Client::builder().no_proxy().http2_prior_knowledge().build().unwrap();
        builder(format!("http://{}", server.address)).http_client(http)
    }

    #[tokio::test]
    async fn concurrent_calls_share_one_connection() {
        let server = Server::start(None, |_| ok()).await;
        let client = client(&server).build().unwrap();
        get(&client).await.unwrap();
        for answer in join_all((0..32).map(|_| get(&client).send())).await {
            assert_eq!(answer.unwrap()["status"], "ok");
        }
        assert_eq!(server.connection_count(), 1);
        assert!(server.versions().iter().all(|version| *version == http::Version::HTTP_2));
    }

    #[tokio::test]
    async fn dropped_stream_keeps_the_connection_open() {
        let (body, feed) = Feed::new();
        let body = once(body);
        let server = Server::start(None, move |request| match request.uri().path() {
            "/chat/completions" => answer("text/event-stream", body()),
            _ => ok(),
        })
        .await;
        let client = client(&server).build().unwrap();
        let mut parts = stream(&client).await.unwrap();
        feed.send(&delta("Hel"));
        assert_eq!(parts.next().await.unwrap().unwrap().delta_text(), Some("Hel"));
        drop(parts);
        // The server receives a reset; further data is discarded.
        feed.cancelled().await;
        get(&client).await.unwrap();
        assert_eq!(server.connection_count(), 1);
    }

    #[tokio::test]
    async fn truncated_bodies_are_retried() {
        let count = AtomicUsize::new(0);
        let broken = || {
            let (body, feed) = Feed::new();
            feed.send("{");
            feed.fail();
            body
        };
        let server = Server::start(None, move |_| match count.fetch_add(1, Ordering::Relaxed) {
            0 => answer("application/json", broken()),
            _ => ok(),
        })
        .await;
        let client = client(&server).max_retries(1).build().unwrap();
        let answer = get(&client).raw().await.unwrap();
        assert_eq!((&answer.value()["status"], answer.head().retries()), (&"ok".into(), 1));
        assert_eq!(server.connection_count(), 1);
    }
}

mod compression {
    use std::io::Write;
    use std::sync::{Arc, Mutex};

    use super::*;

    /// Compressed bytes that were not taken yet.
    #[derive(Clone, Default)]
    struct Output(Arc<Mutex<Vec<u8>>>);

    impl Output {
        fn take(&self) -> Vec<u8> {
            std::mem::take(&mut *self.0.lock().unwrap())
        }
    }

    impl Write for Output {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    /// Creates a compressor, which ends its output when it is dropped.
    type MakePacker = fn(Output) -> Box<dyn Write>;

    /// The enabled encodings with their compressors.
    fn encodings() -> Vec<(&'static str, MakePacker)> {
        vec![
            #[cfg(feature = "gzip")]
            ("gzip", |output| Box::new(flate2::write::GzEncoder::new(output, flate2::Compression::fast()))),
        ]
    }

    fn pack(packer: MakePacker, bytes: &[u8]) -> Vec<u8> {
        let output = Output::default();
        packer(output.clone()).write_all(bytes).unwrap();
        output.take()
    }

    fn plain(server: &Server) -> Client {
        builder(format!("http://{}", server.address)).build().unwrap()
    }

    fn encoded(name: &'static str, mut response: Response<Body>) -> Response<Body> {
        response.headers_mut().insert("content-encoding", http::HeaderValue::from_static(name));
        response
    }

    #[tokio::test]
    async fn enabled_encodings_are_requested() {
        let server = Server::start(None, |_| ok()).await;
        get(&plain(&server)).await.unwrap();
        let asked = server.encodings();
        let asked: Vec<&str> = asked.split(',').map(str::trim).collect();
        // Feature unification in the workspace may enable more.
        for (name, _) in encodings() {
            assert!(asked.contains(&name), "{name} in {asked:?}");
        }
    }

    #[tokio::test]
    async fn responses_and_errors_are_decompressed() {
        for (name, packer) in encodings() {
            let server = Server::start(None, move |request| match request.uri().path() {
                "/x" => encoded(name, answer("application/json", pack(packer, b"{\"status\":\"ok\"}"))),
                _ => {
                    let body = pack(packer, br#"{"error":{"message":"no such model","code":400}}"#);
                    let mut refusal = encoded(name, answer("application/json", body));
                    *refusal.status_mut() = http::StatusCode::BAD_REQUEST;
                    refusal
                }
            })
            .await;
            let client = plain(&server);
            let answer = get(&client).raw().await.unwrap();
            assert_eq!(answer.body(), "{\"status\":\"ok\"}", "{name}");
            let error = stream(&client).await.unwrap_err();
            assert_eq!((error.message(), error.code()), (Some("no such model"), Some("400")), "{name}");
        }
    }

    /// A chunk is returned as soon as it arrives, not at the end of the compressed body or when a buffer is
    /// full.
    #[tokio::test]
    async fn compressed_streams_are_decoded_as_they_arrive() {
        for (name, packer) in encodings() {
            let (body, feed) = Feed::new();
            let body = once(body);
            let server =
                Server::start(None, move |_| encoded(name, answer("text/event-stream", body()))).await;
            let mut parts = stream(&plain(&server)).await.unwrap();
            let output = Output::default();
            let mut packer = packer(output.clone());
            let mut pack = |text: &str| {
                packer.write_all(text.as_bytes()).unwrap();
                packer.flush().unwrap();
                output.take()
            };
            for text in ["Hel", "lo ", "\u{e9}\u{1f600}"] {
                // Byte by byte, which covers all split points.
                for byte in pack(&delta(text)) {
                    feed.send_bytes(&[byte]);
                }
                let part = tokio::time::timeout(TIMEOUT, parts.next()).await;
                let part = part.unwrap_or_else(|_| panic!("{name}: a part is held back"));
                assert_eq!(part.unwrap().unwrap().delta_text(), Some(text), "{name}");
            }
            feed.send_bytes(&pack(DONE));
            drop(packer);
            feed.send_bytes(&output.take());
            drop(feed);
            assert!(parts.next().await.is_none());
            assert!(parts.finished_cleanly());
        }
    }

    #[tokio::test]
    async fn truncated_compressed_streams_are_errors() {
        for (name, packer) in encodings() {
            let mut packed = pack(packer, (delta("Hel") + &delta(&"lo".repeat(5000))).as_bytes());
            packed.truncate(packed.len() - 9);
            let server =
                Server::start(None, move |_| encoded(name, answer("text/event-stream", packed.clone())))
                    .await;
            let mut parts = stream(&plain(&server)).await.unwrap();
            let error = loop {
                match parts.next().await {
                    Some(Ok(_)) => {}
                    Some(Err(error)) => break error,
                    None => panic!("{name}: the end was not missed"),
                }
            };
            assert!(error.is_connection(), "{name}: {error}");
            assert!(parts.next().await.is_none());
        }
    }

    /// The limit counts decompressed bytes, which protects against decompression bombs.
    #[tokio::test]
    async fn decompressed_size_is_limited() {
        for (name, packer) in encodings() {
            let bomb = pack(packer, &vec![b' '; 4 << 20]);
            assert!(bomb.len() < 1 << 16, "{name}");
            let server =
                Server::start(None, move |_| encoded(name, answer("application/json", bomb.clone()))).await;
            let client = builder(format!("http://{}", server.address)).max_body_size(1 << 20);
            let error = get(&client.build().unwrap()).await.unwrap_err();
            assert!(error.is_limit(), "{name}: {error}");
        }
    }
}
