//! Rows of the load test: one per kind of request.

use crate::servers::{Layout, Server};

/// Media types of project pages.
const JSON: &str = "application/vnd.pypi.simple.v1+json";
const HTML: &str = "text/html";

/// The resource that a row requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Resource {
    /// The health endpoint.
    Health,
    /// The page of a project, or the project list if the name is empty.
    Page { project: &'static str, format: Format, coding: Coding },
    /// The wheel of a project.
    Wheel { project: &'static str },
    /// The last 16 KiB of a wheel.
    Tail { project: &'static str },
    /// The headers of a wheel.
    Head { project: &'static str },
    /// The page of a project with `If-None-Match`, which is answered by 304.
    Unchanged { project: &'static str },
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
        page("", Format::Unspecified, Coding::Identity),
        true,
        "the report's index row: the list of 100,000 names in HTML, not compressed; groxpi's is a page of 224 bytes \
         without names",
    ),
    row(
        "files_warm",
        PUBLISHED,
        page("large", Format::Unspecified, Coding::Identity),
        true,
        "the report's row of package files: the page of 3,060 files in HTML, not compressed",
    ),
    row("health", ONE, Resource::Health, false, "one client, a few bytes"),
    row(
        "single_request_index",
        ONE,
        page("", Format::Json, Coding::Gzip),
        false,
        "one client, the list of 100,000 names as pip asks for it",
    ),
    row(
        "single_request_files",
        ONE,
        page("large", Format::Json, Coding::Gzip),
        false,
        "one client, the page of 3,060 files as pip asks for it",
    ),
    row("file_download", ONE, Resource::Wheel { project: "medium" }, false, "one client, a wheel of 1 MiB"),
    row("six_json", MANY, page("tiny", Format::Json, Coding::Identity), true, "the page of one file"),
    row(
        "six_json_100",
        PUBLISHED,
        page("tiny", Format::Json, Coding::Identity),
        true,
        "the same with 100 connections",
    ),
    row(
        "connections_max",
        (1, 1000),
        page("tiny", Format::Json, Coding::Identity),
        true,
        "the same with 1,000 connections",
    ),
    row("numpy_json", MANY, page("large", Format::Json, Coding::Identity), true, "the page of 3,060 files"),
    row(
        "numpy_json_gzip",
        MANY,
        page("large", Format::Json, Coding::Gzip),
        true,
        "the same as pip asks for it",
    ),
    row(
        "numpy_json_zstd",
        MANY,
        page("large", Format::Json, Coding::Zstd),
        true,
        "the same as uv asks for it",
    ),
    row("numpy_html", MANY, page("large", Format::Html, Coding::Identity), true, "the same in HTML"),
    row("numpy_html_gzip", MANY, page("large", Format::Html, Coding::Gzip), false, "the same in HTML"),
    row("numpy_html_zstd", MANY, page("large", Format::Html, Coding::Zstd), false, "the same in HTML"),
    row(
        "index_json_full",
        MANY,
        page("", Format::Json, Coding::Identity),
        false,
        "the list of 100,000 names",
    ),
    row("index_json_full_gzip", MANY, page("", Format::Json, Coding::Gzip), true, "the same"),
    row("index_json_full_zstd", MANY, page("", Format::Json, Coding::Zstd), false, "the same"),
    row("index_html_full", MANY, page("", Format::Html, Coding::Identity), false, "the same in HTML"),
    row("index_html_full_gzip", MANY, page("", Format::Html, Coding::Gzip), false, "the same in HTML"),
    row(
        "not_modified",
        MANY,
        Resource::Unchanged { project: "large" },
        true,
        "the page again, which the client has",
    ),
    row("wheel_11k", MANY, Resource::Wheel { project: "tiny" }, true, "a wheel of 11 KiB"),
    row("wheel_1m", MANY, Resource::Wheel { project: "medium" }, true, "a wheel of 1 MiB"),
    row("wheel_60m", (1, 8), Resource::Wheel { project: "huge" }, true, "a wheel of 60 MiB, 8 clients"),
    row(
        "head",
        (16, 16),
        Resource::Head { project: "medium" },
        false,
        "the headers of a wheel, by a generator of our own",
    ),
    row(
        "range_16k_tail",
        MANY,
        Resource::Tail { project: "huge" },
        true,
        "its last 16 KiB, as uv asks for them",
    ),
];

/// Expected response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expected {
    /// Any response with status 200 and a body.
    Something,
    /// The page of the large project, with all file names, and correct digests if it contains any.
    Large { is_json: bool },
    /// The page of a project with one file.
    Project { project: &'static str, is_json: bool },
    /// All names.
    List { is_json: bool },
    /// The bytes of a wheel, at the URL on its page.
    Wheel { project: &'static str },
    /// The last 16 KiB of a wheel.
    Tail { project: &'static str },
    /// The headers of a wheel without a body.
    Head { project: &'static str },
    /// Status 304 for the page's ETag.
    Unchanged,
}

/// A request of a row for a specific server.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) path: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) expected: Expected,
}

impl Row {
    /// Returns the request for this server, or `None` if it does not have the resource.
    pub(crate) fn request(&self, server: &Server) -> Option<Request> {
        let of = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        match self.resource {
            Resource::Health => Some(Request {
                path: server.health?.to_owned(),
                headers: Vec::new(),
                expected: Expected::Something,
            }),
            Resource::Page { project, format, coding } => {
                let is_folder = server.layout == Layout::Folder;
                // The folder contains no zstd variants.
                if is_folder && coding == Coding::Zstd {
                    return None;
                }
                let mut headers = Vec::new();
                match format {
                    Format::Json => headers.push(of("Accept", JSON)),
                    Format::Html => headers.push(of("Accept", HTML)),
                    // It answers 406 without an `Accept` header.
                    Format::Unspecified if server.name == "proxpi" => headers.push(of("Accept", HTML)),
                    Format::Unspecified => {}
                }
                match coding {
                    Coding::Identity => {}
                    Coding::Gzip => headers.push(of("Accept-Encoding", "gzip")),
                    Coding::Zstd => headers.push(of("Accept-Encoding", "zstd")),
                }
                let is_json = format == Format::Json;
                let expected = match project {
                    "" => Expected::List { is_json },
                    "large" => Expected::Large { is_json },
                    _ => Expected::Project { project, is_json },
                };
                Some(Request { path: server.page(project, is_json), headers, expected })
            }
            Resource::Unchanged { project } => Some(Request {
                path: server.page(project, true),
                headers: vec![of("Accept", JSON)],
                expected: Expected::Unchanged,
            }),
            Resource::Wheel { project } => Some(Request {
                path: server.page(project, true),
                headers: Vec::new(),
                expected: Expected::Wheel { project },
            }),
            Resource::Head { project } => Some(Request {
                path: server.page(project, true),
                headers: Vec::new(),
                expected: Expected::Head { project },
            }),
            Resource::Tail { project } => Some(Request {
                path: server.page(project, true),
                headers: vec![of("Range", "bytes=-16384")],
                expected: Expected::Tail { project },
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn keys_are_distinct() {
        let keys: HashSet<_> = ROWS.iter().map(|row| row.key).collect();
        assert_eq!(keys.len(), ROWS.len());
    }
}
