//! Patterns for names of projects.

use std::fmt;
use std::str::FromStr;

use wildmatch::WildMatch;

use crate::error::Kind;
use crate::{Error, ProjectName};

/// The longest pattern, in bytes.
const MAX_LEN: usize = 200;

/// A pattern for names of projects: a name in which `*` stands for any characters and `?` for one.
///
/// It is normalised as names are, so that `Acme_*` is for `acme-tools` and `ACME.tools` alike.
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
    /// Reads a pattern.
    ///
    /// # Errors
    ///
    /// Fails unless it has 1 to 200 letters, digits, `-`, `_`, `.`, `*` and `?` of ASCII ([`Error::is_config`]).
    pub fn parse(text: &str) -> Result<Self, Error> {
        let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.*?".contains(&byte);
        if text.is_empty() || text.len() > MAX_LEN || !text.bytes().all(is_allowed) {
            return Err(Error::with(Kind::Config, "not a pattern for names of projects"));
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

    /// Whether it is a pattern for this name.
    pub fn is_match(&self, name: &ProjectName) -> bool {
        self.matches(name.as_str())
    }

    /// The same for a name in its normal form.
    pub(super) fn matches(&self, normal: &str) -> bool {
        self.0.matches(normal)
    }
}

impl FromStr for ProjectPattern {
    type Err = Error;

    /// The same as [`ProjectPattern::parse`].
    fn from_str(text: &str) -> Result<Self, Error> {
        Self::parse(text)
    }
}

/// Its normal form.
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
    fn patterns_are_for_names_in_any_spelling() {
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

    /// What a pattern means, as plain as can be.
    fn twin(pattern: &[u8], name: &[u8]) -> bool {
        match (pattern.first(), name.first()) {
            (None, None) => true,
            (Some(b'*'), _) => twin(&pattern[1..], name) || !name.is_empty() && twin(pattern, &name[1..]),
            (Some(b'?'), Some(_)) => twin(&pattern[1..], &name[1..]),
            (Some(one), Some(other)) if one == other => twin(&pattern[1..], &name[1..]),
            _ => false,
        }
    }

    proptest! {
        #[test]
        fn stars_and_question_marks_are_all_there_is(pattern in "[ab*?]{1,8}", name in "[ab]{1,8}") {
            prop_assert_eq!(matches(&pattern, &name), twin(pattern.as_bytes(), name.as_bytes()));
        }
    }
}
