//! What a path asks for.

use std::borrow::Cow;

use crate::name::{is_file_name, normalize};

/// What a request is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Route<'p> {
    /// The page for people.
    Home,
    /// The list of all projects.
    List,
    /// The page of a project, by its normal name.
    Project(Cow<'p, str>),
    /// A file of a project, or what belongs to one.
    File {
        project: Cow<'p, str>,
        file: Cow<'p, str>,
    },
    /// What is kept of the list, of a project, or of a file; or everything.
    Kept(Kept<'p>),
    Health,
    Live,
    Ready,
    Metrics,
    /// The page for people, at a place of its own.
    Status,
    /// What changes on it.
    StatusJson,
    /// Another place, relative to this one.
    Moved {
        permanent: Permanent,
        to: String,
    },
    /// Nothing.
    Unknown,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kept<'p> {
    All,
    List,
    Project(Cow<'p, str>),
    File { project: Cow<'p, str>, file: Cow<'p, str> },
}

/// How the originals say that something has moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Permanent {
    /// 301, below `/simple/`.
    Moved,
    /// 308, below `/index/`.
    Redirect,
}

impl<'p> Route<'p> {
    /// Reads a path as it stands in a request.
    ///
    /// Below `/simple/` and `/index/`, several slashes count as one, and a part is decoded once. Any other endpoint has one
    /// spelling: rules of a server in front compare paths byte by byte.
    pub(super) fn of(path: &'p str) -> Self {
        match path {
            "/" => return Self::Home,
            "/health" => return Self::Health,
            "/livez" => return Self::Live,
            "/readyz" => return Self::Ready,
            "/metrics" => return Self::Metrics,
            "/status" => return Self::Status,
            // What the page names is relative to it.
            "/status/" => return Self::Moved { permanent: Permanent::Redirect, to: "../status".into() },
            "/status.json" => return Self::StatusJson,
            "/cache" => return Self::Kept(Kept::All),
            _ => {}
        }
        if let Some(kept) = path.strip_prefix("/cache/") {
            return Self::kept(kept);
        }
        let is_folder = path.ends_with('/');
        let mut parts = path.split('/').filter(|part| !part.is_empty());
        let permanent = match parts.next() {
            Some("simple") => Permanent::Moved,
            Some("index") => Permanent::Redirect,
            _ => return Self::Unknown,
        };
        let mut next = || parts.next().map(decode);
        let given = [next(), next(), next(), next()];
        // A part that is no text is the name of nothing.
        if given.iter().any(|part| matches!(part, Some(None))) {
            return Self::Unknown;
        }
        let [first, second, third, more] = given.map(Option::flatten);
        if more.is_some() {
            return Self::Unknown;
        }
        Self::below(permanent, [first, second, third], is_folder)
    }

    fn below(permanent: Permanent, parts: [Option<Cow<'p, str>>; 3], is_folder: bool) -> Self {
        let moved = |to: String| Self::Moved { permanent, to };
        match parts {
            [None, ..] if is_folder => Self::List,
            [None, ..] => moved(if permanent == Permanent::Moved { "simple/" } else { "index/" }.into()),
            // A plug-in of Poetry puts its own `simple` behind whatever it is given.
            [Some(first), Some(second), third]
                if first == "simple"
                    && permanent == Permanent::Redirect
                    && (third.is_some() || !looks_like_file(&second)) =>
            {
                Self::below(permanent, [Some(second), third, None], is_folder)
            }
            [Some(project), None, _] => match normal(project.clone()) {
                None => Self::Unknown,
                Some(name) if !is_folder => moved(format!("{name}/")),
                Some(name) if name != project => moved(format!("../{name}/")),
                Some(name) => Self::Project(name),
            },
            [Some(project), Some(file), None] if !is_folder && is_file_name(&file) => match normal(project) {
                None => Self::Unknown,
                Some(project) => Self::File { project, file },
            },
            _ => Self::Unknown,
        }
    }

    /// What follows `/cache/`.
    fn kept(path: &'p str) -> Self {
        let (project, file) = match path.split_once('/') {
            Some((project, file)) => (project, Some(file)),
            None => (path, None),
        };
        if project == "list" && file.is_none() {
            return Self::Kept(Kept::List);
        }
        let Ok(project) = normalize(project) else { return Self::Unknown };
        match file.map(decode) {
            None => Self::Kept(Kept::Project(project)),
            // A slash is no part of the name of a file.
            Some(Some(file)) if is_file_name(&file) => Self::Kept(Kept::File { project, file }),
            Some(_) => Self::Unknown,
        }
    }
}

/// `None` if it is no UTF-8.
fn decode(part: &str) -> Option<Cow<'_, str>> {
    percent_encoding::percent_decode_str(part).decode_utf8().ok()
}

fn normal(name: Cow<'_, str>) -> Option<Cow<'_, str>> {
    match name {
        Cow::Borrowed(name) => normalize(name).ok(),
        Cow::Owned(name) => normalize(&name).ok().map(|name| Cow::Owned(name.into_owned())),
    }
}

/// Whether it is the name of a file rather than that of a project.
fn looks_like_file(name: &str) -> bool {
    const ENDS: [&str; 9] = [".whl", ".gz", ".zip", ".bz2", ".egg", ".exe", ".msi", ".metadata", ".asc"];
    ENDS.iter().any(|end| name.ends_with(end))
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

    fn moved(to: &str) -> Route<'_> {
        Route::Moved { permanent: Permanent::Moved, to: to.into() }
    }

    fn redirect(to: &str) -> Route<'_> {
        Route::Moved { permanent: Permanent::Redirect, to: to.into() }
    }

    #[test]
    fn paths_of_both_originals_are_known() {
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
            ("/index/simple/numpy/", project("numpy")),
            ("/index/simple/numpy/numpy-1.0.whl", file("numpy", "numpy-1.0.whl")),
            ("/index/simple/", project("simple")),
            ("/index/simple/simple-1.0.whl", file("simple", "simple-1.0.whl")),
            ("/simple/simple/simple-1.0.whl", file("simple", "simple-1.0.whl")),
            ("/cache/list", Route::Kept(Kept::List)),
            ("/cache", Route::Kept(Kept::All)),
            ("/cache/Foo_Bar", Route::Kept(Kept::Project("foo-bar".into()))),
            (
                "/cache/six/six-1.0.whl",
                Route::Kept(Kept::File { project: "six".into(), file: "six-1.0.whl".into() }),
            ),
            ("/health", Route::Health),
            ("/livez", Route::Live),
            ("/readyz", Route::Ready),
            ("/metrics", Route::Metrics),
            ("/status", Route::Status),
            ("/status/", redirect("../status")),
            ("/status.json", Route::StatusJson),
        ];
        for (path, route) in cases {
            assert_eq!(Route::of(path), route, "{path}");
        }
    }

    #[test]
    fn a_known_project_is_found_without_allocating() {
        assert!(matches!(Route::of("/simple/numpy/"), Route::Project(Cow::Borrowed("numpy"))));
    }

    #[test]
    fn other_paths_are_unknown() {
        let unknown = [
            "/x",
            "/simple/..",
            "/simple/../",
            "/simple/%2e%2e/",
            "/simple/a/..",
            "/simple/a/%2e%2e",
            "/simple/a/b/c",
            "/simple/a/%2fetc%2fpasswd",
            "/simple/a/.tmp-1",
            "/simple/%3Fx/",
            "/simple/a/b/",
            "/simple/%ff/",
            "/simple/a/%00",
            "/simple/a/x%0d%0ay",
            "/cache/a/b/c",
            "/health/x",
            "/index/simple/a/b/c",
            "/simple/%252e%252e/",
            "/%73imple/a/",
            "/cache/",
            "/cache/%6cist",
            "/cache/six/",
            "/cache//six",
            "//cache/six",
            "/cache/%73ix",
        ];
        for path in unknown {
            assert_eq!(Route::of(path), Route::Unknown, "{path}");
        }
    }

    #[test]
    fn other_endpoints_have_one_spelling() {
        let paths =
            ["/health", "/livez", "/readyz", "/metrics", "/status", "/status.json", "/cache", "/cache/list"];
        for path in paths {
            assert_ne!(Route::of(path), Route::Unknown, "{path}");
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
                let route = Route::of(&other);
                let is_redirect = matches!(&route, Route::Moved { permanent: Permanent::Redirect, .. });
                assert!(route == Route::Unknown || is_redirect && other == "/status/", "{other}: {route:?}");
            }
        }
        assert_eq!(Route::of("//"), Route::Unknown);
        assert_eq!(Route::of(""), Route::Unknown);
    }

    proptest! {
        #[test]
        fn no_path_leaves_its_place(path in "(/(simple|index|cache|[.]{1,2}|%2e|%2f|%5c|[a-zA-Z0-9._%-]{0,6})){0,5}/?") {
            match Route::of(&path) {
                Route::Project(name) | Route::Kept(Kept::Project(name)) => {
                    prop_assert_eq!(normalize(&name).unwrap(), name.clone());
                }
                Route::File { project, file } | Route::Kept(Kept::File { project, file }) => {
                    prop_assert_eq!(normalize(&project).unwrap(), project.clone());
                    prop_assert!(is_file_name(&file));
                }
                Route::Moved { to, .. } => prop_assert!(!to.starts_with('/') && !to.contains("//") && !to.contains(':')),
                _ => {}
            }
        }
    }
}
