//! Links from a page to its files.

use std::borrow::Cow;
use std::ops::Range;

use url::Url;

use crate::ProjectName;
use crate::file_name::is_of;
use crate::index_path::{decode, is_served_folder};

/// Targets of the links on a page.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Links<'a> {
    /// The file name, relative to the page.
    Names,
    /// The path of the file at the index, relative to the page. `page` is the path of the page at the index, and `base`
    /// the URL that a redirect led to.
    Paths { project: &'a ProjectName, page: &'a str, base: Option<&'a Url> },
    /// The URL of the document, which was rewritten before.
    Unchanged,
}

/// From the page of a project to the root of the proxy.
const ROOT: &str = "../../";

/// Link to a file: the way to the root and the start of the page's path if the link is a path, then a part of the
/// file's name or URL.
#[derive(Clone, Debug)]
pub(super) struct Link {
    /// Length of the part of the page's path, which starts with a slash. 0 if the link is no path.
    pub(super) folder: usize,
    /// Range of the text.
    pub(super) rest: Range<u32>,
}

impl Link {
    pub(super) fn len(&self) -> usize {
        self.parts("").map_or(0, |(root, _)| root.len() + self.folder - 1) + self.rest.len()
    }

    /// Returns the parts of the link before the rest, if it is a path.
    pub(super) fn parts<'a>(&self, page: &'a str) -> Option<(&'static str, &'a str)> {
        (self.folder > 0).then(|| (ROOT, page.get(1..self.folder).unwrap_or_default()))
    }
}

impl Links<'_> {
    pub(super) fn page(&self) -> &str {
        if let Self::Paths { page, .. } = self { page } else { "" }
    }

    /// Resolves a URL on a page that a redirect led to.
    pub(super) fn resolve<'u>(&self, url: Cow<'u, str>) -> Cow<'u, str> {
        let Self::Paths { base: Some(base), .. } = self else { return url };
        base.join(&url).map_or(url, |url| String::from(url).into())
    }

    /// Returns the length of the part of the page's path and the start of the part of the URL that form the path of a
    /// file at the index. Returns `None` if the file is linked by its name.
    ///
    /// The link must not be longer than `max`.
    pub(super) fn path(&self, name: &str, url: &str, max: usize) -> Option<(usize, usize)> {
        let Self::Paths { project, page, .. } = self else { return None };
        let (folder, start) = resolve(url, page)?;
        // Most URLs contain the whole path.
        let path: Cow<'_, str> = match start.checked_sub(1) {
            Some(slash) if folder == 1 => url[slash..].into(),
            _ => [&page[..folder], &url[start..]].concat().into(),
        };
        let (in_folder, file) = path.rsplit_once('/')?;
        let is_served = is_served_folder(in_folder)
            && (file == name || decode(file).is_some_and(|file| file == name))
            && ROOT.len() + path.len() - 1 <= max
            && is_of(name, project.as_str());
        is_served.then_some((folder, start))
    }
}

/// Resolves a URL against the path of a page, without its last segment. Returns the length of the part of the page's
/// path, and the start of the part of the URL that follows it.
fn resolve(url: &str, page: &str) -> Option<(usize, usize)> {
    if let Some((scheme, rest)) = url.split_once("://") {
        let host = rest.find('/')?;
        let is_web = matches!(scheme, "http" | "https") && !rest[..host].contains(['?', '#', '\\']);
        return is_web.then_some((1, url.len() - rest.len() + host + 1));
    }
    if url.starts_with('/') {
        return (!url.starts_with("//")).then_some((1, 1));
    }
    // A colon in the first segment ends a scheme.
    if url.split('/').next().is_some_and(|first| first.contains(':')) {
        return None;
    }
    let (mut folder, mut start) = (page.rfind('/')? + 1, 0);
    loop {
        let rest = &url[start..];
        if rest.starts_with("../") {
            folder = page[..folder - 1].rfind('/')? + 1;
            start += 3;
        } else if rest.starts_with("./") {
            start += 2;
        } else {
            return Some((folder, start));
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use url::Url;

    use super::*;

    fn link(page: &str, name: &str, url: &str) -> Option<String> {
        let project = ProjectName::parse("demo").unwrap();
        let links = Links::Paths { project: &project, page, base: None };
        let (folder, start) = links.path(name, url, 2000)?;
        let start = u32::try_from(start).unwrap();
        let link = Link { folder, rest: start..u32::try_from(url.len()).unwrap() };
        let (root, folder) = link.parts(page).unwrap();
        let text = [root, folder, &url[start as usize..]].concat();
        assert_eq!(link.len(), text.len(), "{text}");
        Some(text)
    }

    #[test]
    fn files_are_linked_by_their_paths() {
        let page = "/pypi/simple/demo/";
        for (url, expected) in [
            ("https://files.example.org/packages/ab/demo-1.zip", "../../packages/ab/demo-1.zip"),
            ("http://files.example.org:81/demo-1.zip", "../../demo-1.zip"),
            ("/packages/ab/demo-1.zip", "../../packages/ab/demo-1.zip"),
            ("../../packages/ab/demo-1.zip", "../../pypi/packages/ab/demo-1.zip"),
            ("../../../f/demo-1.zip", "../../f/demo-1.zip"),
            ("./../demo-1.zip", "../../pypi/simple/demo-1.zip"),
            ("demo-1.zip", "../../pypi/simple/demo/demo-1.zip"),
            ("x/demo-1.zip", "../../pypi/simple/demo/x/demo-1.zip"),
            ("/f/demo%2D1.zip", "../../f/demo%2D1.zip"),
        ] {
            assert_eq!(link(page, "demo-1.zip", url).as_deref(), Some(expected), "{url}");
        }
    }

    #[test]
    fn other_files_are_linked_by_their_names() {
        let other = "a:/demo-1.zip https://files.example.org/demo-1.zip?x=1 https://files.example.org/demo-1.zip#x \
            ftp://files.example.org/demo-1.zip //files.example.org/demo-1.zip https://files.example.org \
            https://files.example.org/a/../demo-1.zip https://files.example.org//demo-1.zip \
            https://files.example.org/simple/demo/demo-1.zip /index/demo-1.zip /f%2fdemo-1.zip /f/demo-1.zip/ \
            /f/x /f/demo-2.zip ../../../../demo-1.zip x/../demo-1.zip /f;x/demo-1.zip data:demo-1.zip";
        for url in other.split(' ') {
            // A path of the proxy itself is not served at another place.
            let page = if url.starts_with("data:") { "/simple/demo/" } else { "/pypi/simple/demo/" };
            assert_eq!(link(page, "demo-1.zip", url), None, "{url}");
        }
        // Beside the page, where the name leads as well.
        assert_eq!(link("/simple/demo/", "demo-1.zip", "demo-1.zip"), None);
        // The project can't be derived from the name.
        assert_eq!(link("/pypi/simple/demo/", "demo.zip", "/f/demo.zip"), None);
        assert_eq!(link("/pypi/simple/demo/", "other-1.zip", "/f/other-1.zip"), None);
    }

    proptest! {
        /// Compares with the resolution of URLs by clients.
        #[test]
        fn links_resolve_to_the_path_at_the_index(
            url in "(https?://h)?([.]{1,2}/){0,3}(/|[a-z]|%2[0-9a-f]|[.:@?]){0,8}(/demo-1[.]zip)?",
            page in "(/[a-z]{1,3}){0,3}/demo/",
        ) {
            if let Some(link) = link(&page, "demo-1.zip", &url) {
                let index = Url::parse("http://index").unwrap().join(&page).unwrap();
                let proxy = Url::parse("http://proxy/simple/demo/").unwrap();
                let found = proxy.join(&link).unwrap();
                // A file with a malformed host can't be downloaded.
                let expected = index.join(&url).unwrap_or_else(|_| found.clone());
                prop_assert_eq!(expected.path(), found.path());
                prop_assert_eq!(found.host_str(), Some("proxy"));
                prop_assert!(found.query().is_none() && found.fragment().is_none());
            }
        }
    }
}
