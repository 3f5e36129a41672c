//! Parses project pages in HTML, the only format of many mirrors.

use std::borrow::Cow;

use html5gum::{HtmlString, Spanned, StartTag, Token};
use serde::Serialize;
use url::Url;

use super::Page;
use super::evidence::{Evidence, tokens};
#[cfg(feature = "proxy")]
use super::links::Links as PageLinks;
use crate::Error;
use crate::error::Kind;
use crate::file_name::is_distribution;
use crate::name::is_file_name;

/// Hash algorithms that a link may have in its fragment: those that every Python supports.
const ALGORITHMS: [&str; 6] = ["sha256", "sha512", "sha384", "sha224", "sha1", "md5"];

impl Page {
    /// Parses a page in the format `application/vnd.pypi.simple.v1+html`, or a plain list of links.
    ///
    /// The file name is the last segment of the link's path, because some servers abbreviate the text of a link. Links
    /// to anything else, and those in scripts and comments, are ignored. The `data-` attributes of a link become fields
    /// of the file; HTML has no sizes and upload times.
    ///
    /// ```
    /// use pypi_proxy::Page;
    ///
    /// let upstream = r#"<!DOCTYPE html>
    /// <a href="../../packages/six-1.16.0.tar.gz#md5=a7c927740e4964dd29b72cebfc1429bb" data-requires-python="&gt;=2.7">six</a>"#;
    /// let page = Page::from_html(upstream.as_bytes())?;
    /// let file = page.file("six-1.16.0.tar.gz").unwrap();
    /// assert_eq!(file.url(), "../../packages/six-1.16.0.tar.gz");
    /// assert_eq!(file.details().requires_python.as_deref(), Some(">=2.7"));
    /// assert!(std::str::from_utf8(page.json()).unwrap().contains(r#""hashes":{"md5":"a7c9"#));
    /// # Ok::<(), pypi_proxy::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Fails if the page declares an API version other than 1 ([`Error::is_page`]).
    pub fn from_html(document: &[u8]) -> Result<Self, Error> {
        Self::from_json(Links::parse(document)?.into_json())
    }

    /// Like [`Page::from_html`], with sizes, times and metadata from `facts`.
    #[cfg(feature = "proxy")]
    pub(crate) fn from_html_with_facts(
        document: &[u8],
        links_to: PageLinks<'_>,
        facts: &super::ProjectFacts,
    ) -> Result<Self, Error> {
        let mut links = Links::parse(document)?;
        for link in &mut links.files {
            // Without a hash, the file may have been replaced.
            let Some(("sha256", sha256)) = &link.hashes.0 else { continue };
            if let Some(fact) = facts.get(&link.filename).filter(|fact| fact.is_of(sha256)) {
                link.size = fact.size;
                link.upload_time.clone_from(&fact.time);
            }
        }
        Self::parse(links.into_json(), links_to, facts)
    }
}

/// Links and metadata of the document, to be written as JSON.
#[derive(Default)]
struct Links {
    evidence: Evidence,
    base: Option<Url>,
    status: Option<String>,
    reason: Option<String>,
    tracks: Vec<String>,
    alternate_locations: Vec<String>,
    files: Vec<Link>,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct Link {
    filename: String,
    url: String,
    hashes: Hashes,
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    upload_time: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    requires_python: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    core_metadata: Option<AttributeValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    gpg_sig: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    yanked: Option<AttributeValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    provenance: Option<String>,
}

/// Hash of a file, serialized as a JSON object. At most one, because a link has one fragment.
struct Hashes(Option<(&'static str, String)>);

impl Serialize for Hashes {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

#[derive(Serialize)]
#[serde(untagged)]
enum AttributeValue {
    Bool(bool),
    Text(String),
    Hash(Hashes),
}

type Attribute = Spanned<HtmlString, ()>;

pub(super) fn attribute<'t>(tag: &'t StartTag<()>, name: &[u8]) -> Option<Cow<'t, str>> {
    tag.attributes.get(name).map(|value: &Attribute| String::from_utf8_lossy(value))
}

impl Links {
    fn parse(document: &[u8]) -> Result<Self, Error> {
        let mut links = Self::default();
        for token in tokens(document) {
            links.evidence.observe(&token);
            if let Token::StartTag(tag) = token {
                links.add_tag(&tag)?;
            }
        }
        Ok(links)
    }

    fn add_tag(&mut self, tag: &StartTag<()>) -> Result<(), Error> {
        match &**tag.name {
            b"a" => self.files.extend(self.link(tag)),
            b"base" if self.base.is_none() => {
                self.base = attribute(tag, b"href").and_then(|href| Url::parse(&href).ok());
            }
            b"meta" => self.meta(tag)?,
            _ => {}
        }
        Ok(())
    }

    fn meta(&mut self, tag: &StartTag<()>) -> Result<(), Error> {
        let (Some(name), Some(content)) = (attribute(tag, b"name"), attribute(tag, b"content")) else {
            return Ok(());
        };
        match &*name {
            "pypi:repository-version" if content.split('.').next() != Some("1") => {
                return Err(Error::with(Kind::Page, "unsupported API version"));
            }
            "pypi:project-status" => self.status = Some(content.into_owned()),
            "pypi:project-status-reason" => self.reason = Some(content.into_owned()),
            "pypi:tracks" => self.tracks.push(content.into_owned()),
            "pypi:alternate-locations" => self.alternate_locations.push(content.into_owned()),
            _ => {}
        }
        Ok(())
    }

    fn link(&self, tag: &StartTag<()>) -> Option<Link> {
        let href = attribute(tag, b"href")?;
        let href = href.trim();
        let (url, fragment) = href.split_once('#').unwrap_or((href, ""));
        let path = url.split_once('?').map_or(url, |(path, _)| path);
        let segment = path.rsplit_once('/').map_or(path, |(_, segment)| segment);
        let filename = percent_encoding::percent_decode_str(segment).decode_utf8().ok()?;
        // Ignores links to folders, pages and other sites.
        // A distribution with an invalid name counts as skipped.
        let is_file = is_file_name(&filename) && filename.contains('-') && filename.contains('.')
            || is_distribution(&filename);
        let url = match &self.base {
            Some(base) => base.join(url).ok()?.into(),
            None => url.to_owned(),
        };
        let text = |name: &[u8]| attribute(tag, name).map(Cow::into_owned);
        let metadata = text(b"data-core-metadata").or_else(|| text(b"data-dist-info-metadata"));
        is_file.then(|| Link {
            filename: filename.into_owned(),
            url,
            hashes: Hashes(hash(fragment)),
            size: None,
            upload_time: None,
            requires_python: text(b"data-requires-python"),
            core_metadata: metadata.map(|text| match hash(&text) {
                Some(hash) => AttributeValue::Hash(Hashes(Some(hash))),
                None => AttributeValue::Bool(!text.eq_ignore_ascii_case("false")),
            }),
            gpg_sig: text(b"data-gpg-sig").map(|text| text.eq_ignore_ascii_case("true")),
            yanked: text(b"data-yanked").map(|text| {
                if text.is_empty() { AttributeValue::Bool(true) } else { AttributeValue::Text(text) }
            }),
            provenance: text(b"data-provenance"),
        })
    }

    fn into_json(self) -> Vec<u8> {
        #[derive(Serialize)]
        struct Status {
            status: String,
            #[serde(skip_serializing_if = "Option::is_none")]
            reason: Option<String>,
        }
        #[derive(Serialize)]
        #[serde(rename_all = "kebab-case")]
        struct Meta {
            #[serde(skip_serializing_if = "Option::is_none")]
            api_version: Option<&'static str>,
            #[serde(skip_serializing_if = "Vec::is_empty")]
            tracks: Vec<String>,
        }
        #[derive(Serialize)]
        #[serde(rename_all = "kebab-case")]
        struct Document {
            meta: Meta,
            #[serde(skip_serializing_if = "Option::is_none")]
            name: Option<String>,
            #[serde(skip_serializing_if = "Vec::is_empty")]
            alternate_locations: Vec<String>,
            #[serde(skip_serializing_if = "Option::is_none")]
            project_status: Option<Status>,
            files: Vec<Link>,
        }
        let Self { evidence, status, reason, tracks, alternate_locations, files, .. } = self;
        // Later versions require sizes, which HTML lacks.
        let document = Document {
            meta: Meta { api_version: evidence.has_version.then_some("1.0"), tracks },
            name: evidence.name,
            alternate_locations,
            project_status: status.map(|status| Status { status, reason }),
            files,
        };
        // Serializing strings, lists and numbers can't fail.
        tightwire_json::to_vec(&document).unwrap_or_default()
    }
}

/// Returns the first `algorithm=digits` in a fragment separated by `&`.
fn hash(fragment: &str) -> Option<(&'static str, String)> {
    fragment.split('&').find_map(|part| {
        let (name, value) = part.split_once('=')?;
        let name = ALGORITHMS.into_iter().find(|known| known.eq_ignore_ascii_case(name))?;
        let is_hex = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_hex.then(|| (name, value.to_ascii_lowercase()))
    })
}
