//! Parses request paths.

use std::borrow::Cow;

use crate::index_path::{decode, file_of_path};
use crate::name::{is_file_name, normalize};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Route<'p> {
    /// The status page at `/`.
    Home,
    /// The list of all projects.
    List,
    /// The page of a project, by its normalized name.
    Project(Cow<'p, str>),
    /// A file of a project, or its metadata, signature or provenance.
    File {
        project: Cow<'p, str>,
        file: Cow<'p, str>,
    },
    /// A file, metadata, provenance or signature by its path at the index.
    IndexPath {
        path: &'p str,
        file: Cow<'p, str>,
    },
    /// A project, or one of its versions, in the JSON API.
    Json {
        project: Cow<'p, str>,
        version: Option<&'p str>,
    },
    Purge(PurgeTarget<'p>),
    Health,
    Live,
    Ready,
    Metrics,
    /// The status page at `/status`.
    Status,
    /// Data of the status page.
    StatusJson,
    /// A redirect to a relative path.
    Moved {
        kind: RedirectKind,
        to: String,
    },
    Unknown,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PurgeTarget<'p> {
    All,
    List,
    Project(Cow<'p, str>),
    File { project: Cow<'p, str>, file: Cow<'p, str> },
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
        match path {
            "/" => return Self::Home,
            "/health" => return Self::Health,
            "/livez" => return Self::Live,
            "/readyz" => return Self::Ready,
            "/metrics" => return Self::Metrics,
            "/status" => return Self::Status,
            // Links on the status page are relative to `/`.
            "/status/" => return Self::Moved { kind: RedirectKind::Redirect, to: "../status".into() },
            "/status.json" => return Self::StatusJson,
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
            Self::List
            | Self::Project(_)
            | Self::File { .. }
            | Self::IndexPath { .. }
            | Self::Json { .. }
            | Self::Purge(_)
            | Self::Moved { .. } => true,
            Self::Home
            | Self::Health
            | Self::Live
            | Self::Ready
            | Self::Metrics
            | Self::Status
            | Self::StatusJson
            | Self::Unknown => false,
        }
    }

    fn below(kind: RedirectKind, segments: [Option<Cow<'p, str>>; 3], is_folder: bool) -> Self {
        let moved = |to: String| Self::Moved { kind, to };
        match segments {
            [None, ..] if is_folder => Self::List,
            [None, ..] => moved(if kind == RedirectKind::Moved { "simple/" } else { "index/" }.into()),
            // A Poetry plug-in appends `simple` to the configured URL. The links on a page assume the depth of `/index/`.
            [Some(first), Some(second), third]
                if first == "simple"
                    && kind == RedirectKind::Redirect
                    && (third.is_some() || !looks_like_file(&second)) =>
            {
                match Self::below(kind, [Some(second), third, None], is_folder) {
                    Self::Project(name) => moved(format!("../../{name}/")),
                    route => route,
                }
            }
            [Some(project), None, _] => match normal(project.clone()) {
                None => Self::Unknown,
                Some(name) if !is_folder => moved(format!("{name}/")),
                Some(name) if name != project => moved(format!("../{name}/")),
                Some(name) => Self::Project(name),
            },
            [Some(project), Some(file), None] if !is_folder && is_file_name(&file) => match normal(project) {
                None => Self::Unknown,
                // Dependabot also appends it to the URL of the index.
                Some(project) if file == "json" && kind == RedirectKind::Moved => {
                    moved(format!("../../pypi/{project}/json"))
                }
                Some(project) => Self::File { project, file },
            },
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
        match normalize(project) {
            Ok(name) if version.is_none_or(is_version) => match version {
                _ if name == project => Self::Json { project: name, version },
                None => Self::Moved { kind: RedirectKind::Moved, to: format!("../{name}/json") },
                Some(version) => {
                    Self::Moved { kind: RedirectKind::Moved, to: format!("../../{name}/{version}/json") }
                }
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
            return Self::Purge(PurgeTarget::List);
        }
        let Ok(project) = normalize(project) else { return Self::Unknown };
        match file.map(decode) {
            None => Self::Purge(PurgeTarget::Project(project)),
            // File names contain no slash.
            Some(Some(file)) if is_file_name(&file) => Self::Purge(PurgeTarget::File { project, file }),
            Some(_) => Self::Unknown,
        }
    }
}

/// Returns the name of the file if a request for this path is one for a file by its path at the index.
pub fn file_name_of_path(path: &str) -> Option<String> {
    match Route::parse(path) {
        Route::IndexPath { file, .. } => Some(file.into_owned()),
        _ => None,
    }
}

fn normal(name: Cow<'_, str>) -> Option<Cow<'_, str>> {
    match name {
        Cow::Borrowed(name) => normalize(name).ok(),
        Cow::Owned(name) => normalize(&name).ok().map(|name| Cow::Owned(name.into_owned())),
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

    fn project(name: &str) -> Route<'_> {
        Route::Project(name.into())
    }

    fn file<'a>(project: &'a str, file: &'a str) -> Route<'a> {
        Route::File { project: project.into(), file: file.into() }
    }

    fn index_path<'a>(path: &'a str, file: &'a str) -> Route<'a> {
        Route::IndexPath { path, file: file.into() }
    }

    fn moved(to: &str) -> Route<'_> {
        Route::Moved { kind: RedirectKind::Moved, to: to.into() }
    }

    fn redirect(to: &str) -> Route<'_> {
        Route::Moved { kind: RedirectKind::Redirect, to: to.into() }
    }

    #[test]
    fn paths_of_groxpi_and_proxpi_are_known() {
        let cases = [
            ("/", Route::Home),
            ("/simple/", Route::List),
            ("/index/", Route::List),
            ("/simple", moved("simple/")),
            ("/index", redirect("index/")),
            ("/simple/numpy/", project("numpy")),
            ("/index/numpy/", project("numpy")),
            ("/simple/numpy", moved("numpy/")),
            ("/index/numpy", redirect("numpy/")),
            ("/simple/Foo_Bar/", moved("../foo-bar/")),
            ("/simple/Foo_Bar", moved("foo-bar/")),
            ("//simple//numpy//", project("numpy")),
            ("/index//numpy/", project("numpy")),
            ("/simple/six/six-1.0.whl", file("six", "six-1.0.whl")),
            ("/index/Six/six-1.0.whl.metadata", file("six", "six-1.0.whl.metadata")),
            ("/simple/a/a-1.0%2Blocal.whl", file("a", "a-1.0+local.whl")),
            ("/index/simple/numpy/", redirect("../../numpy/")),
            ("/index/simple/Foo_Bar/", redirect("../foo-bar/")),
            ("/index/simple/numpy/numpy-1.0.whl", file("numpy", "numpy-1.0.whl")),
            ("/index/simple/", project("simple")),
            ("/index/simple/simple-1.0.whl", file("simple", "simple-1.0.whl")),
            ("/simple/simple/simple-1.0.whl", file("simple", "simple-1.0.whl")),
            ("/cache/list", Route::Purge(PurgeTarget::List)),
            ("/cache", Route::Purge(PurgeTarget::All)),
            ("/cache/Foo_Bar", Route::Purge(PurgeTarget::Project("foo-bar".into()))),
            (
                "/cache/six/six-1.0.whl",
                Route::Purge(PurgeTarget::File { project: "six".into(), file: "six-1.0.whl".into() }),
            ),
            ("/pypi/six/json", Route::Json { project: "six".into(), version: None }),
            ("/pypi/six/1!1.0+x/json", Route::Json { project: "six".into(), version: Some("1!1.0+x") }),
            ("/pypi/Foo_Bar/json", moved("../foo-bar/json")),
            ("/simple/Foo_Bar/json", moved("../../pypi/foo-bar/json")),
            ("/pypi/Foo_Bar/1.0/json", moved("../../foo-bar/1.0/json")),
            ("/health", Route::Health),
            ("/livez", Route::Live),
            ("/readyz", Route::Ready),
            ("/metrics", Route::Metrics),
            ("/status", Route::Status),
            ("/status/", redirect("../status")),
            ("/status.json", Route::StatusJson),
            ("/f/six-1.0.whl", index_path("/f/six-1.0.whl", "six-1.0.whl")),
            ("//f/six-1.0.whl.metadata", index_path("/f/six-1.0.whl.metadata", "six-1.0.whl.metadata")),
            ("/pypi/a/six-1%2B0.zip", index_path("/pypi/a/six-1%2B0.zip", "six-1+0.zip")),
        ];
        for (path, route) in cases {
            assert_eq!(Route::parse(path), route, "{path}");
        }
    }

    #[test]
    fn normalized_project_names_are_borrowed() {
        assert!(matches!(Route::parse("/simple/numpy/"), Route::Project(Cow::Borrowed("numpy"))));
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
        fn arbitrary_paths_give_normalized_names(path in "(/(simple|index|cache|pypi|json|[.]{1,2}|%2e|%2f|%5c|[a-z]-1[.]zip|[a-zA-Z0-9._%-]{0,6})){0,5}/?") {
            match Route::parse(&path) {
                Route::Project(name) | Route::Purge(PurgeTarget::Project(name)) => {
                    prop_assert_eq!(normalize(&name).unwrap(), name.clone());
                }
                Route::File { project, file } | Route::Purge(PurgeTarget::File { project, file }) => {
                    prop_assert_eq!(normalize(&project).unwrap(), project.clone());
                    prop_assert!(is_file_name(&file));
                }
                Route::IndexPath { path, file } => {
                    prop_assert!(path.starts_with('/') && !path.contains("//") && is_file_name(&file));
                }
                Route::Json { project, version } => {
                    prop_assert_eq!(normalize(&project).unwrap(), project.clone());
                    prop_assert!(version.is_none_or(is_version));
                }
                Route::Moved { to, .. } => prop_assert!(!to.starts_with('/') && !to.contains("//") && !to.contains(':')),
                _ => {}
            }
        }
    }
}
