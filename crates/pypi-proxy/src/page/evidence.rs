//! Tells index pages from other responses with status 200, such as login pages.

use html5gum::{DefaultEmitter, Token, Tokenizer};

use super::html::attribute;
use crate::error::Kind;
use crate::name::normalize;
use crate::{Error, ProjectName};

/// Maximum length of a title in bytes; the rest is ignored.
const MAX_TITLE: usize = 1024;

/// Signs that a document is an index page, or another one.
#[derive(Default)]
pub(super) struct Evidence {
    /// Whether the document declares a version of the simple repository API.
    pub(super) has_version: bool,
    /// Project that the document names.
    pub(super) name: Option<String>,
    /// Whether the title is that of a list of projects.
    is_list: bool,
    /// Whether the document has input fields, as login pages do.
    has_input: bool,
    /// Title or heading whose end tag is missing so far.
    title: Option<String>,
}

impl Evidence {
    /// Fails unless the document is an index page: the page of a project, or the project list for `None`.
    ///
    /// `entries` states for each file whether its name is that of a file of the project, or for each link of a list
    /// whether it is one to a project. A page of a project has such a file, or it is explicitly empty: it has the name
    /// of the project, or a version and no other name. A list has a version or a known title, or nothing but links to
    /// projects.
    pub(super) fn check(
        &self,
        project: Option<&ProjectName>,
        mut entries: impl Iterator<Item = bool>,
    ) -> Result<(), Error> {
        let is_named = |project: &ProjectName| {
            Some(normalize(self.name.as_deref()?).is_ok_and(|it| it == project.as_str()))
        };
        let is_index_page = match project {
            Some(project) => entries.any(|it| it) || is_named(project).unwrap_or(self.has_version),
            None => {
                self.has_version
                    || self.is_list
                    || !self.has_input && entries.next() == Some(true) && entries.all(|it| it)
            }
        };
        if is_index_page { Ok(()) } else { Err(Error::with(Kind::Page, "the response is not an index page")) }
    }

    /// Evaluates the tags and titles of an HTML document.
    pub(super) fn observe(&mut self, token: &Token) {
        let is_title = |name: &[u8]| matches!(name, b"title" | b"h1");
        match token {
            Token::StartTag(tag) if is_title(&tag.name) => self.title = Some(String::new()),
            Token::StartTag(tag) if **tag.name == *b"meta" => {
                let name = attribute(tag, b"name");
                self.has_version |=
                    matches!(name.as_deref(), Some("pypi:repository-version" | "api-version"));
            }
            Token::StartTag(tag) => self.has_input |= matches!(&**tag.name, b"form" | b"input"),
            Token::String(text) => {
                if let Some(title) = self.title.as_mut().filter(|title| title.len() < MAX_TITLE) {
                    title.push_str(&String::from_utf8_lossy(text));
                }
            }
            Token::EndTag(tag) if is_title(&tag.name) => {
                if let Some(title) = self.title.take() {
                    self.add_title(&title.to_ascii_lowercase());
                }
            }
            _ => {}
        }
    }

    /// Evaluates a title in lower case, such as `links for six` or that of a folder listing.
    fn add_title(&mut self, title: &str) {
        let folder = title.trim().strip_prefix("index of ").map(|path| path.trim().trim_end_matches('/'));
        let of_folder = folder.map(|path| path.rsplit('/').next().unwrap_or_default());
        let linked = title.split_once("links for ").and_then(|(_, rest)| rest.split_whitespace().next());
        let name = linked.or(of_folder).filter(|name| normalize(name).is_ok());
        self.name = self.name.take().or(name.map(str::to_owned));
        self.is_list |=
            folder.is_some() || ["simple index", "simple list"].iter().any(|it| title.contains(it));
    }
}

/// Returns the tokens of an HTML document. Scripts and styles are text.
pub(super) fn tokens(document: &[u8]) -> impl Iterator<Item = Token> {
    let mut emitter = DefaultEmitter::default();
    emitter.naively_switch_states(true);
    Tokenizer::new_with_emitter(document, emitter).map(|token| {
        let Ok(token) = token;
        token
    })
}
