//! Index with known files that counts the requests for each.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Response};

use crate::support::source::content;
use crate::support::{Body, JSON, Server, hashed_page, ranged_by, respond, streamed};

/// Files per project.
const EACH: usize = 4;
const CHUNK: usize = 64 << 10;
const LARGEST: usize = 8 << 20;

pub(crate) struct File {
    project: String,
    name: String,
    pub(crate) content: Bytes,
}

impl File {
    pub(crate) fn page(&self) -> String {
        format!("/simple/{}/", self.project)
    }

    pub(crate) fn path(&self) -> String {
        format!("/simple/{}/{}", self.project, self.name)
    }
}

pub(crate) struct Index {
    server: Server,
    pub(crate) files: Arc<Vec<Arc<File>>>,
}

impl Index {
    /// Index of `count` files of different lengths, with a delay before each 64 KiB of a file.
    pub(crate) async fn start(count: usize, len: impl Fn(usize) -> usize, delay: Duration) -> Self {
        let all = content(LARGEST + count);
        let file = |number: usize| {
            let project = format!("p{}", number / EACH);
            let name = format!("{project}-1.{number}-py3-none-any.whl");
            // Files start at different offsets, so that their content differs.
            Arc::new(File { project, name, content: all.slice(number..number + len(number).min(LARGEST)) })
        };
        let files: Arc<Vec<_>> = Arc::new((0..count).map(file).collect());
        let shelf = files.clone();
        let server = Server::start(move |path, headers| {
            let shelf = shelf.clone();
            async move {
                if let Some(name) = path.strip_prefix("/f/") {
                    let Some(file) = shelf.iter().find(|file| file.name == name) else {
                        return respond(404, &[], "");
                    };
                    return send(&file.content, &headers, delay);
                }
                let of = shelf.iter().filter(|file| file.page() == path);
                let page = hashed_page(of.map(|file| (file.name.clone(), file.content.clone())));
                respond(200, &[JSON], page)
            }
        })
        .await;
        Self { server, files }
    }

    pub(crate) fn url(&self) -> String {
        self.server.url("/simple/")
    }

    pub(crate) fn requests_for(&self, file: &File) -> usize {
        let path = format!("/f/{}", file.name);
        self.server.paths().iter().filter(|requested| **requested == path).count()
    }

    /// Asserts the number of requests for each of these files.
    pub(crate) fn was_asked(&self, files: &[Arc<File>], times: std::ops::RangeInclusive<usize>) {
        let counts: Vec<_> = files.iter().map(|file| (self.requests_for(file), &file.name)).collect();
        let wrong: Vec<_> = counts.iter().filter(|(count, _)| !times.contains(count)).collect();
        assert!(wrong.is_empty(), "{} of {} files: {wrong:?}", wrong.len(), files.len());
    }

    pub(crate) async fn stop(&self) {
        self.server.stop().await;
    }
}

fn send(content: &Bytes, headers: &HeaderMap, delay: Duration) -> Response<Body> {
    let etag = format!("\"{}\"", content.len());
    ranged_by(headers, &[("etag", &etag)], content.len(), |range| body(content.slice(range), delay))
}

fn body(rest: Bytes, delay: Duration) -> Body {
    let chunks = futures_util::stream::unfold(rest, move |mut rest| async move {
        if rest.is_empty() {
            return None;
        }
        if !delay.is_zero() {
            tokio::time::sleep(delay).await;
        }
        let chunk = rest.split_to(rest.len().min(CHUNK));
        Some((Ok(chunk), rest))
    });
    streamed(chunks)
}
