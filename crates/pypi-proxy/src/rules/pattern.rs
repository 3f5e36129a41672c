//! Patterns of project names.

use std::fmt;

use wildmatch::WildMatch;

use crate::error::Kind;
use crate::{Error, ProjectName};

/// Maximum length of a pattern in bytes.
const MAX_LEN: usize = 200;

/// A pattern of project names, in which `*` matches any characters and `?` matches one.
///
/// Patterns are normalized like names: `Acme_*` matches `acme-tools` and `ACME.tools`.
///
/// ```
/// use pypi_proxy::ProjectName;
/// use pypi_proxy::rules::ProjectPattern;
///
/// let pattern = ProjectPattern::parse("Acme_*")?;
/// assert!(pattern.is_match(&ProjectName::parse("acme.tools")?));
/// assert!(!pattern.is_match(&ProjectName::parse("acme")?));
/// # Ok::<(), pypi_proxy::Error>(())
/// ```
#[derive(Clone, PartialEq)]
pub struct ProjectPattern(WildMatch);

impl ProjectPattern {
    /// Parses a pattern.
    ///
    /// # Errors
    ///
    /// Fails unless the pattern consists of 1 to 200 ASCII letters, digits, `-`, `_`, `.`, `*` and `?`
    /// ([`Error::is_config`]).
    pub fn parse(text: &str) -> Result<Self, Error> {
        let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.*?".contains(&byte);
        if text.is_empty() || text.len() > MAX_LEN || !text.bytes().all(is_allowed) {
            return Err(Error::with(Kind::Config, "malformed pattern of project names"));
        }
        let mut normal = String::with_capacity(text.len());
        for byte in text.bytes() {
            match byte {
                b'-' | b'_' | b'.' if normal.ends_with('-') => {}
                b'-' | b'_' | b'.' => normal.push('-'),
                byte => normal.push(char::from(byte.to_ascii_lowercase())),
            }
        }
        Ok(Self(WildMatch::new(&normal)))
    }

    /// Returns whether the pattern matches a name.
    pub fn is_match(&self, name: &ProjectName) -> bool {
        self.matches(name.as_str())
    }

    /// Same as [`Self::is_match`] for a normalized name.
    pub(super) fn matches(&self, normal: &str) -> bool {
        self.0.matches(normal)
    }
}

/// Formats the normalized pattern.
impl fmt::Display for ProjectPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl fmt::Debug for ProjectPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.to_string())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn matches(pattern: &str, name: &str) -> bool {
        ProjectPattern::parse(pattern).unwrap().is_match(&ProjectName::parse(name).unwrap())
    }

    #[test]
    fn patterns_match_names_in_any_spelling() {
        for (pattern, name, expected) in [
            ("six", "Six", true),
            ("six", "six-2", false),
            ("acme-*", "Acme.Tools", true),
            ("acme_*", "acme", false),
            ("acme*", "acme", true),
            ("*-internal", "a.b_internal", true),
            ("a?c", "abc", true),
            ("a?c", "ac", false),
            ("*", "anything", true),
            ("A.-_b", "a-b", true),
        ] {
            assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
        }
        for wrong in ["", "a b", "[ab]", "a/b", "ä", "a,b", &"a".repeat(201)] {
            assert!(ProjectPattern::parse(wrong).unwrap_err().is_config(), "{wrong}");
        }
    }

    fn reference_match(pattern: &[u8], name: &[u8]) -> bool {
        match (pattern.first(), name.first()) {
            (None, None) => true,
            (Some(b'*'), _) => {
                reference_match(&pattern[1..], name)
                    || !name.is_empty() && reference_match(pattern, &name[1..])
            }
            (Some(b'?'), Some(_)) => reference_match(&pattern[1..], &name[1..]),
            (Some(one), Some(other)) if one == other => reference_match(&pattern[1..], &name[1..]),
            _ => false,
        }
    }

    proptest! {
        #[test]
        fn matching_equals_the_reference_implementation(pattern in "[ab*?]{1,8}", name in "[ab]{1,8}") {
            prop_assert_eq!(matches(&pattern, &name), reference_match(pattern.as_bytes(), name.as_bytes()));
        }
    }
}
