//! Rows of the load test: one per kind of request.

use bench_report::model::Role;

use crate::client::{self, Header};
use crate::data::EMPTY;
use crate::servers::Server;

/// The resource that a row requests. Files belong to the project of that name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Resource {
    /// The health endpoint: any response with status 200 and a body.
    Health,
    /// The page of a project, or the project list if the name is empty, with the headers `Accept` and
    /// `Accept-Encoding`. Load generators send none of them and get HTML.
    Page { project: &'static str, accept: Option<&'static str>, coding: Option<&'static str> },
    /// The wheel, at the URL on its page.
    Wheel(&'static str),
    /// The wheel, at its path at the index, as in a lock file. Peers that serve it elsewhere get their own URL.
    Locked(&'static str),
    /// The last 16 KiB of the wheel.
    Tail(&'static str),
    /// The headers of the wheel.
    Head(&'static str),
    /// The page with `If-None-Match`, which is answered by 304.
    Unchanged(&'static str),
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    /// Key of the published benchmark, if there is one.
    pub(crate) key: &'static str,
    pub(crate) about: &'static str,
    pub(crate) resource: Resource,
    pub(crate) threads: usize,
    pub(crate) connections: usize,
}

/// Threads and connections of the published report. The other rows leave more of the machine to the server.
const PUBLISHED: (usize, usize) = (8, 100);
const MANY: (usize, usize) = (1, 64);
const ONE: (usize, usize) = (1, 1);

/// Rows that `--quick` leaves out.
const NOT_QUICK: [&str; 11] = [
    "health",
    "single_request_index",
    "single_request_files",
    "file_download",
    "numpy_html_gzip",
    "numpy_html_zstd",
    "index_json_full",
    "index_json_full_zstd",
    "index_html_full",
    "index_html_full_gzip",
    "head",
];

const fn row(
    key: &'static str,
    (threads, connections): (usize, usize),
    resource: Resource,
    about: &'static str,
) -> Row {
    Row { key, about, resource, threads, connections }
}

/// Returns the page of a project, or the list of all names.
const fn page(project: &'static str, accept: Option<&'static str>, coding: Option<&'static str>) -> Resource {
    Resource::Page { project, accept, coding }
}

const JSON: Option<&str> = Some(client::JSON);
const HTML: Option<&str> = Some("text/html");
const GZIP: Option<&str> = Some("gzip");
const ZSTD: Option<&str> = Some("zstd");

/// All rows measured by a load generator.
pub(crate) const ROWS: &[Row] = &[
    row("index_warm", PUBLISHED, page("", None, None), "the list of 100,000 names in HTML"),
    row("files_warm", PUBLISHED, page("large", None, None), "the page of 3,060 files in HTML"),
    row(
        "index_warm_324",
        PUBLISHED,
        page(EMPTY, None, None),
        "a page of 224 bytes; groxpi: instead of its list",
    ),
    row("files_warm_582k", PUBLISHED, page("published", None, None), "the page of 1,159 files in HTML"),
    row("health", ONE, Resource::Health, "a few bytes"),
    row("single_request_index", ONE, page("", JSON, GZIP), "the list of 100,000 names, as for pip"),
    row("single_request_files", ONE, page("large", JSON, GZIP), "the page of 3,060 files, as for pip"),
    row("file_download", ONE, Resource::Wheel("medium"), "a wheel of 1 MiB"),
    row("six_json", MANY, page("tiny", JSON, None), "the page of one file"),
    row("six_json_100", PUBLISHED, page("tiny", JSON, None), "the page of one file"),
    row("connections_max", (1, 1000), page("tiny", JSON, None), "the page of one file"),
    row("numpy_json", MANY, page("large", JSON, None), "the page of 3,060 files"),
    row("numpy_json_gzip", MANY, page("large", JSON, GZIP), "the page of 3,060 files, as for pip"),
    row("numpy_json_zstd", MANY, page("large", JSON, ZSTD), "the page of 3,060 files, as for uv"),
    row("numpy_html", MANY, page("large", HTML, None), "the page of 3,060 files in HTML"),
    row("numpy_html_gzip", MANY, page("large", HTML, GZIP), "the page of 3,060 files in HTML"),
    row("numpy_html_zstd", MANY, page("large", HTML, ZSTD), "the page of 3,060 files in HTML"),
    row("index_json_full", MANY, page("", JSON, None), "the list of 100,000 names"),
    row("index_json_full_gzip", MANY, page("", JSON, GZIP), "the list of 100,000 names"),
    row("index_json_full_zstd", MANY, page("", JSON, ZSTD), "the list of 100,000 names"),
    row("index_html_full", MANY, page("", HTML, None), "the list of 100,000 names in HTML"),
    row("index_html_full_gzip", MANY, page("", HTML, GZIP), "the list of 100,000 names in HTML"),
    row("not_modified", MANY, Resource::Unchanged("large"), "the page again, which the client has"),
    row("wheel_11k", MANY, Resource::Wheel("tiny"), "a wheel of 11 KiB"),
    row("lock_file_11k", MANY, Resource::Locked("tiny"), "the same at its path in a lock file"),
    row("wheel_1m", MANY, Resource::Wheel("medium"), "a wheel of 1 MiB"),
    row("wheel_60m", (1, 8), Resource::Wheel("huge"), "a wheel of 60 MiB"),
    row("head", (16, 16), Resource::Head("medium"), "the headers of a wheel, by a generator of our own"),
    row("range_16k_tail", MANY, Resource::Tail("huge"), "its last 16 KiB, as uv requests them"),
];

/// A request of a row for a specific server.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    /// Path of the resource, or of the page with the URL of the wheel.
    pub(crate) path: String,
    pub(crate) headers: Vec<Header>,
    pub(crate) resource: Resource,
}

impl Row {
    pub(crate) fn is_quick(&self) -> bool {
        !NOT_QUICK.contains(&self.key)
    }

    /// Returns the request for this server, or `None` if it does not have the resource.
    pub(crate) fn request(&self, server: &Server) -> Option<Request> {
        let (path, headers) = match self.resource {
            Resource::Health => (server.health?.to_owned(), Vec::new()),
            // The folder contains no zstd variants.
            Resource::Page { coding: ZSTD, .. } if !server.is_proxy() => return None,
            Resource::Page { project, accept, coding } => {
                // proxpi answers 406 without an `Accept` header.
                let accept = accept.or(HTML.filter(|_| server.name == "proxpi"));
                let coding = coding.map(|coding| ("Accept-Encoding", coding.to_owned()));
                // The published response: a page of 224 bytes instead of the list.
                let is_published = project == EMPTY && server.role == Role::Original;
                let page = server.page(if is_published { "" } else { project }, accept == JSON);
                (page, accept.map(client::accept).into_iter().chain(coding).collect())
            }
            Resource::Unchanged(project) => (server.page(project, true), vec![client::accept(client::JSON)]),
            Resource::Tail(project) => {
                (server.page(project, true), vec![("Range", "bytes=-16384".to_owned())])
            }
            Resource::Wheel(project) | Resource::Locked(project) | Resource::Head(project) => {
                (server.page(project, true), Vec::new())
            }
        };
        Some(Request { path, headers, resource: self.resource })
    }
}
