//! The list of all projects of an index.

use std::fmt;
use std::io::Write as _;
use std::ops::Range;

use bytes::Bytes;
use html5gum::{StartTag, Token};

use super::evidence::{Evidence, tokens};
use super::file::range;
use super::html::attribute;
use super::json::positions;
use super::scan::Scanner;
use crate::Error;
use crate::error::Kind;
use crate::name::normalize;

const JSON_START: &[u8] = br#"{"meta":{"api-version":"1.0"},"projects":["#;

/// List of the projects of an index, possibly a million: one buffer, and the positions of the names in it.
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
    /// Document for clients.
    json: Bytes,
    names: Vec<Range<u32>>,
    skipped: usize,
}

impl ProjectList {
    /// Parses a list in the format `application/vnd.pypi.simple.v1+json`. The document is passed on unchanged, unless a
    /// project has no valid name: then the projects with valid names are listed.
    ///
    /// # Errors
    ///
    /// Fails if the document is not JSON in UTF-8 with a list of projects, has an API version other than 1, has
    /// projects of which none has a valid name, or has an object with duplicate keys or a key with an escape ([`Error::is_page`]).
    pub fn from_json(document: Vec<u8>) -> Result<Self, Error> {
        Self::parse_json(document).map(|(list, _)| list)
    }

    fn parse_json(document: Vec<u8>) -> Result<(Self, Evidence), Error> {
        super::json::check(&document)?;
        let (mut names, mut evidence) = (Vec::new(), Evidence::default());
        let mut scanner = Scanner::new(&document);
        let (mut has_projects, mut skipped) = (false, 0);
        scanner.object(|scanner, key| match key {
            b"meta" => super::json::read_version(scanner, &mut evidence),
            b"projects" => {
                has_projects = true;
                scanner.array(|scanner| {
                    match name(scanner)? {
                        Some(name) => names.push(positions(&name)),
                        None => skipped += 1,
                    }
                    Ok(())
                })
            }
            _ => scanner.pass(),
        })?;
        scanner.end()?;
        if !has_projects {
            return Err(scanner.error("the list of projects is missing"));
        }
        if names.is_empty() && skipped > 0 {
            return Err(scanner.error("no project has a valid name"));
        }
        let list = Self { json: document.into(), names, skipped };
        let list = if skipped > 0 { Self { skipped, ..Self::of(list.names())? } } else { list };
        Ok((list, evidence))
    }

    /// Parses the response of an index. `page` is the path of the list at the index.
    ///
    /// # Errors
    ///
    /// Same as [`Self::from_json`] and [`Self::from_html`], or if the document is another page ([`Error::is_page`]): it
    /// has neither an API version, nor the title of a list, nor only links to projects.
    pub fn parse(document: Vec<u8>, is_json: bool, page: &str) -> Result<Self, Error> {
        let (list, evidence, entries) = if is_json {
            let (list, evidence) = Self::parse_json(document)?;
            let count = list.names.len();
            (list, evidence, std::iter::repeat_n(true, count.min(1)))
        } else {
            let mut links = ProjectLinks { page, ..ProjectLinks::default() };
            let list = Self::of(tokens(&document).filter_map(|token| links.observe(&token)))?;
            let count = list.names.len();
            (list, links.evidence, std::iter::repeat_n(!links.has_other, count.min(1)))
        };
        evidence.check(None, entries)?;
        Ok(list)
    }

    /// Parses a list of links in HTML.
    ///
    /// The project name is the last segment of the link's path. Links to anything else are ignored.
    ///
    /// # Errors
    ///
    /// Fails if the list is larger than 4 GiB ([`Error::is_limit`]).
    pub fn from_html(document: &[u8]) -> Result<Self, Error> {
        let mut links = ProjectLinks::default();
        Self::of(tokens(document).filter_map(|token| links.observe(&token)))
    }

    /// Merges lists. Each project is listed once, sorted by its normalized name and spelled as in the first list that
    /// has it.
    ///
    /// # Errors
    ///
    /// Fails if the list is larger than 4 GiB ([`Error::is_limit`]).
    pub fn merge<'l>(lists: impl IntoIterator<Item = &'l Self>) -> Result<Self, Error> {
        let mut names: Vec<_> = lists
            .into_iter()
            .flat_map(Self::names)
            .filter_map(|name| Some((normalize(name).ok()?, name)))
            .collect();
        // The sort is stable, so the spelling of the first list wins.
        names.sort_by(|(left, _), (right, _)| left.cmp(right));
        names.dedup_by(|(later, _), (earlier, _)| later == earlier);
        Self::of(names.into_iter().map(|(_, name)| name))
    }

    /// Returns the list of the projects that pass the filter, which is called with normalized names. As
    /// [`Self::merge`].
    #[cfg(feature = "proxy")]
    pub(crate) fn filtered(&self, is_included: impl Fn(&str) -> bool) -> Result<Self, Error> {
        Self::of(self.names().filter(|name| normalize(name).is_ok_and(|normal| is_included(&normal))))
    }

    /// Writes a list in JSON; ignores invalid names.
    fn of(all: impl Iterator<Item: AsRef<str>>) -> Result<Self, Error> {
        let (mut json, mut names) = (JSON_START.to_vec(), Vec::new());
        for name in all.filter(|name| normalize(name.as_ref()).is_ok()) {
            json.extend_from_slice(if names.is_empty() { b"{\"name\":\"" } else { b",{\"name\":\"" });
            let start = json.len();
            json.extend_from_slice(name.as_ref().as_bytes());
            names.push(positions(&(start..json.len())));
            json.extend_from_slice(b"\"}");
        }
        json.extend_from_slice(b"]}");
        if u32::try_from(json.len()).is_err() {
            return Err(Error::with(Kind::Limit, "the list is larger than 4 GiB"));
        }
        Ok(Self { json: json.into(), names, skipped: 0 })
    }

    /// Returns the names as spelled in the list.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        // The parser has checked that names are UTF-8 without escapes.
        self.names.iter().map(|name| std::str::from_utf8(&self.json[range(name)]).unwrap_or_default())
    }

    /// Number of projects that are left out because of invalid names.
    pub fn skipped(&self) -> usize {
        self.skipped
    }

    #[cfg(feature = "proxy")]
    pub(crate) fn size_in_memory(&self) -> usize {
        self.json.len() + self.names.len() * size_of::<Range<u32>>()
    }

    /// Returns the list in the format `application/vnd.pypi.simple.v1+json`.
    pub fn json(&self) -> &Bytes {
        &self.json
    }

    /// Returns the list in the format `application/vnd.pypi.simple.v1+html`, in chunks of about 64 KiB. It is twice as
    /// long as the JSON and is not stored.
    pub fn html(&self) -> impl Iterator<Item = Vec<u8>> {
        let start = b"<!DOCTYPE html>\n<html>\n<head>\n<meta charset=\"utf-8\">\n\
            <meta name=\"pypi:repository-version\" content=\"1.0\">\n<title>Simple index</title>\n</head>\n<body>\n";
        let body = self.names.chunks(1024).map(|names| {
            let mut out = Vec::with_capacity(64 * 1024);
            for name in names {
                let name = std::str::from_utf8(&self.json[range(name)]).unwrap_or_default();
                let normal = normalize(name).unwrap_or_default();
                // Writing to a vector can't fail, and names need no escaping.
                let _ = writeln!(out, "<a href=\"{normal}/\">{name}</a><br>");
            }
            out
        });
        std::iter::once(start.to_vec()).chain(body).chain(std::iter::once(b"</body>\n</html>\n".to_vec()))
    }
}

/// Reads the links of an HTML list, and checks whether they are links to projects.
#[derive(Default)]
struct ProjectLinks<'p> {
    /// Path of the list at the index.
    page: &'p str,
    evidence: Evidence,
    /// Name and text of the link whose end tag is missing so far.
    open: Option<(String, String)>,
    /// Whether a link leads to no project: its target is no folder of the list, or its text is not the name.
    has_other: bool,
}

impl ProjectLinks<'_> {
    /// Returns the last segment of the path if the token is a link.
    fn observe(&mut self, token: &Token) -> Option<String> {
        self.evidence.observe(token);
        match token {
            Token::StartTag(tag) if **tag.name == *b"a" => return self.start(tag),
            Token::String(text) => {
                if let Some((_, shown)) = &mut self.open {
                    shown.push_str(&String::from_utf8_lossy(text));
                }
            }
            Token::EndTag(tag) if **tag.name == *b"a" => {
                if let Some((name, shown)) = self.open.take() {
                    let shown = normalize(shown.trim().trim_end_matches('/'));
                    self.has_other |= shown.ok() != normalize(&name).ok();
                }
            }
            _ => {}
        }
        None
    }

    fn start(&mut self, tag: &StartTag<()>) -> Option<String> {
        let href = attribute(tag, b"href")?;
        let path = href.split(['?', '#']).next().unwrap_or_default().trim();
        let folder = path.trim_end_matches('/');
        let (parent, name) =
            folder.rsplit_once('/').map_or((None, folder), |(parent, name)| (Some(parent), name));
        let last = |path: &str| path.trim_end_matches('/').rsplit('/').next().unwrap_or_default().to_owned();
        // The name of a parent folder is no name of a project.
        if normalize(name).is_ok() {
            let is_inside = parent.is_none_or(|parent| parent == "." || last(parent) == last(self.page));
            self.has_other |= !is_inside || !path.ends_with('/');
            self.open = Some((name.to_owned(), String::new()));
        }
        Some(name.to_owned())
    }
}

/// Parses a project. Returns the position of its name without the quotes, if it is valid.
fn name(scanner: &mut Scanner<'_>) -> Result<Option<Range<usize>>, Error> {
    let mut position = None;
    scanner.object(|scanner, key| {
        if key != b"name" {
            return scanner.pass();
        }
        let value = scanner.value()?;
        let inner = value.start + 1..value.end.saturating_sub(1);
        position = scanner.slice(&inner).is_some_and(|name| normalize(name).is_ok()).then_some(inner);
        Ok(())
    })?;
    Ok(position)
}

/// Shows only the number of projects.
impl fmt::Debug for ProjectList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProjectList").field("projects", &self.names.len()).finish_non_exhaustive()
    }
}
