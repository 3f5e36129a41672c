//! The list of all projects of an index.

use std::fmt;
use std::io::Write as _;
use std::ops::Range;

use bytes::Bytes;
use html5gum::{Token, Tokenizer};

use super::file::range;
use super::json::positions;
use super::scan::Scanner;
use crate::Error;
use crate::error::Kind;
use crate::name::normalize;

const JSON_START: &[u8] = br#"{"meta":{"api-version":"1.0"},"projects":["#;

/// The projects of an index, of which there may be a million: one buffer and the places of the names in it.
///
/// ```
/// use pypi_proxy::ProjectList;
///
/// let upstream = br#"{"meta":{"api-version":"1.4"},"projects":[{"name":"Flask","_last-serial":7},{"name":"six"}]}"#;
/// let list = ProjectList::from_json(upstream.to_vec())?;
/// assert_eq!(list.names().collect::<Vec<_>>(), ["Flask", "six"]);
/// # Ok::<(), pypi_proxy::Error>(())
/// ```
#[derive(Clone)]
pub struct ProjectList {
    /// The document for clients.
    json: Bytes,
    names: Vec<Range<u32>>,
}

impl ProjectList {
    /// Reads a list in the form `application/vnd.pypi.simple.v1+json`. Its bytes are passed on.
    ///
    /// # Errors
    ///
    /// Fails if it is not JSON in UTF-8 with a list of projects, or of another version than 1; if a project has no name or
    /// one that can't be a project's; and if an object has two equal keys or a key with an escape ([`Error::is_page`]).
    pub fn from_json(document: Vec<u8>) -> Result<Self, Error> {
        super::json::check(&document)?;
        let mut names = Vec::new();
        let mut scanner = Scanner::new(&document);
        let mut has_projects = false;
        scanner.object(|scanner, key| match key {
            b"meta" => super::json::read_version(scanner),
            b"projects" => {
                has_projects = true;
                scanner.array(|scanner| {
                    names.push(positions(&name(scanner)?));
                    Ok(())
                })
            }
            _ => scanner.pass(),
        })?;
        scanner.end()?;
        if !has_projects {
            return Err(scanner.error("there is no list of projects"));
        }
        Ok(Self { json: document.into(), names })
    }

    /// Reads a list of links.
    ///
    /// A project is what the last part of the link's path names. Links to something else are left out.
    ///
    /// # Errors
    ///
    /// Fails if it has more than 4 GiB ([`Error::is_limit`]).
    pub fn from_html(document: &[u8]) -> Result<Self, Error> {
        let mut list = Builder::default();
        for token in Tokenizer::new(document) {
            let Ok(token) = token;
            if let Token::StartTag(tag) = token
                && **tag.name == *b"a"
                && let Some(href) = tag.attributes.get(&b"href"[..])
            {
                let href = String::from_utf8_lossy(href);
                let path = href.split(['?', '#']).next().unwrap_or_default().trim().trim_end_matches('/');
                let last = path.rsplit_once('/').map_or(path, |(_, last)| last);
                list.push(last);
            }
        }
        list.build()
    }

    /// The names of several lists, each once whatever its spelling, in the order of their normal forms. The spelling is that
    /// of the first list that has it.
    ///
    /// # Errors
    ///
    /// Fails if that is more than 4 GiB ([`Error::is_limit`]).
    pub fn merge<'l>(lists: impl IntoIterator<Item = &'l Self>) -> Result<Self, Error> {
        let mut names: Vec<_> = lists
            .into_iter()
            .flat_map(Self::names)
            .filter_map(|name| Some((normalize(name).ok()?, name)))
            .collect();
        // Stable, so that the first list comes first.
        names.sort_by(|(left, _), (right, _)| left.cmp(right));
        names.dedup_by(|(later, _), (earlier, _)| later == earlier);
        let mut list = Builder::default();
        for (_, name) in names {
            list.push(name);
        }
        list.build()
    }

    /// The list with those of its names that are to be kept, which are asked about in their normal forms.
    ///
    /// # Errors
    ///
    /// As [`Self::merge`].
    #[cfg(feature = "proxy")]
    pub(crate) fn filtered(&self, is_kept: impl Fn(&str) -> bool) -> Result<Self, Error> {
        let mut list = Builder::default();
        for name in self.names() {
            if normalize(name).is_ok_and(|normal| is_kept(&normal)) {
                list.push(name);
            }
        }
        list.build()
    }

    /// The names as they are spelled.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        // They were read as text, without an escape.
        self.names.iter().map(|name| std::str::from_utf8(&self.json[range(name)]).unwrap_or_default())
    }

    /// Bytes in memory.
    #[cfg(feature = "proxy")]
    pub(crate) fn weight(&self) -> usize {
        self.json.len() + self.names.len() * size_of::<Range<u32>>()
    }

    /// The list in the form `application/vnd.pypi.simple.v1+json`.
    pub fn json(&self) -> &Bytes {
        &self.json
    }

    /// The list in the form `application/vnd.pypi.simple.v1+html`, in pieces of about 64 KiB: it is twice as long as the
    /// other, and nothing keeps it.
    pub fn html(&self) -> impl Iterator<Item = Vec<u8>> {
        let start = b"<!DOCTYPE html>\n<html>\n<head>\n<meta charset=\"utf-8\">\n\
            <meta name=\"pypi:repository-version\" content=\"1.0\">\n<title>Simple index</title>\n</head>\n<body>\n";
        let body = self.names.chunks(1024).map(|names| {
            let mut out = Vec::with_capacity(64 * 1024);
            for name in names {
                let name = std::str::from_utf8(&self.json[range(name)]).unwrap_or_default();
                let normal = normalize(name).unwrap_or_default();
                // Writing into a vector does not fail, and no character of a name needs an escape.
                let _ = writeln!(out, "<a href=\"{normal}/\">{name}</a><br>");
            }
            out
        });
        std::iter::once(start.to_vec()).chain(body).chain(std::iter::once(b"</body>\n</html>\n".to_vec()))
    }
}

/// Where the name of a project is, without its quotes.
fn name(scanner: &mut Scanner<'_>) -> Result<Range<usize>, Error> {
    let mut place = None;
    scanner.object(|scanner, key| {
        if key != b"name" {
            return scanner.pass();
        }
        let value = scanner.value()?;
        let inner = value.start + 1..value.end.saturating_sub(1);
        if scanner.slice(&inner).is_none_or(|name| normalize(name).is_err()) {
            return Err(scanner.error("not the name of a project"));
        }
        place = Some(inner);
        Ok(())
    })?;
    place.ok_or_else(|| scanner.error("a project without name"))
}

/// Writes a list.
struct Builder {
    json: Vec<u8>,
    names: Vec<Range<u32>>,
}

impl Default for Builder {
    fn default() -> Self {
        Self { json: JSON_START.to_vec(), names: Vec::new() }
    }
}

impl Builder {
    /// Leaves out what is no name.
    fn push(&mut self, name: &str) {
        if normalize(name).is_err() {
            return;
        }
        self.json.extend_from_slice(if self.names.is_empty() { b"{\"name\":\"" } else { b",{\"name\":\"" });
        let start = self.json.len();
        self.json.extend_from_slice(name.as_bytes());
        self.names.push(positions(&(start..self.json.len())));
        self.json.extend_from_slice(b"\"}");
    }

    fn build(mut self) -> Result<ProjectList, Error> {
        self.json.extend_from_slice(b"]}");
        if u32::try_from(self.json.len()).is_err() {
            return Err(Error::with(Kind::Limit, "the size of a page"));
        }
        Ok(ProjectList { json: self.json.into(), names: self.names })
    }
}

/// Shows how long it is.
impl fmt::Debug for ProjectList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProjectList").field("projects", &self.names.len()).finish_non_exhaustive()
    }
}
