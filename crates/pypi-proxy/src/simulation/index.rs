//! Model of an index: pages that get more and more files, and connections that fail.

use std::collections::{HashMap, HashSet};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use std::{io, iter};

use bytes::Bytes;
use futures_util::StreamExt as _;
use http::header::{CONTENT_RANGE, CONTENT_TYPE, ETAG, IF_NONE_MATCH, RANGE, RETRY_AFTER};
use http_body::{Body, Frame, SizeHint};
use reqwest::{Request, Response, ResponseBuilderExt as _};
use test_support::simulation::Random;
use tightwire_json::json;
use tokio::time::{Instant, Sleep, sleep};

use super::world::{Process, below, chance, fail, log, pause, pick, process, with};
use crate::store::Digest;

/// Read timeout of the proxy.
const TIMEOUT: u64 = 30_000;
/// Lengths of files.
const LENGTHS: [usize; 6] = [1, 900, 5_000, 40_000, 70_000, 150_000];

/// A file that an index has or will have.
pub(super) struct File {
    pub(super) name: String,
    pub(super) content: Bytes,
    pub(super) digest: Digest,
    has_hash: bool,
    has_size: bool,
    /// When the index got it.
    pub(super) published: Option<Instant>,
}

#[derive(Default)]
pub(super) struct Index {
    /// Files of each project.
    pub(super) projects: Vec<Vec<File>>,
    /// Percentage of requests that fail.
    pub(super) faults: usize,
    pub(super) is_down: bool,
    pub(super) has_serials: bool,
    /// Downloads in progress of each file.
    active: HashMap<(Process, String), usize>,
    /// Downloads so far of each file.
    pub(super) started: HashMap<(Process, String), usize>,
    /// Whether each process has at most one download of a file at a time.
    pub(super) is_single: bool,
    /// Files that a process has, so that it does not download them again.
    pub(super) accepted: HashSet<(Process, String)>,
    /// Value of `started` at the last purge of each file.
    pub(super) purged: HashMap<(Process, String), Option<usize>>,
    /// Whether at most one download of each file is allowed, by all processes together.
    pub(super) is_shared: bool,
}

impl Index {
    pub(super) fn new(random: &mut Random) -> Self {
        let project = |project: usize, random: &mut Random| {
            let file = |number: usize| {
                let mut bytes = random.clone();
                let len = random.pick(&LENGTHS);
                random.number();
                let content: Bytes = iter::once(b'x')
                    .chain(iter::repeat_with(|| bytes.number().to_le_bytes()).flatten())
                    .take(len)
                    .collect();
                let digest = Digest::of(&content);
                let name = format!("p{project}-{number}.tar");
                let (has_hash, has_size) = (random.chance(80), random.chance(80));
                File { name, content, digest, has_hash, has_size, published: None }
            };
            (0..6).map(file).collect::<Vec<_>>()
        };
        let projects = (0..2).map(|number| project(number, random)).collect();
        Self { projects, has_serials: random.chance(50), ..Self::default() }
    }

    /// Publishes the next file of a project.
    pub(super) fn publish(&mut self, project: usize) {
        if let Some(file) = self.projects[project].iter_mut().find(|file| file.published.is_none()) {
            file.published = Some(Instant::now());
        }
    }

    pub(super) fn file(&self, name: &str) -> Option<&File> {
        self.projects.iter().flatten().find(|file| file.name == name)
    }

    /// Returns the number of files of a project.
    pub(super) fn version(&self, project: usize) -> usize {
        self.projects[project].iter().filter(|file| file.published.is_some()).count()
    }

    fn page(&self, project: usize) -> String {
        let published = self.projects[project].iter().filter(|file| file.published.is_some());
        let files = published.map(|file| {
            let mut entry =
                json!({"filename": file.name.as_str(), "url": format!("/f/{}", file.name), "hashes": {}});
            if file.has_hash {
                entry["hashes"] = json!({"sha256": file.digest.to_string()});
            }
            if file.has_size {
                entry["size"] = (file.content.len() as u64).into();
            }
            entry
        });
        let files: Vec<_> = files.collect();
        json!({"meta": {"api-version": "1.1"}, "name": format!("p{project}"), "versions": [], "files": files})
            .to_string()
    }

    /// Responds to a request of a proxy.
    pub(super) async fn respond(request: Request) -> reqwest::Result<Response> {
        let path = request.url().path().to_owned();
        let text = |name: http::HeaderName| {
            request.headers().get(name).and_then(|value: &http::HeaderValue| value.to_str().ok())
        };
        let (range, known) = (text(RANGE).map(str::to_owned), text(IF_NONE_MATCH).map(str::to_owned));
        let file = path.strip_prefix("/f/").map(str::to_owned);
        // Ranges for clients have an end.
        let is_download = file.is_some() && range.as_ref().is_none_or(|range| range.ends_with('-'));
        let active = file.clone().filter(|_| is_download).map(Active::new);
        log(format_args!("index: {path} {}", range.as_deref().unwrap_or_default()));
        pause(pick(&[0, 1, 5, 50, 400, 3_000])).await;
        let fault =
            with(|world| world.index.is_down || world.random.chance(world.index.faults)).then(|| below(4));
        let builder = http::Response::builder().url(request.url().clone());
        match fault {
            Some(0) => return Err(failure().await),
            Some(1) => {
                pause(TIMEOUT).await;
                return Err(failure().await);
            }
            Some(2) => return Ok(builder.status(500).body("").expect("a response").into()),
            Some(_) => {
                let builder = builder.status(503).header(RETRY_AFTER, pick(&["0", "2", "100"]));
                return Ok(builder.body("").expect("a response").into());
            }
            None => {}
        }
        let Some(name) = file else {
            let project = usize::from(path.contains("p1"));
            let (version, page, has_serials) = with(|world| {
                (world.index.version(project), world.index.page(project), world.index.has_serials)
            });
            pause(pick(&[0, 1, 50, 2_000])).await;
            let etag = format!("\"{version}\"");
            let mut builder = builder.header(ETAG, &etag);
            if has_serials {
                builder = builder.header("x-pypi-last-serial", version);
            }
            log(format_args!("index: {path} has version {version}"));
            let (status, page) = match version {
                0 => (404, String::new()),
                _ if known == Some(etag.clone()) => (304, String::new()),
                _ => (200, page),
            };
            let builder = builder.status(status).header(CONTENT_TYPE, "application/vnd.pypi.simple.v1+json");
            let body = Connection::new(page.into(), None, false);
            return Ok(builder.body(reqwest::Body::wrap(body)).expect("a response").into());
        };
        let found = with(|world| world.index.file(&name).map(|file| (file.content.clone(), file.has_hash)));
        let Some((content, has_hash)) = found else {
            return Ok(builder.status(404).body("").expect("a response").into());
        };
        let len = content.len();
        let faults = with(|world| world.index.faults);
        let bounds = range.as_deref().and_then(|range| range.strip_prefix("bytes=")?.split_once('-'));
        let bounds = bounds.map(|(first, last)| {
            let last: usize = last.parse().unwrap_or(usize::MAX);
            (first.parse().unwrap_or(0), last.saturating_add(1).min(len))
        });
        let builder = builder.header(ETAG, "\"e\"");
        let (builder, content) = match bounds.filter(|(first, end)| first < end && !chance(faults)) {
            Some((first, end)) => {
                let range = format!("bytes {first}-{}/{len}", end - 1);
                (builder.status(206).header(CONTENT_RANGE, range), content.slice(first..end))
            }
            None => (builder, content),
        };
        let body = Connection::new(content, active, has_hash && is_download);
        Ok(builder.body(reqwest::Body::wrap(body)).expect("a response").into())
    }
}

/// Creates an error of a connection.
async fn failure() -> reqwest::Error {
    let broken =
        futures_util::stream::iter([Err::<Bytes, _>(io::Error::from(io::ErrorKind::ConnectionReset))]);
    let response: Response = http::Response::new(reqwest::Body::wrap_stream(broken)).into();
    let first = response.bytes_stream().next().await;
    first.expect("an item").expect_err("the connection is broken")
}

/// A download in progress.
struct Active(Process, String);

impl Active {
    fn new(name: String) -> Self {
        let process = process();
        let problem = with(|world| {
            let index = &mut world.index;
            let key = (process, name.clone());
            *index.active.entry(key.clone()).or_default() += 1;
            *index.started.entry(key.clone()).or_default() += 1;
            let others = |counts: &HashMap<(Process, String), usize>| {
                counts.iter().filter(|((_, of), _)| *of == name).map(|(_, count)| count).sum::<usize>()
            };
            if index.accepted.contains(&key) {
                Some(format!("{name} is downloaded again"))
            } else if index.is_single && index.active[&key] > 1 {
                Some(format!("{name} is downloaded twice at a time"))
            } else if index.is_shared && others(&index.started) > 1 {
                Some(format!("{name} is downloaded by several proxies"))
            } else {
                None
            }
        });
        problem.into_iter().for_each(fail);
        Self(process, name)
    }
}

impl Drop for Active {
    fn drop(&mut self) {
        let key = (self.0, std::mem::take(&mut self.1));
        // At the end of a run, the world is dropped first.
        super::world::try_with(|world| *world.index.active.entry(key).or_insert(1) -= 1);
    }
}

/// Body of a response.
struct Connection {
    content: Bytes,
    len: u64,
    pause: Option<Pin<Box<Sleep>>>,
    /// Bytes until the connection breaks.
    left: Option<usize>,
    _active: Option<Active>,
}

impl Connection {
    fn new(content: Bytes, active: Option<Active>, may_be_corrupt: bool) -> Self {
        let faults = with(|world| world.index.faults);
        let left = chance(faults).then(|| below(content.len() + 1));
        let len = content.len() as u64;
        let content = match may_be_corrupt && len > 0 && chance(faults) {
            true => {
                let mut bytes = content.to_vec();
                bytes[below(content.len())] ^= 1;
                bytes.into()
            }
            false => content,
        };
        Self { content, len, pause: None, left, _active: active }
    }
}

impl Body for Connection {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        if self.pause.is_none() && chance(30) {
            let is_stalled = with(|world| world.random.chance(world.index.faults / 10));
            let time = if is_stalled { TIMEOUT } else { pick(&[0, 1, 20, 100]) };
            self.pause = Some(Box::pin(sleep(Duration::from_millis(time))));
            if is_stalled {
                self.left = Some(0);
            }
        }
        if let Some(pause) = &mut self.pause {
            ready!(pause.as_mut().poll(cx));
            self.pause = None;
        }
        if self.left == Some(0) {
            return Poll::Ready(Some(Err(io::ErrorKind::ConnectionReset.into())));
        }
        if self.content.is_empty() {
            return Poll::Ready(None);
        }
        let size = (1 + below(30_000)).min(self.content.len()).min(self.left.unwrap_or(usize::MAX));
        self.left = self.left.map(|left| left - size);
        Poll::Ready(Some(Ok(Frame::data(self.content.split_to(size)))))
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.len)
    }
}
