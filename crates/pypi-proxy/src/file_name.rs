//! Project names and versions in the names of files.

use std::str::FromStr as _;

use pep440_rs::Version;

use crate::ProjectName;
use crate::name::normalize;

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

/// Project and version in the name of a wheel, egg or source distribution.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(dead_code, reason = "only files that a page lists are served")]
pub(crate) struct FileName {
    pub(crate) project: ProjectName,
    pub(crate) version: Version,
}

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

impl FileName {
    /// Parses a file name. Returns `None` for other kinds of files, such as metadata, and for a name that several
    /// projects could have: `a-2-1.tar.gz` is version `1` of `a-2`, or version `2-1` of `a`.
    #[allow(dead_code, reason = "only files that a page lists are served")]
    pub(crate) fn parse(file: &str) -> Option<Self> {
        let of = |project, text| {
            Some(Self { project: ProjectName::parse(project).ok()?, version: version_of(text)? })
        };
        match Stem::of(file)? {
            Stem::Built { project, version } => of(project, version),
            Stem::Source(stem) => {
                let mut found = hyphens(stem).filter_map(|(project, version)| of(project, version));
                found.next().filter(|_| found.next().is_none())
            }
        }
    }

    /// Parses the version of a file of a known project, as installers do.
    pub(crate) fn version(file: &str, project: &ProjectName) -> Option<Version> {
        match Stem::of(file)? {
            Stem::Built { version, .. } => version_of(version),
            Stem::Source(stem) => {
                let is_project = |name| normalize(name).is_ok_and(|normal| normal == project.as_str());
                let (_, version) =
                    hyphens(stem).find(|(name, _)| is_project(name)).or(stem.rsplit_once('-'))?;
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
pub fn file_version(project: &ProjectName, file: &str) -> Option<String> {
    FileName::version(file, project).map(|version| version.to_string())
}

/// Returns the texts before and after each hyphen.
fn hyphens(stem: &str) -> impl Iterator<Item = (&str, &str)> {
    stem.match_indices('-').map(|(at, _)| (&stem[..at], &stem[at + 1..]))
}

fn version_of(text: &str) -> Option<Version> {
    // Old tools append the version of Python.
    let is_python = |end: &str| end.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let text = text.rsplit_once("-py").filter(|(_, end)| is_python(end)).map_or(text, |(version, _)| version);
    // Wheels replace the hyphen of an implicit post-release.
    Version::from_str(text).or_else(|_| Version::from_str(&text.replace('_', "-"))).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parse(file: &str) -> Option<(String, String)> {
        FileName::parse(file).map(|name| (name.project.to_string(), name.version.to_string()))
    }

    #[test]
    fn projects_and_versions_are_parsed() {
        for (file, expected) in [
            ("demo-1.0-py3-none-any.whl", Some(("demo", "1.0"))),
            ("Demo_X-1.0+Local.1-2-cp39-abi3-linux.WHL", Some(("demo-x", "1.0+local.1"))),
            ("demo-1.0_1-py3-none-any.whl", Some(("demo", "1.0.post1"))),
            ("demo-1.0-py3.9.egg", Some(("demo", "1.0"))),
            ("demo-x-1.0RC1.tar.gz", Some(("demo-x", "1.0rc1"))),
            ("demo_x-1!2.0.zip", Some(("demo-x", "1!2.0"))),
            ("demo-1.0-py2.7.tar.bz2", Some(("demo", "1.0"))),
            ("python-3-utils-1.0.tgz", Some(("python-3-utils", "1.0"))),
            // Several projects could have these.
            ("demo-2-1.tar.gz", None),
            ("demo-1.0-1.tar.gz", None),
            ("demo-2004d.tar.gz", None),
            ("demo-1.0.exe", None),
            ("demo-1.0-py3-none-any.whl.metadata", None),
            ("demo.tar.gz", None),
            ("-1.0.tar.gz", None),
            ("demo.whl", None),
            (".whl", None),
            ("ä", None),
        ] {
            let expected = expected.map(|(project, version)| (project.to_owned(), version.to_owned()));
            assert_eq!(parse(file), expected, "{file}");
        }
    }

    #[test]
    fn a_known_project_resolves_ambiguous_names() {
        for (project, file, expected) in [
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
            let version = FileName::version(file, &project).map(|version| version.to_string());
            assert_eq!(version.as_deref(), expected, "{file}");
        }
    }

    proptest! {
        #[test]
        fn both_parsers_agree(file in "[a-z0-9._-]{0,12}(-[0-9.]{1,4}){0,2}(\\.tar\\.gz|-py3-none-any\\.whl|\\.zip|)") {
            if let Some(FileName { project, version }) = FileName::parse(&file) {
                prop_assert_eq!(FileName::version(&file, &project), Some(version));
            }
        }

        #[test]
        fn arbitrary_names_do_not_panic(file in ".{0,30}") {
            let _ = (FileName::parse(&file), FileName::version_text(&file));
        }
    }
}
