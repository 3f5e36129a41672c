//! Rows of the load test: one per kind of request.

use Coding::{Gzip, Identity, Zstd};
use Format::{Html, Json, Unspecified};

use crate::client::{self, Header};
use crate::data::EMPTY;
use crate::output::Role;
use crate::servers::{Layout, Server};

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

const fn page(project: &'static str, format: Format, coding: Coding) -> Resource {
    Resource::Page { project, format, coding }
}

const fn row(
    key: &'static str,
    (threads, connections): (usize, usize),
    resource: Resource,
    is_quick: bool,
    about: &'static str,
) -> Row {
    Row { key, about, resource, threads, connections, is_quick }
}

/// All rows measured by a load generator.
pub(crate) const ROWS: &[Row] = &[
    row(
        "index_warm",
        PUBLISHED,
        page("", Unspecified, Identity),
        true,
        "the report's index row: the list of 100,000 names in HTML, not compressed; groxpi's is a page of 224 bytes \
         without names",
    ),
    row(
        "files_warm",
        PUBLISHED,
        page("large", Unspecified, Identity),
        true,
        "the report's row of package files: the page of 3,060 files in HTML, not compressed",
    ),
    row(
        "index_warm_324",
        PUBLISHED,
        page(EMPTY, Unspecified, Identity),
        true,
        "the size of the report's responses of the index, 224 bytes and headers: the page of a project without files; \
         groxpi: its page of 224 bytes instead of the list",
    ),
    row(
        "files_warm_582k",
        PUBLISHED,
        page("published", Unspecified, Identity),
        true,
        "the size of the report's responses of package files: a page of 1,159 files, in HTML, not compressed",
    ),
    row("health", ONE, Resource::Health, false, "one client, a few bytes"),
    row(
        "single_request_index",
        ONE,
        page("", Json, Gzip),
        false,
        "one client, the list of 100,000 names as pip asks for it",
    ),
    row(
        "single_request_files",
        ONE,
        page("large", Json, Gzip),
        false,
        "one client, the page of 3,060 files as pip asks for it",
    ),
    row("file_download", ONE, Resource::Wheel("medium"), false, "one client, a wheel of 1 MiB"),
    row("six_json", MANY, page("tiny", Json, Identity), true, "the page of one file"),
    row("six_json_100", PUBLISHED, page("tiny", Json, Identity), true, "the same with 100 connections"),
    row("connections_max", (1, 1000), page("tiny", Json, Identity), true, "the same with 1,000 connections"),
    row("numpy_json", MANY, page("large", Json, Identity), true, "the page of 3,060 files"),
    row("numpy_json_gzip", MANY, page("large", Json, Gzip), true, "the same as pip asks for it"),
    row("numpy_json_zstd", MANY, page("large", Json, Zstd), true, "the same as uv asks for it"),
    row("numpy_html", MANY, page("large", Html, Identity), true, "the same in HTML"),
    row("numpy_html_gzip", MANY, page("large", Html, Gzip), false, "the same in HTML"),
    row("numpy_html_zstd", MANY, page("large", Html, Zstd), false, "the same in HTML"),
    row("index_json_full", MANY, page("", Json, Identity), false, "the list of 100,000 names"),
    row("index_json_full_gzip", MANY, page("", Json, Gzip), true, "the same"),
    row("index_json_full_zstd", MANY, page("", Json, Zstd), false, "the same"),
    row("index_html_full", MANY, page("", Html, Identity), false, "the same in HTML"),
    row("index_html_full_gzip", MANY, page("", Html, Gzip), false, "the same in HTML"),
    row("not_modified", MANY, Resource::Unchanged("large"), true, "the page again, which the client has"),
    row("wheel_11k", MANY, Resource::Wheel("tiny"), true, "a wheel of 11 KiB"),
    row(
        "lock_file_11k",
        MANY,
        Resource::Locked("tiny"),
        true,
        "the same at its path at the index, as in a lock file; other proxies: at the URL on their page",
    ),
    row("wheel_1m", MANY, Resource::Wheel("medium"), true, "a wheel of 1 MiB"),
    row("wheel_60m", (1, 8), Resource::Wheel("huge"), true, "a wheel of 60 MiB, 8 clients"),
    row(
        "head",
        (16, 16),
        Resource::Head("medium"),
        false,
        "the headers of a wheel, by a generator of our own",
    ),
    row("range_16k_tail", MANY, Resource::Tail("huge"), true, "its last 16 KiB, as uv asks for them"),
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
            Resource::Page { coding: Zstd, .. } if server.layout == Layout::Folder => return None,
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
