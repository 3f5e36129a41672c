//! Requests to an index, validation of its responses, allowed redirects and URLs, and independence of chunk boundaries.

use std::io::Read as _;
use std::sync::{Arc, Mutex};

use futures_util::TryStreamExt;
use pypi_proxy::store::{Config as StoreConfig, Expected, Store};
use pypi_proxy::upstream::{Config, PageResponse, Upstream, Validators};
use pypi_proxy::{Error, Page, ProjectList, ProjectName};
use test_support::{PIECE_SIZES, in_pieces, limits};

use crate::support::prelude::*;

fn six() -> ProjectName {
    ProjectName::parse("six").unwrap()
}

async fn collect(body: Result<pypi_proxy::upstream::FileBody, Error>) -> Result<Vec<u8>, Error> {
    body?
        .try_fold(Vec::new(), |mut all, chunk| async move {
            all.extend_from_slice(&chunk);
            Ok(all)
        })
        .await
}

#[tokio::test]
async fn credentials_are_sent_only_to_the_index() {
    let files = Server::start(|_| respond(200, &[], "file"));
    let elsewhere = files.url("/f/six.whl");
    let index = Server::start(move |request| match &*request.path {
        "/simple/six/" => respond(200, &[JSON], page("six", &[])),
        "/moved.whl" => respond(302, &[("location", &elsewhere)], ""),
        _ => respond(200, &[], "own"),
    });
    let url = index.url("/simple").replace("http://", "http://us%40er:se%3Acret@");
    let upstream = upstream(&url, |_| ());
    let page = upstream.page(Some(&six()), &Validators::default()).await.unwrap();
    assert!(matches!(page, PageResponse::Page(_)));
    // us@er:se:cret
    assert_eq!(index.last()["authorization"], "Basic dXNAZXI6c2U6Y3JldA==");
    assert!(index.last()["accept"].to_str().unwrap().starts_with("application/vnd.pypi.simple.v1+json"));
    let own = upstream.resolve(&six(), "/own.whl").unwrap();
    assert_eq!(collect(upstream.file(&own, 0, &Validators::default()).await).await.unwrap(), b"own");
    assert!(index.last().contains_key("authorization"));
    assert_eq!(index.last()["accept-encoding"], "identity");
    for link in [files.url("/f/six.whl"), index.url("/moved.whl")] {
        let url = upstream.resolve(&six(), &link).unwrap();
        assert_eq!(collect(upstream.file(&url, 0, &Validators::default()).await).await.unwrap(), b"file");
        assert!(!files.last().contains_key("authorization"), "{link}");
    }
    assert!(!format!("{upstream:?}").contains("cret"));
    assert!(!format!("{:?} {0}", Config::new(&url).unwrap()).contains("cret"));
}

#[test]
fn invalid_index_urls_are_rejected_without_printing_the_password() {
    let urls = " six ftp://u:secret@example.org/ http:// file:///simple https://u:secret@:0/ /simple";
    for url in urls.split(' ') {
        let error = Config::new(url).unwrap_err();
        assert!(error.is_config());
        assert!(!format!("{error} {error:?}").contains("secret"));
    }
    assert_eq!(Config::new("HTTP://Example.org/a/b?x=1#y").unwrap().to_string(), "http://example.org/a/b/");
    for pem in ["no certificate", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"] {
        let mut config = Config::new("https://example.org").unwrap();
        config.authorities.push(pem.into());
        assert!(Upstream::new(config).unwrap_err().is_config(), "{pem}");
    }
}

/// Returns a certificate for `localhost` in PEM, and a TLS configuration of a server with it.
#[cfg(feature = "cli")]
fn certificate() -> (String, pypi_proxy::serve::Tls) {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let (certificate, key) = (made.cert.pem(), made.signing_key.serialize_pem());
    let tls = pypi_proxy::serve::Tls::from_pem(certificate.as_bytes(), key.as_bytes()).unwrap();
    (certificate, tls)
}

/// The program starts without them, and reads them again after a failure.
#[cfg(feature = "cli")]
#[tokio::test(flavor = "multi_thread")]
async fn authorities_of_the_system_are_read_when_they_are_needed() {
    use crate::support::program::serve;

    let ((own, tls), (other, _)) = (certificate(), certificate());
    let plain = Server::start(|_| respond(200, &[JSON], page("six", &[])));
    let index = start_with(&[plain.url("/simple")], |setup| setup.server.tls = Some(tls));
    let url = format!("https://localhost:{}/simple/", index.address().port());
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("authorities.pem");
    let authorities = path.display().to_string();
    let env = [("SSL_CERT_FILE", &*authorities), ("PYPI_PROXY_INDEX_URL", &url)];
    let proxy = serve(dir.path(), &env).await;
    let status = async || reqwest::get(format!("{}/simple/six/", proxy.url)).await.unwrap().status().as_u16();
    assert_eq!(status().await, 502, "there are no authorities");
    std::fs::write(&path, &own).unwrap();
    until("the new authority is trusted", async || status().await == 200).await;
    proxy.kill().await;

    std::fs::write(&path, &other).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let proxy = serve(dir.path(), &env).await;
    let response = reqwest::get(format!("{}/simple/six/", proxy.url)).await.unwrap();
    assert_eq!(response.status(), 502, "the certificate has another authority");
    proxy.kill().await;
    // Additional authorities are trusted as well.
    std::fs::write(dir.path().join("own.pem"), &own).unwrap();
    let own = dir.path().join("own.pem").display().to_string();
    let proxy = serve(dir.path(), &[&env[..], &[("PYPI_PROXY_CA_FILES", &own)]].concat()).await;
    let response = reqwest::get(format!("{}/simple/six/", proxy.url)).await.unwrap();
    assert_eq!(response.status(), 200);
    proxy.kill().await;
}

#[test]
fn urls_are_resolved_against_the_page() {
    let upstream = upstream("https://example.org/base/simple", |_| ());
    let resolve = |url: &str| upstream.resolve(&six(), url).map(|url| url.to_string());
    assert_eq!(resolve("six-1.0.whl").unwrap(), "https://example.org/base/simple/six/six-1.0.whl");
    assert_eq!(resolve("../../f/six-1.0.whl").unwrap(), "https://example.org/base/f/six-1.0.whl");
    assert_eq!(resolve("//files.example.org/x").unwrap(), "https://files.example.org/x");
    assert!(resolve("http://files.example.org/x").unwrap_err().is_forbidden());
    assert!(resolve("https://127.0.0.1/x").unwrap_err().is_forbidden());
    assert!(resolve("https://[x/").unwrap_err().is_upstream());
}

#[tokio::test]
async fn downloads_resume_only_if_the_validators_match() {
    let server = Server::start(|request| {
        let text = |name: &str| request.headers.get(name).map(|value| value.to_str().unwrap().to_owned());
        assert_eq!(text("range").as_deref(), Some("bytes=4-"));
        assert_eq!(text("if-range").as_deref(), (request.path != "/weak").then_some("\"v1\""));
        match &*request.path {
            "/changed" => respond(200, &[("etag", "\"v2\"")], "new content"),
            _ => respond(206, &[("content-range", "bytes 4-9/10"), ("etag", "\"v1\"")], "456789"),
        }
    });
    let upstream = upstream(&server.url("/simple"), |_| ());
    let known = Validators { etag: Some("\"v1\"".into()), last_modified: None };
    let body = upstream.file(&server.url("/same").parse().unwrap(), 4, &known).await.unwrap();
    assert_eq!((body.start, body.len, body.validators.clone()), (4, Some(10), known.clone()));
    assert_eq!(collect(Ok(body)).await.unwrap(), b"456789");
    let body = upstream.file(&server.url("/changed").parse().unwrap(), 4, &known).await.unwrap();
    assert_eq!((body.start, body.len), (0, Some(11)));
    let weak = Validators { etag: Some("W/\"v1\"".into()), last_modified: None };
    upstream.file(&server.url("/weak").parse().unwrap(), 4, &weak).await.unwrap();
}

#[tokio::test]
async fn a_silent_index_times_out() {
    let server = Server::start(|_| vec![Step::Stall]);
    let short = |config: &mut Config| config.read_timeout = Duration::from_millis(200);
    let error = upstream(&server.url("/simple"), short).page(None, &Validators::default()).await.unwrap_err();
    assert!(error.is_timeout(), "{error:?}");
    server.stop().await;
    let error =
        upstream(&server.url("/simple"), |_| ()).page(None, &Validators::default()).await.unwrap_err();
    assert!(error.is_upstream(), "{error:?}");
    assert!(!format!("{error:?}").contains("/simple"), "{error:?}");
}

#[tokio::test]
async fn a_private_index_can_not_redirect_to_other_private_addresses() {
    let forbidden = "http://169.254.169.254/latest/meta-data http://[::ffff:169.254.169.254]/latest/meta-data \
        http://[fd00:ec2::254]/latest/meta-data http://10.255.255.1/x.whl http://0.0.0.0/x.whl";
    for place in forbidden.split(' ') {
        let index = Server::start(move |request| {
            match &*request.path {
                // Also after a second redirect.
                "/twice.whl" => respond(302, &[("location", "/once.whl")], ""),
                _ => respond(302, &[("location", place)], ""),
            }
        });
        let short = |config: &mut Config| config.connect_timeout = Duration::from_millis(100);
        let upstream = upstream(&index.url("/simple"), short);
        let error = upstream.page(Some(&six()), &Validators::default()).await.unwrap_err();
        assert!(error.is_forbidden(), "{place}: {error:?}");
        for link in ["/once.whl", "/twice.whl"] {
            let url = upstream.resolve(&six(), link).unwrap();
            let error = upstream.file(&url, 0, &Validators::default()).await.unwrap_err();
            assert!(error.is_forbidden(), "{place} {link}: {error:?}");
        }
        assert!(upstream.resolve(&six(), place).unwrap_err().is_forbidden(), "{place}");
    }
}

/// An HTTP proxy from the environment with a private address is allowed; requests through it are checked by URL.
#[cfg(feature = "cli")]
#[tokio::test(flavor = "multi_thread")]
async fn addresses_are_checked_behind_an_http_proxy() {
    use crate::support::program::serve;

    let proxy = Server::start(|request| match &*request.path {
        "/simple/six/" => {
            let files = [
                ("six-1.0.whl", "http://169.254.169.254/six-1.0.whl"),
                ("six-2.0.whl", "http://files.invalid/moved"),
                ("six-3.0.whl", "http://localhost/six-3.0.whl"),
                ("six-4.0.whl", "http://files.invalid/six-4.0.whl"),
            ];
            respond(200, &[JSON], page("six", &files).replace("\"size\":1", "\"size\":6"))
        }
        "/moved" => respond(302, &[("location", "http://169.254.169.254/")], ""),
        _ => respond(200, &[], "passed"),
    });
    let dir = tempfile::tempdir().unwrap();
    let by_name = format!("http://localhost:{}", proxy.address().port());
    let env = [
        ("HTTP_PROXY", &*by_name),
        ("PYPI_PROXY_INDEX_URL", "http://packages.invalid/simple/"),
        ("PYPI_PROXY_DOWNLOAD_TIMEOUT", "never"),
    ];
    let served = serve(dir.path(), &env).await;
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    for (file, status) in
        [("six-1.0.whl", 403), ("six-2.0.whl", 403), ("six-3.0.whl", 403), ("six-4.0.whl", 200)]
    {
        let response = client.get(format!("{}/simple/six/{file}", served.url)).send().await.unwrap();
        assert_eq!(response.status(), status, "{file}");
    }
    assert_eq!(proxy.paths(), ["/simple/six/", "/moved", "/six-4.0.whl"]);
}

fn page_of_six() -> String {
    let file = |number: usize| json!({"filename": format!("six-{number}.0.zip"), "url": format!("/f/{number}"), "hashes": {}});
    json!({"name": "six", "files": (0..20).map(file).collect::<Vec<_>>()}).to_string()
}

fn list() -> String {
    let project = |number: usize| json!({"name": format!("project-{number}")});
    json!({"projects": (0..20).map(project).collect::<Vec<_>>()}).to_string()
}

fn html() -> String {
    (0..20).map(|number| format!("<a href=\"/f/six-{number}.0.zip#md5=00\">six-{number}</a>\n")).collect()
}

fn encoded(coding: &str, document: &[u8]) -> Vec<u8> {
    let (mut encoded, level) = (Vec::new(), flate2::Compression::fast());
    match coding {
        "gzip" | "x-gzip" | "identity, GZIP" => {
            flate2::read::GzEncoder::new(document, level).read_to_end(&mut encoded).unwrap()
        }
        "deflate" => flate2::read::ZlibEncoder::new(document, level).read_to_end(&mut encoded).unwrap(),
        "zstd" => return zstd::bulk::compress(document, 1).unwrap(),
        _ => return document.to_vec(),
    };
    encoded
}

fn kind(error: &Error) -> &'static str {
    if error.is_limit() {
        "limit"
    } else if error.is_page() {
        "page"
    } else {
        "upstream"
    }
}

/// Parses a body. Returns the document for clients or the kind of error.
async fn parsed(upstream: &Upstream, project: Option<&ProjectName>) -> Result<Bytes, &'static str> {
    let response = upstream.page(project, &Validators::default()).await.map_err(|error| kind(&error))?;
    let PageResponse::Page(body) = response else { panic!("{response:?}") };
    let json = match (project, body.is_json) {
        (Some(_), true) => Page::from_json(body.bytes).map(|page| page.json().clone()),
        (Some(_), false) => Page::from_html(&body.bytes).map(|page| page.json().clone()),
        (None, true) => ProjectList::from_json(body.bytes).map(|list| list.json().clone()),
        (None, false) => ProjectList::from_html(&body.bytes).map(|list| list.json().clone()),
    };
    json.map_err(|error| kind(&error))
}

#[test]
fn pages_do_not_depend_on_chunk_boundaries() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let sent = Arc::new(Mutex::new(Vec::new()));
    let now = sent.clone();
    let server = runtime.block_on(async { Server::start(move |_| now.lock().unwrap().clone()) });
    let six = ProjectName::parse("six").unwrap();
    for (document, content_type, project) in [
        (page_of_six(), JSON, Some(&six)),
        (html(), HTML, Some(&six)),
        (list(), JSON, None),
        (html(), HTML, None),
    ] {
        for coding in ["identity", "gzip", "x-gzip", "identity, GZIP", "deflate", "zstd"] {
            let whole = encoded(coding, document.as_bytes());
            // Complete, truncated with a regular end, and truncated by a broken connection.
            for (input, breaks) in
                [(&whole[..], false), (&whole[..whole.len() / 2], false), (&whole[..whole.len() / 2], true)]
            {
                for limit in limits(document.len()) {
                    let mut config = Config::new(&server.url("/simple")).unwrap();
                    config.max_page = limit as u64;
                    let upstream = Upstream::new(config).unwrap();
                    let result = in_pieces(input, |pieces| {
                        let mut headers = vec![content_type, ("content-encoding", coding)];
                        headers.retain(|(_, value)| *value != "identity");
                        if breaks {
                            // More bytes than are sent.
                            headers.push(("content-length", "1000000"));
                        }
                        let pieces = pieces.iter().map(|piece| Step::Send(Bytes::copy_from_slice(piece)));
                        *sent.lock().unwrap() = [head(200, &headers)].into_iter().chain(pieces).collect();
                        let result = runtime.block_on(parsed(&upstream, project));
                        // For truncated bodies, it is undefined whether the limit or the end is detected first.
                        if input.len() < whole.len() {
                            result.is_err().then(Bytes::new).ok_or("cut")
                        } else {
                            result
                        }
                    });
                    let what = format!("{coding} {content_type:?} {limit}");
                    if input.len() == whole.len() {
                        assert_eq!(result.is_ok(), limit >= document.len(), "{what}: {result:?}");
                        assert!(result.is_ok() || result == Err("limit"), "{what}: {result:?}");
                    } else if limit >= document.len() && (breaks || content_type == JSON) {
                        // A truncated JSON document is invalid. A truncated HTML document is valid if its end was
                        // regular.
                        assert!(result.is_ok(), "{what}: not refused");
                    }
                }
            }
        }
    }
}

#[tokio::test]
async fn pages_are_decoded_from_the_charset_of_their_mark_or_header() {
    let text = "<a href='/f/six-1.0.zip' data-yanked='d\u{e9}faut'>six</a>";
    let utf16 = |mark: &str, bytes: fn(u16) -> [u8; 2]| {
        format!("{mark}{text}").encode_utf16().flat_map(bytes).collect::<Vec<u8>>()
    };
    let latin: Vec<u8> = text.chars().map(|char| u8::try_from(char).unwrap()).collect();
    for (content_type, body) in [
        ("text/html", utf16("\u{feff}", u16::to_le_bytes)),
        ("text/html; charset=utf-8", utf16("\u{feff}", u16::to_be_bytes)),
        ("text/html; x=y; charset=UTF-16LE; z=1", utf16("", u16::to_le_bytes)),
        ("text/html;charset=\"ISO-8859-1\"", latin),
        ("text/html; charset=unknown", text.into()),
        ("text/html", format!("\u{feff}{text}").into()),
    ] {
        // 203 is the status of a proxy that has changed the response.
        let server = Server::start(move |_| respond(203, &[("content-type", content_type)], body.clone()));
        let page = parsed(&upstream(&server.url("/simple"), |_| ()), Some(&six())).await.unwrap();
        let yanked = std::str::from_utf8(&page).unwrap().contains("d\u{e9}faut");
        assert!(yanked, "{content_type}: {page:?}");
    }
}

#[tokio::test]
async fn a_part_that_was_not_requested_is_not_the_whole_file() {
    let server = Server::start(|_| respond(206, &[("content-range", "bytes 0-3/*")], "0123"));
    let url = server.url("/f").parse().unwrap();
    let file = upstream(&server.url("/simple"), |_| ()).file(&url, 0, &Validators::default()).await;
    assert!(file.unwrap_err().is_upstream());
}

#[test]
fn truncated_pages_are_parsed_or_rejected() {
    for document in [page_of_six(), list()] {
        for end in 0..document.len() {
            let part = &document.as_bytes()[..end];
            assert!(Page::from_json(part.to_vec()).is_err_and(|error| error.is_page()), "{end}");
            assert!(ProjectList::from_json(part.to_vec()).is_err_and(|error| error.is_page()), "{end}");
        }
    }
    let document = html();
    let whole = Page::from_html(document.as_bytes()).unwrap().files().len();
    for end in 0..document.len() {
        let files = Page::from_html(&document.as_bytes()[..end]).unwrap().files().len();
        assert!(files <= whole, "{end}");
    }
}

#[tokio::test]
async fn files_do_not_depend_on_chunk_boundaries() {
    const LEN: usize = 5000;
    for chunk in PIECE_SIZES {
        for limit in limits(LEN) {
            for (bytes, tells_len) in [(None, true), (None, false), (Some(LEN / 2), true)] {
                let dir = tempfile::tempdir().unwrap();
                let config = StoreConfig::new(dir.path().join("cache"));
                let config = StoreConfig { max_file: limit as u64, retries: 0, ..config };
                let store = Store::open(config).unwrap();
                let connection =
                    Connection { chunk, bytes, tells_len, resumes: false, ..Connection::default() };
                let source = ScriptedSource::new(content(LEN), vec![connection; 4]);
                let expected = Expected { size: None, ..source.expected() };
                let result = source.download_as(&store, source.key(), expected).done().await;
                let what = format!("{chunk} {limit} {bytes:?} {tells_len}");
                match result {
                    Ok(stored) => {
                        assert!(bytes.is_none() && limit >= LEN, "{what}");
                        assert_eq!(stored.unwrap().len, LEN as u64, "{what}");
                    }
                    Err(error) if limit < LEN => assert!(error.is_limit(), "{what}: {error}"),
                    Err(error) => assert!(bytes.is_some() && error.is_corrupt(), "{what}: {error}"),
                }
            }
        }
    }
}
