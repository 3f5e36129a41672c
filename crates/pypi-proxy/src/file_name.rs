//! Project names and versions in the names of files.

#[cfg(feature = "proxy")]
use std::str::FromStr as _;

#[cfg(feature = "proxy")]
use pep440_rs::Version;

#[cfg(feature = "proxy")]
use crate::ProjectName;

/// Extensions of source distributions that pip or uv installs.
const SOURCES: [&str; 13] = [
    ".tar.gz",
    ".zip",
    ".tar.bz2",
    ".tgz",
    ".tar.xz",
    ".tar",
    ".tbz",
    ".txz",
    ".tlz",
    ".tar.lz",
    ".tar.lzma",
    ".tar.zst",
    ".tar.z",
];

/// A file name without its extension.
enum Stem<'n> {
    /// A wheel or egg, whose fields contain no hyphens.
    Built { project: &'n str, version: &'n str },
    /// A source distribution. Old ones may have hyphens in the project name and the version.
    Source(&'n str),
}

impl<'n> Stem<'n> {
    fn of(file: &'n str) -> Option<Self> {
        let without = |end: &str| {
            let (stem, extension) = file.split_at_checked(file.len().checked_sub(end.len())?)?;
            extension.eq_ignore_ascii_case(end).then_some(stem)
        };
        if let Some(stem) = without(".whl").or_else(|| without(".egg")) {
            let mut fields = stem.split('-');
            return Some(Self::Built { project: fields.next()?, version: fields.next()? });
        }
        SOURCES.iter().find_map(|end| without(end)).map(Self::Source)
    }
}

/// Parses the version of a file of a known project, as installers do.
#[cfg(feature = "proxy")]
pub(crate) fn version(file: &str, project: &ProjectName) -> Option<Version> {
    match Stem::of(file)? {
        Stem::Built { version, .. } => version_of(version),
        Stem::Source(stem) => {
            let is_project = |name| is_normalized_to(name, project.as_str());
            let (_, version) = hyphens(stem).find(|(name, _)| is_project(name)).or(stem.rsplit_once('-'))?;
            version_of(version)
        }
    }
}

/// Returns the text of the version for a name in the standard form.
pub(crate) fn version_text(file: &str) -> Option<&str> {
    match Stem::of(file)? {
        Stem::Built { version, .. } => Some(version),
        Stem::Source(stem) => stem.rsplit_once('-').map(|(_, version)| version),
    }
}

/// Suffixes of files that belong to another file.
const COMPANIONS: [&str; 3] = [".metadata", ".asc", ".provenance"];

/// Maximum number of project names that are derived from one file name.
const MAX_PROJECTS: usize = 4;

/// Returns the name of the file that metadata, a signature or provenance belongs to. Returns any other name unchanged.
pub(crate) fn base(file: &str) -> &str {
    COMPANIONS.iter().find_map(|end| file.strip_suffix(end)).unwrap_or(file)
}

/// Returns whether the name is that of a wheel, egg or source distribution, or of a file that belongs to one.
pub(crate) fn is_distribution(file: &str) -> bool {
    projects(base(file)).next().is_some()
}

/// Returns the names of the projects that a wheel, egg or source distribution may belong to, as spelled in its name, the
/// most likely first: the version of a source distribution starts after a hyphen, usually the last one before a digit.
pub(crate) fn projects(file: &str) -> impl Iterator<Item = &str> {
    let (built, source) = match Stem::of(file) {
        Some(Stem::Built { project, .. }) => (Some(project), ""),
        Some(Stem::Source(stem)) => (None, stem),
        None => (None, ""),
    };
    let is_version = |text: &str| text.starts_with(|first: char| first.is_ascii_digit());
    let last = source.rsplit_once('-').filter(|_| !hyphens(source).any(|(_, text)| is_version(text)));
    let names = source.rmatch_indices('-').filter(move |(at, _)| is_version(&source[at + 1..]));
    let names = names.take(MAX_PROJECTS).map(move |(at, _)| &source[..at]);
    built.into_iter().chain(names).chain(last.map(|(project, _)| project))
}

/// Returns whether a wheel, egg or source distribution may belong to the project with this normalized name.
pub(crate) fn is_of(file: &str, normal: &str) -> bool {
    projects(file).any(|name| is_normalized_to(name, normal))
}

/// Returns whether a file on the page of a project is one of this project, of any kind: its name starts with that of the
/// project and a version.
pub(crate) fn belongs(file: &str, normal: &str) -> bool {
    let has_digit = |version: &str| version.starts_with(|first: char| first.is_ascii_digit());
    let file = &*file.replace(' ', "-");
    is_of(base(file), normal)
        || hyphens(file).any(|(name, version)| has_digit(version) && is_normalized_to(name, normal))
}

/// Returns whether `normal` is the normalized form of a name. Does not allocate.
fn is_normalized_to(name: &str, normal: &str) -> bool {
    let mut rest = normal.bytes();
    let mut is_after_separator = false;
    for byte in name.bytes() {
        let is_separator = matches!(byte, b'-' | b'_' | b'.');
        if is_separator && is_after_separator {
            continue;
        }
        is_after_separator = is_separator;
        if rest.next() != Some(if is_separator { b'-' } else { byte.to_ascii_lowercase() }) {
            return false;
        }
    }
    rest.next().is_none()
}

/// Parses the version from the name of a wheel, egg or source distribution of a project, and normalizes it (PEP 440).
/// Returns `None` for other files, and for a malformed version.
///
/// ```
/// use pypi_proxy::{ProjectName, file_version};
///
/// let name = ProjectName::parse("demo")?;
/// assert_eq!(file_version(&name, "demo-1.0RC1.tar.gz").as_deref(), Some("1.0rc1"));
/// assert_eq!(file_version(&name, "demo-1.0-py3-none-any.whl.metadata"), None);
/// # Ok::<(), pypi_proxy::Error>(())
/// ```
#[cfg(feature = "proxy")]
pub fn file_version(project: &ProjectName, file: &str) -> Option<String> {
    version(file, project).map(|version| version.to_string())
}

/// Returns the texts before and after each hyphen.
fn hyphens(stem: &str) -> impl Iterator<Item = (&str, &str)> {
    stem.match_indices('-').map(|(at, _)| (&stem[..at], &stem[at + 1..]))
}

#[cfg(feature = "proxy")]
fn version_of(text: &str) -> Option<Version> {
    // Old tools append the version of Python.
    let is_python = |end: &str| end.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let text = text.rsplit_once("-py").filter(|(_, end)| is_python(end)).map_or(text, |(version, _)| version);
    // Wheels replace the hyphen of an implicit post-release.
    Version::from_str(text).or_else(|_| Version::from_str(&text.replace('_', "-"))).ok()
}

#[cfg(all(test, feature = "proxy"))]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::name::normalize;

    #[test]
    fn possible_projects_are_ordered_by_likelihood() {
        for (file, expected) in [
            ("demo-1.0-py3-none-any.whl", &["demo"][..]),
            ("Demo_X-1.0+Local.1-2-cp39-abi3-linux.whl", &["Demo_X"]),
            ("demo-1.0-py2.7.egg", &["demo"]),
            ("a-b-1.0.tar.gz", &["a-b"]),
            ("a-2-1.0.zip", &["a-2", "a"]),
            ("demo-1.0-2.tar.gz", &["demo-1.0", "demo"]),
            ("demo-1.0.linux-x86_64.tar.gz", &["demo"]),
            ("demo-v1.tar.gz", &["demo"]),
            ("a-1-2-3-4-5-6.tar.gz", &["a-1-2-3-4-5", "a-1-2-3-4", "a-1-2-3", "a-1-2"]),
            ("demo.tar.gz", &[]),
            ("demo-1.0.html", &[]),
        ] {
            assert_eq!(projects(file).collect::<Vec<_>>(), expected, "{file}");
        }
        for file in ["a-1.whl", "a-1.whl.metadata", "a-1.whl.provenance", "a-1.whl.asc"] {
            assert_eq!(base(file), "a-1.whl");
        }
    }

    #[test]
    fn versions_are_parsed() {
        for (project, file, expected) in [
            ("demo-x", "Demo_X-1.0+Local.1-2-cp39-abi3-linux.WHL", Some("1.0+local.1")),
            ("demo", "demo-1.0_1-py3-none-any.whl", Some("1.0.post1")),
            ("demo", "demo-1.0-py3.9.egg", Some("1.0")),
            ("demo-x", "demo_x-1!2.0.zip", Some("1!2.0")),
            ("demo", "demo-1.0-py2.7.tar.bz2", Some("1.0")),
            ("python-3-utils", "python-3-utils-1.0.tgz", Some("1.0")),
            ("demo", "demo-2004d.tar.gz", None),
            ("demo", "demo-1.0.exe", None),
            ("demo", "demo-1.0-py3-none-any.whl.metadata", None),
            ("demo", "demo.whl", None),
            ("demo", ".whl", None),
            ("demo", "ä", None),
            // Several projects could have these names.
            ("demo", "demo-1.0-1.tar.gz", Some("1.0.post1")),
            ("demo", "demo-2-1.tar.gz", Some("2.post1")),
            ("demo-2", "demo-2-1.tar.gz", Some("1")),
            ("demo-x", "Demo.X-1.0-beta.tar.gz", Some("1.0b0")),
            ("demo", "other-1.0.tar.gz", Some("1.0")),
            ("demo", "other-1.0-py3-none-any.whl", Some("1.0")),
            ("demo", "demo-latest.tar.gz", None),
            ("demo", "demo.tar.gz", None),
        ] {
            let project = ProjectName::parse(project).unwrap();
            let version = version(file, &project).map(|version| version.to_string());
            assert_eq!(version.as_deref(), expected, "{file}");
        }
    }

    proptest! {
        #[test]
        fn names_are_compared_like_normalized_names(name in "[a-cA-C._-]{0,8}", other in "[a-c-]{0,6}") {
            let normal = normalize(&name).map(std::borrow::Cow::into_owned);
            if let Ok(normal) = normal {
                prop_assert!(is_normalized_to(&name, &normal));
                prop_assert_eq!(is_normalized_to(&name, &other), normal == other);
            }
        }

        #[test]
        fn arbitrary_names_do_not_panic(file in ".{0,30}") {
            let project = ProjectName::parse("demo").unwrap();
            let _ = (version(&file, &project), version_text(&file), is_distribution(&file));
        }
    }
}
