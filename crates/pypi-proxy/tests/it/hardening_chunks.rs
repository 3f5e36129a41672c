//! Chunk boundaries do not change the outcome for pages and files: complete or truncated, with limits around their
//! sizes.

use std::io::Read as _;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use futures_util::stream;
use pypi_proxy::store::{Config as StoreConfig, Expected, Store};
use pypi_proxy::upstream::{Config, PageResponse, Upstream, Validators};
use pypi_proxy::{Error, Page, ProjectList, ProjectName};
use test_support::{PIECE_SIZES, in_pieces, limits};

use crate::support::source::{Connection, ScriptedSource, content};
use crate::support::{HTML, JSON, Server, respond, streamed};

/// Response of a server: content coding, content type, chunks, and whether the connection breaks at the end.
#[derive(Clone, Default)]
struct Sent {
    headers: Vec<(&'static str, &'static str)>,
    pieces: Vec<Bytes>,
    breaks: bool,
}

fn page() -> String {
    let file = |number: usize| serde_json::json!({"filename": format!("six-{number}.0.zip"), "url": format!("/f/{number}"), "hashes": {}});
    serde_json::json!({"name": "six", "files": (0..20).map(file).collect::<Vec<_>>()}).to_string()
}

fn list() -> String {
    let project = |number: usize| serde_json::json!({"name": format!("project-{number}")});
    serde_json::json!({"projects": (0..20).map(project).collect::<Vec<_>>()}).to_string()
}

fn html() -> String {
    (0..20).map(|number| format!("<a href=\"/f/six-{number}.0.zip#md5=00\">six-{number}</a>\n")).collect()
}

fn encoded(coding: &str, document: &[u8]) -> Vec<u8> {
    let (mut encoded, level) = (Vec::new(), flate2::Compression::fast());
    match coding {
        "gzip" => flate2::read::GzEncoder::new(document, level).read_to_end(&mut encoded).unwrap(),
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
async fn outcome(upstream: &Upstream, project: Option<&ProjectName>) -> Result<Bytes, &'static str> {
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
    let sent = Arc::new(Mutex::new(Sent::default()));
    let now = sent.clone();
    let server = runtime.block_on(Server::start(move |_, _| {
        let Sent { headers, pieces, breaks } = now.lock().unwrap().clone();
        async move {
            let end = breaks.then(|| Err(std::io::Error::other("it breaks")));
            let mut response = respond(200, &headers, "");
            *response.body_mut() = streamed(stream::iter(pieces.into_iter().map(Ok).chain(end)));
            response
        }
    }));
    let six = ProjectName::parse("six").unwrap();
    for (document, content_type, project) in
        [(page(), JSON, Some(&six)), (html(), HTML, Some(&six)), (list(), JSON, None), (html(), HTML, None)]
    {
        for coding in ["identity", "gzip", "deflate", "zstd"] {
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
                        let pieces = pieces.iter().map(|piece| Bytes::copy_from_slice(piece)).collect();
                        let headers = vec![content_type, ("content-encoding", coding)];
                        let headers = headers.into_iter().filter(|(_, value)| *value != "identity").collect();
                        *sent.lock().unwrap() = Sent { headers, pieces, breaks };
                        let result = runtime.block_on(outcome(&upstream, project));
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

#[test]
fn truncated_pages_are_parsed_or_rejected() {
    for document in [page(), list()] {
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
