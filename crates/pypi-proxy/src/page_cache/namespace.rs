//! Decides whether the pages of several indexes are of the same project (PEP 708).

use std::collections::{BTreeSet, HashMap};

use url::Url;

use crate::name::normalize;
use crate::page::Page;

/// Location of a page and the locations that it declares, normalized.
struct Declared {
    own: Option<String>,
    tracks: BTreeSet<String>,
    /// Includes the own location. Empty if none are declared.
    alternates: BTreeSet<String>,
}

impl Declared {
    fn of(project: &str, url: &Url, page: &Page) -> Self {
        let own = location(project, url.as_str());
        let set = |urls: Vec<String>| urls.iter().filter_map(|url| location(project, url)).collect();
        let mut tracks: BTreeSet<_> = set(page.tracks());
        if let Some(own) = &own {
            tracks.remove(own);
        }
        let mut alternates: BTreeSet<_> = set(page.alternate_locations());
        if !alternates.is_empty() {
            alternates.extend(own.clone());
        }
        Self { own, tracks, alternates }
    }
}

/// Returns whether the pages, with the URLs that they come from, declare that they are of one project: a page tracks
/// the page that owns the name, two pages track the same other page, or all their alternate locations are equal.
pub(super) fn is_one_project(project: &str, pages: &[(Url, &Page)]) -> bool {
    let all: Vec<_> = pages.iter().map(|(url, page)| Declared::of(project, url, page)).collect();
    let mut groups = Groups((0..all.len()).collect());
    let mut by_own = HashMap::new();
    let mut by_alternates = HashMap::new();
    let mut by_tracked: HashMap<&str, usize> = HashMap::new();
    for (at, page) in all.iter().enumerate() {
        by_own.extend(page.own.as_deref().map(|own| (own, at)));
        if !page.alternates.is_empty() {
            groups.join(at, *by_alternates.entry(&page.alternates).or_insert(at));
        }
    }
    for (at, page) in all.iter().enumerate() {
        for tracked in &page.tracks {
            match by_own.get(&**tracked) {
                // A page that tracks another one does not own the name.
                Some(owner) if !all[*owner].tracks.is_empty() => {}
                Some(owner) => groups.join(at, *owner),
                None => groups.join(at, *by_tracked.entry(tracked).or_insert(at)),
            }
        }
    }
    (0..all.len()).all(|at| groups.root(at) == groups.root(0))
}

/// Disjoint sets of pages: the parent of each, which is itself for a root.
struct Groups(Vec<usize>);

impl Groups {
    fn root(&self, mut at: usize) -> usize {
        while self.0[at] != at {
            at = self.0[at];
        }
        at
    }

    fn join(&mut self, one: usize, other: usize) {
        let (one, other) = (self.root(one), self.root(other));
        self.0[one] = other;
    }
}

/// Normalizes the URL of a page. Returns `None` unless it is that of a project with this name.
fn location(project: &str, url: &str) -> Option<String> {
    let url = Url::parse(url).ok().filter(|url| matches!(url.scheme(), "http" | "https"))?;
    let (folder, name) = url.path().trim_end_matches('/').rsplit_once('/')?;
    let port = url.port_or_known_default()?;
    (normalize(name).ok()? == project).then(|| {
        format!("{}://{}:{port}{folder}/{project}/", url.scheme(), url.host_str().unwrap_or_default())
    })
}

#[cfg(test)]
mod tests {
    use tightwire_json::json;

    use super::*;

    /// URL, tracked URLs, alternate locations.
    type Case = (&'static str, &'static [&'static str], &'static [&'static str]);

    const A: &str = "https://a.example.org/simple/demo-x/";
    const B: &str = "https://b.example.org/simple/demo-x/";
    const C: &str = "https://c.example.org/simple/demo-x/";

    fn is_one(cases: &[Case], is_html: bool) -> bool {
        let pages: Vec<_> = cases
            .iter()
            .map(|(url, tracks, alternates)| {
                let document = json!({"meta": {"api-version": "1.2", "tracks": tracks}, "name": "demo-x",
                    "alternate-locations": alternates, "files": []});
                let page = Page::from_json(document.to_string().into_bytes()).unwrap();
                let page = if is_html { Page::from_html(&page.to_html()).unwrap() } else { page };
                (url.parse().unwrap(), page)
            })
            .collect();
        let pages: Vec<_> = pages.iter().map(|(url, page): &(Url, Page)| (url.clone(), page)).collect();
        is_one_project("demo-x", &pages)
    }

    #[test]
    fn pages_are_one_project_only_if_they_declare_it() {
        let cases: &[(&[Case], bool)] = &[
            (&[(A, &[], &[])], true),
            (&[(A, &[], &[]), (B, &[], &[])], false),
            // Tracks.
            (&[(A, &[B], &[]), (B, &[], &[])], true),
            (&[(A, &[], &[]), (B, &[A], &[])], true),
            (&[(A, &[C], &[]), (B, &[], &[])], false),
            (&[(A, &[C], &[]), (B, &[C], &[])], true),
            (&[(A, &[C, B], &[]), (B, &[], &[])], true),
            (&[(A, &[B], &[]), (B, &[], &[]), (C, &[], &[])], false),
            (&[(A, &[B], &[]), (B, &[], &[]), (C, &[B], &[])], true),
            // Neither owns the name, or the owner tracks another page.
            (&[(A, &[B], &[]), (B, &[A], &[])], false),
            (&[(A, &[B], &[]), (B, &[C], &[])], false),
            (&[(A, &[A], &[]), (B, &[], &[])], false),
            // Another project, index or scheme, or not a page.
            (&[(A, &["https://b.example.org/simple/demo/"], &[]), (B, &[], &[])], false),
            (&[(A, &["https://b.example.org/other/demo-x/"], &[]), (B, &[], &[])], false),
            (&[(A, &["http://b.example.org/simple/demo-x/"], &[]), (B, &[], &[])], false),
            (&[(A, &["https://b.example.org/simple/"], &[]), (B, &[], &[])], false),
            (&[(A, &["demo-x", "file:///simple/demo-x/", ""], &[]), (B, &[], &[])], false),
            // Other spellings.
            (&[(A, &["HTTPS://u:p@B.example.org:443/simple/Demo_X?x#y"], &[]), (B, &[], &[])], true),
            // Alternate locations. Each page implies its own.
            (&[(A, &[], &[B]), (B, &[], &[A])], true),
            (&[(A, &[], &[A, B]), (B, &[], &[B, A])], true),
            (&[(A, &[], &[B]), (B, &[], &[])], false),
            (&[(A, &[], &[]), (B, &[], &[A])], false),
            (&[(A, &[], &[B, C]), (B, &[], &[A])], false),
            (&[(A, &[], &[B, C]), (B, &[], &[A, C])], true),
            (&[(A, &[], &[B]), (B, &[], &[A]), (C, &[], &[])], false),
            (&[(A, &[], &[B, C]), (B, &[], &[A, C]), (C, &[], &[A, B])], true),
            (&[(A, &[], &[B]), (B, &[], &[A]), (C, &[A], &[])], true),
        ];
        for (pages, expected) in cases {
            for is_html in [false, true] {
                assert_eq!(is_one(pages, is_html), *expected, "{pages:?}");
            }
        }
    }

    #[test]
    fn declarations_of_other_types_are_ignored() {
        for (tracks, alternates) in [("1", "{}"), ("null", "null"), ("[[],1,null]", "[{}]")] {
            let text = format!(
                r#"{{"meta":{{"api-version":"1.2","tracks":{tracks}}},"alternate-locations":{alternates},"files":[]}}"#
            );
            let page = Page::from_json(text.into_bytes()).unwrap();
            assert_eq!((page.tracks(), page.alternate_locations()), (vec![], vec![]));
        }
    }
}
