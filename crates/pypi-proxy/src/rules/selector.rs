//! Projects and versions that an entry of a rule selects.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr as _;

use pep440_rs::{Operator, Version, VersionSpecifiers};

use super::ProjectPattern;
use crate::error::Kind;
use crate::{Error, ProjectName};

/// Maximum length of the version specifiers in bytes.
const MAX_LEN: usize = 1000;

/// Selects projects by a pattern, and optionally some of their versions: `acme-*`, `urllib3 <2`, `acme-* ==1.*, !=1.3`.
///
/// The versions are specifiers as in requirements (PEP 440).
///
/// ```
/// use pypi_proxy::ProjectName;
/// use pypi_proxy::rules::ProjectSelector;
///
/// let name = ProjectName::parse("urllib3")?;
/// let old = ProjectSelector::parse("urllib3 <2")?;
/// assert!(old.is_match(&name, "1.26.18") && !old.is_match(&name, "2.0"));
/// assert!(ProjectSelector::parse("urllib3")?.is_match(&name, "2.0"));
/// # Ok::<(), pypi_proxy::Error>(())
/// ```
#[derive(Clone, PartialEq)]
pub struct ProjectSelector {
    pattern: ProjectPattern,
    versions: Option<VersionSpecifiers>,
}

impl ProjectSelector {
    /// Parses a pattern that version specifiers may follow.
    ///
    /// # Errors
    ///
    /// Fails if the pattern is malformed, or the specifiers are malformed or longer than 1,000 bytes
    /// ([`Error::is_config`]).
    pub fn parse(text: &str) -> Result<Self, Error> {
        let at = text.find(Self::starts_specifier).unwrap_or(text.len());
        let (pattern, versions) = text.split_at(at);
        let pattern = ProjectPattern::parse(pattern.trim())?;
        if versions.is_empty() {
            return Ok(pattern.into());
        }
        let malformed = || Error::with(Kind::Config, "malformed version specifiers");
        if versions.len() > MAX_LEN {
            return Err(malformed());
        }
        let versions = VersionSpecifiers::from_str(versions).map_err(|error| malformed().caused_by(error))?;
        // The normalized form may be longer.
        if versions.to_string().len() > MAX_LEN {
            return Err(malformed());
        }
        Ok(Self { pattern, versions: Some(versions) })
    }

    /// Returns whether an operator of a version specifier starts with this character.
    pub(crate) fn starts_specifier(c: char) -> bool {
        matches!(c, '<' | '>' | '=' | '!' | '~')
    }

    /// Returns whether this version of the project is selected. A malformed version is selected only if all are.
    pub fn is_match(&self, project: &ProjectName, version: &str) -> bool {
        self.has_project(project.as_str()) && self.has_version(Version::from_str(version).ok().as_ref())
    }

    pub(super) fn has_project(&self, normal: &str) -> bool {
        self.pattern.matches(normal)
    }

    pub(super) fn has_specifiers(&self) -> bool {
        self.versions.is_some()
    }

    /// Returns whether a version is selected. An unknown version is selected only if all are.
    pub(super) fn has_version(&self, version: Option<&Version>) -> bool {
        match (&self.versions, version) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(versions), Some(version)) => {
                versions.iter().all(|specifier| match specifier.operator() {
                    // pep440_rs compares only the parts that the version has: `1` would match `==1.2.*`.
                    Operator::EqualStar | Operator::NotEqualStar => {
                        specifier.contains(&padded(version, specifier.version().release().len()))
                    }
                    _ => specifier.contains(version),
                })
            }
        }
    }
}

/// Appends zeros to the release of a version, up to `len` parts.
fn padded(version: &Version, len: usize) -> Cow<'_, Version> {
    if version.release().len() >= len {
        return Cow::Borrowed(version);
    }
    let mut release = version.release().to_vec();
    release.resize(len, 0);
    Cow::Owned(version.clone().with_release(release))
}

impl From<ProjectPattern> for ProjectSelector {
    fn from(pattern: ProjectPattern) -> Self {
        Self { pattern, versions: None }
    }
}

/// Formats the normalized pattern and the specifiers.
impl fmt::Display for ProjectSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.pattern, f)?;
        match &self.versions {
            None => Ok(()),
            Some(versions) => write!(f, " {versions}"),
        }
    }
}

impl fmt::Debug for ProjectSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.to_string())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn matches(selector: &str, project: &str, version: &str) -> bool {
        ProjectSelector::parse(selector).unwrap().is_match(&ProjectName::parse(project).unwrap(), version)
    }

    #[test]
    fn versions_are_selected_by_specifiers() {
        for (selector, version, expected) in [
            ("demo", "1.0", true),
            ("demo", "unknown", true),
            ("demo <2", "unknown", false),
            ("demo <2", "1.9", true),
            ("demo<2", "2.0", false),
            ("demo <2", "2.0rc1", false),
            ("demo <2", "1.0rc1", true),
            ("De?o >=1.2, <2", "1.5", true),
            ("de* >=1.2,<2", "1.1", false),
            ("demo ==1.*", "1.7", true),
            ("demo ==1.2.*", "1", false),
            ("demo !=1.2.*", "1", true),
            ("demo ==1.0.*", "1", true),
            ("demo ~=1.2.3", "1", false),
            ("demo ==1.0", "1", true),
            ("demo ==1.0", "1.0+local", true),
            ("demo ===1.0", "1.0", true),
            ("demo > 1", "1.1.post1", true),
            ("other >1", "2", false),
        ] {
            assert_eq!(matches(selector, "demo", version), expected, "{selector} {version}");
        }
    }

    #[test]
    fn malformed_selectors_are_rejected() {
        let many = |specifier: &str, count| format!("demo {}", vec![specifier; count].join(","));
        assert!(ProjectSelector::parse(&many("<10", 190)).is_ok());
        let (long, long_if_normalized) = (many("<10", 260), many("<1a", 220));
        for text in [
            "",
            "<2",
            "demo[extra] <2",
            "demo <",
            "demo <x",
            "demo 2",
            "demo <2; x",
            "demo <2 six",
            &long,
            &long_if_normalized,
        ] {
            assert!(ProjectSelector::parse(text).unwrap_err().is_config(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn formatted_selectors_parse_to_the_same_value(
            name in "[a-z*?]{1,5}",
            versions in "( ?(<|>=|==|~=|!=)[0-9]\\.[0-9](rc1|\\.post2)?( ?, ?(<=|>|!=)[0-9](\\.[0-9])?)?)?",
        ) {
            let selector = ProjectSelector::parse(&format!("{name}{versions}")).unwrap();
            prop_assert_eq!(ProjectSelector::parse(&selector.to_string()).unwrap(), selector);
        }

        #[test]
        fn arbitrary_text_does_not_panic(text in "[a-z*]{0,3}[<>=!~0-9.,* x]{0,20}") {
            if let Ok(selector) = ProjectSelector::parse(&text) {
                selector.is_match(&ProjectName::parse("a").unwrap(), "1.0");
            }
        }
    }
}
