//! Rows of the load test: one per kind of request.

use Coding::{Gzip, Identity, Zstd};
use Format::{Html, Json, Unspecified};

use crate::client::{self, Header};
use crate::data::EMPTY;
use crate::output::Role;
use crate::servers::Server;

/// The resource that a row requests. Files belong to the project of that name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Resource {
    /// The health endpoint: any response with status 200 and a body.
    Health,
    /// The page of a project, or the project list if the name is empty.
    Page { project: &'static str, format: Format, coding: Coding },
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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Json,
    Html,
    /// No `Accept` header, as sent by load generators: HTML.
    Unspecified,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Coding {
    Identity,
    Gzip,
    Zstd,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    /// Key of the published benchmark, if there is one.
    pub(crate) key: &'static str,
    pub(crate) about: &'static str,
    pub(crate) resource: Resource,
    pub(crate) threads: usize,
    pub(crate) connections: usize,
    /// True if `--quick` measures it.
    pub(crate) is_quick: bool,
}

/// Threads and connections of the published report. The other rows leave more of the machine to the server.
const PUBLISHED: (usize, usize) = (8, 100);
const MANY: (usize, usize) = (1, 64);
const ONE: (usize, usize) = (1, 1);

/// Whether `--quick` measures a row.
const QUICK: bool = true;
const FULL: bool = false;

/// Creates a row that requests a page.
const fn page(
    key: &'static str,
    load: (usize, usize),
    is_quick: bool,
    project: &'static str,
    kind: (Format, Coding),
    about: &'static str,
) -> Row {
    row(key, load, is_quick, Resource::Page { project, format: kind.0, coding: kind.1 }, about)
}

const fn row(
    key: &'static str,
    (threads, connections): (usize, usize),
    is_quick: bool,
    resource: Resource,
    about: &'static str,
) -> Row {
    Row { key, about, resource, threads, connections, is_quick }
}

const PLAIN: (Format, Coding) = (Unspecified, Identity);
const JSON: (Format, Coding) = (Json, Identity);
const HTML: (Format, Coding) = (Html, Identity);

/// All rows measured by a load generator.
pub(crate) const ROWS: &[Row] = &[
    page("index_warm", PUBLISHED, QUICK, "", PLAIN, "the list of 100,000 names in HTML"),
    page("files_warm", PUBLISHED, QUICK, "large", PLAIN, "the page of 3,060 files in HTML"),
    page(
        "index_warm_324",
        PUBLISHED,
        QUICK,
        EMPTY,
        PLAIN,
        "a page of 224 bytes; groxpi: instead of its list",
    ),
    page("files_warm_582k", PUBLISHED, QUICK, "published", PLAIN, "the page of 1,159 files in HTML"),
    row("health", ONE, FULL, Resource::Health, "a few bytes"),
    page("single_request_index", ONE, FULL, "", (Json, Gzip), "the list of 100,000 names, as for pip"),
    page("single_request_files", ONE, FULL, "large", (Json, Gzip), "the page of 3,060 files, as for pip"),
    row("file_download", ONE, FULL, Resource::Wheel("medium"), "a wheel of 1 MiB"),
    page("six_json", MANY, QUICK, "tiny", JSON, "the page of one file"),
    page("six_json_100", PUBLISHED, QUICK, "tiny", JSON, "the page of one file"),
    page("connections_max", (1, 1000), QUICK, "tiny", JSON, "the page of one file"),
    page("numpy_json", MANY, QUICK, "large", JSON, "the page of 3,060 files"),
    page("numpy_json_gzip", MANY, QUICK, "large", (Json, Gzip), "the page of 3,060 files, as for pip"),
    page("numpy_json_zstd", MANY, QUICK, "large", (Json, Zstd), "the page of 3,060 files, as for uv"),
    page("numpy_html", MANY, QUICK, "large", HTML, "the page of 3,060 files in HTML"),
    page("numpy_html_gzip", MANY, FULL, "large", (Html, Gzip), "the page of 3,060 files in HTML"),
    page("numpy_html_zstd", MANY, FULL, "large", (Html, Zstd), "the page of 3,060 files in HTML"),
    page("index_json_full", MANY, FULL, "", JSON, "the list of 100,000 names"),
    page("index_json_full_gzip", MANY, QUICK, "", (Json, Gzip), "the list of 100,000 names"),
    page("index_json_full_zstd", MANY, FULL, "", (Json, Zstd), "the list of 100,000 names"),
    page("index_html_full", MANY, FULL, "", HTML, "the list of 100,000 names in HTML"),
    page("index_html_full_gzip", MANY, FULL, "", (Html, Gzip), "the list of 100,000 names in HTML"),
    row("not_modified", MANY, QUICK, Resource::Unchanged("large"), "the page again, which the client has"),
    row("wheel_11k", MANY, QUICK, Resource::Wheel("tiny"), "a wheel of 11 KiB"),
    row("lock_file_11k", MANY, QUICK, Resource::Locked("tiny"), "the same at its path in a lock file"),
    row("wheel_1m", MANY, QUICK, Resource::Wheel("medium"), "a wheel of 1 MiB"),
    row("wheel_60m", (1, 8), QUICK, Resource::Wheel("huge"), "a wheel of 60 MiB"),
    row(
        "head",
        (16, 16),
        FULL,
        Resource::Head("medium"),
        "the headers of a wheel, by a generator of our own",
    ),
    row("range_16k_tail", MANY, QUICK, Resource::Tail("huge"), "its last 16 KiB, as uv requests them"),
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
    /// Returns the request for this server, or `None` if it does not have the resource.
    pub(crate) fn request(&self, server: &Server) -> Option<Request> {
        let mut headers = Vec::new();
        let path = match self.resource {
            Resource::Health => server.health?.to_owned(),
            // The folder contains no zstd variants.
            Resource::Page { coding: Zstd, .. } if !server.is_proxy() => return None,
            Resource::Page { project, format, coding } => {
                match format {
                    Json => headers.push(client::accept(client::JSON)),
                    Html => headers.push(client::accept("text/html")),
                    // It answers 406 without an `Accept` header.
                    Unspecified if server.name == "proxpi" => headers.push(client::accept("text/html")),
                    Unspecified => {}
                }
                match coding {
                    Identity => {}
                    Gzip => headers.push(("Accept-Encoding", "gzip".to_owned())),
                    Zstd => headers.push(("Accept-Encoding", "zstd".to_owned())),
                }
                // The published response: a page of 224 bytes instead of the list.
                let is_published = project == EMPTY && server.role == Role::Original;
                server.page(if is_published { "" } else { project }, format == Json)
            }
            Resource::Unchanged(project) => {
                headers.push(client::accept(client::JSON));
                server.page(project, true)
            }
            Resource::Tail(project) => {
                headers.push(("Range", "bytes=-16384".to_owned()));
                server.page(project, true)
            }
            Resource::Wheel(project) | Resource::Locked(project) | Resource::Head(project) => {
                server.page(project, true)
            }
        };
        Some(Request { path, headers, resource: self.resource })
    }
}
