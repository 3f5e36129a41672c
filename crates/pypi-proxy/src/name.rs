//! Validation and normalization of project and file names.

use std::borrow::Cow;
use std::fmt;

use crate::Error;
use crate::error::Kind;

/// Maximum length of the name of a project in bytes: what file systems can store, minus a suffix of the cache.
const MAX_LEN: usize = 200;

/// A normalized project name: lower case, with one hyphen for each run of `-`, `_` and `.` (the *names and
/// normalization* specification).
///
/// ```
/// use pypi_proxy::ProjectName;
///
/// let name = ProjectName::parse("Flask__SQL.Alchemy")?;
/// assert_eq!(name.as_str(), "flask-sql-alchemy");
/// assert!(ProjectName::parse("../etc").unwrap_err().is_name());
/// # Ok::<(), pypi_proxy::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProjectName(Box<str>);

impl ProjectName {
    /// Validates and normalizes a name.
    ///
    /// # Errors
    ///
    /// Fails unless the name consists of 1 to 200 ASCII letters, digits, `-`, `_` and `.`, and starts and ends with a
    /// letter or digit ([`Error::is_name`]).
    pub fn parse(text: &str) -> Result<Self, Error> {
        normalize(text).map(|name| Self(name.into()))
    }

    /// Returns the normalized name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ProjectName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for ProjectName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl std::borrow::Borrow<str> for ProjectName {
    fn borrow(&self) -> &str {
        &self.0
    }
}

/// Normalizes a name. Borrows the text if it is normalized already, so that a request for a cached project does not
/// allocate.
pub(crate) fn normalize(text: &str) -> Result<Cow<'_, str>, Error> {
    let bytes = text.as_bytes();
    let is_end = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    if bytes.len() > MAX_LEN || !is_end(bytes.first()) || !is_end(bytes.last()) {
        return Err(Error::with(Kind::Name, "project"));
    }
    let is_separator = |byte: u8| matches!(byte, b'-' | b'_' | b'.');
    let mut is_normal = true;
    let mut before = b'a';
    for &byte in bytes {
        match byte {
            b'a'..=b'z' | b'0'..=b'9' => {}
            b'-' => is_normal &= before != b'-',
            b'A'..=b'Z' | b'_' | b'.' => is_normal = false,
            _ => return Err(Error::with(Kind::Name, "project")),
        }
        before = byte;
    }
    if is_normal {
        return Ok(Cow::Borrowed(text));
    }
    let mut name = String::with_capacity(text.len());
    for &byte in bytes {
        match is_separator(byte) {
            true if name.ends_with('-') => {}
            true => name.push('-'),
            false => name.push(char::from(byte.to_ascii_lowercase())),
        }
    }
    Ok(Cow::Owned(name))
}

/// Returns a lookup table of ASCII letters, digits and these marks.
pub(crate) const fn byte_table(marks: &[u8]) -> [bool; 256] {
    let mut allowed = [false; 256];
    let mut byte = 0;
    while byte < allowed.len() {
        allowed[byte] = (byte as u8).is_ascii_alphanumeric();
        byte += 1;
    }
    let mut at = 0;
    while at < marks.len() {
        allowed[marks[at] as usize] = true;
        at += 1;
    }
    allowed
}

/// Maximum length of the name of a file in bytes, and of a suffix such as `.provenance`.
const MAX_FILE_NAME: usize = 255 + ".provenance".len();

/// Returns whether a file of an index may have this name: ASCII characters, no control character, slash, backslash, `%`,
/// `?`, `#` or quote, no leading dot, and no space at an end. Only spaces need escaping as the last segment of a URL path.
pub(crate) fn is_file_name(text: &str) -> bool {
    /// A lookup table, because pages have thousands of names.
    const ALLOWED: [bool; 256] = byte_table(b"-_.+!~=@,() ");
    let is_allowed = |byte: &u8| ALLOWED[usize::from(*byte)];
    (1..=MAX_FILE_NAME).contains(&text.len())
        && !text.starts_with(['.', ' '])
        && !text.ends_with(' ')
        && text.as_bytes().iter().all(is_allowed)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_are_normalized() {
        let cases = [
            ("flask", "flask"),
            ("Foo_Bar", "foo-bar"),
            ("markdown_it.py", "markdown-it-py"),
            ("a-_.b", "a-b"),
            ("A--b", "a-b"),
            ("7", "7"),
        ];
        for (text, normal) in cases {
            assert_eq!(ProjectName::parse(text).unwrap().as_str(), normal);
        }
        assert!(matches!(normalize("flask-sqlalchemy").unwrap(), Cow::Borrowed(_)));
    }

    #[test]
    fn names_that_could_escape_a_directory_or_url_are_invalid() {
        let (long, too_long) = ("a".repeat(201), "a".repeat(267));
        for text in ["", "-", "a-", ".a", "..", "a/b", "a\\b", "?x", "a b", "a\0", "ä", "%2e", long.as_str()]
        {
            assert!(ProjectName::parse(text).unwrap_err().is_name(), "{text}");
        }
        for text in [
            "", ".", "..", ".tmp-1", "a/b", "a\\b", "a\nb", " b", "a ", "a%2fb", "a?b", "a#b", "a\"b",
            &too_long,
        ] {
            assert!(!is_file_name(text), "{text}");
        }
        for text in [
            "a b-1.0.zip",
            &long,
            "six-1.16.0-py2.py3-none-any.whl",
            "six-1.16.0.tar.gz",
            "a-1!2.0+cpu-py3-none-any.whl.metadata",
        ] {
            assert!(is_file_name(text), "{text}");
        }
    }

    proptest! {
        #[test]
        fn normalization_is_idempotent(text in "[A-Za-z0-9._-]{0,20}") {
            if let Ok(name) = ProjectName::parse(&text) {
                prop_assert!(matches!(normalize(name.as_str()), Ok(Cow::Borrowed(again)) if again == name.as_str()));
                prop_assert!(!name.as_str().contains("--"));
            }
        }
    }
}
