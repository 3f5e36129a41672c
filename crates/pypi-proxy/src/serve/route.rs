//! Parses request paths.

use std::borrow::Cow;

use super::request_metrics::Endpoint;
use crate::ProjectName;
use crate::index_path::{decode, file_of_path};
use crate::name::is_file_name;
use crate::resource::Resource;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Route<'p> {
    Own(Own),
    /// A document of an index, except for provenance, which is requested as a file.
    Document(Resource),
    /// A file of a project, or its metadata, signature or provenance.
    File {
        project: ProjectName,
        file: Cow<'p, str>,
    },
    /// A file, metadata, provenance or signature by its path at the index.
    IndexPath {
        path: &'p str,
        file: Cow<'p, str>,
    },
    Purge(PurgeTarget<'p>),
    /// A redirect to a relative path.
    Moved {
        kind: RedirectKind,
        to: String,
        /// Endpoint of the target.
        endpoint: Endpoint,
    },
    Unknown,
}

/// Endpoint about the proxy itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Own {
    Status,
    /// Data of the status page.
    StatusJson,
    Health,
    Live,
    Ready,
    Metrics,
}

/// Paths of the endpoints about the proxy itself.
const OWN: [(&str, Own); 7] = [
    ("/", Own::Status),
    ("/status", Own::Status),
    ("/status.json", Own::StatusJson),
    ("/health", Own::Health),
    ("/livez", Own::Live),
    ("/readyz", Own::Ready),
    ("/metrics", Own::Metrics),
];

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PurgeTarget<'p> {
    All,
    /// A page with the other documents of its project, or the list.
    Document(Resource),
    File {
        project: ProjectName,
        file: Cow<'p, str>,
    },
}

/// Status of a redirect, as groxpi and proxpi send it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RedirectKind {
    /// 301, below `/simple/` (groxpi).
    Moved,
    /// 308, below `/index/` (proxpi).
    Redirect,
}

impl<'p> Route<'p> {
    /// Parses the path of a request.
    ///
    /// Below `/simple/` and `/index/`, consecutive slashes count as one, and segments are decoded once. Every other
    /// endpoint except files by their path has exactly one spelling, so that access rules of a reverse proxy can compare
    /// paths byte by byte.
    pub(super) fn parse(path: &'p str) -> Self {
        if let Some((_, own)) = OWN.iter().find(|(own, _)| *own == path) {
            return Self::Own(*own);
        }
        match path {
            // Links on the status page are relative to `/`.
            "/status/" => {
                let (kind, to) = (RedirectKind::Redirect, "../status".into());
                return Self::Moved { kind, to, endpoint: Endpoint::Status };
            }
            "/cache" => return Self::Purge(PurgeTarget::All),
            _ => {}
        }
        if let Some(purge_target) = path.strip_prefix("/cache/") {
            return Self::purge_target(purge_target);
        }
        if let Some(json) = path.strip_prefix("/pypi/").and_then(|path| path.strip_suffix("/json")) {
            return Self::json(json);
        }
        let is_folder = path.ends_with('/');
        // A reverse proxy may add a slash.
        let path = &path[path.bytes().take_while(|byte| *byte == b'/').count().saturating_sub(1)..];
        let mut segments = path.split('/').filter(|segment| !segment.is_empty());
        let kind = match segments.next() {
            Some("simple") => RedirectKind::Moved,
            Some("index") => RedirectKind::Redirect,
            _ => return Self::index_path(path),
        };
        let mut next = || segments.next().map(decode);
        let segments = [next(), next(), next(), next()];
        // A segment that is not UTF-8 is no valid name.
        if segments.iter().any(|segment| matches!(segment, Some(None))) {
            return Self::Unknown;
        }
        let [first, second, third, more] = segments.map(Option::flatten);
        if more.is_some() {
            return Self::Unknown;
        }
        Self::below(kind, [first, second, third], is_folder)
    }

    /// Returns whether a named index serves this endpoint as well.
    pub(super) fn is_of_index(&self) -> bool {
        match self {
            Self::Own(_) | Self::Unknown => false,
            Self::Moved { endpoint, .. } => *endpoint != Endpoint::Status,
            _ => true,
        }
    }

    /// Returns the endpoint in the metrics.
    pub(super) fn endpoint(&self) -> Endpoint {
        match self {
            Self::Own(Own::Status | Own::StatusJson) => Endpoint::Status,
            Self::Own(Own::Health | Own::Live | Own::Ready) => Endpoint::Health,
            Self::Own(Own::Metrics) => Endpoint::Metrics,
            Self::Document(Resource::List) => Endpoint::List,
            Self::Document(Resource::Page(_)) => Endpoint::Project,
            Self::Document(_) => Endpoint::Document,
            Self::File { file, .. } | Self::IndexPath { file, .. } => match file.rsplit_once('.') {
                Some((_, "metadata")) => Endpoint::Metadata,
                Some((_, "provenance")) => Endpoint::Document,
                _ => Endpoint::File,
            },
            Self::Purge(_) => Endpoint::Cache,
            Self::Moved { endpoint, .. } => *endpoint,
            Self::Unknown => Endpoint::Unknown,
        }
    }

    fn below(kind: RedirectKind, segments: [Option<Cow<'p, str>>; 3], is_folder: bool) -> Self {
        let moved = |endpoint, to: String| Self::Moved { kind, to, endpoint };
        match segments {
            [None, ..] if is_folder => Self::Document(Resource::List),
            [None, ..] => {
                let to = if kind == RedirectKind::Moved { "simple/" } else { "index/" };
                moved(Endpoint::List, to.into())
            }
            // A Poetry plug-in appends `simple` to the configured URL. The links on a page assume the depth of `/index/`.
            [Some(first), Some(second), third]
                if first == "simple"
                    && kind == RedirectKind::Redirect
                    && (third.is_some() || !looks_like_file(&second)) =>
            {
                match Self::below(kind, [Some(second), third, None], is_folder) {
                    Self::Document(Resource::Page(name)) => {
                        moved(Endpoint::Project, format!("../../{name}/"))
                    }
                    route => route,
                }
            }
            [Some(project), None, _] => match ProjectName::parse(&project) {
                Err(_) => Self::Unknown,
                Ok(name) if !is_folder => moved(Endpoint::Project, format!("{name}/")),
                Ok(name) if name.as_str() != project => moved(Endpoint::Project, format!("../{name}/")),
                Ok(name) => Self::Document(Resource::Page(name)),
            },
            [Some(project), Some(file), None] if !is_folder && is_file_name(&file) => {
                match ProjectName::parse(&project) {
                    Err(_) => Self::Unknown,
                    // Dependabot also appends it to the URL of the index.
                    Ok(project) if file == "json" && kind == RedirectKind::Moved => {
                        moved(Endpoint::Document, format!("../../pypi/{project}/json"))
                    }
                    Ok(project) => Self::File { project, file },
                }
            }
            _ => Self::Unknown,
        }
    }

    fn index_path(path: &'p str) -> Self {
        file_of_path(path).map_or(Self::Unknown, |file| Self::IndexPath { path, file })
    }

    /// Parses the path between `/pypi/` and `/json`.
    fn json(path: &'p str) -> Self {
        let (project, version) = match path.split_once('/') {
            Some((project, version)) => (project, Some(version)),
            None => (path, None),
        };
        let moved = |to| Self::Moved { kind: RedirectKind::Moved, to, endpoint: Endpoint::Document };
        match ProjectName::parse(project) {
            Ok(name) if version.is_none_or(is_version) => match version {
                _ if name.as_str() == project => Self::Document(Resource::Json(name, version.map(Box::from))),
                None => moved(format!("../{name}/json")),
                Some(version) => moved(format!("../../{name}/{version}/json")),
            },
            _ => Self::Unknown,
        }
    }

    /// Parses the path after `/cache/`.
    fn purge_target(path: &'p str) -> Self {
        let (project, file) = match path.split_once('/') {
            Some((project, file)) => (project, Some(file)),
            None => (path, None),
        };
        if project == "list" && file.is_none() {
            return Self::Purge(PurgeTarget::Document(Resource::List));
        }
        let Ok(project) = ProjectName::parse(project) else { return Self::Unknown };
        match file.map(decode) {
            None => Self::Purge(PurgeTarget::Document(Resource::Page(project))),
            // File names contain no slash.
            Some(Some(file)) if is_file_name(&file) => Self::Purge(PurgeTarget::File { project, file }),
            Some(_) => Self::Unknown,
        }
    }
}

/// Returns the name of the file if a request for this path is one for a file by its path at the index.
#[cfg(fuzzing)]
pub fn file_name_of_path(path: &str) -> Option<String> {
    match Route::parse(path) {
        Route::IndexPath { file, .. } => Some(file.into_owned()),
        _ => None,
    }
}

/// Returns whether the text may be a version (PEP 440): at most 100 letters, digits, `.`, `+`, `!`, `-` and `_`,
/// starting with a letter or digit.
fn is_version(text: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b".+!-_".contains(&byte);
    text.len() <= 100
        && text.as_bytes().first().is_some_and(u8::is_ascii_alphanumeric)
        && text.bytes().all(is_allowed)
}

/// Returns whether the name is that of a file rather than of a project.
fn looks_like_file(name: &str) -> bool {
    const EXTENSIONS: [&str; 10] =
        [".whl", ".gz", ".zip", ".bz2", ".egg", ".exe", ".msi", ".metadata", ".asc", ".provenance"];
    EXTENSIONS.iter().any(|end| name.ends_with(end))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn named(name: &str) -> ProjectName {
        ProjectName::parse(name).unwrap()
    }

    fn project(name: &str) -> Route<'_> {
        Route::Document(Resource::Page(named(name)))
    }

    fn json<'a>(name: &str, version: Option<&str>) -> Route<'a> {
        Route::Document(Resource::Json(named(name), version.map(Box::from)))
    }

    fn file<'a>(project: &str, file: &'a str) -> Route<'a> {
        Route::File { project: named(project), file: file.into() }
    }

    fn index_path<'a>(path: &'a str, file: &'a str) -> Route<'a> {
        Route::IndexPath { path, file: file.into() }
    }

    fn moved(endpoint: Endpoint, to: &str) -> Route<'_> {
        Route::Moved { kind: RedirectKind::Moved, to: to.into(), endpoint }
    }

    fn redirect(endpoint: Endpoint, to: &str) -> Route<'_> {
        Route::Moved { kind: RedirectKind::Redirect, to: to.into(), endpoint }
    }

    #[test]
    fn paths_of_groxpi_and_proxpi_are_known() {
        let purge = |resource| Route::Purge(PurgeTarget::Document(resource));
        let cases = [
            ("/", Route::Own(Own::Status)),
            ("/simple/", Route::Document(Resource::List)),
            ("/index/", Route::Document(Resource::List)),
            ("/simple", moved(Endpoint::List, "simple/")),
            ("/index", redirect(Endpoint::List, "index/")),
            ("/simple/numpy/", project("numpy")),
            ("/index/numpy/", project("numpy")),
            ("/simple/numpy", moved(Endpoint::Project, "numpy/")),
            ("/index/numpy", redirect(Endpoint::Project, "numpy/")),
            ("/simple/Foo_Bar/", moved(Endpoint::Project, "../foo-bar/")),
            ("/simple/Foo_Bar", moved(Endpoint::Project, "foo-bar/")),
            ("//simple//numpy//", project("numpy")),
            ("/index//numpy/", project("numpy")),
            ("/simple/six/six-1.0.whl", file("six", "six-1.0.whl")),
            ("/index/Six/six-1.0.whl.metadata", file("six", "six-1.0.whl.metadata")),
            ("/simple/a/a-1.0%2Blocal.whl", file("a", "a-1.0+local.whl")),
            ("/index/simple/numpy/", redirect(Endpoint::Project, "../../numpy/")),
            ("/index/simple/Foo_Bar/", redirect(Endpoint::Project, "../foo-bar/")),
            ("/index/simple/numpy/numpy-1.0.whl", file("numpy", "numpy-1.0.whl")),
            ("/index/simple/", project("simple")),
            ("/index/simple/simple-1.0.whl", file("simple", "simple-1.0.whl")),
            ("/simple/simple/simple-1.0.whl", file("simple", "simple-1.0.whl")),
            ("/cache/list", purge(Resource::List)),
            ("/cache", Route::Purge(PurgeTarget::All)),
            ("/cache/Foo_Bar", purge(Resource::Page(named("foo-bar")))),
            (
                "/cache/six/six-1.0.whl",
                Route::Purge(PurgeTarget::File { project: named("six"), file: "six-1.0.whl".into() }),
            ),
            ("/pypi/six/json", json("six", None)),
            ("/pypi/six/1!1.0+x/json", json("six", Some("1!1.0+x"))),
            ("/pypi/Foo_Bar/json", moved(Endpoint::Document, "../foo-bar/json")),
            ("/simple/Foo_Bar/json", moved(Endpoint::Document, "../../pypi/foo-bar/json")),
            ("/pypi/Foo_Bar/1.0/json", moved(Endpoint::Document, "../../foo-bar/1.0/json")),
            ("/health", Route::Own(Own::Health)),
            ("/livez", Route::Own(Own::Live)),
            ("/readyz", Route::Own(Own::Ready)),
            ("/metrics", Route::Own(Own::Metrics)),
            ("/status", Route::Own(Own::Status)),
            ("/status/", redirect(Endpoint::Status, "../status")),
            ("/status.json", Route::Own(Own::StatusJson)),
            ("/f/six-1.0.whl", index_path("/f/six-1.0.whl", "six-1.0.whl")),
            ("//f/six-1.0.whl.metadata", index_path("/f/six-1.0.whl.metadata", "six-1.0.whl.metadata")),
            ("/pypi/a/six-1%2B0.zip", index_path("/pypi/a/six-1%2B0.zip", "six-1+0.zip")),
        ];
        for (path, route) in cases {
            assert_eq!(Route::parse(path), route, "{path}");
        }
    }

    #[test]
    fn routes_have_an_endpoint_in_the_metrics() {
        for (path, endpoint) in [
            ("/simple/", Endpoint::List),
            ("/simple/numpy/", Endpoint::Project),
            ("/simple/six/six-1.0.whl", Endpoint::File),
            ("/simple/six/six-1.0.whl.metadata", Endpoint::Metadata),
            ("/pypi/six/six-1.0.whl.metadata", Endpoint::Metadata),
            ("/f/six-1.0.whl.provenance", Endpoint::Document),
            ("/f/six-1.0.whl.asc", Endpoint::File),
            ("/pypi/six/json", Endpoint::Document),
            ("/cache/list", Endpoint::Cache),
            ("/status.json", Endpoint::Status),
            ("/readyz", Endpoint::Health),
            ("/metrics", Endpoint::Metrics),
            ("/pypi/six", Endpoint::Unknown),
        ] {
            assert_eq!(Route::parse(path).endpoint(), endpoint, "{path}");
        }
    }

    #[test]
    fn other_paths_are_unknown() {
        let unknown = "/x /simple/.. /simple/../ /simple/%2e%2e/ /simple/a/.. /simple/a/%2e%2e /simple/a/b/c \
            /simple/a/%2fetc%2fpasswd /simple/a/.tmp-1 /simple/%3Fx/ /simple/a/b/ /simple/%ff/ \
            /simple/a/%00 /simple/a/x%0d%0ay /cache/a/b/c /health/x /index/simple/a/b/c \
            /simple/%252e%252e/ /%73imple/a/ /cache/ /cache/%6cist /cache/six/ /cache//six //cache/six \
            /cache/%73ix /x/../metrics //metrics /simple/a/b/six-1.0.whl /x/../six-1.0.whl /x//six-1.0.whl \
            /x%2fsix-1.0.whl /x/six-1.0.whl/ /metrics/six-1.0.whl /x/six.html \
            /pypi /pypi/ /pypi/six /pypi/six/ /pypi/six/json/ /pypi/six/1.0 \
            /pypi/six/1.0/x/json /pypi/six//json /pypi//json /pypi/../json /pypi/six/../json /pypi/six/%2e/json \
            /pypi/%73ix/json //pypi/six/json /pypi/six/.1/json /search /pypi/six/1:0/json /pypi/json";
        for path in unknown.split(' ') {
            assert_eq!(Route::parse(path), Route::Unknown, "{path}");
        }
    }

    #[test]
    fn other_endpoints_have_one_spelling() {
        let paths =
            ["/health", "/livez", "/readyz", "/metrics", "/status", "/status.json", "/cache", "/cache/list"];
        for path in paths {
            assert_ne!(Route::parse(path), Route::Unknown, "{path}");
            let second = &path[2..];
            let encoded = format!("/%{:02x}{second}", path.as_bytes()[1]);
            for other in [
                format!("{path}/"),
                format!("{path}//"),
                format!("/{path}"),
                format!("/.{path}"),
                format!("{path}/."),
                format!("{path}%2f"),
                format!("{path};x"),
                path.to_ascii_uppercase(),
                encoded,
            ] {
                let route = Route::parse(&other);
                let is_redirect = matches!(&route, Route::Moved { kind: RedirectKind::Redirect, .. });
                assert!(route == Route::Unknown || is_redirect && other == "/status/", "{other}: {route:?}");
            }
        }
        assert_eq!(Route::parse("//"), Route::Unknown);
        assert_eq!(Route::parse(""), Route::Unknown);
    }

    proptest! {
        #[test]
        fn arbitrary_paths_give_valid_names(path in "(/(simple|index|cache|pypi|json|[.]{1,2}|%2e|%2f|%5c|[a-z]-1[.]zip|[a-zA-Z0-9._%-]{0,6})){0,5}/?") {
            match Route::parse(&path) {
                Route::File { file, .. } | Route::Purge(PurgeTarget::File { file, .. }) => {
                    prop_assert!(is_file_name(&file));
                }
                Route::IndexPath { path, file } => {
                    prop_assert!(path.starts_with('/') && !path.contains("//") && is_file_name(&file));
                }
                Route::Document(Resource::Json(_, version)) => {
                    prop_assert!(version.is_none_or(|version| is_version(&version)));
                }
                Route::Moved { to, .. } => prop_assert!(!to.starts_with('/') && !to.contains("//") && !to.contains(':')),
                _ => {}
            }
        }
    }
}
